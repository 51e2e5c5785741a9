"""What the end-to-end tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.recording_hook import RecordingHook

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Everything here crosses a process, so that `-m "not e2e"` never runs a test whose author forgot to say so."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("e2e")


@pytest.fixture
def hook(tmp_path):
    """A plain command hook that records and answers."""
    return RecordingHook(tmp_path)
