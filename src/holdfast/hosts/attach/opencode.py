"""OpenCode's files: the plugin and the MCP server in its configuration, a skill and two agents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.hosts.attach.claude_code import description
from holdfast.hosts.attach.engine import WantedFile
from holdfast.hosts.attach.json_file import JsonFile, ListItem, Server
from holdfast.hosts.attach.ours import MCP_NAME
from holdfast.hosts.attach.own_file import OwnFile
from holdfast.hosts.attach.spec import PLUGIN, Spec, markdown

NAMES = ("opencode.jsonc", "opencode.json", "config.json")


class OpenCodeInstaller:
    name = "opencode"
    program = "opencode"
    tested = "1.18.33"

    def config_folder(self, spec: Spec) -> Path:
        return spec.folder("XDG_CONFIG_HOME", ".config") / "opencode"

    def config(self, spec: Spec) -> Path:
        """The file that is there, else the usual one."""
        folder = spec.vault if spec.scope == "project" else self.config_folder(spec)
        names = NAMES[:2] if spec.scope == "project" else NAMES
        return next((folder / name for name in names if (folder / name).exists()), folder / "opencode.json")

    def files(self, spec: Spec) -> Sequence[WantedFile]:
        folder = spec.vault / ".opencode" if spec.scope == "project" else self.config_folder(spec)
        options = {
            "socket": str(spec.home.run / "daemon.sock"),
            "deadline": spec.deadline,
            "start": spec.starter(),
        }
        plugin = ListItem(("plugin",), [PLUGIN.as_uri(), options])
        entry = {"type": "local", "command": spec.server(), "enabled": True} if spec.with_server else None
        server = Server(("mcp", MCP_NAME), entry)
        agents = {
            "memory-reader": {"write": False, "edit": False, "bash": False},
            "memory-bank-writer": {"bash": False},
        }
        about = {
            name: {"description": description(spec, name), "mode": "subagent", "tools": tools}
            for name, tools in agents.items()
        }
        skill = {"name": "holdfast", "description": description(spec, "holdfast")}
        return (
            JsonFile(self.config(spec), (plugin, server)),
            *(OwnFile(folder / "agent" / f"{name}.md", markdown(about[name], spec.text(name))) for name in agents),
            OwnFile(folder / "skill" / "holdfast" / "SKILL.md", markdown(skill, spec.text("holdfast"))),
        )

    def remarks(self, spec: Spec) -> Sequence[str]:
        return ("`opencode --pure` and OPENCODE_PURE=1 load no plugin: such a session is not watched.",)
