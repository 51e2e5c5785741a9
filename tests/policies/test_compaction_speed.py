"""The cost of looking: every request passes by compaction, few trigger it."""

from time import perf_counter

import pytest

from holdfast.core.history import Item, sized
from holdfast.core.settings import DEFAULTS, SessionStrategy
from holdfast.policies.compaction import Compaction
from holdfast.testing.builders import EventBuilder


def long_history():
    items = []
    for turn in range(40):
        items.append(Item("user", f"Please go on with part {turn}."))
        for step in range(24):
            name = f"{turn}_{step}"
            items.append(Item("call", '{"path": "src/a.py"}', call_id=name, tool="read"))
            items.append(Item("result", "a line of output, of which there are many\n" * 125, call_id=name, tool="read"))
        items.append(Item("assistant", "Done with this part."))
    return tuple(map(sized, items))


def best_ms(work, tries=60):
    best = float("inf")
    for _ in range(tries):
        start = perf_counter()
        work()
        best = min(best, perf_counter() - start)
    return 1000 * best


@pytest.mark.full
def test_CO1_a_check_that_does_not_trigger_costs_a_fifth_of_a_millisecond():
    history = long_history()
    assert len(history) == 2000
    assert sum(len(item.text) for item in history) > 5_000_000
    judge = Compaction(DEFAULTS)
    learned = {"calibration": {f"m{n}": [[1000 * k, 1100 * k] for k in range(1, 10)] for n in range(8)}}
    known = EventBuilder().sending(*history, window=50_000_000, model="m7", system="word " * 4000)
    unknown = EventBuilder().sending(*history[:40], window=None, model="m7")
    for event in (known, unknown):
        assert judge.decide(event, learned)[0].summarise is None
        assert best_ms(lambda event=event: judge.decide(event, learned)) < 0.2


@pytest.mark.full
def test_CO4_pruning_a_long_history_takes_milliseconds():
    event = EventBuilder().sending(*long_history(), window=200_000, model="m")
    judge = Compaction(DEFAULTS, override=SessionStrategy("handoff"))
    assert judge.decide(event, {})[0].history is not None
    assert best_ms(lambda: judge.decide(event, {})) < 8
