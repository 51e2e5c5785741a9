"""The offline model's steps, played against results that a test makes up."""

import json

from holdfast.core.history import Item
from holdfast.runtime.marks import DENIED, FAILED
from holdfast.runtime.offline_hands import Hands
from holdfast.runtime.offline_mind import next_step

PLAN_FIELDS = {"title": {}, "status": {"enum": ["pending"]}}
TOOLS = {
    "read": {"path": {}, "limit": {}},
    "ls": {"path": {}},
    "grep": {"pattern": {}, "path": {}},
    "write": {"path": {}, "content": {}},
    "edit": {"path": {}, "old_string": {}, "new_string": {}},
    "bash": {"command": {}},
    "task": {"prompt": {}, "description": {}},
    "manage_plan": {"steps": {"type": "array", "items": {"type": "object", "properties": PLAN_FIELDS}}},
}


def play(request, *outputs, tools=TOOLS):
    """The calls that are made while the tools answer so, and the last words."""
    history = [Item("user", request)]
    calls = []
    for number, output in enumerate([*outputs, None]):
        reply = next_step(history, Hands(tools))
        if not reply.calls:
            assert output is None, f"finished before {output!r} was used"
            return calls, reply.text
        (call,) = reply.calls
        calls.append((call.tool, dict(call.input)))
        assert output is not None, f"asks for more: {call}"
        arguments = json.dumps(dict(call.input))
        history += [Item("call", arguments, f"c{number}", call.tool), Item("result", output, f"c{number}")]
    raise AssertionError("unreachable")


def test_OP1_reading_a_file():
    calls, words = play("read README.md", "# Title\ntext\n")
    assert calls == [("read", {"path": "README.md"})]
    assert "2 lines" in words
    assert "# Title" in words


def test_OP1_summarising_a_folder_takes_several_steps():
    calls, words = play(
        "summarise this folder", "README.md\nsrc/\npyproject.toml\n", "# Holdfast\n", "[project]\nname = 1\n"
    )
    assert [tool for tool, _ in calls] == ["ls", "read", "read"]
    assert calls[1][1]["path"] == "README.md"
    assert "3 entries" in words
    assert "Holdfast" in words
    assert "offline model" in words


def test_OP1_tests_are_started_the_way_the_project_does():
    calls, words = play("run the tests", "Makefile\nsrc/\n", "3 passed\n")
    assert calls[-1] == ("bash", {"command": "make test"})
    assert "3 passed" in words
    assert "no tests" in play("run the tests", "a.txt\n")[1]


def test_OP1_a_file_is_read_before_it_is_changed():
    calls, words = play("replace foo with bar in a.txt", "foo\n", "ok")
    assert calls == [("read", {"path": "a.txt"}), ("edit", {"path": "a.txt", "old_string": "foo", "new_string": "bar"})]
    assert words == "Changed `a.txt`."


def test_OP1_several_requests_one_after_the_other():
    calls, words = play("write a file a.txt with hi then read a.txt", "ok", "hi\n")
    assert [tool for tool, _ in calls] == ["write", "read"]
    assert "Wrote `a.txt`" in words
    assert "has one line" in words


def test_OP1_a_plan_takes_the_form_of_the_tool():
    calls, words = play("make a plan to add login", "ok")
    assert calls[0][1]["steps"][0] == {"title": "Look at what is there", "status": "pending"}
    assert "add login" in words
    assert play("make a plan", tools={})[0] == []


def test_OP1_a_refusal_is_passed_on_in_its_own_words():
    _, words = play("run `rm -rf build`", f"{DENIED}no, thank you")
    assert "not allowed" in words
    assert "no, thank you" in words
    _, words = play("读取 a.txt", f"{FAILED}没有这个文件")
    assert "未能完成" in words
    assert "没有这个文件" in words


def test_OP1_a_missing_tool_is_named():
    _, words = play("run `ls`", tools={})
    assert "`bash`" in words


def test_OP1_watching_ends_with_the_word_or_with_a_refusal():
    calls, words = play("keep reading s.txt until it says done", "no", "no", "DONE\n")
    assert len(calls) == 3
    assert "now holds" in words
    _, words = play("keep reading s.txt until it says done", "no", f"{DENIED}a loop")
    assert "a loop" in words


def test_OP1_a_second_message_before_the_answer_is_carried_out_too():
    history = [
        Item("user", "read a.txt"),
        Item("call", "{}", "c1", "read"),
        Item("result", "x\n", "c1"),
        Item("user", "list files"),
    ]
    reply = next_step(history, Hands(TOOLS))
    assert reply.calls[0].tool == "ls"


def test_OP1_it_says_what_it_is():
    assert "offline model" in play("help")[1]
    assert "离线模型" in play("你是谁")[1]
    assert "offline model" in play("prove Fermat's last theorem")[1]
