"""The only place where a verdict becomes an act.

An event goes through the policies in order, their verdicts are merged once, and the step is made durable as a whole:
transcript, policies' state, remembered decision, approval and audit in one transaction. Only then is it answered.
An error of ours denies, and says that it is ours; a read goes on (HO4).
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from holdfast.audit_entries import audit_entries
from holdfast.core import events as ev
from holdfast.core.events import Event, StandingOrders, ToolCall, ToolCalled, ToolCalling
from holdfast.core.keys import SessionId
from holdfast.core.memory import MemoryFacts
from holdfast.core.messages import Language, Message, Phrase, plain
from holdfast.core.outcome import Outcome, denied, from_merged, settled
from holdfast.core.policy import EMPTY, Policy, State
from holdfast.core.refusals import refused
from holdfast.core.verdict import NOTHING, Finding, Inject, Mode, Settle, Spill, Verdict, merge
from holdfast.records import record_of
from holdfast.store.interface import (
    Approval,
    Change,
    EventRecord,
    Remembered,
    SealedError,
    Session,
    StateConflict,
    StateRow,
    Store,
    StoreError,
)

OWN_ERROR = Phrase(
    "plane.own_error",
    "Holdfast itself failed in {part} ({error}), so this was not allowed. It is not your mistake: run "
    "`holdfast doctor` and try again.",
    "Holdfast 自身在 {part} 出错（{error}），因此未放行。这不是你的错误：请运行 `holdfast doctor` 后重试。",
)
OWN_ERROR_READ = Phrase(
    "plane.own_error_read",
    "Holdfast itself failed in {part} ({error}); this only reads, so it goes on.",
    "Holdfast 自身在 {part} 出错（{error}）；此操作只读，继续执行。",
)
SEALED = Phrase(
    "plane.sealed",
    "This session is sealed; nothing more happens in it. The next message starts a new session.",
    "本会话已封存，不再执行任何操作。下一条消息会开启新会话。",
)

_CONFLICT_TRIES = 50
_FAIL_CLOSED_KINDS = {"tool_calling"}
_OVER = "over"


class Outputs(Protocol):
    """Keeps an output whole and says where; None when it could not be kept."""

    def __call__(self, spill: Spill, where: SessionId, vault: str, at: float) -> Kept | None: ...


@dataclass(frozen=True, slots=True)
class Kept:
    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the plane asks the outside world through, so that tests can answer instead."""

    clock: Callable[[], float]
    new_id: Callable[[], str]
    examine: Callable[[ToolCall, str], ToolCall]
    """Fills in what a call would touch; the second argument is the vault."""
    keep_output: Outputs
    compose_output: Callable[[Spill, str | None, Language], str]
    propose_rules: Callable[[ToolCall, Outcome], Sequence[Mapping[str, Any]]]
    """The rules an `always` could write, narrowest first; empty when only `once` is possible (PE7)."""
    language: Callable[[str], Language]
    """The language of a vault's messages."""
    only_once: Callable[[ToolCall, Outcome], Message | None] = lambda call, outcome: None
    """Why no rule can stand for a call, where none can."""
    memory: Callable[[str], MemoryFacts | None] = lambda vault: None
    """What a vault's memory bank looks like now."""
    settle: Callable[[SessionId, str, Settle], Message] = lambda where, vault, what: plain("")
    """Carries out what the user said to a proposal, and says what came of it."""
    orders: Callable[[str], StandingOrders] = lambda host: ""
    """What a person has ordered for a host: panic, pause."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One event, judged, and what is written down about it."""

    outcome: Outcome
    record: EventRecord
    remember: Remembered | None = None
    approvals: tuple[Approval, ...] = ()
    audit: tuple[Mapping[str, Any], ...] = ()
    settle: tuple[Settle, ...] = ()


class Plane:
    """`handle(event) -> Outcome`; safe under parallel calls and several processes on one store."""

    def __init__(
        self,
        store: Store,
        policies: Callable[[], Sequence[Policy]],
        surroundings: Surroundings,
        *,
        approval_timeout: Callable[[], float | None] = lambda: None,
    ) -> None:
        self.store = store
        self._policies = policies
        self._with = surroundings
        self._approval_timeout = approval_timeout
        # Parallel calls of one session would only undo each other's work and do it again; across processes the store
        # still decides.
        self._one_at_a_time = tuple(threading.RLock() for _ in range(64))

    def handle(self, event: Event) -> Outcome:
        """Judge an event, make the step durable, and answer."""
        return self.handle_all((event,))[-1]

    def handle_all(self, events: Sequence[Event]) -> tuple[Outcome, ...]:
        """Judge events of one agent, in their order, and make them durable as one step.

        For reports that nobody waits for: they go with the next event, in its transaction. Only the last may be a call
        or its result.
        """
        last = events[-1]
        if any(event.where != last.where or isinstance(event, ToolCalling | ToolCalled) for event in events[:-1]):
            raise ValueError(
                f"{[event.kind for event in events]} cannot be one step: reports of one agent, then one event"
            )
        try:
            with self._turn_of(last.where):
                return self._handle(events)
        except SealedError:
            sealed = Finding("plane", "deny", SEALED(), hard=True)
            return tuple(denied(event.id, sealed) for event in events)
        except Exception as error:
            return tuple(self._own_failure(event, "the control plane", error) for event in events)

    def record_answer(self, event: ev.ApprovalAnswered, settled: Approval) -> None:
        """An answer with its event and its audit, and the question it settles, in one step; raises `AlreadyDecided`."""
        try:
            with self._turn_of(event.where):
                self._handle((event,), settled)
        except SealedError:
            # Nothing is added to a sealed session, but its question is answered and the audit says by whom.
            said = audit_entries(event, Outcome("allow", event.id))
            self.store.commit(Change(event.where, audit=said, settle=settled))

    def _turn_of(self, where: SessionId) -> AbstractContextManager[bool]:
        return self._one_at_a_time[hash((where.session, where.subagent)) % len(self._one_at_a_time)]

    def _handle(self, given: Sequence[Event], settle: Approval | None = None) -> tuple[Outcome, ...]:
        where = given[-1].where
        session = self.store.session(where.session)
        vault = session.vault if session else ""
        events = tuple(self._placed(event, session, vault) for event in given)
        for event in events:
            if isinstance(event, ev.ModeChanged) and session is not None:
                self._switch_mode(session.id.session, event.to)
        for _ in range(_CONFLICT_TRIES):
            known = self._recall(events[-1]) if not events[-1].orders else None
            if known is not None:
                return (*self._handle(events[:-1]), known) if len(events) > 1 else (known,)
            try:
                return self._decide(events, vault, settle)
            except StateConflict:
                continue
        raise StoreError(f"the state of session {where.session!r} changed {_CONFLICT_TRIES} times in a row")

    def _placed(self, event: Event, session: Session | None, vault: str) -> Event:
        """The event with what its policies need to know of the place where it happens."""
        if session is not None and event.mode != session.mode:
            event = replace(event, mode=_mode(session.mode))
        if vault and event.memory is None:
            event = replace(event, memory=self._with.memory(vault))
        if session is not None and (orders := self._with.orders(session.host)):
            event = replace(event, orders=orders)
        return event

    def _switch_mode(self, session: str, mode: Mode) -> None:
        for _ in range(_CONFLICT_TRIES):
            current = self.store.session(session)
            if current is None or current.mode == mode:
                return
            try:
                self.store.update_session(session, current.version, mode=mode)
                return
            except StateConflict:
                continue

    # deciding

    def _decide(self, events: Sequence[Event], vault: str, settle: Approval | None) -> tuple[Outcome, ...]:
        where = events[-1].where
        row = self._state(where)
        states = dict(row.data)
        steps = [self._step(event, states, vault) for event in events]
        first_of_subagent = row.version == 0 and bool(where.subagent)
        state = StateRow(row.version, states) if states != row.data or first_of_subagent else None
        self.store.commit(
            Change(
                where=where,
                events=tuple(step.record for step in steps),
                state=state,
                remember=steps[-1].remember,
                approvals=tuple(approval for step in steps for approval in step.approvals),
                audit=tuple(entry for step in steps for entry in step.audit),
                settle=settle,
                at_leisure=settle is None and all(map(_is_a_report, events, steps)),
            )
        )
        return tuple(self._settled(event, step, vault) for event, step in zip(events, steps, strict=True))

    def _settled(self, event: Event, step: _Step, vault: str) -> Outcome:
        if not step.settle:
            return step.outcome
        said = tuple(self._with.settle(event.where, vault, one) for one in step.settle)
        # The agent hears it too, or it would wonder what a bare "mb:write" is about.
        told = tuple(Inject(message.text(self._with.language(vault))) for message in said)
        outcome = step.outcome
        return replace(outcome, warnings=(*outcome.warnings, *said), inject=(*outcome.inject, *told))

    def _step(self, event: Event, states: dict[str, State], vault: str) -> _Step:
        """What all policies make of one event; `states` is brought up to date on the way."""
        verdicts: list[Verdict] = []
        judged = event
        if isinstance(event, ToolCalling | ToolCalled):
            judged = replace(event, call=self._with.examine(event.call, vault))
        for policy in self._policies():
            before: State = states.get(policy.name, EMPTY)
            try:
                verdict, after = policy.decide(judged, before)
            except Exception as error:
                verdicts.append(self._policy_failure(policy, judged, error))
                continue
            if after is not before:
                states[policy.name] = after
            if verdict is not NOTHING:
                verdicts.append(verdict)
                judged = self._rewritten(judged, verdict, vault)
        merged = merge(verdicts, event.mode, interactive=event.interactive, paused=event.orders == "paused")
        outcome = from_merged(merged, event.id)
        if isinstance(judged, ToolCalling) and isinstance(event, ToolCalling) and judged.call.input != event.call.input:
            outcome = replace(outcome, input=judged.call.input)
        if isinstance(judged, ToolCalling) and judged.call.domain in ("edit", "bash"):
            outcome = replace(outcome, changes=known_changes(judged.call), changes_more=changes_more(judged.call))
        return replace(self._recorded(event, judged, outcome, merged.spill, vault), settle=merged.settle)

    def _rewritten(self, event: Event, verdict: Verdict, vault: str) -> Event:
        """What the next policy sees: it judges what will run, not what was asked for."""
        if isinstance(event, ToolCalling) and verdict.rewrite_input is not None:
            call = replace(event.call, input=verdict.rewrite_input)
            return replace(event, call=self._with.examine(call, vault))
        if isinstance(event, ToolCalled) and verdict.rewrite_output is not None:
            return replace(event, result=replace(event.result, output=verdict.rewrite_output))
        if isinstance(event, ev.HistorySending):
            changes: dict[str, Any] = {}
            if verdict.history is not None:
                changes["history"] = verdict.history
            if verdict.system is not None:
                changes["system"] = verdict.system
            if verdict.model_params is not None:
                changes["params"] = verdict.model_params
            return replace(event, **changes) if changes else event
        return event

    def _state(self, where: SessionId) -> StateRow:
        row = self.store.state(where)
        if row.version == 0 and where.subagent:
            # A sub-agent starts with a copy of what its parent knows; from then on its reads are its own (MB10).
            return StateRow(0, self.store.state(where.main()).data)
        return row

    # acting

    def _recorded(self, asked: Event, judged: Event, outcome: Outcome, spill: Spill | None, vault: str) -> _Step:
        """The step with everything that is to be written down about it."""
        extra: dict[str, Any] = {}
        if spill is not None and isinstance(judged, ToolCalled):
            outcome, extra = self._keep(judged, outcome, spill, vault)
        if outcome.output is not None and isinstance(judged, ToolCalled):
            # The transcript holds what the model saw; the whole output lies beside it (SC4).
            judged = replace(judged, result=replace(judged.result, output=outcome.output))
        approvals: tuple[Approval, ...] = ()
        remember: Remembered | None = None
        if outcome.decision == "ask" and not isinstance(judged, ToolCalled):  # what has run cannot be asked about
            approval = self._question(judged, outcome, vault)
            approvals = (approval,)
            outcome = replace(outcome, approval=approval.id)
        if isinstance(judged, ToolCalling) and isinstance(asked, ToolCalling):
            if judged.call.id:
                kept = outcome.to_dict()
                remember = Remembered(judged.call.id, fingerprint(asked), kept, outcome.approval)
            extra["decision"] = outcome.decision
            extra["findings"] = [finding.to_dict() for finding in outcome.findings]
            extra["approval"] = outcome.approval
        if isinstance(judged, ToolCalled) and judged.call.id:
            # The call is over: some servers use an id again, and then it is another question.
            remember = Remembered(judged.call.id, f"{_OVER}:{judged.id}", {})
        record = record_of(judged, extra=extra)
        return _Step(outcome, record, remember, approvals, audit_entries(judged, outcome))

    def _keep(self, event: ToolCalled, outcome: Outcome, spill: Spill, vault: str) -> tuple[Outcome, dict[str, Any]]:
        kept = self._with.keep_output(spill, event.where, vault, event.at)
        text = self._with.compose_output(spill, kept.path if kept else None, self._with.language(vault))
        about = {"path": kept.path, "size": kept.size, "sha256": kept.sha256} if kept else {"path": None}
        outcome = replace(outcome, output=text, full_output=kept.path if kept else "")
        return outcome, {"spilled": {**about, "lines": spill.lines, "bytes": spill.size}}

    def _question(self, event: Event, outcome: Outcome, vault: str) -> Approval:
        timeout = self._approval_timeout()
        # A question may also stand before a message (full access, MO1): then there is no call yet.
        call = event.call if isinstance(event, ToolCalling) else ToolCall(event.id, event.kind)
        reading = call.reading
        proposals = list(self._with.propose_rules(call, outcome))
        only_once = None if proposals else self._with.only_once(call, outcome)
        question: dict[str, Any] = {
            "input": dict(call.input),
            "findings": [finding.to_dict() for finding in outcome.findings],
            "accesses": [
                {"domain": a.domain, "target": str(a.target), "verb": a.verb, "by": a.by} for a in call.accesses
            ],
            "proposals": proposals,
            "onlyOnce": only_once.to_dict() if only_once is not None else None,
            "reading": reading.to_dict() if reading is not None else None,
        }
        return Approval(
            id=self._with.new_id(),
            where=event.where,
            call_id=call.id,
            created_at=event.at,
            tool=call.host_tool or call.tool,
            question=question,
            policy=outcome.deciding.policy if outcome.deciding else "permission",
            invocation=event.invocation,
            vault=vault,
            deadline=event.at + timeout if timeout is not None else None,
        )

    # remembering

    def _recall(self, event: Event) -> Outcome | None:
        if not isinstance(event, ToolCalling) or not event.call.id:
            return None
        kept = self.store.remembered(event.where, event.call.id)
        if kept is None or kept.fingerprint != fingerprint(event):
            return None
        outcome = Outcome.from_dict(kept.outcome)
        if outcome.decision != "ask":
            return outcome
        approval = self.store.approval(kept.approval)
        return self.after_answer(outcome, approval) if approval is not None else None

    def after_answer(self, outcome: Outcome, approval: Approval) -> Outcome:
        """What an asked outcome has become."""
        if approval.status == "pending":
            return outcome
        if approval.status == "answered" and approval.answer != "deny":
            return settled(outcome, "allow")
        finding = Finding(approval.policy, "deny", refused(approval.status, approval.answered_by))
        answered = replace(outcome, findings=(*outcome.findings, finding), deciding=finding)
        return settled(answered, "deny", approval.message)

    # failing

    def _policy_failure(self, policy: Policy, event: Event, error: Exception) -> Verdict:
        if policy.on_error == "open" or event.kind not in _FAIL_CLOSED_KINDS:
            return Verdict(warnings=(OWN_ERROR_READ(part=policy.name, error=_name(error)),))
        if only_reads(event):
            return Verdict(warnings=(OWN_ERROR_READ(part=policy.name, error=_name(error)),))
        return Verdict(findings=(Finding(policy.name, "deny", OWN_ERROR(part=policy.name, error=_name(error))),))

    def _own_failure(self, event: Event, part: str, error: Exception) -> Outcome:
        if event.kind not in _FAIL_CLOSED_KINDS or only_reads(event):
            warning = OWN_ERROR_READ(part=part, error=_name(error))
            return Outcome("allow", event.id, warnings=(warning,))
        return denied(event.id, Finding("plane", "deny", OWN_ERROR(part=part, error=_name(error))))


def _is_a_report(event: Event, step: _Step) -> bool:
    """That a request goes out, how large it was, what was said of it: with a power cut it is as if it had not been."""
    told = isinstance(event, ev.HistorySending | ev.ContextMeasured | ev.Noticed)
    return told and step.outcome.decision == "allow" and not (step.approvals or step.audit or step.settle)


def only_reads(event: Event) -> bool:
    """Whether a call is known to change nothing: only then may it go on after an error of ours."""
    if not isinstance(event, ToolCalling):
        return False
    call = event.call
    if call.domain in ("read", "none"):
        return True
    return call.reading is not None and call.reading.read_only and not call.reading.unknown


def known_changes(call: ToolCall) -> tuple[str, ...]:
    """The files that a call is known to write or delete, by their real paths."""
    paths = (access.path for access in call.accesses if access.domain == "edit" and access.certain and access.path)
    return tuple(dict.fromkeys(paths))


def changes_more(call: ToolCall) -> bool:
    """Whether a command may change files that nobody can name before it runs."""
    if call.reading is None or call.reading.read_only:
        return False
    return call.reading.unknown or any(a.domain == "edit" and not a.certain for a in call.accesses)


def fingerprint(event: ToolCalling) -> str:
    """Run, tool and input as they came, in a stable order."""
    asked = [event.invocation, event.call.tool, dict(event.call.input)]
    body = json.dumps(asked, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _mode(name: str) -> Mode:
    return "full_access" if name == "full_access" else "agent"


def _name(error: Exception) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
