"""Sessions as JSON Lines: the archive of those that are sealed, and exports of any at any time (SC4).

The first line says what the session is and holds its digest, then comes one line an event, and the last line holds the
SHA-256 of all before it. Text is raw UTF-8, so that any tool finds it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.chain.digests import Digests, all_events
from holdfast.chain.event_text import text_of
from holdfast.chain.session_rows import existing
from holdfast.core.keys import SessionId
from holdfast.store.file_names import file_name
from holdfast.store.interface import EventRecord, Session, Store, StoreError
from holdfast.store.json_text import from_json, to_json_bytes

FORMAT = 1
KIND = "holdfast-session"
NOTE = "archive:"


class ArchiveError(StoreError):
    """An archive that is missing or is not what was written."""


@dataclass(frozen=True, slots=True)
class Archived:
    """What the store knows of an archive."""

    file: Path
    sha256: str
    size: int
    events: int


class Archive:
    """`folder` is the home's archive."""

    def __init__(self, folder: Path, store: Store, digests: Digests, *, clock: Callable[[], float]) -> None:
        self.folder = Path(folder)
        self._store = store
        self._digests = digests
        self._clock = clock

    # sealed sessions

    def write(self, session: Session) -> Archived:
        """Archive a sealed session and read it back; the same again changes nothing."""
        name = session.id.session
        path = self.path_of(name)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}.part")
        try:
            with open(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
                sha256, events = _write_lines(file.write, self.lines(session))
                file.flush()
                os.fsync(file.fileno())
            draft.rename(path)
        finally:
            draft.unlink(missing_ok=True)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        archived = Archived(path, sha256, path.stat().st_size, events)
        self._store.note(
            NOTE + name,
            {"file": path.name, "sha256": sha256, "size": archived.size, "events": events, "at": self._clock()},
        )
        self.verify(session.id)
        return archived

    def archived(self, session: str) -> Archived | None:
        kept: Any = self._store.noted(NOTE + session)
        if not isinstance(kept, Mapping):
            return None
        return Archived(self.folder / str(kept["file"]), str(kept["sha256"]), int(kept["size"]), int(kept["events"]))

    def verify(self, where: SessionId) -> Archived:
        """Compare the file with what was written and with the store; raises `ArchiveError`."""
        existing(self._store, where, "an archive")
        known = self.archived(where.session)
        if known is None:
            raise ArchiveError(f"session {where.session!r} has no archive; it gets one when it is sealed")
        try:
            found = read_archive(known.file)
            events = sum(1 for _ in found.events())
        except OSError as error:
            raise ArchiveError(f"{known.file}: {error.strerror or error}; `sessions export` writes it anew") from None
        if found.sha256() != known.sha256:
            raise ArchiveError(f"{known.file} is not what was written; `sessions export` writes it anew")
        last = self._store.events(where.session, limit=1, newest_first=True)
        if events != known.events or events != (last[0].no if last else 0):
            raise ArchiveError(f"{known.file} holds {events} events, the store has {last[0].no if last else 0}")
        return known

    def forget(self, session: str) -> bool:
        """Remove the archive; whether there was one."""
        path = self.path_of(session)
        there = path.exists()
        path.unlink(missing_ok=True)
        self._store.note(NOTE + session, None)
        return there

    def path_of(self, session: str) -> Path:
        return self.folder / f"{file_name(session)}.jsonl"

    # any session

    def export(self, session: Session, write: Callable[[bytes], Any]) -> int:
        """Hand the lines of any session, sealed or not, to `write`; returns the number of events."""
        return _write_lines(write, self.lines(session))[1]

    def lines(self, session: Session) -> Iterator[Mapping[str, Any]]:
        described = {f.name: getattr(session, f.name) for f in dataclasses.fields(session) if f.name != "id"}
        key = session.id.key
        described.update(user=key.user, agent=key.agent, thread=key.thread, id=session.id.session)
        digest = self._digests.of(session)
        yield {"kind": KIND, "format": FORMAT, "session": described, "digest": digest.to_dict()}
        for record in all_events(self._store, session.id.session):
            yield event_line(record)


def event_line(record: EventRecord) -> dict[str, Any]:
    """One event; what is empty, or follows from the rest, is left out."""
    line: dict[str, Any] = {"no": record.no, "id": record.id, "at": record.at, "kind": record.kind}
    for name in ("invocation", "tool"):
        if value := getattr(record, name):
            line[name] = value
    if record.where.subagent:
        line["subagent"] = record.where.subagent
    if record.files:
        line["files"] = list(record.files)
    if record.text != text_of(record.kind, record.data):
        line["text"] = record.text
    line["data"] = record.data
    return line


def _write_lines(write: Callable[[bytes], Any], lines: Iterator[Mapping[str, Any]]) -> tuple[str, int]:
    """Writes them and the closing line; the hash and the number of events."""
    digest = hashlib.sha256()
    count = -1  # the first line is no event
    for line in lines:
        data = to_json_bytes(line) + b"\n"
        digest.update(data)
        write(data)
        count += 1
    write(to_json_bytes({"end": True, "events": count, "sha256": digest.hexdigest()}) + b"\n")
    return digest.hexdigest(), count


class ArchiveFile:
    """An archive or export on disk. Reading it to the end checks it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digest = hashlib.sha256()
        with open(path, "rb") as file:
            first = file.readline()
        self.header: Mapping[str, Any] = _parsed(path, 1, first)
        if self.header.get("kind") != KIND or self.header.get("format") != FORMAT:
            raise ArchiveError(f"{path}:1: not a session of format {FORMAT}; update Holdfast, or check the file")

    def events(self) -> Iterator[Mapping[str, Any]]:
        """Raises `ArchiveError` at a line that was changed, or where lines are missing."""
        self._digest = hashlib.sha256()
        count = 0
        with open(self.path, "rb") as file:
            self._digest.update(file.readline())
            for number, line in enumerate(file, 2):
                entry = _parsed(self.path, number, line)
                if entry.get("end") is True:
                    if entry.get("sha256") != self._digest.hexdigest() or entry.get("events") != count:
                        raise ArchiveError(f"{self.path}:{number}: the lines above are not those that were written")
                    if file.readline():
                        raise ArchiveError(f"{self.path}:{number + 1}: there are lines after the end")
                    return
                self._digest.update(line)
                count += 1
                yield entry
        raise ArchiveError(f"{self.path}: cut off after {count} events")

    def sha256(self) -> str:
        """Of what was read so far."""
        return self._digest.hexdigest()


def read_archive(path: Path) -> ArchiveFile:
    return ArchiveFile(path)


def _parsed(path: Path, number: int, line: bytes) -> Mapping[str, Any]:
    with contextlib.suppress(ValueError):
        entry = from_json(line)
        if isinstance(entry, Mapping):
            return entry
    raise ArchiveError(f"{path}:{number}: not a line of an archive")
