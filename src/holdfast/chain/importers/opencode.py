"""OpenCode's database of sessions, messages and parts; opened for reading only."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.chain.importers.maker import Maker, Origin, moment
from holdfast.chain.importers.sources import About, Broken, LineReader, VaultOf, WholeReader
from holdfast.core.host_tools import OPENCODE
from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import EventRecord
from holdfast.store.json_text import from_json

_WAIT_SECONDS = 10.0


class OpenCodeImporter:
    name = "opencode"

    def __init__(self, user: str = "local", environ: Mapping[str, str] = os.environ) -> None:
        self._user = user
        self._environ = environ

    def roots(self) -> list[Path]:
        data = Path(self._environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
        return [data / "opencode"]

    def find(self, root: Path) -> Iterator[Path]:
        yield from [root] if root.is_file() else sorted(root.glob("opencode*.db"))

    def open_lines(self, path: Path, state: Mapping[str, Any], vault_of: VaultOf) -> LineReader | None:
        return None

    def open_whole(self, path: Path, vault_of: VaultOf) -> WholeReader:
        return OpenCodeReader(path, vault_of, self._user)


class OpenCodeReader:
    """A child session is a sub-agent's, and becomes part of its parent's."""

    def __init__(self, path: Path, vault_of: VaultOf, user: str) -> None:
        self._path = path
        self._vault_of = vault_of
        self._user = user
        self._broken: list[Broken] = []

    def broken(self) -> list[Broken]:
        return self._broken

    def sessions(self) -> Iterator[tuple[About, list[EventRecord]]]:
        database = sqlite3.connect(f"{self._path.resolve().as_uri()}?mode=ro", uri=True, timeout=_WAIT_SECONDS)
        database.row_factory = sqlite3.Row
        try:
            try:
                rows = database.execute("SELECT * FROM session ORDER BY time_created, id").fetchall()
            except sqlite3.Error as error:
                raise ValueError(f"{self._path} is no database of OpenCode: {error}") from None
            parents = {row["id"]: row["parent_id"] for row in rows}
            for row in rows:
                yield self._session(database, row, _root(row["id"], parents))
        finally:
            database.close()

    def _session(self, database: sqlite3.Connection, row: sqlite3.Row, root: str) -> tuple[About, list[EventRecord]]:
        known = set(row.keys())
        subagent = (row["agent"] if "agent" in known and row["agent"] else row["id"]) if root != row["id"] else ""
        about = About(session=root, host="opencode", cwd=row["directory"], subagent=subagent)
        about.title = "" if subagent else str(row["title"] or "")
        about.saw(moment(row["time_created"]))
        key = SessionKey(self._user, "opencode", f"opencode-{root}")
        vault = self._vault_of(about.cwd) if about.cwd else ""
        maker = Maker(Origin("opencode", SessionId(key, root, subagent), about.cwd, vault), OPENCODE)
        records: list[EventRecord] = []
        messages = database.execute(
            "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id", (row["id"],)
        ).fetchall()
        parts: dict[str, list[sqlite3.Row]] = {}
        for part in database.execute(
            "SELECT id, message_id, time_created, data FROM part WHERE session_id = ? ORDER BY id", (row["id"],)
        ):
            parts.setdefault(part["message_id"], []).append(part)
        for message in messages:
            records += self._message(maker, about, message, parts.get(message["id"], []))
        return about, records

    def _message(
        self, maker: Maker, about: About, message: sqlite3.Row, parts: list[sqlite3.Row]
    ) -> Iterator[EventRecord]:
        data = self._parsed(message["data"], f"message {message['id']}")
        at = moment(message["time_created"])
        about.saw(at)
        role = data.get("role")
        if role == "user":
            maker.invocation = message["id"]
        elif role == "assistant":
            maker.invocation = str(data.get("parentID") or maker.invocation)
            self._measure(about, data, at)
        for row in parts:
            yield from self._part(maker, about, row, role, summary=bool(data.get("summary")))

    def _measure(self, about: About, data: Mapping[str, Any], at: float) -> None:
        about.model = str(data.get("modelID") or about.model)
        tokens = data.get("tokens")
        if isinstance(tokens, Mapping) and not about.subagent:
            cache = tokens.get("cache") or {}
            about.used = int(tokens.get("input") or 0) + int(cache.get("read") or 0) + int(cache.get("write") or 0)
            about.measured_at = at

    def _part(self, maker: Maker, about: About, row: sqlite3.Row, role: Any, *, summary: bool) -> Iterator[EventRecord]:
        data = self._parsed(row["data"], f"part {row['id']}")
        name, at = str(row["id"]), moment(row["time_created"])
        about.saw(at)
        match data.get("type"):
            case "text" if data.get("text"):
                text = str(data["text"])
                if summary:
                    about.compressions += 1
                    yield maker.compacted(name, at, text)
                elif role == "user":
                    yield maker.prompt(name, at, text, typed=not data.get("synthetic"))
                else:
                    yield maker.reply(name, at, text)
            case "reasoning" if data.get("text"):
                yield maker.reply(name, at, "", reasoning=str(data["text"]))
            case "tool":
                yield from self._tool(maker, name, at, data)

    def _tool(self, maker: Maker, name: str, at: float, data: Mapping[str, Any]) -> Iterator[EventRecord]:
        state = data.get("state") or {}
        call, tool = str(data.get("callID") or name), str(data.get("tool", ""))
        status = state.get("status")
        if status == "pending":
            return  # its input is not complete yet
        asked = maker.calling(name, at, call, tool, state.get("input") or {}, "call")
        yield asked
        if status not in ("completed", "error"):
            return
        code = (state.get("metadata") or {}).get("exit")
        output = str(state.get("output") or state.get("error") or "")
        done = moment((state.get("time") or {}).get("end"), at)
        yield maker.called(
            name,
            done,
            call,
            tool,
            output,
            "result",
            failed=status == "error",
            exit_code=code if isinstance(code, int) else None,
            files=asked.files,
        )

    def _parsed(self, text: str, what: str) -> Mapping[str, Any]:
        try:
            data = from_json(text)
        except ValueError as error:
            self._broken.append(Broken(f"{self._path} ({what})", 0, f"no JSON: {error}"))
            return {}
        return data if isinstance(data, Mapping) else {}


def _root(session: str, parents: Mapping[str, str | None]) -> str:
    """The session at the top; a ring of parents, which cannot be, ends where it began."""
    seen = {session}
    while (parent := parents.get(session)) and parent in parents and parent not in seen:
        session = parent
        seen.add(parent)
    return session
