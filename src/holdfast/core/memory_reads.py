"""Which memory-bank files a call has really read (MB2, MB7, MB9): successes only, by where the file really lies."""

from __future__ import annotations

from holdfast.core.events import ToolCalled
from holdfast.core.memory import FOLDER, READ_TOOL, READER


def files_read(event: ToolCalled) -> list[str]:
    """Vault-relative paths below memory-bank/ whose content the model has just got to see."""
    if event.result.failed or not event.hooked:
        return []
    paths = (
        access.target.value.lstrip("/")
        for access in event.call.accesses
        if access.whole and access.certain and access.target.scheme == "vault"
    )
    return [path for path in dict.fromkeys(paths) if path.casefold().startswith(FOLDER + "/")]


def calls_reader(event: ToolCalled) -> bool:
    """Whether memory-reader did its work: the way out of both gates (MB10)."""
    if event.result.failed:
        return False
    call = event.call
    if call.tool == READ_TOOL or call.tool.endswith(f"__{READ_TOOL}"):
        return True
    names = (call.input.get(key) for key in ("subagent_type", "agent", "agent_name", "name"))
    return call.tool == "task" and READER in names
