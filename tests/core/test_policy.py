"""What a host can carry out: what is not in the table, it cannot."""

from typing import get_args

import pytest

from holdfast.core.policy import Ability, Capabilities

HOST = Capabilities("somewhere", {"tool_calling": frozenset({"block", "ask"}), "tool_called": frozenset({"inject"})})


@pytest.mark.parametrize("ability", get_args(Ability))
def test_HO3_an_ability_counts_only_where_the_table_has_it(ability):
    assert HOST.can(ability, "tool_calling") is (ability in {"block", "ask"})
    assert HOST.can(ability, "tool_called") is (ability == "inject")
    assert not HOST.can(ability, "session_started"), "an event the table does not name can do nothing"


def test_HO3_nothing_is_promised_by_default():
    assert Capabilities("new", {}).compaction_signal == "no"
    assert not Capabilities("new", {}).names_subagents
