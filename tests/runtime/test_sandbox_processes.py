"""Starting and ending commands, with and without a cgroup of their own."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from holdfast.runtime.sandbox_processes import Running, make_group, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="platform: POSIX only")


def run(command, **options):
    output, end = os.pipe()
    running = start(["/bin/sh", "-c", command], env={"PATH": os.environ["PATH"]}, cwd="/", output=end, **options)
    os.close(end)
    return running, output


def text_of(output):
    with open(output, "rb") as stream:
        return stream.read().decode()


def test_a_command_runs_and_its_code_is_known():
    running, output = run("echo hi; exit 3")
    assert running.wait(10)
    assert running.ended
    assert running.close() == 3
    assert running.close() == 3
    assert text_of(output) == "hi\n"


def test_a_command_that_goes_on_is_ended():
    running, output = run("sleep 60 & sleep 60")
    assert not running.wait(0.2)
    assert not running.ended
    began = time.monotonic()
    assert running.close() == -signal.SIGKILL
    assert time.monotonic() - began < 5
    assert text_of(output) == ""


def test_with_some_grace_it_is_asked_first():
    running, output = run("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    time.sleep(0.5)
    assert running.close(grace=5) == 0
    assert text_of(output).endswith("bye\n")


def test_a_program_that_is_not_there_is_an_error_and_leaves_nothing():
    output, end = os.pipe()
    running = None
    with contextlib.suppress(FileNotFoundError):  # without a cgroup the program is started directly
        running = start(["/nowhere/nothing"], env={}, cwd="/", output=end)
    if running is not None:
        running.wait(10)
        assert running.close() == 127
    os.close(end)
    os.close(output)


def test_commands_survive_the_thread_that_asked_for_them():
    """`--die-with-parent` looks at the thread, so no short-lived thread may be the parent."""
    made = []
    thread = threading.Thread(target=lambda: made.append(run("sleep 0.5; echo alive")))
    thread.start()
    thread.join()
    running, output = made[0]
    assert running.wait(10)
    assert running.close() == 0
    assert text_of(output) == "alive\n"


def test_a_group_bounds_processes_and_is_removed():
    group = make_group(30)
    if group is None:
        pytest.skip("platform: no cgroup can be made here")
    assert (group / "pids.max").read_text().strip() == "30"
    group.rmdir()
    running, output = run("for i in 1 2 3 4 5 6 7 8 9 10; do sleep 60 & done; wait", most_processes=5)
    running.wait(0.5)
    running.close()
    assert "fork" in text_of(output).lower()
    assert not list(group.parent.glob(f"holdfast-{os.getpid()}-*"))


def test_what_left_the_process_group_is_ended_by_the_cgroup():
    if (group := make_group(30)) is None:
        pytest.skip("platform: no cgroup can be made here")
    group.rmdir()
    running, output = run("setsid sleep 60 & echo $!")
    assert running.wait(10)
    running.close()
    pid = int(text_of(output))
    end = time.monotonic() + 5
    while Path(f"/proc/{pid}/status").exists() and time.monotonic() < end:
        if "Z (zombie)" in Path(f"/proc/{pid}/status").read_text():
            break
        time.sleep(0.02)
    else:
        assert not Path(f"/proc/{pid}").exists()


def test_groups_of_the_dead_are_removed_by_the_next(tmp_path):
    group = make_group(30)
    if group is None:
        pytest.skip("platform: no cgroup can be made here")
    abandoned = group.parent / "holdfast-999999999-1"
    abandoned.mkdir(exist_ok=True)
    group.rmdir()
    code = "from holdfast.runtime.sandbox_processes import make_group; make_group(30).rmdir()"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert not abandoned.exists()


def test_an_ended_command_is_never_signalled_again():
    """Its number may belong to somebody else by then."""
    running, output = run("exit 0")
    running.wait(10)
    running.close()
    os.close(output)
    assert isinstance(running, Running)
    victim = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        running.pid = victim.pid
        running.close()
        time.sleep(0.1)
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()
