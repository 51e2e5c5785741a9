"""Gemini CLI's chats: JSON Lines in which a message may come again with more in it, and `$set` changes the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.chain.importers.maker import Maker, Origin, joined_text, moment
from holdfast.chain.importers.sources import About, Broken, LineReader, VaultOf, WholeReader
from holdfast.core.host_tools import GEMINI
from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import EventRecord
from holdfast.store.json_text import from_json, to_json

_SNAPSHOT = "<state_snapshot>"
_CONTEXT = "<session_context>"
_WINDOW = 1_048_576


class GeminiImporter:
    name = "gemini"

    def __init__(self, user: str = "local", home: Path | None = None) -> None:
        self._user = user
        self._home = home

    def roots(self) -> list[Path]:
        return [(self._home or Path.home()) / ".gemini" / "tmp"]

    def find(self, root: Path) -> Iterator[Path]:
        if root.is_file():
            yield root
            return
        for folder in sorted(root.rglob("chats")):
            yield from sorted(path for path in folder.glob("session-*.json*") if path.suffix in (".json", ".jsonl"))

    def open_lines(self, path: Path, state: Mapping[str, Any], vault_of: VaultOf) -> LineReader | None:
        return None

    def open_whole(self, path: Path, vault_of: VaultOf) -> WholeReader:
        return GeminiReader(path, vault_of, self._user)


class GeminiReader:
    """The last version of each message counts; messages that a compression threw away stay, since they were said."""

    def __init__(self, path: Path, vault_of: VaultOf, user: str) -> None:
        self._path = path
        self._vault_of = vault_of
        self._user = user
        self._broken: list[Broken] = []
        self._about: dict[str, Any] = {}
        self._messages: dict[str, Mapping[str, Any]] = {}

    def broken(self) -> list[Broken]:
        return self._broken

    def sessions(self) -> Iterator[tuple[About, list[EventRecord]]]:
        self._load()
        name = str(self._about.get("sessionId") or self._path.stem)
        about = About(session=name, host="gemini", cwd=self._project())
        about.saw(moment(self._about.get("startTime")))
        where = SessionId(SessionKey(self._user, "gemini", f"gemini-{name}"), name)
        vault = self._vault_of(about.cwd) if about.cwd else ""
        maker = Maker(Origin("gemini", where, about.cwd, vault), GEMINI)
        records: list[EventRecord] = []
        for message in self._messages.values():
            records += self._events(maker, about, message)
        yield about, records

    def _load(self) -> None:
        if self._path.suffix == ".json":
            self._take(self._parsed(self._path.read_bytes(), 1))
            return
        lines = self._path.read_bytes().split(b"\n")
        unfinished = lines.pop()  # empty, or a line that is still being written
        for number, line in enumerate(lines, 1):
            if line.strip():
                self._take(self._parsed(line, number))
        if unfinished.strip():
            try:
                self._take(from_json(unfinished))
            except ValueError:
                return

    def _parsed(self, line: bytes, number: int) -> Any:
        try:
            entry = from_json(line)
        except ValueError as error:
            self._broken.append(Broken(str(self._path), number, f"no JSON: {error}"))
            return None
        if not isinstance(entry, Mapping):
            self._broken.append(Broken(str(self._path), number, "no object"))
            return None
        return entry

    def _take(self, entry: Any) -> None:
        if not isinstance(entry, Mapping):
            return
        changes = entry.get("$set")
        if isinstance(changes, Mapping):
            entry = changes
        elif "type" in entry and "id" in entry:
            self._put(entry)
            return
        for message in entry.get("messages") or ():
            if isinstance(message, Mapping):
                self._put(message)
        self._about.update({key: value for key, value in entry.items() if key != "messages"})

    def _put(self, message: Mapping[str, Any]) -> None:
        name = str(message.get("id") or f"{message.get('timestamp')}-{message.get('type')}")
        self._messages[name] = {**message, "id": name}

    def _project(self) -> str:
        """The folder above `chats` knows which project it is of."""
        try:
            return (self._path.parent.parent / ".project_root").read_text(encoding="utf-8").strip()
        except OSError:
            return ""

    def _events(self, maker: Maker, about: About, message: Mapping[str, Any]) -> Iterator[EventRecord]:
        name, at, kind = str(message["id"]), moment(message.get("timestamp")), message.get("type")
        about.saw(at)
        if kind == "user":
            yield from self._user_message(maker, about, message, name, at)
        elif kind == "gemini":
            yield from self._reply(maker, about, message, name, at)

    def _user_message(
        self, maker: Maker, about: About, message: Mapping[str, Any], name: str, at: float
    ) -> Iterator[EventRecord]:
        content = message.get("content")
        parts = [part for part in content if not _is_response(part)] if isinstance(content, list) else content
        text = joined_text(parts)
        if not text.strip() or text.lstrip().startswith(_CONTEXT):
            return
        if _SNAPSHOT in text:
            about.compressions += 1
            yield maker.compacted(name, at, text, inferred=True)
            return
        maker.invocation = name
        about.title = about.title or " ".join(text.split())[:80]
        yield maker.prompt(name, at, text)

    def _reply(
        self, maker: Maker, about: About, message: Mapping[str, Any], name: str, at: float
    ) -> Iterator[EventRecord]:
        about.model = str(message.get("model") or about.model)
        tokens = message.get("tokens")
        if isinstance(tokens, Mapping) and tokens.get("input") is not None:
            about.used, about.window, about.measured_at = int(tokens["input"]), _WINDOW, at
        thoughts = message.get("thoughts")
        if isinstance(thoughts, list) and thoughts:
            told = "\n".join(
                f"{t.get('subject', '')}: {t.get('description', '')}" for t in thoughts if isinstance(t, Mapping)
            )
            yield maker.reply(name, at, "", "thoughts", reasoning=told)
        if text := joined_text(message.get("content")):
            yield maker.reply(name, at, text, "text")
        for call in message.get("toolCalls") or ():
            if isinstance(call, Mapping):
                yield from self._call(maker, call, name, at)

    def _call(self, maker: Maker, call: Mapping[str, Any], name: str, at: float) -> Iterator[EventRecord]:
        call_id, tool = str(call.get("id", "")), str(call.get("name", ""))
        asked = maker.calling(name, at, call_id, tool, call.get("args") or {}, f"{call_id}:call")
        yield asked
        if call.get("result") is None and call.get("status") not in ("error", "cancelled"):
            return
        done = moment(call.get("timestamp"), at)
        failed = call.get("status") in ("error", "cancelled")
        output = "\n".join(_output(part) for part in call.get("result") or ())
        yield maker.called(name, done, call_id, tool, output, f"{call_id}:result", failed=failed, files=asked.files)


def _is_response(part: Any) -> bool:
    """The result of a call as the model saw it; it stands with the call already."""
    return isinstance(part, Mapping) and "functionResponse" in part


def _output(part: Any) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    response = (part.get("functionResponse") or {}).get("response")
    if isinstance(response, Mapping):
        said = response.get("output", response.get("error"))
        return said if isinstance(said, str) else to_json(dict(response))
    return str(part.get("text") or "")
