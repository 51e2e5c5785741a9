"""`make check` asks for few examples of every property and table: it is the loop of somebody who waits.

A test that asks for hundreds says so to `make test`. Under `HOLDFAST_TEST_EXAMPLES=quick` its number is a ceiling too
high, and is lowered here, in one place, the way hypothesis' own pytest plugin changes the settings of a test. A table
of parameters longer than `FEW_ROWS` gives that many rows, spread over it evenly.
"""

import os
from collections import defaultdict

import pytest
from hypothesis import settings

QUICK = os.environ.get("HOLDFAST_TEST_EXAMPLES") == "quick"
FEW = 10
FEW_STEPS = 15
FEW_ROWS = 30


def fewer(asked: settings) -> settings:
    return settings(
        asked,
        max_examples=min(asked.max_examples, FEW),
        stateful_step_count=min(asked.stateful_step_count, FEW_STEPS),
    )


def lower(item: pytest.Item) -> None:
    """Lower what a property test, or a machine of rules, asks for; other tests are left as they are."""
    function = getattr(item, "obj", None)
    asked = getattr(function, "_hypothesis_internal_use_settings", None)
    if asked is not None:
        getattr(function, "__func__", function)._hypothesis_internal_use_settings = fewer(asked)
    machine = getattr(item, "cls", None)
    if machine is not None and isinstance(getattr(machine, "settings", None), settings):
        machine.settings = fewer(machine.settings)


def spread(items: list[pytest.Item]) -> set[pytest.Item]:
    """All but the rows that a long table can spare."""
    tables = defaultdict(list)
    for item in items:
        tables[item.nodeid.partition("[")[0]].append(item)
    kept = set()
    for rows in tables.values():
        few = min(len(rows), FEW_ROWS)
        kept.update(rows[number * len(rows) // few] for number in range(few))
    return kept


@pytest.hookimpl(trylast=True)  # after `-k` and `-m`: whoever asks for few rows gets them all
def pytest_collection_modifyitems(config, items):
    if not QUICK:
        return
    kept = spread(items)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]
    for item in items:
        lower(item)
