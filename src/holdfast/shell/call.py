"""One program call, and what every reader of calls can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.shell.commands import CommandTable
from holdfast.shell.expand import Field, Output, Scope
from holdfast.shell.options import Arguments
from holdfast.shell.reading import SimpleCommand
from holdfast.shell.record import Context, Record


@dataclass(slots=True)
class Call:
    """What a handler or a role needs to know about the program that is being read."""

    name: str
    spec: Mapping[str, Any]
    fields: list[Field]
    scope: Scope
    stdin: Output
    context: Context
    command: SimpleCommand
    arguments: Arguments = field(default_factory=Arguments)
    taint: int = 0
    path: tuple[str, ...] = ()
    environment: Mapping[str, Field] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return " ".join((self.name, *self.path))


MAX_DEPTH = 24


class Engine(ABC):
    """The walker, seen from below: each layer (roles, entries, calls, walk) gives a part of it."""

    table: CommandTable
    record: Record

    @abstractmethod
    def run_text(self, text: str, scope: Scope, stdin: Output, context: Context) -> Output:
        """Shell code in a string."""

    @abstractmethod
    def run_fields(
        self,
        fields: list[Field],
        scope: Scope,
        stdin: Output,
        context: Context,
        environment: Mapping[str, Field] | None = None,
    ) -> Output:
        """A program with its arguments."""

    @abstractmethod
    def run_script(
        self,
        target: Field,
        scope: Scope,
        stdin: Output,
        context: Context,
        command: SimpleCommand | None,
        arguments: list[Field],
        language: str = "shell",
    ) -> Output:
        """A file with a program in it."""

    @abstractmethod
    def call_function(self, name: str, arguments: list[Field], scope: Scope, stdin: Output, context: Context) -> Output:
        """A function that the script defined."""

    def note(self, call: Call) -> None:
        """The program itself runs (a wrapper with nothing to run, or no wrapper at all)."""
        self.record.commands.append(call.command)
