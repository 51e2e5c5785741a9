"""The answers of the records' endpoints, as types; `web/src/api/records.ts` says the same to the page."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Decision = Literal["allow", "ask", "deny"]
AnyDecision = Literal["allow", "ask", "deny", ""]
State = Literal["active", "sealing", "sealed"]
Strategy = Literal["handoff", "compress", "hybrid"]
View = Literal["chat", "handoff", "raw"]
Level = Literal["ok", "warning", "problem"]


class MessageData(TypedDict):
    code: str
    params: dict[str, str]
    en: str
    zh: str


# chains


class Fill(TypedDict):
    used: int
    window: int | None
    reserve: int | None
    ratio: float | None
    exact: bool
    measuredAt: float
    ageSeconds: float
    stale: bool


class Marks(TypedDict):
    strategy: Strategy
    warn: float
    action: float
    maxCompressions: int
    chain: bool
    source: str
    family: str
    approximate: bool
    notes: list[MessageData]


class Compaction(TypedDict):
    eventNo: int
    at: float
    before: int | None
    after: int | None
    trigger: str
    inferred: bool


class Segment(TypedDict):
    firstEvent: int
    lastEvent: int
    startedAt: float
    endedAt: float
    compaction: Compaction | None


class ThreadOfChain(TypedDict):
    thread: str
    agent: str
    host: str
    title: str
    vault: str
    sessions: int
    session: str
    state: State
    startedAt: float
    lastAt: float
    pending: int


class Threads(TypedDict):
    threads: list[ThreadOfChain]
    cursor: str | None


class ChainSession(TypedDict):
    session: str
    thread: str
    agent: str
    host: str
    vault: str
    model: str
    mode: str
    number: int
    title: str
    state: State
    sealReason: str
    sealMark: str
    sealWanted: str
    startedAt: float
    endedAt: float | None
    duration: float
    events: int
    compressions: int
    fill: Fill | None
    marks: Marks
    segments: list[Segment]
    canUnseal: bool


class Chain(TypedDict):
    thread: str
    agent: str
    title: str
    vault: str
    hosts: list[str]
    sessions: list[ChainSession]
    leftOut: int


class ArchiveState(TypedDict):
    state: Literal["none", "verified", "damaged"]
    file: str
    sha256: str
    events: int
    problem: str


class SessionDetail(ChainSession):
    archive: ArchiveState


class TranscriptPage(TypedDict):
    session: str
    view: View
    entries: list[dict[str, Any]]
    total: int
    before: str | None
    after: str | None


class BothLanguages(TypedDict):
    en: str
    zh: str


class DigestAnswer(TypedDict):
    digest: dict[str, Any]
    text: BothLanguages


class SealingAnswer(TypedDict):
    status: Literal["sealed", "sealing", "waits", "refused", "not_wanted"]
    message: MessageData
    warning: MessageData | None
    session: ChainSession


class Unsealed(TypedDict):
    session: ChainSession


class PacketData(TypedDict):
    text: str
    tokens: int


class HandOff(SealingAnswer):
    packet: PacketData | None


class Recovery(TypedDict):
    session: str
    enabled: bool
    required: bool
    unread: list[str]
    read: list[str]
    anchors: list[str]
    compactions: int


# search


class Hit(TypedDict):
    session: str
    thread: str
    agent: str
    host: str
    vault: str
    title: str
    number: int
    eventNo: int
    invocationId: str
    kind: str
    tool: str
    subagent: str
    at: float
    snippet: str
    marks: list[list[int]]


class Hits(TypedDict):
    hits: list[Hit]
    cursor: str | None
    match: Literal["all", "any"]
    order: Literal["best", "newest"]
    complete: bool


class SearchOptions(TypedDict):
    kinds: list[str]
    tools: list[str]
    agents: list[str]
    hosts: list[str]
    vaults: list[str]


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
    decidedBy: MessageData
    what: str
    change: list[MessageData]


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
    message: str


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


class RuleRef(TypedDict):
    pattern: str
    decision: Decision
    domain: str
    source: str
    line: int | None
    index: int | None


class RuleRow(RuleRef):
    order: int
    origin: Literal["built-in", "template", "user", "inline"]
    own: bool
    expires: float | None
    expired: bool
    only: str
    shadowedBy: int | None


class ConfigProblemData(TypedDict):
    file: str
    line: int | None
    column: int | None
    key: str
    message: str


class RulesPage(TypedDict):
    file: str
    rules: list[RuleRow]
    builtIn: int
    outsideEdit: Literal["deny", "ask"]
    problems: list[ConfigProblemData]


class RuleAdded(TypedDict):
    added: bool
    rule: RuleRef
    shadowedBy: RuleRef | None


class RemovedRule(RuleRef):
    expires: float | None


class RuleRemoved(TypedDict):
    removed: RemovedRule


class RoleOfRule(RuleRef):
    role: Literal["decides", "shadowed", "does_not_count"]


class TestedAccess(TypedDict):
    domain: str
    target: str
    verb: str
    by: str
    certain: bool
    decision: Decision
    why: MessageData
    rules: list[RoleOfRule]


class RuleTest(TypedDict):
    decision: Decision
    hard: bool
    why: MessageData | None
    findings: list[dict[str, Any]]
    accesses: list[TestedAccess]
    reading: dict[str, Any] | None
    proposals: list[dict[str, Any]]


class TemplateData(TypedDict):
    name: str
    on: bool
    about: MessageData
    rules: list[RuleRef]


class Templates(TypedDict):
    templates: list[TemplateData]


class SimulationJob(TypedDict):
    id: str
    state: Literal["running", "done", "cancelled", "timed_out", "failed"]
    replayed: int
    total: int
    result: Simulation | None
    problem: str


# settings


class Kind(TypedDict):
    type: Literal["boolean", "integer", "number", "text", "choice", "list", "object"]
    nullable: bool
    options: list[str]
    min: float | None
    max: float | None


class OriginData(TypedDict):
    source: str
    line: int | None


class SettingData(TypedDict):
    key: str
    section: str
    value: Any
    default: Any
    origin: OriginData
    isDefault: bool
    editable: bool
    doc: str
    kind: Kind


class SettingsPage(TypedDict):
    file: str
    exists: bool
    settings: list[SettingData]
    problems: list[ConfigProblemData]


class SettingWritten(TypedDict):
    setting: SettingData
    changed: bool
    line: int | None
    backup: str | None


class CustomPrompt(TypedDict):
    text: str
    params: dict[str, float | None]


class ParamLimits(TypedDict):
    type: Literal["integer", "number"]
    min: float | None
    max: float | None


class SystemPrompt(TypedDict):
    mode: Literal["default", "custom"]
    custom: CustomPrompt | None
    limits: dict[str, ParamLimits]
    agent: str | None


class ModelRow(TypedDict):
    name: str
    current: bool
    configured: bool
    offline: bool
    baseUrl: str
    api: str
    local: bool
    window: int | None
    windowSource: Literal["custom", "table", "unknown"]
    customContext: int | None
    managed: bool
    maxOutput: int | None
    inputPrice: float | None
    outputPrice: float | None
    needsKey: bool
    keyName: str
    keySource: Literal["environment", "keyring", "credentials"] | None


class KnownModelData(TypedDict):
    pattern: str
    window: int
    output: int
    managed: bool


class Models(TypedDict):
    current: str
    models: list[ModelRow]
    table: list[KnownModelData]


class AgentRow(TypedDict):
    id: str
    name: str
    description: str
    params: dict[str, float | None]
    prompt: str
    file: str
    chosen: bool


class Agents(TypedDict):
    chosen: str
    agents: list[AgentRow]
    problems: list[ConfigProblemData]


class CompactsAt(TypedDict):
    share: float
    less: int


class HostStrategy(Marks):
    host: str
    default: Strategy
    signal: Literal["yes", "inferred", "no"]
    compactsAt: CompactsAt | None


class MatchData(TypedDict):
    host: str
    agent: str
    model: str


class Family(TypedDict):
    id: str
    match: MatchData | None
    sessionChain: bool
    strategy: Strategy | None
    warn: float
    action: float
    maxCompressions: int
    budgetReserve: int | None
    line: int | None
    editable: bool


class Limits(TypedDict):
    min: float | None
    max: float | None


class StrategyLimits(TypedDict):
    warn: Limits
    action: Limits
    maxCompressions: Limits
    budgetReserve: Limits
    step: float


class Strategies(TypedDict):
    hosts: list[HostStrategy]
    families: list[Family]
    known: dict[str, str]
    limits: StrategyLimits


class HealthFinding(TypedDict):
    check: str
    level: Level
    what: str
    fix: str


class HostHealth(TypedDict):
    host: str
    attached: bool
    installed: bool
    level: Level
    findings: list[HealthFinding]


class DoctorReport(TypedDict):
    healthy: bool
    at: float
    hosts: list[HostHealth]
    findings: list[HealthFinding]
    complete: bool


# memory


class MemoryStatus(TypedDict):
    vault: str
    enabled: bool
    files: list[str]
    memory: bool
    patterns: bool
    cut: bool
    goal: str
    guardMode: Literal["off", "warn", "block"]
    recovery: bool
    pending: int
    injected: str
    vaults: list[str]


class ProposalRow(TypedDict):
    id: str
    vault: str
    path: str
    why: str
    at: float
    by: str
    thread: str
    session: str
    status: Literal["pending", "applied", "skipped", "undone"]
    settledAt: float | None
    settledBy: str


class ProposalDetail(ProposalRow):
    diff: str
    problem: str


class Proposals(TypedDict):
    proposals: list[ProposalRow]
    cursor: str | None
    total: int


# figures


class Point(TypedDict):
    eventNo: int
    at: float
    used: int
    window: int | None
    ratio: float | None
    exact: bool
    output: int


class CompactionPoint(Compaction):
    method: str


class TokenSums(TypedDict):
    input: int
    output: int


class SessionFigures(TypedDict):
    session: str
    points: list[Point]
    thinned: bool
    compactions: list[CompactionPoint]
    marks: Marks
    tokens: TokenSums


class Day(TypedDict):
    day: str
    at: float
    allow: int
    ask: int
    deny: int


class DecisionsByDay(TypedDict):
    days: list[Day]
    total: int
