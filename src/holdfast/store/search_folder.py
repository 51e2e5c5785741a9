"""Where the index lies: a folder for each generation, and a small file that names the current one.

A rebuilt index takes the place of the old one in one step, under the eyes of those who are searching.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import tantivy

from holdfast.store.atomic_file import sweep_temporaries, write_atomic
from holdfast.store.interface import Store
from holdfast.store.search_document import FORMAT, IndexState, open_index
from holdfast.store.search_index import Snapshot


class IndexFolder:
    """`<root>/CURRENT` names the generation that is searched."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._pointer = root / "CURRENT"

    def current(self) -> Path | None:
        """The generation to search; None when there is none that this program can read."""
        try:
            name = self._pointer.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return self.root / name if name.startswith(f"v{FORMAT}-") and "/" not in name else None

    def fresh(self) -> Path:
        """A generation that is not there yet."""
        return self.root / f"v{FORMAT}-{time.time_ns():x}"

    def switch(self, generation: Path) -> None:
        write_atomic(self._pointer, generation.name.encode())
        self.sweep(generation)

    def sweep(self, keep: Path | None) -> None:
        """Remove what no longer counts, under the lock; whoever is still searching there keeps what he has open."""
        for path in self.root.glob("v*-*"):
            if path != keep:
                shutil.rmtree(path, ignore_errors=True)
        sweep_temporaries(self._pointer)

    def try_lock(self) -> int | None:
        """The writers' lock as an open file, or None when it is taken. The kernel frees it when its holder dies."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.root / "writer.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor

    def size(self) -> int:
        current = self.current()
        return sum(path.stat().st_size for path in current.iterdir()) if current and current.is_dir() else 0


@dataclass(frozen=True, slots=True)
class _Opened:
    generation: Path
    signature: tuple[int, ...]
    index: tantivy.Index
    snapshot: Snapshot | None


class IndexReader:
    """Looks, at each search, whether there is a newer index, and opens it."""

    def __init__(self, store: Store, folder: IndexFolder) -> None:
        self._store = store
        self._folder = folder
        self._opened: _Opened | None = None
        self.trouble = ""
        """Why there is an index that is not used."""

    def snapshot(self) -> Snapshot | None:
        """The newest state of the index; None when there is none, or none that belongs to this store."""
        for _ in range(3):  # a generation may be replaced just while it is opened
            generation = self._folder.current()
            if generation is None:
                self._opened = None
                return None
            signature = _signature(generation / "meta.json")
            opened = self._opened
            if opened is not None and (opened.generation, opened.signature) == (generation, signature):
                return opened.snapshot
            try:
                self._opened = self._open(generation, signature, opened)
            except (OSError, ValueError) as error:
                self._opened, self.trouble = None, f"{generation} cannot be read: {error}"
                continue
            return self._opened.snapshot
        return None

    def _open(self, generation: Path, signature: tuple[int, ...], before: _Opened | None) -> _Opened:
        if before is not None and before.generation == generation:
            index = before.index
            index.reload()
        else:
            index = open_index(generation)
        snapshot = Snapshot(index)
        belongs = follows(self._store, snapshot.state)
        self.trouble = "" if belongs else f"{generation} was made for another store"
        return _Opened(generation, signature, index, snapshot if belongs else None)


def follows(store: Store, state: IndexState) -> bool:
    """Whether the index was made from this store, and not from one that was replaced or set back since."""
    if not state.covered:
        return True
    found = store.events_since(state.covered - 1, 1)
    if found and found[0].seq == state.covered:
        return found[0].id == state.last_event
    return _was_deleted(store, state.last_session)


def _was_deleted(store: Store, session: str) -> bool:
    position = 0
    while deletions := store.deletions(position):
        if any(deletion.where.session == session for deletion in deletions):
            return True
        position = deletions[-1].position
    return False


def _signature(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size
