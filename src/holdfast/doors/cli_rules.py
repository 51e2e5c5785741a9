"""`holdfast rules` and `holdfast why`: which rules there are, what they decide, and what would change it (PE7, AU3)."""

from __future__ import annotations

from typing import Any

import click

from holdfast.core.patterns import Rule
from holdfast.core.targets import DOMAINS
from holdfast.core.verdict import Finding
from holdfast.doors.cli_rules_simulate import simulate_command
from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM, Failure
from holdfast.doors.output import emit, json_option, moment, table, visible
from holdfast.doors.rule_changes import own_rules, roles, rule_data, switch_templates, take_rule_away, template_data

DOMAIN = click.Choice(DOMAINS)
DECISION = click.Choice(["allow", "ask", "deny"])
MODE = click.Choice(["agent", "full_access"])


def _domains(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [domain for domain in DOMAINS if domain.startswith(incomplete)]


asked_argument = click.argument("asked", metavar="[DOMAIN] WHAT", nargs=-1, required=True, shell_complete=_domains)


def _asked(given: tuple[str, ...]) -> tuple[str, str]:
    """The domain and what is asked about; one word or text alone is a command, unless it is an address."""
    first, rest = given[0], given[1:]
    if not rest and first in DOMAINS:
        raise click.UsageError(f"what about {first}? Name a path, a command or an address: DOMAIN WHAT")
    if not rest:
        return ("web_fetch" if first.startswith(("http://", "https://")) else "bash"), first
    if first not in DOMAINS:
        raise click.UsageError(
            f"{first!r} is none of {', '.join(DOMAINS)}; put a command of several words in quotes: {' '.join(given)!r}"
        )
    if len(rest) > 1:
        raise click.UsageError(f"put what is asked about in quotes: {first} {' '.join(rest)!r}")
    return first, rest[0]


@click.group()
def rules_group() -> None:
    """List, test and change permission rules. The last rule that matches decides."""


rules_group.add_command(simulate_command)


@rules_group.command("list")
@click.option("--all", "everything", is_flag=True, help="The built-in rules too.")
@click.option("--domain", type=DOMAIN, help="Only this domain.")
@json_option
@pass_context
def list_rules(context: Context, everything: bool, domain: str | None, as_json: bool) -> None:
    """List the rules in force, in their order: a later one wins. Numbers are for `rules remove`."""
    from holdfast.control import rules_in_force

    index = rules_in_force(context.config, context.home)
    shown = [
        rule
        for rule in index.rules
        if (everything or rule.source != "built-in") and (domain is None or rule.domain == domain)
    ]
    hidden = sum(1 for rule in index.rules if rule.source == "built-in") if not everything else 0
    own = str(context.config.path)
    rows = [
        (
            f"{rule.index}" if rule.source == own else "-",
            rule.decision,
            rule.domain,
            visible(rule.pattern) + (" (only commands proven to read)" if rule.only else ""),
            _place(rule) + (f", until {moment(rule.expires)}" if rule.expires else ""),
        )
        for rule in shown
    ]
    text = [*table(rows)] if rows else ["no rules of your own"]
    if hidden:
        text.append(f"and {hidden} built-in rules below these (holdfast rules list --all)")
    emit([rule_data(rule) for rule in shown], text, as_json)


@rules_group.command()
@click.argument("decision", type=DECISION)
@click.argument("domain", type=DOMAIN)
@click.argument("pattern")
@json_option
@pass_context
def add(context: Context, decision: str, domain: str, pattern: str, as_json: bool) -> None:
    """Write a rule into config.jsonc, keeping its comments: a deny at the end, anything else above your denies.

    holdfast rules add allow bash 'git status *'
    """
    from holdfast.core.settings import RuleSetting
    from holdfast.store.config_write import add_rule

    setting = RuleSetting(domain, pattern, decision)  # type: ignore[arg-type]  # click has checked both
    written = add_rule(context.home.config, setting)
    rule = written.rule
    text = [f"{'added' if written.changed else 'already there'}: {_short(rule)} ({_place(rule)})"]
    if written.shadowed_by is not None:
        text.append(
            f"note: {_short(written.shadowed_by)} ({_place(written.shadowed_by)}) comes later and may still win"
        )
    shadow = rule_data(written.shadowed_by) if written.shadowed_by else None
    emit({"added": written.changed, "rule": rule_data(rule), "shadowedBy": shadow}, text, as_json)


@rules_group.command()
@click.argument("number", type=click.IntRange(0))
@json_option
@pass_context
def remove(context: Context, number: int, as_json: bool) -> None:
    """Remove the rule with this number, as `rules list` shows it."""
    own = own_rules(context.config)
    if number >= len(own):
        raise Failure(f"there is no rule {number}; `holdfast rules list` shows {len(own)} of your own")
    rule = own[number]
    written = take_rule_away(context.home.config, rule)
    text = f"removed: {_short(rule)}"
    if written.backup is not None:
        text += f"; the file as it was is kept in {written.backup}"
    emit({"removed": rule_data(rule), "backup": str(written.backup or "")}, text, as_json)


@rules_group.command("test")
@asked_argument
@click.option("--mode", type=MODE, default="agent", show_default=True, help="Mode of the session.")
@click.option("--expect", type=DECISION, help="Exit with code 1 when the decision is another one.")
@json_option
@pass_context
def test_rule(context: Context, asked: tuple[str, ...], mode: str, expect: str | None, as_json: bool) -> None:
    """Say what the rules in force decide about a path, command, address, query or SERVER/TOOL. Nothing is run.

    holdfast rules test bash 'git status && rm -rf x'

    Without a DOMAIN it is taken as a command, or as an address where it is one.
    """
    from holdfast.doors.rules_judging import decided, judge

    domain, what = _asked(asked)
    judged = judge(context, domain, what, mode)  # type: ignore[arg-type]
    rows = list(decided(judged))
    reason = judged.merged.deciding.why.text() if judged.merged.deciding else ""
    data = {
        "decision": judged.merged.decision,
        "reason": reason,
        "hard": judged.merged.hard,
        "accesses": [
            {"domain": a.domain, "target": str(a.target), "decision": f.decision, "pattern": _pattern(f)}
            for a, f in rows
        ],
    }
    text = [judged.merged.decision + (f": {visible(reason)}" if reason else "")]
    if len(rows) > 1:
        text += table([(f.decision, a.domain, visible(str(a.target), 80), _pattern(f)) for a, f in rows], "  ")
    emit(data, text, as_json)
    if expect is not None and expect != judged.merged.decision:
        raise Failure(f"expected {expect}, but it is {judged.merged.decision}")


@rules_group.command()
@asked_argument
@json_option
@pass_context
def explain(context: Context, asked: tuple[str, ...], as_json: bool) -> None:
    """Show every rule that matches: the one that decides, and those it shadows."""
    from holdfast.doors.rules_judging import decided, judge

    domain, what = _asked(asked)
    judged = judge(context, domain, what)  # type: ignore[arg-type]
    data: list[dict[str, Any]] = []
    text: list[str] = []
    for access, finding in decided(judged):
        found = list(roles(judged.rules_about(access), finding))
        data.append(
            {
                "domain": access.domain,
                "target": str(access.target),
                "decision": finding.decision,
                "reason": finding.why.text(),
                "rules": [{"role": role, **rule_data(rule)} for role, rule in found],
            }
        )
        text.append(f"{visible(str(access.target))}: {finding.decision}")
        rows = [(role, rule.decision, visible(rule.pattern), _place(rule)) for role, rule in found]
        text += table(rows, "  ") if rows else ["  no rule matches, so a person is asked"]
        if finding.rule is not None and all(role != "decides" for role, _ in found):
            text.append(f"  {finding.why.text()} (by another spelling of the same command)")
    if judged.merged.hard and judged.merged.deciding is not None:
        text.append(f"a hard limit stands above all rules: {judged.merged.deciding.why.text()}")
    text.append(f"together: {judged.merged.decision}")
    emit({"decision": judged.merged.decision, "hard": judged.merged.hard, "accesses": data}, text, as_json)


@rules_group.command()
@click.option("--on", "switch_on", metavar="NAME", help="Switch a template on.")
@click.option("--off", "switch_off", metavar="NAME", help="Switch a template off.")
@json_option
@pass_context
def templates(context: Context, switch_on: str | None, switch_off: str | None, as_json: bool) -> None:
    """List the rule templates, or switch one on or off. Your own rules always win over a template."""
    from holdfast.core.rule_templates import TEMPLATES

    for name in (switch_on, switch_off):
        if name is not None and name not in TEMPLATES:
            raise click.UsageError(f"no template {name!r}; known ones: {', '.join(sorted(TEMPLATES))}")
    found = template_data(switch_templates(context.home.config, context.config, on=switch_on, off=switch_off))
    rows = [("on" if t["on"] else "off", t["name"], _counted(len(t["rules"])), t["about"].text()) for t in found]
    emit([{**template, "about": template["about"].text()} for template in found], table(rows), as_json)


_SHORTEST_ID = 8


@click.command()
@click.argument("event")
@json_option
@pass_context
def why(context: Context, event: str, as_json: bool) -> None:
    """Say who decided about EVENT, by which rule, and what would change it.

    EVENT is its id, its call's, or its approval's as `holdfast approvals list` shows it.
    """
    from holdfast.doors.audit_data import entries_about

    found = [entry for _, entry in entries_about(context.store, event)] if context.has_store else []
    if not found and context.has_store and len(event) >= _SHORTEST_ID:
        begun = {approval.id for approval in context.store.approvals(limit=1000) if approval.id.startswith(event)}
        found = [entry for _, entry in entries_about(context.store, begun.pop())] if len(begun) == 1 else []
    if not found:
        raise Failure(_nothing_about(context, event))
    from holdfast.doors.why import explanation

    own = own_rules(context.config)
    told = [explanation(entry, own) for entry in found]
    text = [line for number, one in enumerate(told) for line in (*([""] if number else []), *one.lines())]
    emit([one.to_dict() for one in told], text, as_json)
    if all(one.decision == "" for one in told):
        raise click.exceptions.Exit(EXIT_PROBLEM)


def _nothing_about(context: Context, wanted: str) -> str:
    """Where to look instead: what was given may be the name of something else that is known."""
    if context.has_store and context.store.session(wanted) is not None:
        return f"{wanted!r} is a session, not a decision; `holdfast audit show --session {wanted}` lists its decisions"
    if context.has_store and context.store.sessions(thread=wanted, limit=1):
        newest = context.store.sessions(thread=wanted, limit=1)[0].id.session
        return f"{wanted!r} is a thread; `holdfast audit show --session {newest}` lists its newest session's decisions"
    return f"nothing is recorded about {wanted!r}; `holdfast audit show` lists what is"


def _pattern(finding: Finding) -> str:
    return finding.rule.pattern if finding.rule else ""


def _counted(rules: int) -> str:
    return "1 rule" if rules == 1 else f"{rules} rules"


def _place(rule: Rule) -> str:
    return rule.source if rule.line is None else f"{rule.source}:{rule.line}"


def _short(rule: Rule) -> str:
    return f"{rule.decision} {rule.domain} {visible(rule.pattern)}"
