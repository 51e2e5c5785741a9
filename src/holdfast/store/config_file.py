"""Loads the configuration: defaults, `config.jsonc`, then what is given inline; all of it or none of it (HK1)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from holdfast.core.decode import Path, Problem, decode, encode
from holdfast.core.patterns import Rule
from holdfast.core.setting_keys import RULES, RUNTIME, leaves
from holdfast.core.settings import DEFAULTS, Settings
from holdfast.store.config_layers import (
    Layer,
    Origin,
    assignment_layer,
    environment_layers,
    mapping_layer,
    merge,
    origin_of,
    read_text,
    text_layer,
)
from holdfast.store.config_problems import ConfigError, ConfigProblem
from holdfast.store.config_rules import rule_problem

COMMANDS: Path = (*RUNTIME, "shell", "commands")

__all__ = ["ConfigError", "ConfigProblem", "Inline", "LoadedConfig", "Origin", "load_config", "load_text"]


@dataclass(frozen=True, slots=True)
class Inline:
    """What is laid over the file, weakest first: environment, a program's mapping, `--set` of the command line."""

    environ: Mapping[str, str] | None = None
    """None takes the process's own."""
    mapping: Mapping[str, Any] | None = None
    assignments: Sequence[str] = ()

    def layers(self) -> Iterator[Layer]:
        yield from environment_layers(os.environ if self.environ is None else self.environ)
        if self.mapping:
            yield mapping_layer(self.mapping)
        for assignment in self.assignments:
            yield assignment_layer(assignment)


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A whole and valid configuration."""

    path: FilePath
    settings: Settings
    rules: tuple[Rule, ...]
    """The user's, then the inline ones; the built-in rules stand below them and are not listed here."""
    layers: tuple[Layer, ...] = ()
    problems: tuple[ConfigProblem, ...] = ()
    """Not empty when a later edit of the file is broken and this, the last good one, stays in force."""

    def origin(self, path: Path) -> Origin:
        return origin_of(self.layers, path)

    def origins(self) -> Iterator[tuple[Path, Any, Origin]]:
        """Every single setting with its value and where that came from."""
        for path, _, value in leaves(Settings, encode(self.settings)):
            yield path, value, self.origin(path)


def load_config(path: FilePath, inline: Inline | None = None) -> LoadedConfig:
    """The configuration in force; raises `ConfigError` with every problem found."""
    return load_text(path, read_text(path), inline)


def load_text(path: FilePath, text: str | None, inline: Inline | None = None) -> LoadedConfig:
    """As `load_config`, for the text that the file has or would have; None: no file."""
    layers = [] if text is None else [text_layer(str(path), text)]
    layers += (inline or Inline()).layers()
    return _combine(path, layers)


def _combine(path: FilePath, layers: Sequence[Layer]) -> LoadedConfig:
    problems: list[ConfigProblem] = []
    rules: list[Rule] = []
    settings = DEFAULTS
    for layer in layers:
        # each layer must be right by itself, so that every problem names its own file and line
        decoded, found = decode(Settings, layer.data)
        problems += map(layer.problem, found)
        if decoded is not None:
            settings = decoded
            problems += _rule_problems(layer, decoded)
            problems += _command_problems(layer, decoded)
            rules += _rules(layer, decoded)
    if not problems and len(layers) > 1:
        merged, found = decode(Settings, merge(layers))
        settings = merged or DEFAULTS
        problems += (_between_layers(layers, problem) for problem in found)
    if problems:
        raise ConfigError(problems)
    return LoadedConfig(path, settings, tuple(rules), tuple(layers))


def _rule_problems(layer: Layer, settings: Settings) -> Iterator[ConfigProblem]:
    for index, rule in enumerate(settings.runtime.permission.rules):
        if said := rule_problem(rule):
            yield layer.problem(Problem((*RULES, index, "pattern"), said))


def _command_problems(layer: Layer, settings: Settings) -> Iterator[ConfigProblem]:
    """A wrong entry for a program would only show when the first command is judged; it is told here."""
    commands = settings.runtime.shell.commands
    if not commands:
        return
    from holdfast.shell import TableError, default_table  # noqa: PLC0415 - few configurations name programs

    table = default_table()
    for name, entry in commands.items():
        try:
            table = table.extended({name: entry})
        except TableError as error:
            yield layer.problem(Problem((*COMMANDS, name), error.message))


def _rules(layer: Layer, settings: Settings) -> Iterator[Rule]:
    for index, rule in enumerate(settings.runtime.permission.rules):
        yield rule.rule(layer.source, layer.line_of((*RULES, index)), index)


def _between_layers(layers: Sequence[Layer], problem: Problem) -> ConfigProblem:
    """A problem that only the layers together have: the newest one that touches the place is named."""
    for layer in reversed(layers):
        if layer.line_of(problem.path) is not None or origin_of([layer], problem.path).source == layer.source:
            return layer.problem(problem)
    return layers[-1].problem(problem)
