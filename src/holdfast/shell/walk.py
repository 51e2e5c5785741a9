"""Walks a parsed command the way the shell would run it, and hands each simple command on.

Every branch is taken, loops over known lists run for each value, `cd` moves the paths, functions and
aliases of the same script are followed. What a command prints is kept as long as it is constant, because
`echo rm -rf / | sh` runs what it prints.
"""

from __future__ import annotations

from dataclasses import replace

from holdfast.shell.branches import join, multiplies, never_ends
from holdfast.shell.call import MAX_DEPTH
from holdfast.shell.commands import CommandTable
from holdfast.shell.expand import (
    FROM_OUTPUT,
    MAX_FIELD_LENGTH,
    Expander,
    Field,
    Output,
    Scope,
    hides_command,
)
from holdfast.shell.parse import Parser
from holdfast.shell.record import Context, Record
from holdfast.shell.recover import parse_leniently
from holdfast.shell.redirects import NOTHING, UNSEEN, Redirecting
from holdfast.shell.syntax import (
    Assignment,
    Compound,
    Node,
    Pipeline,
    Sequence,
    ShellSyntaxError,
    Simple,
    Substitution,
    TooComplex,
)
from holdfast.shell.words import MAX_STEPS

MAX_VISITS = 2000
_LOOP_VALUES = 8
# Builtins that take names of variables or numbers: both may have a subscript, which is evaluated.
_TAKES_NAMES = frozenset(
    ("test", "[", "let", "declare", "typeset", "local", "export", "readonly", "read", "mapfile", "readarray", "printf")
) | frozenset(("unset", "wait", "getopts", "((", "return", "exit", "shift", "break", "continue", "ulimit"))


class Walker(Redirecting):
    def __init__(self, table: CommandTable, record: Record) -> None:
        super().__init__(table, record)
        self.expander = Expander(self.substitution, self.evaluate)
        self.visits = MAX_VISITS
        self.parse_budget = [MAX_STEPS]
        self.context = Context()

    # -- text and nodes -----------------------------------------------------------------------------

    def run_text(self, text: str, scope: Scope, stdin: Output, context: Context) -> Output:
        """Shell code inside a string: `bash -c`, `eval`, `ssh host`, a here-document for `sh`."""
        if context.depth > MAX_DEPTH:
            raise TooComplex("wrapped deeper than is followed")
        try:
            script = Parser(text, budget=self.parse_budget).parse()
        except ShellSyntaxError as error:
            self.record.cannot_know(f"bash would not accept {text[:60]!r}: {error}")
            script = parse_leniently(text, error, self.parse_budget)
        return self.visit(script, scope, stdin, context)

    def visit(self, node: Node, scope: Scope, stdin: Output, context: Context) -> Output:
        self.visits -= 1
        if self.visits < 0:
            raise TooComplex("more commands than are followed")
        if isinstance(node, Simple):
            return self.simple(node, scope, stdin, context)
        if isinstance(node, Sequence):
            return self.sequence(node, scope, stdin, context)
        if isinstance(node, Pipeline):
            return self.pipeline(node, scope, stdin, context)
        return self.compound(node, scope, stdin, context)

    def sequence(self, node: Sequence, scope: Scope, stdin: Output, context: Context) -> Output:
        if len(node.items) == 1 and node.operators[0] != "&":
            return self.visit(node.items[0], scope, stdin, context)
        self.record.structured = self.record.structured or len(node.items) > 1
        texts: list[str] | None = []
        taint = 0
        states: list[Scope] = []  # what may be true behind each command of a chain of `&&` and `||`
        reached = ";"
        for item, operator in zip(node.items, node.operators, strict=True):
            before = scope.cwd
            background = operator == "&"
            if reached == "||":
                for state in states:
                    join(scope, state)
            where = replace(context, background=True) if background else context
            output = self.visit(item, scope.copy() if background else scope, stdin, where)
            if scope.cwd != before and operator != "&&":
                scope.cwd_certain = False  # a `cd` that failed would leave us where we were
            if operator in ("&&", "||"):
                states.append(scope.copy())
            elif states:
                for state in states:
                    join(scope, state)
                states = []
            reached = operator
            taint |= output.taint
            if output.text is None:
                texts = None
            elif texts is not None:
                texts.append(output.text)
        return Output("".join(texts) if texts is not None else None, taint)

    def pipeline(self, node: Pipeline, scope: Scope, stdin: Output, context: Context) -> Output:
        output = stdin
        if len(node.commands) > 1:
            self.record.structured = True
            context = replace(context, background=True)  # each part runs beside the others
        last = len(node.commands) - 1
        for position, command in enumerate(node.commands):
            inner = scope if len(node.commands) == 1 else scope.copy()
            before = output.taint if position else 0
            where = context if position == last else replace(context, shown=False)
            output = self.visit(command, inner, output, where)
            output = Output(output.text, output.taint | before)
            if position != last and output.text is None and not output.taint:
                output = Output(None, FROM_OUTPUT)  # it comes from somewhere: a shell behind it is no prompt
            if inner is not scope:
                scope.files.update(inner.files)
                scope.origins.update(inner.origins)
        return output

    def substitution(self, part: Substitution, scope: Scope) -> Output:
        self.record.structured = True
        context = replace(self.context, depth=self.context.depth + 1, shown=False)
        if context.depth > MAX_DEPTH:
            raise TooComplex("nested deeper than is followed")
        saved = self.context
        output = self.visit(part.script, scope.copy(), UNSEEN, context)
        self.context = saved
        return output

    def evaluate(self, text: str | None, scope: Scope) -> None:
        """A value that the shell expands once more: `${x@P}`, a subscript in arithmetic."""
        if text is None:
            self.record.cannot_know("a value is expanded as a prompt, with the commands in it")
            return
        context = self.context.through("a value")
        self.run_text('echo "' + text.replace('"', '\\"') + '"', scope.copy(), UNSEEN, context)
        if "$(" in text or "`" in text:
            self.record.finding("dangerous", "hides", how="a command stands inside a value")

    # -- compound commands --------------------------------------------------------------------------

    def compound(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        self.record.structured = True
        self.context = context
        stdin, sink = self.redirects(node.redirects, scope, stdin, context)
        if sink is not None:
            context = replace(context, shown=False)
        handler = getattr(self, f"_{node.kind}")
        output: Output = handler(node, scope, stdin, context)
        return self.into(sink, output, scope)

    def _group(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        return self.visit(node.blocks[0], scope, stdin, context)

    def _subshell(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        inner = scope.copy()
        output = self.visit(node.blocks[0], inner, stdin, context)
        scope.files.update(inner.files)
        scope.origins.update(inner.origins)
        return output

    def _coproc(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        return self.visit(node.blocks[0], scope.copy(), UNSEEN, replace(context, background=True))

    def _if(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        taint = 0
        branches: list[Scope] = []
        for position, block in enumerate(node.blocks):
            is_condition = position % 2 == 0 and position < len(node.blocks) - 1
            if is_condition:
                self.visit(block, scope, stdin, context)
                continue
            branch = scope.copy()
            taint |= self.visit(block, branch, stdin, context).taint
            branches.append(branch)
        for branch in branches:
            join(scope, branch)
        return Output(None, taint)

    def _case(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        for word in node.words or ():
            self.expander.single(word, scope)
        branches: list[Scope] = []
        taint = 0
        for block in node.blocks:
            branch = scope.copy()
            taint |= self.visit(block, branch, stdin, context).taint
            branches.append(branch)
        for branch in branches:
            join(scope, branch)
        return Output(None, taint)

    def _while(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        lines = stdin.text.splitlines() if stdin.text is not None else None
        rounds = lines[:_LOOP_VALUES] if lines else [None]
        self.record.incomplete = self.record.incomplete or len(lines or ()) > _LOOP_VALUES
        self.endless(node, node.blocks[1])
        taint = stdin.taint
        for line in rounds:
            source = Output(line + "\n" if line is not None else None, stdin.taint)
            self.visit(node.blocks[0], scope, source, context)
            taint |= self.body(node.blocks[1], scope, source, context, again=len(rounds) == 1)
        return Output(None, taint)

    _until = _while

    def body(self, block: Sequence, scope: Scope, stdin: Output, context: Context, again: bool) -> int:
        """One round of a loop, which may as well be none, or one of many: then it sees what it set itself."""
        before = scope.copy()
        taint = self.visit(block, scope, stdin, context).taint
        changed = scope.variables != before.variables
        join(scope, before)
        if again and changed:
            taint |= self.visit(block, scope, stdin, context).taint
            join(scope, before)
        return taint

    def endless(self, node: Compound, block: Sequence) -> None:
        """A loop without an end that starts one process after the other fills the machine."""
        if never_ends(node):
            if multiplies(block):
                self.record.finding("dangerous", "fork_bomb")
            elif "&" in block.operators:
                self.record.read_only = False

    def _for(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        values = list(scope.positional) if node.words is None else self.expander.fields(node.words, scope)
        taint = 0
        rounds = values[:_LOOP_VALUES]
        if len(values) > _LOOP_VALUES:
            self.record.incomplete = True
            rounds = [*rounds[:-1], values[-1]]
        once = len(rounds) == 1 and rounds[0].certain
        for value in rounds:
            scope.variables[node.name] = value
            if once:
                taint |= self.visit(node.blocks[0], scope, stdin, context).taint
            else:
                taint |= self.body(node.blocks[0], scope, stdin, context, again=len(rounds) == 1)
        scope.variables[node.name] = Field(f"${node.name}", dynamic=True)
        return Output(None, taint)

    def _select(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        return self._for(node, scope, stdin, context)

    def _cfor(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        self._arith(node, scope, stdin, context)
        self.endless(node, node.blocks[0])
        return Output(None, self.body(node.blocks[0], scope, stdin, context, again=True))

    def _arith(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        for word in node.words or ():
            value = self.expander.single(word, scope)
            if hides_command(value):
                self.evaluate(value.text, scope)
        return NOTHING

    _cond = _arith

    def _function(self, node: Compound, scope: Scope, stdin: Output, context: Context) -> Output:
        scope.functions[node.name] = node
        return NOTHING

    def call_function(self, name: str, arguments: list[Field], scope: Scope, stdin: Output, context: Context) -> Output:
        if name in context.calls:
            if context.background:
                self.record.finding("dangerous", "fork_bomb")
            else:
                self.record.cannot_know(f"the function {name} calls itself")
            return UNSEEN
        node = scope.functions[name]
        assert isinstance(node, Compound)
        saved = scope.positional, scope.positional_known, scope.hidden
        scope.positional, scope.positional_known, scope.hidden = arguments, True, {}
        output = self.visit(
            node.blocks[0], scope, stdin, replace(context, calls=(*context.calls, name), depth=context.depth + 1)
        )
        for local, value in scope.hidden.items():  # what `local` covered is there again
            if value is None:
                scope.variables.pop(local, None)
            else:
                scope.variables[local] = value
        scope.positional, scope.positional_known, scope.hidden = saved
        return output

    # -- simple commands ----------------------------------------------------------------------------

    def simple(self, node: Simple, scope: Scope, stdin: Output, context: Context) -> Output:
        if not context.depth:
            context = replace(context, span=(node.start, node.end))
        self.context = context
        assignments = [(a, self.assigned(a, scope)) for a in node.assignments]
        self.record.assigned.extend(a.name for a in node.assignments)
        fields = self.expander.fields(node.words, scope)
        stdin, sink = self.redirects(node.redirects, scope, stdin, context)
        if not fields:
            self.bare(node, assignments, scope)
            if sink is not None and not node.words:
                self.emptied(sink, context)
            # `> file` alone empties it
            return self.into(sink, NOTHING, scope) if not node.words else UNSEEN
        if fields[0].text in _TAKES_NAMES:
            for value in fields[1:]:
                if hides_command(value):
                    self.evaluate(value.text, scope)
        environment = {a.name: v for a, v in assignments if isinstance(v, Field)}
        if sink is not None:
            context = replace(context, shown=False)
        name = node.words[0].plain
        if name is not None and name in scope.aliases and name not in context.calls:
            rest = " ".join(w.raw for w in node.words[1:])
            inner = replace(context, calls=(*context.calls, name), depth=context.depth + 1)
            output = self.run_text(f"{scope.aliases[name]} {rest}", scope, stdin, inner)
        else:
            if sink is not None and sink[1] & 64:
                self.socket_shell(fields, stdin, context)
            output = self.run_fields(fields, scope, stdin, context, environment)
        if sink is not None and output.text is not None and not output.text.strip() and not output.taint:
            self.emptied(sink, context)
        return self.into(sink, output, scope)

    def bare(self, node: Simple, assignments: list[tuple[Assignment, Field | list[Field]]], scope: Scope) -> None:
        for assignment, value in assignments:
            self.assign(assignment, value, scope)
        if node.words:  # a word that expanded to nothing: `$(curl x)` printed nothing we know of
            return

    def assigned(self, assignment: Assignment, scope: Scope) -> Field | list[Field]:
        if assignment.index is not None:
            self.expander.single(assignment.index, scope)
        if isinstance(assignment.value, list):
            return self.expander.fields(assignment.value, scope)
        return self.expander.single(assignment.value, scope)

    def assign(self, assignment: Assignment, value: Field | list[Field], scope: Scope) -> None:
        name = assignment.name
        self.environment_variable(name, value, scope, lasting=True)
        if assignment.index is not None:
            array = scope.variables.get(name)
            index = assignment.index.raw
            if isinstance(value, Field) and index.isdigit():
                known = list(array) if isinstance(array, list) else []
                if int(index) == len(known):
                    scope.variables[name] = [*known, value]
                    return
            scope.variables[name] = Field(f"${{{name}[@]}}", dynamic=True)
            return
        if assignment.append:
            before = scope.variables.get(name)
            if isinstance(before, list) and isinstance(value, list):
                value = [*before, *value]
            elif isinstance(before, Field) and isinstance(value, Field):
                if len(before.text) + len(value.text) > MAX_FIELD_LENGTH:
                    raise TooComplex("a variable longer than is followed")
                value = Field(
                    before.text + value.text, before.dynamic or value.dynamic, taint=before.taint | value.taint
                )
        scope.variables[name] = value
