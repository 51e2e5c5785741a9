"""`holdfast config`: show, check and change settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_CONFIG, EXIT_USAGE, Failure
from holdfast.doors.output import emit, json_option, table

if TYPE_CHECKING:
    from holdfast.store.config_problems import ConfigProblem


@click.group()
def config_group() -> None:
    """Show, check and change settings.

    A KEY is written like truncation.maxLines, permission.rules[0] or models["gpt-4.1"].api; `agents.runtime.` in
    front of it may be left out. The reference of all keys is docs/reference/configuration.md.
    """


@config_group.command()
@json_option
@pass_context
def path(context: Context, as_json: bool) -> None:
    """Print where config.jsonc is."""
    file = context.home.config
    emit({"path": str(file), "exists": file.exists()}, str(file), as_json)


@config_group.command()
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@click.option("--changed", is_flag=True, help="Leave out what has its default.")
@json_option
@pass_context
def show(context: Context, origin: bool, changed: bool, as_json: bool) -> None:
    """Print the configuration in force.

    That is the defaults, overlaid with config.jsonc, the environment and --set.
    """
    from holdfast.core.decode import encode
    from holdfast.core.setting_keys import short_key
    from holdfast.store.config_layers import DEFAULT, merge

    config = context.config
    if not origin:
        data = merge(config.layers) if changed else encode(config.settings)
        emit(data, json.dumps(data, ensure_ascii=False, indent=2), as_json)
        return
    found = [entry for entry in config.origins() if not changed or entry[2] != DEFAULT]
    rows = [(short_key(key), json.dumps(value, ensure_ascii=False), str(source)) for key, value, source in found]
    data = [
        {"key": short_key(key), "value": value, "origin": source.source, "line": source.line}
        for key, value, source in found
    ]
    emit(data, table((key, f"= {value}", f"({source})") for key, value, source in rows), as_json)


@config_group.command()
@click.argument("key")
@json_option
@pass_context
def get(context: Context, key: str, as_json: bool) -> None:
    """Print one setting: text as it is, all else as JSON."""
    from holdfast.core.decode import encode
    from holdfast.core.setting_keys import key_text, parse_key
    from holdfast.store.config_layers import value_in

    place = parse_key(key)
    there, value = value_in(encode(context.config.settings), place)
    if not there:
        raise Failure(f"{key_text(place)} is not set, and has no default", EXIT_USAGE)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    source = context.config.origin(place)
    emit({"key": key_text(place), "value": value, "origin": source.source, "line": source.line}, text, as_json)


@config_group.command(name="set")
@click.argument("key")
@click.argument("value")
@json_option
@pass_context
def set_(context: Context, key: str, value: str, as_json: bool) -> None:
    """Write one setting into config.jsonc.

    Comments and everything else in the file stay as they are.

    VALUE is JSON; where only text fits, quotes may be left out. Nothing is written unless the result is right.
    """
    from holdfast.core.setting_keys import key_text, parse_key
    from holdfast.store.config_layers import parse_value
    from holdfast.store.config_write import set_value
    from holdfast.store.json5_tree import Json5Error

    place = parse_key(key)
    try:
        parsed: Any = parse_value(place, value)
    except Json5Error as error:
        raise Failure(f"{value!r} is no value for {key}: {error}", EXIT_USAGE) from None
    context.home.create()
    written = set_value(context.home.config, place, parsed)
    line = written.config.origin(place).line
    said = f"{context.home.config}:{line}: {key_text(place)} is {json.dumps(parsed, ensure_ascii=False)}"
    text = [said if written.changed else f"{said} already"]
    if written.backup:
        text.append(f"the file as it was: {written.backup}")
    data = {"key": key_text(place), "value": parsed, "changed": written.changed, "line": line}
    emit({**data, "backup": written.backup and str(written.backup)}, text, as_json)


@config_group.command()
@click.argument("key")
@json_option
@pass_context
def unset(context: Context, key: str, as_json: bool) -> None:
    """Give one setting its default again.

    It is taken out of config.jsonc; everything else in the file stays as it is.
    """
    from holdfast.core.setting_keys import key_text, parse_key
    from holdfast.store.config_write import unset_value

    place = parse_key(key)
    written = unset_value(context.home.config, place)
    said = "has its default again" if written.changed else "was not set"
    text = [f"{context.home.config}: {key_text(place)} {said}"]
    if written.backup:
        text.append(f"the file as it was: {written.backup}")
    data = {"key": key_text(place), "changed": written.changed, "backup": written.backup and str(written.backup)}
    emit(data, text, as_json)


@config_group.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@json_option
@pass_context
def validate(context: Context, file: Path | None, as_json: bool) -> None:
    """Check config.jsonc and the agents, or FILE.

    Every problem is told with file, line, column and key.
    """
    from holdfast.store.agent_files import chosen_agent_problem, load_agents
    from holdfast.store.config_file import Inline, load_config
    from holdfast.store.config_problems import ConfigError

    chosen = file or context.home.config
    if file is not None and not file.exists():
        raise Failure(f"{file} is not there", EXIT_USAGE)
    problems: list[ConfigProblem] = []
    rules = 0
    agents = load_agents(context.home.agents)
    try:
        config = load_config(chosen, Inline(environ={}) if file else context.inline)
        rules = len(config.rules)
        missing = chosen_agent_problem(config, agents)
        problems += [missing] if missing else []
    except ConfigError as error:
        problems += error.problems
    if file is None:
        problems += agents.problems
    found = [
        {
            "file": p.source,
            "line": p.line,
            "column": p.column,
            "key": p.key,
            "message": p.message.text(),
            "said": p.message.to_dict(),
        }
        for p in problems
    ]
    emit({"path": str(chosen), "valid": not problems, "problems": found}, _verdict(chosen, problems, rules), as_json)
    if problems:
        raise click.exceptions.Exit(EXIT_CONFIG)


def _verdict(file: Path, problems: list[ConfigProblem], rules: int) -> list[str]:
    if problems:
        return [str(problem) for problem in problems]
    if not file.exists():
        return [f"{file} is not there: the defaults hold (`holdfast init` writes it)"]
    return [f"{file} is right: {rules} rule{'' if rules == 1 else 's'} of yours"]
