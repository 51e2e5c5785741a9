"""From a host's payload to its answer: find the thread, ask the plane, wait for a person if need be, render.

Whatever goes wrong in here is ours: a read goes on, everything else is refused with a reason (HO4).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from holdfast.approvals import Approvals
from holdfast.core.events import (
    AssistantReplied,
    Compacted,
    Compacting,
    Event,
    PromptSubmitted,
    ToolCalled,
    ToolCalling,
)
from holdfast.core.memory import MemoryFacts
from holdfast.core.messages import Language
from holdfast.core.outcome import Outcome
from holdfast.hosts.carry import Kept, carry, fitted, together
from holdfast.hosts.host import Answer, Header, Host, Payload, Reply
from holdfast.hosts.host_memo import CallIds, StoreMemo, TurnCalls
from holdfast.hosts.sessions import HostSessions, Place
from holdfast.hosts.standing import standing_texts
from holdfast.plane import Plane

SEALED_CODE = "plane.sealed"
MARGIN_SECONDS = 5.0
ATTENDED = "attended"
"""Memo: whether somebody sits before the host and can answer its own dialog."""

Afterwards = Callable[[Host, Payload, Place, StoreMemo], None]
"""Work on a payload that nobody waits for: the transcript, the fill."""


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """What the gateway asks its surroundings for, at every payload anew."""

    clock: Callable[[], float]
    new_id: Callable[[], str]
    patience: Callable[[], float]
    """Seconds that a question waits for a person."""
    interactive: Callable[[], bool]
    language: Callable[[str], Language]
    memory: Callable[[str], MemoryFacts | None]
    """What a vault's memory bank looks like now."""
    afterwards: Afterwards | None = None
    before_run: Callable[[Place, ToolCalling, Outcome], None] | None = None
    """Called before an allowed call runs: keeps what it is going to change."""
    seen: Callable[[str], None] | None = None
    """Told which host has spoken: the doctor asks for it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How a payload came in."""

    deadline: float | None = None
    """Seconds until the host gives up and does what it does without us."""
    environment: Mapping[str, str] | None = None
    """A few variables of the host's process, where the hook is a command."""


class Gateway:
    """`answer(host, payload bytes) -> Reply`; one for all hosts, shared by the daemon and the hook command."""

    def __init__(
        self,
        hosts: Mapping[str, Host],
        plane: Plane,
        approvals: Approvals,
        sessions: HostSessions,
        settings: GatewaySettings,
    ) -> None:
        self._hosts = hosts
        self._plane = plane
        self._store = plane.store
        self._approvals = approvals
        self._sessions = sessions
        self._with = settings
        self._calls = CallIds(plane.store)

    def answer(self, host_name: str, body: bytes, asked: Asked = Asked()) -> Reply:  # noqa: B008 (frozen)
        host = self._hosts.get(host_name)
        if host is None:
            known = ", ".join(sorted(self._hosts))
            return Reply(2, err=f"Holdfast knows no host {host_name!r}; it knows {known}.".encode())
        try:
            payload = orjson.loads(body)
            if not isinstance(payload, dict):
                raise ValueError(f"expected a JSON object, got {type(payload).__name__}")
        except ValueError as error:
            return host.refuse({}, f"Holdfast could not read what {host_name} sent ({error}), so it was blocked.")
        try:
            return self._answer(host, payload, asked)
        except Exception as error:
            kind = type(error).__name__
            return host.refuse(payload, f"Holdfast itself failed ({kind}: {error}). Run `holdfast doctor {host_name}`.")

    def _answer(self, host: Host, payload: Payload, asked: Asked) -> Reply:
        if self._with.seen is not None:
            self._with.seen(host.name)
        address = host.address(payload)
        if address is None:
            return host.render(payload, Answer())
        memo = StoreMemo(self._store, host.name, address.session)
        if asked.environment is not None and ATTENDED in asked.environment:
            memo.put(ATTENDED, asked.environment[ATTENDED] == "1")
        place = self._sessions.find(host.name, address)
        invocation = host.invocation(payload, memo)
        calls = self._calls.of(place.where, invocation, memo)
        for _ in range(2):
            answers = self._judge(host, payload, _Turn(place, invocation, calls, memo, asked))
            if answers is not None:
                break
            # It was sealed meanwhile: what comes now belongs to the next session of the thread.
            self._sessions.forget(host.name, address.session)
            place = self._sessions.find(host.name, address)
            calls = self._calls.of(place.where, invocation, memo)
        answer = together(answers or [])
        standing = host.standing(payload, memo)
        if standing:
            texts = standing_texts(standing, self._with.memory(place.vault), self._store.state(place.where.main()).data)
            answer = replace(
                answer, kind=answer.kind or "model_asked", context=fitted(texts, host.capabilities.inject_limit)
            )
        reply = host.render(payload, answer)
        if self._with.afterwards is None:
            return reply
        work, final_place = self._with.afterwards, place
        return replace(reply, after=lambda: work(host, payload, final_place, memo))

    def _judge(self, host: Host, payload: Payload, turn: _Turn) -> list[Answer] | None:
        """The answers to each event of the payload; None when the session turned out to be sealed."""
        header = Header(
            where=turn.place.where,
            at=self._with.clock(),
            invocation=turn.invocation,
            interactive=self._with.interactive(),
            new_id=self._with.new_id,
            memo=turn.memo,
            calls=turn.calls,
            was_seen=lambda call: bool(call) and self._store.remembered(turn.place.where, call) is not None,
        )
        answers: list[Answer] = []
        language = self._with.language(turn.place.vault)
        for event in host.parse(payload, header):
            outcome = self._plane.handle(event)
            if outcome.deciding is not None and outcome.deciding.why.code == SEALED_CODE:
                return None
            asks = isinstance(event, ToolCalling) and outcome.decision == "ask"
            if asks and host.capabilities.can("ask", "tool_calling") and turn.memo.get(ATTENDED) is True:
                answers.append(Answer(kind=event.kind, ask=True, allowed=False, reason=outcome.reason(language)))
                continue
            if asks:
                outcome = self._ask(outcome, turn.asked.deadline)
            self._settle_shown(turn.memo, event)
            answers.append(self._carried(host, event, outcome, turn, language))
        return answers

    def _carried(self, host: Host, event: Event, outcome: Outcome, turn: _Turn, language: Language) -> Answer:
        if isinstance(event, ToolCalling) and outcome.allowed:
            if self._with.before_run is not None:
                self._with.before_run(turn.place, event, outcome)
            if outcome.input is not None:
                turn.calls.rewritten(event.call.host_tool, outcome.input, event.call.id)
        if isinstance(event, Compacting) or (isinstance(event, Compacted) and event.inferred):
            turn.memo.put("injected", None)  # what was said is gone with the history
        outcome = self._not_again(outcome, turn.memo)
        waiting = Kept(**{k: tuple(v) for k, v in (turn.memo.get("waiting") or {}).items()})
        answer, kept = carry(host.capabilities, event.kind, outcome, language, waiting)
        if kept != waiting:
            turn.memo.put("waiting", {"context": kept.context, "notice": kept.notice} if kept else None)
        return answer

    def _not_again(self, outcome: Outcome, memo: StoreMemo) -> Outcome:
        """Without what the conversation already holds: a resumed session brings its history with it."""
        if not any(part.sentinel for part in outcome.inject):
            return outcome
        injected = dict(memo.get("injected") or {})
        fresh = []
        for part in outcome.inject:
            mark = hashlib.sha256(part.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            if part.sentinel and injected.get(part.sentinel) == mark:
                continue
            if part.sentinel:
                injected[part.sentinel] = mark
            fresh.append(part)
        memo.put("injected", injected)
        return replace(outcome, inject=tuple(fresh))

    def _ask(self, outcome: Outcome, deadline: float | None) -> Outcome:
        """Where the host cannot show a question, the hook waits while the inbox answers; at the deadline it is no."""
        patience = self._with.patience()
        if deadline is not None:  # our answer must arrive before the host gives up and goes on
            patience = min(patience, deadline - min(MARGIN_SECONDS, 0.2 * deadline))
        approval = self._approvals.wait(outcome.approval, seconds=patience)
        if approval.status == "pending":
            self._approvals.expire(approval.id)
            approval = self._store.approval(approval.id) or approval
        return self._plane.after_answer(outcome, approval)

    def _settle_shown(self, memo: StoreMemo, event: Event) -> None:
        """A question that the host showed itself was answered there: the call has run, or the turn is over."""
        if memo.get(ATTENDED) is not True or not isinstance(event, ToolCalled | PromptSubmitted | AssistantReplied):
            return
        for approval in self._store.approvals(status="pending", session=event.where.session):
            if isinstance(event, ToolCalled):
                if approval.call_id == event.call.id:
                    self._approvals.answer(approval.id, "once", by=f"{event.where.agent} dialog")
            elif approval.where.subagent == event.where.subagent:
                self._approvals.cancel(approval_id=approval.id)


@dataclass(frozen=True, slots=True)
class _Turn:
    place: Place
    invocation: str
    calls: TurnCalls
    memo: StoreMemo
    asked: Asked


def environment_of(text: str) -> dict[str, Any]:
    """`name=value;name=value`, as the hook command sends it."""
    pairs = (pair.partition("=") for pair in text.split(";") if "=" in pair)
    return {name: value for name, _, value in pairs}
