"""`read_command`: one shell command in, its reading out. Pure: no disk, no clock, no process."""

from __future__ import annotations

from holdfast.shell.commands import CommandTable, default_table
from holdfast.shell.expand import Output, Scope
from holdfast.shell.parse import Parser
from holdfast.shell.reading import CommandReading, Risk
from holdfast.shell.reasons import sentence
from holdfast.shell.record import Context, Record
from holdfast.shell.recover import parse_leniently
from holdfast.shell.smuggle import names_shell
from holdfast.shell.spoofing import unseen_characters
from holdfast.shell.statements import destructive_statement
from holdfast.shell.syntax import ShellSyntaxError, TooComplex
from holdfast.shell.walk import Walker
from holdfast.shell.witness import sees_more

MAX_LENGTH = 65536


def read_command(
    text: str, *, cwd: str | None = None, home: str | None = None, table: CommandTable | None = None
) -> CommandReading:
    """What `text` would do if bash ran it in `cwd`.

    Longer or deeper commands than are followed are answered as unknown, so every call ends soon.
    """
    if not isinstance(text, str):
        raise TypeError(f"a command is text, got {type(text).__name__}; decode it first")
    cwd = None if cwd is None else str(cwd)  # a path object is as good
    home = None if home is None else str(home)
    record = Record()
    if len(text) > MAX_LENGTH:
        record.cannot_know(f"it is longer than {MAX_LENGTH} characters")
        record.incomplete = True
        return _reading(text, record, False)
    has_error = False
    walker = Walker(table if table is not None else default_table(), record)
    try:
        clean = text.replace("\r\n", "\n")
        if "\0" in clean:
            record.cannot_know("it holds a NUL, which some shells drop and others stop at")
            clean = clean.replace("\0", "")
        if not text.isascii() and (hidden := unseen_characters(text)):
            record.finding("dangerous", "hides", how=hidden)
        try:
            script = Parser(clean, budget=walker.parse_budget).parse()
        except ShellSyntaxError as error:
            has_error = True
            record.cannot_know(f"bash would not accept it: {error}")
            if names_shell(clean):
                record.finding("dangerous", "escape", program="text that bash would not accept")
            statement = destructive_statement(clean)
            if statement:
                record.finding("dangerous", "sql_destroys", statement=statement)
            script = parse_leniently(clean, error, walker.parse_budget)
        walker.visit(script, Scope(cwd, home), Output(None), Context())
        if record.read_only and not record.unknown and not has_error:
            unseen = sees_more(clean, script)
            if unseen:
                record.cannot_know(f"another grammar sees the command {unseen!r} in it")
    except TooComplex as error:
        record.cannot_know(str(error))
        record.incomplete = True
    except RecursionError:
        record.cannot_know("nested deeper than is followed")
    except Exception as error:  # a fault of ours must never look like a harmless command
        record.cannot_know(f"the reader failed on it ({type(error).__name__}: {error})")
        record.incomplete = True
    return _reading(text, record, has_error)


def _reading(text: str, record: Record, has_error: bool) -> CommandReading:
    read_only = record.read_only and not record.unknown and not has_error
    worst = record.worst()
    risk: Risk = worst[0] if worst is not None else "safe"
    if record.unknown and risk == "safe":
        risk = "caution"
    if not read_only and risk == "safe" and record.commands and not record.read_only:
        risk = "caution" if any(e.kind not in ("reads", "network") for e in record.effects) else "safe"
    if worst is not None and worst[0] == risk and risk != "safe":
        code, params = worst[1], worst[2]
    elif record.unknown:
        code, params = "unknown", {"why": record.unknown[0]}
    elif not record.commands and not record.effects:
        code, params = "nothing", {}
    else:
        code, params = ("read_only" if read_only else "harmless"), {}
    if record.unknown and risk == "caution":
        code, params = "unknown", {"why": record.unknown[0]}
    return CommandReading(
        command=text,
        risk=risk,
        reason=sentence(code, params),
        reason_code=code,
        reason_params=params,
        read_only=read_only,
        unknown=bool(record.unknown),
        unknown_why=record.unknown[0] if record.unknown else "",
        effects=tuple(record.effects),
        simple_commands=tuple(record.commands),
        compound=record.structured or len(record.commands) > 1,
        has_error=has_error,
        incomplete=record.incomplete,
        danger_codes=tuple(dict.fromkeys(code for risk, code, _ in record.findings if risk == "dangerous")),
        assigned=tuple(dict.fromkeys(record.assigned)),
    )
