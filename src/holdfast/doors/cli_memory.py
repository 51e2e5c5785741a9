"""`holdfast memory`: lay out and tend the memory bank, and settle what agents propose for it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM
from holdfast.doors.output import emit, json_option, moment, table, visible

if TYPE_CHECKING:
    from holdfast.memory_bank import MemoryBank, Proposal


@click.group()
def memory_group() -> None:
    """Lay out and tend the memory bank.

    Files are the memory: MEMORY.md is in every prompt, details/ is read when it matters.
    """


def _bank(context: Context) -> MemoryBank:
    import time
    import uuid

    from holdfast.memory_bank import MemoryBank

    return MemoryBank(context.store, clock=time.time, new_id=lambda: uuid.uuid4().hex)


@memory_group.command()
@click.option("--language", type=click.Choice(["en", "zh"]), help="Language of the templates [default: your own].")
@json_option
@pass_context
def init(context: Context, language: str | None, as_json: bool) -> None:
    """Lay the tree out, taking over older layouts. Nothing is overwritten."""
    import os

    from holdfast.store.memory_layout import lay_out

    chosen = language or ("zh" if os.environ.get("LANG", "").lower().startswith("zh") else "en")
    done = lay_out(context.vault(), "zh" if chosen == "zh" else "en")
    text = [f"taken over  {old} -> {new}" for old, new in done.taken_over]
    text += [f"made        {name}" for name in done.made] + [f"kept        {name}" for name in done.kept]
    if "MEMORY.md" in done.made:
        text.append("next: say under Current Focus in memory-bank/MEMORY.md what you are after")
    emit({"made": done.made, "kept": done.kept, "takenOver": done.taken_over}, text, as_json)


@memory_group.command()
@json_option
@pass_context
def status(context: Context, as_json: bool) -> None:
    """Say what is there, what is injected, and what waits. Exit code 1 when there is no memory bank."""
    from holdfast.doors.memory_data import memory_status

    vault = str(context.vault())
    settings = context.config.settings.runtime.memory
    pending = _bank(context).all(vault, "pending") if context.has_store else []
    found = memory_status(vault, settings)
    files = found.pop("files")
    data = {**found, "files": len(files), "pending": [proposal.id for proposal in pending]}
    text = [
        f"{len(files)} files in {vault}/memory-bank",
        f"MEMORY.md: {'there' if data['memory'] else 'missing'}{', cut when injected' if data['cut'] else ''}",
        f"patterns.md: {'there' if data['patterns'] else 'missing'}",
        f"goal: {visible(str(data['goal'])) or '-'}",
        f"context gate: {settings.guard_mode}; recovery gate: {'on' if settings.recovery else 'off'}",
        f"{len(pending)} proposals wait" + ("" if not pending else ": holdfast memory apply ID"),
    ]
    emit(data, text if files else "no memory bank here; `holdfast memory init` lays one out", as_json)
    if not files:
        raise click.exceptions.Exit(EXIT_PROBLEM)


@memory_group.command()
@click.argument("proposal", required=False)
@json_option
@pass_context
def show(context: Context, proposal: str | None, as_json: bool) -> None:
    """Print what is injected, or a proposal with its diff."""
    if proposal is None:
        from holdfast.doors.memory_data import injected

        text = injected(str(context.vault()), context.config.settings.runtime.memory)
        emit({"injected": text}, text or "nothing is injected: there is no memory-bank/MEMORY.md", as_json)
        return
    bank = _bank(context)
    found = _find(bank, proposal)
    diff = bank.diff(found) if found.status == "pending" else ""
    lines = [f"{found.id}  {found.status}  {found.path}", f"why: {visible(found.why)}", diff.rstrip()]
    emit({**found.to_dict(), "diff": diff}, [line for line in lines if line], as_json)


@memory_group.command()
@click.argument("path")
@click.option("--append", help="Text for the end of the file.")
@click.option("--content", help="The whole new text; - reads it from standard input.")
@click.option("--old", help="A passage that stands there once.")
@click.option("--new", help="What stands there instead.")
@click.option("--why", required=True, help="Why it should change.")
@json_option
@pass_context
def propose(
    context: Context,
    path: str,
    append: str | None,
    content: str | None,
    old: str | None,
    new: str | None,
    why: str,
    as_json: bool,
) -> None:
    """Propose a change to a file of the memory bank; `apply` writes it."""
    from holdfast.core.keys import SessionId, SessionKey
    from holdfast.core.proposals import Edit

    if content == "-":
        content = sys.stdin.read()
    change = {"append": append, "content": content, "old": old, "new": new}
    bank = _bank(context)
    where = SessionId(SessionKey("local", "command-line", "command-line"), "command-line")
    made = bank.propose(where, str(context.vault()), path=path, edit=Edit.of(change), why=why)
    diff = bank.diff(made)
    emit({**made.to_dict(), "diff": diff}, [diff.rstrip(), f"write it: holdfast memory apply {made.id[:12]}"], as_json)


@memory_group.command()
@click.argument("proposal")
@click.option("--skip", is_flag=True, help="Leave the file as it is.")
@click.option("--undo", is_flag=True, help="Put the file back as it was before this proposal.")
@json_option
@pass_context
def apply(context: Context, proposal: str, skip: bool, undo: bool, as_json: bool) -> None:
    """Write a proposal, skip it, or undo it."""
    bank = _bank(context)
    found = _find(bank, proposal)
    if undo:
        done = bank.undo(found.id, by="local")
    elif skip:
        done = bank.skip(found.id, by="local")
    else:
        done = bank.apply(found.id, by="local")
    back = f"; take it back: holdfast memory undo {done.id[:12]}" if done.status == "applied" else ""
    emit(done.to_dict(), f"{done.status}: {done.path}{back}", as_json)


@memory_group.command()
@click.argument("proposal")
@json_option
@pass_context
def undo(context: Context, proposal: str, as_json: bool) -> None:
    """Put the file back as it was before a proposal was written."""
    bank = _bank(context)
    done = bank.undo(_find(bank, proposal).id, by="local")
    emit(done.to_dict(), f"{done.status}: {done.path}", as_json)


@memory_group.command()
@click.option("--all", "every", is_flag=True, help="Of every vault.")
@json_option
@pass_context
def history(context: Context, every: bool, as_json: bool) -> None:
    """List proposals, newest first: what, by whom, why, and what became of them."""
    if not context.has_store:
        emit([], "no proposals yet", as_json)
        return
    found = _bank(context).all(None if every else str(context.vault()))
    rows = [(p.id[:12], p.status, moment(p.at), p.by, p.path, visible(p.why, 60)) for p in found]
    data: list[dict[str, Any]] = [proposal.to_dict() for proposal in found]
    emit(data, table(rows) if rows else "no proposals yet", as_json)


def _find(bank: MemoryBank, start: str) -> Proposal:
    found = [proposal for proposal in bank.all() if proposal.id.startswith(start)]
    if len(found) != 1:
        said = "no proposal begins with" if not found else f"{len(found)} proposals begin with"
        raise click.UsageError(f"{said} {start!r}; `holdfast memory history` lists them")
    return found[0]
