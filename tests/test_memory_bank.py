"""Proposals for the memory bank: made by an agent, confirmed by the user's words, written by Holdfast (MB5, MB6)."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.control import Control
from holdfast.core.memory import language_of
from holdfast.core.proposals import Edit, ProposalError, answer_in, checked_path
from holdfast.memory_bank import MemoryBank
from holdfast.policies.memory_proposals import MemoryProposals
from holdfast.store.config_file import Inline
from holdfast.store.home import Home
from holdfast.store.interface import Session
from holdfast.store.memory_layout import TEMPLATES
from holdfast.testing.builders import EventBuilder, session_id
from holdfast.testing.fixed_clock import FixedClock
from holdfast.testing.memory_store import MemoryStore


@pytest.fixture
def store(tmp_path):
    store = MemoryStore()
    store.open_session(Session(session_id(), host="holdfast", vault=str(tmp_path), started_at=1.0))
    return store


@pytest.fixture
def bank(store, tmp_path):
    (tmp_path / "memory-bank").mkdir()
    (tmp_path / "memory-bank" / "MEMORY.md").write_text("# Memory\nold line\n")
    ids = count(1)
    return MemoryBank(store, clock=FixedClock(5.0), new_id=lambda: f"p{next(ids)}")


def propose(bank, tmp_path, path="MEMORY.md", **edit):
    return bank.propose(session_id(), str(tmp_path), path=path, edit=Edit.of(edit or {"append": "new"}), why="because")


def test_MB6_a_confirmed_proposal_is_written_recorded_and_can_be_undone(bank, store, tmp_path):
    file = tmp_path / "memory-bank" / "MEMORY.md"
    made = propose(bank, tmp_path, old="old line", new="new line")
    assert "+new line" in bank.diff(made)
    assert file.read_text() == "# Memory\nold line\n", "a proposal writes nothing"
    bank.apply(made.id, by="ada")
    assert file.read_text() == "# Memory\nnew line\n"
    (entry,) = store.audit()
    assert (entry["decidedBy"], entry["what"], entry["why"]) == ("ada", "memory_applied", "because")
    bank.undo(made.id, by="ada")
    assert file.read_text() == "# Memory\nold line\n"
    assert bank.get(made.id).status == "undone"


def test_MB6_a_new_file_is_made_and_undo_takes_it_away(bank, tmp_path):
    made = propose(bank, tmp_path, "details/learnings/today.md", content="learned")
    bank.apply(made.id, by="ada")
    assert (tmp_path / "memory-bank/details/learnings/today.md").read_text() == "learned\n"
    bank.undo(made.id, by="ada")
    assert not (tmp_path / "memory-bank/details/learnings/today.md").exists()


def test_MB6_a_proposal_is_settled_once(bank, tmp_path):
    made = propose(bank, tmp_path)
    bank.skip(made.id, by="ada")
    with pytest.raises(ProposalError, match="already skipped"):
        bank.apply(made.id, by="bob")


def test_MB6_undo_refuses_when_the_file_has_changed_since(bank, tmp_path):
    made = propose(bank, tmp_path)
    bank.apply(made.id, by="ada")
    (tmp_path / "memory-bank" / "MEMORY.md").write_text("somebody's own words\n")
    with pytest.raises(ProposalError, match="changed after"):
        bank.undo(made.id, by="ada")
    assert (tmp_path / "memory-bank" / "MEMORY.md").read_text() == "somebody's own words\n"


def test_MB6_a_passage_that_is_gone_is_not_written_somewhere_else(bank, tmp_path):
    made = propose(bank, tmp_path, old="old line", new="x")
    (tmp_path / "memory-bank" / "MEMORY.md").write_text("other\n")
    with pytest.raises(ProposalError, match="stands there 0 times"):
        bank.apply(made.id, by="ada")


@pytest.mark.parametrize(
    "path",
    ["../x.md", "/etc/x.md", "details/../../x.md", "x.sh", "", "memory-bank", "a\x00.md", "details/..\\..\\x.md"],
)
def test_MB5_only_markdown_below_the_memory_bank_can_be_proposed(path):
    with pytest.raises(ProposalError):
        checked_path(path)


@given(st.text(max_size=60))
def test_MB5_no_path_ever_leads_out(path):
    try:
        name = checked_path(path)
    except ProposalError:
        return
    assert name.startswith("memory-bank/")
    assert ".." not in name.split("/")
    assert name.casefold().endswith(".md")


def test_MB5_a_link_out_of_the_memory_bank_is_not_followed(bank, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("mine")
    (tmp_path / "memory-bank" / "link.md").symlink_to(outside)
    with pytest.raises(ProposalError, match="leads out"):
        propose(bank, tmp_path, "link.md", content="x")
    assert outside.read_text() == "mine"


@pytest.mark.parametrize("text", ["mb:write", "MB:WRITE please", "好", "写", "确认", "yes", "OK", " ok. ", "好！"])
def test_MB6_words_that_confirm(text):
    assert answer_in(text) == "apply"


@pytest.mark.parametrize("text", ["mb:no", "不用", "跳过", "no", "Skip", "no!"])
def test_MB6_words_that_skip(text):
    assert answer_in(text) == "skip"


@pytest.mark.parametrize(
    "text", ["", "yes, but first fix the test", "写一个函数", "is mb:write safe?", "ok so what about no", "nothing"]
)
def test_MB6_other_words_settle_nothing(text):
    assert answer_in(text) is None


def settled_by(build, policy, state, text, **over):
    verdict, state = policy.decide(build.prompt(text, **over), state)
    return [(one.proposal, one.answer) for one in verdict.settle], state


def test_MB6_only_the_message_right_after_the_proposal_counts():
    from holdfast.core.settings import MemorySettings

    build, policy = EventBuilder(), MemoryProposals(MemorySettings())
    call = build.call("memory_propose", call_id="p9", path="MEMORY.md")
    _, state = policy.decide(build.called(call, "kept"), {})
    assert settled_by(build, policy, state, "mb:write")[0] == [("p9", "apply")]
    none, later = settled_by(build, policy, state, "do something else")
    assert none == []
    assert settled_by(build, policy, later, "mb:write")[0] == []
    automatic, kept = settled_by(build, policy, state, "mb:write", typed=False)
    assert automatic == [], "an automatic continuation is not the user's word"
    assert settled_by(build, policy, kept, "mb:write")[0] == [("p9", "apply")]


def test_MB6_a_failed_proposal_waits_for_nothing():
    from holdfast.core.settings import MemorySettings

    build, policy = EventBuilder(), MemoryProposals(MemorySettings())
    call = build.call("memory_propose", call_id="p9")
    _, state = policy.decide(build.called(call, "no", failed=True), {})
    assert settled_by(build, policy, state, "yes")[0] == []


def test_MB10_memory_read_hands_out_memory_patterns_and_anchors(bank, tmp_path):
    (tmp_path / "memory-bank" / "details").mkdir()
    (tmp_path / "memory-bank" / "details" / "progress.md").write_text("nearly there")
    text = bank.read(str(tmp_path), ["memory-bank/details/progress.md"])
    assert "old line" in text
    assert "nearly there" in text


def test_SC1_a_proposal_of_another_thread_is_not_carried_out(bank, tmp_path):
    from holdfast.core.verdict import Settle

    made = propose(bank, tmp_path)
    said = bank.settle(session_id(thread="other"), str(tmp_path), Settle(made.id, "apply"))
    assert "another thread" in said.text()
    assert bank.get(made.id).status == "pending"


class Dying(MemoryStore):
    """The power goes when the proposal is to be settled: the file is written, the record is not."""

    dead = False

    def commit(self, change):
        if self.dead:
            raise KeyboardInterrupt
        return super().commit(change)


def test_MB6_a_crash_between_file_and_record_writes_nothing_twice(tmp_path):
    store = Dying()
    store.open_session(Session(session_id(), host="holdfast", vault=str(tmp_path), started_at=1.0))
    file = tmp_path / "memory-bank" / "MEMORY.md"
    file.parent.mkdir()
    file.write_text("# Memory\n")
    bank = MemoryBank(store, clock=FixedClock(5.0), new_id=lambda: "p1")
    made = propose(bank, tmp_path, append="- once")
    store.dead = True
    with pytest.raises(KeyboardInterrupt):
        bank.apply(made.id, by="me")
    store.dead = False
    assert bank.get(made.id).status == "pending"
    done = bank.apply(made.id, by="me")
    assert (done.status, file.read_text()) == ("applied", "# Memory\n- once\n")
    bank.undo(made.id, by="me")
    assert file.read_text() == "# Memory\n"
    assert [entry["what"] for entry in store.audit()] == ["memory_applied", "memory_undone"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("# 项目记忆\n\n" + "每个会话都应知道的内容，细节放在别处。" * 3, "zh"),
        ("# Project memory\n\nWhat every session should know. Keep it short: details belong elsewhere.", "en"),
        ("# Memory", None),
        ("", None),
    ],
)
def test_MB2_messages_are_in_the_language_of_the_projects_memory(tmp_path, text, language):
    assert language_of(text) == language
    (tmp_path / "vault" / "memory-bank").mkdir(parents=True)
    (tmp_path / "vault" / "memory-bank" / "MEMORY.md").write_text(text)
    for environment in ("en", "zh"):
        control = Control.open(Home(tmp_path / "home"), inline=Inline(environ={}))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LANG", f"{environment}_XX.UTF-8")
            assert control.language(str(tmp_path / "vault")) == (language or environment)
        control.close()


def test_MB1_both_templates_are_recognised_as_their_language():
    for language, files in TEMPLATES.items():
        assert language_of(files["MEMORY.md"]) == language
