"""UI2: who said no is named as people would name them."""

import pytest

from holdfast.core.refusals import refused


@pytest.mark.parametrize(
    ("status", "by", "said"),
    [
        ("answered", "local", "The user denied this."),
        ("answered", "", "The user denied this."),
        ("answered", "local (Chromium on Linux)", "The user denied this, from Chromium on Linux."),
        ("answered", "local (Chrome (Linux))", "The user denied this, from Chrome (Linux)."),
        ("answered", "ada", "ada denied this."),
        ("answered", "claude dialog", "claude dialog denied this."),
        ("answered", "ada (Firefox on macOS)", "ada (Firefox on macOS) denied this."),
        ("expired", "", "Nobody answered in time, so this was denied. Ask the user, or choose another way."),
        ("cancelled", "local", "The question was cancelled, so this was denied."),
    ],
)
def test_UI2_a_refusal_names_the_person_and_the_door(status, by, said):
    assert refused(status, by).text() == said
    assert "local" not in refused(status, by).text("zh")
