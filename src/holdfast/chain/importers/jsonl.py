"""JSON Lines of no particular program: Holdfast's own archives and exports, and plain conversations.

A plain line is `{"role": "user", "content": "..."}`, with `timestamp`, `tool` and `call_id` where there are any; or
`{"messages": [...]}`, a whole conversation in one line. A message without a time has that of the one before it, the
first one that of its file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.chain.archive import KIND
from holdfast.chain.event_text import text_of
from holdfast.chain.importers.maker import Maker, Origin, joined_text, moment
from holdfast.chain.importers.sources import About, LineReader, VaultOf, WholeReader
from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import EventRecord
from holdfast.store.json_text import from_json

_ROLES = ("user", "human", "assistant", "ai", "model", "system", "developer", "tool", "function")
_CONTENTS = ("content", "text", "parts")


class JsonlImporter:
    name = "jsonl"

    def __init__(self, user: str = "local") -> None:
        self._user = user

    def roots(self) -> list[Path]:
        return []

    def find(self, root: Path) -> Iterator[Path]:
        yield from [root] if root.is_file() else sorted((*root.rglob("*.jsonl"), *root.rglob("*.ndjson")))

    def open_lines(self, path: Path, state: Mapping[str, Any], vault_of: VaultOf) -> LineReader:
        return JsonlReader(path, state, vault_of, self._user)

    def open_whole(self, path: Path, vault_of: VaultOf) -> WholeReader | None:
        return None


class JsonlReader:
    def __init__(self, path: Path, state: Mapping[str, Any], vault_of: VaultOf, user: str) -> None:
        self._vault_of = vault_of
        self._user = user
        self._archived: dict[str, Any] | None = state.get("archived")
        self._turn = int(state.get("turn", 0))
        self._at = float(state.get("at") or path.stat().st_mtime)
        self._path = path
        self.about = About.known(state, session=path.stem, host="jsonl")

    def state(self) -> dict[str, Any]:
        return {"about": self.about.to_dict(), "archived": self._archived, "turn": self._turn, "at": self._at}

    def read(self, entry: Mapping[str, Any], offset: int) -> Iterable[EventRecord]:
        if entry.get("kind") == KIND and isinstance(entry.get("session"), Mapping):
            self._archived = dict(entry["session"])
            self._describe(self._archived)
            return ()
        if self._archived is not None:
            return () if entry.get("end") is True else (self._own(self._archived, entry),)
        messages = entry.get("messages")
        if isinstance(messages, list):
            return self._conversation(messages, offset)
        if entry.get("role") in _ROLES:
            return self._message(self._maker(), entry, f"@{offset}", 0)
        raise ValueError("neither a message with a role, nor a conversation with messages")

    # our own archives

    def _describe(self, session: Mapping[str, Any]) -> None:
        about = self.about
        about.session, about.host = str(session["id"]), str(session.get("host") or "jsonl")
        about.cwd, about.model, about.title = (str(session.get(name) or "") for name in ("cwd", "model", "title"))
        about.used, about.window, about.measured_at = (session.get(n) for n in ("used", "window", "measured_at"))
        about.compressions = int(session.get("compressions") or 0)

    def _own(self, session: Mapping[str, Any], entry: Mapping[str, Any]) -> EventRecord:
        if not {"id", "at", "kind", "data"} <= entry.keys():
            raise ValueError("no event of an archive: id, at, kind or data is missing")
        key = SessionKey(self._user, str(session["agent"]), str(session["thread"]))
        self.about.saw(float(entry["at"]))
        return EventRecord(
            id=str(entry["id"]),
            where=SessionId(key, self.about.session, str(entry.get("subagent") or "")),
            at=float(entry["at"]),
            kind=str(entry["kind"]),
            data=entry["data"],
            invocation=str(entry.get("invocation") or ""),
            text=str(entry.get("text", text_of(str(entry["kind"]), entry["data"]))),
            tool=str(entry.get("tool") or ""),
            files=tuple(entry.get("files") or ()),
        )

    # plain conversations

    def _maker(self) -> Maker:
        session = self.about.session
        where = SessionId(SessionKey(self._user, "jsonl", f"jsonl-{session}"), session)
        vault = self._vault_of(self.about.cwd) if self.about.cwd else ""
        maker = Maker(Origin(f"jsonl {self._path.resolve()}", where, self.about.cwd, vault), {})
        maker.invocation = f"{session}-{self._turn}" if self._turn else ""
        return maker

    def _conversation(self, messages: list[Any], offset: int) -> Iterator[EventRecord]:
        maker = self._maker()
        broken = ""
        for part, message in enumerate(messages):
            try:
                if not isinstance(message, Mapping) or message.get("role") not in _ROLES:
                    raise ValueError("without a role")
                yield from self._message(maker, message, f"@{offset}", part)
            except ValueError as error:
                broken = broken or f"message {part + 1} of the conversation: {error}"
        if broken:
            raise ValueError(broken)

    def _message(self, maker: Maker, message: Mapping[str, Any], name: str, part: int) -> Iterator[EventRecord]:
        at = self._at = moment(message.get("timestamp") or message.get("created_at") or message.get("time"), self._at)
        self.about.saw(at)
        given = next((message[name] for name in _CONTENTS if message.get(name) is not None), None)
        if given is None and not message.get("tool_calls"):
            raise ValueError(f"without {' or '.join(_CONTENTS)}")
        role, text = message["role"], joined_text(given)
        if role in ("user", "human"):
            self._turn += 1
            maker.invocation = f"{self.about.session}-{self._turn}"
            self.about.title = self.about.title or " ".join(text.split())[:80]
            yield maker.prompt(name, at, text, part)
        elif role in ("assistant", "ai", "model"):
            if text:
                yield maker.reply(name, at, text, part)
            for number, call in enumerate(message.get("tool_calls") or ()):
                yield from self._call(maker, call, name, at, f"{part}.{number}")
        elif role in ("tool", "function"):
            call = str(message.get("tool_call_id") or message.get("call_id") or "")
            tool = str(message.get("name") or message.get("tool") or "")
            yield maker.called(name, at, call, tool, text, part)

    def _call(self, maker: Maker, call: Any, name: str, at: float, part: str) -> Iterator[EventRecord]:
        if not isinstance(call, Mapping):
            return
        inner = call.get("function")
        function: Mapping[str, Any] = inner if isinstance(inner, Mapping) else call
        given: Any = function.get("arguments") or function.get("input") or {}
        if isinstance(given, str):
            try:
                given = from_json(given)
            except ValueError:
                given = {"input": given}
        yield maker.calling(name, at, str(call.get("id", "")), str(function.get("name", "")), given, part)
