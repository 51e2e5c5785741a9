"""Claude Code's files: hooks in its settings, the MCP server, a skill and two agents.

Almost every event goes over HTTP to the running daemon, which takes a millisecond. An http hook is skipped at
SessionStart and cannot start a daemon that is gone; the command hooks at SessionStart and UserPromptSubmit do that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.hosts.attach.engine import WantedFile
from holdfast.hosts.attach.json_file import HookGroups, JsonFile, Server
from holdfast.hosts.attach.ours import MCP_NAME
from holdfast.hosts.attach.own_file import OwnFile
from holdfast.hosts.attach.spec import Spec, markdown
from holdfast.hosts.claude_code import READS

HTTP_EVENTS = (
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SubagentStop",
    "ConfigChange",
)
COMMAND_EVENTS = {"SessionStart": True, "UserPromptSubmit": True, "SessionEnd": False}
"""With whether a missing daemon is started."""


class ClaudeCodeInstaller:
    name = "claude-code"
    program = "claude"
    tested = "2.1.325"

    def config_folder(self, spec: Spec) -> Path:
        return spec.folder("CLAUDE_CONFIG_DIR", ".claude")

    def files(self, spec: Spec) -> Sequence[WantedFile]:
        folder = spec.vault / ".claude" if spec.scope == "project" else self.config_folder(spec)
        hooks = JsonFile(self.settings(spec), (HookGroups(hook_groups(spec)),), secret=True)
        entry = server_entry(spec) if spec.with_server else None
        server = JsonFile(self.server_file(spec), (Server(("mcpServers", MCP_NAME), entry),))
        return (hooks, *((server,) if spec.with_server or server.path.exists() else ()), *texts(spec, folder))

    def settings(self, spec: Spec) -> Path:
        """A project's own settings are the ones that are not shared: they hold a token."""
        if spec.scope == "project":
            return spec.vault / ".claude" / "settings.local.json"
        return self.config_folder(spec) / "settings.json"

    def server_file(self, spec: Spec) -> Path:
        if spec.scope == "project":
            return spec.vault / ".mcp.json"
        moved = spec.environ.get("CLAUDE_CONFIG_DIR", "").strip()
        return (Path(moved) if moved else spec.user_home) / ".claude.json"

    def remarks(self, spec: Spec) -> Sequence[str]:
        settings = self.settings(spec)
        said = [f"{settings} now holds a token, so only you can read it."]
        if settings.is_symlink():
            real = settings.resolve()
            said.append(f"It is a link to {real}: keep the token out of whatever that folder is shared with.")
        if spec.scope == "project":
            said.append("Claude Code asks once whether it may start the MCP server of a project.")
        return said


def server_entry(spec: Spec) -> dict[str, Any]:
    command, *arguments = spec.server()
    return {"type": "stdio", "command": command, "args": arguments, "env": {}}


def hook_groups(spec: Spec) -> dict[str, list[dict[str, Any]]]:
    """The `hooks` object. Whatever is not known to only read fails closed."""
    web: dict[str, Any] = {
        "type": "http",
        "url": f"http://127.0.0.1:{spec.port}/hook/claude-code?deadline={spec.deadline}",
        "headers": {"Authorization": f"Bearer {spec.token}"},
        "timeout": spec.timeout,
    }

    def command(start: bool) -> dict[str, Any]:
        program, *arguments = spec.client("claude-code", start=start)
        return {"type": "command", "command": program, "args": arguments, "timeout": spec.timeout}

    reads = "|".join(sorted(READS))
    groups: dict[str, list[dict[str, Any]]] = {
        "PreToolUse": [
            {"matcher": reads, "hooks": [web]},
            {"matcher": f"^(?!({reads})$).*$", "hooks": [{**web, "onFailure": "block"}]},
        ]
    }
    groups |= {event: [{"hooks": [web]}] for event in HTTP_EVENTS}
    groups |= {event: [{"hooks": [command(start)]}] for event, start in COMMAND_EVENTS.items()}
    return groups


def texts(spec: Spec, folder: Path) -> Sequence[WantedFile]:
    agents = {
        "memory-reader": "Read, Glob, Grep",
        "memory-bank-writer": "Read, Glob, Grep, Write, Edit",
    }
    about = {name: {"name": name, "description": description(spec, name), "tools": t} for name, t in agents.items()}
    skill = {"name": "holdfast", "description": description(spec, "holdfast")}
    return (
        *(OwnFile(folder / "agents" / f"{name}.md", markdown(about[name], spec.text(name))) for name in agents),
        OwnFile(folder / "skills" / "holdfast" / "SKILL.md", markdown(skill, spec.text("holdfast"))),
    )


def description(spec: Spec, name: str) -> str:
    """When to use it: the one line by which a model finds it."""
    english, chinese = DESCRIPTIONS[name]
    return chinese if spec.language == "zh" else english


DESCRIPTIONS = {
    "holdfast": (
        "How to work in a session that Holdfast watches - refused calls, cut outputs, the memory bank, recall.",
        "在 Holdfast 监管的会话中如何工作：被拒绝的调用、被截断的输出、memory-bank、历史回溯。",
    ),
    "memory-reader": (
        "Reads the project's memory bank and reports what matters for the task. Use it before the first change of a "
        "task, and after every compaction.",
        "读取项目的 memory-bank 并汇报与任务相关的内容。在任务的首次修改之前以及每次上下文压缩之后使用。",
    ),
    "memory-bank-writer": (
        "The only agent that may change memory-bank/. Use it after the user has confirmed an update.",
        "唯一可以修改 memory-bank/ 的智能体。仅在用户确认更新之后使用。",
    ),
}
