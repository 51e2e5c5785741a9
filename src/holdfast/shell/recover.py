"""Text that bash would not accept is still looked through, so that a stray quote hides nothing.

The answer stays `unknown`; the pieces only make sure that danger in them is named.
"""

from __future__ import annotations

from holdfast.shell.lazy import Lazy
from holdfast.shell.parse import Parser
from holdfast.shell.syntax import Literal, Sequence, ShellSyntaxError, Simple, TooComplex, Word

_SEPARATORS = Lazy(r"[\n;|&()]+")
_STRAY = Lazy(r"[\"'`$(){}\\]+")
_MAX_PIECES = 60


def parse_leniently(text: str, error: ShellSyntaxError, budget: list[int]) -> Sequence:
    """The part before the error if it stands alone, then every piece between separators by itself."""
    result = Sequence()
    for piece in _SEPARATORS.split(text)[:_MAX_PIECES]:
        if not piece.strip():
            continue
        try:
            script = Parser(piece, budget=budget).parse()
        except ShellSyntaxError:
            words = _STRAY.sub(" ", piece).split()[:200]
            if not words:
                continue
            nodes = [Word([Literal(word, False)], word) for word in words]
            result.items.append(Simple(nodes, [], [], 0, len(text)))
            result.operators.append(";")
            continue
        except TooComplex:
            break
        result.items.extend(script.items)
        result.operators.extend(";" for _ in script.items)
    return result
