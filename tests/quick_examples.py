"""`make check` asks for few examples of every property: it is the loop of somebody who waits.

A test that asks for hundreds says so to `make test`. Under `HOLDFAST_TEST_EXAMPLES=quick` its number is a ceiling too
high, and is lowered here, in one place, the way hypothesis' own pytest plugin changes the settings of a test.
"""

import os

import pytest
from hypothesis import settings

QUICK = os.environ.get("HOLDFAST_TEST_EXAMPLES") == "quick"
FEW = 10
FEW_STEPS = 15


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


def pytest_collection_modifyitems(items):
    if QUICK:
        for item in items:
            lower(item)
