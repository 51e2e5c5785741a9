"""A click group that imports a command's module only when that command runs.

Names and one-line helps are data, so that `holdfast --help` and completion import nothing else.
"""

from __future__ import annotations

import errno
import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """One line of the table of commands."""

    name: str
    target: str
    """`module:attribute` of the click command."""
    help: str
    section: str = "Commands"
    hidden: bool = False

    def exists(self) -> bool:
        return importlib.util.find_spec(self.target.partition(":")[0]) is not None

    def load(self) -> click.Command:
        module, _, attribute = self.target.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


EXIT_PROBLEM = 1
EXIT_USAGE = 2
EXIT_CONFIG = 3
EXIT_STORE = 4
EXIT_HOME = 5
EXIT_REFUSED = 6
EXIT_WAITING = 7
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
EXIT_MEANINGS = {
    0: "All is well, and what was asked for is done.",
    EXIT_PROBLEM: "The command ran and found a problem: `doctor` a fault, `audit verify` a touched record.",
    EXIT_USAGE: "The command was called wrongly, or names something that does not exist.",
    EXIT_CONFIG: "The configuration, an agent file or the credentials are wrong or cannot be written; "
    "nothing was started or changed.",
    EXIT_STORE: "The store cannot be opened, read or written; nothing acknowledged is lost.",
    EXIT_HOME: "The home or the vault cannot be used.",
    EXIT_REFUSED: "`run`: the agent has finished, but something that it asked for was refused.",
    EXIT_WAITING: "`run`: the run waits for an answer, or behind another one; `--resume` goes on with it.",
    EXIT_INTERNAL: "A fault of Holdfast itself. `HOLDFAST_DEBUG=1` shows where.",
    EXIT_INTERRUPTED: "Interrupted from the keyboard.",
}
# Errors that are told in one line, by where they are defined: naming them must not import them.
EXIT_OF: dict[str, int] = {
    "holdfast.core.proposals.ProposalError": EXIT_USAGE,
    "holdfast.core.setting_keys.KeyNameError": EXIT_USAGE,
    "holdfast.store.config_problems.ConfigError": EXIT_CONFIG,
    "holdfast.store.config_write.ConfigWriteError": EXIT_CONFIG,
    "holdfast.store.credentials.CredentialsError": EXIT_CONFIG,
    "holdfast.store.interface.StoreError": EXIT_STORE,
    "holdfast.store.home.HomeError": EXIT_HOME,
    "holdfast.store.home.VaultError": EXIT_HOME,
}


class Failure(click.ClickException):
    """An error as the user sees it: one line each on stderr, and an exit code of our own."""

    def __init__(self, message: str, exit_code: int = EXIT_PROBLEM) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it for the class, reads it from the instance

    def show(self, file: Any = None) -> None:
        for line in self.message.splitlines() or [""]:
            click.echo(f"holdfast: {line}", file=file, err=file is None)


def failure_of(error: Exception) -> Failure:
    """How an error is told; one that we do not know is ours, and says so."""
    for kind in type(error).__mro__:
        code = EXIT_OF.get(f"{kind.__module__}.{kind.__qualname__}")
        if code is not None:
            return Failure(str(error), code)
    if isinstance(error, OSError) and error.filename is not None:
        return Failure(f"{error.filename}: {error.strerror or error}", EXIT_HOME)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Failure(
        f"internal error, which is a fault of Holdfast and not yours: {said} (HOLDFAST_DEBUG=1 shows where)",
        EXIT_INTERNAL,
    )


def _usage(error: click.UsageError) -> click.ClickException:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return error
    said = error.format_message().rstrip(".")
    return Failure(f"{said} (see {error.ctx.command_path} --help)" if error.ctx else said, EXIT_USAGE)


class LazyGroup(click.Group):
    """Takes its commands from a table; also turns errors into `Failure`."""

    def __init__(self, *args: Any, table: Sequence[LazyCommand] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._table = {line.name: line for line in table}

    def present(self) -> list[LazyCommand]:
        """The lines whose module is there: a part that is not installed is not offered."""
        return [line for line in self._table.values() if line.exists()]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [line.name for line in self.present()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        line = self._table.get(cmd_name)
        return line.load() if line is not None and line.exists() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            import difflib

            near = difflib.get_close_matches(args[0], self._table, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for line in self.present():
            if not line.hidden:
                sections.setdefault(line.section, []).append((line.name, line.help))
        width = max((len(name) for rows in sections.values() for name, _ in rows), default=0)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in rows])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(line.name, help=line.help)
            for line in self.present()
            if line.name.startswith(incomplete) and not line.hidden
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise _usage(error) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise _usage(error) from None
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            raise click.exceptions.Exit(EXIT_INTERRUPTED) from None
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # whoever read our output has gone; click ends quietly
            if os.environ.get("HOLDFAST_DEBUG"):
                raise
            raise failure_of(error) from None
