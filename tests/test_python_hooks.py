"""HK4: hooks in Python change what they may, and can neither stop nor hold up a run."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from holdfast.core.events import ToolResult
from holdfast.core.verdict import NOTHING
from holdfast.python_hooks import PythonHooks
from holdfast.testing.builders import EventBuilder

build = EventBuilder()


@pytest.fixture
def hooks(tmp_path):
    made = []

    def make(*, timeout=20.0, **files):
        for name, source in files.items():
            (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        made.append(PythonHooks(tmp_path, timeout=timeout))
        return made[-1]

    yield make
    for each in made:
        each.close()


def text(problems):
    return [str(problem) for problem in problems]


ALL_FOUR = """
def chat_params(params):
    return {**params, "temperature": 0.1}

def chat_system(system):
    return system + "\\nBe brief."

def tool_before(tool, input):
    return {**input, "path": input["path"].lower()} if tool == "read" else None

async def tool_after(tool, output):
    return output.upper()
"""


def test_HK4_the_four_functions(hooks):
    four = hooks(a=ALL_FOUR)
    assert four.chat_params({"top_p": 0.5}) == {"top_p": 0.5, "temperature": 0.1}
    assert four.chat_system("You help.") == "You help.\nBe brief."
    assert four.tool_before("read", {"path": "README"}) == {"path": "readme"}
    assert four.tool_before("bash", {"command": "LS"}) == {"command": "LS"}
    assert four.tool_after("read", "ok 好") == "OK 好"
    assert four.problems == []


def test_HK4_as_a_policy_it_rewrites_before_the_judges(hooks):
    four = hooks(a=ALL_FOUR)
    assert four.decide(build.calling("read", path="A"), {})[0].rewrite_input == {"path": "a"}
    assert four.decide(build.called("read", "x"), {})[0].rewrite_output == "X"
    sent, state = four.decide(build.sending(system="s", params={}), {"kept": 1})
    assert (sent.system, sent.model_params, state) == ("s\nBe brief.", {"temperature": 0.1}, {"kept": 1})
    assert four.decide(build.calling("bash", command="ls"), {}) == (NOTHING, {})
    assert four.decide(build.prompt(), {}) == (NOTHING, {})


@pytest.mark.parametrize(
    "result", [ToolResult(output='{"a": 1}', structured=True), ToolResult(failed=True, error="why")]
)
def test_HK4_after_is_for_texts(hooks, result):
    assert hooks(a=ALL_FOUR).decide(build.called("read", over={"result": result}), {})[0] == NOTHING


def test_HK4_a_hook_is_asked_once_for_one_event(hooks):
    counting = hooks(a="n = 0\ndef tool_before(tool, input):\n    global n\n    n += 1\n    return {'n': n}\n")
    event = build.calling("read")
    assert [counting.decide(event, {})[0].rewrite_input for _ in range(3)] == [{"n": 1}] * 3
    assert counting.decide(build.calling("read"), {})[0].rewrite_input == {"n": 2}


def test_HK4_files_run_in_the_order_of_their_names(hooks):
    ordered = hooks(
        b="def chat_system(s): return s + 'b'",
        a="def chat_system(s): return s + 'a'",
        _shared="def chat_system(s): return 'never'",
        c="import _shared\ndef chat_system(s): return s + 'c'",
    )
    assert ordered.chat_system("") == "abc"


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("def chat_system(system):\n    return 1 / 0\n", 2, "ZeroDivisionError"),
        ("def chat_system(system)\n    pass\n", 1, "SyntaxError"),
        ("import holdfast_no_such_module\n", 1, "ModuleNotFoundError"),
        ("def chat_system(system):\n    raise SystemExit('bye')\n", 2, "SystemExit"),
        ("def chat_system(system):\n    return 7\n", None, "must return a string"),
        ("def chat_system(system):\n    return object()\n", None, "TypeError"),
        ("import os\ndef chat_system(system):\n    os._exit(3)\n", None, "ended the hooks' process"),
        ("import os\nos._exit(3)\n", None, "ended the hooks' process"),
        ("def chat_system(a, b):\n    pass\n", None, "TypeError"),
    ],
)
def test_HK4_a_failing_hook_is_named_and_skipped(hooks, tmp_path, source, line, words):
    failing = hooks(bad=source, good="def chat_system(system): return system + '!'")
    assert failing.chat_system("s") == "s!"
    (problem,) = failing.problems
    assert (problem.file, problem.line) == (str(tmp_path / "bad.py"), line)
    assert words in str(problem)
    assert "bad.py" in problem.message.text("zh")
    assert failing.chat_system("s") == "s!"
    assert len(failing.problems) == 1, "the same thing is told once"


def test_HK4_what_a_hook_prints_is_no_answer(hooks):
    talking = hooks(
        a="import os\ndef chat_system(s):\n    print('{\"id\": 1}')\n    os.system('echo x')\n    return s + '.'\n"
    )
    assert talking.chat_system("s") == "s."
    assert talking.problems == []


def hanging(called):
    """A hook that notes each call and hangs unless a file `fast` stands beside the note."""
    return f"""
import pathlib, time
def chat_system(system):
    with open({str(called)!r}, "a") as note:
        note.write("x")
    while not pathlib.Path({str(called)!r}).with_name("fast").exists():
        time.sleep(0.05)
    return system + "?"
"""


@pytest.mark.slow
def test_HK4_a_slow_hook_is_skipped_at_its_deadline_and_then_left_out(hooks, tmp_path):
    called = tmp_path / "called"
    slow = hooks(slow=hanging(called), very_good="def chat_system(s): return s + '!'", timeout=1.5)
    started = time.monotonic()
    assert slow.chat_system("s") == "s!"
    assert time.monotonic() - started < 15
    assert "took longer than 1.5 s" in text(slow.problems)[0]
    assert slow.chat_system("s") == "s!"
    assert called.read_text() == "x", "it was asked again"


@pytest.mark.slow
def test_HK4_a_hook_that_hangs_while_loading_is_skipped(hooks):
    slow = hooks(a="while True: pass", b="def chat_system(s): return s + '!'", timeout=1.5)
    assert slow.chat_system("s") == "s!"
    assert "took longer" in text(slow.problems)[0]


@pytest.mark.slow
def test_HK4_a_slow_hook_is_tried_again_after_a_pause(tmp_path):
    now = [0.0]
    (tmp_path / "a.py").write_text(hanging(tmp_path / "called"))
    slow = PythonHooks(tmp_path, timeout=1.5, clock=lambda: now[0])
    try:
        assert slow.chat_system("s") == "s"
        (tmp_path / "fast").touch()
        assert slow.chat_system("s") == "s"
        now[0] = 301.0
        assert slow.chat_system("s") == "s?"
    finally:
        slow.close()


def test_HK4_an_edited_file_is_used_by_the_next_call(hooks, tmp_path):
    edited = hooks(a="def chat_system(s): return s + '1'")
    assert edited.chat_system("") == "1"
    (tmp_path / "a.py").write_text("def chat_system(s): return s + '22'")
    assert edited.chat_system("") == "22"
    (tmp_path / "a.py").write_text("def chat_system(s) broken")
    assert edited.chat_system("s") == "s"
    (tmp_path / "a.py").unlink()
    (tmp_path / "b.py").write_text("def chat_system(s): return s + '3'")
    assert edited.chat_system("") == "3"


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ({"temperature": 1, "topP": 0.5, "max_tokens": 9}, {"temperature": 1.0, "top_p": 0.5, "max_tokens": 9}),
        ({"seed": 1}, "unknown key 'seed'"),
        ({"temperature": 9}, "between"),
        ([], "must return an object"),
    ],
)
def test_HK4_chat_params_takes_known_fields_only(hooks, returned, expected):
    own = hooks(a=f"def chat_params(params): return {returned!r}")
    if isinstance(expected, dict):
        assert own.chat_params({}) == expected
    else:
        assert own.chat_params({"top_p": 0.1}) == {"top_p": 0.1}
        assert expected in text(own.problems)[0]


def test_HK4_a_problem_is_told_once_with_the_event(hooks):
    bad = hooks(a="def tool_before(tool, input): raise ValueError('no')")
    verdict, _ = bad.decide(build.calling("read", path="x"), {})
    assert verdict.rewrite_input is None
    assert "ValueError: no" in verdict.warnings[0].text()
    assert bad.decide(build.calling("read", path="x"), {})[0] == NOTHING


def test_HK4_off_or_absent_means_that_nothing_runs(tmp_path):
    ran = tmp_path / "ran"
    (tmp_path / "a.py").write_text(f"open({str(ran)!r}, 'w').close()\ndef chat_system(s): return 'x'")
    assert PythonHooks(tmp_path, enabled=False).chat_system("s") == "s"
    assert PythonHooks(tmp_path / "none").decide(build.calling("read"), {}) == (NOTHING, {})
    assert not ran.exists()


@pytest.mark.slow
def test_HK4_a_call_that_cannot_have_its_turn_goes_on_and_says_so(hooks, tmp_path):
    started = tmp_path / "started"
    each = "import time\ndef chat_system(s):\n    time.sleep(1.2)\n    return s + '!'\n"
    first = f"open({str(started)!r}, 'w').close()\n{each}"
    busy = hooks(a=first, b=each, c=each, d=each, timeout=2.5)
    answers = []
    other = threading.Thread(target=lambda: answers.append(busy.chat_system("s")))
    other.start()
    while not started.exists():
        time.sleep(0.01)
    assert busy.chat_system("mine") == "mine"
    other.join(30)
    assert answers == ["s!!!!"]
    assert "went on without them" in text(busy.problems)[0]


def test_HK4_many_threads_share_the_hooks(hooks):
    shared = hooks(a="def tool_before(tool, input): return {**input, 'seen': True}")
    answers = {}

    def ask(number):
        answers[number] = shared.tool_before("read", {"n": number})

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == {number: {"n": number, "seen": True} for number in range(20)}


def is_alive(pid):
    """Whether a process runs; one that ended but was not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="platform: needs /proc")
def test_HK4_the_process_ends_when_it_is_closed_and_starts_again_when_needed(hooks):
    own = hooks(a="import os\ndef chat_system(s): return str(os.getpid())")
    first = own.chat_system("")
    assert own.chat_system("") == first
    own.close()
    assert not is_alive(first)
    assert own.chat_system("") != first


OWNER = """
import sys
from pathlib import Path
from holdfast.python_hooks import PythonHooks
PythonHooks(Path(sys.argv[1]), timeout=600).chat_system("s")
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="platform: needs /proc")
def test_HK4_a_hook_that_hangs_does_not_outlive_a_killed_owner(tmp_path):
    note = tmp_path / "pid"
    body = f"open({str(note)!r}, 'w').write(str(os.getpid()))\n    time.sleep(600)"
    (tmp_path / "a.py").write_text(f"import os, time\ndef chat_system(s):\n    {body}\n")
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path)])
    deadline = time.monotonic() + 30
    while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    pid = note.read_text()
    assert is_alive(pid)
    owner.kill()
    owner.wait(30)
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(pid)


def test_HK4_a_large_output_is_not_carried_around(hooks):
    upper = hooks(a="def tool_after(tool, output): return output.upper()")
    assert upper.tool_after("bash", "x" * 1_000_000) == "X" * 1_000_000
    assert upper.tool_after("bash", "x" * 5_000_000) == "x" * 5_000_000
