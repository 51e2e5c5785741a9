"""Every reason why a reading is not certain has words in both languages; new ones are found in the source."""

import ast
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast.shell
from holdfast.shell import read_command
from holdfast.shell.unknowns import PHRASES, why_unknown
from latin import is_chinese

SOURCE = Path(holdfast.shell.__file__).parent
_SAID_BY = {"cannot_know", "unknown", "TooComplex", "ShellSyntaxError"}


def text_of(node):
    """A text as it stands in the source, with `x` in its places; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
    return None


def reasons():
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found = []
            if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in _SAID_BY:
                found = [text_of(part) for part in node.args[:1]]
            elif isinstance(node, ast.Dict) and path.name != "reasons.py":
                pairs = zip(node.keys, node.values, strict=True)
                found = [text_of(value) for key, value in pairs if key is not None and text_of(key) == "unknown"]
            yield from ((f"{path.name}:{node.lineno}", text) for text in found if text)


def test_UI1_every_reason_in_the_source_has_words_in_both_languages():
    known = list(reasons())
    assert len(known) > 100
    assert [place for place in known if why_unknown(place[1]).code == "plain"] == []
    for place, text in known:
        message = why_unknown(text)
        assert message.text("en") == text, place
        assert is_chinese(message.text("zh")), place


@pytest.mark.parametrize(
    "command",
    [
        "frobnicate --hard",
        "make",
        "$TOOL x",
        "echo 'open",
        "if then",
        "bash",
        "xargs sh",
        "awk -f p.awk",
        "ssh host",
    ],
)
def test_UI1_what_is_shown_of_a_command_is_in_both_languages(command):
    reading = read_command(command)
    assert reading.unknown
    message = why_unknown(reading.unknown_why)
    assert message.text("en") == reading.unknown_why
    assert is_chinese(message.text("zh"))


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase.code)
def test_each_phrase_is_found_by_its_own_words(phrase):
    places = {name: "x" for _, name, _, _ in string.Formatter().parse(phrase.en) if name}
    assert why_unknown(phrase.en.format(**places)).code == phrase.code


@given(st.text(max_size=200))
def test_any_text_comes_back_as_it_was(text):
    assert why_unknown(text).text("en") == text
