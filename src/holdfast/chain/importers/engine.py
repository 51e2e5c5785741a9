"""Runs an importer over its transcripts: resumable, repeatable, quick, and patient with broken lines (SC11).

How far a file was read is noted after its events are durable. If the note is lost, the events are read again and found
to be known: their ids follow from what they are.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from holdfast.chain.importers.sources import About, Broken, Importer, ImportReport, LineReader
from holdfast.core.keys import SessionId
from holdfast.store.home import git_top_level
from holdfast.store.interface import IMPORTED, EventRecord, Session, StateConflict, Store
from holdfast.store.json_text import from_json

_BLOCK = 4 << 20
_MOST_EVENTS = 4000
_MOST_BYTES = 8 << 20
_HEAD = 4096
NOTE = "import:"

Progress = Callable[["ImportReport", int, int, str], None]
"""`(report so far, bytes done, bytes in all, file)`"""


class ImportStopped(Exception):
    """A file cannot be imported; the message says why."""


@dataclass(frozen=True, slots=True)
class _Place:
    """How far a file was read."""

    offset: int = 0
    line: int = 0
    head: str = ""
    state: Mapping[str, Any] | None = None


class ImportEngine:
    """One user's imports into one store."""

    def __init__(
        self,
        store: Store,
        *,
        user: str,
        progress: Progress = lambda report, done, total, file: None,
    ) -> None:
        self._store = store
        self._user = user
        self._progress = progress
        self._vaults: dict[str, str] = {}
        self._deleted: set[str] | None = None

    def run(self, importer: Importer, paths: list[Path]) -> ImportReport:
        """Import everything below these paths that is new since the last time."""
        began = time.monotonic()
        report = ImportReport()
        files = [file for path in paths for file in importer.find(path)]
        sizes = {file: _size(file) for file in files}
        total, done = sum(sizes.values()), 0
        for file in files:
            report.files += 1
            self._progress(report, done, total, str(file))
            try:
                self._import(importer, file, report, done, total)
            except ImportStopped as stopped:
                report.skipped.append((str(file), str(stopped)))
            except OSError as error:
                report.skipped.append((str(file), error.strerror or str(error)))
            done += sizes[file]
        report.seconds = time.monotonic() - began
        self._progress(report, total, total, "")
        return report

    def _import(self, importer: Importer, file: Path, report: ImportReport, done: int, total: int) -> None:
        place = self._place(importer, file)
        reader = importer.open_lines(file, place.state or {}, self.vault_of)
        if reader is not None:
            self._import_lines(importer, file, reader, place, report, done, total)
        else:
            self._import_whole(importer, file, report)

    # line by line

    def _import_lines(
        self,
        importer: Importer,
        file: Path,
        reader: LineReader,
        place: _Place,
        report: ImportReport,
        done: int,
        total: int,
    ) -> None:
        with open(file, "rb") as stream:
            if place.offset and self._head_of(stream, place.offset) != place.head:
                # It was written anew: what it holds now is read from its beginning.
                place = _Place()
                again = importer.open_lines(file, {}, self.vault_of)
                assert again is not None
                reader = again
            stream.seek(place.offset)
            if _size(file) <= place.offset:
                report.unchanged += 1
                return
            self._read(importer, file, stream, reader, place, report, done, total)

    def _head_of(self, stream: BinaryIO, offset: int) -> str:
        """Tells a file that only grew from one that was written anew: its first bytes, and those before the place."""
        stream.seek(0)
        digest = hashlib.sha256(stream.read(min(_HEAD, offset)))
        stream.seek(max(0, offset - _HEAD))
        digest.update(stream.read(min(_HEAD, offset)))
        return digest.hexdigest()

    def _read(
        self,
        importer: Importer,
        file: Path,
        stream: BinaryIO,
        reader: LineReader,
        place: _Place,
        report: ImportReport,
        done: int,
        total: int,
    ) -> None:
        batch: list[EventRecord] = []
        held, offset, number = 0, place.offset, place.line
        for line, start in _lines(stream, place.offset):
            number += 1
            offset = start + len(line) + 1
            if not line.strip():
                continue
            try:
                entry = from_json(line)
                if not isinstance(entry, dict):
                    raise ValueError("no object")
                batch.extend(reader.read(entry, start))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                report.add_broken([Broken(str(file), number, _why(error))])
                continue
            held += len(line)
            if len(batch) >= _MOST_EVENTS or held >= _MOST_BYTES:
                self._commit(importer, file, reader, batch, report)
                self._keep_place(importer, file, stream, offset, number, reader)
                report.bytes += held
                self._progress(report, done + offset, total, str(file))
                batch, held = [], 0
        self._commit(importer, file, reader, batch, report)
        report.bytes += held
        self._finish(reader.about, report)
        self._keep_place(importer, file, stream, offset, number, reader)

    def _keep_place(
        self, importer: Importer, file: Path, stream: BinaryIO, offset: int, line: int, reader: LineReader
    ) -> None:
        here = stream.tell()
        body = {"offset": offset, "line": line, "head": self._head_of(stream, offset), "state": reader.state()}
        stream.seek(here)
        self._store.note(self._note(importer, file), body)

    # as a whole

    def _import_whole(self, importer: Importer, file: Path, report: ImportReport) -> None:
        note = self._note(importer, file)
        stat = file.stat()
        # A database's companion tells of changes that have not reached it yet.
        log = file.with_name(file.name + "-wal")
        mark = [stat.st_size, stat.st_mtime_ns, _size(log), log.stat().st_mtime_ns if log.exists() else 0]
        kept: Any = self._store.noted(note)
        if isinstance(kept, Mapping) and kept.get("mark") == mark:
            report.unchanged += 1
            return
        reader = importer.open_whole(file, self.vault_of)
        assert reader is not None
        try:
            for about, records in reader.sessions():
                try:
                    for start in range(0, len(records), _MOST_EVENTS):
                        self._append(about, records[start : start + _MOST_EVENTS], report)
                except ImportStopped as stopped:
                    report.skipped.append((f"{file} ({about.session})", str(stopped)))
                    continue
                self._finish(about, report)
        except ValueError as error:
            raise ImportStopped(str(error)) from None
        report.add_broken(reader.broken())
        report.bytes += stat.st_size
        self._store.note(note, {"mark": mark})

    # storing

    def _commit(
        self, importer: Importer, file: Path, reader: LineReader, batch: list[EventRecord], report: ImportReport
    ) -> None:
        if batch:
            self._append(reader.about, batch, report)

    def _append(self, about: About, batch: list[EventRecord], report: ImportReport) -> None:
        where = batch[0].where.main()
        self._open(where, about)
        new = self._store.append_imported(where, batch)
        report.sessions.add(where.session)
        report.events += new
        report.known += len(batch) - new

    def _open(self, where: SessionId, about: About) -> None:
        known = self._store.session(where.session)
        if known is not None:
            if known.seal_reason != IMPORTED:
                raise ImportStopped("Holdfast has recorded this session itself")
            return
        if where.session in self._deletions():
            raise ImportStopped("this session was deleted; it is not taken in again")
        cwd = about.cwd
        self._store.open_session(
            Session(
                id=where,
                host=about.host,
                vault=self.vault_of(cwd) if cwd else "",
                started_at=about.started_at,
                state="sealed",
                cwd=cwd,
                model=about.model,
                title=about.title,
                ended_at=about.ended_at or None,
                seal_reason=IMPORTED,
            )
        )

    def _finish(self, about: About, report: ImportReport) -> None:
        """What the last lines told of the session: its end, its model, how full it was."""
        for _ in range(20):
            session = self._store.session(about.session)
            if session is None or session.seal_reason != IMPORTED:
                return
            changes: dict[str, Any] = {}
            if about.ended_at > (session.ended_at or 0.0):
                changes["ended_at"] = about.ended_at
            if not about.subagent:
                changes.update(_news(about, session))
            if not changes:
                return
            try:
                self._store.update_session(about.session, session.version, **changes)
                return
            except StateConflict:
                continue

    def _deletions(self) -> set[str]:
        if self._deleted is None:
            self._deleted = set()
            after = 0
            while page := self._store.deletions(after, 1000):
                self._deleted.update(gone.where.session for gone in page)
                after = page[-1].position
        return self._deleted

    def vault_of(self, cwd: str) -> str:
        """The project of a directory: its git top level while it is there, else the directory itself."""
        known = self._vaults.get(cwd)
        if known is None:
            folder = Path(cwd)
            top = git_top_level(folder.resolve()) if folder.is_dir() else None
            known = self._vaults[cwd] = str(top or (folder.resolve() if folder.is_dir() else folder))
        return known

    def _place(self, importer: Importer, file: Path) -> _Place:
        kept: Any = self._store.noted(self._note(importer, file))
        if not isinstance(kept, Mapping) or "offset" not in kept:
            return _Place()
        return _Place(int(kept["offset"]), int(kept["line"]), str(kept["head"]), kept.get("state") or {})

    def _note(self, importer: Importer, file: Path) -> str:
        return f"{NOTE}{self._user}\n{importer.name}\n{file.resolve()}"


def _news(about: About, session: Session) -> dict[str, Any]:
    found = {
        "model": about.model,
        "title": session.title or about.title,
        "used": about.used,
        "window": about.window,
        "measured_at": about.measured_at,
        "compressions": about.compressions,
    }
    return {name: value for name, value in found.items() if value and value != getattr(session, name)}


def _lines(stream: BinaryIO, offset: int) -> Iterator[tuple[bytes, int]]:
    """Whole lines with where they begin; what comes after the last line break is still being written."""
    rest = b""
    while block := stream.read(_BLOCK):
        pieces = (rest + block).split(b"\n") if rest else block.split(b"\n")
        rest = pieces.pop()
        for piece in pieces:
            yield piece, offset
            offset += len(piece) + 1


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _why(error: Exception) -> str:
    text = str(error)
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"
