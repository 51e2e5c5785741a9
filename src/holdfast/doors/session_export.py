"""Writes sessions to files: as JSON Lines that can be read back, or as Markdown for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from holdfast.chain.chain import Chain
from holdfast.chain.digest_text import digest_text
from holdfast.chain.digests import all_events
from holdfast.chain.views import outcome_of
from holdfast.doors.lazy_group import EXIT_USAGE, Failure
from holdfast.doors.output import moment
from holdfast.store.file_names import file_name
from holdfast.store.interface import EventRecord, Session, Store
from holdfast.store.json_text import to_json

_ENDINGS = {"jsonl": ".jsonl", "markdown": ".md"}


def export_sessions(
    chain: Chain, store: Store, sessions: Sequence[Session], out: str, form: str
) -> list[dict[str, Any]]:
    """Each to its own file when `out` is a folder or there are several; returns what was written where."""

    def write(session: Session, to: Callable[[bytes], Any]) -> int:
        return chain.archive.export(session, to) if form == "jsonl" else _markdown(chain, store, session, to)

    if out == "-":
        return [{"file": "-", "events": write(session, sys.stdout.buffer.write)} for session in sessions]
    target = Path(out).expanduser()
    if len(sessions) > 1 or target.is_dir():
        if target.exists() and not target.is_dir():
            raise Failure(f"{target} is a file; name a folder for {len(sessions)} sessions", EXIT_USAGE)
        target.mkdir(parents=True, exist_ok=True)
        files = [target / f"{file_name(session.id.session)}{_ENDINGS[form]}" for session in sessions]
    else:
        files = [target]
    return [
        {"file": str(file), "session": session.id.session, "events": _to_file(file, session, write)}
        for file, session in zip(files, sessions, strict=True)
    ]


def _to_file(file: Path, session: Session, write: Callable[[Session, Callable[[bytes], Any]], int]) -> int:
    """Whole or not at all; readable for nobody else, since it holds whatever was said."""
    draft = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with open(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as stream:
            events = write(session, stream.write)
        draft.rename(file)
    finally:
        draft.unlink(missing_ok=True)
    return events


def _markdown(chain: Chain, store: Store, session: Session, to: Callable[[bytes], Any]) -> int:
    count = 0
    to(f"# {session.title or session.id.thread}\n\n{digest_text(chain.digests.of(session))}\n".encode())
    for record in all_events(store, session.id.session):
        count += 1
        for line in _paragraph(record):
            to(line.encode("utf-8", "replace"))
    return count


def _paragraph(record: EventRecord) -> Iterator[str]:
    who = f" ({record.where.subagent})" if record.where.subagent else ""
    head = f"\n## #{record.no} {moment(record.at)}{who}"
    data = record.data
    if record.kind in ("prompt_submitted", "assistant_replied") and data.get("text"):
        yield f"{head} {'User' if record.kind == 'prompt_submitted' else 'Agent'}\n\n{data['text']}\n"
    elif record.kind == "tool_calling":
        given = to_json((data.get("call") or {}).get("input") or {})
        yield f"{head} calls {record.tool}\n\n{_fenced(given)}\n"
    elif record.kind == "tool_called":
        result = data.get("result") or {}
        text = str(result.get("output") or result.get("error") or "")
        yield f"{head} {record.tool}: {outcome_of(result)}\n\n{_fenced(text)}\n"
    elif record.kind == "compacted":
        yield f"{head} Compacted\n\n{_fenced(str(data.get('summary', '')))}\n"


def _fenced(text: str) -> str:
    """In a fence that is longer than any within."""
    longest = max((len(run) for run in text.replace("\n", " ").split(" ") if set(run) == {"`"}), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
