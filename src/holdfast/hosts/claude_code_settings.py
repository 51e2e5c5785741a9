"""What Claude Code's settings file must hold: one http hook for every event, failing closed where it matters.

An http hook is answered by the running daemon in a millisecond, but is skipped at SessionStart and cannot start a
daemon that is gone; the command hooks at SessionStart and UserPromptSubmit do that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.hosts.claude_code import READS

EVENTS: tuple[str, ...] = ("PostToolUse", "PostToolUseFailure", "PostToolBatch", "PreCompact", "PostCompact", "Stop")
COMMAND_EVENTS: tuple[str, ...] = ("SessionStart", "UserPromptSubmit", "SessionEnd")


def hook_settings(*, port: int, token: str, client: Sequence[str], timeout: int) -> dict[str, Any]:
    """The `hooks` object; `timeout` (seconds) is how long Claude Code waits, above our own deadline."""
    web: dict[str, Any] = {
        "type": "http",
        "url": f"http://127.0.0.1:{port}/hook/claude-code",
        "headers": {"Authorization": f"Bearer {token}"},
        "timeout": timeout,
    }
    command: dict[str, Any] = {"type": "command", "command": client[0], "args": list(client[1:]), "timeout": timeout}
    reads = "|".join(sorted(READS))
    hooks: dict[str, Any] = {
        "PreToolUse": [
            {"matcher": reads, "hooks": [web]},
            {"matcher": f"^(?!({reads})$).*$", "hooks": [{**web, "onFailure": "block"}]},
        ]
    }
    hooks.update({event: [{"hooks": [web]}] for event in EVENTS})
    hooks.update({event: [{"hooks": [command]}] for event in COMMAND_EVENTS})
    return hooks
