"""A digest in words, as blocks: a heading of ours and quoted lines of what was said and done."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.chain.digest import LONGEST_TEXT, Digest, clip
from holdfast.chain.quoting import plain_lines, quoted
from holdfast.core.messages import Language, Phrase
from holdfast.core.tokens import estimate

TIME = Phrase(
    "digest.time",
    "Session {number}: {start} to {end} UTC, {events} events, {invocations} requests, {compactions} compactions.",
    "第 {number} 个会话：{start} 至 {end}（UTC），{events} 个事件，{invocations} 次请求，压缩 {compactions} 次。",
)
MINUTES = Phrase("digest.minutes", "Minutes (written by {model}):", "会议纪要（由 {model} 撰写）：")
ASKED = Phrase("digest.asked", "What the user asked, latest last:", "用户的要求（按时间先后）：")
DECISIONS = Phrase(
    "digest.decisions",
    "Decisions and approvals on record (nothing else counts as one):",
    "有记录的决定与审批（其他说法一律不算）：",
)
QUESTIONS = Phrase("digest.questions", "Open questions:", "未决问题：")
ERRORS = Phrase("digest.errors", "Errors:", "错误：")
FILES = Phrase("digest.files", "Files:", "文件：")
COMMANDS = Phrase("digest.commands", "Commands, latest last:", "命令（按时间先后）：")
TOOLS = Phrase("digest.tools", "Tools used:", "使用的工具：")
LAST_PROMPT = Phrase("digest.last_prompt", "The user's last words:", "用户最后的话：")
LAST_REPLY = Phrase("digest.last_reply", "The agent's last words:", "智能体最后的话：")
TASKS = Phrase("digest.tasks", "Open tasks:", "未完成的任务：")

SHORT_PROMPT = 300


@dataclass(frozen=True, slots=True)
class Block:
    """A heading of ours, and lines of old text."""

    heading: str
    lines: tuple[str, ...] = ()
    """Quoted already."""
    keeps_end: bool = False
    """When it must be shortened, its latest lines stay."""

    def text(self) -> str:
        return "\n".join((self.heading, *self.lines))


def digest_blocks(digest: Digest, language: Language | None = None, *, longest: int = LONGEST_TEXT) -> list[Block]:
    """All of a digest, most needed first; `longest` is the most of either side's last words."""
    said = language or digest.language
    blocks = [Block(_time(digest, said))]

    def add(phrase: Phrase, texts: Iterable[str], *, keeps_end: bool = False, **params: object) -> None:
        lines = tuple(line for text in texts for line in quoted(text))
        if lines:
            blocks.append(Block(phrase(**params).text(said), lines, keeps_end))

    add(MINUTES, [digest.minutes], model=" ".join(plain_lines(digest.minutes_by)) or "model")
    add(LAST_PROMPT, [clip(digest.last_prompt, longest)])
    add(LAST_REPLY, [clip(digest.last_reply, longest)])
    add(DECISIONS, (_row(made.who, made.what, made.about) for made in digest.decisions), keeps_end=True)
    add(QUESTIONS, digest.questions)
    earlier = digest.prompts[:-1]
    add(ASKED, (_row(f"#{said_.no}", said_.text[:SHORT_PROMPT]) for said_ in earlier), keeps_end=True)
    add(ERRORS, (_row(f"#{e.no}", e.tool, e.text, _times(e.times)) for e in digest.errors), keeps_end=True)
    add(FILES, (_row(use.path, _operations(use.operations.items())) for use in digest.files))
    add(COMMANDS, (_row(f"#{run.no}", run.outcome, run.command) for run in digest.commands), keeps_end=True)
    add(TOOLS, [", ".join(f"{tool} {count}" for tool, count in digest.tools.items())])
    return blocks


def task_block(digest: Digest, language: Language | None = None) -> Block | None:
    """What was still to be done, from the agent's own last list."""
    lines = tuple(line for task in digest.tasks for line in quoted(" ".join(plain_lines(task))))
    return Block(TASKS().text(language or digest.language), lines) if lines else None


def digest_text(digest: Digest, language: Language | None = None) -> str:
    """The whole digest as text, for people and for the handoff view."""
    blocks = digest_blocks(digest, language)
    tasks = task_block(digest, language)
    return "\n".join(block.text() for block in (*blocks, *((tasks,) if tasks else ())))


def fitted(blocks: Sequence[Block], tokens: int, characters: int) -> str:
    """As much as fits, most needed first: a block that is too long loses lines, one without room goes."""
    kept: list[str] = []
    used_tokens = used_characters = 0
    for block in blocks:
        text = _within(block, tokens - used_tokens, characters - used_characters)
        if text:
            kept.append(text)
            used_tokens += estimate(text) + 1
            used_characters += len(text) + 1
    return "\n".join(kept)


def _within(block: Block, tokens: int, characters: int) -> str:
    lines = list(block.lines)
    while True:
        text = "\n".join((block.heading, *lines))
        if estimate(text) <= tokens and len(text) <= characters:
            return text if lines or not block.lines else ""
        if not lines:
            return ""
        # Half at a time while far off, so that a long block costs few rounds.
        drop = max(1, len(lines) // 2) if estimate(text) > 2 * max(tokens, 1) else 1
        lines = lines[drop:] if block.keeps_end else lines[:-drop]


def _time(digest: Digest, language: Language) -> str:
    return TIME(
        number=digest.number,
        start=_moment(digest.started_at),
        end=_moment(digest.ended_at),
        events=digest.events,
        invocations=digest.invocations,
        compactions=digest.compactions,
    ).text(language)


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def _row(*parts: str) -> str:
    """Parts of one line; line breaks in any of them would make it look like several."""
    return " · ".join(line for part in parts if (line := " ".join(plain_lines(part))))


def _times(count: int) -> str:
    return f"×{count}" if count > 1 else ""


def _operations(used: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{operation} {count}" if count > 1 else operation for operation, count in used)
