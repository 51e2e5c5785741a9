"""Where to search, and what kind of events count."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

from holdfast.core.keys import SessionKey
from holdfast.core.messages import Phrase
from holdfast.store.interface import EventRecord
from holdfast.store.search_query import SearchError
from holdfast.store.search_text import analyse

_SCOPED = ("user", "agent", "thread", "vault")
_LISTS = ("sessions", "kinds", "tools", "files", "agents", "threads")


_NO_NAMES = Phrase("search.no_names", "{name} must be a tuple of names, got {got}", "{name} 须为名称列表，实际为 {got}")
_NO_FILE = Phrase(
    "search.no_file",
    "{path} names no file: give a path, or the name of a file or folder",
    "{path} 不是文件：请给出路径，或文件、文件夹的名称",
)
_NO_TIME = Phrase(
    "search.no_time",
    "nothing lies between {since} and {until}: since must be before until",
    "{since} 与 {until} 之间没有任何内容：开始须早于结束",
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose events are searched; what is None is not asked for. Nothing outside the scope is ever shown."""

    user: str | None = None
    agent: str | None = None
    thread: str | None = None
    vault: str | None = None
    """The project."""

    @classmethod
    def chain(cls, key: SessionKey) -> Scope:
        """All sessions of one conversation."""
        return cls(key.user, key.agent, key.thread)

    @classmethod
    def project(cls, vault: str) -> Scope:
        return cls(vault=vault)


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Filters:
    """What an event must be, besides matching; an empty tuple asks for nothing, several entries mean any of them."""

    sessions: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Paths of files or folders, or their last names: `store/search.py`, `search.py`, `store`."""
    agents: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    since: float | None = None
    """Seconds since 1970, this moment included."""
    until: float | None = None
    """This moment not included."""

    def __post_init__(self) -> None:
        for name in _LISTS:
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(entry, str) and entry for entry in value):
                raise SearchError(_NO_NAMES(name=name, got=repr(value)))
        for path in self.files:
            if not file_words(path):
                raise SearchError(_NO_FILE(path=repr(path)))
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise SearchError(_NO_TIME(since=repr(self.since), until=repr(self.until)))


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Labels:
    """What can be filtered of one event."""

    user: str
    agent: str
    thread: str
    vault: str
    session: str
    kind: str
    tool: str
    at: int
    """In microseconds."""
    files: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, record: EventRecord, vault: str) -> Labels:
        where = record.where
        files = tuple(file_words(path) for path in record.files)
        at = microseconds(record.at)
        return cls(where.user, where.agent, where.thread, vault, where.session, record.kind, record.tool, at, files)


class Sieve:
    """Scope and filters in the form in which many events are held against them."""

    def __init__(self, scope: Scope, filters: Filters) -> None:
        asked: list[tuple[str, tuple[str, ...]]] = [
            *((name, (value,)) for name in _SCOPED if (value := getattr(scope, name)) is not None),
            ("session", filters.sessions),
            ("kind", filters.kinds),
            ("tool", filters.tools),
            ("agent", filters.agents),
            ("thread", filters.threads),
        ]
        self.wanted = [(name, values) for name, values in asked if values]
        """Each must be met: the label is one of the values."""
        self.since = None if filters.since is None else microseconds(filters.since)
        self.until = None if filters.until is None else microseconds(filters.until)
        self.paths = [file_words(path) for path in filters.files]
        self._needles = [f" {' '.join(path)} " for path in self.paths]
        self.identity: Any = [astuple(scope), astuple(filters)]
        """Tells one search from another."""

    def accepts(self, labels: Labels) -> bool:
        return (
            all(getattr(labels, name) in values for name, values in self.wanted)
            and (self.since is None or labels.at >= self.since)
            and (self.until is None or labels.at < self.until)
            and (not self._needles or self._names_a_file(labels))
        )

    def _names_a_file(self, labels: Labels) -> bool:
        files = [f" {' '.join(file)} " for file in labels.files]
        return any(needle in file for needle in self._needles for file in files)


def file_words(path: str) -> tuple[str, ...]:
    """The words of a path; one path is in another when they follow one another there."""
    return tuple(analyse(path).words.split())


def microseconds(at: float) -> int:
    return round(at * 1_000_000)
