"""The answers about settings, hosts and memory, as types; `web/src/api/records.ts` says the same to the page."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from holdfast.doors.web.chain_shapes import Marks, Strategy
from holdfast.doors.web.live_shapes import MessageShape

Level = Literal["ok", "warning", "problem"]


# settings


class ConfigProblemData(TypedDict):
    file: str
    line: int | None
    column: int | None
    key: str
    message: MessageShape


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
    what: MessageShape
    fix: MessageShape | None


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
    problem: MessageShape | None


class Proposals(TypedDict):
    proposals: list[ProposalRow]
    cursor: str | None
    total: int
