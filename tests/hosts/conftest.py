"""What the tests of the hosts share."""

from __future__ import annotations

import pytest

from hosts.stage import Stage

HOST_NAMES = ("claude-code", "opencode", "codex", "gemini")


@pytest.fixture(params=HOST_NAMES)
def host(request):
    """Each host in turn."""
    return request.param


@pytest.fixture
def stage(tmp_path):
    """Makes stages, and closes them in the end."""
    made = []

    def make(host, *, config="", folder="stage", patience=20.0):
        made.append(Stage(tmp_path / folder, host, config=config, patience=patience))
        return made[-1]

    yield make
    for one in made:
        one.close()
