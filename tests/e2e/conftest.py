"""What the end-to-end tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.attached import Holdfast, config
from e2e.kits import KITS
from e2e.recording_hook import RecordingHook

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Everything here crosses a process, so that `-m "not e2e"` never runs a test whose author forgot to say so."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("e2e")


@pytest.fixture(scope="module")
def holdfast(tmp_path_factory):
    """A home with a running daemon, shared by the tests of a file: sessions keep apart what belongs to each."""
    it = Holdfast(tmp_path_factory.mktemp("hf") / "home")
    it.start()
    yield it
    it.close()


@pytest.fixture
def attached(holdfast, tmp_path):
    """Makes an attached host under a configuration, and ends it with the test."""
    made = []

    def make(name, settings=None, **options):
        holdfast.configure(config() if settings is None else settings)
        made.append(KITS[name](tmp_path, holdfast, **options))
        return made[-1]

    yield make
    for kit in made:
        kit.__exit__(None, None, None)


@pytest.fixture
def hook(tmp_path):
    """A plain command hook that records and answers."""
    return RecordingHook(tmp_path)
