"""The offline model with the product's own tools, through the command line: requests in, effects on disk (OP1)."""

import json
import subprocess

import pytest

from e2e.terminal_place import PROGRAM, configure, environment, make_place

pytestmark = pytest.mark.e2e

ALLOWED = [
    {"domain": "bash", "pattern": f"shell:{program} *", "decision": "allow"} for program in ("echo", "ls", "make")
]


@pytest.fixture
def place(tmp_path):
    make_place(tmp_path)
    configure(tmp_path, permission={"rules": ALLOWED})
    return tmp_path


def ask(place, request, code=0):
    done = subprocess.run(
        [*PROGRAM, "run", "--json", request],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=place / "vault",
        env=environment(place),
        check=False,
    )
    assert done.returncode == code, done
    events = [json.loads(line) for line in done.stdout.splitlines()]
    tools = [event["tool"] for event in events if event["kind"] == "tool_done"]
    return events[-1]["text"], tools, events


def test_OP1_reading_listing_searching(place):
    words, tools, _ = ask(place, "read notes.txt then list files then search for beta then find files matching *.md")
    assert tools == ["read", "ls", "grep", "glob"]
    for found in ("alpha", "2 entries", "notes.txt:2", "README.md"):
        assert found in words


def test_OP1_writing_changing_moving_deleting(place):
    vault = place / "vault"
    ask(place, "write a file new.txt with hello world")
    assert (vault / "new.txt").read_text() == "hello world\n"
    ask(place, "replace world with there in new.txt then rename new.txt to newer.txt")
    assert (vault / "newer.txt").read_text() == "hello there\n"
    words, tools, _ = ask(place, "delete newer.txt")
    assert tools == ["delete"]
    assert not (vault / "newer.txt").exists()
    assert "trash" in words


def test_OP1_commands_and_tests(place):
    (place / "vault" / "Makefile").write_text("test:\n\t@echo 3 passed\n")
    words, tools, _ = ask(place, "run `echo hi there`")
    assert "hi there" in words
    words, tools, _ = ask(place, "run the tests")
    assert tools == ["ls", "bash"]
    assert "3 passed" in words


def test_OP1_plans_summaries_and_sub_agents(place):
    words, tools, _ = ask(place, "make a plan to paint the fence")
    assert tools == ["manage_plan"]
    assert "1. Look at what is there" in words
    words, tools, _ = ask(place, "summarise this folder")
    assert tools[0] == "ls"
    assert "A small project" in words
    words, tools, events = ask(place, "ask a sub-agent to read notes.txt")
    assert tools == ["read", "task"]
    assert "alpha" in words
    assert {event.get("subagent", "") for event in events if event["kind"] == "tool_done"} == {"", "general"}


def test_OP1_nothing_leaves_this_machine(place):
    words, _, events = ask(place, "fetch http://127.0.0.1:1/secret")
    assert not [event for event in events if event["kind"] == "tool_done" and not event["failed"]]
    assert "127.0.0.1" in words


def test_OP1_chinese_requests(place):
    words, tools, _ = ask(place, "创建文件 新.txt 内容为 你好，世界，然后读取 新.txt")
    assert tools == ["write", "read"]
    assert (place / "vault" / "新.txt").read_text() == "你好，世界\n"
    words, tools, _ = ask(place, "总结这个文件夹")
    assert "离线模型" in words
