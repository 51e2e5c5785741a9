"""Old text as data: every line of it is quoted, so nothing in it can pass for an instruction or a system message (SC8).

Quoting all lines, not those that look dangerous, needs no list of dangerous looks. What a reader could take for the end
of the quotation, for another speaker or for a mark of ours is made harmless on top of that.
"""

from __future__ import annotations

import re
import unicodedata

QUOTE = "> "

_TAG = re.compile(r"<(?=[/!?|a-zA-Z\uff5c【<])")
_TAG_END = re.compile(r"(?<=[|/\uff5c>])>")
_SPEAKER = re.compile(
    r"^(\W*)(system|developer|assistant|human|user|tool|instructions?|系统|开发者|助手|用户|指令)(\W{0,4})[:：]",
    re.IGNORECASE,
)
_BRACKETS = str.maketrans({"【": "〔", "】": "〕"})
_INST = re.compile(r"\[(/?)(INST|SYS|SYSTEM|system)\]")


def quoted(text: str) -> list[str]:
    """The lines of a text, each quoted; a text without any gives none."""
    return [QUOTE + line for line in plain_lines(text)]


def plain_lines(text: str) -> list[str]:
    """The lines of a text without what could be taken for markup, a speaker or a hidden sign."""
    lines = (harmless(line) for line in text.splitlines())
    return [line for line in lines if line]


def one_line(text: str, longest: int = 200) -> str:
    """A text as a single harmless line."""
    line = " ".join(plain_lines(text))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def harmless(line: str) -> str:
    """One line, with nothing in it that a model could take for more than a line of text."""
    # Control and format characters first: they could hide a mark from the rules below, or lines from the reader.
    visible = "".join(_shown(char) for char in line)
    visible = visible.translate(_BRACKETS).replace("```", "ʼʼʼ")
    visible = _TAG_END.sub("›", _TAG.sub("‹", visible))
    visible = _INST.sub(r"(\1\2)", visible)
    return _SPEAKER.sub(r"\1\2\3 -", visible).strip()


def _shown(char: str) -> str:
    if char == "\t":
        return " "
    category = unicodedata.category(char)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return ""
    return " " if category == "Zs" else char
