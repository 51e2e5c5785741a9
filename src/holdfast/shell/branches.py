"""What is known after a choice: a condition, a loop, `&&` and `||`.

The script may have gone either way, so a value that differs is not known any more, a file may hold either
text, and what came from a secret on one way may still come from it.
"""

from __future__ import annotations

import re

from holdfast.shell.expand import MAX_FIELD_LENGTH, Field, Scope, Value
from holdfast.shell.syntax import Compound, Literal, Node, Pipeline, Sequence, Simple

_TRUE = frozenset(("true", ":", "/bin/true", "/usr/bin/true"))
_FALSE = frozenset(("false", "/bin/false", "/usr/bin/false"))
_PAUSES = frozenset(("wait", "sleep", "read", "break", "exit", "return"))


def join(scope: Scope, other: Scope) -> None:
    """`scope` is as it is, or as `other` is."""
    if scope.variables != other.variables:
        for name in scope.variables.keys() | other.variables.keys():
            mine, theirs = scope.variables.get(name), other.variables.get(name)
            if mine != theirs:
                scope.variables[name] = Field(f"${name}", dynamic=True, taint=_taint(mine) | _taint(theirs))
    if other.cwd != scope.cwd or not other.cwd_certain:
        scope.cwd_certain = False
    if other.functions:
        scope.functions = {**other.functions, **scope.functions}
    if other.aliases:
        scope.aliases = {**other.aliases, **scope.aliases}
    for path, text in other.files.items():
        mine_text = scope.files.get(path)
        if mine_text is None:
            scope.files[path] = text
        elif mine_text != text and len(mine_text) + len(text) < MAX_FIELD_LENGTH:
            scope.files[path] = f"{mine_text}\n{text}"  # whoever runs it may get either
    if other.descriptors:
        scope.descriptors = {**scope.descriptors, **other.descriptors}
    for path, origin in other.origins.items():
        scope.origins[path] = scope.origins.get(path, 0) | origin


def _taint(value: Value | None) -> int:
    if value is None:
        return 0
    if isinstance(value, Field):
        return value.taint
    taint = 0
    for piece in value:
        taint |= piece.taint
    return taint


def never_ends(node: Compound) -> bool:
    """`while true`, `until false`, `for ((;;))`."""
    if node.kind == "cfor":
        raw = " ".join(word.raw for word in node.words or ())
        return re.search(r";\s*;", raw) is not None
    test = node.blocks[0]
    if len(test.items) != 1:
        return False
    item: Node = test.items[0]
    while isinstance(item, Pipeline) and len(item.commands) == 1 and not item.negated:
        item = item.commands[0]
    if isinstance(item, Simple):
        words = [word.raw for word in item.words]
        if node.kind == "until":
            return words[:1] != [] and words[0] in _FALSE
        constant = words[:1] == ["["] and len(words) == 3 and re.fullmatch(r"\w+", words[1]) is not None
        return words[:1] != [] and (words[0] in _TRUE or constant)
    if isinstance(item, Compound) and item.kind in ("arith", "cond") and node.kind == "while":
        parts = [p for word in item.words or () for p in word.parts]
        return (
            len(parts) == 1
            and isinstance(parts[0], Literal)
            and re.fullmatch(r"\s*[1-9]\s*", parts[0].text) is not None
        )
    return False


def multiplies(block: Node) -> bool:
    """Something is started beside the loop, and nothing in it waits."""
    started, pauses = _look(block)
    return started and not pauses


def _look(node: Node) -> tuple[bool, bool]:
    if isinstance(node, Simple):
        return False, bool(node.words) and node.words[0].plain in _PAUSES
    if isinstance(node, Pipeline):
        children: list[Node] = list(node.commands)
    elif isinstance(node, Sequence):
        children = list(node.items)
    else:
        children = list(node.blocks)
    started = pauses = False
    for index, child in enumerate(children):
        background = isinstance(node, Sequence) and node.operators[index] == "&"
        inner_started, inner_pauses = _look(child)
        started = started or inner_started or background
        pauses = pauses or (inner_pauses and not background)
    return started, pauses
