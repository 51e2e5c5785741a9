"""Gemini CLI's files: hooks and the MCP server in settings.json, and a skill."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.hosts.attach.claude_code import description
from holdfast.hosts.attach.engine import WantedFile
from holdfast.hosts.attach.json_file import HookGroups, JsonFile, Server
from holdfast.hosts.attach.ours import MCP_NAME
from holdfast.hosts.attach.own_file import OwnFile
from holdfast.hosts.attach.spec import Spec, markdown

EVENTS = ("SessionStart", "BeforeAgent", "AfterAgent", "BeforeModel", "BeforeTool", "AfterTool")


class GeminiInstaller:
    name = "gemini"
    program = "gemini"
    tested = "0.61.0"

    def config_folder(self, spec: Spec) -> Path:
        return spec.folder("GEMINI_CLI_HOME") / ".gemini"

    def settings(self, spec: Spec) -> Path:
        folder = spec.vault / ".gemini" if spec.scope == "project" else self.config_folder(spec)
        return folder / "settings.json"

    def files(self, spec: Spec) -> Sequence[WantedFile]:
        settings = self.settings(spec)
        command, *arguments = spec.server()
        entry = {"command": command, "args": arguments} if spec.with_server else None
        server = Server(("mcpServers", MCP_NAME), entry)
        skill = {"name": "holdfast", "description": description(spec, "holdfast")}
        return (
            JsonFile(settings, (HookGroups(hook_groups(spec)), server)),
            OwnFile(settings.parent / "skills" / "holdfast" / "SKILL.md", markdown(skill, spec.text("holdfast"))),
        )

    def remarks(self, spec: Spec) -> Sequence[str]:
        return ("Gemini CLI does not tell its sub-agents apart: memory is read by the tool memory_read.",)


def hook_groups(spec: Spec) -> dict[str, list[dict[str, Any]]]:
    handler = {
        "type": "command",
        "name": "holdfast",
        "command": spec.client_line("gemini"),
        "timeout": spec.timeout * 1000,
    }
    before = {**handler, "command": spec.closed_line("gemini")}
    last = {**handler, "command": spec.client_line("gemini", start=False)}
    groups = {event: [{"hooks": [handler]}] for event in EVENTS}
    return {**groups, "BeforeTool": [{"hooks": [before]}], "SessionEnd": [{"hooks": [last]}]}
