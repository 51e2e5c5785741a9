"""What every test shares: the skip policy of CI, a home of its own, and patience on a busy machine."""

import gc
import os
import tempfile

import pytest
from hypothesis import HealthCheck, settings

from quick_examples import pytest_collection_modifyitems  # noqa: F401 (hook)
from skip_policy import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401 (hooks)

# A slow machine is not a failing property. In CI the examples are the same in every run (hypothesis' own `ci` profile).
settings.register_profile(
    "holdfast",
    settings.get_profile("ci") if os.environ.get("CI") == "true" else settings.get_profile("default"),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("holdfast")


def pytest_collection_finish():
    """What was imported and collected stays to the end: the garbage collector need not walk it, nor walk so often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.fixture(autouse=True, scope="session")
def home_of_the_tests():
    """No test reads or writes the home of the person who runs it, nor is steered by their settings."""
    with tempfile.TemporaryDirectory(prefix="holdfast-tests-") as home, pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("HOLDFAST_", "MEMORY_BANK_", "XDG_")):
                patch.delenv(name)
        patch.setenv("HOME", home)
        patch.setenv("LANG", "C.UTF-8")
        yield home
