"""The model as the runner sees it: every request goes through the plane first, and every answer into the record.

Before sending: hooks on prompt and parameters, memory, compaction in step with the stored history, the budget. While
it answers: deltas for whoever watches, retries with a visible pause, one compaction when the provider says the
conversation is too long. After it: the reply and its usage are durable before any tool runs.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents import ModelSettings
from agents.items import ModelResponse
from agents.models.interface import Model, ModelTracing
from openai.types.responses import ResponseFunctionToolCall

from holdfast.core.events import AssistantReplied, ContextMeasured, HistorySending, ToolCall, ToolCalled, ToolResult
from holdfast.core.history import Item, measure
from holdfast.core.outcome import Outcome
from holdfast.core.settings import ModelParams
from holdfast.core.tokens import estimate, output_reserve
from holdfast.prompting import Prompt, after_hooks, finish
from holdfast.runtime.answer import Answer, collect
from holdfast.runtime.compacting import compact
from holdfast.runtime.dialect import input_from_items, items_from_input, split_system
from holdfast.runtime.ledger import Health
from holdfast.runtime.model_shelf import ModelShelf
from holdfast.runtime.models import ModelChoice
from holdfast.runtime.scene import Scene, for_the_model
from holdfast.runtime.transcript import Transcript
from holdfast.runtime.trouble import SEND_AGAIN, Endpoint, Trouble, TroubleCode, backoff, trouble_of
from holdfast.runtime.ui_events import Replied, RetryIn, TextReset, Usage

_RANDOM = re.compile(r"[A-Za-z0-9]{16,}")
"""A run that long is no counter: the id will not be given out twice."""
_CODES: Mapping[str, TroubleCode] = {"doom_loop": "attempts", "plane": "sealed"}
MOST_ATTEMPTS = 10
"""However the loop watch is set; it stops at `doomLoop.maxAttempts` (3)."""


@dataclass(frozen=True, slots=True)
class Request:
    """What goes over the wire."""

    system: str
    items: Sequence[Item]
    params: Mapping[str, Any]


class ControlledModel(Model):
    """One for each run."""

    def __init__(
        self,
        scene: Scene,
        choice: ModelChoice,
        models: ModelShelf,
        transcript: Transcript,
        *,
        prompt: Prompt,
        history: Sequence[Item] = (),
        bootstrap: str = "",
        inline: ModelParams | None = None,
        sleep: Callable[[float], Any] = asyncio.sleep,
    ) -> None:
        self._scene = scene
        self._choice = choice
        self._models = models
        self._transcript = transcript
        self._prompt = prompt
        self._bootstrap = bootstrap
        self._inline = inline
        self._sleep = sleep
        self._known: list[Item] = list(history)
        """The conversation so far; what the runner sends is converted once."""
        self._kept = len(self._known)
        """How many of them stand before the runner's own."""
        self._base: list[Item] | None = None
        """After a compaction: what stands for the first `_replaced` of them."""
        self._replaced = 0
        self.batch_of: dict[str, str] = {}
        """Which reply a call belongs to."""
        self.hit_output_limit = False

    @property
    def endpoint(self) -> Endpoint:
        choice = self._choice
        return Endpoint(choice.name, choice.base_url, choice.key_name, str(self._scene.control.home.credentials))

    # the library's two ways of asking

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],
        model_settings: ModelSettings,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None = None,
        conversation_id: str | None = None,
        prompt: Any = None,
    ) -> ModelResponse:
        history = self._history(input)
        attempt, overflow = 1, False
        while True:
            history, request = await self._prepared(history, attempt, overflow)
            try:
                answer = await self._ask(request, tools)
                break
            except Trouble as trouble:
                if trouble.code == "overflow" and not overflow:
                    overflow = True
                elif trouble.retryable and attempt < MOST_ATTEMPTS:
                    await self._pause(trouble, attempt)
                    attempt += 1
                else:
                    raise
        return await self._accepted(answer, request, tools)

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        raise RuntimeError("Holdfast streams to its own watchers; the runner asks for whole answers")

    # before

    def keep(self, entries: list[Any]) -> None:
        """A run of the library is over and the next one starts from nothing: what it made belongs to the history."""
        self._history(entries)
        self._kept = len(self._known)

    def _history(self, given: str | list[Any]) -> list[Item]:
        entries = [{"role": "user", "content": given}] if isinstance(given, str) else given
        have = len(self._known) - self._kept
        if len(entries) < have or (have and self._known[-1].raw != entries[have - 1]):
            # The runner only ever appends; should it not, its part is taken as it comes and compacted anew.
            del self._known[self._kept :]
            have = 0
            if self._replaced > self._kept:
                self._base, self._replaced = None, 0
        self._known += items_from_input(entries[have:])
        if self._base is None:
            return list(self._known)
        return [*self._base, *self._known[self._replaced :]]

    async def _prepared(self, history: list[Item], attempt: int, overflow: bool) -> tuple[list[Item], Request]:
        """The history as it now stands, and what is sent of it after everybody had a say."""
        scene = self._scene
        scene.ledger.check(scene.control.settings.runtime.budget)
        outcome = await scene.judge(
            HistorySending(
                **scene.header(),
                history=tuple(history),
                model=self._choice.name,
                window=self._choice.window,
                managed=self._choice.managed,
                system=self._prompt.system,
                params=self._prompt.params,
                attempt=attempt,
                overflow=overflow,
            )
        )
        if outcome.decision != "allow":
            raise _refusal(outcome)
        scene.tell_warnings(outcome)
        compacted: Outcome | None = None
        if outcome.summarise is not None:
            history, compacted = await compact(outcome, history, scene, self._transcript, self.write_summary)
            self._base, self._replaced = history, len(self._known)
        elif outcome.history is not None:
            history = list(outcome.history)
        leading, rest = split_system(history)
        prompt = after_hooks(self._prompt, outcome.system, outcome.model_params)
        injected = for_the_model(outcome, prompt.system, leading, self._bootstrap)
        if compacted is not None:
            added = for_the_model(compacted, prompt.system, leading, self._bootstrap, injected)
            injected = "\n\n".join(text for text in (injected, added) if text)
        prompt = finish(prompt, memory=injected, bootstrap=self._bootstrap, inline=self._inline)
        system = f"{prompt.system}\n\n{leading}" if leading else prompt.system
        return history, Request(system, rest, prompt.params)

    # asking

    async def _ask(self, request: Request, tools: list[Any]) -> Answer:
        try:
            choice, model = await self._models.open()
            stream = model.stream_response(
                request.system,
                input_from_items(request.items),  # type: ignore[arg-type]  # plain dictionaries of the library's own form
                _settings(choice, request.params),
                tools,
                None,
                [],
                ModelTracing.DISABLED,
                previous_response_id=None,
                conversation_id=None,
                prompt=None,
            )
            return await collect(stream, model, self._scene)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise trouble_of(error, self.endpoint) from error

    async def _pause(self, trouble: Trouble, attempt: int) -> None:
        seconds = backoff(attempt, trouble.wait)
        self._scene.emit(TextReset())
        why = trouble.why.text(self._scene.language)
        self._scene.emit(RetryIn(seconds=seconds, attempt=attempt, why=why, message=trouble.why.to_dict()))
        await self._sleep(seconds)

    async def write_summary(self, name: str, instructions: str, text: str) -> str:
        """One plain request without tools, watched by nobody."""
        choice, model = await self._models.open(name)
        response = await model.get_response(
            instructions,
            [{"role": "user", "content": text}],
            _settings(choice, {}),
            [],
            None,
            [],
            ModelTracing.DISABLED,
            previous_response_id=None,
            conversation_id=None,
            prompt=None,
        )
        usage = response.usage
        self._scene.ledger.add(
            usage.input_tokens, usage.output_tokens, choice.cost(usage.input_tokens, usage.output_tokens)
        )
        return Answer(response.output).text

    # after

    async def _accepted(self, answer: Answer, request: Request, tools: list[Any]) -> ModelResponse:
        scene = self._scene
        output = await self._with_unique_ids(answer.output)
        self.hit_output_limit = answer.hit_output_limit
        text = answer.text
        self._measure(answer, request)
        if text or answer.reasoning:
            replied = await scene.judge(AssistantReplied(**scene.header(), text=text, reasoning=answer.reasoning))
            scene.tell_warnings(replied)
        if text:
            scene.emit(Replied(text=text))
        await self._note_unknown_tools(output, {tool.name for tool in tools})
        return ModelResponse(output=output, usage=answer.usage, response_id=None)

    async def _with_unique_ids(self, output: Sequence[Any]) -> list[Any]:
        """Some servers count their calls from 0 in every answer; decisions are remembered by id."""
        scene = self._scene
        batch = scene.control.new_id()
        kept: list[Any] = []
        for given in output:
            entry = given
            if isinstance(entry, ResponseFunctionToolCall):
                known = entry.call_id in self.batch_of or not entry.call_id
                if not known and not _RANDOM.search(entry.call_id):
                    known = await scene.judge.do(scene.control.store.remembered, scene.where, entry.call_id) is not None
                if known:
                    entry = entry.model_copy(update={"call_id": f"call_{scene.control.new_id()}"})
                self.batch_of[entry.call_id] = batch
            kept.append(entry)
        return kept

    def _measure(self, answer: Answer, request: Request) -> None:
        """The request's usage; its event goes with the next one, since nobody waits for it."""
        scene, choice, usage = self._scene, self._choice, answer.usage
        exact = usage.input_tokens > 0
        used = usage.input_tokens if exact else estimate(request.system) + measure(request.items).tokens
        reserve = output_reserve(choice.window) if choice.window else None
        event = ContextMeasured(
            **scene.header(),
            used=used,
            window=choice.window,
            reserve=reserve,
            exact=exact,
            model=choice.name,
            output=usage.output_tokens,
        )
        scene.judge.later(event, scene.tell_warnings)
        cost = choice.cost(usage.input_tokens, usage.output_tokens)
        totals = scene.ledger.add(usage.input_tokens, usage.output_tokens, cost)
        if not scene.where.subagent:
            scene.ledger.health = Health(used, choice.window, reserve, exact, event.at)
        scene.emit(
            Usage(
                used=used,
                window=choice.window,
                exact=exact,
                at=event.at,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                thread_tokens=totals.tokens,
                thread_cost=totals.cost,
            )
        )

    async def _note_unknown_tools(self, output: Sequence[Any], names: set[str]) -> None:
        """The library answers a call of no tool by itself; the record and the loop watch are told (DL3)."""
        for entry in output:
            if isinstance(entry, ResponseFunctionToolCall) and entry.name not in names:
                call = ToolCall(entry.call_id, entry.name, batch=self.batch_of[entry.call_id])
                text = f"Tool '{entry.name}' not found."
                result = ToolResult(text, failed=True, error=text)
                await self._scene.judge(ToolCalled(**self._scene.header(), call=call, result=result, hooked=False))


def _refusal(outcome: Outcome) -> Trouble:
    deciding = outcome.deciding
    assert deciding is not None  # only a finding can stop a request
    code = _CODES.get(deciding.policy, "own")
    return Trouble(code, deciding.why, deciding.next_step or SEND_AGAIN())


def _settings(choice: ModelChoice, params: Mapping[str, Any]) -> ModelSettings:
    settings = ModelSettings(
        temperature=params.get("temperature"),
        top_p=params.get("top_p"),
        max_tokens=params.get("max_tokens") or choice.max_output,
        include_usage=True,
    )
    if choice.api == "responses":
        # Nothing stays at the provider; what it thought travels with the conversation instead, where it can.
        thoughts = ["reasoning.encrypted_content"] if "api.openai.com" in choice.base_url else None
        return replace(settings, store=False, response_include=thoughts)
    return settings
