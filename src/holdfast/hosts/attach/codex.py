"""Codex's files: hooks.json, our tables in config.toml (server, agents, trust), and a skill."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.core.messages import Phrase
from holdfast.hosts.attach.claude_code import description
from holdfast.hosts.attach.engine import WantedFile, read
from holdfast.hosts.attach.json_file import TAKEN, AttachError, HookGroups, JsonFile
from holdfast.hosts.attach.ours import MCP_NAME, is_our_hook
from holdfast.hosts.attach.own_file import OwnFile
from holdfast.hosts.attach.spec import Spec, markdown
from holdfast.hosts.attach.toml_file import Key, TomlFile, parsed, string, strings, without_ours

_OTHER_TRUST = Phrase(
    "attach.other_trust",
    "config.toml trusts another hook as {key}; remove that entry and attach again",
    "config.toml 把另一个钩子信任为 {key}；请移除该条目后重新接入",
)

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SubagentStop",
)
SESSION_END_SECONDS = 3
"""Codex allows no more there."""
SERVER_SECONDS = 60
"""A cold start of the MCP server on a busy machine; Codex would give up after ten."""
AGENTS = ("memory-reader", "memory-bank-writer")


class CodexInstaller:
    name = "codex"
    program = "codex"
    tested = "0.166.0"

    def config_folder(self, spec: Spec) -> Path:
        return spec.folder("CODEX_HOME", ".codex")

    def hooks_file(self, spec: Spec) -> Path:
        folder = spec.vault / ".codex" if spec.scope == "project" else self.config_folder(spec)
        return folder / "hooks.json"

    def files(self, spec: Spec) -> Sequence[WantedFile]:
        folder = self.config_folder(spec)
        hooks = JsonFile(self.hooks_file(spec), (HookGroups(hook_groups(spec)),))
        after = json.loads(hooks.applied(read(hooks.path)))
        # Typing into a running terminal reaches no hook: without this key anything could be run that way.
        no_terminal = Key("features", "unified_exec_tty", False)
        config = TomlFile(folder / "config.toml", self._tables(spec, folder, trust(hooks.path, after)), (no_terminal,))
        skill = {"name": "holdfast", "description": description(spec, "holdfast")}
        return (
            hooks,
            *(OwnFile(folder / "agents" / f"{name}.toml", _agent(spec, name)) for name in AGENTS),
            OwnFile(folder / "skills" / "holdfast" / "SKILL.md", markdown(skill, spec.text("holdfast"))),
            config,
        )

    def _tables(self, spec: Spec, folder: Path, trusted: Mapping[str, str]) -> str:
        """Our part of config.toml, without what the user's own part says already."""
        theirs = parsed(folder / "config.toml", without_ours(read(folder / "config.toml") or ""))
        command, *arguments = spec.server()
        lines: list[str] = []
        if not spec.with_server:
            pass
        elif (known := (theirs.get("mcp_servers") or {}).get(MCP_NAME)) is None:
            lines = [
                f"[mcp_servers.{MCP_NAME}]",
                f"command = {string(command)}",
                f"args = {strings(arguments)}",
                # Otherwise the first requests go out before the server is up, and the model is not offered recall.
                "required = true",
                f"startup_timeout_sec = {SERVER_SECONDS}",
            ]
        elif (known.get("command"), known.get("args")) != (command, arguments):
            raise AttachError(TAKEN(name=f"mcp_servers.{MCP_NAME}"))
        if spec.scope == "project" and str(spec.vault) not in (theirs.get("projects") or {}):
            lines += ["", f"[projects.{string(str(spec.vault))}]", 'trust_level = "trusted"']
        states = (theirs.get("hooks") or {}).get("state") or {}
        for key, value in trusted.items():
            if key not in states:
                lines += ["", f"[hooks.state.{string(key)}]", f"trusted_hash = {string(value)}"]
            elif states[key].get("trusted_hash") != value:
                raise AttachError(_OTHER_TRUST(key=key))
        return "\n".join(lines) + "\n"

    def remarks(self, spec: Spec) -> Sequence[str]:
        return (
            "Codex skips hooks that it was not told to trust: the hashes of ours are in config.toml.",
            "`unified_exec_tty = false` closes a way around the hooks; programs that need a terminal end at once.",
        )


def hook_groups(spec: Spec) -> dict[str, list[dict[str, Any]]]:
    command = spec.client_line("codex")
    handler = {"type": "command", "command": command, "timeout": spec.timeout}
    groups: dict[str, list[dict[str, Any]]] = {event: [{"hooks": [handler]}] for event in EVENTS}
    groups["PreToolUse"] = [{"hooks": [{**handler, "command": spec.closed_line("codex")}]}]
    last = {**handler, "command": spec.client_line("codex", start=False), "timeout": SESSION_END_SECONDS}
    groups["SessionEnd"] = [{"hooks": [last]}]
    return groups


def trust(hooks: Path, content: Mapping[str, Any]) -> dict[str, str]:
    """The key and hash by which Codex knows each handler of ours; groups and handlers are counted as they stand."""
    found: dict[str, str] = {}
    for event, groups in (content.get("hooks") or {}).items():
        for number, group in enumerate(groups):
            for place, handler in enumerate(group.get("hooks") or ()):
                if is_our_hook(handler):
                    name = snake(event)
                    found[f"{hooks}:{name}:{number}:{place}"] = trusted_hash(name, group.get("matcher"), handler)
    return found


def trusted_hash(event: str, matcher: str | None, handler: Mapping[str, Any]) -> str:
    """As Codex computes it: over the event, the matcher and the handler with its defaults filled in."""
    whole = {"timeout": 600, **handler, "async": False}
    identity: dict[str, Any] = {"event_name": event, "hooks": [whole]}
    if matcher is not None:
        identity["matcher"] = matcher
    body = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(body.encode()).hexdigest()


def snake(event: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in event).lstrip("_")


def _agent(spec: Spec, name: str) -> str:
    lines = [f"name = {string(name)}", f"description = {string(description(spec, name))}"]
    body = spec.text(name).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return "\n".join([*lines, f'developer_instructions = """\n{body.rstrip()}\n"""']) + "\n"
