"""Hold an audit file against its chain, and name what was done to it (AU2)."""

from __future__ import annotations

import hashlib
import time
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from holdfast.core.messages import Message, Phrase, plain
from holdfast.store.audit_confirm import CONFIRM_AFTER
from holdfast.store.audit_log import FIRST_PREVIOUS, AuditLog
from holdfast.store.database import Database
from holdfast.store.interface import AuditProblem, AuditReport
from holdfast.store.json_text import from_json

_HASH_FIELD = b',"hash":"'
_HASH_LENGTH = 64

_NOT_THERE = Phrase("audit.not_there", "it is not there", "文件不存在")
_CANNOT_READ = Phrase(
    "audit.cannot_read",
    "the file with its {count} entries cannot be read: {why}",
    "含 {count} 个条目的文件无法读取：{why}",
)
_OF_SESSION = Phrase("audit.of_session", "session {session}: {what}", "会话 {session}：{what}")
_STRANGE = Phrase("audit.strange", "the store knows nothing of this file", "数据库中没有此文件的记载")
_MISFIT = Phrase(
    "audit.misfit",
    "entry {place} of the store's own copy does not fit the chain",
    "数据库自身副本的条目 {place} 与链不符",
)
_WRONG_END = Phrase(
    "audit.wrong_end",
    "the store's own copy has {count} entries and does not end with the hash kept for it",
    "数据库自身的副本有 {count} 个条目，且结尾与所保存的哈希不符",
)
_SECOND = Phrase("audit.second", "a second copy of entry {place}", "条目 {place} 的第二份副本")
_MOVED = Phrase("audit.moved", "entry {place} does not belong here", "条目 {place} 不属于此处")
_CHANGED = Phrase("audit.should_be", "this should be entry {place}", "此处本应为条目 {place}")
_FOREIGN = Phrase("audit.foreign", "no entry of this chain", "不是此链的条目")
_ENTRY = Phrase("audit.entry", "entry {place}", "条目 {place}")
_ENTRIES = Phrase("audit.entries", "entries {first} to {last}", "条目 {first} 至 {last}")
_CUT = Phrase("audit.file_ends", "the file ends here; {span} are missing", "文件到此结束；缺少{span}")
_REMOVED = Phrase("audit.should_precede", "{span} should stand before this line", "此行之前本应有{span}")


class AuditVerifier:
    """Compares files with the chains; first lets other processes' lines, and those of crashed ones, arrive."""

    def __init__(self, log: AuditLog, database: Database) -> None:
        self._log = log
        self._database = database

    def verify(self, session: str | None = None) -> AuditReport:
        self._settle(session)
        with self._database.read() as connection:
            names = [name for (name,) in connection.execute("SELECT session FROM audit_chains ORDER BY key")]
        chosen = [name for name in names if session in (None, name)]
        problems: list[AuditProblem] = []
        entries = 0
        for name in chosen:
            count, found = self._verify_one(name)
            entries += count
            problems += found
        if session is None:
            problems += self._strangers(names)
        return AuditReport(len(chosen), entries, tuple(problems))

    def _settle(self, session: str | None) -> None:
        """Other processes confirm their lines a moment after writing; whose are not by then has crashed."""
        self._log.confirm()
        end = time.monotonic() + 3 * CONFIRM_AFTER
        while any(session in (None, name) for name, _ in self._log.behind()) and time.monotonic() < end:
            time.sleep(CONFIRM_AFTER / 5)
        self._log.recover()
        self._log.confirm()

    def _verify_one(self, session: str) -> tuple[int, list[AuditProblem]]:
        file = str(self._log.path(session))
        try:
            # While we hold the file nobody adds to it; what the store has beyond it at this moment is caught up.
            with self._log.locked(session, create=False) as descriptor:
                self._log.catch_up(descriptor, session)
                count, wrong, hashes = self._stored(session)
                with open(descriptor, "rb", closefd=False) as lines:
                    problems = check_file(file, lines, hashes)
        except OSError as error:
            count, wrong, _ = self._stored(session)
            why = _NOT_THERE() if isinstance(error, FileNotFoundError) else plain(error.strerror or str(error))
            problems = [AuditProblem(file, 0, "missing", _CANNOT_READ(count=count, why=why))]
        if wrong is not None:
            said = _OF_SESSION(session=repr(session), what=wrong)
            problems.append(AuditProblem(str(self._database.path), 0, "store", said))
        return count, problems

    def _stored(self, session: str) -> tuple[int, Message | None, list[str]]:
        with self._database.read() as connection:
            key, count, last_hash = connection.execute(
                "SELECT key, count, last_hash FROM audit_chains WHERE session = ?", (session,)
            ).fetchone()
            lines = connection.execute(
                "SELECT line FROM audit_entries WHERE chain = ? AND seq <= ? ORDER BY seq", (key, count)
            ).fetchall()
        links = [(line_hash(line.encode()), str(from_json(line).get("prev"))) for (line,) in lines]
        return count, check_chain(links, count, last_hash, FIRST_PREVIOUS), [own or "" for own, _ in links]

    def _strangers(self, names: Sequence[str]) -> list[AuditProblem]:
        ours = {self._log.path(name).name for name in names}
        if not self._log.directory.is_dir():
            return []
        strange = sorted(path for path in self._log.directory.glob("*.jsonl") if path.name not in ours)
        return [AuditProblem(str(path), 0, "unknown", _STRANGE()) for path in strange]


def line_hash(line: bytes) -> str | None:
    """The hash of what a line says, if the line itself claims the same one."""
    body, found, claim = line.rpartition(_HASH_FIELD)
    if not found or len(claim) != _HASH_LENGTH + 2 or not claim.endswith(b'"}'):
        return None
    digest = hashlib.sha256(body + b"}").hexdigest()
    return digest if claim[:_HASH_LENGTH] == digest.encode() else None


def check_chain(hashes: Sequence[tuple[str | None, str]], count: int, last_hash: str, first: str) -> Message | None:
    """What is wrong with the store's own copy of a chain; None when its links hold. Pairs: own hash, previous one."""
    previous = first
    for place, (own, before) in enumerate(hashes, 1):
        if own is None or before != previous:
            return _MISFIT(place=place)
        previous = own
    if len(hashes) != count or previous != last_hash:
        return _WRONG_END(count=len(hashes))
    return None


def check_file(file: str, lines: Iterable[bytes], hashes: Sequence[str]) -> list[AuditProblem]:
    """Compare a file's lines (each with its end) with the chain's hashes, in order."""
    place_of = {own: place for place, own in enumerate(hashes, 1)}
    places = [_place(line, place_of) for line in lines]
    keeping = _longest_rise(places)
    present = {place for place in places if place is not None}
    told = {places[index] for index in keeping}
    problems: list[AuditProblem] = []
    before = 0
    unknown: list[int] = []
    """Lines since the last good one that are no entry of this chain."""
    for index, place in enumerate(places):
        line = index + 1
        if place is None:
            unknown.append(line)
        elif index in keeping:
            problems += _gap(file, unknown, [p for p in range(before + 1, place) if p not in present], line)
            before, unknown = place, []
        elif place in told:
            problems.append(AuditProblem(file, line, "inserted", _SECOND(place=place)))
        else:
            told.add(place)
            problems.append(AuditProblem(file, line, "reordered", _MOVED(place=place)))
    missing = [p for p in range(before + 1, len(hashes) + 1) if p not in present]
    problems += _gap(file, unknown, missing, len(places) + 1, at_end=True)
    return sorted(problems, key=lambda problem: problem.line)


def _place(line: bytes, place_of: dict[str, int]) -> int | None:
    if not line.endswith(b"\n"):
        return None
    own = line_hash(line[:-1])
    return place_of.get(own) if own is not None else None


def _gap(
    file: str, unknown: Sequence[int], missing: Sequence[int], line: int, *, at_end: bool = False
) -> list[AuditProblem]:
    """Strange lines where entries are missing are those entries, changed; what is left over was added or taken."""
    problems = [
        AuditProblem(file, strange, "changed", _CHANGED(place=place))
        for strange, place in zip(unknown, missing, strict=False)
    ]
    problems += [AuditProblem(file, strange, "inserted", _FOREIGN()) for strange in unknown[len(missing) :]]
    gone = missing[len(unknown) :]
    if gone:
        span = _ENTRY(place=gone[0]) if len(gone) == 1 else _ENTRIES(first=gone[0], last=gone[-1])
        if at_end:
            problems.append(AuditProblem(file, line, "cut", _CUT(span=span)))
        else:
            problems.append(AuditProblem(file, line, "removed", _REMOVED(span=span)))
    return problems


def _longest_rise(places: Sequence[int | None]) -> set[int]:
    """Indices of the longest run of entries in their right order: the fewest possible lines count as moved."""
    tails: list[int] = []
    ends: list[int] = []
    parent: dict[int, int] = {}
    for index, place in enumerate(places):
        if place is None:
            continue
        at = bisect_left(tails, place)
        if at:
            parent[index] = ends[at - 1]
        if at == len(tails):
            tails.append(place)
            ends.append(index)
        else:
            tails[at] = place
            ends[at] = index
    kept: set[int] = set()
    current = ends[-1] if ends else None
    while current is not None:
        kept.add(current)
        current = parent.get(current)
    return kept
