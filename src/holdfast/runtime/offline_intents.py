"""What a plain request asks for, in English or Chinese: the ears of the offline model (OP1).

Pure: text in, a list of intents out. Nothing is guessed at: what no pattern takes as a whole is `unknown`, and the
model says what it can do instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, cast

from holdfast.runtime.offline_phrases import PATTERNS

IntentKind = Literal[
    "read", "list", "glob", "search", "write", "replace", "delete", "move", "command", "tests", "fetch", "web_search",
    "plan", "summarise", "delegate", "watch", "remember", "settled", "help", "thanks", "unknown",
]  # fmt: skip

_TABLE = tuple((cast(IntentKind, kind), re.compile(pattern, re.IGNORECASE | re.DOTALL)) for kind, pattern in PATTERNS)
_CJK = re.compile("[\u4e00-\u9fff]")
_POLITE = re.compile(
    r"^(?:(?:please|can you|could you|would you|now|then|and|also|first|next)\b[\s,]*"
    r"|(?:请你?|帮我|麻烦你?|然后|再|接着|先)[\s,，]*)+",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"\s*[;；\n]\s*|\s*[,，.。]?\s+(?:and\s+then|then|after\s+that)\s+|[,，。]?\s*(?:然后|接着|之后再)\s*",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")
_TRAILING = re.compile(r"[\s.!?。！？,，]+$")
_QUOTES = (("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("「", "」"))
_HERE = {"it", "here", "this", "这里", "当前", "当前目录", "."}
_VERBATIM: frozenset[IntentKind] = frozenset(("command", "write", "replace", "delegate"))
"""Their text is used exactly as it stands: a full stop belongs to a file's content."""
_WHOLE: frozenset[IntentKind] = frozenset(("write", "delegate", "command"))
"""With several lines they are one request, not several."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing to do; which fields count depends on `kind`."""

    kind: IntentKind
    path: str = ""
    text: str = ""
    """What to search, write, run, fetch, plan or pass on; of `replace` the new text."""
    old: str = ""
    to: str = ""


def speaks_chinese(text: str) -> bool:
    return bool(_CJK.search(text))


def unquoted(text: str) -> str:
    """Without the quotes or backticks around it."""
    text = text.strip()
    for opening, closing in _QUOTES:
        if len(text) >= 2 and text.startswith(opening) and text.endswith(closing):
            return text[1:-1]
    return text


def parse(request: str) -> Intent:
    """One request; a pattern must take all of it."""
    text = _POLITE.sub("", request.strip())
    plain = _TRAILING.sub("", text)
    for kind, pattern in _TABLE:
        found = pattern.fullmatch(text if kind in _VERBATIM else plain) or pattern.fullmatch(plain)
        if found is not None:
            return _intent(kind, found)
    return Intent("unknown", text=request.strip())


def _intent(kind: IntentKind, found: re.Match[str]) -> Intent:
    groups = found.groupdict(default="")
    text = groups.get("url") or groups.get("text") or ""
    intent = Intent(
        kind,
        path=_trimmed(groups.get("path") or ""),
        text=unquoted(text) if kind in _VERBATIM else _trimmed(text),
        old=unquoted(groups.get("old") or ""),
        to=_trimmed(groups.get("to") or ""),
    )
    return replace(intent, path="") if intent.path.lower() in _HERE else intent


def _trimmed(text: str) -> str:
    """Unquoted; what was not quoted also loses the end of the sentence."""
    bare = unquoted(text)
    return bare if bare != text.strip() else _TRAILING.sub("", bare)


def parse_all(message: str) -> list[Intent]:
    """A message as the things it asks for, in order; when a part makes no sense the message stays whole."""
    whole = parse(message)
    if whole.kind in _WHOLE and "\n" in message:
        return [whole]
    intents = [parse(part) for part in _parts(message)]
    return intents if len(intents) > 1 and all(intent.kind != "unknown" for intent in intents) else [whole]


def _parts(message: str) -> Iterator[str]:
    """Cut at `then`, `;` and line ends, never inside quotes."""
    quoted = [found.span() for found in _QUOTED.finditer(message)]
    start = 0
    for cut in _SPLIT.finditer(message):
        if any(begin < cut.start() < end for begin, end in quoted):
            continue
        if part := message[start : cut.start()].strip():
            yield part
        start = cut.end()
    if rest := message[start:].strip():
        yield rest
