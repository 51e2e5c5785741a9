"""Compaction over thousands of generated histories: whatever comes in, what goes out is valid, smaller and settled."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated_histories import history
from holdfast.core.compaction_plan import apply_summary
from holdfast.core.history import Item, is_valid, measure, partners, sized, steps
from holdfast.core.pruning import SUMMARY_MARK, is_pinned_lines, is_summary, repair
from holdfast.core.settings import (
    DEFAULTS,
    AgentsSection,
    CompactionSettings,
    RuntimeSettings,
    SessionStrategy,
    Settings,
)
from holdfast.core.summary import ApprovalFact
from holdfast.policies.compaction import Compaction
from holdfast.testing.builders import EventBuilder

pytestmark = pytest.mark.slow

build = EventBuilder()
STRATEGIES = ("hybrid", "handoff", "compress")
SUMMARIES = (None, "", "Done: the parser. Next step: the tests.", "a very long summary " * 3000)
APPROVALS = (ApprovalFact(("shell:git status",), "always", "ada"),)


def settings_for(seed):
    pinned = ("Never touch the production database.",) if seed % 5 == 0 else ()
    compaction = CompactionSettings(pinned=pinned, protected_turns=1 + seed % 4)
    return Settings(AgentsSection(RuntimeSettings(compaction=compaction)))


def compact(before, seed, summary):
    """The result of one compaction, or None when there was nothing to do; each seed has its own settings."""
    strategy = SessionStrategy(STRATEGIES[seed % 3])
    window = (None, 2_000, 16_000, 128_000)[seed % 4]
    event = build.sending(*before, window=window, model="m", manual=seed % 2 == 0)
    verdict, _ = Compaction(settings_for(seed), override=strategy).decide(event, {})
    if verdict.summarise is None:
        assert verdict.history is None
        return None
    return apply_summary(verdict.summarise.plan, summary, APPROVALS)


def protected(items, turns):
    """What the user would expect to be protected, worked out in another way than the policy does."""
    users = [i for i, item in enumerate(items) if item.kind == "user"]
    start = users[-turns] if len(users) >= turns else 0
    return items[start:]


def keeps_protected(before, after, turns, narrowed):
    """Whether the protected turns, or in a long run the user's words and the latest steps, end `after` untouched."""
    expected = protected(before, turns)
    if narrowed:
        words = [item for item in expected if item.kind in ("user", "system") and not is_summary(item)]
        replies = steps(expected)
        expected = expected[replies[-turns] if len(replies) > turns else 0 :]
        said = [item for item in after if item.kind in ("user", "system")]
        if said[len(said) - len(words) :] != words:
            return False
    return list(after[len(after) - len(expected) :]) == list(expected)


def check(seed, longest=2000, text_size=400):
    before = history(seed, longest, text_size)
    summary = SUMMARIES[random.Random(seed).randrange(len(SUMMARIES))]
    result = compact(before, seed, summary)
    if result is None:
        return "nothing"
    after, record = result.history, result.record
    assert is_valid(after)
    assert not measure(after).larger_than(measure(before))
    if seed % 10 == 0:  # and not by the kept sizes only
        afresh = [measure([replace(item, tokens=None) for item in items]) for items in (before, after)]
        assert not afresh[1].larger_than(afresh[0])
    assert (record.before, record.after) == (measure(before), measure(after))
    turns = settings_for(seed).runtime.compaction.protected_turns
    lonely = partners(before)[1]
    repaired = [repair(before, lonely, note_missing) for note_missing in (True, False)]
    assert any(keeps_protected(whole, after, turns, record.narrowed) for whole in repaired)
    given, left = set(map(id, before)), set(map(id, after))
    assert all(item.raw is None or id(item) in given for item in after)
    whole = set(range(len(before))) - set(lonely)
    assert all(id(before[i]) in left for i in whole if before[i].pinned and before[i].kind != "reasoning")
    assert sum(map(is_summary, after)) == (record.method == "summary")
    assert sum(map(is_pinned_lines, after)) <= 1
    again = compact(after, seed, summary)
    assert again is None or again.history == after
    return record.method


@pytest.mark.parametrize("block", range(15))
def test_CO4_generated_histories_stay_valid_and_never_grow(block):
    methods = {check(seed) for seed in range(block * 100, block * 100 + 100)}
    assert {"summary", "pruned"} <= methods


@pytest.mark.full
@pytest.mark.parametrize("block", range(15, 100))
def test_CO4_all_ten_thousand_generated_histories(block):
    methods = {check(seed, text_size=2000) for seed in range(block * 100, block * 100 + 100)}
    assert {"summary", "pruned"} <= methods


texts = st.text(st.sampled_from('ab \n的。{}"0'), max_size=400) | st.sampled_from(
    [SUMMARY_MARK + "x", "[pruned: read, 9 characters, ok; whole output: session transcript]", "x" * 500]
)
items = st.builds(
    Item,
    st.sampled_from(["system", "user", "assistant", "reasoning", "call", "result"]),
    texts,
    call_id=st.sampled_from(["a", "b", "c"]),
    tool=st.sampled_from(["read", "write", "tasks_x", ""]),
    failed=st.booleans(),
    images=st.sampled_from([0, 0, 0, 2]),
    pinned=st.sampled_from([False, False, False, True]),
)


@given(st.lists(items, max_size=40), st.integers(0, 59), st.sampled_from(SUMMARIES))
def test_CO4_any_sequence_of_items_becomes_a_valid_history(found, seed, summary):
    before = tuple(map(sized, found))
    result = compact(before, seed, summary)
    if result is None:
        return
    assert is_valid(result.history)
    assert not measure(result.history).larger_than(measure(before))
    again = compact(result.history, seed, summary)
    assert again is None or again.history == result.history


def test_CO3_the_default_protects_three_turns():
    assert DEFAULTS.runtime.compaction.protected_turns == 3
