"""From a host's payload to its answer: find the thread, ask the plane, wait for a person if need be, render.

Whatever goes wrong in here is ours: a read goes on, everything else is refused with a reason (HO4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import orjson

from holdfast.approvals import Approvals
from holdfast.chain.on_record import put_on_record
from holdfast.core.events import AssistantReplied, Compacting, Event, PromptSubmitted, ToolCalled, ToolCalling
from holdfast.core.memory import MemoryFacts
from holdfast.core.messages import Language, Message
from holdfast.core.outcome import Outcome
from holdfast.core.settings import Settings
from holdfast.core.verdict import Finding
from holdfast.hosts.carry import fitted, together
from holdfast.hosts.handing_over import HOW_TO_START, INSTEAD, STRATEGY, VETOED, seals_instead
from holdfast.hosts.host import Address, Answer, Header, Host, Payload, Reply
from holdfast.hosts.host_memo import CallIds, StoreMemo, TurnCalls
from holdfast.hosts.own_tools import announce
from holdfast.hosts.sessions import HostSessions, Place
from holdfast.hosts.standing import standing_texts
from holdfast.hosts.telling import Telling
from holdfast.plane import SEALED, Plane
from holdfast.policies.context_gate import STRICTNESS, stricter

MARGIN_SECONDS = 5.0
ATTENDED = "attended"
"""Memo: whether somebody sits before the host and can answer its own dialog."""
GUARD = "guard"
"""Memo: the guard mode that the host's environment asks for; not every hook can bring it along."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One payload of a host, with the place it belongs to."""

    host: Host
    payload: Payload
    address: Address
    place: Place
    invocation: str
    memo: StoreMemo
    telling: Telling


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """What the gateway asks its surroundings for, at every payload anew."""

    clock: Callable[[], float]
    new_id: Callable[[], str]
    settings: Callable[[], Settings]
    language: Callable[[str], Language]
    memory: Callable[[str], MemoryFacts | None]
    """What a vault's memory bank looks like now."""
    afterwards: Callable[[Visit], Callable[[], None] | None] = lambda visit: None
    """Work on a payload that nobody waits for, if there is any: the transcript, the fill, the end of a turn."""
    before_run: Callable[[Place, ToolCalling, Outcome], None] = lambda place, event, outcome: None
    """Called before an allowed call runs: keeps what it is going to change."""
    after_run: Callable[[Place, ToolCalled], None] = lambda place, event: None
    """Called when a call has run."""
    settings_guard: Callable[[str], Message | None] = lambda path: None
    """The reason why a host must not load this settings file anew."""
    seen: Callable[[str], None] = lambda host: None
    """Told which host has spoken: the doctor asks for it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How a payload came in."""

    deadline: float | None = None
    """Seconds until the host gives up and does what it does without us."""
    environment: Mapping[str, str] | None = None
    """A few variables of the host's process, where the hook is a command."""


PLAINLY = Asked()


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
        self._chain = sessions.chain
        self._with = settings
        self._calls = CallIds(plane.store)

    def answer(self, host_name: str, body: bytes, asked: Asked = PLAINLY) -> Reply:
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
        self._with.seen(host.name)
        address = host.address(payload)
        if address is None:
            return host.render(payload, Answer())
        changed = host.changed_settings(payload)
        if changed is not None:
            return host.render(payload, self._settings_changed(host, address, changed))
        memo = StoreMemo(self._store, host.name, address.session)
        environment = asked.environment or {}
        if ATTENDED in environment:
            memo.put(ATTENDED, environment[ATTENDED] == "1")
        wished = environment.get(GUARD) or payload.get(GUARD)
        if (guard := next((mode for mode in STRICTNESS if mode == wished), None)) is not None:
            memo.put(GUARD, stricter(guard, memo.get(GUARD)))
        invocation = host.invocation(payload, memo)
        telling = Telling(host, memo)
        for _ in range(2):
            place = self._place(host, payload, address, invocation, environment.get("thread", ""))
            visit = Visit(host, payload, address, place, invocation, memo, telling)
            answers = self._judge(visit, asked)
            if answers is not None:
                break
            # It was sealed meanwhile: what comes now belongs to the next session of the thread.
            self._sessions.forget(host.name, address.session)
        answer = self._with_standing(visit, together(answers or []))
        return replace(host.render(payload, answer), after=self._with.afterwards(visit))

    def _settings_changed(self, host: Host, address: Address, path: str) -> Answer:
        why = self._with.settings_guard(path)
        if why is None:
            return Answer()
        place = self._sessions.find(host.name, address, report=True)
        put_on_record(
            self._store,
            place.where.main(),
            "settings_change_blocked",
            by="policy",
            at=self._with.clock(),
            event_id=self._with.new_id(),
            decision="deny",
            targets=[f"fs:{path}"],
        )
        return Answer("settings_changed", allowed=False, reason=why.text(self._with.language(place.vault)))

    def _place(self, host: Host, payload: Payload, address: Address, invocation: str, thread: str) -> Place:
        if host.turn(payload) == "begins":
            return self._sessions.begin_turn(host.name, address, invocation, thread)
        return self._sessions.find(host.name, address, thread, report=host.is_report(payload))

    def _with_standing(self, visit: Visit, answer: Answer) -> Answer:
        host, place = visit.host, visit.place
        wanted = host.standing(visit.payload, visit.memo)
        if not wanted:
            return answer
        session = self._store.session(place.where.session) if "bootstrap" in wanted else None
        packet = self._chain.packet(session) if session is not None else None
        states = self._store.state(place.where.main()).data
        texts = standing_texts(wanted, self._with.memory(place.vault), states, packet)
        standing = fitted(texts, host.capabilities.inject_limit)
        return replace(answer, kind=answer.kind or "model_asked", standing=standing)

    # judging

    def _judge(self, visit: Visit, asked: Asked) -> list[Answer] | None:
        """The answers to each event of the payload; None when the session turned out to be sealed."""
        place, memo, host = visit.place, visit.memo, visit.host
        calls = self._calls.of(place.where, visit.invocation, memo)
        header = Header(
            where=place.where,
            at=self._with.clock(),
            invocation=visit.invocation,
            interactive=not self._with.settings().runtime.permission.unattended,
            new_id=self._with.new_id,
            memo=memo,
            calls=calls,
            guard=memo.get(GUARD),
            was_seen=lambda call: bool(call) and self._store.remembered(place.where, call) is not None,
        )
        answers: list[Answer] = []
        language = self._with.language(place.vault)
        for event in host.parse(visit.payload, header):
            if isinstance(event, AssistantReplied) and not visit.telling.is_news(event.invocation, event.text):
                continue
            outcome = self._plane.handle(event)
            warnings = self._chain.heed(event, outcome)
            if outcome.deciding is not None and outcome.deciding.why.code == SEALED.code:
                if host.is_report(visit.payload):
                    continue  # it was kept for the next session of the thread
                return None
            if isinstance(event, ToolCalling) and outcome.decision == "ask":
                if host.capabilities.can("ask", "tool_calling") and memo.get(ATTENDED) is True:
                    answers.append(Answer(kind=event.kind, ask=True, allowed=False, reason=outcome.reason(language)))
                    continue
                outcome = self._ask(outcome, asked.deadline)
            if isinstance(event, Compacting):
                outcome = self._compacting(visit, event, outcome, language)
            self._settle_shown(memo, event)
            if isinstance(event, ToolCalled):
                self._with.after_run(place, event)
            if isinstance(event, ToolCalling) and outcome.allowed:
                self._before_run(visit, event, outcome, calls)
            outcome = self._with_place(outcome, place if not answers else place.settled(), warnings)
            answers.append(visit.telling.answer(event, outcome, language))
        return answers

    def _before_run(self, visit: Visit, event: ToolCalling, outcome: Outcome, calls: TurnCalls) -> None:
        self._with.before_run(visit.place, event, outcome)
        announce(self._store, visit.place, event, outcome)
        if outcome.input is not None:
            calls.rewritten(event.call.host_tool, outcome.input, event.call.id)

    def _with_place(self, outcome: Outcome, place: Place, warnings: tuple[Message, ...]) -> Outcome:
        """What a session that has just begun must be told comes first."""
        hints = (place.hint,) if place.hint is not None else ()
        packets = (place.packet.inject(),) if place.packet is not None else ()
        if not (hints or packets or warnings):
            return outcome
        return replace(outcome, inject=(*packets, *outcome.inject), warnings=(*hints, *outcome.warnings, *warnings))

    def _ask(self, outcome: Outcome, deadline: float | None) -> Outcome:
        """Where the host cannot show a question, the hook waits while the inbox answers; at the deadline it is no."""
        patience = self._with.settings().runtime.permission.approval_timeout_seconds
        if deadline is not None:  # our answer must arrive before the host gives up and goes on
            patience = min(patience, deadline - min(MARGIN_SECONDS, 0.2 * deadline))
        approval = self._approvals.wait(outcome.approval, seconds=patience)
        if approval.status == "pending":
            self._approvals.expire(approval.id)
            approval = self._store.approval(approval.id) or approval
        return self._plane.after_answer(outcome, approval)

    def _compacting(self, visit: Visit, event: Compacting, outcome: Outcome, language: Language) -> Outcome:
        """Seal instead of compressing, where the strategy says so and the host can be stopped; once a conversation."""
        states = self._store.state(event.where.main()).data
        reason = seals_instead(self._with.settings(), visit.host.name, event, states)
        if reason is None or visit.memo.get(VETOED):
            return outcome
        if not visit.host.capabilities.can("veto_compaction", "compacting"):
            return outcome
        warning = self._chain.sealer.want(event.where, reason)
        if warning is not None:
            return replace(outcome, warnings=(*outcome.warnings, warning))
        visit.memo.put(VETOED, visit.invocation or "?")
        said = INSTEAD(how=HOW_TO_START.get(visit.host.name, "a new session"))
        finding = Finding(STRATEGY, "deny", said)
        return replace(
            outcome,
            decision="deny",
            findings=(*outcome.findings, finding),
            deciding=finding,
            warnings=(*outcome.warnings, said),
        )

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


def environment_of(text: str) -> dict[str, str]:
    """`name=value;name=value`, as the hook command sends it."""
    pairs = (pair.partition("=") for pair in text.split(";") if "=" in pair)
    return {name: value for name, _, value in pairs}
