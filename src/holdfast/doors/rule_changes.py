"""What a person does to rules, whichever door it comes through: own rules, taking one away, switching templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.core.rule_templates import TEMPLATES
from holdfast.core.setting_keys import RUNTIME
from holdfast.core.settings import RuleSetting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holdfast.core.patterns import Rule
    from holdfast.core.verdict import Finding
    from holdfast.store.config_file import LoadedConfig
    from holdfast.store.config_write import Written

TEMPLATES_KEY = (*RUNTIME, "permission", "templates")


def own_rules(config: LoadedConfig) -> list[Rule]:
    """The rules of the user's file, in the order of their numbers."""
    return [rule for rule in config.rules if rule.source == str(config.path)]


def setting_of(rule: Rule) -> RuleSetting:
    return RuleSetting(rule.domain, rule.pattern, rule.decision, rule.expires)


def take_rule_away(path: Path, rule: Rule) -> Written:
    """Remove a rule of the user's own, if the file still has it in its place."""
    from holdfast.store.config_write import remove_rule

    assert rule.index is not None
    return remove_rule(path, rule.index, expected=setting_of(rule))


def switch_templates(path: Path, config: LoadedConfig, *, on: str | None = None, off: str | None = None) -> list[str]:
    """The templates that are on afterwards; written only when that changes anything."""
    from holdfast.store.config_write import set_value

    active: list[str] = list(config.settings.runtime.permission.templates)
    wanted = [name for name in active if name != off]
    if on is not None and on not in wanted:
        wanted.append(on)
    if wanted != active:
        set_value(path, TEMPLATES_KEY, wanted)
    return wanted


def template_data(wanted: Sequence[str]) -> list[dict[str, Any]]:
    """Every template, and whether it is on; `about` is a `Message`."""
    return [
        {
            "name": name,
            "on": name in wanted,
            "about": template.about(),
            "rules": [rule_data(rule) for rule in template.rules],
        }
        for name, template in TEMPLATES.items()
    ]


def rule_data(rule: Rule) -> dict[str, Any]:
    data = rule.ref().to_dict()
    if rule.expires is not None:
        data["expires"] = rule.expires
    if rule.only:
        data["only"] = rule.only
    return data


def roles(rules: Sequence[Rule], finding: Finding) -> Iterator[tuple[str, Rule]]:
    """A rule that matches but does not count (expired, or for proven commands only) stands above the deciding one."""
    position = next((i for i, rule in enumerate(rules) if rule.ref() == finding.rule), -1)
    for i, rule in enumerate(rules):
        yield ("decides" if i == position else "does not count" if i < position else "shadowed"), rule
