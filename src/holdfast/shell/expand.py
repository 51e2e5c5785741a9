"""From a word to the arguments it becomes: quotes removed, constants put in, the unknown marked.

What is not known before the command runs keeps its own spelling (`$x`, `$(date)`) and is marked dynamic,
so that a reader of the effects still sees where it came from.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache

from holdfast.shell.braces import expand_braces
from holdfast.shell.lazy import Lazy
from holdfast.shell.syntax import Arithmetic, Literal, Substitution, TooComplex, Variable, Word

# Where a value that is not written in the command comes from.
FROM_NETWORK, FROM_SECRET, FROM_FILE, FROM_DECODER, FROM_OUTPUT, FROM_SHELL = 1, 2, 4, 8, 16, 32
FROM_TREE = 128
"""Whole folders, packed together."""
MAX_FIELDS = 1024
MAX_FIELD_LENGTH = 65536
MAX_PATTERN_TEXT = 512

_SUBSCRIPT = Lazy(r"\w\[[^\]]*(?:\$\(|`|\$\{[^}]*@P)")
_NAME = Lazy(r"[A-Za-z_]\w*")
_GLOB = Lazy(r"[*?\[]")
_ABSOLUTE_VARIABLES = frozenset(("HOME", "PATH", "PWD", "SHELL", "OLDPWD", "TMPDIR", "BASH"))


@dataclass(slots=True)
class Field:
    """One argument."""

    text: str
    dynamic: bool = False
    glob: bool = False
    taint: int = 0
    quoted: bool = False

    @property
    def certain(self) -> bool:
        return not (self.dynamic or self.glob)


@dataclass(slots=True)
class Output:
    """What a command prints, as far as it is known: `text` is None when it is not."""

    text: str | None = None
    taint: int = 0


Value = Field | list[Field]


def hides_command(value: Field) -> bool:
    """`'a[$(cmd)]'`: where a number or a name is expected, bash runs what stands in the subscript."""
    return not value.dynamic and "[" in value.text and _SUBSCRIPT.search(value.text) is not None


@dataclass(slots=True)
class Scope:
    """What the shell remembers while it runs: a subshell works on a copy."""

    cwd: str | None
    home: str | None
    variables: dict[str, Value] = field(default_factory=dict)
    positional: list[Field] = field(default_factory=list)
    positional_known: bool = False
    functions: dict[str, object] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    """Content of files that the script itself wrote, by absolute path."""
    origins: dict[str, int] = field(default_factory=dict)
    """Where the content of a written file came from (FROM_NETWORK ...)."""
    cwd_certain: bool = True
    hidden: dict[str, Value | None] = field(default_factory=dict)
    """Variables that `local` covers in the function that is running, with the values they get back."""
    descriptors: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Where open descriptors lead to: (path, 1 append | 64 socket)."""

    def copy(self) -> Scope:
        return Scope(
            self.cwd,
            self.home,
            dict(self.variables),
            self.positional,
            self.positional_known,
            dict(self.functions),
            dict(self.aliases),
            dict(self.files),
            dict(self.origins),
            self.cwd_certain,
            self.hidden,
            dict(self.descriptors) if self.descriptors else {},
        )


class Expander:
    """Expands words in a scope; `run` visits a substitution and tells what it prints."""

    def __init__(
        self, run: Callable[[Substitution, Scope], Output], evaluate: Callable[[str | None, Scope], None]
    ) -> None:
        self.run = run
        self.evaluate = evaluate
        """Called with text whose substitutions the shell runs although it came from a value; None: not known."""

    def fields(self, words: list[Word], scope: Scope) -> list[Field]:
        result: list[Field] = []
        for word in words:
            if len(word.parts) == 1:  # by far the most common word: one literal
                part = word.parts[0]
                if type(part) is Literal and (part.quoted or "{" not in part.text):
                    result.append(self._literal_field(part, scope))
                    continue
            for single in expand_braces(word):
                self._expand_into(result, single, scope, name=not result)
            if len(result) > MAX_FIELDS:
                raise TooComplex("more arguments than are followed")
        return result

    def single(self, word: Word, scope: Scope) -> Field:
        """A word where no splitting happens: an assignment, a redirect target, a here-document."""
        pieces: list[str] = []
        dynamic, taint = False, 0
        is_glob = False
        for position, part in enumerate(word.parts):
            if isinstance(part, Literal):
                pieces.append(self._tilde(part.text, scope) if position == 0 and not part.quoted else part.text)
                is_glob = is_glob or (not part.quoted and bool(_GLOB.search(part.text)))
                continue
            for index, value in enumerate(self._values(part, scope, False)):
                pieces.append((" " if index else "") + value.text)
                dynamic, taint = dynamic or value.dynamic, taint | value.taint
        return Field(_short("".join(pieces)), dynamic, is_glob, taint, True)

    def _literal_field(self, part: Literal, scope: Scope) -> Field:
        if part.quoted:
            return Field(part.text, quoted=True)
        text = part.text
        if text[0] == "~":
            text = self._tilde(text, scope)
        return Field(text, glob=_GLOB.search(text) is not None and text != "[")

    def _tilde(self, text: str, scope: Scope) -> str:
        if text.startswith("~+"):
            return (scope.cwd or "$PWD") + text[2:]
        if scope.home is not None and (text == "~" or text.startswith("~/")):
            return scope.home + text[1:]
        return text

    def _expand_into(self, result: list[Field], word: Word, scope: Scope, name: bool) -> None:
        current = Field("")
        started = False
        for position, part in enumerate(word.parts):
            if isinstance(part, Literal):
                text = part.text
                if position == 0 and not part.quoted:
                    text = self._tilde(text, scope)
                current.text += text
                current.quoted = current.quoted or part.quoted
                current.glob = current.glob or (not part.quoted and bool(_GLOB.search(text)))
                started = started or part.quoted or bool(text)
                continue
            values = self._values(part, scope, name)
            quoted = getattr(part, "quoted", True)
            separate = quoted and isinstance(part, Variable) and _is_all_elements(part)
            for index, value in enumerate(values):
                if index:
                    if separate or not quoted:
                        result.append(current)
                        current = Field("")
                    else:
                        current.text += " "
                split = not quoted and not value.dynamic and not isinstance(part, Arithmetic)
                pieces = _split(value.text, scope) if split else [value.text]
                for number, piece in enumerate(pieces):
                    if number:
                        if started:
                            result.append(current)
                        current = Field("")
                        started = False
                    current.text += piece
                    started = started or bool(piece)
                current.dynamic = current.dynamic or value.dynamic
                current.taint |= value.taint
                current.glob = current.glob or value.glob
                started = started or quoted or value.dynamic
            if quoted and not separate:
                started = True
        if started:
            current.text = _short(current.text)
            result.append(current)

    # -- the value of one part ----------------------------------------------------------------------

    def _values(self, part: Variable | Substitution | Arithmetic, scope: Scope, name: bool) -> list[Field]:
        if isinstance(part, Substitution):
            output = self.run(part, scope)
            if part.direction:
                if not part.script.items:  # bash makes nothing of `<()`, so `<()rm` is `rm`
                    return [Field("")]
                path = f"/dev/fd/{63 + len(scope.files)}"
                if output.text is not None:
                    scope.files[path] = output.text
                return [Field(path, taint=output.taint)]
            if output.text is None:
                return [Field(part.source, dynamic=True, taint=output.taint | FROM_OUTPUT)]
            return [Field(output.text.rstrip("\n"), taint=output.taint)]
        if isinstance(part, Arithmetic):
            for inner in part.parts:
                if not isinstance(inner, Literal):
                    self._values(inner, scope, False)
            for used in _NAME.findall(part.source) if scope.variables else ():
                known = scope.variables.get(used)
                if isinstance(known, Field) and hides_command(known):
                    self.evaluate(known.text, scope)
            return [Field(part.source, dynamic=True)]
        return self._variable(part, scope, name)

    def _variable(self, part: Variable, scope: Scope, name: bool) -> list[Field]:
        found = self._lookup(part, scope)
        if part.prefix == "!" and isinstance(found, Field) and not found.dynamic and found.text:
            if hides_command(found):  # `${!r}` with r='a[$(cmd)]'
                self.evaluate(found.text, scope)
            found = self._lookup(Variable(found.text, part.quoted, part.source), scope)
        elif part.prefix == "!" and not isinstance(found, Field):
            found = None
        if part.prefix == "#":
            return [Field(part.source, dynamic=True)]
        if part.operator or part.argument is not None:
            return self._operated(part, found, scope)
        if found is None:
            if part.name.isdigit() and name:
                return [Field("", dynamic=False)]
            return [Field(part.source, dynamic=True)]
        return found if isinstance(found, list) else [found]

    def _lookup(self, part: Variable, scope: Scope) -> Value | None:
        name = part.name
        if name in "@*" and name:
            if scope.positional_known:
                return list(scope.positional)
            return []
        if name.isdigit():
            number = int(name)
            if number == 0:
                return Field("bash")
            if scope.positional_known:
                return scope.positional[number - 1] if number <= len(scope.positional) else Field("")
            return None
        value = scope.variables.get(name)
        if value is None:
            return _environment(name, scope)
        if isinstance(value, list):
            if part.index is not None:
                index = self.single(part.index, scope).text
                if index in ("@", "*"):
                    return value
                if index.lstrip("-").isdigit() and -len(value) <= int(index) < len(value):
                    return value[int(index)]
                return None
            return value[0] if value else Field("")
        return value

    def _operated(self, part: Variable, found: Value | None, scope: Scope) -> list[Field]:
        operator, argument = part.operator, part.argument
        default = self.single(argument, scope) if argument is not None else Field("")
        single = found if isinstance(found, Field) else None
        if operator in (":-", "-", ":=", "="):
            if single is not None and (single.text or operator in ("-", "=")):
                return [single]
            if isinstance(found, list) and found:
                return found
            if operator in (":=", "="):
                scope.variables[part.name] = default
            return [default]
        if operator == "@" and argument is not None and argument.raw == "P":
            self.evaluate(single.text if single is not None and not single.dynamic else None, scope)
        if operator in (":+", "+"):
            if found is None:  # set or not: the word may be used
                return [Field(default.text, dynamic=True, taint=default.taint)]
            return [default] if (single is None or single.text) else [Field("")]
        if operator in (":?", "?"):
            return [single] if single is not None else [Field(part.source, dynamic=True)]
        if operator == ":" and argument is not None:
            sliced = _slice(part.name, found, argument.raw)
            return sliced if sliced is not None else [Field(part.source, dynamic=True)]
        values = found if isinstance(found, list) else [found] if found is not None else []
        too_long = any(len(v.text) > MAX_PATTERN_TEXT for v in values) or len(default.text) > MAX_PATTERN_TEXT // 4
        if not values or too_long or any(v.dynamic for v in values) or default.dynamic:
            return [Field(part.source, dynamic=True, taint=default.taint)]
        return [Field(_transform(v.text, operator, argument, default.text), taint=v.taint) for v in values]


def _environment(name: str, scope: Scope) -> Field | None:
    if name == "HOME":
        return Field(scope.home) if scope.home is not None else Field("~", dynamic=False)
    if name == "PWD":
        return Field(scope.cwd) if scope.cwd is not None else Field(".", dynamic=False)
    if name == "IFS":
        return Field(" \t\n")
    if name == "TMPDIR":
        return Field("/tmp")
    return None


def _is_all_elements(part: Variable) -> bool:
    return part.name == "@" or (part.index is not None and part.index.raw == "@")


def _slice(name: str, found: Value | None, raw: str) -> list[Field] | None:
    pieces = [piece.strip() for piece in raw.split(":")]
    if not all(piece.lstrip("-").isdigit() for piece in pieces if piece) or len(pieces) > 2:
        return None
    offset = int(pieces[0] or 0)
    length = int(pieces[1]) if len(pieces) == 2 and pieces[1] else None
    if isinstance(found, Field) and not found.dynamic and not (found.text in ("~", ".") and name in ("HOME", "PWD")):
        text = found.text[offset:]
        return [Field(text[:length] if length is None or length >= 0 else text[: len(text) + length])]
    if isinstance(found, list):
        chosen = found[offset:]
        return chosen[:length] if length is not None else chosen
    if name in _ABSOLUTE_VARIABLES and offset == 0 and length == 1:
        return [Field("/")]  # the first character of each of these is a slash
    return None


def _transform(text: str, operator: str, argument: Word | None, pattern: str) -> str:
    if operator in ("#", "##", "%", "%%"):
        return _strip(text, operator, pattern)
    if operator in ("/", "//", "/#", "/%"):
        raw = argument.raw if argument is not None else ""
        old, _, new = raw.partition("/")
        old, new = _unquote(old), _unquote(new)
        if not old:
            return text
        expression = re.compile(_pattern(old).pattern.removesuffix(r"\Z").removesuffix(r"\z"), re.DOTALL)
        return expression.sub(lambda _: new, text, count=0 if operator == "//" else 1)
    if operator in ("^^", "^"):
        return text.upper() if operator == "^^" else text[:1].upper() + text[1:]
    if operator in (",,", ","):
        return text.lower() if operator == ",," else text[:1].lower() + text[1:]
    return text


def _strip(text: str, operator: str, pattern: str) -> str:
    expression = _pattern(pattern)
    ends = range(len(text) + 1)
    if operator in ("#", "##"):
        order = ends if operator == "#" else reversed(ends)
        for end in order:
            if expression.match(text[:end]):
                return text[end:]
        return text
    order = reversed(ends) if operator == "%" else ends
    for begin in order:
        if expression.match(text[begin:]):
            return text[:begin]
    return text


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob[:256]), re.DOTALL)


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text.replace("'", "").replace('"', ""))


def _split(text: str, scope: Scope) -> list[str]:
    """Word splitting. The first and last pieces join what stands beside them, as in bash."""
    separators = scope.variables.get("IFS")
    if isinstance(separators, Field) and not separators.dynamic:
        if not separators.text:
            return [text]
        if separators.text != " \t\n":
            return re.split("[" + re.escape(separators.text) + "]", text)
    if not any(char in text for char in " \t\n"):
        return [text]
    return re.split(r"[ \t\n]+", text)


def _short(text: str) -> str:
    if len(text) > MAX_FIELD_LENGTH:
        raise TooComplex("an argument longer than is followed")
    return text
