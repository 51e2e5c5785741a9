"""The rules once more, for what a call reaches without naming it: a search must not show what a read would ask for."""

from __future__ import annotations

import os

from holdfast.core.settings import Settings
from holdfast.core.targets import Domain, Target, url_target
from holdfast.core.verdict import Decision
from holdfast.rule_index import RuleIndex, rule_list
from holdfast.runtime.tool import ToolContext
from holdfast.runtime.tools.places import Place
from holdfast.store.home import Home

_INDEX = "judged.index"


def may_read(context: ToolContext, place: Place) -> bool:
    """Whether a rule lets this file be read without asking."""
    target = Target("vault", f"/{place.shown}") if place.inside else Target("fs", place.shown)
    return _decision(context, "read", target) == "allow"


def may_fetch(context: ToolContext, url: str) -> bool:
    return _decision(context, "web_fetch", url_target(url)) == "allow"


def _decision(context: ToolContext, domain: Domain, target: Target) -> Decision:
    rule = _index(context).match(domain, target)
    return rule.decision if rule is not None else "ask"


def _index(context: ToolContext) -> RuleIndex:
    known: tuple[Settings, RuleIndex] | None = context.memory.get(_INDEX)
    if known is not None and known[0] is context.settings:
        return known[1]
    permission = context.settings.runtime.permission
    user_rules = [rule.rule("config", None, index) for index, rule in enumerate(permission.rules)]
    outputs = os.path.realpath(Home(context.home).outputs)
    index = RuleIndex(rule_list(permission, user_rules=user_rules, readable=(outputs,)))
    context.memory[_INDEX] = (context.settings, index)
    return index
