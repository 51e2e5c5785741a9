"""What an importer is: where its transcripts lie, and how one of them is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

from holdfast.store.interface import EventRecord

VaultOf = Callable[[str], str]
"""The project that a directory belongs to; by its name alone when it is gone."""


@dataclass(slots=True)
class About:
    """What is known of a transcript's session so far; later lines may know more."""

    session: str = ""
    subagent: str = ""
    host: str = ""
    cwd: str = ""
    model: str = ""
    title: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    used: int | None = None
    window: int | None = None
    measured_at: float | None = None
    compressions: int = 0

    @classmethod
    def known(cls, state: Mapping[str, Any], **defaults: str) -> About:
        """What an earlier import of the same file had learned: lines that only describe are read once."""
        kept = state.get("about") or {}
        return cls(**{**defaults, **{place.name: kept[place.name] for place in fields(cls) if place.name in kept}})

    def to_dict(self) -> dict[str, Any]:
        """For `known`: what differs from knowing nothing."""
        return {name: value for name, value in asdict(self).items() if value}

    def saw(self, at: float) -> None:
        if at:
            self.started_at = min(self.started_at or at, at)
            self.ended_at = max(self.ended_at, at)


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that could not be read."""

    file: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.why}"


class LineReader(Protocol):
    """Reads one append-only file of JSON lines, in order; can go on where another one stopped."""

    about: About

    def read(self, entry: Mapping[str, Any], offset: int) -> Iterable[EventRecord]:
        """The events of one line; raises `ValueError` for a line that is not what it should be."""
        ...

    def state(self) -> dict[str, Any]:
        """What has to be known to go on after the last line."""
        ...


class WholeReader(Protocol):
    """Reads a source whose entries may still change: it is read as a whole each time."""

    def sessions(self) -> Iterator[tuple[About, list[EventRecord]]]: ...

    def broken(self) -> list[Broken]: ...


class Importer(Protocol):
    """One kind of transcripts."""

    @property
    def name(self) -> str: ...

    def roots(self) -> list[Path]:
        """Where they usually lie; the first that is there counts."""
        ...

    def find(self, root: Path) -> Iterator[Path]:
        """The transcripts below a folder, or the one file that was named."""
        ...

    def open_lines(self, path: Path, state: Mapping[str, Any], vault_of: VaultOf) -> LineReader | None:
        """A reader that goes line by line; None when this kind is read as a whole."""
        ...

    def open_whole(self, path: Path, vault_of: VaultOf) -> WholeReader | None: ...


@dataclass(slots=True)
class ImportReport:
    """What an import did."""

    files: int = 0
    unchanged: int = 0
    bytes: int = 0
    sessions: set[str] = field(default_factory=set)
    events: int = 0
    known: int = 0
    """Events that were there already."""
    broken_lines: int = 0
    broken: list[Broken] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """File and reason."""
    seconds: float = 0.0

    def add_broken(self, found: Iterable[Broken], most: int = 1000) -> None:
        for line in found:
            self.broken_lines += 1
            if len(self.broken) < most:
                self.broken.append(line)

    def to_dict(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "unchanged": self.unchanged,
            "bytes": self.bytes,
            "sessions": len(self.sessions),
            "events": self.events,
            "known": self.known,
            "brokenLines": self.broken_lines,
            "broken": [{"file": b.file, "line": b.line, "why": b.why} for b in self.broken],
            "skipped": [{"file": file, "why": why} for file, why in self.skipped],
            "seconds": round(self.seconds, 3),
        }
