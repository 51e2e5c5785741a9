"""Finds English sentences in what is shown in Chinese. Names, paths, commands and quoted texts are none."""

import re

_OF_NO_LANGUAGE = re.compile(
    r"`[^`]*`"  # commands and names that a sentence quotes
    r"|“[^”]*”|\"[^\"]*\"|'[^']*'"
    r"|\S*[/\\@=<>{}\[\]_]\S*"  # paths, addresses, keys, patterns
    r"|\S+\.\S+"
)
_SENTENCE = re.compile(r"[A-Za-z][A-Za-z’'-]*(?: +[A-Za-z][A-Za-z’'-]*){3,}")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def english_in(text: str) -> str:
    """The first run of four or more Latin words; empty when there is none."""
    found = _SENTENCE.search(_OF_NO_LANGUAGE.sub(" · ", text))
    return found.group() if found else ""


def is_chinese(text: str) -> bool:
    return bool(_CHINESE.search(text)) and not english_in(text)
