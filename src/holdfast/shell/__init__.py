"""Reading shell commands: what a command would read, write, run, reach and destroy, before it runs."""

from holdfast.shell.commands import CommandTable, TableError, default_table
from holdfast.shell.explain import explain
from holdfast.shell.read import read_command
from holdfast.shell.reading import CommandReading, Effect, SimpleCommand

__all__ = [
    "CommandReading",
    "CommandTable",
    "Effect",
    "SimpleCommand",
    "TableError",
    "default_table",
    "explain",
    "read_command",
]
