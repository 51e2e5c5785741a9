"""What the rest of the program knows of the store. Nothing above this room knows SQL.

One `commit` is one transaction: the events, the policies' new state, the remembered decision, the approvals and the
audit entries of one step are durable together or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from holdfast.core.events import Answer
from holdfast.core.keys import SessionId, SessionKey
from holdfast.core.messages import Message, Phrase, TellableError

SessionState = Literal["active", "sealing", "sealed"]
IMPORTED = "imported"
"""The `seal_reason` of a session whose events come from another program's transcript."""
ApprovalStatus = Literal["pending", "answered", "expired", "cancelled"]


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a thread's chain."""

    id: SessionId
    """Always the main agent's; sub-agents are fields of events."""
    host: str
    vault: str
    started_at: float
    number: int = 0
    """Place in the chain, from 1; the store assigns it."""
    state: SessionState = "active"
    cwd: str = ""
    model: str = ""
    title: str = ""
    mode: str = "agent"
    ended_at: float | None = None
    seal_reason: str = ""
    seal_mark: str = ""
    """Set when finalising did not end in time."""
    sealing_since: float | None = None
    used: int | None = None
    window: int | None = None
    reserve: int | None = None
    exact: bool = False
    measured_at: float | None = None
    compressions: int = 0
    version: int = 0
    """Rises with every change; the compare of compare-and-set."""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event as the transcript keeps it."""

    id: str
    where: SessionId
    at: float
    kind: str
    data: Mapping[str, Any]
    """Everything needed to rebuild the event, as JSON values."""
    invocation: str = ""
    text: str = ""
    """What search looks at."""
    tool: str = ""
    files: tuple[str, ...] = ()
    no: int = 0
    """Number within the session, from 1; the store assigns it."""
    seq: int = 0
    """Number within the store; the store assigns it. The search index follows it."""


@dataclass(frozen=True, slots=True)
class Approval:
    """A question to a person, and its answer."""

    id: str
    where: SessionId
    call_id: str
    created_at: float
    tool: str
    question: Mapping[str, Any]
    """What the card shows: input, diff, findings, the rule that `always` would write."""
    policy: str = "permission"
    invocation: str = ""
    host: str = ""
    vault: str = ""
    status: ApprovalStatus = "pending"
    deadline: float | None = None
    answer: Answer | None = None
    answered_at: float | None = None
    answered_by: str = ""
    message: str = ""
    rule: Mapping[str, Any] | None = None
    """The rule that was written, when the answer was `always` or `for_a_while`."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A decision kept by call id, because hosts and frameworks ask again when they resume."""

    call_id: str
    fingerprint: str
    """Hash of tool and final input: the same id with another input is another question."""
    outcome: Mapping[str, Any]
    approval: str = ""


@dataclass(frozen=True, slots=True)
class StateRow:
    """All policies' state for one session and sub-agent."""

    version: int
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One step, to be made durable as a whole."""

    where: SessionId
    events: tuple[EventRecord, ...] = ()
    state: StateRow | None = None
    """The new data with the version it was computed from."""
    remember: Remembered | None = None
    approvals: tuple[Approval, ...] = ()
    audit: tuple[Mapping[str, Any], ...] = ()
    """Audit entries without their chain fields; the store chains them."""
    settle: Approval | None = None
    """A question as its answer leaves it; `AlreadyDecided` when it is no longer pending. Also in a sealed session."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """To be kept with it, by name; also in a sealed session."""
    at_leisure: bool = False
    """Nothing rests on it: a crash of the process loses nothing, but a power cut before the next step may."""


@dataclass(frozen=True, slots=True)
class Committed:
    events: tuple[EventRecord, ...]
    """With their numbers."""
    state_version: int | None = None


AlterationKind = Literal["removed", "changed", "inserted", "reordered", "cut", "missing", "unknown", "store"]

ALTERATIONS: Mapping[AlterationKind, Phrase] = {
    "removed": Phrase("audit.removed", "removed", "被移除"),
    "changed": Phrase("audit.changed", "changed", "被更改"),
    "inserted": Phrase("audit.inserted", "inserted", "被插入"),
    "reordered": Phrase("audit.reordered", "reordered", "被移动"),
    "cut": Phrase("audit.cut", "cut", "被截断"),
    "missing": Phrase("audit.missing", "missing", "缺失"),
    "unknown": Phrase("audit.unknown", "unknown", "来历不明"),
    "store": Phrase("audit.store", "store", "数据库"),
}
_ALTERED = Phrase("audit.altered", "{place}: {kind}: {what}", "{place}：{kind}：{what}")


@dataclass(frozen=True, slots=True)
class AuditProblem:
    """One thing that was done to an audit file."""

    file: str
    line: int
    """From 1; 0 when it concerns the file as a whole."""
    kind: AlterationKind
    """`missing`: the whole file; `unknown`: a file the store knows nothing of; `store`: the store's own copy."""
    message: Message

    def told(self) -> Message:
        """The whole line as a message."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return _ALTERED(place=place, kind=ALTERATIONS[self.kind](), what=self.message)

    def __str__(self) -> str:
        return self.told().text()


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What `holdfast audit verify` tells."""

    files: int
    entries: int
    problems: tuple[AuditProblem, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class Deletion:
    """What is left of a deleted session; a search index follows these as it follows events."""

    position: int
    where: SessionId
    at: float
    by: str
    events: int


class StoreError(TellableError):
    """Something the store could not do; the message names the file and the next step."""


class StateConflict(StoreError):
    """Somebody else changed the state meanwhile: read again and decide again."""


class PendingApproval(StateConflict):
    """A change that may only happen while nobody is asked anything."""


class SealedError(StoreError):
    """An event for a session that is sealed; nothing is ever appended after the seal."""


class AlreadyDecided(StoreError):
    """An approval that was answered, has expired or was cancelled before."""

    def __init__(self, approval: Approval) -> None:
        if approval.answer:
            said = _ANSWERED(id=repr(approval.id), answer=approval.answer, by=approval.answered_by or _SOMEBODY())
        else:
            said = _ENDED(id=repr(approval.id), status=approval.status)
        super().__init__(said)
        self.approval = approval


_ANSWERED = Phrase(
    "approval.answered",
    "approval {id} is already decided: {answer} by {by}",
    "审批 {id} 已有决定：{by} 选择了 {answer}",
)
_ENDED = Phrase("approval.ended", "approval {id} is already decided: {status}", "审批 {id} 已有决定：{status}")
_SOMEBODY = Phrase("approval.somebody", "somebody", "某人")


class Store(Protocol):
    """Every method is safe under threads and under several processes on one store."""

    # sessions and chains
    def open_session(self, session: Session) -> Session:
        """Add a session to its chain, or return it if it is there.

        A chain has one session at most that is not sealed: raises `StateConflict` when there is another.
        """
        ...

    def session(self, session: str) -> Session | None: ...

    def chain(self, key: SessionKey) -> Sequence[Session]:
        """All sessions of a thread, oldest first."""
        ...

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
        """Newest first."""
        ...

    def update_session(self, session: str, expected_version: int, *, quiet: bool = False, **changes: Any) -> Session:
        """Compare-and-set; raises `StateConflict`, also when it would give the chain a second live session.

        With `quiet` it raises `PendingApproval` while an approval of the session waits for its answer.
        """
        ...

    # events and state
    def commit(self, change: Change) -> Committed:
        """Durable when it returns. Raises `StateConflict` or `SealedError`, and then nothing was written.

        A call that is already remembered with the same fingerprint is a `StateConflict` too: somebody else has
        just answered it, and there must be only one answer.
        """
        ...

    def append_imported(self, where: SessionId, events: Sequence[EventRecord]) -> int:
        """Add many events to a session whose `seal_reason` is `IMPORTED`; those whose id is known are left out.

        Returns how many were new. It is the one way to add to a session after its seal: another program's transcript
        has no seal of ours, and goes on while that program does.
        """
        ...

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
        """Those whose number lies between `after` and `before`, neither included."""
        ...

    def event(self, event_id: str) -> EventRecord | None: ...

    def events_since(self, seq: int, limit: int = 1000) -> Sequence[EventRecord]:
        """In store order, over all sessions: what the search index follows."""
        ...

    def state(self, where: SessionId) -> StateRow: ...

    def remembered(self, where: SessionId, call_id: str) -> Remembered | None: ...

    # approvals
    def approval(self, approval_id: str) -> Approval | None: ...

    def approvals(
        self,
        *,
        status: ApprovalStatus | None = None,
        user: str | None = None,
        session: str | None = None,
        limit: int = 100,
    ) -> Sequence[Approval]:
        """Newest first."""
        ...

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
        """Exactly once: raises `AlreadyDecided` when it is no longer pending."""
        ...

    # run snapshots: single use
    def save_snapshot(self, where: SessionId, name: str, data: bytes, at: float) -> None: ...

    def take_snapshot(self, where: SessionId, name: str) -> bytes | None:
        """The snapshot, removed in the same transaction: only one process ever gets it."""
        ...

    # small durable facts (directories used, migration stamps, daemon bookkeeping)
    def note(self, key: str, value: Any) -> None:
        """Keep a JSON value; None takes the note away."""
        ...

    def swap_note(self, key: str, expected: Any, value: Any) -> bool:
        """Keep `value` if the note still is `expected` (None: if there is none); False, and nothing done, otherwise."""
        ...

    def noted(self, key: str) -> Any: ...

    def notes(self, prefix: str) -> Mapping[str, Any]: ...

    # audit
    def audit(self, *, session: str | None = None) -> Iterator[Mapping[str, Any]]:
        """Audit entries with their chain fields, oldest first."""
        ...

    def audit_since(
        self, position: int, limit: int = 1000, *, session: str | None = None
    ) -> Sequence[tuple[int, Mapping[str, Any]]]:
        """Audit entries of one session or all beyond a position, each with its own: for whoever follows the log."""
        ...

    def audit_naming(self, name: str) -> Sequence[tuple[int, Mapping[str, Any]]]:
        """Every entry of a call, oldest first, with its position: at once, however long the log is. For a name that is
        no call's, those that hold it as a text of their own; that takes as long as the log is."""
        ...

    def verify_audit(self, *, session: str | None = None) -> AuditReport:
        """Compare one session's audit file, or all, with the chain that the store keeps."""
        ...

    # watching and upkeep
    def revision(self) -> int:
        """Changes whenever anything was committed by anyone: cheap to poll."""
        ...

    def delete_session(self, session: str, *, by: str, at: float) -> None:
        """Remove a session's text for good, leaving a tombstone in the audit (SC4)."""
        ...

    def deletions(self, after: int = 0, limit: int = 1000) -> Sequence[Deletion]:
        """Sessions that were deleted, in order, beyond position `after`."""
        ...

    def usage(self) -> Mapping[str, Any]:
        """Rows and bytes, for `holdfast status`."""
        ...

    def close(self) -> None: ...
