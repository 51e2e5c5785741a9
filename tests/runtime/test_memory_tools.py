"""The memory bank's tools in the own runtime, from the agent's proposal to the user's word (MB6, MB10)."""

import asyncio
from pathlib import Path

import pytest

from holdfast.control import Control
from holdfast.core.events import ToolResult
from holdfast.runtime.memory_tools import memory_tools
from holdfast.runtime.tool import ToolContext, ToolFailure
from holdfast.store.home import Home
from holdfast.store.interface import Session
from holdfast.store.memory_layout import lay_out
from holdfast.testing.builders import EventBuilder, session_id


class Agent:
    """Calls the tools as the runtime does: judged, run, reported."""

    def __init__(self, tmp_path: Path) -> None:
        self.vault = tmp_path / "vault"
        self.vault.mkdir()
        lay_out(self.vault, "en")
        self.control = Control.open(Home(tmp_path / "home"))
        self.tools = {tool.name: tool for tool in memory_tools(self.control)}
        self.build = EventBuilder(session_id(), cwd=str(self.vault), start=self.control.clock())
        self.control.store.open_session(Session(session_id(), "holdfast", str(self.vault), started_at=1.0))

    def calls(self, tool, **given):
        call = self.build.call(tool, **given)
        assert self.control.plane.handle(self.build.calling(call)).allowed, "it has no effect outside: never asked"
        context = ToolContext(
            self.vault, self.vault, session_id(), call.id, self.control.settings, self.control.home.root
        )
        output = asyncio.run(self.tools[tool].run(context, given))
        self.control.plane.handle(self.build.called(call, over={"result": ToolResult(output.text)}))
        return output

    def hears(self, text):
        return self.control.plane.handle(self.build.prompt(text))


@pytest.fixture
def agent(tmp_path):
    agent = Agent(tmp_path)
    yield agent
    agent.control.close()


def test_MB6_a_proposal_is_written_when_the_next_message_confirms_it(agent):
    agent.hears("please remember it")
    shown = agent.calls("memory_propose", file="details/progress.md", append="- shipped", why="it is done")
    assert "+- shipped" in shown.display["diff"]
    progress = agent.vault / "memory-bank" / "details" / "progress.md"
    assert "shipped" not in progress.read_text()
    said = agent.hears("mb:write")
    assert progress.read_text().endswith("- shipped\n")
    assert [warning.code for warning in said.warnings] == ["memory_bank.applied"]


def test_MB6_mb_no_leaves_everything_as_it_is(agent):
    agent.calls("memory_propose", file="details/progress.md", append="- shipped", why="it is done")
    assert [warning.code for warning in agent.hears("mb:no").warnings] == ["memory_bank.skipped"]
    assert "shipped" not in (agent.vault / "memory-bank/details/progress.md").read_text()
    assert agent.hears("mb:write").warnings == ()


def test_MB5_what_cannot_be_proposed_is_told_to_the_model(agent):
    with pytest.raises(ToolFailure, match="Markdown only"):
        agent.calls("memory_propose", file="run.sh", content="x", why="y")


def test_MB10_memory_read_clears_a_closed_gate(agent):
    agent.hears("hello")
    agent.control.plane.handle(agent.build.compacted())
    write = agent.build.calling("write", path="src/a.py", content="x")
    assert agent.control.plane.handle(write).decision == "deny"
    assert "# memory-bank/MEMORY.md" in agent.calls("memory_read").text
    again = agent.build.calling("write", path="src/a.py", content="x")
    assert agent.control.plane.handle(again).allowed
