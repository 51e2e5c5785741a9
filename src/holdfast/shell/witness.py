"""A second witness for `read_only`: tree-sitter's bash grammar must not see a command that we did not see.

Two grammars written apart from each other rarely make the same mistake. Only the claim that lets a command
run unasked is checked this way; where tree-sitter itself reports an error, it has nothing to say.
"""

from __future__ import annotations

from typing import Any

from holdfast.shell.lazy import Lazy
from holdfast.shell.syntax import Arithmetic, Literal, Part, Pipeline, Sequence, Simple, Substitution, Variable, Word
from holdfast.shell.syntax import Node as OurNode

# Where a command can stand inside another one; plain words and pipes hide nothing.
_NESTED = Lazy(r"[`\n{}]|\$\(|<<|[<>]\(|\b(?:for|while|until|if|case|select|function|coproc)\b")
_parser: list[Any] = []


def _tree_sitter() -> Any:
    if not _parser:
        import tree_sitter  # noqa: PLC0415 - 15 ms of import that most processes never need
        import tree_sitter_bash  # noqa: PLC0415 - the same

        _parser.append(tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language())))
    return _parser[0]


def sees_more(text: str, script: Sequence) -> str:
    """The name of a command that only tree-sitter sees; "" when it sees nothing new."""
    if _NESTED.search(text) is None:
        return ""
    root = _tree_sitter().parse(text.encode("utf-8", "surrogatepass")).root_node
    if root.has_error:
        return ""
    ours = set(_names(script))
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "command_name":
            name = node.text.decode("utf-8", "replace") if node.text is not None else ""
            # `time` is a reserved word to bash; two backquoted words in a row are one name to tree-sitter.
            if name not in ours and name != "time" and "`" not in name:
                return str(name)
        stack.extend(node.children)
    return ""


def _names(script: Sequence) -> list[str]:
    """The first word of every simple command, as it is written, at any depth."""
    found: list[str] = []
    nodes: list[OurNode] = [script]
    words: list[Word] = []
    while nodes or words:
        if words:
            _look_into(words.pop().parts, nodes, words)
            continue
        node = nodes.pop()
        if isinstance(node, Simple):
            if node.words:
                found.append(node.words[0].raw)
                words.extend(node.words)
            words.extend(r.target for r in node.redirects)
            for assignment in node.assignments:
                value = assignment.value
                words.extend(value if isinstance(value, list) else [value])
        elif isinstance(node, Sequence):
            nodes.extend(node.items)
        elif isinstance(node, Pipeline):
            nodes.extend(node.commands)
        else:
            nodes.extend(node.blocks)
            words.extend(node.words or ())
            words.extend(r.target for r in node.redirects)
    return found


def _look_into(parts: list[Part], nodes: list[OurNode], words: list[Word]) -> None:
    for part in parts:
        if isinstance(part, Substitution):
            nodes.append(part.script)
        elif isinstance(part, Variable):
            if part.argument is not None:
                words.append(part.argument)
            if part.index is not None:
                words.append(part.index)
        elif isinstance(part, Arithmetic):
            words.append(Word(part.parts, part.source))
        else:
            assert isinstance(part, Literal)
