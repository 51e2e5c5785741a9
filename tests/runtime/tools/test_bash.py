"""`bash`: real commands, in whatever sandbox this machine has."""

import asyncio
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from holdfast.core.settings import Settings, TruncationSettings
from holdfast.policies.truncation import MARK
from holdfast.runtime import sandbox_landlock
from holdfast.runtime.sandbox import detect
from holdfast.runtime.tools.bash_setup import sandbox_of
from tool_bench import Bench, with_bash, with_runtime

pytestmark = pytest.mark.e2e
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="installable: bubblewrap")


def marker():
    return f"32{uuid.uuid4().int % 10**9}.5"


def alive(text):
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if text.encode() in line:
                found.append(line)
    return found


def test_output_errors_and_exit_code_come_back(bench):
    output = bench.call("bash", command="echo out; echo err >&2; exit 3")
    assert output.text == "out\nerr\n[exit code 3]"
    assert (output.exit_code, output.failed) == (3, True)
    assert output.display["sandbox"] == detect().kind
    assert bench.text("bash", command="true") == "[no output]"
    assert not bench.call("bash", command="echo fine").failed


def test_syntax_errors_and_line_numbers_are_the_commands_own(bench):
    assert "line 1: syntax error" in bench.text("bash", command="if then")
    assert "line 2: nothing-like-this: command not found" in bench.text("bash", command="true\nnothing-like-this")


def test_each_call_starts_in_the_working_directory(bench):
    (bench.vault / "sub").mkdir()
    text = bench.text("bash", command="cd sub && pwd")
    assert text.startswith(f"{bench.vault}/sub\n")
    assert "[it ended in sub; the next command starts in the working directory again: give `workdir`]" in text
    assert bench.text("bash", command="pwd") == f"{bench.vault}\n"
    assert bench.text("bash", command="pwd", workdir="sub") == f"{bench.vault}/sub\n"
    assert "does not exist" in bench.failure("bash", command="pwd", workdir="nowhere")
    assert "[it ended in /;" in bench.text("bash", command="cd /")


def test_there_is_no_input_to_wait_for(bench):
    assert bench.text("bash", command="read x; echo got:$x; cat | wc -c") == "got:\n0\n"


def test_the_environment_holds_no_secrets(bench, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "secret")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/x")
    monkeypatch.setenv("WANTED", "yes")
    bench.settings = with_bash(Settings(), pass_env=("WANTED",))
    text = bench.text("bash", command="env")
    assert "secret" not in text
    assert "SSH_AUTH_SOCK" not in text
    assert "WANTED=yes" in text
    assert "PATH=" in text


def test_temporary_files_stay_for_the_session_and_go_with_it(tmp_path):
    bench = Bench(tmp_path)
    bench.call("bash", command='echo kept > "$TMPDIR/note"')
    assert bench.text("bash", command='cat "$TMPDIR/note"') == "kept\n"
    bench.close()
    assert not list((bench.home / "data" / "tmp").iterdir())


# deadlines


def test_a_deadline_ends_everything(bench):
    mark = marker()
    began = time.monotonic()
    output = bench.call("bash", command=f"echo before; setsid sleep {mark} & sleep {mark}", timeout=1)
    assert time.monotonic() - began < 15
    assert output.text.startswith("before\n[stopped after 1 s")
    assert output.failed
    assert alive(mark) == []


def test_the_longest_deadline_is_the_users(bench):
    bench.settings = with_bash(Settings(), max_timeout_seconds=5.0)
    assert "between 1 and 5" in bench.failure("bash", command="true", timeout=6)
    assert bench.text("bash", command="echo x", timeout="5") == "x\n"


def test_what_is_left_running_ends_with_the_command(bench):
    mark = marker()
    began = time.monotonic()
    assert bench.text("bash", command=f"setsid sleep {mark} & echo started") == "started\n"
    assert time.monotonic() - began < 10
    assert alive(mark) == []


def test_cancelling_ends_the_command(bench):
    mark = marker()

    async def go():
        task = asyncio.create_task(bench.acall("bash", command=f"echo x; sleep {mark}"))
        while not alive(mark):
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return alive(mark)

    assert asyncio.run(go()) == []


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("steps", range(8))
def test_cancelling_at_any_moment_leaves_nothing(bench, steps, again):
    mark = marker()

    async def go():
        task = asyncio.create_task(bench.acall("bash", command=f"sleep {mark}"))
        await asyncio.sleep(steps * 0.004)
        task.cancel()
        if again:  # as a turn that is stopped does
            await asyncio.sleep(0)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    handles = len(list(Path("/proc/self/fd").iterdir()))
    asyncio.run(go())
    assert alive(mark) == []
    assert len(list(Path("/proc/self/fd").iterdir())) <= handles


@needs_bubblewrap
def test_nothing_outlives_a_killed_holdfast(tmp_path):
    """Kill -9 of the whole program while a command and a job run."""
    mark = marker()
    code = f"""
import asyncio, sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pathlib import Path
from tool_bench import Bench
bench = Bench(Path({str(tmp_path)!r}))
bench.call("bash", command="setsid sleep {mark}", background=True)
bench.call("bash", command="setsid sleep {mark} & sleep {mark}")
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    end = time.monotonic() + 60
    while len(alive(mark)) < 4 and time.monotonic() < end:
        time.sleep(0.05)
    process.kill()
    process.wait()
    end = time.monotonic() + 10
    while alive(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert alive(mark) == []


# large output


def test_TR7_a_large_output_streams_to_disk_with_head_and_tail(bench):
    output = bench.call("bash", command="seq 1 200000; echo the end >&2; exit 4")
    assert output.text.startswith("1\n2\n3\n")
    assert "the end" in output.text
    assert MARK in output.text
    assert output.text.endswith("[exit code 4]")
    assert len(output.text) < 60_000
    whole = Path(output.full_output).read_text()
    assert whole == "".join(f"{n}\n" for n in range(1, 200001)) + "the end\n"
    assert (output.total_lines, output.total_bytes) == (200001, len(whole))


def test_TR7_the_plane_does_not_cut_it_again(bench):
    from holdfast.policies.truncation import is_cut_already

    output = bench.call("bash", command="seq 1 200000")
    assert is_cut_already(output.text, TruncationSettings())


MEASURE = """
import resource, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from tool_bench import Bench
bench = Bench(Path({folder!r}))
bench.call("bash", command="echo warm")
output = bench.call("bash", command="head -c {size} /dev/zero | tr '\\\\0' 'x' | fold -w 100", timeout=300)
assert output.total_bytes >= {size}, output.text[-500:]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(folder, size):
    folder.mkdir()
    code = MEASURE.format(tests=str(Path(__file__).parents[2]), folder=str(folder), size=size)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


WINDOW = 20 << 10
"""kB: the file's own pages, through which its hash is made, count as ours while they are looked at."""


def test_TR7_a_hundred_megabytes_cost_no_more_memory_than_one(tmp_path):
    small, large = peak(tmp_path / "small", 1 << 20), peak(tmp_path / "large", 100 << 20)
    assert large - small < WINDOW, (small, large)


@pytest.mark.full
def test_TR7_a_gigabyte_costs_no_more_memory_than_a_megabyte(tmp_path):
    small, large = peak(tmp_path / "small", 1 << 20), peak(tmp_path / "large", 1 << 30)
    assert large - small < WINDOW, (small, large)


def test_a_flood_is_stopped(bench):
    bench.settings = with_bash(Settings(), max_output_bytes=4 << 20)
    output = bench.call("bash", command="yes", timeout=60)
    assert "stopped: it wrote more than" in output.text
    assert output.failed
    assert output.display["seconds"] < 30


def test_whoever_watches_sees_it_as_it_comes(bench):
    bench.call("bash", command="echo one; sleep 0.4; echo two")
    assert "".join(bench.said) == "one\ntwo\n"
    assert len(bench.said) == 2


def test_limits_of_the_user_are_kept(tmp_path):
    limits = TruncationSettings(max_lines=10, max_bytes=1000)
    bench = Bench(tmp_path, with_runtime(Settings(), truncation=limits))
    output = bench.call("bash", command="seq 1 11")
    assert MARK in output.text
    assert MARK not in bench.call("bash", command="seq 1 9").text
    bench.close()


def test_an_output_that_is_no_text_comes_through(bench):
    assert bench.text("bash", command="printf '\\xff\\xfe\\n'") == "\ufffd\ufffd\n"


# sandbox


@needs_bubblewrap
def test_PE12_hints_say_what_the_sandbox_had_to_do_with_it(bench):
    assert "[sandbox: only the vault" in bench.text("bash", command="touch /etc/x")
    bench.put("net.py", "import socket; socket.create_connection(('192.0.2.1', 80), 2)")
    text = bench.text("bash", command="python3 net.py")
    assert "this command has no network" in text


@needs_bubblewrap
def test_PE12_the_network_is_for_commands_that_were_seen_to_need_it(bench):
    assert bench.call("bash", command="curl -s http://127.0.0.1:1/").display["network"]
    assert bench.call("bash", command="git fetch 2>&1 || true").display["network"]
    assert not bench.call("bash", command="python3 --version").display["network"]
    bench.settings = with_bash(Settings(), network="off")
    assert not bench.call("bash", command="curl -s http://127.0.0.1:1/").display["network"]
    bench.settings = with_bash(Settings(), network="on")
    assert bench.call("bash", command="true").display["network"]


def test_PE12_the_sandbox_can_be_switched_off_and_says_so(bench):
    bench.settings = with_bash(Settings(), sandbox="off")
    output = bench.call("bash", command="echo hi")
    assert output.display["sandbox"] == "none"
    assert "all your rights" in sandbox_of(bench.context()).describe()


@needs_bubblewrap
def test_PE12_a_file_that_programs_outside_obey_cannot_be_slipped_in(bench):
    bench.put(
        "evil.sh", "mkdir -p .claude .git/hooks; echo '{}' > .claude/settings.json; echo x > .git/hooks/pre-commit\n"
    )
    text = bench.text("bash", command="sh evil.sh")
    assert ".claude/settings.json, .git/hooks/pre-commit may only be changed" in text
    assert not (bench.vault / ".claude/settings.json").exists()
    assert not (bench.vault / ".git/hooks/pre-commit").exists()
    bench.put(".claude/settings.json", "mine")
    bench.text("bash", command="sh evil.sh")
    assert (bench.vault / ".claude/settings.json").read_text() == "mine"


@needs_bubblewrap
def test_PE12_a_command_that_names_the_file_may_write_it(bench):
    assert "put back" not in bench.text(
        "bash", command="mkdir -p .vscode; echo '{}' > .vscode/tasks.json; git init -q ."
    )
    assert (bench.vault / ".vscode/tasks.json").read_text() == "{}\n"
    assert (bench.vault / ".git/config").exists()
    bench.call("bash", command="git config user.name tester")
    assert "tester" in (bench.vault / ".git/config").read_text()


@pytest.fixture
def without_bubblewrap(bench, tmp_path, monkeypatch):
    """A machine that has every program but this one."""
    reason = sandbox_landlock.probe().why if sys.platform.startswith("linux") else "not Linux"
    if reason:
        pytest.skip(f"platform: {reason}")
    programs = tmp_path / "bin"
    programs.mkdir()
    for folder in ("/bin", "/usr/bin"):
        for program in Path(folder).iterdir():
            if program.name != "bwrap" and not (programs / program.name).exists():
                (programs / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))
    assert detect(again=True).kind == "landlock"
    yield bench
    bench.close()
    monkeypatch.undo()
    detect(again=True)


def test_PE12_landlock_takes_over_where_there_is_no_bubblewrap(without_bubblewrap):
    bench = without_bubblewrap
    mark = marker()
    output = bench.call("bash", command='echo in > made.txt; echo t > "$TMPDIR/t"; cat made.txt "$TMPDIR/t"')
    assert output.text == "in\nt\n"
    assert output.display["sandbox"] == "landlock"
    assert "only the vault" in bench.text("bash", command="touch /etc/holdfast-x")
    assert "stopped after 1 s" in bench.text("bash", command=f"setsid sleep {mark} & sleep {mark}", timeout=1)
    end = time.monotonic() + 5
    while alive(mark) and time.monotonic() < end:
        time.sleep(0.02)
    assert alive(mark) == []
    bench.put(".claude/settings.json", "mine")
    bench.put("evil.sh", "echo evil > .claude/settings.json\n")
    assert "as it was before" in bench.text("bash", command="sh evil.sh")
    assert (bench.vault / ".claude/settings.json").read_text() == "mine"


def test_a_command_with_a_nul_or_none_at_all(bench):
    assert "NUL" in bench.failure("bash", command="a\0b")
    assert "missing" in bench.failure("bash", command="")


def test_a_very_long_command_is_explained(bench):
    assert "could not be started" in bench.failure("bash", command="echo " + "x" * (3 << 20))


def test_many_commands_at_once(bench):
    async def go():
        return await asyncio.gather(*(bench.acall("bash", command=f"sleep 0.1; echo {n}") for n in range(12)))

    handles = len(list(Path("/proc/self/fd").iterdir()))
    assert [output.text for output in asyncio.run(go())] == [f"{n}\n" for n in range(12)]
    assert len(list(Path("/proc/self/fd").iterdir())) <= handles + 2
