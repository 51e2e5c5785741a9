"""What the terminal shows, without a terminal."""

import io
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from holdfast.doors.chat_card import card_of, key_line
from holdfast.doors.chat_markdown import BlockSplitter
from holdfast.doors.chat_status import Status
from holdfast.doors.chat_view import PlainView, call_line, output_lines
from holdfast.runtime.ui_events import Notice, Problem, Replied, ToolDenied, ToolDone, ToolRunning
from holdfast.store.interface import Approval
from holdfast.testing.builders import session_id


def approval(tool="bash", policy="permission", vault="", **question):
    body = {"input": {}, "findings": [], "accesses": [], "proposals": [], "reading": None, **question}
    return Approval("a1", session_id(), "c1", 1.0, tool, body, policy=policy, vault=vault)


RULE = {"domain": "bash", "decision": "ask", "pattern": "shell:*", "source": "built-in", "line": None}
FINDING = {"decision": "ask", "why": {"en": "Running it needs you.", "zh": "需要你。"}, "rule": RULE}
PROPOSAL = {"domain": "bash", "pattern": "shell:git push *", "decision": "allow"}


def test_UI2_a_card_shows_what_why_which_rule_and_what_always_writes():
    card = card_of(approval(input={"command": "git push"}, findings=[FINDING], proposals=[PROPOSAL]))
    assert card.body == ("git push",)
    facts = dict(card.facts)
    assert facts["why"] == "Running it needs you."
    assert facts["rule"] == "bash ask shell:* (built-in)"
    assert facts["always writes"] == "bash allow shell:git push *"
    assert card.keys == "oawd"
    assert key_line(card) == "[o]nce  [a]lways  [w]hile (30 min)  [d]eny"
    assert dict(card_of(approval(findings=[FINDING]), "zh").facts)["原因"] == "需要你。"


def test_PE7_without_a_rule_that_means_the_same_next_time_only_once_is_offered():
    card = card_of(approval(input={"command": "a && b"}, findings=[FINDING]))
    assert card.keys == "od"
    assert key_line(card) == "[o]nce  [d]eny"


def test_UI2_a_change_is_shown_as_a_diff(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    card = card_of(approval("write", vault=str(tmp_path), input={"path": "a.txt", "content": "one\n2\n"}))
    assert card.is_diff
    assert "-two" in card.body
    assert "+2" in card.body
    card = card_of(approval("edit", input={"path": "a.txt", "old_string": "x", "new_string": "y"}))
    assert {"-x", "+y"} <= set(card.body)


def test_UI2_a_card_cannot_paint_the_terminal():
    card = card_of(approval(input={"command": "echo \x1b[2J\x07 hidden"}))
    assert "\x1b" not in card.body[0]
    assert "\\x1b[2J" in card.body[0]


def test_UI2_a_long_input_is_cut():
    card = card_of(approval(input={"command": "\n".join(map(str, range(500)))}))
    assert len(card.body) == 41
    assert "460 more lines" in card.body[-1]


def test_SC2_the_bar_tells_the_fill_its_age_and_whether_it_is_stale():
    status = Status("m")
    assert status.context() == ""
    status.measured(
        SimpleNamespace(used=8000, window=32_000, exact=True, at=100.0, thread_tokens=9000, thread_cost=0.5)
    )
    assert status.context(112.0) == "context ▓▓░░░░░░░░ 25% / 32.0k, 12 s ago"
    assert "stale, 17 min ago" in status.context(100.0 + 1020)
    status.measured(SimpleNamespace(used=900, window=None, exact=False, at=100.0, thread_tokens=0, thread_cost=None))
    assert status.context(100.0) == "context ~900, 0 s ago"


@given(st.integers(0, 10**7), st.one_of(st.none(), st.integers(1, 10**7)), st.floats(0, 10**9))
def test_SC2_any_measure_can_be_shown(used, window, age):
    status = Status("m")
    status.measured(SimpleNamespace(used=used, window=window, exact=True, at=0.0, thread_tokens=1, thread_cost=None))
    assert status.context(age).startswith("context ")


@given(st.lists(st.text(alphabet="ab \n`#-1.>", max_size=12), max_size=12))
def test_UI3_markdown_comes_out_as_it_went_in_whatever_the_pieces(pieces):
    whole = BlockSplitter()
    blocks = [*whole.feed("".join(pieces)), whole.finish()]
    split = BlockSplitter()
    found = [*(block for piece in pieces for block in split.feed(piece)), split.finish()]
    assert [b for b in blocks if b.strip()] == [b for b in found if b.strip()]
    lost = "".join("".join(pieces).split())
    assert "".join("".join(found).split()) == lost


def test_UI3_a_fence_and_a_list_stay_whole():
    splitter = BlockSplitter()
    text = "Intro\n\n```\na\n\nb\n```\n- one\n\n  more\n- two\n\nEnd"
    blocks = splitter.feed(text)
    assert blocks == ["Intro", "```\na\n\nb\n```", "- one\n\n  more\n- two"]
    assert splitter.finish() == "End"


def test_UI3_plain_output_keeps_replies_apart_from_everything_else():
    out, err = io.StringIO(), io.StringIO()
    view = PlainView("en", out, err)
    view.show(ToolRunning(call_id="c", tool="read", input={"path": "a.txt"}))
    view.show(ToolDone(call_id="c", tool="read", output="secret body", full_output="/x/y"))
    view.show(ToolDenied(call_id="c", tool="bash", reason="no"))
    view.show(Notice(text="careful"))
    view.show(Problem(code="x", text="broken", next_step="mend it"))
    view.show(Replied(text="the answer"))
    view.show(Replied(text="inner", subagent="general"))
    assert out.getvalue() == "the answer\n"
    for words in ("* read a.txt", "/x/y", "! bash: no", "careful", "broken\nmend it"):
        assert words in err.getvalue()
    assert "secret body" not in err.getvalue()


def test_UI3_one_line_for_a_call_and_a_few_for_its_output():
    assert call_line("bash", {"command": "a\nb\x07"}) == "bash a b\\x07"
    assert call_line("plan", {}) == "plan"
    assert output_lines("1\n2\n3\n", 2) == ["1", "2", "... 1 more lines"]
