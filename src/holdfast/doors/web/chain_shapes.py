"""The answers about sessions, searches and figures, as types; `web/src/api/records.ts` says the same to the page."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from holdfast.doors.web.live_shapes import MessageShape

State = Literal["active", "sealing", "sealed"]
Strategy = Literal["handoff", "compress", "hybrid"]
View = Literal["chat", "handoff", "raw"]


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
    notes: list[MessageShape]


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
    message: MessageShape
    warning: MessageShape | None
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
    notice: MessageShape | None


class SearchOptions(TypedDict):
    kinds: list[str]
    tools: list[str]
    agents: list[str]
    hosts: list[str]
    vaults: list[str]


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
