"""Every sentence of the program, as its source has it: both languages, the same places, one code each."""

import ast
import string
from collections import Counter
from pathlib import Path

import holdfast
from latin import english_in, is_chinese

SOURCE = Path(holdfast.__file__).parent
_NAMES = {"Phrase", "Sentence", "P"}  # other names where a module has a Phrase of its own, or very many


def phrases():
    """Place, code, English, Chinese of every `Phrase(...)`; each is written with three texts."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMES:
                texts = [part.value for part in node.args if isinstance(part, ast.Constant)]
                if len(texts) == 3:
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", *texts


PHRASES = list(phrases())


def slots(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def words(text: str) -> str:
    """What is left of a phrase without its places."""
    return "".join(literal for literal, _, _, _ in string.Formatter().parse(text))


def test_there_are_phrases_and_each_has_a_code_of_its_own():
    assert len(PHRASES) > 500
    codes = Counter(code for _, code, _, _ in PHRASES)
    assert [code for code, times in codes.items() if times > 1] == []


def faults(code, en, zh):
    if not en.strip() or not zh.strip():
        yield f"{code} is empty"
    if slots(en) != slots(zh):
        yield f"{code}: places {slots(en) ^ slots(zh)}"
    if said := english_in(words(zh)):
        yield f"{code}: English in Chinese: {said}"
    if english_in(words(en)) and not is_chinese(words(zh)):
        yield f"{code} is not translated"


def test_UI1_a_phrase_says_the_same_in_both_languages():
    assert [f"{place}: {fault}" for place, *phrase in PHRASES for fault in faults(*phrase)] == []


def test_a_fault_is_found():
    assert list(faults("a", "no file {name} is there today", "{other}"))
    assert list(faults("a", "one two three four", "one two three four"))
    assert list(faults("a", "one two", " "))
    assert not list(faults("a", "run: {command}", "运行：{command}"))
