"""A proposed change to the memory bank, and the words by which a user confirms or skips it (MB6)."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.core.memory import FOLDER
from holdfast.core.messages import Phrase, TellableError

Answer = Literal["apply", "skip"]
Status = Literal["pending", "applied", "skipped", "undone"]

CONFIRM = frozenset({"mb:write", "好", "好的", "写", "写入", "确认", "yes", "ok", "okay"})
SKIP = frozenset({"mb:no", "不用", "跳过", "不", "no", "skip"})


def answer_in(text: str) -> Answer | None:
    """The answer a message gives: it must be the whole message, or begin with `mb:write` or `mb:no`.

    A longer message that happens to hold "yes" or 写 is about something else and confirms nothing.
    """
    plain = unicodedata.normalize("NFKC", text).strip().casefold()
    first = plain.split()[0].rstrip(".,;!") if plain else ""
    whole = plain.strip(" .,;!。，！~")
    if first == "mb:write" or whole in CONFIRM:
        return "apply"
    if first == "mb:no" or whole in SKIP:
        return "skip"
    return None


class ProposalError(TellableError, ValueError):
    """A proposal that cannot be made or carried out; the message says why and what to do."""


_ONE_WAY = Phrase(
    "proposal.one_way",
    "give exactly one of: content (the whole file), append, or old and new",
    "只能给出以下之一：content（整个文件）、append，或 old 与 new",
)
_NOT_ONCE = Phrase(
    "proposal.not_once",
    "`old` must stand exactly once in {path}; it stands there {count} times",
    "`old` 须在 {path} 中恰好出现一次；实际出现 {count} 次",
)
_NO_FILE = Phrase(
    "proposal.no_file",
    "{path} is no file below {folder}/; name one such as details/progress.md",
    "{path} 不是 {folder}/ 下的文件；请写例如 details/progress.md",
)
_NO_MARKDOWN = Phrase(
    "proposal.no_markdown",
    "{path}: the memory bank holds Markdown only; end the name with .md",
    "{path}：记忆库只存放 Markdown；文件名须以 .md 结尾",
)


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to change in one file: all of it, text at its end, or one passage for another."""

    content: str | None = None
    append: str | None = None
    old: str | None = None
    new: str | None = None

    @classmethod
    def of(cls, change: Mapping[str, Any]) -> Edit:
        given = {key: change[key] for key in ("content", "append", "old", "new") if isinstance(change.get(key), str)}
        edit = cls(**given)
        ways = [edit.content is not None, edit.append is not None, edit.old is not None and edit.new is not None]
        if ways.count(True) != 1:
            raise ProposalError(_ONE_WAY())
        return edit

    def applied_to(self, text: str | None, path: str) -> str:
        """The new text; None stands for a file that does not exist."""
        if self.content is not None:
            return _ended(self.content)
        if self.append is not None:
            before = _ended(text) if text else ""
            return _ended(before + self.append)
        count = (text or "").count(self.old or "")
        if not self.old or count != 1:
            raise ProposalError(_NOT_ONCE(path=path, count=count))
        return (text or "").replace(self.old, self.new or "")

    def to_dict(self) -> dict[str, str]:
        values = {"content": self.content, "append": self.append, "old": self.old, "new": self.new}
        return {key: value for key, value in values.items() if value is not None}


def checked_path(path: str) -> str:
    """The vault-relative path of a Markdown file in the memory bank."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if parts and parts[0].casefold() != FOLDER:
        parts.insert(0, FOLDER)
    if len(parts) < 2 or ".." in parts or path.startswith("/") or "\x00" in path:
        raise ProposalError(_NO_FILE(path=repr(path), folder=FOLDER))
    if not parts[-1].casefold().endswith(".md"):
        raise ProposalError(_NO_MARKDOWN(path=repr(path)))
    return "/".join([FOLDER, *parts[1:]])


def diff_of(path: str, before: str | None, after: str) -> str:
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{path}" if before is not None else "/dev/null",
        f"b/{path}",
    )
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
