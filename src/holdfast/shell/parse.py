"""A bash grammar that reads a command the way bash does.

Words, quotes and expansions are read by `words.py`; here are the statements around them. The parser works
by counting steps and depth, never by a clock, so that the same text always gives the same answer.
"""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

from holdfast.shell.lazy import Lazy
from holdfast.shell.syntax import (
    Assignment,
    Compound,
    Node,
    Pipeline,
    Redirect,
    Sequence,
    ShellSyntaxError,
    Simple,
    Word,
)
from holdfast.shell.words import WordReader

_RESERVED = frozenset(
    "if then else elif fi for while until do done case esac function select time coproc { } ! [[ in".split()
)
_CLOSERS = frozenset(["then", "else", "elif", "fi", "do", "done", "esac", "}"])
_KEYWORD = Lazy(r"(?:[a-z]+|!|\{|\}|\[\[)(?=[\s;|&<>()]|\Z)")
_REDIRECT = Lazy(
    r"(?P<fd>\d+|\{[A-Za-z_]\w*\})?(?P<op><<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())"
    r"|(?P<both>&>>|&>)"
)
_ASSIGNMENT = Lazy(r"(?P<name>[A-Za-z_]\w*)(?P<index>\[[^\]\s]*\])?(?P<append>\+?)=")
_FUNCTION = Lazy(r"(?P<name>[^\s|&;<>()$`\\\"'{}=]+)[ \t]*\([ \t]*\)")
_FUNCTION_KEYWORD = Lazy(r"function[ \t]+(?P<name>[^\s|&;<>()$`\\\"'{}]+)[ \t]*(?:\([ \t]*\))?")
_FOR = Lazy(r"(?:for|select)[ \t]+(?P<name>[A-Za-z_]\w*)")
_COPROC_NAME = Lazy(r"[A-Za-z_]\w*(?=[ \t]+(?:\{[ \t\n]|\())")
_COMMAND_END = frozenset("\n;|&)")


class Parser(WordReader):
    """One text, read once: `Parser(text).parse()`."""

    def parse(self) -> Sequence:
        script = self.sequence()
        self.skip_newlines()
        if self.position < self.length:
            raise ShellSyntaxError(f"unexpected {self.text[self.position]!r}", self.position)
        return script

    # -- statements ---------------------------------------------------------------------------------

    def sequence(self) -> Sequence:
        """Statements up to a closing word, a closing parenthesis or the end."""
        result = Sequence()
        self.enter()
        while True:
            self.skip_newlines()
            if self.at_sequence_end():
                break
            result.items.append(self.pipeline())
            operator = self.separator()
            result.operators.append(operator)
            if operator == "":
                break
        self.leave()
        return result

    def at_sequence_end(self) -> bool:
        if self.position >= self.length:
            return True
        char = self.text[self.position]
        if char == ")" or self.text.startswith(";;", self.position) or self.text.startswith(";&", self.position):
            return True
        return self.keyword() in _CLOSERS

    def separator(self) -> str:
        self.skip_blank()
        text, at = self.text, self.position
        if at >= self.length:
            return ""
        for operator in ("&&", "||"):
            if text.startswith(operator, at):
                self.position += 2
                self.skip_newlines()
                if self.at_sequence_end():
                    raise ShellSyntaxError(f"nothing follows {operator!r}", self.position)
                return operator
        char = text[at]
        if char == "\n":
            return ";"
        if char == ";" and not text.startswith((";;", ";&"), at):
            self.position += 1
            return ";"
        if char == "&":
            self.position += 1
            return "&"
        return ""

    def pipeline(self) -> Node:
        negated = False
        commands: list[Node] = []
        while True:
            self.skip_blank()
            if self.keyword() == "!":
                if commands:
                    raise ShellSyntaxError("unexpected '!'", self.position)
                negated = not negated
                self.position += 1
                continue
            if self.keyword() == "time" and not commands:  # behind a `|` it is the program of that name
                self.position += 4
                self.skip_blank()
                if self.text.startswith("-p", self.position):
                    self.position += 2
                self.skip_blank()
                if self.position >= self.length or self.text[self.position] in _COMMAND_END:
                    break
                continue
            commands.append(self.command())
            self.skip_blank()
            if self.text.startswith("|", self.position) and not self.text.startswith("||", self.position):
                self.position += 2 if self.text.startswith("|&", self.position) else 1
                self.skip_newlines()
                continue
            break
        if len(commands) == 1 and not negated:
            return commands[0]
        return Pipeline(commands, negated)

    def command(self) -> Node:
        self.step()
        start = self.position
        text = self.text
        if start >= self.length:
            raise ShellSyntaxError("a command is missing", start)
        if text[start] == "(":
            if text.startswith("((", start):
                arithmetic = self.try_arithmetic_command()
                if arithmetic is not None:
                    return self.with_redirects(arithmetic)
            self.position += 1
            body = self.sequence()
            self.expect_char(")")
            return self.with_redirects(Compound("subshell", [body], start=start, end=self.position))
        keyword = self.keyword()
        if keyword in _RESERVED:
            node = self.keyword_command(keyword)
            if node is not None:
                return self.with_redirects(node)
        match = _FUNCTION.match(text, start)
        if match is not None:
            self.position = match.end()
            return self.function_body(match["name"], start)
        return self.simple()

    def keyword_command(self, keyword: str) -> Compound | None:
        start = self.position
        if keyword == "{":
            self.position += 1
            body = self.sequence()
            self.expect_keyword("}")
            return Compound("group", [body], start=start, end=self.position)
        if keyword == "if":
            return self.if_command()
        if keyword in ("while", "until"):
            self.position += 5
            condition = self.sequence()
            return Compound(keyword, [condition, self.do_group()], start=start, end=self.position)
        if keyword in ("for", "select"):
            return self.for_command(keyword)
        if keyword == "case":
            return self.case_command()
        if keyword == "function":
            match = _FUNCTION_KEYWORD.match(self.text, start)
            if match is None:
                raise ShellSyntaxError("a function name is missing", start)
            self.position = match.end()
            return self.function_body(match["name"], start)
        if keyword == "[[":
            return self.condition_command()
        if keyword == "coproc":
            self.position += 6
            self.skip_blank()
            name = _COPROC_NAME.match(self.text, self.position)
            if name is not None:
                self.position = name.end()
                self.skip_blank()
            return Compound("coproc", [Sequence([self.command()], [""])], start=start, end=self.position)
        if keyword in ("in", "time"):
            return None
        raise ShellSyntaxError(f"unexpected {keyword!r}", start)

    def if_command(self) -> Compound:
        start = self.position
        blocks: list[Sequence] = []
        self.position += 2
        while True:
            blocks.append(self.sequence())
            self.expect_keyword("then")
            blocks.append(self.sequence())
            following = self.keyword()
            if following == "elif":
                self.position += 4
                continue
            if following == "else":
                self.position += 4
                blocks.append(self.sequence())
            self.expect_keyword("fi")
            return Compound("if", blocks, start=start, end=self.position)

    def for_command(self, keyword: str) -> Compound:
        start = self.position
        match = _FOR.match(self.text, start)
        if match is None:
            self.position += len(keyword)
            self.skip_blank()
            if not self.text.startswith("((", self.position):
                raise ShellSyntaxError("the variable of the loop is missing", self.position)
            header = self.arithmetic_words(loop=True)
            self.skip_separator()
            return Compound("cfor", [self.loop_body()], words=header, start=start, end=self.position)
        self.position = match.end()
        self.skip_newlines()
        words: list[Word] | None = None
        if self.keyword() == "in":
            self.position += 2
            words = []
            while True:
                self.skip_blank()
                if self.position >= self.length or self.text[self.position] in "\n;":
                    break
                words.append(self.word())
        self.skip_separator()
        body = self.loop_body()
        return Compound(keyword, [body], name=match["name"], words=words, start=start, end=self.position)

    def skip_separator(self) -> None:
        self.skip_blank()
        if self.text.startswith(";", self.position):
            self.position += 1
        self.skip_newlines()

    def loop_body(self) -> Sequence:
        if self.keyword() == "{":
            self.position += 1
            body = self.sequence()
            self.expect_keyword("}")
            return body
        return self.do_group()

    def do_group(self) -> Sequence:
        self.expect_keyword("do")
        body = self.sequence()
        self.expect_keyword("done")
        return body

    def case_command(self) -> Compound:
        start = self.position
        self.position += 4
        self.skip_blank()
        words = [self.word()]
        self.skip_newlines()
        self.expect_keyword("in")
        blocks: list[Sequence] = []
        while True:
            self.skip_newlines()
            if self.keyword() == "esac":
                break
            if self.text.startswith("(", self.position):
                self.position += 1
            while True:
                self.skip_blank()
                words.append(self.word())
                self.skip_blank()
                if not self.text.startswith("|", self.position):
                    break
                self.position += 1
            self.expect_char(")")
            blocks.append(self.sequence())
            self.skip_newlines()
            for ending in (";;&", ";;", ";&"):
                if self.text.startswith(ending, self.position):
                    self.position += len(ending)
                    break
            else:
                break
        self.expect_keyword("esac")
        return Compound("case", blocks, words=words, start=start, end=self.position)

    def condition_command(self) -> Compound:
        """`[[ ... ]]`: operators are data here, only the words matter (they may hold substitutions)."""
        start = self.position
        self.position += 2
        words: list[Word] = []
        while True:
            self.skip_newlines()
            if self.position >= self.length:
                raise ShellSyntaxError("']]' is missing", self.position)
            if self.keyword_text("]]"):
                self.position += 2
                return Compound("cond", [], words=words, start=start, end=self.position)
            if self.text[self.position] in "()<>|&;!":
                self.position += 1
                continue
            words.append(self.word())

    def function_body(self, name: str, start: int) -> Compound:
        self.skip_newlines()
        body = self.command()
        return Compound("function", [Sequence([body], [""])], name=name, start=start, end=self.position)

    def with_redirects(self, node: Compound) -> Compound:
        while True:
            self.skip_blank()
            redirect = self.redirect()
            if redirect is None:
                return node
            node.redirects.append(redirect)

    def try_arithmetic_command(self) -> Compound | None:
        start = self.position
        try:
            words = self.arithmetic_words()
        except ShellSyntaxError:
            self.position = start
            return None
        return Compound("arith", [], words=words, start=start, end=self.position)

    # -- simple commands ----------------------------------------------------------------------------

    def simple(self) -> Simple:
        start = self.position
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        end = start
        while True:
            self.skip_blank()
            if self.position >= self.length:
                break
            char = self.text[self.position]
            redirect = self.redirect() if char in "<>&{" or char.isdigit() else None
            if redirect is not None:
                redirects.append(redirect)
                end = self.position
                continue
            if char in _COMMAND_END:
                break
            if char == "(":
                raise ShellSyntaxError("unexpected '('", self.position)
            assignment = self.assignment() if not words else None
            if assignment is not None:
                assignments.append(assignment)
            else:
                words.append(self.word())
            end = self.position
        if not words and not assignments and not redirects:
            raise ShellSyntaxError("a command is missing", start)
        return Simple(words, assignments, redirects, start, end)

    def assignment(self) -> Assignment | None:
        match = _ASSIGNMENT.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        index = WordReader(match["index"][1:-1]).whole_word() if match["index"] else None
        value: Word | list[Word]
        value = self.array() if self.text.startswith("(", self.position) else self.word(may_be_empty=True)
        return Assignment(match["name"], value, append=bool(match["append"]), index=index)

    def array(self) -> list[Word]:
        self.position += 1
        words: list[Word] = []
        while True:
            self.skip_newlines()
            if self.position >= self.length:
                raise ShellSyntaxError("')' of an array is missing", self.position)
            if self.text[self.position] == ")":
                self.position += 1
                return words
            words.append(self.word())

    def redirect(self) -> Redirect | None:
        match = _REDIRECT.match(self.text, self.position)
        if match is None:
            return None
        self.step()
        self.position = match.end()
        operator = match["op"] or match["both"]
        self.skip_blank()
        if operator in ("<<", "<<-"):
            delimiter = self.word()
            redirect = Redirect(operator, delimiter, match["fd"] or "", heredoc=True)
            self.pending_heredocs.append(redirect)
            return redirect
        return Redirect(operator, self.word(), match["fd"] or "")

    # -- small tools --------------------------------------------------------------------------------

    def keyword(self) -> str:
        match = _KEYWORD.match(self.text, self.position)
        return match[0] if match is not None and match[0] in _RESERVED else ""

    def keyword_text(self, expected: str) -> bool:
        after = self.position + len(expected)
        return self.text.startswith(expected, self.position) and (
            after >= self.length or self.text[after] in " \t\n;|&)<>"
        )

    def expect_keyword(self, keyword: str) -> None:
        self.skip_newlines()
        if self.text.startswith(";", self.position) and keyword in ("do", "then"):
            self.position += 1
            self.skip_newlines()
        if self.keyword() != keyword:
            raise ShellSyntaxError(f"{keyword!r} is missing", self.position)
        self.position += len(keyword)

    def expect_char(self, char: str) -> None:
        self.skip_newlines()
        if not self.text.startswith(char, self.position):
            raise ShellSyntaxError(f"{char!r} is missing", self.position)
        self.position += 1


def parse_command(text: str) -> Sequence:
    return Parser(text).parse()
