"""The examples in the how-to on models are configurations that load."""

import re
from pathlib import Path

import pytest

from holdfast.runtime.models import _WELL_KNOWN, choose
from holdfast.store.config_file import Inline, load_text

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "models.md"
EXAMPLES = re.findall(r"```jsonc\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(1, len(EXAMPLES) + 1))
def test_UI3_the_examples_load_and_choose_their_model(example):
    settings = load_text(Path("config.jsonc"), example, Inline(environ={})).settings
    choice = choose(settings.runtime)
    assert choice.name == settings.runtime.model
    assert choice.base_url.startswith("http")


def test_PE4_the_example_of_servers_loads_with_its_rules():
    (example,) = re.findall(r"```jsonc\n(.*?)```", (PAGE.parent / "mcp-servers.md").read_text(), re.DOTALL)
    loaded = load_text(Path("config.jsonc"), example, Inline(environ={}))
    assert set(loaded.settings.runtime.mcp) == {"notes", "tracker"}
    assert len(loaded.rules) == 2


def test_UI3_the_table_of_keys_is_the_programs_own():
    for start, _, key in _WELL_KNOWN:
        assert re.search(rf"\| `{start}` \| `{key}` \|", PAGE.read_text()), start
