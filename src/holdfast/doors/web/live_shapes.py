"""The shapes of the live half: approvals, threads and what they show. `web/src/api/live.ts` says the same."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

ApprovalStatus = Literal["pending", "answered", "expired", "cancelled"]
Answer = Literal["once", "always", "for_a_while", "deny"]
ModeName = Literal["agent", "full_access"]
ToolState = Literal["preparing", "waiting", "running", "done", "denied", "failed", "interrupted"]


class MessageShape(TypedDict):
    code: str
    params: dict[str, Any]
    en: str
    zh: str


class RuleRefShape(TypedDict):
    pattern: str
    decision: str
    domain: str
    source: str
    line: int | None
    index: int | None


class FindingShape(TypedDict):
    policy: str
    decision: Literal["allow", "ask", "deny"]
    hard: bool
    why: MessageShape
    rule: RuleRefShape | None
    target: str
    domain: str
    next: MessageShape | None
    lifted: bool


class AccessShape(TypedDict):
    domain: str
    target: str
    verb: str
    by: str


class ProposedRule(TypedDict):
    domain: str
    pattern: str
    decision: NotRequired[Literal["allow", "ask", "deny"]]
    expires: NotRequired[float | None]


class ProposalShape(TypedDict):
    rules: list[ProposedRule]
    still: list[MessageShape]


class WhatShape(TypedDict):
    kind: Literal["command", "diff", "mode", "input"]
    text: str
    path: str
    complete: bool


class ApprovalCard(TypedDict):
    id: str
    status: ApprovalStatus
    policy: str
    tool: str
    callId: str
    invocation: str
    thread: str
    session: str
    agent: str
    subagent: str
    host: str
    vault: str
    title: str
    createdAt: float
    deadline: float | None
    what: WhatShape
    input: dict[str, Any]
    findings: list[FindingShape]
    accesses: list[AccessShape]
    proposals: list[ProposalShape]
    onlyOnce: MessageShape | None
    reading: dict[str, Any] | None
    answers: list[Answer]
    answer: Answer | None
    answeredAt: float | None
    answeredBy: str
    answeredHere: bool
    message: str
    rules: list[ProposedRule]


class Truncated(TypedDict):
    lines: int
    bytes: int
    path: str


class ItemShape(TypedDict):
    """One entry of a conversation; which of the later fields there are depends on `kind`."""

    kind: Literal["user", "assistant", "tool", "compaction", "session", "mode", "ended", "notice"]
    key: str
    session: str
    no: int
    at: float
    invocation: str
    subagent: str
    superseded: bool
    id: NotRequired[str]
    text: NotRequired[str]
    typed: NotRequired[bool]
    reasoning: NotRequired[str]
    callId: NotRequired[str]
    tool: NotRequired[str]
    input: NotRequired[dict[str, Any]]
    what: NotRequired[WhatShape]
    state: NotRequired[ToolState]
    approval: NotRequired[str]
    output: NotRequired[str]
    exitCode: NotRequired[int | None]
    durationMs: NotRequired[float | None]
    reason: NotRequired[str]
    why: NotRequired[MessageShape | None]
    truncated: NotRequired[Truncated | None]
    trigger: NotRequired[str]
    method: NotRequired[str]
    before: NotRequired[int | None]
    after: NotRequired[int | None]
    summary: NotRequired[str]
    droppedTools: NotRequired[dict[str, int]]
    inferred: NotRequired[bool]
    number: NotRequired[int]
    source: NotRequired[str]
    mode: NotRequired[ModeName]
    host: NotRequired[str]
    model: NotRequired[str]
    to: NotRequired[ModeName]
    by: NotRequired[str]
    problem: NotRequired[bool]
    code: NotRequired[str]
    message: NotRequired[MessageShape]
    next: NotRequired[MessageShape | None]


class SegmentShape(TypedDict):
    kind: Literal["user", "assistant", "call", "result", "system", "summary"]
    tokens: int


class HealthShape(TypedDict):
    session: str
    thread: str
    used: int
    window: int | None
    reserve: int | None
    ratio: float | None
    exact: bool
    at: float
    ageSeconds: float
    stale: bool
    strategy: Literal["handoff", "compress", "hybrid"]
    warn: float
    action: float
    compressions: int
    maxCompressions: int
    segments: list[SegmentShape]


class UsageShape(TypedDict):
    requests: int
    inputTokens: int
    outputTokens: int
    cost: float | None
    maxTokens: int | None
    maxCost: float | None


class QueuedShape(TypedDict):
    id: str
    text: str


class LiveTool(TypedDict):
    callId: str
    tool: str
    input: dict[str, Any]
    what: WhatShape
    state: ToolState
    progress: str


class RetryShape(TypedDict):
    seconds: float
    attempt: int
    why: MessageShape
    at: float


class LiveTurnShape(TypedDict):
    invocation: str
    text: str
    reasoning: str
    tools: list[LiveTool]
    compacting: bool
    retry: RetryShape | None


class ThreadRow(TypedDict):
    thread: str
    agent: str
    host: str
    title: str
    vault: str
    session: str
    sessions: int
    state: Literal["active", "sealing", "sealed"]
    mode: ModeName
    model: str
    lastAt: float
    pending: int
    busy: bool
    own: bool


class ThreadState(ThreadRow):
    number: int
    agentFile: str
    unfinished: bool
    drivenElsewhere: bool
    live: LiveTurnShape | None
    queue: list[QueuedShape]
    approvals: list[ApprovalCard]
    health: HealthShape | None
    usage: UsageShape
    eventNo: int
