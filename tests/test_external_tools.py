"""HK3: tools of the user's own: when they are loaded, how they are judged, and what happens to a broken one."""

import asyncio

import pytest

from holdfast.core.targets import Vault
from holdfast.core.tools import NEUTRAL_TOOLS
from holdfast.examine import Examiner
from holdfast.external_tools import ExternalTools, Loaded, external_tool
from holdfast.testing.builders import EventBuilder

HELLO = '''
def hello(name: str, times: int = 1) -> str:
    """Say hello to somebody."""
    return f"Hello {name}" * times

tools = [hello]
'''


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for name, source in files.items():
            (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        return ExternalTools(tmp_path, reserved=NEUTRAL_TOOLS)

    return write


def current(tools):
    return tools.current(enabled=True)


def only(loaded: Loaded):
    assert loaded.problems == ()
    (tool,) = loaded.tools
    return tool


def call(tool, **arguments):
    return asyncio.run(tool.call(arguments))


def test_HK3_a_function_in_tools_is_a_tool(folder):
    tool = only(current(folder(a=HELLO)))
    assert (tool.name, tool.description) == ("hello", "Say hello to somebody.")
    assert tool.parameters == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "times": {"type": "integer", "default": 1}},
        "required": ["name"],
        "additionalProperties": False,
    }
    assert call(tool, name="Ada", times=2) == "Hello AdaHello Ada"


def test_HK3_create_tools_and_tools_both_count(folder):
    source = "async def one(): return '1'\ndef two(): return {'n': 2}\ntools = (one,)\n"
    loaded = current(folder(a=source + "def create_tools(): return [two]"))
    assert [(tool.name, call(tool)) for tool in loaded.tools] == [("one", "1"), ("two", {"n": 2})]


def test_HK3_a_tool_object_of_the_agent_library_is_taken_as_it_is(folder):
    source = """
class Native:
    name = "native"
    description = "From a library."
    params_json_schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    async def on_invoke_tool(self, context, arguments):
        return [context, arguments]

tools = [Native()]
"""
    tool = only(current(folder(a=source)))
    assert tool.parameters["properties"] == {"x": {"type": "integer"}}
    assert asyncio.run(tool.call({"x": 1}, context="ctx")) == ["ctx", '{"x": 1}']


@pytest.mark.parametrize(
    ("enabled", "profile", "code"),
    [(False, "desktop", "external_tools.off"), (True, "mobile", "external_tools.mobile")],
)
def test_HK3_off_until_switched_on_and_never_on_mobile(folder, tmp_path, enabled, profile, code):
    ran = tmp_path / "ran"
    tools = folder(a=f"open({str(ran)!r}, 'w').close()\ntools = []")
    loaded = tools.current(enabled=enabled, profile=profile)
    assert loaded.tools == ()
    assert loaded.off.code == code
    assert not ran.exists(), "a file was run although external tools are off"
    assert current(tools).off is None
    assert ran.exists()


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("tools = [\n", 1, "SyntaxError"),
        ("x = 1\nraise ValueError('no key')\n", 2, "ValueError: no key"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
        ("def helper():\n    return 1 / 0\nhelper()\n", 2, "ZeroDivisionError"),
        ("x = 1\n", None, "neither `tools` nor `create_tools()`"),
        ("tools = {'a': 1}\n", None, "must be a list"),
        ("def create_tools():\n    return None\n", None, "must be a list"),
        ("tools = [7]\n", None, "7 is no tool"),
        ("\ndef f(x: set): pass\ntools = [f]\n", 2, "which JSON cannot carry"),
        ("\n\ndef f(*args): pass\ntools = [f]\n", 3, "cannot be given by name"),
        ("tools = [lambda: 1]\n", 1, "no name for a tool"),
        ("def read(path: str): pass\ntools = [read]\n", 1, "'read' is the name of a built-in tool"),
        ("from holdfast.external_tools import external_tool\n"
         "@external_tool(domain='read', reads=('file',))\ndef f(path: str): pass\ntools = [f]\n",
         2, "no parameter of that name"),
        ("from holdfast.external_tools import external_tool\n@external_tool(reads='path')\ndef f(path: str): pass\n",
         2, "must be a tuple"),
    ],
)  # fmt: skip
def test_HK3_a_broken_file_is_named_with_its_line_and_skipped(folder, tmp_path, source, line, words):
    loaded = current(folder(bad=source, good=HELLO))
    assert [tool.name for tool in loaded.tools] == ["hello"]
    (problem,) = loaded.problems
    assert (problem.file, problem.line) == (str(tmp_path / "bad.py"), line)
    assert words in str(problem)
    assert "bad.py" in problem.message.text("zh")


def test_HK3_one_bad_tool_does_not_take_its_neighbours_along(folder):
    loaded = current(folder(a="def good(): pass\ndef bad(x: complex): pass\ntools = [bad, good]"))
    assert [tool.name for tool in loaded.tools] == ["good"]
    assert loaded.problems[0].line == 2


def test_HK3_a_name_is_given_once(folder):
    loaded = current(folder(a=HELLO, b=HELLO))
    assert [tool.name for tool in loaded.tools] == ["hello"]
    assert "defined in a.py already" in str(loaded.problems[0])


def test_HK3_a_file_that_hangs_while_loading_is_left_out(folder, tmp_path):
    release = tmp_path / "release"
    folder(a=f"import os, time\nwhile not os.path.exists({str(release)!r}): time.sleep(0.05)\ntools = []", b=HELLO)
    loaded = current(ExternalTools(tmp_path, load_seconds=0.5))
    release.touch()
    assert [tool.name for tool in loaded.tools] == ["hello"]
    assert "did not finish loading within 0.5 s" in str(loaded.problems[0])


def test_HK3_an_edited_file_is_picked_up_by_the_next_run(folder, tmp_path):
    tools = folder(a=HELLO)
    first = current(tools)
    assert current(tools).tools[0] is first.tools[0], "an unchanged file is not run again"
    (tmp_path / "a.py").write_text(HELLO.replace("Hello {", "Good day, {"))
    assert call(only(current(tools)), name="Ada") == "Good day, Ada"
    (tmp_path / "a.py").write_text("def hello(:")
    assert current(tools).problems[0].line == 1
    (tmp_path / "a.py").unlink()
    assert current(tools) == Loaded()
    folder(b=HELLO, _helper="raise RuntimeError('not a tool file')")
    assert only(current(tools)).name == "hello"


def test_HK3_a_wrong_call_says_what_the_tool_takes(folder):
    tool = only(current(folder(a=HELLO)))
    with pytest.raises(ValueError, match="missing a required argument: 'name'; its parameters are: name, times"):
        call(tool)
    with pytest.raises(ValueError, match="unexpected keyword argument"):
        call(tool, name="x", volume=11)


def test_HK3_types_become_a_schema(folder):
    source = """
from typing import Annotated, Any, Literal
def f(a: list[str], b: dict[str, int], c: Literal["x", "y"], d: float | None = None,
      e: Annotated[bool, "whether"] = False, g=object(), h: Any = 3): pass
tools = [f]
"""
    properties = only(current(folder(a=source))).parameters["properties"]
    assert properties == {
        "a": {"type": "array", "items": {"type": "string"}},
        "b": {"type": "object"},
        "c": {"enum": ["x", "y"]},
        "d": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
        "e": {"type": "boolean", "description": "whether", "default": False},
        "g": {},
        "h": {"default": 3},
    }


# judged like every other tool


def accesses(tool, **arguments):
    examiner = Examiner(
        vault=Vault("/vault"),
        home="/home/u",
        resolve=lambda path: path,
        read_command=lambda command, cwd: None,
        tools={**NEUTRAL_TOOLS, tool.name: tool.spec},
    )
    call = examiner.examine(EventBuilder().call(tool.name, **arguments))
    return call.domain, [str(access.target) for access in call.accesses]


def test_HK3_an_undeclared_tool_is_judged_as_external(folder):
    tool = only(current(folder(a=HELLO)))
    assert accesses(tool, name="x") == ("mcp", ["mcp:external/hello"])


def test_HK3_a_declared_tool_is_judged_by_its_domain_and_targets(folder):
    source = """
from holdfast.external_tools import external_tool
@external_tool(name="count_words", domain="read", reads=("path",), description="Count.")
def count(path: str) -> int:
    return 0
tools = [count]
"""
    tool = only(current(folder(a=source)))
    assert (tool.name, tool.description) == ("count_words", "Count.")
    assert accesses(tool, path="notes.md") == ("read", ["vault:/notes.md"])
    assert accesses(tool, path="/etc/passwd") == ("read", ["fs:/etc/passwd"])
    assert accesses(tool)[0] == "unknown", "a call that does not name its target is asked about"


def test_HK3_a_function_stays_callable_after_it_was_declared():
    @external_tool(domain="read", reads=("path",))
    def count(path: str) -> int:
        return len(path)

    assert count("abc") == 3
