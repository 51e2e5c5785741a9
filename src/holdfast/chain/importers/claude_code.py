"""Claude Code's transcripts: one JSON Lines file a session, and one for each of its sub-agents."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.chain.importers.maker import Maker, Origin, joined_text, moment
from holdfast.chain.importers.sources import About, LineReader, VaultOf, WholeReader
from holdfast.core.host_tools import CLAUDE_CODE
from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import EventRecord

_COMMAND = re.compile(r"<command-name>(.*?)</command-name>.*?(?:<command-args>(.*?)</command-args>|\Z)", re.DOTALL)
_NOISE = ("<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "Caveat: The messages below")
_SUBAGENTS = "subagents"


class ClaudeCodeImporter:
    name = "claude-code"

    def __init__(self, user: str = "local", environ: Mapping[str, str] = os.environ) -> None:
        self._user = user
        self._environ = environ

    def roots(self) -> list[Path]:
        folder = self._environ.get("CLAUDE_CONFIG_DIR")
        return [Path(folder) / "projects"] if folder else [Path.home() / ".claude" / "projects"]

    def find(self, root: Path) -> Iterator[Path]:
        if root.is_file():
            yield root
            return
        # A session's own file before those of its sub-agents.
        files = sorted(root.rglob("*.jsonl"), key=lambda path: (path.parent.name == _SUBAGENTS, path))
        yield from files

    def open_lines(self, path: Path, state: Mapping[str, Any], vault_of: VaultOf) -> LineReader:
        return ClaudeCodeReader(path, state, vault_of, self._user)

    def open_whole(self, path: Path, vault_of: VaultOf) -> WholeReader | None:
        return None


class ClaudeCodeReader:
    """Messages are lines of type user, assistant and system; the many other types are the program's own affairs."""

    def __init__(self, path: Path, state: Mapping[str, Any], vault_of: VaultOf, user: str) -> None:
        self._vault_of = vault_of
        self._user = user
        self._tools: dict[str, tuple[str, tuple[str, ...]]] = {
            call: (name, tuple(files)) for call, (name, files) in state.get("tools", {}).items()
        }
        self._boundary: dict[str, Any] | None = state.get("boundary")
        self._makers: dict[str, Maker] = {}
        self._invocation = str(state.get("invocation", ""))
        subagent = _subagent(path)
        session = path.parent.parent.name if subagent else path.stem
        self.about = About.known(state, session=session, subagent=subagent, host="claude-code")

    def state(self) -> dict[str, Any]:
        return {
            "about": self.about.to_dict(),
            "invocation": self._invocation,
            "boundary": self._boundary,
            "tools": {call: [name, list(files)] for call, (name, files) in self._tools.items()},
        }

    def read(self, entry: Mapping[str, Any], offset: int) -> Iterable[EventRecord]:
        kind = entry.get("type")
        if kind == "user":
            return self._user_line(entry, offset)
        if kind == "assistant":
            return self._assistant_line(entry, offset)
        if kind == "system" and entry.get("subtype") == "compact_boundary":
            self._boundary = dict(entry.get("compactMetadata") or {})
            self.about.compressions += 1
        elif kind == "summary" and isinstance(entry.get("summary"), str):
            self.about.title = self.about.title or entry["summary"][:80]
        return ()

    def _maker(self, entry: Mapping[str, Any]) -> tuple[Maker, str, float]:
        """Who speaks, the line's own name, and when."""
        if not self.about.cwd and (cwd := entry.get("cwd")):
            self.about.cwd = str(cwd)
        subagent = self.about.subagent or (str(entry.get("agentId") or "sidechain") if entry.get("isSidechain") else "")
        maker = self._makers.get(subagent)
        if maker is None:
            key = SessionKey(self._user, "claude-code", f"claude-code-{self.about.session}")
            where = SessionId(key, self.about.session, subagent)
            cwd = self.about.cwd
            origin = Origin("claude-code", where, cwd, self._vault_of(cwd) if cwd else "")
            maker = self._makers[subagent] = Maker(origin, CLAUDE_CODE)
        if prompt := entry.get("promptId"):
            self._invocation = str(prompt)
        maker.invocation = self._invocation
        at = moment(entry.get("timestamp"))
        self.about.saw(at)
        return maker, str(entry.get("uuid") or ""), at

    def _user_line(self, entry: Mapping[str, Any], offset: int) -> Iterator[EventRecord]:
        maker, name, at = self._maker(entry)
        name = name or f"@{offset}"
        content = (entry.get("message") or {}).get("content")
        if entry.get("isCompactSummary"):
            known = self._boundary or {}
            self._boundary = None
            yield maker.compacted(
                name,
                at,
                joined_text(content),
                trigger=str(known.get("trigger", "auto")),
                before=known.get("preTokens"),
                after=known.get("postTokens"),
            )
            return
        if entry.get("isMeta"):
            return
        if isinstance(content, str):
            yield from self._prompt(maker, name, at, content)
            return
        texts = []
        for part, block in enumerate(content or ()):
            if not isinstance(block, Mapping):
                continue
            if block.get("type") == "tool_result":
                yield self._result(maker, name, at, block, part)
            elif block.get("type") == "text":
                texts.append(str(block.get("text", "")))
            else:
                texts.append(f"[{block.get('type', 'part')}]")
        if texts:
            yield from self._prompt(maker, name, at, "\n".join(texts))

    def _prompt(self, maker: Maker, name: str, at: float, text: str) -> Iterator[EventRecord]:
        plain = text.lstrip()
        if not plain or plain.startswith(_NOISE):
            return
        if command := _COMMAND.search(plain):
            text = f"{command[1].strip()} {(command[2] or '').strip()}".strip()
        typed = not plain.startswith(("<task-notification>", "<system-reminder>"))
        if not maker.origin.where.subagent and typed and not self.about.title:
            self.about.title = " ".join(text.split())[:80]
        yield maker.prompt(name, at, text, typed=typed)

    def _result(self, maker: Maker, name: str, at: float, block: Mapping[str, Any], part: int) -> EventRecord:
        call = str(block.get("tool_use_id", ""))
        tool, files = self._tools.pop(call, ("", ()))
        failed = bool(block.get("is_error"))
        output = joined_text(block.get("content"))
        return maker.called(name, at, call, tool, output, part, failed=failed, files=files)

    def _assistant_line(self, entry: Mapping[str, Any], offset: int) -> Iterator[EventRecord]:
        maker, name, at = self._maker(entry)
        name = name or f"@{offset}"
        message = entry.get("message") or {}
        self._measure(entry, message, at)
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
        for part, block in enumerate(blocks):
            if not isinstance(block, Mapping):
                continue
            kind = block.get("type")
            if kind == "text" and block.get("text"):
                yield maker.reply(name, at, str(block["text"]), part)
            elif kind == "thinking" and block.get("thinking"):
                yield maker.reply(name, at, "", part, reasoning=str(block["thinking"]))
            elif kind == "tool_use":
                called = maker.calling(
                    name, at, str(block.get("id", "")), str(block.get("name", "")), block.get("input"), part
                )
                self._tools[str(block.get("id", ""))] = (str(block.get("name", "")), called.files)
                yield called

    def _measure(self, entry: Mapping[str, Any], message: Mapping[str, Any], at: float) -> None:
        usage = message.get("usage")
        if isinstance(usage, Mapping) and not entry.get("isSidechain"):
            counted = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            self.about.used = sum(int(usage.get(name) or 0) for name in counted)
            self.about.measured_at = at
        if message.get("model") and message["model"] != "<synthetic>":
            self.about.model = str(message["model"])


def _subagent(path: Path) -> str:
    """The sub-agent whose transcript this is, by its kind where that is known; empty for a session's own."""
    if path.parent.name != _SUBAGENTS:
        return ""
    try:
        about = json.loads(path.with_name(f"{path.stem}.meta.json").read_text(encoding="utf-8"))
        kind = str(about.get("agentType") or "")
    except (OSError, ValueError, AttributeError):
        kind = ""
    name = kind.replace("#", "_") or "agent"
    return f"{name}#{path.stem.removeprefix('agent-')}"
