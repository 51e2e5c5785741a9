"""DL1-DL3: what is a loop, when it is asked about, and what a yes changes."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events import ApprovalAnswered, AssistantReplied, ToolCall
from holdfast.core.settings import DoomLoopSettings
from holdfast.core.verdict import NOTHING
from holdfast.policies.doom_loop import DoomLoop
from holdfast.policies.doom_loop.policy import NO_NEWS
from holdfast.policies.doom_loop.steps import signature
from holdfast.testing.builders import EventBuilder, session_id


class Run:
    """An agent at work under the loop watch."""

    def __init__(self, *, host="holdfast", agent="holdfast", settings=None, **over):
        self.build = EventBuilder(session_id(agent=agent))
        self.policy = DoomLoop(settings)
        self.state = {}
        self.over = over
        self.feed(self.build.started(host=host))

    def feed(self, event):
        before = json.dumps(self.state)
        verdict, after = self.policy.decide(event, self.state)
        assert json.dumps(self.state) == before, "the state was changed in place"
        self.state = json.loads(json.dumps(after))
        return verdict

    def calling(self, tool, *, domain="read", **tool_input):
        self.call = replace(self.build.call(tool, **tool_input), domain=domain)
        return self.feed(self.build.calling(self.call, over=self.over))

    def called(self, output="", **over):
        event = self.build.called(self.call, output, over=self.over, **over)
        return self.feed(event)

    def step(self, tool, output="", *, failed=False, error="", **tool_input):
        """Before and after one call; the verdict that has an opinion."""
        before = self.calling(tool, **tool_input)
        after = self.called(output, failed=failed, error=error)
        return before if before is not NOTHING else after

    def answer(self, answer, policy="doom_loop", call_id=None):
        event = self.build.started()
        return self.feed(
            ApprovalAnswered(
                id="a", at=event.at, where=event.where, invocation=event.invocation, approval="ap",
                call_id=call_id or self.call.id, answer=answer, by="user", policy=policy,
            )
        )  # fmt: skip


def code(verdict):
    return verdict.findings[0].why.code if verdict.findings else None


def decision(verdict):
    return verdict.findings[0].decision if verdict.findings else None


def numbers():
    """Outputs that never repeat."""
    number = 0
    while True:
        number += 1
        yield f"result {number}"


# DL1: the ADR's limits


def test_DL1_the_defaults_are_those_of_the_row():
    limits = DoomLoopSettings()
    assert (limits.max_attempts, limits.max_tool_calls, limits.max_tool_calls_unattended) == (3, 60, 600)
    assert (limits.same_tool_threshold, limits.max_signature_bytes, limits.cooldown_tool_calls) == (5, 8192, 3)


def test_DL1_the_fifth_equal_call_in_a_row_is_asked_before_it_runs():
    run, news = Run(), numbers()
    for _ in range(4):
        assert run.calling("grep", pattern="x", path="src") == NOTHING
        run.called(next(news))
    verdict = run.calling("grep", path="src", pattern="x")  # the order of the keys does not matter
    assert (decision(verdict), code(verdict)) == ("ask", "doom_loop.same_call")


@pytest.mark.parametrize("breaker", [("grep", {"pattern": "y"}), ("read", {"pattern": "x"})])
def test_DL1_another_call_starts_the_count_again(breaker):
    run, news = Run(), numbers()
    for _ in range(4):
        run.step("grep", next(news), pattern="x")
    run.step(breaker[0], next(news), **breaker[1])
    for _ in range(4):
        assert run.calling("grep", pattern="x") == NOTHING
        run.called(next(news))


def test_DL1_equal_calls_of_one_message_count_while_none_has_finished():
    run = Run()
    verdicts = [run.calling("grep", pattern="x") for _ in range(5)]
    assert [decision(verdict) for verdict in verdicts] == [None] * 4 + ["ask"]


@pytest.mark.parametrize(("size", "asked"), [(8192, False), (8193, True)])
def test_DL1_arguments_above_8_KB_are_compared_by_tool_name_only(size, asked):
    run, news = Run(), numbers()
    overhead = len('{"content":""}')
    for number in range(4):
        run.step("write", next(news), content=str(number) * (size - overhead))
    verdict = run.calling("write", content="5" * (size - overhead))
    assert (code(verdict) == "doom_loop.same_call") == asked


def test_DL1_the_limit_of_arguments_counts_bytes():
    call = ToolCall(id="c", tool="write", input={"content": "好" * 3000})
    exact, key = signature(call, 8192)
    assert exact != key


@pytest.mark.parametrize(
    ("host", "agent", "over", "limit"),
    [
        ("holdfast", "holdfast", {}, 60),
        ("holdfast", "holdfast", {"interactive": False}, 600),
        ("claude-code", "claude-code", {}, 600),
        ("holdfast", "codex", {}, 600),
    ],
)
def test_DL1_tool_calls_of_one_run(host, agent, over, limit):
    run, news = Run(host=host, agent=agent, **over), numbers()
    for number in range(limit):
        assert run.step("read", next(news), path=f"f{number}") == NOTHING
    verdict = run.calling("read", path="one more")
    assert code(verdict) == "doom_loop.too_many"
    assert decision(verdict) == ("ask" if over == {} else "deny")


def test_DL1_the_fourth_try_of_a_model_request_is_not_made_unasked():
    run = Run()
    for attempt in (1, 2, 3):
        assert run.feed(run.build.sending(attempt=attempt)) == NOTHING
    assert decision(run.feed(run.build.sending(attempt=4))) == "ask"
    assert decision(run.feed(run.build.sending(attempt=4, interactive=False))) == "deny"


def test_DL1_a_new_message_starts_a_new_run():
    run, news = Run(), numbers()
    for _ in range(4):
        run.step("grep", next(news), pattern="x")
    run.build.invocation = "run-2"
    assert run.calling("grep", pattern="x") == NOTHING
    run.build.invocation = ""
    run.feed(run.build.prompt("again"))
    for _ in range(4):
        assert run.calling("grep", pattern="x") == NOTHING
        run.called(next(news))
    run.feed(run.build.prompt("go on", typed=False))
    assert decision(run.calling("grep", pattern="x")) == "ask"


def test_DL1_a_subagent_is_counted_by_itself():
    run, news = Run(), numbers()
    for _ in range(4):
        run.step("grep", next(news), pattern="x")
    event = run.build.calling("grep", pattern="x")
    copy_of_the_parents = run.state
    verdict, _ = run.policy.decide(replace(event, where=event.where.of_subagent("sub")), copy_of_the_parents)
    assert verdict == NOTHING


def test_DL1_off_means_off():
    run = Run(settings=DoomLoopSettings(enabled=False))
    assert [run.step("grep", "same", pattern="x") for _ in range(20)] == [NOTHING] * 20


# DL2: what a hit does


def loop(run, times=5):
    for number in range(times):
        verdict = run.calling("grep", pattern="x")
        if number < times - 1:
            run.called(f"{number} of {times}")
    return verdict


def test_DL2_a_yes_resets_the_counts_and_starts_the_cool_down():
    run, news = Run(), numbers()
    assert decision(loop(run)) == "ask"
    run.answer("once")
    assert run.called("the approved call's result") == NOTHING
    for _ in range(3 + 4):  # the cool-down, then four that count
        assert run.calling("grep", pattern="x") == NOTHING
        run.called(next(news))
    assert decision(run.calling("grep", pattern="x")) == "ask"


def test_DL2_a_yes_resets_the_number_of_calls_too():
    run, news = Run(settings=DoomLoopSettings(max_tool_calls=10)), numbers()
    for number in range(10):
        run.step("read", next(news), path=str(number))
    assert decision(run.calling("read", path="x")) == "ask"
    run.answer("once")
    for number in range(10):
        assert run.step("read", next(news), path=f"again {number}") == NOTHING
    assert decision(run.calling("read", path="y")) == "ask"


def test_DL2_always_holds_for_the_session_and_is_recorded():
    run = Run()
    loop(run)
    run.answer("always")
    run.build.invocation = "run-2"
    verdict = loop(run, 8)
    verdicts = [run.calling("grep", pattern="x") for _ in range(20)]
    found = [verdict for verdict in [verdict, *verdicts] if verdict.findings]
    assert found
    assert {decision(verdict) for verdict in found} == {"allow"}


def test_DL2_for_a_while_ends_after_half_an_hour():
    run = Run()
    loop(run)
    run.answer("for_a_while")
    run.build.invocation = "run-2"
    assert decision(loop(run)) == "allow"
    run.build.invocation = "run-3"
    run.over = {"at": run.build.started().at + 1801}
    assert decision(loop(run)) == "ask"


def test_DL2_a_no_stops_the_loop_for_the_rest_of_the_run():
    run = Run()
    loop(run)
    run.answer("deny")
    verdict = run.calling("grep", pattern="x")
    assert decision(verdict) == "deny"
    assert verdict.findings[0].next_step.code == "doom_loop.user_stopped"
    assert run.calling("read", path="something else") == NOTHING
    run.build.invocation = "run-2"
    assert decision(loop(run)) == "ask"


@pytest.mark.parametrize("over", [{"interactive": False}, {"mode": "full_access"}])
def test_DL2_without_a_person_or_in_full_access_it_stops_with_a_readable_error(over):
    run = Run(**over)
    finding = loop(run).findings[0]
    assert finding.decision == "deny"
    assert not finding.hard
    assert "grep" in finding.why.text()
    assert "5" in finding.why.text("zh")
    assert "tell the user" in finding.next_step.text()


def test_DL2_a_card_that_also_asks_for_permission_resets_the_counts_but_grants_no_always():
    run = Run()
    loop(run)
    run.answer("always", policy="permission")
    run.called("")
    assert "always" not in run.state
    assert run.state["cooldown"] == 3
    run.answer("once", policy="permission", call_id="another call")
    assert run.state["cooldown"] == 3


def test_DL2_asking_twice_about_one_call_counts_once():
    run = Run()
    event = run.build.calling("grep", pattern="x")
    for _ in range(10):
        assert run.feed(event) == NOTHING
    assert run.state["calls"] == 1


def test_DL1_ids_that_a_server_uses_again_do_not_hide_a_loop():
    run = Run()
    call = run.build.call("grep", call_id="call_0", pattern="x")
    verdicts = []
    for number in range(5):
        verdicts.append(run.feed(run.build.calling(call)))
        run.feed(run.build.called(call, f"result {number}"))
    assert [code(verdict) for verdict in verdicts] == [None] * 4 + ["doom_loop.same_call"]


def test_DL3_a_result_that_is_reported_twice_counts_once():
    run = Run()
    for number in range(3):
        run.step("grep", f"r{number}", pattern="x")
        run.feed(run.build.called(run.call, f"r{number}", over={"hooked": False}))
    assert run.state["calls"] == 3


# DL3: beyond the ADR


def test_DL3_the_same_call_with_the_same_result_four_times():
    run = Run()
    assert [run.step("browse", "same page", url="u") for _ in range(3)] == [NOTHING] * 3
    told = run.step("browse", "same page", url="u")
    assert (decision(told), code(told)) == ("ask", "doom_loop.same_result")
    assert told.warnings == (told.findings[0].why,)
    assert told.inject[0].audience == "model"
    assert run.calling("browse", url="another") == NOTHING  # it broke out: nobody is asked


def test_DL3_going_on_after_four_equal_results_is_asked():
    settings = DoomLoopSettings(same_tool_threshold=50)
    run = Run(settings=settings)
    for _ in range(4):
        run.step("browse", "same page", url="u")
    assert code(run.calling("browse", url="u")) == "doom_loop.same_result"


@pytest.mark.parametrize("period", [2, 3])
def test_DL3_a_period_of_calls_repeated_four_times(period):
    run = Run()
    calls = [("read", f"file {number}") for number in range(period)] * 4
    for tool, path in calls[:-1]:
        assert run.step(tool, f"content of {path}", path=path) == NOTHING
    verdict = run.calling(calls[-1][0], path=calls[-1][1])
    assert (decision(verdict), code(verdict)) == ("ask", "doom_loop.cycle")
    assert verdict.findings[0].why.params == {"period": str(period), "count": "4"}


def test_DL3_a_period_is_seen_where_the_host_reports_no_results():
    run = Run()
    verdicts = [run.calling("read", path=path) for path in "abababab"]
    assert [code(verdict) for verdict in verdicts] == [None] * 7 + ["doom_loop.cycle"]


@pytest.mark.parametrize("text", ["Error: connection refused by db:5432", "e" * 5000])
def test_DL3_the_same_error_four_times(text):
    run = Run()
    for number in range(3):
        assert run.step("bash", failed=True, error=text, command=f"try {number}") == NOTHING
    told = run.step("bash", failed=True, error=text, command="try 3")
    assert code(told) == "doom_loop.same_error"
    assert run.calling("read", path="config") == NOTHING
    assert code(run.calling("bash", command="try 4")) == "doom_loop.same_error"


@pytest.mark.parametrize("text", ["", "Exit code 1", "Command failed with exit code 1", "Error: exit status 2."])
def test_DL3_an_error_that_says_nothing_is_no_common_error(text):
    run = Run()
    for number in range(8):
        assert run.step("bash", failed=True, error=text, command=f"grep {number}") == NOTHING


def test_DL3_a_call_that_fails_three_times_gets_a_hint_but_no_question():
    run = Run()
    for number in range(2):
        assert run.step("edit", failed=True, error=f"no match at {number}", path="x") == NOTHING
    told = run.step("edit", failed=True, error="no match at 9", path="x")
    assert told.findings == ()
    assert told.warnings[0].code == "doom_loop.fails_again"
    assert "change the approach" in told.inject[0].text


def test_DL3_calls_that_never_reached_a_hook_count_too():
    run = Run()
    verdicts = [run.feed(run.build.called("grep", f"r{n}", over={"hooked": False}, pattern="x")) for n in range(5)]
    assert code(verdicts[4]) == "doom_loop.same_call"
    run = Run(settings=DoomLoopSettings(max_tool_calls=3))
    verdicts = [run.feed(run.build.called("grep", "r", over={"hooked": False}, pattern=str(n))) for n in range(4)]
    assert code(verdicts[3]) == "doom_loop.too_many"


def test_DL3_no_news_in_ten_calls_whatever_their_order():
    run = Run()
    order = "abcdeedcabdbecad"
    told = [run.step("browse", "page", url=url) for url in order]
    first = next(index for index, verdict in enumerate(told) if verdict is not NOTHING)
    assert first == 5 + NO_NEWS - 1
    assert code(told[first]) == "doom_loop.no_news"
    assert run.calling("browse", url="something new") == NOTHING
    assert code(run.calling("browse", url="a")) == "doom_loop.no_news"


def test_DL3_an_answer_given_three_times_is_told():
    run = Run()
    told = []
    for _ in range(4):
        event = run.build.started()
        told.append(run.feed(AssistantReplied(id="r", at=0, where=event.where, invocation="run-1", text="Done. ")))
    assert [len(verdict.warnings) for verdict in told] == [0, 0, 1, 0]
    assert told[2].warnings[0].code == "doom_loop.same_reply"


# DL3: work that looks like a loop and is none


def test_DL3_reading_a_long_file_page_by_page():
    run = Run()
    for offset in range(50):
        assert run.step("read", f"page {offset}", path="log", offset=offset) == NOTHING


def test_DL3_the_same_tests_after_different_edits():
    run = Run()
    for number in range(25):
        assert run.calling("edit", domain="edit", path="x.py", new=str(number)) == NOTHING
        assert run.called("edited") == NOTHING
        assert run.step("bash", "1 failed", command="pytest") == NOTHING


def test_DL3_waiting_for_a_job_whose_status_moves():
    run = Run()
    for percent in range(6):
        assert run.step("bash", "", command="sleep 10") == NOTHING
        assert run.step("bash", f"{percent} %", command="status") == NOTHING


def test_DL3_waiting_has_an_end():
    run = Run()
    verdicts = []
    for percent in range(10):
        verdicts += [run.step("bash", "", command="sleep 10"), run.step("bash", f"{percent} %", command="status")]
    assert "doom_loop.cycle" in map(code, verdicts)


def test_DL3_writing_the_same_files_over_gets_more_patience_and_no_more():
    run = Run()
    told = []
    for _ in range(8):
        for path in "abc":
            told.append(run.calling("write", domain="edit", path=path))
            run.called(f"wrote {path}")
    assert [code(verdict) for verdict in told] == [None] * 23 + ["doom_loop.cycle"]


def test_DL3_after_compaction_reading_again_is_no_repetition():
    run = Run()
    for _ in range(2):
        for path in "abcdefg":
            assert run.step("read", f"content of {path}", path=path) == NOTHING
    run.feed(run.build.compacted())
    for path in "abcdefg":
        assert run.step("read", f"content of {path}", path=path) == NOTHING


# any run

STEPS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["r1", "r2"]), st.booleans(), st.sampled_from("hup")),
    max_size=120,
)


@given(STEPS, st.booleans())
def test_DL3_any_run_keeps_its_state_small_plain_and_its_decisions_lawful(steps, interactive):
    run = Run(interactive=interactive)
    for path, output, failed, way in steps:
        if way == "u":
            over = {"hooked": False, **run.over}
            verdict = run.feed(run.build.called("read", output, failed=failed, over=over, path=path))
        else:
            verdict = run.calling("read", path=path)
            if way == "h":
                run.called(output, failed=failed, error=output if failed else "")
        for finding in verdict.findings:
            assert finding.decision == ("ask" if interactive else "deny")
            assert finding.policy == "doom_loop"
    assert len(json.dumps(run.state)) < 8_000


@given(st.lists(st.text(max_size=20), unique=True, max_size=60), st.text(max_size=10))
def test_DL3_calls_that_all_differ_are_never_a_loop(paths, output):
    run = Run(settings=DoomLoopSettings(max_tool_calls=1000))
    for path in paths:
        assert run.step("read", output, path=path) == NOTHING


@given(st.lists(st.sampled_from("abc"), max_size=20), st.integers(5, 9), st.booleans())
def test_DL1_equal_calls_in_a_row_are_always_caught(before, times, finished):
    run = Run()
    for number, path in enumerate(before):
        run.step("read", f"news {number}", path=path)
    run.build.invocation = "run-2"
    verdicts = []
    for number in range(times):
        verdicts.append(run.calling("read", path="x"))
        if finished:
            run.called(f"later news {number}")
    assert [decision(verdict) for verdict in verdicts] == [None] * 4 + ["ask"] * (times - 4)


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.integers()) | st.none(), max_size=8))
def test_DL1_the_signature_ignores_the_order_of_keys(tool_input):
    forth = ToolCall(id="1", tool="t", input=tool_input)
    back = ToolCall(id="2", tool="t", input=dict(reversed(tool_input.items())))
    assert signature(forth, 8192) == signature(back, 8192)


# the corpus of real runs

_PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "bench_loop_detection.py"
_SPEC = importlib.util.spec_from_file_location("loop_detection", _PATH)
loop_detection = sys.modules["loop_detection"] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(loop_detection)


def test_DL3_real_runs_nine_of_ten_caught_and_one_in_two_hundred_falsely():
    if not loop_detection.CORPUS.exists():
        pytest.skip(f"corpus: {loop_detection.CORPUS.name} of the recorded runs is not beside the checkout")
    runs = loop_detection.load(loop_detection.CORPUS)
    ours = loop_detection.score(runs)
    assert ours.caught_share >= 0.9
    assert ours.false_share <= 0.005
    naive = loop_detection.score(runs, "same call, 5 in a row (the ADR's rule alone)")
    assert naive.caught_share < ours.caught_share
