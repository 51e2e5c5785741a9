"""Rules on the page: those in force and who wins over whom, changes with a way back, a test field, templates.

A change is written as `holdfast rules` writes it: comments stay, and nothing is written unless the result is right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, TypedDict

from holdfast.core.events import ToolCall
from holdfast.core.messages import Phrase, message_of
from holdfast.core.patterns import Rule
from holdfast.core.rule_templates import TEMPLATES
from holdfast.core.settings import RuleSetting
from holdfast.doors.rule_changes import (
    own_rules,
    roles,
    setting_of,
    switch_templates,
    take_rule_away,
    template_data,
)
from holdfast.doors.rules_judging import BadTarget, Judged, call_about, decided, judge_call
from holdfast.doors.web import decision_shapes as shapes
from holdfast.doors.web.readings import reading_data
from holdfast.doors.web.records import Answer, Records, problem_data, refusal
from holdfast.doors.web.routes import ApiError, Call, Route, not_found
from holdfast.doors.web.shadowing import shadows
from holdfast.policies.hard_limits import HardLimitsPolicy
from holdfast.policies.permission import PermissionPolicy
from holdfast.rule_proposals import propose_rules
from holdfast.shell import CommandReading
from holdfast.store.config_file import LoadedConfig
from holdfast.store.config_problems import ConfigError
from holdfast.store.config_write import ConfigWriteError, add_rule, put_rule_back
from holdfast.store.home import VaultError, find_vault

_OTHER_RULE = Phrase(
    "page.other_rule", "rule {index} is another one by now; look again", "规则 {index} 现在已是另一条；请重新查看"
)
_WHAT = Phrase(
    "page.what_target",
    "ask about a domain with a target, or about a tool with its input",
    "请给出访问类型与目标，或工具与其输入",
)
_TARGET = Phrase(
    "page.target", "target must be a text of at most {most} characters", "目标须为最多 {most} 个字符的文本"
)


MOST_RULES = 2000
LONGEST = 100_000
DomainName = Literal["read", "edit", "bash", "web_fetch", "web_search", "mcp"]
DecisionName = Literal["allow", "ask", "deny"]


class RuleBody(TypedDict):
    domain: DomainName
    pattern: str
    decision: DecisionName
    expires: NotRequired[float | None]


class NewRuleBody(RuleBody):
    index: NotRequired[int]


class QuestionBody(TypedDict, total=False):
    domain: DomainName
    target: str
    tool: str
    input: dict[str, Any]
    mode: Literal["agent", "full_access"]
    vault: str
    cwd: str


class SwitchBody(TypedDict):
    name: str
    on: bool


def list_rules(call: Call) -> Answer:
    """The rules in force in their order; the last one that matches decides."""
    records = call.server.records
    config, index = records.control.config, records.control.in_force().index
    rules = index.rules
    built_in = sum(1 for rule in rules if rule.source == "built-in")
    everything, domain = bool(call.query["all"]), call.query["domain"]
    shadowed = shadows(index, first=0 if everything else built_in)
    now = records.control.clock()
    shown = [
        _row(order, rule, config, shadowed.get(order), now)
        for order, rule in enumerate(rules)
        if (everything or rule.source != "built-in") and domain in (None, rule.domain)
    ]
    return {
        "file": str(config.path),
        "rules": shown[-MOST_RULES:],
        "builtIn": built_in,
        "outsideEdit": config.settings.runtime.permission.outside_edit,
        "problems": [problem_data(problem) for problem in config.problems],
    }


def _row(order: int, rule: Rule, config: LoadedConfig, shadowed_by: int | None, now: float) -> Answer:
    own = rule.source == str(config.path)
    origin = "user" if own else rule.source
    if origin not in ("user", "built-in"):
        origin = "template" if origin.startswith("template ") else "inline"
    return {
        **rule.ref().to_dict(),
        "order": order,
        "origin": origin,
        "own": own,
        "expires": rule.expires,
        "expired": rule.expires is not None and rule.expires <= now,
        "only": rule.only,
        "shadowedBy": shadowed_by,
    }


def add(call: Call) -> Answer:
    """Write a rule: a deny at the end, anything else above the user's denies; with `index` exactly there (undo)."""
    records, body = call.server.records, call.body
    path = records.control.home.config
    setting = RuleSetting(body["domain"], body["pattern"], body["decision"], body.get("expires"))
    index = body.get("index")
    try:
        written = add_rule(path, setting) if index is None else put_rule_back(path, index, setting)
    except (ConfigError, ConfigWriteError) as error:
        raise refusal(error) from None
    shadow = written.shadowed_by
    return {
        "added": written.changed,
        "rule": written.rule.ref().to_dict(),
        "shadowedBy": shadow and shadow.ref().to_dict(),
    }


def remove(call: Call) -> Answer:
    """Take an own rule away; the body says which one the person saw, and another one is never taken."""
    records, body = call.server.records, call.body
    text = call.path["index"]
    own = own_rules(records.control.config)
    if not (text.isascii() and text.isdigit() and len(text) < 9) or int(text) >= len(own):
        raise not_found("rule", text)
    rule = own[int(text)]
    seen = RuleSetting(body["domain"], body["pattern"], body["decision"], body.get("expires"))
    if setting_of(rule) != seen:
        raise ApiError(409, "changed_meanwhile", _OTHER_RULE(index=text))
    try:
        take_rule_away(records.control.home.config, rule)
    except (ConfigError, ConfigWriteError) as error:
        raise refusal(error) from None
    return {"removed": {**rule.ref().to_dict(), "expires": rule.expires}}


def test(call: Call) -> Answer:
    """What would be decided, by which rules, and what the command would do; nothing is run."""
    records, body = call.server.records, call.body
    in_force = records.control.in_force()
    vault = _vault(records, body)
    cwd = str(body.get("cwd") or vault)

    def examine(asked: ToolCall) -> ToolCall:
        return records.control.examine(asked, vault)

    try:
        asked = _asked(body, examine, cwd)
    except ValueError as error:
        raise ApiError(422, "bad_target", message_of(error)) from None
    policies = [one for one in in_force.policies if isinstance(one, HardLimitsPolicy | PermissionPolicy)]
    judged = judge_call(asked, policies, in_force.index, str(body.get("mode", "agent")))
    deciding = judged.merged.deciding
    return {
        "decision": judged.merged.decision,
        "hard": judged.merged.hard,
        "why": deciding and deciding.why.to_dict(),
        "findings": [finding.to_dict() for finding in judged.merged.findings],
        "accesses": _accesses(judged),
        "reading": asked.reading and _reading(asked.reading),
        "proposals": [dict(one) for one in propose_rules(asked, judged.merged.findings, in_force.index)],
    }


def _asked(body: Mapping[str, Any], examine: Callable[[ToolCall], ToolCall], cwd: str) -> ToolCall:
    target, tool = str(body.get("target", "")), str(body.get("tool", ""))
    if bool(tool) == bool(body.get("domain")):
        raise BadTarget(_WHAT())
    if tool:
        return examine(ToolCall("test", tool, body.get("input") or {}, cwd=cwd))
    if not target.strip() or len(target) > LONGEST:
        raise BadTarget(_TARGET(most=LONGEST))
    return call_about(body["domain"], target, examine, cwd)


def _vault(records: Records, body: Mapping[str, Any]) -> str:
    """The project that was named, or the one this server was started in."""
    given = str(body.get("vault") or records.vault)
    try:
        return str(find_vault(given, home=records.control.home))
    except VaultError as error:
        raise ApiError(422, "vault", error.message) from None


def _accesses(judged: Judged) -> list[Answer]:
    return [
        {
            "domain": access.domain,
            "target": str(access.target),
            "verb": access.verb,
            "by": access.by,
            "certain": access.certain,
            "decision": finding.decision,
            "why": finding.why.to_dict(),
            "rules": [
                {**rule.ref().to_dict(), "role": role.replace(" ", "_")}
                for role, rule in roles(judged.rules_about(access), finding)
            ],
        }
        for access, finding in decided(judged)
    ]


def _reading(reading: CommandReading) -> Answer:
    commands = [
        {"text": command.text, "via": list(command.via), "dynamic": command.dynamic}
        for command in reading.simple_commands
    ]
    told = reading_data(reading.to_dict()) or {}
    return {**told, "reason_params": dict(reading.reason_params), "commands": commands}


def list_templates(call: Call) -> Answer:
    active = call.server.records.control.settings.runtime.permission.templates
    return _templates(list(active))


def switch_template(call: Call) -> Answer:
    records, name = call.server.records, call.body["name"]
    if name not in TEMPLATES:
        raise not_found("template", name)
    side = {"on" if call.body["on"] else "off": name}
    try:
        return _templates(switch_templates(records.control.home.config, records.control.config, **side))
    except (ConfigError, ConfigWriteError) as error:
        raise refusal(error) from None


def _templates(active: list[str]) -> Answer:
    return {
        "templates": [
            {**template, "about": template["about"].to_dict(), "rules": [_plain(rule) for rule in template["rules"]]}
            for template in template_data(active)
        ]
    }


def _plain(rule: Answer) -> Answer:
    return {key: rule[key] for key in ("pattern", "decision", "domain", "source", "line", "index")}


ROUTES = (
    Route(
        "GET", "/api/rules", list_rules, "The rules in force",
        query={"all": bool, "domain": DomainName}, returns=shapes.RulesPage,
    ),
    Route("POST", "/api/rules", add, "Write a rule", body=NewRuleBody, returns=shapes.RuleAdded),
    Route("DELETE", "/api/rules/{index}", remove, "Take a rule away", body=RuleBody, returns=shapes.RuleRemoved),
    Route("POST", "/api/rules/test", test, "What would be decided", body=QuestionBody, returns=shapes.RuleTest),
    Route("GET", "/api/rules/templates", list_templates, "Rule templates", returns=shapes.Templates),
    Route(
        "PUT", "/api/rules/templates", switch_template, "Switch a template",
        body=SwitchBody, returns=shapes.Templates,
    ),
)  # fmt: skip
