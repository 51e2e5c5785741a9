"""Codex's rollouts: one JSON Lines file a thread, each line `{timestamp, type, payload}`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.chain.importers.maker import Maker, Origin, joined_text, moment
from holdfast.chain.importers.sources import About, LineReader, VaultOf, WholeReader
from holdfast.core.host_tools import CODEX_TRANSCRIPT
from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import EventRecord
from holdfast.store.json_text import from_json

_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z")
_CONTEXT = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|skills?_|permissions)|# AGENTS\.md)"
)


class CodexImporter:
    name = "codex"

    def __init__(self, user: str = "local", environ: Mapping[str, str] = os.environ) -> None:
        self._user = user
        self._environ = environ

    def roots(self) -> list[Path]:
        home = Path(self._environ.get("CODEX_HOME") or Path.home() / ".codex")
        return [home / "sessions", home / "archived_sessions"]

    def find(self, root: Path) -> Iterator[Path]:
        yield from [root] if root.is_file() else sorted(root.rglob("rollout-*.jsonl"))

    def open_lines(self, path: Path, state: Mapping[str, Any], vault_of: VaultOf) -> LineReader:
        return CodexReader(path, state, vault_of, self._user)

    def open_whole(self, path: Path, vault_of: VaultOf) -> WholeReader | None:
        return None


class CodexReader:
    """`response_item` lines are what the model saw and said; the others tell turns, fill and compaction."""

    def __init__(self, path: Path, state: Mapping[str, Any], vault_of: VaultOf, user: str) -> None:
        match = _ID.search(path.stem)
        self.about = About.known(state, session=match[0] if match else path.stem, host="codex")
        self._vault_of = vault_of
        self._user = user
        self._turn = str(state.get("turn", ""))
        self._tools: dict[str, tuple[str, tuple[str, ...]]] = {
            call: (name, tuple(files)) for call, (name, files) in state.get("tools", {}).items()
        }
        self._maker: Maker | None = None

    def state(self) -> dict[str, Any]:
        return {
            "about": self.about.to_dict(),
            "turn": self._turn,
            "tools": {call: [name, list(files)] for call, (name, files) in self._tools.items()},
        }

    def read(self, entry: Mapping[str, Any], offset: int) -> Iterable[EventRecord]:
        kind, payload = entry.get("type"), entry.get("payload")
        if not isinstance(payload, Mapping):
            if kind is None:
                raise ValueError("no line of a rollout: it has no type and payload")
            return ()
        at = moment(entry.get("timestamp"))
        self.about.saw(at)
        if kind == "session_meta":
            self.about.session = str(payload.get("id") or self.about.session)
            self.about.cwd = str(payload.get("cwd") or self.about.cwd)
        elif kind == "turn_context":
            self._turn = str(payload.get("turn_id") or self._turn)
            self.about.model = str(payload.get("model") or self.about.model)
        elif kind == "event_msg":
            self._event(payload, at)
        elif kind == "compacted":
            self.about.compressions += 1
            return (self._at_work().compacted(f"@{offset}", at, str(payload.get("message") or "")),)
        elif kind == "response_item":
            return self._item(payload, offset, at)
        return ()

    def _at_work(self) -> Maker:
        if self._maker is None:
            session = self.about.session
            where = SessionId(SessionKey(self._user, "codex", f"codex-{session}"), session)
            vault = self._vault_of(self.about.cwd) if self.about.cwd else ""
            self._maker = Maker(Origin("codex", where, self.about.cwd, vault), CODEX_TRANSCRIPT)
        self._maker.invocation = self._turn
        return self._maker

    def _event(self, payload: Mapping[str, Any], at: float) -> None:
        if payload.get("type") == "task_started":
            self._turn = str(payload.get("turn_id") or self._turn)
            self.about.window = payload.get("model_context_window") or self.about.window
        elif payload.get("type") == "token_count" and isinstance(info := payload.get("info"), Mapping):
            last = info.get("last_token_usage") or {}
            if last.get("total_tokens") is not None:
                self.about.used, self.about.measured_at = int(last["total_tokens"]), at
            self.about.window = info.get("model_context_window") or self.about.window

    def _item(self, item: Mapping[str, Any], offset: int, at: float) -> Iterator[EventRecord]:
        told = item.get("internal_chat_message_metadata_passthrough")
        if isinstance(told, Mapping) and told.get("turn_id"):
            self._turn = str(told["turn_id"])
        maker, name = self._at_work(), f"@{offset}"
        match item.get("type"):
            case "message":
                yield from self._message(maker, name, at, item)
            case "reasoning":
                thoughts = joined_text(item.get("content") or item.get("summary"))
                if thoughts:
                    yield maker.reply(name, at, "", reasoning=thoughts)
            case "function_call":
                given = item.get("arguments")
                yield self._call(maker, name, at, item, str(item.get("name", "")), _arguments(given))
            case "custom_tool_call":
                yield self._call(maker, name, at, item, str(item.get("name", "")), {"input": item.get("input")})
            case "local_shell_call":
                action = item.get("action") or {}
                yield self._call(maker, name, at, item, "local_shell", dict(action))
            case "web_search_call":
                yield self._call(maker, name, at, item, "web_search", dict(item.get("action") or {}))
            case "function_call_output" | "custom_tool_call_output":
                yield self._output(maker, name, at, item)

    def _message(self, maker: Maker, name: str, at: float, item: Mapping[str, Any]) -> Iterator[EventRecord]:
        text = joined_text(item.get("content"))
        if item.get("role") == "assistant" and text:
            yield maker.reply(name, at, text)
        elif item.get("role") == "user" and text and not _CONTEXT.match(text):
            self.about.title = self.about.title or " ".join(text.split())[:80]
            yield maker.prompt(name, at, text)

    def _call(
        self, maker: Maker, name: str, at: float, item: Mapping[str, Any], tool: str, given: Mapping[str, Any]
    ) -> EventRecord:
        call = str(item.get("call_id") or item.get("id") or name)
        own = f"{item['namespace']}__{tool}" if item.get("namespace") else tool
        record = maker.calling(name, at, call, own, given)
        self._tools[call] = (own, record.files)
        return record

    def _output(self, maker: Maker, name: str, at: float, item: Mapping[str, Any]) -> EventRecord:
        call = str(item.get("call_id", ""))
        tool, files = self._tools.pop(call, ("", ()))
        output: Any = item.get("output")
        failed, exit_code = False, None
        if isinstance(output, str) and output.startswith('{"output":'):
            # The older form: the text and its exit code as JSON within the string.
            inner = _arguments(output)
            code = (inner.get("metadata") or {}).get("exit_code")
            exit_code = code if isinstance(code, int) else None
            output = inner.get("output", output)
        elif isinstance(output, Mapping):
            failed = output.get("success") is False
            output = output.get("content")
        record = maker.called(
            name, at, call, tool, joined_text(output), failed=failed, exit_code=exit_code, files=files
        )
        return record


def _arguments(text: Any) -> Mapping[str, Any]:
    """Arguments come as JSON in a string; a model may have written none."""
    if isinstance(text, Mapping):
        return text
    try:
        given = from_json(text) if isinstance(text, str) else {}
    except ValueError:
        return {"input": text}
    return given if isinstance(given, Mapping) else {"input": given}
