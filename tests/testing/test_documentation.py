"""The examples of docs/reference/testing.md run as they stand there, and the page names every public name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import holdfast.testing
from holdfast.testing import anthropic_server, chat_completions_server, gemini_server, responses_server

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "testing.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"example_{number}" for number in range(1, len(EXAMPLES) + 1)])
def test_an_example_runs(example, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    exec(compile(example, "docs/reference/testing.md", "exec"), {})


def test_the_page_names_what_is_public():
    assert len(EXAMPLES) == 5
    assert [name for name in holdfast.testing.__all__ if name not in PAGE] == []
    assert sorted(holdfast.testing.__all__) == holdfast.testing.__all__


@pytest.mark.parametrize(
    "function",
    [
        anthropic_server.claude_code_side_kind,
        chat_completions_server.opencode_side_kind,
        responses_server.codex_side_kind,
        gemini_server.gemini_side_kind,
    ],
    ids=lambda function: function.__name__,
)
def test_the_page_names_how_side_requests_are_recognised(function):
    module = function.__module__.rpartition(".")[2]
    assert f"`{module}.{function.__name__}`" in PAGE
