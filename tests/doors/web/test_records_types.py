"""What the page is told by `web/src/api/records.ts` is what the server answers: the same names, key by key."""

import re
from pathlib import Path
from typing import get_type_hints

import pytest

from holdfast.doors.web import audit, chain_shapes, decision_shapes, rules, setting_shapes, simulations, strategies
from holdfast.doors.web.live_shapes import FindingShape, MessageShape, RuleRefShape

SOURCE = Path(__file__).parents[3] / "web" / "src" / "api" / "records.ts"
SHAPES = {
    "Fill": chain_shapes.Fill,
    "StrategyMarks": chain_shapes.Marks,
    "Segment": chain_shapes.Segment,
    "ThreadRow": chain_shapes.ThreadOfChain,
    "ChainSession": chain_shapes.ChainSession,
    "Chain": chain_shapes.Chain,
    "SessionDetail": chain_shapes.SessionDetail,
    "TranscriptPage": chain_shapes.TranscriptPage,
    "Sealing": chain_shapes.SealingAnswer,
    "HandOff": chain_shapes.HandOff,
    "Recovery": chain_shapes.Recovery,
    "SearchHit": chain_shapes.Hit,
    "SearchPage": chain_shapes.Hits,
    "SearchOptions": chain_shapes.SearchOptions,
    "SessionFigures": chain_shapes.SessionFigures,
    "DayOfDecisions": chain_shapes.Day,
    "AuditRow": decision_shapes.AuditRow,
    "AuditPage": decision_shapes.AuditPage,
    "AuditDetail": decision_shapes.AuditDetail,
    "AuditReport": decision_shapes.AuditReport,
    "RuleRef": RuleRefShape,
    "Finding": FindingShape,
    "SimulatedChange": decision_shapes.SimulatedChange,
    "Simulation": decision_shapes.Simulation,
    "RuleRow": decision_shapes.RuleRow,
    "RulesPage": decision_shapes.RulesPage,
    "RuleTest": decision_shapes.RuleTest,
    "RuleTemplate": decision_shapes.TemplateData,
    "SimulationJob": decision_shapes.SimulationJob,
    "ConfigProblem": setting_shapes.ConfigProblemData,
    "SettingKind": setting_shapes.Kind,
    "Setting": setting_shapes.SettingData,
    "SettingsPage": setting_shapes.SettingsPage,
    "SettingWritten": setting_shapes.SettingWritten,
    "SystemPrompt": setting_shapes.SystemPrompt,
    "ModelRow": setting_shapes.ModelRow,
    "KnownModel": setting_shapes.KnownModelData,
    "AgentRow": setting_shapes.AgentRow,
    "HostStrategy": setting_shapes.HostStrategy,
    "Family": setting_shapes.Family,
    "StrategiesPage": setting_shapes.Strategies,
    "HealthFinding": setting_shapes.HealthFinding,
    "HostHealth": setting_shapes.HostHealth,
    "DoctorReport": setting_shapes.DoctorReport,
    "MemoryStatus": setting_shapes.MemoryStatus,
    "ProposalRow": setting_shapes.ProposalRow,
    "ProposalDetail": setting_shapes.ProposalDetail,
    # what the page sends
    "NewRule": rules.RuleBody,
    "SimulateRequest": simulations.SimulateBody,
    "FamilyChange": strategies.FamilyBody,
}
_INTERFACE = re.compile(
    r"^export interface (\w+)(?:<[^{]*>)?(?: extends (\w+))? \{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
_KEY = re.compile(r"^  (\w+)\??:", re.MULTILINE)


def interfaces() -> dict[str, set[str]]:
    """The keys of each interface; those of an inner object stand deeper and are not looked at."""
    found: dict[str, set[str]] = {}
    for name, base, body in _INTERFACE.findall(SOURCE.read_text(encoding="utf-8")):
        found[name] = set(_KEY.findall(body)) | found.get(base, set())
    return found


@pytest.mark.parametrize("name", SHAPES)
def test_UI1_an_interface_of_the_page_has_the_keys_of_its_shape(name):
    assert interfaces()[name] == set(get_type_hints(SHAPES[name]))


def test_UI1_the_filters_of_the_audit_are_the_same_on_both_sides():
    assert interfaces()["AuditFilters"] | {"format"} == set(get_type_hints(audit.ExportBody))
    assert set(get_type_hints(MessageShape)) == {"code", "params", "en", "zh"}
