"""Commands in the background: looked at, waited for, stopped, and never left behind."""

import asyncio
import time
import uuid
from pathlib import Path

import pytest

from holdfast.core.settings import Settings, TruncationSettings
from holdfast.runtime.tools import all_tools
from holdfast.runtime.tools.bash_jobs import end_session, running_jobs
from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.model_request import ToolUse
from holdfast.testing.script import Script, Turn, Usage
from runtime.stage import Stage, answering, play
from runtime.test_seals import handing_over
from tool_bench import Bench, with_bash, with_runtime

pytestmark = pytest.mark.e2e


def alive(text):
    return [
        folder.name for folder in Path("/proc").iterdir() if folder.name.isdigit() and text.encode() in _cmdline(folder)
    ]


def _cmdline(folder):
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:
        return b""


def marker():
    return f"33{uuid.uuid4().int % 10**9}.5"


def test_a_job_is_started_looked_at_and_stopped(bench):
    mark = marker()
    first = bench.call("bash", command=f"echo one; sleep 0.6; echo two; sleep {mark}", background=True)
    assert first.text.startswith("[job-1: running")
    assert first.exit_code is None
    end = time.monotonic() + 20
    seen = first.text
    while "two" not in seen and time.monotonic() < end:
        seen += bench.text("bash_output", job="job-1", wait=1)
    assert seen.count("one") == seen.count("two") == 1
    assert "[nothing new]" in bench.text("bash_output", job="job-1")
    stopped = bench.call("bash_stop", job="job-1")
    assert "ended with exit code" in stopped.text
    assert not stopped.failed
    assert alive(mark) == []
    assert "ended with exit code" in bench.text("bash_output", job="job-1")


def test_a_job_that_fails_at_once_says_so(bench):
    output = bench.call("bash", command="echo no >&2; exit 5", background=True)
    assert "[job-1: ended with exit code 5" in output.text
    assert "no\n" in output.text
    assert (output.exit_code, output.failed) == (5, True)


def test_the_full_output_is_kept(bench):
    text = bench.text("bash", command="sleep 0.5; seq 1 50000", background=True)
    text += bench.text("bash_output", job="job-1", wait=20)
    path = text.partition("full output: ")[2].partition("]")[0]
    assert Path(path).read_text() == "".join(f"{n}\n" for n in range(1, 50001))
    assert "50000" in text
    assert "bytes before this are not shown" in text
    assert len(text) < 60_000


def test_news_stay_within_the_limits(tmp_path):
    bench = Bench(tmp_path, with_runtime(Settings(), truncation=TruncationSettings(max_lines=20, max_bytes=2000)))
    bench.call("bash", command="seq 1 1000; sleep 5", background=True)
    time.sleep(0.5)
    text = bench.text("bash_output", job="job-1")
    assert len(text.encode()) <= 2000
    assert text.count("\n") <= 20
    bench.close()


def test_an_unknown_job_is_named(bench):
    assert "the jobs of this session: none" in bench.failure("bash_output", job="job-9")
    assert "no job" in bench.failure("bash_stop", job="job-9")


def test_jobs_end_with_the_session(tmp_path):
    bench = Bench(tmp_path)
    mark = marker()
    for _ in range(2):
        bench.call("bash", command=f"setsid sleep {mark} & sleep {mark}", background=True)
    assert len(list(running_jobs(bench.memory))) == 2
    assert end_session(bench.context()) == 2
    assert alive(mark) == []
    assert end_session(bench.context()) == 0


def test_jobs_outlive_the_turn_that_started_them(bench):
    """Each turn has an event loop of its own; a job belongs to the session."""
    mark = marker()
    asyncio.run(bench.acall("bash", command=f"sleep {mark}", background=True))
    time.sleep(0.5)
    assert "running" in asyncio.run(bench.acall("bash_output", job="job-1")).text
    assert alive(mark)
    bench.call("bash_stop", job="job-1")


def test_there_is_a_bound_on_jobs(bench):
    for _ in range(16):
        bench.call("bash", command="sleep 60", background=True)
    assert "16 jobs are running already" in bench.failure("bash", command="sleep 60", background=True)
    bench.call("bash_stop", job="job-3")
    assert "job-17" in bench.text("bash", command="sleep 60", background=True)


def test_a_flooding_job_is_stopped(bench):
    bench.settings = with_bash(Settings(), max_output_bytes=2 << 20)
    bench.call("bash", command="yes", background=True)
    text = bench.text("bash_output", job="job-1", wait=30)
    assert "stopped: it wrote more than" in text


def test_a_job_without_a_place_to_keep_its_output_still_works(bench):
    bench.put(".agent-output", "a file where the folder should be")
    (bench.home / "data").mkdir()
    (bench.home / "data" / "outputs").write_text("also a file")
    text = bench.text("bash", command="echo hello", background=True)
    text += bench.text("bash_output", job="job-1", wait=5)
    assert "hello" in text
    assert "full output" not in text


@pytest.mark.parametrize("how", ["closed", "sealed"])
def test_SC3_a_conversation_ends_its_jobs_and_says_so(tmp_path, how):
    mark = marker()
    start = {"command": f"sleep {mark}", "background": True}
    said = Turn("started", usage=Usage(input_tokens=9_800 if how == "sealed" else 100))
    script = Script(Turn(tool_calls=(ToolUse("bash", start),)), said, "in the next session")
    with ChatCompletionsServer(script) as server:

        async def whole():
            inline = handing_over(server)
            async with Stage(tmp_path, inline, tools=all_tools("desktop")) as stage:
                stage.on_event = answering(lambda: stage, "once")
                assert (await stage.conversation.send("start it")).text == "started"
                assert alive(mark)
                if how == "sealed":
                    await stage.conversation.send("and now?")
                    assert stage.conversation.session.number == 2
                else:
                    await stage.conversation.close()
                assert alive(mark) == []
                assert f"sleep {mark}" in stage.of("notice")[-1].text

        play(whole)
        if how == "sealed":
            assert f"in the background: sleep {mark}" in server.requests[-1].system
