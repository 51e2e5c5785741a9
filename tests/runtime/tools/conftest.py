"""A bench to try tools on: a vault, a home and a session of their own."""

import pytest

from tool_bench import Bench


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path)
    yield made
    made.close()
