"""Words as bash reads them: quotes, escapes, expansions, substitutions and here-documents."""

from __future__ import annotations

import re

from holdfast.shell.lazy import Lazy
from holdfast.shell.syntax import (
    Arithmetic,
    Literal,
    Part,
    Redirect,
    Sequence,
    ShellSyntaxError,
    Substitution,
    TooComplex,
    Variable,
    Word,
)

MAX_DEPTH = 40
MAX_STEPS = 6000

_PLAIN = Lazy(r"[^\s|&;()<>$`\\\"']+")
_IN_DOUBLE = Lazy(r"[^\"$`\\]+")
_IN_BRACES = Lazy(r"[^}\"'$`\\<>]+")
_IN_HEREDOC = Lazy(r"[^$`\\]+")
_BLANK = Lazy(r"(?:[ \t\r]|\\\n|\\\r\n)+")
_COMMENT = Lazy(r"#[^\n]*")
_NAME = Lazy(r"[A-Za-z_]\w*|[0-9]|[@*#?$!\-]")
_BRACED_NAME = Lazy(r"(?P<prefix>[!#]?)(?P<name>[A-Za-z_]\w*|[0-9]+|[@*?$!#\-])")
_OPERATOR = Lazy(r":?[-=?+]|##?|%%?|//|/#|/%|/|\^\^?|,,?|@|:")
# bash calls `$((touch x))` bad arithmetic, zsh runs it: what reads like a command is read as one.
_NOT_ARITHMETIC = Lazy(
    r";|\b[A-Za-z_]\w*[ \t]+(?:[A-Za-z_.~]|/[A-Za-z])|[ \t]-[A-Za-z]+[ \t]+(?:[A-Za-z_.~\"']|/(?!\s))"
)
_INSIDE = Lazy(r"\$\([^()]*\)|\$\{[^}]*\}|`[^`]*`")
_EXTGLOB = Lazy(r"[?*+@!]\Z")
_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_ANSI = Lazy(
    r"\\(?:x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<u>[0-9A-Fa-f]{1,4})|U(?P<U>[0-9A-Fa-f]{1,8})"
    r"|(?P<oct>[0-7]{1,3})|c(?P<ctl>.)|(?P<other>.))",
    re.DOTALL,
)


def decode_ansi(text: str) -> str:
    """The value of `$'...'`: an escape hides a name from a string match, so it is undone here."""

    def replace(match: re.Match[str]) -> str:
        for group, base in (("hex", 16), ("u", 16), ("U", 16), ("oct", 8)):
            digits = match[group]
            if digits is not None:
                code = int(digits, base)
                return chr(code) if code < 0x110000 else "�"
        if match["ctl"] is not None:
            return chr(ord(match["ctl"]) & 0x1F)
        return _ESCAPES.get(match["other"], match[0])

    return _ANSI.sub(replace, text)


class WordReader:
    """The scanner below the grammar. `budget` is shared by nested readers of one command."""

    def __init__(self, text: str, depth: int = 0, budget: list[int] | None = None) -> None:
        self.text = text
        self.length = len(text)
        self.position = 0
        self.depth = depth
        self.budget = budget if budget is not None else [MAX_STEPS]
        self.pending_heredocs: list[Redirect] = []

    def step(self) -> None:
        self.budget[0] -= 1
        if self.budget[0] < 0:
            raise TooComplex("more parts than are followed")

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooComplex("nested deeper than is followed")

    def leave(self) -> None:
        self.depth -= 1

    # -- blanks, comments, here-documents -----------------------------------------------------------

    def skip_blank(self) -> None:
        text = self.text
        while True:
            match = _BLANK.match(text, self.position)
            if match is not None:
                self.position = match.end()
            if text.startswith("#", self.position) and (self.position == 0 or text[self.position - 1] in " \t\n;|&()"):
                comment = _COMMENT.match(text, self.position)
                assert comment is not None
                self.position = comment.end()
            return

    def skip_newlines(self) -> None:
        while True:
            self.skip_blank()
            if not self.text.startswith("\n", self.position):
                return
            self.position += 1
            if self.pending_heredocs:
                self.read_heredocs()

    def read_heredocs(self) -> None:
        pending, self.pending_heredocs = self.pending_heredocs, []
        for redirect in pending:
            quoted = any(not isinstance(p, Literal) or p.quoted for p in redirect.target.parts)
            delimiter = "".join(p.text for p in redirect.target.parts if isinstance(p, Literal))
            body = self.heredoc_body(delimiter, strip_tabs=redirect.operator == "<<-")
            if quoted:
                redirect.target = Word([Literal(body, True)], body)
            else:
                inner = type(self)(body, self.depth, self.budget)
                redirect.target = Word(inner.parts_until("", _IN_HEREDOC), body)

    def heredoc_body(self, delimiter: str, strip_tabs: bool) -> str:
        lines: list[str] = []
        while self.position < self.length:
            end = self.text.find("\n", self.position)
            line = self.text[self.position : end if end >= 0 else self.length]
            self.position = end + 1 if end >= 0 else self.length
            if strip_tabs:
                line = line.lstrip("\t")
            if line.rstrip("\r") == delimiter:
                if end >= 0:
                    self.position = end  # the newline ends the statement too
                return "".join(lines)
            lines.append(line + "\n")
        return "".join(lines)

    # -- words --------------------------------------------------------------------------------------

    def whole_word(self) -> Word:
        """The complete text as one double-quoted-like word (array indexes, arithmetic)."""
        return Word(self.parts_until("", _IN_DOUBLE), self.text)

    def word(self, may_be_empty: bool = False) -> Word:
        self.step()
        text = self.text
        start = self.position
        parts: list[Part] = []
        while self.position < self.length:
            match = _PLAIN.match(text, self.position)
            if match is not None:
                parts.append(Literal(match[0], False))
                self.position = match.end()
                if self.position >= self.length:
                    break
            char = text[self.position]
            if char == "(" and match is not None:
                if _EXTGLOB.search(match[0]):
                    parts.append(Literal(self.balanced_parentheses(), False))
                    continue
                if match[0].endswith("=") and len(parts) == 1:
                    self.array_argument(parts)
                    continue
                break
            if char in " \t\n\r|&;()":
                if char == "\r" and not text.startswith("\r\n", self.position):
                    self.position += 1
                    continue
                break
            if char in "<>":
                if text.startswith("(", self.position + 1):
                    parts.append(self.process_substitution())
                    continue
                break
            self.word_part(parts)
        if not parts and not may_be_empty:
            raise ShellSyntaxError("a word is missing", start)
        return Word(parts, text[start : self.position], start, self.position)

    def word_part(self, parts: list[Part]) -> None:
        text = self.text
        char = text[self.position]
        if char == "'":
            end = text.find("'", self.position + 1)
            if end < 0:
                raise ShellSyntaxError("a single quote is not closed", self.position)
            parts.append(Literal(text[self.position + 1 : end], True))
            self.position = end + 1
        elif char == '"':
            self.position += 1
            inner = self.parts_until('"', _IN_DOUBLE)
            parts.extend(inner or [Literal("", True)])
        elif char == "\\":
            following = text[self.position + 1 : self.position + 2]
            self.position += 1 + len(following)
            if following != "\n":
                parts.append(Literal(following or "\\", True))
        elif char == "`":
            parts.append(self.backquotes(False))
        elif char == "$":
            parts.append(self.dollar(False))
        else:  # a control character such as NUL, or white space of another alphabet
            parts.append(Literal(char, False))
            self.position += 1

    def array_argument(self, parts: list[Part]) -> None:
        """`declare -a x=(a b)`: the elements stay visible as one quoted text."""
        start = self.position
        inner = self.balanced_parentheses()
        reader = type(self)(inner[1:-1], self.depth, self.budget)
        parts.append(Literal("(", True))
        parts.extend(p for p in reader.parts_until("", _IN_DOUBLE))
        parts.append(Literal(")", True))
        if self.position <= start:
            raise ShellSyntaxError("an array is not closed", start)

    def balanced_parentheses(self) -> str:
        start = self.position
        depth = 0
        while self.position < self.length:
            char = self.text[self.position]
            if char == "(":
                depth += 1
            elif char == ")":
                depth -= 1
                if depth == 0:
                    self.position += 1
                    return self.text[start : self.position]
            elif char in "\"'":
                end = self.text.find(char, self.position + 1)
                self.position = end if end >= 0 else self.length - 1
            elif char == "\n" and depth == 0:
                break
            self.position += 1
        self.position = start
        raise ShellSyntaxError("')' is missing", start)

    def parts_until(self, closing: str, plain: Lazy) -> list[Part]:
        """The parts of a quoted stretch: after `"`, inside `${x:-`, in a here-document (closing "")."""
        text = self.text
        parts: list[Part] = []
        quoted = closing != "}"
        self.enter()
        while True:
            if self.position >= self.length:
                if closing:
                    raise ShellSyntaxError(f"{closing!r} is missing", self.position)
                break
            match = plain.match(text, self.position)
            if match is not None:
                parts.append(Literal(match[0], quoted))
                self.position = match.end()
                continue
            char = text[self.position]
            if char == closing:
                self.position += 1
                break
            if char == "\\" and quoted:
                following = text[self.position + 1 : self.position + 2]
                self.position += 1 + len(following)
                if following == "\n":
                    continue
                parts.append(Literal(following if following and following in '$`"\\' else "\\" + following, True))
            elif char == "$":
                parts.append(self.dollar(quoted))
            elif char == "`":
                parts.append(self.backquotes(quoted))
            elif char in "<>" and not quoted and text.startswith("(", self.position + 1):
                parts.append(self.process_substitution())
            elif quoted or char not in "\"'\\":
                parts.append(Literal(char, True))
                self.position += 1
            else:
                self.word_part(parts)
        self.leave()
        return parts

    # -- expansions ---------------------------------------------------------------------------------

    def dollar(self, quoted: bool) -> Part:
        self.step()
        text, start = self.text, self.position
        following = text[start + 1 : start + 2]
        if following == "(":
            if text.startswith("$((", start):
                arithmetic = self.try_arithmetic(start + 3)
                if arithmetic is not None:
                    return arithmetic
            self.position = start + 2
            script = self.nested_script()
            return Substitution(script, quoted, text[start : self.position])
        if following == "{":
            return self.braced(quoted)
        if following == "[":
            end = text.find("]", start)
            if end > 0:
                self.position = end + 1
                reader = type(self)(text[start + 2 : end], self.depth, self.budget)
                return Arithmetic(reader.parts_until("", _IN_DOUBLE), text[start : end + 1])
        if following == "'" and not quoted:
            return self.ansi_string()
        if following == '"' and not quoted:
            self.position = start + 1
            return Literal("", True)
        match = _NAME.match(text, start + 1)
        if match is None:
            self.position = start + 1
            return Literal("$", True)
        self.position = match.end()
        return Variable(match[0], quoted, "$" + match[0])

    def ansi_string(self) -> Literal:
        start = at = self.position + 2
        while at < self.length and self.text[at] != "'":
            at += 2 if self.text[at] == "\\" else 1
        if at >= self.length:
            raise ShellSyntaxError("a $'...' string is not closed", start)
        self.position = at + 1
        return Literal(decode_ansi(self.text[start:at]), True)

    def nested_script(self) -> Sequence:
        """The script of `$(` up to its `)`; only the full grammar knows where that is."""
        from holdfast.shell.parse import Parser  # noqa: PLC0415 - grammar and words need each other

        inner = Parser(self.text, self.depth, self.budget)
        inner.position = self.position
        script = inner.sequence()
        inner.expect_char(")")
        self.position = inner.position
        return script

    def process_substitution(self) -> Substitution:
        start = self.position
        direction = self.text[start]
        self.position += 2
        script = self.nested_script()
        return Substitution(script, True, self.text[start : self.position], direction)

    def backquotes(self, quoted: bool) -> Substitution:
        from holdfast.shell.parse import Parser  # noqa: PLC0415 - grammar and words need each other

        self.step()
        start = self.position
        at = start + 1
        while at < self.length and self.text[at] != "`":
            at += 2 if self.text[at] == "\\" else 1
        if at >= self.length:
            raise ShellSyntaxError("a backquote is not closed", start)
        inner = re.sub(r'\\([\\`$"])' if quoted else r"\\([\\`$])", r"\1", self.text[start + 1 : at])
        self.position = at + 1
        self.enter()
        script = Parser(inner, self.depth, self.budget).parse()
        self.leave()
        return Substitution(script, quoted, self.text[start : self.position])

    def braced(self, quoted: bool) -> Part:
        start = self.position
        text = self.text
        self.position = start + 2
        match = _BRACED_NAME.match(text, self.position)
        if match is None or (match["prefix"] == "#" and match["name"] == ""):
            raise ShellSyntaxError("'${' is not followed by a name", start)
        self.position = match.end()
        variable = Variable(match["name"], quoted, "", prefix=match["prefix"])
        if text.startswith("[", self.position):
            end = text.find("]", self.position)
            if end < 0:
                raise ShellSyntaxError("']' is missing", self.position)
            reader = type(self)(text[self.position + 1 : end], self.depth, self.budget)
            variable.index = reader.whole_word()
            self.position = end + 1
        operator = _OPERATOR.match(text, self.position)
        if operator is not None:
            variable.operator = operator[0]
            self.position = operator.end()
        if text.startswith("}", self.position) and not variable.operator:
            self.position += 1
        else:
            begin = self.position
            parts = self.parts_until("}", _IN_BRACES)
            variable.argument = Word(parts, text[begin : self.position - 1])
        variable.source = text[start : self.position]
        return variable

    # -- arithmetic ---------------------------------------------------------------------------------

    def try_arithmetic(self, begin: int) -> Arithmetic | None:
        end = self.arithmetic_end(begin)
        if end < 0 or self.reads_like_a_command(begin, end):
            return None
        start = self.position
        reader = type(self)(self.text[begin:end], self.depth, self.budget)
        parts = reader.parts_until("", _IN_DOUBLE)
        self.position = end + 2
        return Arithmetic(parts, self.text[start : self.position])

    def reads_like_a_command(self, begin: int, end: int) -> bool:
        return _NOT_ARITHMETIC.search(_INSIDE.sub("1", self.text[begin:end])) is not None

    def arithmetic_end(self, begin: int) -> int:
        depth = 0
        at = begin
        text = self.text
        while at < self.length:
            char = text[at]
            if char == "(":
                depth += 1
            elif char == ")":
                if depth == 0:
                    return at if text.startswith("))", at) else -1
                depth -= 1
            elif char == "\\":
                at += 1
            at += 1
        return -1

    def arithmetic_words(self, loop: bool = False) -> list[Word]:
        """`((...))` as a command or a loop header."""
        begin = self.position + 2
        end = self.arithmetic_end(begin)
        if end < 0:
            raise ShellSyntaxError("'))' is missing", begin)
        if not loop and self.reads_like_a_command(begin, end):
            raise ShellSyntaxError("no arithmetic", begin)
        reader = type(self)(self.text[begin:end], self.depth, self.budget)
        word = Word(reader.parts_until("", _IN_DOUBLE), self.text[begin:end])
        self.position = end + 2
        return [word]
