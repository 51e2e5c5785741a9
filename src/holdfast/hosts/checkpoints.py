"""What files looked like before a turn changed them, so that a person can take the turn back (`holdfast undo`).

Before an allowed call runs, the files it is known to change are copied: once for each content, under its hash. After
the call their new hashes are written down, so that an undo touches only what is still as the agent left it. What a
command changes without anybody being able to tell beforehand is not covered, and the undo says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.core.events import ToolCalled, ToolCalling
from holdfast.core.outcome import Outcome
from holdfast.hosts.sessions import Place
from holdfast.store.atomic_file import write_atomic
from holdfast.store.file_names import file_name
from holdfast.store.home import Home

FOLDER = "checkpoints"
LARGEST_FILE = 20 * 1024 * 1024
MOST_FILES = 1000
"""Of a folder that is deleted as a whole."""
KEPT_DAYS = 14.0
MOST_UNDER_WAY = 1000
_READING = frozenset(("read", "read_many", "notebook_read", "ls", "glob", "grep", "look_up", "web_fetch", "web_search"))


@dataclass(frozen=True, slots=True)
class Before:
    """One file as it was before the turn's first change of it."""

    path: str
    blob: str | None
    """Hash of its content; None when there was no file."""
    mode: int | None
    after: str | None
    """Hash of what the agent left; None when it left none."""
    known: bool
    """False when it is not known what the agent left: the call never reported back."""


@dataclass(frozen=True, slots=True)
class Turn:
    session: str
    name: str
    at: float
    files: tuple[Before, ...]
    undone: bool = False
    unseen: int = 0
    """Calls that may have changed more than could be told beforehand."""


@dataclass(frozen=True, slots=True)
class Restored:
    done: tuple[str, ...]
    left: tuple[str, ...]
    """Paths with the reason why they were left as they are."""


class Checkpoints:
    """One log a session, and one pool of contents."""

    def __init__(self, home: Home) -> None:
        self._root = home.data / FOLDER
        self._blobs = self._root / "contents"
        self._under_way: dict[tuple[str, str], list[str]] = {}

    # while an agent works

    def before_run(self, place: Place, event: ToolCalling, outcome: Outcome) -> None:
        """A copy that cannot be made (a full disk) takes the way back, not the call."""
        with contextlib.suppress(OSError):
            self.before(place.where.session, event, outcome)

    def after_run(self, place: Place, event: ToolCalled) -> None:
        with contextlib.suppress(OSError):
            self.after(place.where.session, event)

    def before(self, session: str, event: ToolCalling, outcome: Outcome) -> None:
        """Keep what the call is going to change; called before it is let through."""
        about = {"turn": event.invocation, "call": event.call.id, "at": event.at}
        kept = [entry for path in outcome.changes for entry in self._kept(path)]
        lines = [{"kind": "before", **about, **entry} for entry in kept]
        if outcome.changes_more:
            lines.append({"kind": "unseen", **about})
        self._append(session, lines)
        if len(self._under_way) > MOST_UNDER_WAY:
            self._under_way.clear()
        self._under_way[session, event.call.id] = [entry["path"] for entry in kept]

    def after(self, session: str, event: ToolCalled) -> None:
        """Write down what the call has left."""
        if not event.call.id or event.call.tool in _READING:
            return
        paths = self._under_way.pop((session, event.call.id), None)
        if paths is None:  # it changed nothing, or was begun by another process
            paths = [line["path"] for line in self._log_lines(session) if _is_begin(line, event.call.id)]
        about = {"kind": "after", "turn": event.invocation, "call": event.call.id}
        left = [{**about, "path": path, "blob": _digest_of(Path(path))} for path in dict.fromkeys(paths)]
        self._append(session, left)

    def _kept(self, path: str) -> Iterator[dict[str, Any]]:
        """What stands at a path now; each file of a folder."""
        place = Path(path)
        if place.is_dir() and not place.is_symlink():
            for number, file in enumerate(_files_below(place)):
                if number >= MOST_FILES:
                    return
                yield self._copied(file)
        else:
            yield self._copied(place)

    def _copied(self, place: Path) -> dict[str, Any]:
        try:
            about = place.lstat()
            if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST_FILE:
                return {"path": str(place), "blob": "", "mode": None}
            data = place.read_bytes()
        except OSError:
            return {"path": str(place), "blob": None, "mode": None}
        blob = hashlib.sha256(data).hexdigest()
        target = self._blobs / blob[:2] / blob
        if target.exists():
            os.utime(target)  # wanted again: it is not old
        else:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(target, data)
        return {"path": str(place), "blob": blob, "mode": stat.S_IMODE(about.st_mode)}

    def _append(self, session: str, lines: Sequence[dict[str, Any]]) -> None:
        if not lines:
            return
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        descriptor = os.open(self._log(session), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, text.encode("utf-8", "surrogateescape"))
        finally:
            os.close(descriptor)

    def _log(self, session: str) -> Path:
        return self._root / f"{file_name(session, longest=120)}.jsonl"

    def _log_lines(self, session: str) -> Iterator[dict[str, Any]]:
        try:
            text = self._log(session).read_text(encoding="utf-8", errors="surrogateescape")
        except FileNotFoundError:
            return
        for line in text.splitlines():
            with contextlib.suppress(ValueError):
                parsed = json.loads(line)
                if isinstance(parsed, dict) and "kind" in parsed and "turn" in parsed:
                    yield parsed

    # for a person

    def turns(self, session: str) -> list[Turn]:
        """The turns of a session that changed files, oldest first."""
        order: dict[str, dict[str, Any]] = {}
        for line in self._log_lines(session):
            new = {"at": line.get("at", 0.0), "files": {}, "unseen": 0, "undone": False}
            turn = order.setdefault(line["turn"], new)
            match line["kind"]:
                case "before":
                    turn["files"].setdefault(line["path"], {**line, "after": None, "known": False})
                    turn["files"][line["path"]]["known"] = False
                    turn["undone"] = False
                case "after":
                    if line["path"] in turn["files"]:
                        turn["files"][line["path"]].update(after=line["blob"], known=True)
                case "unseen":
                    turn["unseen"] += 1
                case "undone":
                    turn["undone"] = True
        return [_turn(session, name, turn) for name, turn in order.items() if turn["files"] or turn["unseen"]]

    def undo(self, turn: Turn, *, force: bool = False, dry_run: bool = False) -> Restored:
        """Put every file back that still is as the agent left it."""
        done: list[str] = []
        left: list[str] = []
        for file in turn.files:
            reason = self._why_not(file, force)
            if reason:
                left.append(f"{file.path}: {reason}")
                continue
            if not dry_run:
                self._restore(file)
            done.append(file.path)
        if not dry_run and done:
            self._append(turn.session, [{"kind": "undone", "turn": turn.name, "at": time.time()}])
        return Restored(tuple(done), tuple(left))

    def _why_not(self, file: Before, force: bool) -> str:
        if file.blob == "":
            return "it was too large to keep, or no plain file"
        now = _digest_of(Path(file.path))
        if now == file.blob:
            return "it is as it was before already"
        if file.blob is not None and not (self._blobs / file.blob[:2] / file.blob).exists():
            return f"its copy is gone (kept for {KEPT_DAYS:g} days)"
        if force:
            return ""
        if not file.known:
            return "the call never reported back, so it is not known who changed it last (--force restores it)"
        return "" if now == file.after else "somebody has changed it since (--force restores it all the same)"

    def _restore(self, file: Before) -> None:
        path = Path(file.path)
        if file.blob is None:
            path.unlink(missing_ok=True)
            return
        data = (self._blobs / file.blob[:2] / file.blob).read_bytes()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, data, new_mode=file.mode or 0o644)
        if file.mode is not None:
            path.chmod(file.mode)

    def sweep(self, now: float) -> int:
        """Remove what nobody has wanted back for so long; returns how many files went."""
        oldest = now - KEPT_DAYS * 86_400
        gone = 0
        for path in list(self._root.rglob("*")) if self._root.is_dir() else ():
            with contextlib.suppress(OSError):
                if path.is_file() and path.stat().st_mtime < oldest:
                    path.unlink()
                    gone += 1
        return gone


def _write(target: Path, data: bytes) -> None:
    """Whole or not at all, but not waited for: this stands in the way of a call, and a power cut has other worries."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{time.monotonic_ns()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
    temporary.rename(target)


def _is_begin(line: dict[str, Any], call: str) -> bool:
    return line["kind"] == "before" and line.get("call") == call


def _turn(session: str, name: str, about: dict[str, Any]) -> Turn:
    files = tuple(
        Before(path, line["blob"], line["mode"], line["after"], line["known"]) for path, line in about["files"].items()
    )
    return Turn(session, name, about["at"], files, about["undone"], about["unseen"])


def _files_below(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (Path(parent) / name for name in sorted(names))


def _digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
