"""Only the writer writes the memory bank, only Markdown, judged by where a path really leads (MB5)."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal

from holdfast.core.events import Event, ToolCalling
from holdfast.core.memory import FOLDER, WRITER
from holdfast.core.messages import Phrase
from holdfast.core.policy import State
from holdfast.core.risk import changes
from holdfast.core.settings import MemorySettings
from holdfast.core.targets import Access
from holdfast.core.verdict import NOTHING, Finding, Verdict

NAME = "writer_guard"

ONLY_WRITER = Phrase(
    "writer_guard.only_writer",
    "{path} belongs to the memory bank, which only memory-bank-writer or a confirmed proposal may change.",
    "{path} 属于 memory-bank，只有 memory-bank-writer 或经确认的提案可以修改。",
)
PROPOSE = Phrase(
    "writer_guard.propose",
    "Propose the change with memory_propose (file, change, why); the user confirms with mb:write.",
    "请用 memory_propose 提议修改（文件、内容、原因），由用户以 mb:write 确认。",
)
ONLY_MARKDOWN = Phrase(
    "writer_guard.only_markdown",
    "{path}: the memory bank holds Markdown files only, and files in it are not deleted with their folder.",
    "{path}：memory-bank 只保存 Markdown 文件，且不随目录一起删除。",
)


class WriterGuard:
    """Holds in every mode and guard mode."""

    name = NAME
    on_error: Literal["open", "closed"] = "closed"

    def __init__(self, settings: MemorySettings) -> None:
        self._settings = settings

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if not self._settings.enabled or not isinstance(event, ToolCalling):
            return NOTHING, state
        touched = [access for access in changes(event.call) if in_memory_bank(access)]
        if not touched:
            return NOTHING, state
        if event.where.subagent_name != WRITER:
            first = touched[0].target.value.lstrip("/")
            return Verdict(findings=(Finding(NAME, "deny", ONLY_WRITER(path=first), next_step=PROPOSE()),)), state
        wrong = [access for access in touched if not _is_markdown(access)]
        if wrong:
            path = wrong[0].target.value.lstrip("/") or "."
            return Verdict(findings=(Finding(NAME, "deny", ONLY_MARKDOWN(path=path)),)), state
        return NOTHING, state


def in_memory_bank(access: Access) -> bool:
    """Whether a change touches the memory bank: a file in it, it itself, or, by deletion, a folder around it."""
    if access.target.scheme != "vault":
        return False
    path = access.target.value.strip("/").casefold()
    if path == FOLDER or path.startswith(FOLDER + "/"):
        return True
    if not access.certain and fnmatchcase(FOLDER, path.split("/")[0]):
        return True
    return access.verb == "delete" and path == ""


def _is_markdown(access: Access) -> bool:
    return access.certain and access.target.value.casefold().endswith(".md")
