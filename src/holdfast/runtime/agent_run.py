"""One run of one agent, main or sub-agent: from what the transcript says to the agent's last words.

It can be begun by any process at any moment: it first brings the calls that were left open to their end, then goes on
from the history. There is no other state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.core.events import PromptSubmitted
from holdfast.core.history import Item
from holdfast.core.messages import Phrase
from holdfast.core.outcome import Outcome
from holdfast.core.settings import ModelParams
from holdfast.prompting import Prompt
from holdfast.runtime.controlled_model import ControlledModel
from holdfast.runtime.guarded_agent import run_agent
from holdfast.runtime.guarded_tools import GuardedTools
from holdfast.runtime.model_shelf import ModelShelf
from holdfast.runtime.scene import Scene
from holdfast.runtime.tool import Tool
from holdfast.runtime.transcript import Loaded, Transcript
from holdfast.runtime.trouble import Trouble, trouble_of
from holdfast.runtime.ui_events import TurnStarted

MOST_CONTINUATIONS = 8
CONTINUE_CUT = Phrase(
    "runtime.continue_cut",
    "[holdfast] Your answer was cut at the output limit. Go on exactly where it stopped; repeat nothing.",
    "[holdfast] 你的回答在输出上限处被截断。请从中断处继续，不要重复。",
)
CONTINUE = Phrase("runtime.continue", "[holdfast] Go on.", "[holdfast] 请继续。")
STILL_CUT = Phrase(
    "runtime.still_cut",
    "The answer reached the output limit {count} times in a row and was left there.",
    "回答连续 {count} 次达到输出上限，已停在此处。",
)


@dataclass(frozen=True, slots=True)
class AgentRun:
    scene: Scene
    tools: Sequence[Tool]
    models: ModelShelf
    prompt: Prompt
    bootstrap: str = ""
    inline: ModelParams | None = None
    problem: Trouble | None = None
    """Why it cannot go on at all."""

    @property
    def transcript(self) -> Transcript:
        return Transcript(self.scene.control.plane, self.scene.where, self.scene.invocation)

    async def submit(self, text: str, *, typed: bool = True, event_id: str = "") -> Outcome:
        """A message to the agent, durable when this returns."""
        header = self.scene.header()
        if event_id:
            header["id"] = event_id
        outcome = await self.scene.judge(PromptSubmitted(**header, text=text, typed=typed))
        self.scene.tell_warnings(outcome)
        self.scene.emit(TurnStarted(invocation=self.scene.invocation, text=text, typed=typed))
        return outcome

    async def go_on(self) -> str:
        """To the end of the run; raises `Trouble`, and whatever cancels it."""
        if self.problem is not None:
            raise self.problem
        loaded = await self._settled()
        for _ in range(MOST_CONTINUATIONS):
            if loaded.items and loaded.items[-1].kind == "assistant":
                # It was cut off between its words and its calls, or it is to go on by itself.
                await self.submit(CONTINUE().text(self.scene.language), typed=False)
                loaded = await self._load()
            text, cut = await self._once(loaded.items)
            if not cut:
                return text
            await self.submit(CONTINUE_CUT().text(self.scene.language), typed=False)
            loaded = await self._load()
        self.scene.tell(STILL_CUT(count=MOST_CONTINUATIONS))
        await self.scene.judge.flush(self.scene.where)
        return ""

    async def _once(self, items: Sequence[Item]) -> tuple[str, bool]:
        choice = self.models.choice()
        model = ControlledModel(
            self.scene,
            choice,
            self.models,
            self.transcript,
            prompt=self.prompt,
            history=items,
            bootstrap=self.bootstrap,
            inline=self.inline,
        )
        try:
            text = await run_agent(self._guard(), model, self.tools)
        except Exception as error:
            raise trouble_of(error, model.endpoint) from error
        finally:
            await self.scene.judge.flush(self.scene.where)
        return text, model.hit_output_limit

    async def _settled(self) -> Loaded:
        loaded = await self._load()
        if not loaded.open_calls:
            return loaded
        guard = self._guard()
        await asyncio.gather(*(guard.settle(call) for call in loaded.open_calls))
        return await self._load()

    async def _load(self) -> Loaded:
        return await self.scene.judge.do(self.transcript.load)

    def _guard(self) -> GuardedTools:
        return GuardedTools(self.scene, {tool.name: tool for tool in self.tools}, self.transcript)
