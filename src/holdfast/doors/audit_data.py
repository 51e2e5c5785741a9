"""Audit entries as they leave the program: a report of the check, and copies of the record."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.store.interface import AuditReport, Store

COLUMNS = ("timestamp", "sessionId", "decision", "permissionDomain", "tool", "targets", "rulePattern", "decidedBy",
           "mode", "eventId", "hash")  # fmt: skip


def export_lines(found: Iterable[Mapping[str, Any]], form: str) -> Iterator[str]:
    """Lines for a file: JSON Lines whole, or CSV whose first line holds the names."""
    if form == "jsonl":
        for entry in found:
            yield json.dumps(entry, ensure_ascii=False) + "\n"
        return
    line = io.StringIO()
    writer = csv.writer(line)

    def written(cells: list[str]) -> str:
        line.seek(0)
        line.truncate()
        writer.writerow(cells)
        return line.getvalue()

    yield written(list(COLUMNS))
    for entry in found:
        yield written([_cell(entry.get(column)) for column in COLUMNS])


def _cell(value: Any) -> str:
    """Text that a spreadsheet shows and never runs: a cell that begins like a formula gets an apostrophe."""
    text = "\n".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def report_data(report: AuditReport) -> dict[str, Any]:
    problems = [
        {
            "file": problem.file,
            "line": problem.line,
            "kind": problem.kind,
            "message": problem.message.text(),
            "said": problem.message.to_dict(),
        }
        for problem in report.problems
    ]
    return {"ok": report.ok, "files": report.files, "entries": report.entries, "problems": problems}


def entries_about(store: Store, wanted: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Every entry about an event, a call or an approval, oldest first, with its position.

    By the call's id wherever there is one: the log is indexed by it.
    """
    event, approval = store.event(wanted), store.approval(wanted)
    call: Any = event.data.get("call") if event is not None else None
    call_id = approval.call_id if approval is not None else str(call["id"]) if isinstance(call, Mapping) else ""
    for name in dict.fromkeys((call_id or wanted, wanted)):
        found = [one for one in store.audit_naming(name) if wanted in names_of(one[1])]
        if found:
            return found
    return []


def names_of(entry: Mapping[str, Any]) -> set[str]:
    """The ids by which one asks for an entry: its event's, its call's, its approval's."""
    return {str(entry.get(key)) for key in ("eventId", "callId", "approval") if entry.get(key)}
