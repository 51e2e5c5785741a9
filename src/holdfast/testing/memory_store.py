"""A store that forgets everything at the end: for tests and for measuring decisions without a disk.

It keeps every promise of the interface within one process; the SQLite store is tested against it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.core.events import Answer
from holdfast.core.keys import SessionId, SessionKey, require_same_thread
from holdfast.store.interface import (
    IMPORTED,
    AlreadyDecided,
    Approval,
    ApprovalStatus,
    AuditReport,
    Change,
    Committed,
    Deletion,
    EventRecord,
    PendingApproval,
    Remembered,
    SealedError,
    Session,
    SessionState,
    StateConflict,
    StateRow,
    StoreError,
)
from holdfast.store.json_text import to_json

_Place = tuple[str, str]


class MemoryStore:
    """All of `Store`, in dictionaries."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._sessions: dict[str, Session] = {}
        self._events: list[EventRecord] = []
        self._event_ids: set[str] = set()
        self._by_session: dict[str, list[EventRecord]] = {}
        self._state: dict[_Place, StateRow] = {}
        self._remembered: dict[tuple[str, str, str], Remembered] = {}
        self._approvals: dict[str, Approval] = {}
        self._snapshots: dict[tuple[str, str, str], bytes] = {}
        self._notes: dict[str, Any] = {}
        self._audit: list[Mapping[str, Any]] = []
        self._deletions: list[Deletion] = []
        self._numbers: dict[SessionKey, int] = {}
        self._seq = 0
        self._revision = 0

    # sessions and chains

    def open_session(self, session: Session) -> Session:
        with self._lock:
            name = session.id.session
            known = self._sessions.get(name)
            if known is not None:
                require_same_thread(f"session {name!r}", known.id.key, session.id.key)
                return known
            chain = self.chain(session.id.key)
            if session.state != "sealed" and any(other.state != "sealed" for other in chain):
                raise StateConflict(f"thread {session.id.thread!r} already has an active session")
            number = self._numbers.get(session.id.key, 0) + 1
            opened = replace(session, id=session.id.main(), number=number, version=1)
            self._numbers[session.id.key] = number
            self._sessions[name] = opened
            self._revision += 1
            return opened

    def session(self, session: str) -> Session | None:
        return self._sessions.get(session)

    def chain(self, key: SessionKey) -> Sequence[Session]:
        return sorted((s for s in self._sessions.values() if s.id.key == key), key=lambda s: s.number)

    def sessions(
        self,
        *,
        user: str | None = None,
        agent: str | None = None,
        thread: str | None = None,
        vault: str | None = None,
        host: str | None = None,
        state: SessionState | None = None,
        limit: int = 100,
        before: float | None = None,
    ) -> Sequence[Session]:
        found = [
            s
            for s in self._sessions.values()
            if user in (None, s.id.user)
            and agent in (None, s.id.agent)
            and thread in (None, s.id.thread)
            and vault in (None, s.vault)
            and host in (None, s.host)
            and state in (None, s.state)
            and (before is None or s.started_at < before)
        ]
        return sorted(found, key=lambda s: s.started_at, reverse=True)[:limit]

    def update_session(self, session: str, expected_version: int, *, quiet: bool = False, **changes: Any) -> Session:
        with self._lock:
            known = self._sessions.get(session)
            if known is None:
                raise StoreError(f"no session {session!r}")
            if known.version != expected_version:
                raise StateConflict(f"session {session!r} is at version {known.version}, not {expected_version}")
            if quiet and self.approvals(status="pending", session=session):
                raise PendingApproval(f"session {session!r} has an open approval; answer it first")
            updated = replace(known, **changes, version=known.version + 1)
            others = (other for other in self.chain(known.id.key) if other.id != known.id)
            if updated.state != "sealed" and any(other.state != "sealed" for other in others):
                raise StateConflict(f"thread {known.id.thread!r} already has an active session")
            self._sessions[session] = updated
            self._revision += 1
            return updated

    # events and state

    def commit(self, change: Change) -> Committed:
        with self._lock:
            session = self._sessions.get(change.where.session)
            if session is None:
                raise StoreError(f"session {change.where.session!r} is not open; open_session() comes first")
            require_same_thread("a step", session.id.key, change.where.key)
            for record in change.events:
                require_same_thread(f"event {record.id!r}", session.id.key, record.where.key)
                if record.id in self._event_ids:
                    raise StoreError(f"event {record.id!r} is in the store already; an event is recorded once")
            only_audit = not (change.events or change.approvals or change.remember or change.state)
            if session.state == "sealed" and not only_audit:
                raise SealedError(f"session {session.id.session!r} is sealed")
            if change.settle is not None:
                asked = self._approvals.get(change.settle.id)
                if asked is None or asked.status != "pending":
                    raise AlreadyDecided(asked or change.settle)
            place = (change.where.session, change.where.subagent)
            if change.remember is not None:
                known = self._remembered.get((*place, change.remember.call_id))
                if known is not None and known.fingerprint == change.remember.fingerprint:
                    raise StateConflict(f"call {known.call_id!r} has just been decided")
            version: int | None = None
            if change.state is not None:
                current = self._state.get(place, StateRow(0, {})).version
                if current != change.state.version:
                    raise StateConflict(f"state of {place} is at version {current}, not {change.state.version}")
                version = current + 1
                self._state[place] = StateRow(version, change.state.data)
            numbered: list[EventRecord] = []
            for record in change.events:
                own = self._by_session.setdefault(record.where.session, [])
                self._seq += 1
                kept = replace(record, no=len(own) + 1, seq=self._seq)
                own.append(kept)
                self._events.append(kept)
                self._event_ids.add(kept.id)
                numbered.append(kept)
            if change.remember is not None:
                self._remembered[(*place, change.remember.call_id)] = change.remember
            for approval in change.approvals:
                self._approvals[approval.id] = approval
            if change.settle is not None:
                self._approvals[change.settle.id] = change.settle
            self._notes.update(change.notes)
            self._audit.extend(change.audit)
            self._revision += 1
            return Committed(tuple(numbered), version)

    def append_imported(self, where: SessionId, events: Sequence[EventRecord]) -> int:
        with self._lock:
            session = self._sessions.get(where.session)
            if session is None:
                raise StoreError(f"session {where.session!r} is not open; open_session() comes first")
            require_same_thread("an import", session.id.key, where.key)
            if session.seal_reason != IMPORTED:
                raise SealedError(f"session {where.session!r} was not imported")
            own = self._by_session.setdefault(where.session, [])
            before = len(own)
            if any(record.where.main() != where.main() for record in events):
                raise StoreError(f"an event is not of session {where.session!r}")
            for record in events:
                if record.id not in self._event_ids:
                    self._event_ids.add(record.id)
                    self._seq += 1
                    own.append(replace(record, no=len(own) + 1, seq=self._seq))
                    self._events.append(own[-1])
            self._revision += 1
            return len(own) - before

    def events(
        self,
        session: str,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 1000,
        kinds: Sequence[str] | None = None,
        invocation: str | None = None,
        newest_first: bool = False,
    ) -> Sequence[EventRecord]:
        found = [
            r
            for r in self._by_session.get(session, [])
            if after < r.no and (before is None or r.no < before)
            if (kinds is None or r.kind in kinds) and invocation in (None, r.invocation)
        ]
        return (found[::-1] if newest_first else found)[:limit]

    def event(self, event_id: str) -> EventRecord | None:
        return next((r for r in self._events if r.id == event_id), None)

    def events_since(self, seq: int, limit: int = 1000) -> Sequence[EventRecord]:
        return [record for record in self._events if record.seq > seq][:limit]

    def state(self, where: SessionId) -> StateRow:
        return self._state.get((where.session, where.subagent), StateRow(0, {}))

    def remembered(self, where: SessionId, call_id: str) -> Remembered | None:
        return self._remembered.get((where.session, where.subagent, call_id))

    # approvals

    def approval(self, approval_id: str) -> Approval | None:
        return self._approvals.get(approval_id)

    def approvals(
        self,
        *,
        status: ApprovalStatus | None = None,
        user: str | None = None,
        session: str | None = None,
        limit: int = 100,
    ) -> Sequence[Approval]:
        found = [
            a
            for a in self._approvals.values()
            if status in (None, a.status) and user in (None, a.where.user) and session in (None, a.where.session)
        ]
        return sorted(found, key=lambda a: a.created_at, reverse=True)[:limit]

    def settle_approval(
        self,
        approval_id: str,
        *,
        status: ApprovalStatus,
        at: float,
        answer: Answer | None = None,
        by: str = "",
        message: str = "",
        rule: Mapping[str, Any] | None = None,
    ) -> Approval:
        with self._lock:
            known = self._approvals.get(approval_id)
            if known is None:
                raise StoreError(f"no approval {approval_id!r}")
            if known.status != "pending":
                raise AlreadyDecided(known)
            settled = replace(
                known, status=status, answer=answer, answered_at=at, answered_by=by, message=message, rule=rule
            )
            self._approvals[approval_id] = settled
            self._revision += 1
            return settled

    # snapshots, notes, audit, upkeep

    def save_snapshot(self, where: SessionId, name: str, data: bytes, at: float) -> None:
        self._snapshots[(where.session, where.subagent, name)] = data

    def take_snapshot(self, where: SessionId, name: str) -> bytes | None:
        return self._snapshots.pop((where.session, where.subagent, name), None)

    def note(self, key: str, value: Any) -> None:
        if value is None:
            self._notes.pop(key, None)
        else:
            self._notes[key] = value

    def swap_note(self, key: str, expected: Any, value: Any) -> bool:
        with self._lock:
            if self._notes.get(key) != expected:
                return False
            self.note(key, value)
            return True

    def noted(self, key: str) -> Any:
        return self._notes.get(key)

    def notes(self, prefix: str) -> Mapping[str, Any]:
        return {key: value for key, value in self._notes.items() if key.startswith(prefix)}

    def audit(self, *, session: str | None = None) -> Iterator[Mapping[str, Any]]:
        yield from (entry for entry in self._audit if session in (None, entry.get("sessionId")))

    def audit_since(
        self, position: int, limit: int = 1000, *, session: str | None = None
    ) -> Sequence[tuple[int, Mapping[str, Any]]]:
        found = list(enumerate(self._audit, 1))[position:]
        return [(place, entry) for place, entry in found if session in (None, entry.get("sessionId"))][:limit]

    def audit_naming(self, name: str) -> Sequence[tuple[int, Mapping[str, Any]]]:
        known = list(enumerate(self._audit, 1))
        of_call = [(place, entry) for place, entry in known if entry.get("callId") == name]
        text = to_json(name)
        return of_call or [(place, entry) for place, entry in known if text in to_json(entry)]

    def verify_audit(self, *, session: str | None = None) -> AuditReport:
        """Nothing is on disk that anybody could have altered."""
        return AuditReport(files=0, entries=sum(1 for _ in self.audit(session=session)))

    def revision(self) -> int:
        return self._revision

    def delete_session(self, session: str, *, by: str, at: float) -> None:
        with self._lock:
            gone = self._sessions.pop(session, None)
            if gone is None:
                raise StoreError(f"no session {session!r}")
            self._events = [r for r in self._events if r.where.session != session]
            self._event_ids = {r.id for r in self._events}
            count = len(self._by_session.pop(session, ()))
            self._state = {place: row for place, row in self._state.items() if place[0] != session}
            self._remembered = {place: row for place, row in self._remembered.items() if place[0] != session}
            self._snapshots = {place: data for place, data in self._snapshots.items() if place[0] != session}
            self._approvals = {a.id: a for a in self._approvals.values() if a.where.session != session}
            self._deletions.append(Deletion(len(self._deletions) + 1, gone.id, at, by, count))
            self._revision += 1
            self._audit.append({"sessionId": session, "what": "deleted", "decidedBy": by, "timestamp": at})

    def deletions(self, after: int = 0, limit: int = 1000) -> Sequence[Deletion]:
        return self._deletions[after : after + limit]

    def usage(self) -> Mapping[str, Any]:
        return {"sessions": len(self._sessions), "events": len(self._events)}

    def close(self) -> None:
        """Nothing to release."""
