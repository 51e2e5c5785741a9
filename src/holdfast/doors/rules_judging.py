"""How `rules test` and `rules explain` judge: the same examination and the same policies as a real call."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from holdfast.control import folds_case, rules_in_force
from holdfast.core.events import ToolCall, ToolCalling
from holdfast.core.keys import SessionId, SessionKey
from holdfast.core.messages import Phrase, TellableError
from holdfast.core.patterns import Rule
from holdfast.core.policy import EMPTY, Policy
from holdfast.core.targets import SCHEMES, Access, Domain, Target, Vault, Verb
from holdfast.core.tools import NEUTRAL_TOOLS
from holdfast.core.verdict import Finding, Merged, merge
from holdfast.doors.context import Context
from holdfast.examine import Examiner
from holdfast.glob_files import expand_glob
from holdfast.policies.hard_limits import HardLimitsPolicy, standard_protection
from holdfast.policies.permission import PermissionPolicy
from holdfast.rule_index import RuleIndex
from holdfast.shell import default_table, read_command

# the neutral tool that stands for a domain, and the key of its input
_TOOL_OF: dict[Domain, tuple[str, str]] = {
    "read": ("read", "path"),
    "edit": ("write", "path"),
    "bash": ("bash", "command"),
    "web_fetch": ("web_fetch", "url"),
    "web_search": ("web_search", "query"),
}
_VERB_OF: dict[Domain, Verb] = {
    "read": "read",
    "edit": "write",
    "bash": "run",
    "web_fetch": "fetch",
    "web_search": "search",
    "mcp": "call",
}


class BadTarget(TellableError, ValueError):
    """A question about nothing that could be accessed."""


_NO_TOOL = Phrase("target.no_tool", "{what} names no tool; write SERVER/TOOL", "{what} 不是工具；请写成 服务器/工具")


@dataclass(frozen=True, slots=True)
class Judged:
    """A question about a target, and the answer."""

    call: ToolCall
    merged: Merged
    index: RuleIndex

    def rules_about(self, access: Access) -> list[Rule]:
        """Every rule that matches, the deciding one first; the others are shadowed."""
        return list(self.index.all_matches(access.domain, access.target))


def judge(context: Context, domain: Domain, what: str, mode: str = "agent") -> Judged:
    """What the rules in force say about a path, command, address, query or tool."""
    index = rules_in_force(context.config, context.home)
    protected = standard_protection(home=os.path.realpath(context.home.root), user_home=os.path.realpath(Path.home()))
    policies = (HardLimitsPolicy(protected), PermissionPolicy(index, fold_case=folds_case(context.home.root)))
    try:
        call = call_about(domain, what, lambda call: _examiner(context).examine(call), str(Path.cwd()))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return judge_call(call, policies, index, mode)


def judge_call(call: ToolCall, policies: Iterable[Policy], index: RuleIndex, mode: str = "agent") -> Judged:
    """What policies say about a call that was examined; nothing is run and nothing recorded."""
    event = ToolCalling(
        id="test",
        at=time.time(),
        where=SessionId(SessionKey("local", "holdfast", "rules-test"), "rules-test"),
        mode="full_access" if mode == "full_access" else "agent",
        call=call,
    )
    return Judged(call, merge([policy.decide(event, EMPTY)[0] for policy in policies], event.mode), index)


def call_about(domain: Domain, what: str, examine: Callable[[ToolCall], ToolCall], cwd: str) -> ToolCall:
    """The call that a question about a target stands for; raises `ValueError` when it names none."""
    scheme, colon, _ = what.partition(":")
    if domain == "mcp" or (colon and scheme in SCHEMES and scheme != "shell"):
        target = Target.parse(what if colon and scheme in SCHEMES else f"mcp:{what}")
        if domain == "mcp" and "/" not in target.value:
            raise BadTarget(_NO_TOOL(what=repr(what)))
        return ToolCall("test", domain, domain=domain, accesses=(Access(domain, target, _VERB_OF[domain]),))
    tool, key = _TOOL_OF[domain]
    text = what.removeprefix("shell:") if domain == "bash" else what
    return examine(ToolCall("test", tool, {key: text}, cwd=cwd))


def _examiner(context: Context) -> Examiner:
    root = os.path.realpath(context.vault())
    settings = context.config.settings.runtime
    table = default_table()
    if settings.shell.commands:
        table = table.extended(settings.shell.commands)
    return Examiner(
        vault=Vault(root, folds_case=folds_case(Path(root))),
        home=str(Path.home()),
        resolve=os.path.realpath,
        read_command=lambda text, cwd: read_command(text, cwd=cwd or None, home=str(Path.home()), table=table),
        tools=NEUTRAL_TOOLS,
        expand=expand_glob,
    )


def decided(judged: Judged) -> Iterator[tuple[Access, Finding]]:
    """Each access with what permission found about it."""
    said = {(f.domain, f.target): f for f in judged.merged.findings if f.policy == "permission"}
    for access in judged.call.accesses:
        finding = said.get((access.domain, str(access.target)))
        if finding is not None:
            yield access, finding
