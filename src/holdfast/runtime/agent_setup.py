"""Who works in a conversation: the chosen agent with its prompt and tools, and the sub-agents it may send (HK2)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from holdfast.control import Control
from holdfast.core.keys import SessionId
from holdfast.core.messages import Phrase
from holdfast.core.settings import ModelParams
from holdfast.prompting import Prompt, begin
from holdfast.runtime.agent_run import AgentRun
from holdfast.runtime.model_shelf import ModelShelf
from holdfast.runtime.scene import Scene
from holdfast.runtime.subagents import BUILT_IN, BUILT_IN_FOR, Spawn, task_tool
from holdfast.runtime.tool import Tool, ToolContext, ToolFailure
from holdfast.runtime.trouble import Trouble
from holdfast.store.agent_files import AgentFile, load_agents

DEEPEST = 3
"""How many sub-agents may stand one below the other."""
NO_AGENT = Phrase(
    "runtime.no_agent",
    "No agent is called {name}, so nothing was asked of a model. Those that can be read: {names}.",
    "没有名为 {name} 的智能体，因此未向模型发送任何内容。可读取的智能体：{names}。",
)
WRITE_AGENT = Phrase(
    "runtime.write_agent",
    "Choose another by `/agent` or by agent.id in the configuration, or write it into {folder}.",
    "请用 `/agent` 或配置中的 agent.id 另选一个，或将其写入 {folder}。",
)


class AgentSetup:
    """Looks the agents' files up anew for every run, so that an edit counts from the next message on."""

    def __init__(
        self,
        control: Control,
        models: ModelShelf,
        tools: Sequence[Tool] | Callable[[], Sequence[Tool]],
        *,
        agent: str = "",
        inline: ModelParams | None = None,
    ) -> None:
        self._control = control
        self._models = models
        self._tools = tools
        self.agent = agent
        """What the user chose for this conversation; empty: what the configuration says."""
        self._inline = inline

    def run(self, scene: Scene, bootstrap: str = "") -> AgentRun:
        """A run of the main agent."""
        agents = load_agents(self._control.home.agents).agents
        wanted = self.agent or self._control.settings.runtime.agent.id
        chosen = agents.get(wanted)
        prompt = self._prompt(chosen.prompt, chosen.params) if chosen is not None else self._prompt()
        own = tuple(self._tools() if callable(self._tools) else self._tools)
        tools = self._with_task(own, scene, agents, DEEPEST)
        problem = self._no_agent(wanted, agents) if wanted and chosen is None else None
        return AgentRun(scene, tools, self._models, prompt, bootstrap, self._inline, problem)

    def _no_agent(self, wanted: str, agents: Mapping[str, AgentFile]) -> Trouble:
        """Whoever chose an agent must never be answered by another one."""
        names = ", ".join(sorted(agents)) or "-"
        return Trouble("own", NO_AGENT(name=wanted, names=names), WRITE_AGENT(folder=self._control.home.agents))

    def _prompt(self, body: str = "", params: ModelParams | None = None) -> Prompt:
        return begin(self._control.settings.runtime.system_prompt, agent_body=body, agent_params=params)

    def _with_task(
        self, own: Sequence[Tool], scene: Scene, agents: Mapping[str, AgentFile], deeper: int
    ) -> tuple[Tool, ...]:
        return (*own, task_tool(self._spawner(scene, agents, own, deeper), _described(agents))) if deeper else (*own,)

    def _spawner(self, scene: Scene, agents: Mapping[str, AgentFile], own: Sequence[Tool], deeper: int) -> Spawn:
        async def spawn(context: ToolContext, name: str, prompt: str) -> str:
            file = agents.get(name)
            told = self._prompt(file.prompt, file.params) if file is not None else self._prompt(BUILT_IN.get(name, ""))
            inner = replace(scene, where=_place_of(scene.where, name, context.call_id), invocation=context.call_id)
            tools = self._with_task(own, inner, agents, deeper - 1)
            return await _to_its_end(AgentRun(inner, tools, self._models, told, "", self._inline), name, prompt)

        return spawn


def _place_of(where: SessionId, name: str, call_id: str) -> SessionId:
    """Of its own for every task: two at once, or one after the other, do not share what they have read (MB10)."""
    return where.of_subagent(f"{name}#{hashlib.sha256(call_id.encode()).hexdigest()[:8]}")


async def _to_its_end(run: AgentRun, name: str, prompt: str) -> str:
    """Begin a sub-agent's run, go on with one that was cut off, or tell again what a finished one said."""
    scene = run.scene
    store, judge = scene.control.store, scene.judge
    note = f"run:{scene.where.session}:{name}:{scene.invocation}"
    known = await judge.do(store.noted, note)
    if isinstance(known, dict):
        return str(known["text"])
    loaded = await judge.do(run.transcript.load)
    if not loaded.items:
        await run.submit(prompt, typed=False)
    try:
        text = await run.go_on()
    except Trouble as trouble:
        raise ToolFailure(f"the sub-agent {name} could not go on: {trouble.why.text()}") from trouble
    await judge.do(store.note, note, {"text": text})
    return text


def _described(agents: Mapping[str, AgentFile]) -> dict[str, str]:
    return {**BUILT_IN_FOR, **{name: file.description for name, file in agents.items()}}
