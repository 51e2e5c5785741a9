"""The command `holdfast`: its options, its table of commands, and nothing that a command does not use."""

from __future__ import annotations

import click

from holdfast._version import __version__
from holdfast.doors.context import Context
from holdfast.doors.lazy_group import LazyCommand, LazyGroup

WORK, RECORD, SETTINGS = "Work", "The record", "Set up and look after"

# A line here is all that a new command needs; it is offered once its module is there.
COMMANDS = (
    LazyCommand("chat", "holdfast.doors.cli_chat:chat", "Talk with an agent in the terminal.", WORK),
    LazyCommand("run", "holdfast.doors.cli_chat:run", "Give an agent one task and wait for its end.", WORK),
    LazyCommand("tour", "holdfast.doors.cli_chat:tour", "See what Holdfast does, in three minutes.", WORK),
    LazyCommand("serve", "holdfast.doors.cli_serve:serve", "Open the page: chat, approvals, record, settings.", WORK),
    LazyCommand("approvals", "holdfast.doors.cli_approvals:approvals_group", "Answer what waits for you.", WORK),
    LazyCommand("mode", "holdfast.doors.cli_mode:mode", "Show or switch a session's mode.", WORK),
    LazyCommand("continue", "holdfast.doors.cli_continue:continue_command", "Go on with an older thread.", WORK),
    LazyCommand("attach", "holdfast.doors.cli_attach:attach", "Put a coding agent under control.", WORK),
    LazyCommand("detach", "holdfast.doors.cli_attach:detach", "Release a coding agent again.", WORK),
    LazyCommand("pause", "holdfast.doors.cli_pause:pause", "Let a coding agent work unguarded for a while.", WORK),
    LazyCommand("panic", "holdfast.doors.cli_pause:panic", "Stop everything, in every host, at once.", WORK),
    LazyCommand("undo", "holdfast.doors.cli_undo:undo", "Take back what a turn changed in files.", WORK),
    LazyCommand("mcp", "holdfast.doors.cli_mcp:mcp_command", "Serve recall and memory over MCP.", WORK),
    LazyCommand("hook", "holdfast.doors.cli_hook:hook", "What a coding agent's hook calls.", WORK, hidden=True),
    LazyCommand("status", "holdfast.doors.cli_status:status", "Show what is there, its size and growth.", RECORD),
    LazyCommand("sessions", "holdfast.doors.cli_sessions:sessions_group", "List, read, seal, delete sessions.", RECORD),
    LazyCommand("transcript", "holdfast.doors.cli_transcript:transcript", "Read a session.", RECORD),
    LazyCommand("search", "holdfast.doors.cli_search:search", "Search everything that was said and done.", RECORD),
    LazyCommand("import", "holdfast.doors.cli_import:import_command", "Take in transcripts of other agents.", RECORD),
    LazyCommand("audit", "holdfast.doors.cli_audit:audit_group", "Show, verify and export decisions.", RECORD),
    LazyCommand("why", "holdfast.doors.cli_rules:why", "Say which rule decided, and what would change it.", RECORD),
    LazyCommand("init", "holdfast.doors.cli_init:init", "Make the home and a commented configuration.", SETTINGS),
    LazyCommand("config", "holdfast.doors.cli_config:config_group", "Show, check and change settings.", SETTINGS),
    LazyCommand("rules", "holdfast.doors.cli_rules:rules_group", "List, test and change permission rules.", SETTINGS),
    LazyCommand("shell", "holdfast.doors.cli_shell:shell_group", "Explain what a command line would do.", SETTINGS),
    LazyCommand("memory", "holdfast.doors.cli_memory:memory_group", "Lay out and tend the memory bank.", SETTINGS),
    LazyCommand("doctor", "holdfast.doors.cli_doctor:doctor", "Find what is wrong, and how to mend it.", SETTINGS),
    LazyCommand("daemon", "holdfast.doors.cli_daemon:daemon_group", "The process that answers hooks.", SETTINGS),
    LazyCommand("completion", "holdfast.doors.cli_completion:completion", "Print shell completion.", SETTINGS),
)


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 well, 1 problem found, 2 usage, 3 configuration, 4 store, 5 home or vault; `run` has more.",
)
@click.version_option(__version__, prog_name="holdfast")
@click.option("--home", metavar="DIR", help="Home of Holdfast [default: $HOLDFAST_HOME, else ~/.holdfast].")
@click.option("--vault", metavar="DIR", help="Directory the agent works in [default: git top level, else here].")
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Override a setting for this command.")
@click.pass_context
def cli(ctx: click.Context, home: str | None, vault: str | None, assignments: tuple[str, ...]) -> None:
    """Keep long-running AI agents inside their permissions, inside their context, on their task, and on the record."""
    context = ctx.obj = Context(home, vault, assignments)
    ctx.call_on_close(context.close)


def main() -> None:
    cli.main(prog_name="holdfast")
