"""The rules once more, for what a call reaches without naming it: a search must not show what a read would ask for."""

from __future__ import annotations

import os

from holdfast.core.settings import Settings
from holdfast.core.targets import Target, url_target
from holdfast.rule_index import RuleIndex, rule_list
from holdfast.runtime.tool import ToolContext
from holdfast.runtime.tools.places import Place
from holdfast.store.home import Home

_INDEX = "judged.index"


def may_read(context: ToolContext, place: Place, within: Place) -> bool:
    """Whether a file may be shown by a call that was judged for the folder it is in.

    It may when a rule allows it, or when no other rule speaks about it than about the folder.
    """
    index = _index(context)
    rule = index.match("read", _target(place))
    if rule is not None and rule.decision == "allow":
        return True
    return rule == index.match("read", _target(within))


def may_fetch(context: ToolContext, url: str) -> bool:
    rule = _index(context).match("web_fetch", url_target(url))
    return rule is not None and rule.decision == "allow"


def _target(place: Place) -> Target:
    if not place.inside:
        return Target("fs", place.shown)
    return Target("vault", "/" if place.shown == "." else f"/{place.shown}")


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
