"""HK3, HK4: every example in the how-to pages about hooks and external tools runs, as it stands there."""

import asyncio
import re
from itertools import count
from pathlib import Path

import pyjson5
import pytest

from holdfast.core.decode import decode
from holdfast.core.settings import Settings, TruncationSettings
from holdfast.core.verdict import NOTHING
from holdfast.external_tools import ExternalTools
from holdfast.plane import Kept, Plane, Surroundings
from holdfast.policies.truncation import Truncation, compose
from holdfast.policies.user_hooks import UserHooks
from holdfast.python_hooks import PythonHooks
from holdfast.store.interface import Session
from holdfast.testing.builders import EventBuilder, session_id
from holdfast.testing.memory_store import MemoryStore

HOW_TO = Path(__file__).resolve().parent.parent / "docs" / "how-to"
build = EventBuilder()


def blocks(page, language):
    """The code blocks of a page with the file each says it is: `# ~/.holdfast/hooks/x.py`."""
    text = (HOW_TO / page).read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n((?:#|//) (\S+)\n.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert found
    assert len(found) == text.count(f"```{language}\n"), "an example that names no file"
    return [(name.rpartition("/")[2], body) for body, name in found]


def config(number, page="hooks.md"):
    settings, problems = decode(Settings, pyjson5.loads(blocks(page, "jsonc")[number][1]))
    assert problems == []
    return settings.runtime


@pytest.fixture
def python_hooks(tmp_path):
    for name, body in blocks("hooks.md", "python"):
        (tmp_path / name).write_text(body, encoding="utf-8")
    hooks = PythonHooks(tmp_path, timeout=20)
    yield hooks
    hooks.close()
    assert hooks.problems == []


def test_HK4_example_temperature_from_the_configuration():
    verdict, _ = UserHooks(config(0).hooks).decide(build.sending(params={"temperature": 1.0}), {})
    assert verdict.model_params == {"temperature": 0.2, "max_tokens": 512}


def test_HK4_example_temperature_in_python(python_hooks):
    assert python_hooks.chat_params({"top_p": 0.9}) == {"top_p": 0.9, "temperature": 0.2}
    assert python_hooks.chat_params({"temperature": 0.0}) == {"temperature": 0.0}


def test_HK4_example_system_text_from_the_configuration():
    verdict, _ = UserHooks(config(1).hooks).decide(build.sending(system="You help."), {})
    assert verdict.system == "You help.\n\nYou must reply in short bullet points."


def test_HK4_example_system_text_in_python(python_hooks):
    assert python_hooks.chat_system("You help.").startswith("You help.\n\nNumbers")


def test_HK4_example_formatted_output_from_the_configuration():
    hooks = UserHooks(config(2).hooks)
    assert hooks.decide(build.calling("read", path="a"), {})[0].rewrite_input == {"path": "a", "limit": 400}
    assert hooks.decide(build.called("read", "text"), {})[0].rewrite_output == "[preview]\ntext\n[read completed]"


def test_HK4_example_formatted_output_in_python(python_hooks):
    assert python_hooks.tool_after("read", "a\nb") == "    1  a\n    2  b"
    assert python_hooks.tool_after("bash", "a\nb") == "a\nb"


class Notes:
    """A judge that remembers what it was shown."""

    name = "permission"
    on_error = "closed"

    def __init__(self):
        self.seen = []

    def decide(self, event, state):
        if event.kind == "tool_calling":
            self.seen.append(dict(event.call.input))
        return NOTHING, state


def test_HK4_what_is_judged_is_what_runs_and_hooks_come_before_the_cut(tmp_path):
    (tmp_path / "a.py").write_text(
        "def tool_before(tool, input): return {**input, 'path': 'other.md'}\n"
        "def tool_after(tool, output): return output + '\\nthe last line'\n"
    )
    store, judge, python = MemoryStore(), Notes(), PythonHooks(tmp_path, timeout=20)
    store.open_session(Session(session_id(), host="holdfast", vault="/vault", started_at=1.0))
    policies = (UserHooks(config(2).hooks), python, judge, Truncation(TruncationSettings(max_lines=10)))
    ids = count(1)
    plane = Plane(
        store,
        lambda: policies,
        Surroundings(
            clock=lambda: 1000.0,
            new_id=lambda: f"id{next(ids)}",
            examine=lambda call, vault: call,
            keep_output=lambda spill, where, vault, at: Kept(f"{vault}/.agent-output/x.txt", spill.size, "abc"),
            compose_output=compose,
            propose_rules=lambda call, outcome: [],
            language=lambda vault: "en",
        ),
    )
    try:
        outcome = plane.handle(build.calling("read", path="a.md"))
        assert judge.seen == [outcome.input] == [{"path": "other.md", "limit": 400}]
        after = plane.handle(build.called("bash", "line\n" * 20))
        assert "the last line" in after.output
        assert after.full_output == "/vault/.agent-output/x.txt"
        assert after.full_output in after.output
    finally:
        python.close()


def test_HK3_the_examples_of_external_tools(tmp_path):
    assert config(0, "external-tools.md").tools.external.enabled
    for name, body in blocks("external-tools.md", "python"):
        (tmp_path / name).write_text(body, encoding="utf-8")
    loaded = ExternalTools(tmp_path).current(enabled=True)
    assert loaded.problems == ()
    tools = {tool.name: tool for tool in loaded.tools}
    assert asyncio.run(tools["hello"].call({"name": "Ada", "times": 2})) == "Hello Ada Hello Ada"
    text = tmp_path / "text.txt"
    text.write_text("one two three")
    assert asyncio.run(tools["count_words"].call({"path": str(text)})) == 3
    assert (tools["hello"].spec.domain, tools["count_words"].spec.domain) == ("mcp", "read")
