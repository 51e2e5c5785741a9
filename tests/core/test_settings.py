"""Every setting is documented, frozen, has a default that fits, and a key that can be typed."""

import dataclasses
from typing import get_args

import pytest

from holdfast.core.decode import decode, encode, fields_of
from holdfast.core.setting_keys import (
    RULES,
    KeyNameError,
    full_path,
    key_text,
    kind_at,
    leaf_kind,
    leaves,
    parse_key,
    short_key,
    takes_text,
)
from holdfast.core.settings import DEFAULTS, AgentHeader, RuleSetting, Settings, Thresholds


def classes(kind, seen=None):
    """Every settings class below one, itself included."""
    seen = {} if seen is None else seen
    kind = leaf_kind(kind)
    if dataclasses.is_dataclass(kind) and kind not in seen:
        seen[kind] = None
        for _, inner in fields_of(kind).values():
            classes(inner, seen)
    for part in get_args(kind):
        classes(part, seen)
    return list(seen)


EVERY_CLASS = [*classes(Settings), AgentHeader]


@pytest.mark.parametrize("cls", EVERY_CLASS, ids=lambda cls: cls.__name__)
def test_every_setting_is_frozen_and_documented_in_one_line(cls):
    assert cls.__dataclass_params__.frozen
    assert hasattr(cls, "__slots__")
    for field, _ in fields_of(cls).values():
        doc = field.metadata["doc"]
        assert doc.endswith(".")
        assert "\n" not in doc
        assert len(doc) <= 110


@pytest.mark.parametrize("cls", EVERY_CLASS, ids=lambda cls: cls.__name__)
def test_every_default_fits_its_own_bounds(cls):
    for field, _ in fields_of(cls).values():
        default = field.default
        if isinstance(default, int | float) and not isinstance(default, bool):
            assert field.metadata.get("min", default) <= default <= field.metadata.get("max", default)


def test_defaults_of_one_instance_are_not_those_of_another():
    assert Settings().runtime.mcp is not DEFAULTS.runtime.mcp


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("truncation.maxLines", 2000),
        ("truncation.maxBytes", 51_200),
        ("truncation.ttlDays", 7),
        ("doomLoop.maxAttempts", 3),
        ("doomLoop.maxToolCalls", 60),
        ("doomLoop.maxToolCallsUnattended", 600),
        ("doomLoop.sameToolThreshold", 5),
        ("doomLoop.maxSignatureBytes", 8192),
        ("doomLoop.cooldownToolCalls", 3),
        ("compaction.threshold", 0.8),
        ("compaction.fallbackCharLimit", 120_000),
        ("compaction.protectedTurns", 3),
        ("permission.outsideEdit", "deny"),
        ("permission.approvalTimeoutSeconds", 300),
        ("mode.default", "agent"),
        ("memory.guardMode", "warn"),
        ("memory.recovery", True),
        ("tools.external.enabled", False),
    ],
)
def test_the_defaults_are_those_of_the_rows(key, value):
    plain = encode(DEFAULTS)
    for part in parse_key(key):
        plain = plain[part]
    assert plain == value


def test_SC9_thresholds_default_and_order():
    assert (Thresholds().warn, Thresholds().action) == (0.85, 0.90)
    breed = {"id": "x", "features": {"sessionStrategy": {"thresholds": {"warn": 0.95}}}}
    _, found = decode(Settings, {"breeds": [breed]})
    assert "must be below action" in found[0].message.text()


def test_a_rule_knows_where_it_was_written():
    rule = RuleSetting("bash", "git *", "allow", 5.0).rule("config.jsonc", 3, 0)
    assert (rule.source, rule.line, rule.index, rule.expires) == ("config.jsonc", 3, 0, 5.0)


# -- keys


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("truncation.maxLines", ("agents", "runtime", "truncation", "maxLines")),
        ("agents.runtime.model", ("agents", "runtime", "model")),
        ("permission.rules[2].pattern", (*RULES, 2, "pattern")),
        ('models["gpt-4.1"].api', ("agents", "runtime", "models", "gpt-4.1", "api")),
        ("breeds[0].id", ("breeds", 0, "id")),
        ("$schema", ("$schema",)),
        ("hooks.chat.system.text", ("agents", "runtime", "hooks", "chat", "system", "text")),
        ("shell.commands.foo.bar", ("agents", "runtime", "shell", "commands", "foo", "bar")),
    ],
)
def test_a_key_is_read_and_written_back(text, path):
    assert parse_key(text) == path
    assert parse_key(short_key(path)) == path
    assert parse_key(key_text(path)) == path


@pytest.mark.parametrize(
    "text",
    ["truncation..maxLines", ".model", "model.", "model.x", "rules[x]", "permission.rules[", "nope", "breeds.id"],
)
def test_what_is_no_key_is_refused(text):
    with pytest.raises(KeyNameError):
        parse_key(text)


def test_every_leaf_can_be_named():
    for path, _, _ in leaves(Settings, encode(DEFAULTS)):
        assert parse_key(short_key(path)) == path


def test_quotes_may_be_left_out_only_where_text_alone_fits():
    assert takes_text(kind_at(parse_key("model")))
    assert takes_text(kind_at(parse_key("mode.default")))
    assert takes_text(kind_at(("breeds", 0, "features", "sessionStrategy", "strategy")))
    assert not takes_text(kind_at(parse_key("truncation.maxLines")))
    assert not takes_text(kind_at(parse_key("compaction.pinned")))


def test_a_path_that_names_nothing_stays_as_it_is():
    assert full_path(("nope",)) == ("nope",)
