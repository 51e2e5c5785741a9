"""The loop watch itself: what is counted, when it is a loop, and what is done about it.

What can be seen before a call runs is asked about then. What only its result shows is told at once (the finding on
`ToolCalled` is audited, and the model gets a hint) and asked about before the next call that goes on in the same way;
a call that breaks out of the pattern is never asked about. Counts belong to one run: a new message starts afresh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from holdfast.core.events import (
    ApprovalAnswered,
    AssistantReplied,
    Compacted,
    Event,
    HistorySending,
    PromptSubmitted,
    SessionStarted,
    ToolCall,
    ToolCalled,
    ToolCalling,
)
from holdfast.core.messages import Message
from holdfast.core.policy import State
from holdfast.core.settings import DoomLoopSettings
from holdfast.core.verdict import NOTHING, Decision, Finding, Inject, Verdict
from holdfast.policies.doom_loop import phrases as say
from holdfast.policies.doom_loop import steps as look
from holdfast.policies.doom_loop.steps import Ending, Trail

NO_NEWS = 10
"""Calls in a row that had all been made before in this run with the same result, in whatever order."""
PATIENCE = 2
"""How many times longer a cycle may go on whose results change, or in which every call changes a file."""
FAILING_CALL = 3
"""Failures of one and the same call in a row after which the model gets a hint."""
SAME_REPLY = 3
"""Equal answers in a row, without a call between them, after which the user is told."""
A_WHILE = 30 * 60.0
"""Seconds that "like this for 30 minutes" lasts."""

_OTHER_HOSTS = {"claude-code", "opencode", "codex", "gemini"}
_FEWEST_CALLS, _MOST_CALLS = 32, 512
_ASKED_KEPT = 8


@dataclass(frozen=True, slots=True)
class Hit:
    why: Message
    hint_only: bool = False
    """True for what is worth a word to the model and the user, but not a question."""


class DoomLoop:
    """State is plain JSON, bounded, and emptied by every new run."""

    name = "doom_loop"
    on_error: Literal["open", "closed"] = "open"

    def __init__(self, settings: DoomLoopSettings | None = None) -> None:
        self._set = settings or DoomLoopSettings()
        self._kept = min(max(_FEWEST_CALLS, 3 * PATIENCE * self._set.cycle_repeats), _MOST_CALLS)

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if not self._set.enabled:
            return NOTHING, state
        state = _in_this_run(event, state)
        if isinstance(event, ToolCalling):
            return self._before(event, state)
        if isinstance(event, ToolCalled):
            return self._after(event, state)
        if isinstance(event, ApprovalAnswered):
            return NOTHING, self._answered(event, state)
        if isinstance(event, HistorySending) and event.attempt > self._set.max_attempts:
            return self._judged(event, state, Hit(say.ATTEMPTS(count=event.attempt - 1)))
        if isinstance(event, AssistantReplied) and event.text.strip():
            return self._replied(event, state)
        return NOTHING, state

    # before and after a call

    def _before(self, event: ToolCalling, state: State) -> tuple[Verdict, State]:
        if event.call.id and _trail(state).waiting(event.call) is not None:
            return NOTHING, state
        state, checked = self._counted(event.call, state)
        if not checked:
            return NOTHING, state
        hit = self._too_many(event, state) or self._by_call(event.call, state) or self._goes_on(event.call, state)
        return self._judged(event, state, hit)

    def _after(self, event: ToolCalled, state: State) -> tuple[Verdict, State]:
        call = event.call
        at = _trail(state).waiting(call)
        if at is None:
            # A call that passed `ToolCalling` and does not wait here was made during the cool-down, or before a reset.
            if event.hooked or _trail(state).knows(call):
                return NOTHING, state
            state, checked = self._counted(call, state)
            if not checked:
                return NOTHING, state
            at = -1
        trail = _trail(state)
        result = look.result_hash(call, trail.calls[at], event.result)
        trail = trail.with_result(at, result)
        ending = _ending(state).then(call.tool, trail.calls[at], result, news=trail.is_news(at))
        state = {**state, "trail": list(trail), "ending": list(ending), "reply": ["", 0]}
        hit = self._by_result(ending, state)
        if not event.hooked:
            hit = self._too_many(event, state) or self._by_call(call, state) or hit
        return self._told(event, state, hit)

    def _counted(self, call: ToolCall, state: State) -> tuple[State, bool]:
        """The state with one call more, and whether it is to be checked."""
        state = {**state, "calls": state.get("calls", 0) + 1}
        cooling = state.get("cooldown", 0)
        if cooling:
            return {**state, "cooldown": cooling - 1}, False
        exact, key = look.signature(call, self._set.max_signature_bytes)
        last, times = state.get("same", ["", 0])
        trail = _trail(state).with_call(exact, call.id, self._kept)
        return {**state, "same": [key, times + 1 if key == last else 1], "trail": list(trail)}, True

    # what is a loop

    def _too_many(self, event: ToolCalling | ToolCalled, state: State) -> Hit | None:
        elsewhere = state.get("host", "holdfast") != "holdfast" or event.where.agent in _OTHER_HOSTS
        roomy = elsewhere or not event.interactive
        limit = self._set.max_tool_calls_unattended if roomy else self._set.max_tool_calls
        return Hit(say.TOO_MANY(count=state["calls"] - 1)) if state["calls"] > limit else None

    def _by_call(self, call: ToolCall, state: State) -> Hit | None:
        """What the calls show, the newest included."""
        times = state["same"][1]
        if times >= self._set.same_tool_threshold:
            return Hit(say.SAME_CALL(tool=call.tool, count=times))
        trail = _trail(state)
        enough = self._set.cycle_repeats
        for period in (2, 3):
            repeats = look.cycle(trail.calls, period)
            if repeats < enough:
                continue
            if repeats >= PATIENCE * enough or not look.gets_somewhere(trail.results[-period * repeats :], period):
                return Hit(say.CYCLE(period=period, count=repeats))
        return None

    def _by_result(self, ending: Ending, state: State) -> Hit | None:
        """What the result that just came shows; each kind is told when it is reached, not at every call after it."""
        if ending.same % self._set.same_result_threshold == 0:
            return Hit(say.SAME_RESULT(tool=ending.tool, count=ending.same))
        if ending.errors and ending.errors % self._set.same_error_threshold == 0:
            return Hit(say.SAME_ERROR(count=ending.errors))
        if ending.stale and ending.stale % NO_NEWS == 0:
            return Hit(say.STALE(count=ending.stale))
        if ending.failing == FAILING_CALL:
            return Hit(say.FAILS_AGAIN(tool=ending.tool, count=FAILING_CALL), hint_only=True)
        times = state["same"][1]
        if times == self._set.same_tool_threshold - 1 and times >= FAILING_CALL:
            return Hit(say.SAME_CALL(tool=ending.tool, count=times), hint_only=True)
        return None

    def _goes_on(self, call: ToolCall, state: State) -> Hit | None:
        """Whether the newest call continues what earlier results have shown to be a loop."""
        ending = _ending(state)
        *before, new = _trail(state).calls
        if ending.same >= self._set.same_result_threshold and new == ending.call:
            return Hit(say.SAME_RESULT(tool=call.tool, count=ending.same))
        if ending.errors >= self._set.same_error_threshold and call.tool == ending.tool:
            return Hit(say.SAME_ERROR(count=ending.errors))
        if ending.stale >= NO_NEWS and new in before:
            return Hit(say.STALE(count=ending.stale))
        return None

    # what is done about it

    def _judged(self, event: ToolCalling | HistorySending, state: State, hit: Hit | None) -> tuple[Verdict, State]:
        if hit is None:
            return NOTHING, state
        decision = _decision(event, state)
        finding = self._finding(decision, hit, state)
        if decision == "allow":
            return Verdict(findings=(finding,)), self._reset(state)
        if decision == "ask" and isinstance(event, ToolCalling):
            state = {**state, "asked": [*state.get("asked", []), event.call.id][-_ASKED_KEPT:]}
        return Verdict(findings=(finding,)), state

    def _told(self, event: ToolCalled, state: State, hit: Hit | None) -> tuple[Verdict, State]:
        """The call has run: say it now, so that the model can turn round before anybody must be asked."""
        decision = _decision(event, state)
        if hit is None or decision == "allow":
            return NOTHING, state
        findings = () if hit.hint_only else (self._finding(decision, hit, state),)
        return Verdict(findings=findings, inject=(_hint(hit.why),), warnings=(hit.why,)), state

    def _replied(self, event: AssistantReplied, state: State) -> tuple[Verdict, State]:
        text = look.text_hash(event.text)
        last, times = state.get("reply", ["", 0])
        times = times + 1 if text == last else 1
        state = {**state, "reply": [text, times]}
        if times != SAME_REPLY or _decision(event, state) == "allow":
            return NOTHING, state
        why = say.SAME_REPLY(count=times)
        return Verdict(inject=(_hint(why),), warnings=(why,)), state

    def _finding(self, decision: Decision, hit: Hit, state: State) -> Finding:
        stop = say.USER_STOPPED() if state.get("stopped") else say.STOP()
        next_step = {"allow": say.ALWAYS(), "ask": say.ASK(), "deny": stop}[decision]
        return Finding(self.name, decision, hit.why, domain=self.name, next_step=next_step)

    def _answered(self, event: ApprovalAnswered, state: State) -> State:
        """One card can carry our question beside another policy's: a yes to the call is a yes to both."""
        ours = event.policy == self.name
        if not ours and event.call_id not in state.get("asked", []):
            return state
        if event.answer == "deny":
            return {**state, "stopped": True} if ours else state
        state = self._reset(state)
        if ours and event.answer == "always":
            return {**state, "always": True}
        if ours and event.answer == "for_a_while":
            return {**state, "until": event.at + A_WHILE}
        return state

    def _reset(self, state: State) -> State:
        return {**_without_counts(state), "cooldown": self._set.cooldown_tool_calls}


def _decision(event: Event, state: State) -> Decision:
    if state.get("always") or event.at < state.get("until", 0.0):
        return "allow"
    if state.get("stopped") or event.mode == "full_access" or not event.interactive:
        return "deny"
    return "ask"


def _hint(why: Message) -> Inject:
    return Inject(say.HINT(why=why.text()).text(), "model")


def _trail(state: State) -> Trail:
    return Trail(*state.get("trail", ((), (), ())))


def _ending(state: State) -> Ending:
    return Ending(*state.get("ending", ()))


def _without_counts(state: State) -> dict[str, Any]:
    """What outlives a run: where we are, whose run it was, and what the user allowed for the session."""
    return {key: state[key] for key in ("host", "run", "who", "always", "until") if key in state}


def _in_this_run(event: Event, state: State) -> State:
    """The state as this event finds it: without counts at the start of a run."""
    if isinstance(event, SessionStarted):
        state = {**state, "host": event.host}
    new_run = bool(event.invocation) and event.invocation != state.get("run", "")
    typed = isinstance(event, PromptSubmitted) and event.typed
    who = event.where.subagent
    if new_run or typed or who != state.get("who", ""):
        return {**_without_counts(state), "run": event.invocation or state.get("run", ""), "who": who}
    forgotten = isinstance(event, Compacted) or (isinstance(event, SessionStarted) and event.source == "compact")
    if forgotten and "trail" in state:
        # What was read before is gone from the context, so reading it again is no repetition.
        return {key: value for key, value in state.items() if key not in ("trail", "ending", "same")}
    return state
