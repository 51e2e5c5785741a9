"""Writes the pages of docs/reference that are made from the code: settings, commands, exit codes, tools, MCP, hosts,
decisions.

`python tools/generate_reference.py` writes them, `--check` only says whether they are up to date (a test does that).
"""

import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click

from holdfast.chain.memory_tools import MEMORY_TOOLS
from holdfast.chain.memory_tools import MOST_TOKENS as MEMORY_TOKENS
from holdfast.chain.recall import MOST_TOKENS as RECALL_TOKENS
from holdfast.chain.recall_tools import RECALL_TOOLS
from holdfast.core.decode import describe, encode, fields_of
from holdfast.core.setting_keys import RUNTIME, leaf_kind
from holdfast.core.settings import AgentHeader, Settings
from holdfast.core.tools import NEUTRAL_TOOLS
from holdfast.doors.cli import COMMANDS, cli
from holdfast.doors.lazy_group import EXIT_MEANINGS
from holdfast.hosts.attach.service import INSTALLERS
from holdfast.hosts.host import Host
from holdfast.hosts.registry import HOSTS
from holdfast.runtime.tools import all_tools
from holdfast.store.config_layers import GUARD_MODE_VARIABLE, INLINE_VARIABLE

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
MADE = "<!-- Made by tools/generate_reference.py from the code; edit that instead. -->\n"
WIDTH = 100

CONFIGURATION = f"""# Configuration

{MADE}
`config.jsonc` in the home (`~/.holdfast`, or `$HOLDFAST_HOME`) is JSON with comments; trailing commas, single quotes
and keys without quotes are fine as well. `holdfast init` writes one in which every default stands in a comment.
A key that is not known, a key given twice and a value that does not fit are errors that name file, line, column and
key, and nothing starts on a configuration with an error. While Holdfast runs, a broken edit changes nothing and is
reported once; the last good configuration stays in force.

Over the file lie, each one stronger than the one before:

1. the environment: `{INLINE_VARIABLE}` (a whole configuration as JSON), `{GUARD_MODE_VARIABLE}` (`memory.guardMode`),
2. what a program hands over,
3. `--set KEY=VALUE` of the command line.

Objects are merged key by key, everything else is replaced. Only `permission.rules` adds up: rules of a later layer
stand behind those of an earlier one. `holdfast config show --origin` tells where each value comes from.

On the command line `agents.runtime.` may be left out of a key, as it is in the tables below. Lists of objects are
written `key[]`, objects with names of your own `key.NAME`.
"""

AGENTS = """## Agents

`agents/*.md` in the home: a header between two lines `---`, in JSON5 or YAML, then the system prompt. `agent.id` in
the configuration chooses one. A file with an error is named and left out.
"""


def configuration() -> str:
    parts = [CONFIGURATION]
    tables: dict[str, list[str]] = {}
    for path, kind, default, doc, limits in settings_of(Settings, ()):
        shown = path[2:] if path[:2] == RUNTIME else path
        tables.setdefault(shown[0].removesuffix("[]"), []).append(_row(shown, kind, default, doc, limits))
    for group, rows in sorted(tables.items()):
        parts.append(f"## {group}\n\n" + _table(rows))
    parts.append(AGENTS + "\n" + _table([_row(*found) for found in settings_of(AgentHeader, ())]))
    return "\n".join(parts)


def settings_of(cls: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any, Any, str, Any]]:
    """Every setting below a class: path, type, default (`...` when it must be given), documentation, limits."""
    for key, (field, kind) in fields_of(cls).items():
        inner = leaf_kind(kind)
        if dataclasses.is_dataclass(inner) and isinstance(inner, type):
            yield from settings_of(inner, (*path, key))
            continue
        default = field.default if field.default is not dataclasses.MISSING else ...
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        yield (*path, key), inner, default, str(field.metadata["doc"]), field.metadata
        item = _item(inner)
        if dataclasses.is_dataclass(item) and isinstance(item, type):
            yield from settings_of(item, (*path, f"{key}[]") if get_origin(inner) is tuple else (*path, key, "NAME"))


def _item(kind: Any) -> Any:
    """The type of a list's items or of an object's values."""
    if not get_args(kind) or get_origin(kind) is Literal:
        return None
    return get_args(kind)[0 if get_origin(kind) is tuple else -1]


def _row(path: tuple[str, ...], kind: Any, default: Any, doc: str, limits: Any) -> str:
    low, high = limits.get("min"), limits.get("max")
    bounds = f", {low} to {high}" if low is not None and high is not None else ""
    bounds = bounds or (f", at least {low}" if low is not None else "")
    shown = "must be given" if default is ... else f"`{json.dumps(encode(default), ensure_ascii=False)}`"
    return f"| `{'.'.join(path)}` | {_words(kind)}{bounds} | {shown} | {doc} |"


def _words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return ", ".join(f"`{option}`" for option in get_args(kind))
    return f"a list, each item {_words(_item(kind))}" if get_origin(kind) is tuple else str(describe(kind))


def _table(rows: list[str]) -> str:
    return "| key | value | default | what it does |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"


def commands() -> str:
    text = f"# Command line\n\n{MADE}\nEvery command explains itself with `--help`. "
    text += "[Exit codes](exit-codes.md) have a page of their own.\n"
    sections: list[tuple[str, click.Command]] = [("holdfast", cli)]
    sections += [(f"holdfast {line.name}", line.load()) for line in COMMANDS if line.exists() and not line.hidden]
    for path, command in sections:
        text += f"\n## {path}\n\n{_help(path, command)}"
        if isinstance(command, click.Group) and command is not cli:
            for name, inner in sorted(command.commands.items()):
                text += f"\n### {path} {name}\n\n{_help(f'{path} {name}', inner)}"
    return text


def _help(path: str, command: click.Command) -> str:
    context = click.Context(
        command, info_name=path, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=["-h", "--help"]
    )
    lines = (line.rstrip() for line in command.get_help(context).splitlines())
    return "```text\n" + "\n".join(lines) + "\n```\n"


def exit_codes() -> str:
    rows = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_MEANINGS.items())
    return (
        f"# Exit codes\n\n{MADE}\nWhat `holdfast` ends with. An error is one line on stderr that begins with\n"
        f"`holdfast:`; with several problems, one line for each.\n\n| code | meaning |\n|---|---|\n{rows}\n"
    )


TOOLS = f"""# Tools of the own agent

{MADE}
What the agent of `holdfast chat` and `holdfast run` can call, in the words the model reads. Which of these calls are
asked about is said by [permission](configuration.md) rules over their domain. Changes to files can be undone (`/undo`);
what is deleted lies in the trash of the home for 30 days. How commands are confined:
[the sandbox](../explanation/sandbox.md).
"""


def tools() -> str:
    mobile = {tool.name for tool in all_tools("mobile")}
    parts = [TOOLS]
    for tool in all_tools("desktop"):
        spec = tool.spec or NEUTRAL_TOOLS[tool.name]
        about = f"Domain: {'none, never asked about' if spec.domain == 'none' else f'`{spec.domain}`'}."
        if tool.name not in mobile:
            about += " Not in the mobile profile."
        parts.append(f"## {tool.name}\n\n{about}\n\n{_prose(tool.description)}\n\n{_inputs(tool.parameters)}")
    return "\n".join(parts)


def _prose(description: str) -> str:
    """The description as a paragraph; an example in it keeps its lines."""
    first, *rest = description.split("\n")
    if not rest:
        return first
    return "\n".join([first, "", "```text", *rest, "```"])


def _inputs(parameters: Mapping[str, Any], prefix: str = "") -> str:
    return "| input | kind | meaning |\n|---|---|---|\n" + "".join(
        f"{row}\n" for row in _input_rows(parameters, prefix)
    )


def _input_rows(parameters: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, about in parameters["properties"].items():
        kind = " or ".join(f"`{choice}`" for choice in about["enum"]) if "enum" in about else about["type"]
        words = [about.get("description", "")]
        if name in parameters["required"]:
            words.append("Must be given.")
        elif "default" in about:
            words.append(f"Default: `{json.dumps(about['default'])}`.")
        yield f"| `{prefix}{name}` | {kind} | {' '.join(word for word in words if word)} |"
        if about["type"] == "array" and "properties" in about.get("items", {}):
            yield from _input_rows(about["items"], f"{prefix}{name}[].")


MCP = f"""# MCP server

{MADE}
`holdfast mcp` serves these tools, over standard input or (`--http`) as streamable HTTP on loopback with a token. An
answer is JSON in one text, at most {RECALL_TOKENS:,} tokens (`memory_read`: {MEMORY_TOKENS:,}); what is left out is
told, with the cursor to go on. How to use them: [look up what was done before](../how-to/recall.md).

Whose threads a call may read is never taken from what the call says:

| started with | reads |
|---|---|
| nothing (`--scope ticket`) | the thread of the session whose hook announced this very call; without that nothing |
| `--thread ID` | this one thread |
| `--scope vault` | the user's threads of the project |

A wrong cursor, limit, view or id is an error in words. A thread, session or request outside the caller's reach is
answered exactly as one that does not exist.
"""


def mcp() -> str:
    shown = (*RECALL_TOOLS, *MEMORY_TOOLS)
    return "\n".join([MCP, *(f"## {tool.name}\n\n{tool.description}\n\n{_given(tool.schema)}" for tool in shown)])


def _given(schema: Mapping[str, Any]) -> str:
    return _inputs(schema) if schema["properties"] else "It takes nothing.\n"


def decisions() -> str:
    lines = ["# Decisions by number\n", MADE]
    for path in sorted((FOLDER.parent / "decisions").glob("[0-9]*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{title}](../decisions/{path.name})")
    return "\n".join(lines) + "\n"


TITLES = {"claude-code": "Claude Code", "opencode": "OpenCode", "codex": "Codex", "gemini": "Gemini CLI"}
ABILITIES = {
    "block": "stop it",
    "ask": "have the host ask",
    "rewrite_input": "change the input",
    "replace_output": "replace the output",
    "inject": "tell the model",
    "see_failure": "see that it failed",
    "veto_compaction": "refuse compaction",
    "warn_user": "tell the person",
}
EVENTS = {
    "session_started": "a session starts",
    "prompt_submitted": "a message is typed",
    "model_asked": "the model is asked",
    "tool_calling": "a tool is called",
    "tool_called": "a tool has run",
    "assistant_replied": "the agent has answered",
    "context_measured": "the fill is known",
    "compacting": "before compaction",
    "compacted": "after compaction",
}
SIGNALS = {"yes": "is told", "inferred": "is concluded", "no": "is not seen"}

HOSTS_HEAD = f"""# Hosts

{MADE}
The coding agents that `holdfast attach` knows, and what each lets Holdfast do at which event. What a host cannot do is
downgraded aloud: a changed input that it cannot run is denied, a question that it cannot show goes to the inbox, a text
that cannot be shown at one event waits for the next that can carry it.

How to put one in and take it out: [Claude Code](../how-to/claude-code.md), [OpenCode](../how-to/opencode.md),
[Codex](../how-to/codex.md), [Gemini CLI](../how-to/gemini.md).
"""


def hosts() -> str:
    return "\n".join([HOSTS_HEAD, _summary(), *(_section(host) for host in HOSTS.values())])


def _summary() -> str:
    lines = ["| | " + " | ".join(TITLES[name] for name in HOSTS) + " |", "|---|" + "---|" * len(HOSTS)]
    lines.append(_cells("tested version", [INSTALLERS[name].tested for name in HOSTS]))
    lines.append(_cells("compaction", [SIGNALS[host.capabilities.compaction_signal] for host in HOSTS.values()]))
    named = ["told apart" if host.capabilities.names_subagents else "not told apart" for host in HOSTS.values()]
    lines.append(_cells("sub-agents", named))
    limits = [host.capabilities.inject_limit for host in HOSTS.values()]
    lines.append(_cells("text told at once", [f"{limit:,} characters" if limit else "no limit" for limit in limits]))
    for ability, words in ABILITIES.items():
        lines.append(_cells(words, [_anywhere(host, ability) for host in HOSTS.values()]))
    return "\n".join(lines) + "\n"


def _anywhere(host: Host, ability: str) -> str:
    return "yes" if any(ability in can for can in host.capabilities.abilities.values()) else "no"


def _section(host: Host) -> str:
    lines = [f'<a id="{host.name}"></a>', "", f"## {TITLES[host.name]}", "", "| when | what can be done |", "|---|---|"]
    for kind, words in EVENTS.items():
        can = host.capabilities.abilities.get(kind)
        if can:
            lines.append(_cells(words, [", ".join(text for ability, text in ABILITIES.items() if ability in can)]))
    lines += ["", "Known, and not to be closed from outside:", ""]
    lines += [f"- {note.en}" for note in host.capabilities.notes]
    return "\n".join(lines) + "\n"


def _cells(first: str, others: list[str]) -> str:
    return f"| {first} | " + " | ".join(others) + " |"


PAGES = {
    "configuration.md": configuration,
    "cli.md": commands,
    "exit-codes.md": exit_codes,
    "tools.md": tools,
    "mcp.md": mcp,
    "decisions.md": decisions,
    "hosts.md": hosts,
}


def main(arguments: list[str], folder: Path = FOLDER) -> int:
    stale = 0
    for name, make in PAGES.items():
        path, text = folder / name, make()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in arguments:
            print(f"docs/reference/{name} is not what the code says; run: python tools/generate_reference.py")
            stale = 1
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote docs/reference/{name}")
    return stale


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
