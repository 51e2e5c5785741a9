"""The memory bank as the policies see it: its files, what a call reads or risks, and the texts that are injected.

Files are the memory, anchors the bookmarks (seeds 000 and 003). Paths here are relative to the vault, with `/`.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from holdfast.core.messages import Language
from holdfast.core.tokens import estimate

FOLDER = "memory-bank"
MEMORY = "memory-bank/MEMORY.md"
PATTERNS = "memory-bank/details/patterns.md"
PROGRESS = "memory-bank/details/progress.md"
ANCHOR_FOLDERS = ("memory-bank/details/requirements/", "memory-bank/details/design/")
MOST_ANCHORS = 5
READER = "memory-reader"
WRITER = "memory-bank-writer"
READ_TOOL = "memory_read"

MEMORY_OPEN, MEMORY_CLOSE = "<memory-bank>", "</memory-bank>"
ANCHORS_OPEN, ANCHORS_CLOSE = "<memory-bank-anchors>", "</memory-bank-anchors>"
BLOCK_TOKENS = 200

READ_CALLS: Mapping[str, str] = {
    "claude-code": 'Read(file_path="{path}")',
    "opencode": 'read({{ filePath: "{path}" }})',
    "codex": 'cat "{path}"',
    "gemini": 'read_file(absolute_path="{path}")',
}
"""How each host's own tool is called; the own runtime's is the default."""


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """What stands on disk, found out by the plane before any policy decides."""

    files: frozenset[str] = frozenset()
    """Every file below memory-bank/, relative to the vault."""
    text: str = ""
    """MEMORY.md, capped by whoever read it."""
    cut: bool = False
    folds_case: bool = False

    def fold(self, path: str) -> str:
        """The form in which two names of one file are equal on this file system."""
        return unicodedata.normalize("NFC", path).casefold() if self.folds_case else path

    def has(self, path: str) -> bool:
        return path in self.files or self.fold(path) in {self.fold(name) for name in self.files}


def read_call(host: str, path: str) -> str:
    """The one next step, in the host's own words."""
    return READ_CALLS.get(host, 'read(path="{path}")').format(path=path)


def is_patterns(path: str) -> bool:
    return path.casefold() == PATTERNS


def is_anchor(path: str, facts: MemoryFacts) -> bool:
    name = facts.fold(path)
    return name == PROGRESS or name.startswith(ANCHOR_FOLDERS)


def with_anchor(anchors: Sequence[str], path: str, facts: MemoryFacts) -> list[str]:
    """Newest first, at most five, each file once however it was spelled (MB7)."""
    name = facts.fold(path)
    return [path, *(known for known in anchors if facts.fold(known) != name)][:MOST_ANCHORS]


def injection(facts: MemoryFacts | None) -> str:
    """MEMORY.md as it goes into the system prompt (MB1); empty when there is none."""
    if facts is None or not facts.text.strip():
        return ""
    mark = "\n[MEMORY.md is longer than this: read memory-bank/MEMORY.md for the rest]" if facts.cut else ""
    print_of = hashlib.sha256(facts.text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{MEMORY_OPEN}\n<!-- {MEMORY} {print_of} -->\n{facts.text.rstrip()}{mark}\n{MEMORY_CLOSE}"


_CHINESE = re.compile(r"[\u3400-\u9fff]")
_LETTERS = re.compile(r"[^\W\d_]")


@lru_cache(maxsize=16)
def language_of(text: str) -> Language | None:
    """The language a project's memory is written in; None when it says too little to tell."""
    letters = len(_LETTERS.findall(text))
    if letters < 40:
        return None
    return "zh" if len(_CHINESE.findall(text)) * 5 > letters else "en"


_FOCUS = re.compile(
    r"^##+\s*(?:current focus|当前焦点|当前重点|目前重点|焦点)\b[^\n]*\n(.*?)(?=^##+\s|\Z)", re.I | re.M | re.S
)
_LINE = re.compile(
    r"^[ \t]*(?:[-*+][ \t]*)?(?:\*\*|__)?(?P<key>[^:：*_\n]{2,24}?)(?:\*\*|__)?[ \t]*[:：](?:\*\*|__)?[ \t]*"
    r"(?P<value>\S.*?)[ \t]*$",
    re.M,
)
_KEYS: Mapping[str, str] = {
    "goal": "goal",
    "current goal": "goal",
    "目标": "goal",
    "当前目标": "goal",
    "in progress": "progress",
    "in-progress": "progress",
    "doing": "progress",
    "进行中": "progress",
    "当前进度": "progress",
    "remaining": "remaining",
    "next": "remaining",
    "todo": "remaining",
    "剩余": "remaining",
    "待办": "remaining",
    "下一步": "remaining",
}


@dataclass(frozen=True, slots=True)
class Focus:
    """MEMORY.md's Current Focus."""

    goal: str = ""
    progress: str = ""
    remaining: str = ""


def focus_of(text: str) -> Focus:
    section = _FOCUS.search(text)
    found: dict[str, str] = {}
    if section:
        for line in _LINE.finditer(section.group(1)):
            name = _KEYS.get(line.group("key").strip().lower())
            if name and name not in found:
                found[name] = " ".join(line.group("value").split())
    return Focus(**found)


def anchor_block(paths: Sequence[str], facts: MemoryFacts | None, compactions: int) -> str:
    """What the working model must see after a compaction, in at most 200 tokens (MB8).

    When it is too long the remaining work is cut first, then what is in progress, then the goal; never a path.
    """
    focus = focus_of(facts.text) if facts else Focus()
    parts = {"Remaining": focus.remaining, "In progress": focus.progress, "Goal": focus.goal}
    for name in (None, *parts):
        if name is not None:
            parts[name] = _fitted(name, parts, paths, compactions)
        block = _block(paths, parts, compactions)
        if estimate(block) <= BLOCK_TOKENS:
            return block
    return _block(paths, {}, compactions, short=True)


def _fitted(name: str, parts: Mapping[str, str], paths: Sequence[str], compactions: int) -> str:
    """As much of one value as still fits, cut at a word; empty when nothing does."""
    value = parts[name]
    low, high = 0, len(value)
    while low < high:
        middle = (low + high + 1) // 2
        trial = {**parts, name: value[:middle] + "…"}
        if estimate(_block(paths, trial, compactions)) <= BLOCK_TOKENS:
            low = middle
        else:
            high = middle - 1
    return value[:low].rstrip() + "…" if low > 8 else ""


def _block(paths: Sequence[str], parts: Mapping[str, str], compactions: int, *, short: bool = False) -> str:
    lines = [ANCHORS_OPEN, "## ⚠️ POST-COMPACTION RECOVERY (MANDATORY)", ""]
    lines.append(f"Compaction #{compactions} occurred. Before high-impact actions, you MUST read:")
    lines += [f"- {path}" for path in paths]
    state = [f"- {name}: {parts[name]}" for name in ("Goal", "In progress", "Remaining") if parts.get(name)]
    if state:
        lines += ["", "Session state (from MEMORY.md Current Focus):", *state]
    if not short:
        lines += ["", "Do NOT proceed with write/edit/patch until anchors are read."]
    return "\n".join([*lines, ANCHORS_CLOSE])


def existing(paths: Iterable[str], facts: MemoryFacts | None) -> list[str]:
    return [path for path in paths if facts is not None and facts.has(path)]


def required_anchors(tracked: Sequence[str], facts: MemoryFacts | None) -> list[str]:
    """What has to be read again: the tracked anchors that exist, else MEMORY.md and patterns.md as far as they do."""
    return existing(tracked, facts) if tracked and existing(tracked, facts) else existing((MEMORY, PATTERNS), facts)
