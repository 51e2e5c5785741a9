"""The terminal as a person has it: a real tmux pane, real keys, captured screens."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.terminal_place import PROGRAM, PROMPT, chat, configure, environment, make_place, wait_for_prompt
from e2e.tmux_screen import Screen

pytestmark = pytest.mark.e2e


@pytest.fixture
def place(tmp_path):
    return make_place(tmp_path)


def test_UI3_the_prompt_stands_there_before_the_heavy_libraries_are_loaded(place):
    with chat(place) as screen:
        assert "model offline" in screen.wait_for(PROMPT)
        assert PROMPT in screen.wait_for(" loading offline"), "the bar says that the rest is still being loaded"
        screen.enter("read README.md")
        shown = screen.wait_for("It says hello.", times=2)
        assert "● read README.md" in shown
        bar = screen.wait_for(" s ago")
        assert re.search(r"context [▓░]+ \d+% / 32\.8k, \d+ s ago", bar)


def test_UI3_a_question_shows_the_command_and_the_exact_rule_and_takes_one_key(place):
    with chat(place) as screen:
        screen.wait_for(PROMPT)
        screen.enter("run `echo one`")
        card = screen.wait_for("[d]eny")
        assert "bash needs your approval" in card
        assert "echo one" in card
        assert "always writes  bash allow shell:echo *" in card
        screen.press("x")  # no answer
        screen.press("a")
        screen.wait_for("● bash echo one")
        screen.wait_for("ended. Its output")
        assert "shell:echo *" in (place / "home" / "config.jsonc").read_text()
        screen.enter("run `echo two`")
        screen.wait_for("● bash echo two")
        assert screen.text().count("needs your approval") == 1


def test_UI3_a_denial_carries_the_persons_words_to_the_agent(place):
    with chat(place) as screen:
        screen.wait_for(PROMPT)
        screen.enter("run `touch made`")
        screen.wait_for("[d]eny")
        screen.press("d")
        screen.wait_for("A word to the agent")
        screen.enter("use the write tool")
        shown = screen.wait_for("I was not allowed")
        assert shown.count("use the write tool") >= 2
        assert not (place / "vault" / "made").exists()


def test_UI3_ctrl_c_once_stops_the_turn_twice_quits_and_nothing_is_lost(place):
    configure(place, permission={"rules": [{"domain": "bash", "pattern": "shell:sleep *", "decision": "allow"}]})
    with chat(place) as screen:
        screen.wait_for(PROMPT)
        screen.enter("run `sleep 300`")
        screen.wait_for("● bash sleep 300")
        screen.press("C-c")
        screen.wait_for("stopping")
        screen.wait_for("stopped")
        wait_for_prompt(screen)
        screen.enter("list files")
        screen.wait_for("entries in this folder")
        wait_for_prompt(screen)
        screen.press("C-c")
        screen.wait_for("Ctrl-C again")
        bye = screen.press_until("C-c", "[exit 0]")
        thread = re.search(r"holdfast chat --thread (\w+)", bye)[1]
    with chat(place, "--thread", thread) as screen:
        screen.wait_for(PROMPT)
        screen.enter("/sessions")
        assert "run `sleep 300`" in screen.wait_for(f"* {thread}")


def test_UI3_ctrl_c_stops_a_command_that_was_allowed_in_the_same_turn(place):
    with chat(place) as screen:
        screen.wait_for(PROMPT)
        screen.enter("run `sleep 300`")
        screen.wait_for("[d]eny")
        screen.press("o")
        screen.wait_for("● bash sleep 300")
        screen.press("C-c")
        screen.wait_for("stopped")
        wait_for_prompt(screen)


def test_UI3_a_run_that_waits_is_taken_up_in_another_process(place):
    with chat(place) as screen:
        screen.wait_for(PROMPT)
        screen.enter("run `echo waited`")
        screen.wait_for("[d]eny")
    # the terminal is gone, with the question open
    with chat(place, "--resume") as screen:
        screen.wait_for(PROMPT)
        screen.enter("/resume")
        card = screen.wait_for("[d]eny")
        assert "echo waited" in card
        screen.press("o")
        screen.wait_for("ended. Its output")


def test_UI3_a_question_answered_elsewhere_disappears(place):
    with chat(place) as screen:
        screen.wait_for(PROMPT)
        screen.enter("run `echo elsewhere`")
        screen.wait_for("[d]eny")
        answered = subprocess.run(
            [sys.executable, "-c", _ANSWER, str(place / "home")], capture_output=True, text=True, timeout=60, check=True
        )
        assert answered.stdout == "once\n"
        screen.wait_for("decided elsewhere: once by phone")
        screen.wait_for("ended. Its output")


_ANSWER = """
import sys
from pathlib import Path
from holdfast.control import Control
from holdfast.store.home import Home
control = Control.open(Home(Path(sys.argv[1])))
(approval,) = control.approvals.pending()
print(control.approvals.answer(approval.id, "once", by="phone").approval.answer)
control.close()
"""


def test_MO1_full_access_is_confirmed_once_and_has_a_standing_banner(place):
    with chat(place) as screen:
        screen.wait_for(PROMPT)
        screen.enter("/mode full")
        screen.wait_for("[y]es")
        screen.press("n")
        screen.wait_for("[n]o n")
        screen.enter("/mode")
        assert "mode: agent" in screen.wait_for("mode: ")
        screen.enter("/mode full")
        screen.wait_for("[y]es", times=2)
        screen.press("y")
        screen.wait_for(" FULL ACCESS  offline")
        screen.enter("run `echo unasked`")
        screen.wait_for("ended. Its output")
        screen.wait_for(" FULL ACCESS  offline")
        assert "needs your approval" not in screen.text()


def test_DL2_a_loop_is_shown_and_stopped(place):
    with chat(place) as screen:
        screen.wait_for(PROMPT)
        screen.enter("keep reading notes.txt until it says done")
        card = screen.wait_for("[d]eny")
        assert "times in a row" in card
        assert "for this session only" in card
        screen.press("d")
        screen.wait_for("A word to the agent")
        screen.press("Enter")
        screen.wait_for("I stopped reading")


def test_UI3_commands(place):
    (place / "home" / "agents").mkdir(parents=True, mode=0o700)
    (place / "home").chmod(0o700)
    (place / "home" / "agents" / "brief.md").write_text("---\nname: Brief\n---\nBe brief.\n")
    with chat(place) as screen:
        screen.wait_for(PROMPT)
        screen.enter("/help")
        assert "/compact" in screen.wait_for("/quit")
        screen.enter("/model")
        assert "window 32768, key not needed" in screen.wait_for("model: offline")
        screen.enter("/model gpt-5.1")
        screen.wait_for("key OPENAI_API_KEY: not found anywhere")
        screen.enter("/model default")
        screen.wait_for("model: offline", times=2)
        screen.enter("/agent brief")
        screen.wait_for("agent: brief")
        screen.enter("/compact")
        screen.wait_for("nothing to compact")
        screen.enter("/resume")
        screen.wait_for("nothing to resume")
        screen.enter("write a file made.txt with some text")
        screen.wait_for("Wrote")
        screen.enter("/undo")
        screen.wait_for("Undid write: ")
        assert not (place / "vault" / "made.txt").exists()
        screen.enter("/dance")
        screen.wait_for("no command /dance")
        screen.enter("/quit")
        screen.wait_for("[exit 0]")


def test_UI3_the_terminal_speaks_chinese_too(place):
    configure(place, language="zh")
    with chat(place) as screen:
        screen.wait_for(PROMPT)
        screen.enter("读取 README.md")
        assert "共 3 行" in screen.wait_for("开头是")
        screen.enter("运行 `echo 你好`")
        card = screen.wait_for("[d] 拒绝")
        assert "需要你的批准" in card
        screen.press("o")
        screen.wait_for("已结束，输出")


def test_UI3_the_tour_shows_everything_and_leaves_nothing_behind(place):
    told = holdfast(place, "tour", "--fast").stdout
    assert "bash needs your approval" in told
    assert "truncated; whole output: " in told
    assert "times in a row" in told
    assert re.search(r"Compacted from about \d+ to \d+ tokens", told)
    assert re.search(r"\d+ entries, all as they were written", told)
    workspace = re.search(r"throw-away directory \((.*?)\)", told)[1]
    assert not Path(workspace).exists()
    assert not (place / "home" / "data" / "holdfast.db").exists()


def test_UI3_the_tour_waits_for_the_person(place):
    with Screen([*PROGRAM, "tour"], cwd=place / "vault", env=environment(place), height=60) as screen:
        for number in range(1, 6):
            screen.wait_for("[Enter] goes on", times=number)
            screen.press("Enter")
            if number in (1, 3):
                screen.wait_for("[d]eny", times=1 if number == 1 else 2)
                screen.press("o" if number == 1 else "d")
        screen.wait_for("all as they were written")
        screen.wait_for("[exit 0]")


def holdfast(place, *words, stdin="", code=0, timeout=120):
    done = subprocess.run(
        [*PROGRAM, *words],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=place / "vault",
        env=environment(place),
        check=False,
    )
    assert done.returncode == code, done
    return done


def test_UI3_chat_without_a_terminal_reads_lines_and_ends_cleanly(place):
    assert holdfast(place, "chat").stdout == ""
    done = holdfast(place, "chat", stdin="read notes.txt\n\nrun `touch made`\n")
    assert "alpha" in done.stdout
    assert "Nobody can be asked" in done.stdout
    assert not (place / "vault" / "made").exists()


def test_UI3_run_is_made_for_scripts(place):
    done = holdfast(place, "run", "read notes.txt")
    assert "alpha" in done.stdout
    assert "* read notes.txt" in done.stderr
    events = [json.loads(line) for line in holdfast(place, "run", "--json", "read notes.txt").stdout.splitlines()]
    assert events[0]["kind"] == "turn_started"
    assert (events[-1]["kind"], events[-1]["reason"]) == ("turn_ended", "done")
    assert "alpha" in holdfast(place, "run", "-", stdin="read notes.txt").stdout
    holdfast(place, "run", code=2)


def test_PE9_run_denies_what_it_cannot_ask_and_says_so_by_its_exit_code(place):
    done = holdfast(place, "run", "--deny-asks", "run `touch made`", code=6)
    assert "Nobody can be asked" in done.stderr
    assert not (place / "vault" / "made").exists()


def test_PE8_yes_safe_lets_pass_what_is_proven_to_change_nothing(place):
    assert "notes.txt" in holdfast(place, "run", "--yes-safe", "--park", "run `ls`").stdout
    holdfast(place, "run", "--yes-safe", "--park", "run `touch made`", code=7)
    assert not (place / "vault" / "made").exists()


def test_PE8_yes_safe_needs_nobody_there_and_hands_out_no_secret(place):
    (place / "vault" / ".env").write_text("KEY=hushhush\n")
    (place / "outside.txt").write_text("not of this project\n")
    assert "notes.txt" in holdfast(place, "run", "--yes-safe", "run `ls -la`").stdout
    for command in ("touch made", "cat .env", "cat ../outside.txt"):
        done = holdfast(place, "run", "--yes-safe", f"run `{command}`", code=6)
        assert "Nobody can be asked" in done.stderr
        assert "hushhush" not in done.stdout
        assert "not of this" not in done.stdout
    assert not (place / "vault" / "made").exists()


def test_PE6_a_parked_run_is_resumed_with_its_question(place):
    holdfast(place, "run", "--park", "run `touch made`", code=7)
    holdfast(place, "run", "--park", "--resume", code=7)
    subprocess.run(
        [sys.executable, "-c", _ANSWER, str(place / "home")], timeout=60, check=True, stdout=subprocess.DEVNULL
    )
    holdfast(place, "run", "--resume")
    assert (place / "vault" / "made").exists()


def test_UI3_an_interrupted_run_says_so_by_its_exit_code(place):
    configure(place, permission={"rules": [{"domain": "bash", "pattern": "shell:sleep *", "decision": "allow"}]})
    process = subprocess.Popen(
        [*PROGRAM, "run", "run `sleep 300`"],
        cwd=place / "vault",
        env=environment(place),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        for line in process.stderr:
            if "sleep 300" in line:
                break
        process.send_signal(2)
        assert process.wait(timeout=30) == 130
    finally:
        process.kill()
        process.communicate()


_HELP = """
import sys
sys.argv = ["holdfast", "--help"]
from holdfast.doors.cli import main
try:
    main()
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""


def test_UI3_help_loads_none_of_the_heavy_libraries():
    done = subprocess.run([sys.executable, "-c", _HELP], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(done.stderr.split())
    assert "holdfast.doors.cli" in loaded
    assert loaded.isdisjoint({"agents", "openai", "pydantic", "prompt_toolkit", "rich", "holdfast.runtime.runner"})
