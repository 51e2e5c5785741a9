"""`holdfast attach` and `holdfast detach`: put a coding agent under control, and release it again (HO1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM, EXIT_USAGE, Failure
from holdfast.doors.output import emit, json_option, table

if TYPE_CHECKING:
    from holdfast.hosts.attach.service import Done
    from holdfast.hosts.attach.spec import Spec
    from holdfast.store.attached import Scope

HOST_NAMES = ("claude-code", "opencode", "codex", "gemini")
scope_option = click.option(
    "--user/--project", "for_user", default=True, help="In your own settings [default], or in this project's."
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show the difference and change nothing.")


@click.command()
@click.argument("host", required=False, type=click.Choice(HOST_NAMES), metavar="[HOST]")
@scope_option
@dry_run_option
@click.option("--force", is_flag=True, help="Also where the program is not found.")
@click.option(
    "--mcp/--no-mcp", "with_server", default=True, help="With recall and memory over MCP [default], or without."
)
@click.option("--list", "listing", is_flag=True, help="Show what is attached.")
@json_option
@pass_context
def attach(
    context: Context,
    host: str | None,
    for_user: bool,
    dry_run: bool,
    force: bool,
    with_server: bool,
    listing: bool,
    as_json: bool,
) -> None:
    """Put a coding agent under control: claude-code, opencode, codex or gemini.

    Shows what changes in its settings, and keeps everything else in them. `holdfast detach HOST` takes it back.
    """
    if listing:
        _list(context, as_json)
        return
    if host is None:
        raise Failure(f"say which host: {', '.join(HOST_NAMES)}; or --list", EXIT_USAGE)
    from holdfast.hosts.attach.json_file import AttachError
    from holdfast.hosts.attach.service import attach as attach_host

    spec = replace(_spec(context, "user" if for_user else "project"), with_server=with_server)
    try:
        done = attach_host(host, spec, at=_now(), dry_run=dry_run, force=force)
    except AttachError as error:
        raise Failure(str(error), EXIT_PROBLEM) from None
    lines = [
        line.replace(spec.token, "<token>") for line in _lines(done, "would be attached" if dry_run else "attached")
    ]
    if not done.program:
        lines.append("The program itself was not found in PATH; `holdfast doctor` checks again.")
    emit(_data(done, dry_run, spec.token), lines, as_json)


@click.command()
@click.argument("host", type=click.Choice(HOST_NAMES), metavar="HOST")
@scope_option
@dry_run_option
@json_option
@pass_context
def detach(context: Context, host: str, for_user: bool, dry_run: bool, as_json: bool) -> None:
    """Release a coding agent: a file unchanged since is restored byte for byte, another one loses only our entries."""
    from holdfast.hosts.attach.json_file import AttachError
    from holdfast.hosts.attach.service import detach as detach_host

    spec = _spec(context, "user" if for_user else "project")
    try:
        done = detach_host(host, spec, dry_run=dry_run)
    except AttachError as error:
        raise Failure(str(error), EXIT_PROBLEM) from None
    lines = [
        line.replace(spec.token, "<token>") for line in _lines(done, "would be detached" if dry_run else "detached")
    ]
    emit(_data(done, dry_run, spec.token), lines, as_json)


def _list(context: Context, as_json: bool) -> None:
    from holdfast.hosts.attach.service import attached

    rows: list[tuple[str, ...]] = []
    data: list[dict[str, Any]] = []
    for host, manifest in attached(_spec(context, "user")):
        where = "" if manifest is None else (manifest.vault or "user settings")
        rows.append((host, "attached" if manifest else "not attached", where))
        files = [file.path for file in manifest.files] if manifest else []
        data.append({"host": host, "attached": manifest is not None, "where": where, "files": files})
    emit(data, table(rows), as_json)


def _spec(context: Context, scope: Scope) -> Spec:
    """Everything an installer must know, from this invocation."""
    import os
    from pathlib import Path

    from holdfast.doors.daemon_process import port_of, token_of
    from holdfast.hosts.attach.spec import Spec
    from holdfast.store.home import VaultError, find_home

    context.home.create()
    try:
        vault = context.vault()
    except VaultError:
        if scope == "project":
            raise
        vault = Path.cwd()
    settings = context.config.settings.runtime
    return Spec(
        home=context.home,
        scope=scope,
        vault=vault,
        user_home=Path.home(),
        deadline=int(settings.permission.approval_timeout_seconds) + 10,
        port=port_of(context.home),
        token=token_of(context.home),
        environ=dict(os.environ),
        language=context.language,
        names_home=find_home(environ={"HOME": str(Path.home())}).root != context.home.root,
    )


def _lines(done: Done, word: str) -> list[str]:
    lines: list[str] = []
    for change in done.changes:
        if change.changes:
            lines += change.diff().splitlines()
        if change.note:
            lines.append(f"{change.path}: {change.note}")
    if not done.changed and not any(change.note for change in done.changes):
        return [f"{done.host} is attached already; nothing was changed"]
    lines.append(f"{done.host}: {word}")
    return lines + [f"  {remark}" for remark in done.remarks]


def _data(done: Done, dry_run: bool, token: str) -> dict[str, Any]:
    """The token is for the file only: what is printed may end up in a log."""
    return {
        "host": done.host,
        "changed": done.changed and not dry_run,
        "files": [
            {
                "path": str(change.path),
                "changes": change.changes,
                "diff": change.diff().replace(token, "<token>"),
                "note": change.note,
            }
            for change in done.changes
        ],
        "remarks": list(done.remarks),
    }


def _now() -> float:
    import time

    return time.time()
