"""Keeps and carries out proposals for the memory bank. Holdfast itself is the writer: atomically, on the record, and
with a way back (MB5, MB6). Nothing here can be reached by an agent but `propose` and `read`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.core.keys import SessionId
from holdfast.core.memory import FOLDER, MEMORY, PATTERNS
from holdfast.core.messages import Message, Phrase
from holdfast.core.proposals import Edit, ProposalError, Status, checked_path, diff_of
from holdfast.core.verdict import Settle
from holdfast.store.atomic_file import write_atomic
from holdfast.store.interface import Change, Store, StoreError

_NOTE = "proposal:"
_READ_LIMIT = 40_000

APPLIED = Phrase("memory_bank.applied", "[Memory Bank] {path} was written.", "[Memory Bank] 已写入 {path}。")
SKIPPED = Phrase("memory_bank.skipped", "[Memory Bank] {path} was left as it is.", "[Memory Bank] {path} 保持不变。")
FAILED = Phrase("memory_bank.failed", "[Memory Bank] Not written: {why}", "[Memory Bank] 未写入：{why}")


@dataclass(frozen=True, slots=True)
class Proposal:
    """One change somebody proposed, and what became of it."""

    id: str
    vault: str
    path: str
    edit: Edit
    why: str
    at: float
    by: str
    """Who proposed: the agent, with its thread and session."""
    thread: str = ""
    session: str = ""
    user: str = ""
    status: Status = "pending"
    settled_at: float | None = None
    settled_by: str = ""
    before: str | None = None
    """The file's text before it was written, for undo; None when there was no file."""
    written: str = ""
    """Hash of what was written: undo refuses when the file has changed since."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "vault": self.vault,
            "path": self.path,
            "edit": self.edit.to_dict(),
            "why": self.why,
            "at": self.at,
            "by": self.by,
            "thread": self.thread,
            "session": self.session,
            "user": self.user,
            "status": self.status,
            "settled_at": self.settled_at,
            "settled_by": self.settled_by,
            "before": self.before,
            "written": self.written,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Proposal:
        return cls(**{**data, "edit": Edit(**data["edit"])})


_NO_REASON = Phrase("proposal.no_reason", "say why the memory bank should change", "请说明为何要更改记忆库")
_NO_PROPOSAL = Phrase(
    "proposal.unknown",
    "no proposal {id}; `holdfast memory history` lists them",
    "没有提议 {id}；`holdfast memory history` 会列出全部",
)
_NOT_APPLIED = Phrase(
    "proposal.not_applied",
    "proposal {id} is {status}; only an applied one can be undone",
    "提议 {id} {status}；只有已写入的才能撤销",
)
_CHANGED_AFTER = Phrase(
    "proposal.changed_after",
    "{path} was changed after this proposal was written; mend it by hand",
    "{path} 在此提议写入之后又被更改；请手动处理",
)
_OTHER_THREAD = Phrase("proposal.other_thread", "the proposal belongs to another thread", "此提议属于另一个对话")
_SETTLED = Phrase("proposal.settled", "proposal {id} is already {status}", "提议 {id} 早已处理：{status}")
_LEADS_OUT = Phrase(
    "proposal.leads_out",
    "{name} leads out of {folder}/ (to {to}); nothing is written there",
    "{name} 指向 {folder}/ 之外（{to}）；不会写入那里",
)
STATUSES: Mapping[Status, Phrase] = {
    "pending": Phrase("proposal.pending", "pending", "待处理"),
    "applied": Phrase("proposal.applied", "applied", "已写入"),
    "skipped": Phrase("proposal.skipped", "skipped", "已跳过"),
    "undone": Phrase("proposal.undone", "undone", "已撤销"),
}


class MemoryBank:
    """Proposals live in the store; the files in the vault."""

    def __init__(self, store: Store, *, clock: Callable[[], float], new_id: Callable[[], str]) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    def propose(self, where: SessionId, vault: str, *, path: str, edit: Edit, why: str, call_id: str = "") -> Proposal:
        """Keep a proposal for the user to see; raises `ProposalError` when it could never be carried out."""
        if not why.strip():
            raise ProposalError(_NO_REASON())
        name = checked_path(path)
        edit.applied_to(_text(self._file(vault, name)), name)
        proposal = Proposal(
            id=call_id or self._new_id(),
            vault=vault,
            path=name,
            edit=edit,
            why=why.strip(),
            at=self._clock(),
            by=where.subagent_name or where.agent,
            thread=where.thread,
            session=where.session,
            user=where.user,
        )
        self._store.note(_NOTE + proposal.id, proposal.to_dict())
        return proposal

    def get(self, proposal_id: str) -> Proposal:
        kept = self._store.noted(_NOTE + proposal_id)
        if kept is None:
            raise ProposalError(_NO_PROPOSAL(id=repr(proposal_id)))
        return Proposal.from_dict(dict(kept))

    def all(self, vault: str | None = None, status: Status | None = None) -> Sequence[Proposal]:
        """Newest first."""
        kept = (Proposal.from_dict(dict(value)) for value in self._store.notes(_NOTE).values())
        chosen = [p for p in kept if vault in (None, p.vault) and status in (None, p.status)]
        return sorted(chosen, key=lambda p: p.at, reverse=True)

    def diff(self, proposal: Proposal) -> str:
        before = _text(self._file(proposal.vault, proposal.path))
        return diff_of(proposal.path, before, proposal.edit.applied_to(before, proposal.path))

    def apply(self, proposal_id: str, *, by: str) -> Proposal:
        """Write it; raises `ProposalError` when it no longer fits or was settled before."""
        first = self._pending(proposal_id)
        file = self._file(first.vault, first.path)
        before = _text(file)
        # In this order: whoever wrote the file has noted it before, so that it is never written twice, not even by
        # two at once or after a crash in between.
        proposal = self._pending(proposal_id)
        if before is not None and _hash(before) == proposal.written:
            return self._settle(proposal, "applied", by)
        after = proposal.edit.applied_to(before, proposal.path)
        begun = replace(proposal, before=before, written=_hash(after))
        self._store.note(_NOTE + proposal.id, begun.to_dict())
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file(proposal.vault, proposal.path)  # again: what was just made must not lead out either
        write_atomic(file, after.encode("utf-8"), new_mode=0o644)
        return self._settle(begun, "applied", by)

    def skip(self, proposal_id: str, *, by: str) -> Proposal:
        return self._settle(self._pending(proposal_id), "skipped", by)

    def undo(self, proposal_id: str, *, by: str) -> Proposal:
        """Put the file back as it was before; refused when somebody has changed it since."""
        proposal = self.get(proposal_id)
        if proposal.status != "applied":
            raise ProposalError(_NOT_APPLIED(id=repr(proposal_id), status=STATUSES[proposal.status]()))
        file = self._file(proposal.vault, proposal.path)
        now = _text(file)
        if now is None or _hash(now) != proposal.written:
            raise ProposalError(_CHANGED_AFTER(path=proposal.path))
        if proposal.before is None:
            file.unlink()
        else:
            write_atomic(file, proposal.before.encode("utf-8"), new_mode=0o644)
        return self._settle(proposal, "undone", by)

    def settle(self, where: SessionId, vault: str, what: Settle) -> Message:
        """What the user's message asked for; only proposals of the same user and thread count."""
        try:
            proposal = self.get(what.proposal)
            if (proposal.user, proposal.thread) != (where.user, where.thread):
                raise ProposalError(_OTHER_THREAD())
            if what.answer == "skip":
                self.skip(proposal.id, by=where.user)
                return SKIPPED(path=proposal.path)
            self.apply(proposal.id, by=where.user)
            return APPLIED(path=proposal.path)
        except (ProposalError, OSError, StoreError) as error:
            return FAILED(why=error)

    def read(self, vault: str, anchors: Sequence[str] = ()) -> str:
        """What memory-reader hands out: MEMORY.md, the patterns and the anchors, whole (MB10)."""
        parts: list[str] = []
        for name in dict.fromkeys((MEMORY, PATTERNS, *anchors)):
            text = _text(self._file(vault, name))
            if text is not None:
                cut = "" if len(text) <= _READ_LIMIT else f"\n[cut: {name} goes on]"
                parts.append(f"# {name}\n\n{text[:_READ_LIMIT]}{cut}")
        return "\n\n".join(parts) or f"There is no {FOLDER}/ here; `holdfast memory init` lays one out."

    def _pending(self, proposal_id: str) -> Proposal:
        proposal = self.get(proposal_id)
        if proposal.status != "pending":
            raise ProposalError(_SETTLED(id=repr(proposal_id), status=STATUSES[proposal.status]()))
        return proposal

    def _settle(self, proposal: Proposal, status: Status, by: str) -> Proposal:
        """With who, what and why in the audit of the session that proposed it, in the same step."""
        done = replace(proposal, status=status, settled_at=self._clock(), settled_by=by)
        session = self._store.session(done.session) if done.session else None
        if session is None:
            self._store.note(_NOTE + done.id, done.to_dict())
        else:
            notes = {_NOTE + done.id: done.to_dict()}
            self._store.commit(Change(where=session.id, audit=(self._entry(done, session.mode, by),), notes=notes))
        return done

    def _entry(self, proposal: Proposal, mode: str, by: str) -> dict[str, Any]:
        return {
            "eventId": self._new_id(),
            "sessionId": proposal.session,
            "mode": mode,
            "decision": "deny" if proposal.status == "skipped" else "allow",
            "permissionDomain": "edit",
            "targets": [f"vault:/{proposal.path}"],
            "rulePattern": "",
            "timestamp": proposal.settled_at,
            "decidedBy": by,
            "what": f"memory_{proposal.status}",
            "proposal": proposal.id,
            "why": proposal.why,
        }

    def _file(self, vault: str, name: str) -> Path:
        """The real file; refused when a link leads it out of the vault's own memory bank."""
        bank = Path(os.path.realpath(vault)) / FOLDER
        file = Path(vault) / name
        real = Path(os.path.realpath(file))
        if not real.is_relative_to(bank):
            raise ProposalError(_LEADS_OUT(name=name, folder=FOLDER, to=real))
        return real


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
