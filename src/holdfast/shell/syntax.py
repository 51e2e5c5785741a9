"""The shape of a parsed command: plain nodes, without any judgement.

A word keeps its parts apart (literal, variable, substitution ...), because what quoting hides from the
shell must also be hidden from us: `"rm -rf /"` after `echo` is text, after `bash -c` it is a program.
"""

from __future__ import annotations

from dataclasses import dataclass, field


class ShellSyntaxError(ValueError):
    """The text is not a command that bash would accept, seen at `position`."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} at character {position}")
        self.message = message
        self.position = position


class TooComplex(Exception):
    """The command is larger or deeper than a reader may follow; it is answered as unknown."""


@dataclass(slots=True, eq=False, repr=False)
class Literal:
    text: str
    quoted: bool


@dataclass(slots=True, eq=False, repr=False)
class Variable:
    """`$x`, `${x}`, `${x:-word}`, `${x[1]}`, `${!x}`, `${#x}`."""

    name: str
    quoted: bool
    source: str
    prefix: str = ""  # "!" or "#"
    index: Word | None = None
    operator: str = ""
    argument: Word | None = None


@dataclass(slots=True, eq=False, repr=False)
class Substitution:
    """`$(...)` and backquotes (direction ""), `<(...)` and `>(...)`."""

    script: Sequence
    quoted: bool
    source: str
    direction: str = ""


@dataclass(slots=True, eq=False, repr=False)
class Arithmetic:
    parts: list[Part]
    source: str


Part = Literal | Variable | Substitution | Arithmetic


@dataclass(slots=True, eq=False, repr=False)
class Word:
    parts: list[Part]
    raw: str
    start: int = 0
    end: int = 0

    @property
    def plain(self) -> str | None:
        """The text when the word is nothing but one unquoted literal (needed for reserved words, aliases)."""
        if len(self.parts) == 1:
            part = self.parts[0]
            if isinstance(part, Literal) and not part.quoted:
                return part.text
        return None


@dataclass(slots=True, eq=False, repr=False)
class Assignment:
    name: str
    value: Word | list[Word]
    append: bool = False
    index: Word | None = None


@dataclass(slots=True, eq=False, repr=False)
class Redirect:
    operator: str
    target: Word
    descriptor: str = ""
    heredoc: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Simple:
    words: list[Word]
    assignments: list[Assignment]
    redirects: list[Redirect]
    start: int
    end: int


@dataclass(slots=True, eq=False, repr=False)
class Pipeline:
    commands: list[Node]
    negated: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Sequence:
    """Commands one after another; `operators[i]` joins item i with the next one: `;`, `&`, `&&`, `||`."""

    items: list[Node] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False, repr=False)
class Compound:
    """Groups, subshells, loops, conditions, functions.

    `words` is the list of a `for` or the subject of a `case`; `blocks` are the sequences inside it.
    """

    kind: str  # group subshell if while until for cfor select case arith cond function coproc
    blocks: list[Sequence]
    redirects: list[Redirect] = field(default_factory=list)
    name: str = ""
    words: list[Word] | None = None
    start: int = 0
    end: int = 0


Node = Simple | Pipeline | Sequence | Compound
