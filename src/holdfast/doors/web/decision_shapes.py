"""The answers about decisions and rules, as types; `web/src/api/records.ts` says the same to the page."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from holdfast.doors.web.live_shapes import FindingShape, MessageShape, RuleRefShape
from holdfast.doors.web.setting_shapes import ConfigProblemData

Decision = Literal["allow", "ask", "deny"]
AnyDecision = Literal["allow", "ask", "deny", ""]


# audit


class AuditRow(TypedDict):
    position: int
    eventId: str
    at: float
    decision: AnyDecision
    domain: str
    tool: str
    what: str
    targets: list[str]
    rulePattern: str
    policy: str
    decidedBy: str
    mode: str
    session: str
    thread: str
    agent: str
    subagent: str
    host: str
    lifted: bool


class FacetValue(TypedDict):
    value: str
    count: int


class Bucket(TypedDict):
    at: float
    allow: int
    ask: int
    deny: int


class Histogram(TypedDict):
    seconds: float
    buckets: list[Bucket]


class AuditPage(TypedDict):
    entries: list[AuditRow]
    cursor: str | None
    total: int
    facets: dict[str, list[FacetValue]]
    histogram: Histogram
    complete: bool


class Story(TypedDict):
    decidedBy: MessageShape
    what: str
    change: list[MessageShape]


class AuditDetail(TypedDict):
    row: AuditRow
    entry: dict[str, Any]
    findings: list[dict[str, Any]]
    why: Story
    eventNo: int | None


class AuditDetails(TypedDict):
    entries: list[AuditDetail]


class AuditProblem(TypedDict):
    file: str
    line: int
    kind: str
    message: MessageShape


class AuditReport(TypedDict):
    ok: bool
    files: int
    entries: int
    problems: list[AuditProblem]


class Address(TypedDict):
    url: str


class Total(TypedDict):
    before: Decision
    after: Decision
    count: int


class SimulatedChange(TypedDict):
    eventId: str
    sessionId: str
    timestamp: float
    tool: str
    target: str
    before: Decision
    after: Decision
    ruleBefore: str
    ruleAfter: str


class Group(TypedDict):
    count: int
    change: SimulatedChange


class Simulation(TypedDict):
    replayed: int
    changed: int
    totals: list[Total]
    groups: list[Group]
    groupsLeftOut: int
    redacted: int
    unreadable: int


# rules


class RuleRow(RuleRefShape):
    order: int
    origin: Literal["built-in", "template", "user", "inline"]
    own: bool
    expires: float | None
    expired: bool
    only: str
    shadowedBy: int | None


class RulesPage(TypedDict):
    file: str
    rules: list[RuleRow]
    builtIn: int
    outsideEdit: Literal["deny", "ask"]
    problems: list[ConfigProblemData]


class RuleAdded(TypedDict):
    added: bool
    rule: RuleRefShape
    shadowedBy: RuleRefShape | None


class RemovedRule(RuleRefShape):
    expires: float | None


class RuleRemoved(TypedDict):
    removed: RemovedRule


class RoleOfRule(RuleRefShape):
    role: Literal["decides", "shadowed", "does_not_count"]


class TestedAccess(TypedDict):
    domain: str
    target: str
    verb: str
    by: str
    certain: bool
    decision: Decision
    why: MessageShape
    rules: list[RoleOfRule]


class RuleTest(TypedDict):
    decision: Decision
    hard: bool
    why: MessageShape | None
    findings: list[FindingShape]
    accesses: list[TestedAccess]
    reading: dict[str, Any] | None
    proposals: list[dict[str, Any]]


class TemplateData(TypedDict):
    name: str
    on: bool
    about: MessageShape
    rules: list[RuleRefShape]


class Templates(TypedDict):
    templates: list[TemplateData]


class SimulationJob(TypedDict):
    id: str
    state: Literal["running", "done", "cancelled", "timed_out", "failed"]
    replayed: int
    total: int
    result: Simulation | None
    problem: MessageShape | None
