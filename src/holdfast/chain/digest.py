"""What happened in a session, found by rules from its record: no model, no guessing (SC7).

Who approved what comes from the approval records and from nothing else.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.core.history import Item
from holdfast.core.keys import SessionId, SessionKey
from holdfast.core.messages import Language
from holdfast.core.summary import language_of
from holdfast.store.interface import Approval, EventRecord, Session

FORMAT = 1
MOST_PROMPTS, MOST_FILES, MOST_COMMANDS, MOST_ERRORS, MOST_DECISIONS, MOST_TASKS = 20, 40, 30, 15, 40, 30
LONGEST_TEXT, LONGEST_LINE = 1200, 300

_TASK_LISTS = ("todos", "plan", "steps", "items", "tasks")
_TASK_TOOLS = {"todo_write", "todo", "update_plan", "plan", "manage_plan", "tasks_add", "tasks_update"}
_TASK_TEXTS = ("content", "step", "title", "text", "description", "subject")
_DONE = {"done", "completed", "complete", "cancelled", "canceled", "deleted"}
_WRITING = {"write": "write", "edit": "edit", "multiedit": "edit", "apply_patch": "edit", "notebook_edit": "edit"}
_CHANGING = {**_WRITING, "move": "move", "delete": "delete"}
_QUESTION = re.compile(r"[^\s.!?。！？\n][^.!?。！？\n]*[?？]")


@dataclass(frozen=True, slots=True)
class FileUse:
    path: str
    operations: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CommandRun:
    command: str
    outcome: str
    """`ok`, `exit 2`, `failed`, or `no result`."""
    no: int
    """The event's number, for looking it up."""


@dataclass(frozen=True, slots=True)
class Trouble:
    tool: str
    text: str
    times: int
    no: int


@dataclass(frozen=True, slots=True)
class DecisionMade:
    who: str
    what: str
    """`once`, `always`, `for_a_while`, `deny`, `expired`, `cancelled`, `denied by policy`, `mode full_access`."""
    about: str
    at: float


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    no: int


@dataclass(frozen=True, slots=True)
class Digest:
    where: SessionId
    number: int
    started_at: float
    ended_at: float
    events: int
    """How many events it covers; a session that has more since needs a new one."""
    invocations: int = 0
    compactions: int = 0
    language: Language = "en"
    prompts: tuple[Said, ...] = ()
    tools: Mapping[str, int] = field(default_factory=dict)
    files: tuple[FileUse, ...] = ()
    commands: tuple[CommandRun, ...] = ()
    errors: tuple[Trouble, ...] = ()
    decisions: tuple[DecisionMade, ...] = ()
    questions: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    """Open ones, from the agent's own last list."""
    last_prompt: str = ""
    last_reply: str = ""
    minutes: str = ""
    """By a model, when one is configured and answered in time."""
    minutes_by: str = ""
    note: str = ""
    """Why there are no minutes although a model is configured."""

    def to_dict(self) -> dict[str, Any]:
        data = dataclasses.asdict(self)
        key = self.where.key
        data["where"] = {"user": key.user, "agent": key.agent, "thread": key.thread, "session": self.where.session}
        return {"format": FORMAT, **data}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Digest:
        if data.get("format") != FORMAT:
            raise ValueError(f"a digest of format {data.get('format')!r} cannot be read; expected {FORMAT}")
        values = {name: data[name] for name in (f.name for f in dataclasses.fields(cls)) if name in data}
        where = data["where"]
        values["where"] = SessionId(SessionKey(where["user"], where["agent"], where["thread"]), where["session"])
        kinds: dict[str, Any] = {
            "prompts": Said,
            "files": FileUse,
            "commands": CommandRun,
            "errors": Trouble,
            "decisions": DecisionMade,
        }
        for name, kind in kinds.items():
            values[name] = tuple(kind(**entry) for entry in data[name])
        for name in ("questions", "tasks"):
            values[name] = tuple(data[name])
        return cls(**values)


def build_digest(session: Session, records: Iterable[EventRecord], approvals: Sequence[Approval] = ()) -> Digest:
    """One pass over the record; `approvals` are the session's, in any order."""
    made = _Builder()
    for record in records:
        made.add(record)
    return made.digest(session, approvals)


@dataclass(slots=True)
class _Builder:
    events: int = 0
    last_at: float = 0.0
    compactions: int = 0
    invocations: dict[str, None] = field(default_factory=dict)
    prompts: list[Said] = field(default_factory=list)
    first_prompt: Said | None = None
    tools: Counter[str] = field(default_factory=Counter)
    files: dict[str, Counter[str]] = field(default_factory=dict)
    commands: dict[str, CommandRun] = field(default_factory=dict)
    errors: dict[tuple[str, str], Trouble] = field(default_factory=dict)
    decisions: list[DecisionMade] = field(default_factory=list)
    inputs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    tasks: dict[str, list[str]] = field(default_factory=dict)
    reply: str = ""
    replied_to: int = 0

    def add(self, record: EventRecord) -> None:
        self.events = record.no
        self.last_at = max(self.last_at, record.at)
        if record.invocation:
            self.invocations[record.invocation] = None
        data = record.data
        main = not record.where.subagent
        if record.kind == "prompt_submitted" and main:
            said = Said(clip(str(data.get("text", "")), LONGEST_TEXT), record.no)
            self.first_prompt = self.first_prompt or said
            self.prompts = [*self.prompts[-(MOST_PROMPTS - 1) :], said]
        elif record.kind == "assistant_replied" and main and data.get("text"):
            self.reply, self.replied_to = str(data["text"]), len(self.prompts)
        elif record.kind == "tool_calling":
            self._calling(record, data.get("call") or {})
        elif record.kind == "tool_called":
            self._called(record, data.get("call") or {}, data.get("result") or {})
        elif record.kind == "compacted":
            self.compactions += 1
        elif record.kind == "mode_changed":
            self.decisions.append(DecisionMade(str(data.get("by")), f"mode {data.get('to')}", "", record.at))

    def _calling(self, record: EventRecord, call: Mapping[str, Any]) -> None:
        tool, given = str(call.get("tool", "")), call.get("input") or {}
        self.inputs[str(call.get("id"))] = given
        if record.data.get("decision") == "deny":
            why = next((f["policy"] for f in record.data.get("findings", ()) if f.get("decision") == "deny"), "policy")
            self.decisions.append(DecisionMade(str(why), "denied by policy", about_call(tool, given), record.at))
            return
        if tool == "bash":
            self.commands[str(call.get("id"))] = CommandRun(_command(given), "no result", record.no)
        if tool in _TASK_TOOLS and (tasks := _open_tasks(given)) is not None:
            self.tasks[record.where.subagent] = tasks

    def _called(self, record: EventRecord, call: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        tool, call_id = str(call.get("tool", "")), str(call.get("id"))
        given = call.get("input") or self.inputs.get(call_id) or {}
        self.inputs.pop(call_id, None)
        failed = bool(result.get("failed"))
        exit_code = result.get("exit_code")
        self.tools[tool] += 1
        if tool == "bash":
            outcome = f"exit {exit_code}" if exit_code else ("failed" if failed else "ok")
            self.commands.pop(call_id, None)
            self.commands[call_id] = CommandRun(_command(given), outcome, record.no)
            if len(self.commands) > 2 * MOST_COMMANDS:
                self.commands = dict(list(self.commands.items())[-MOST_COMMANDS:])
        if failed or exit_code:
            text = str(result.get("error") or result.get("output") or "")
            key = (tool, _telling_line(text))
            times = self.errors.pop(key).times + 1 if key in self.errors else 1
            self.errors[key] = Trouble(tool, key[1], times, record.no)
        else:
            for path, operation in _files(record, tool, call, given):
                self.files.setdefault(path, Counter())[operation] += 1

    def digest(self, session: Session, approvals: Sequence[Approval]) -> Digest:
        answered = self.replied_to >= len(self.prompts) and self.reply
        decisions = [*self.decisions, *(_decision(approval) for approval in approvals if approval.status != "pending")]
        decisions.sort(key=lambda made: made.at)
        pending = [f"{a.tool}: {about_call(a.tool, a.question.get('input') or {})}" for a in approvals if _open(a)]
        changed = sorted(self.files.items(), key=lambda entry: (-_weight(entry[1]), entry[0]))
        prompts = self.prompts
        if self.first_prompt is not None and self.first_prompt not in prompts:
            prompts = [self.first_prompt, *prompts[1:]]
        spoken = [Item("user", said.text) for said in prompts] or [Item("assistant", self.reply)]
        return Digest(
            where=session.id.main(),
            number=session.number,
            started_at=session.started_at,
            ended_at=self.last_at or session.started_at,
            events=self.events,
            invocations=len(self.invocations),
            compactions=self.compactions,
            language=language_of(spoken),
            prompts=tuple(prompts),
            tools=dict(self.tools.most_common()),
            files=tuple(FileUse(path, dict(used)) for path, used in changed[:MOST_FILES]),
            commands=tuple(list(self.commands.values())[-MOST_COMMANDS:]),
            errors=tuple(list(self.errors.values())[-MOST_ERRORS:]),
            decisions=tuple(decisions[-MOST_DECISIONS:]),
            questions=(*questions_in(self.reply if answered else ""), *pending)[-10:],
            tasks=tuple(self.tasks.get("") or next(iter(self.tasks.values()), []))[:MOST_TASKS],
            last_prompt=clip(prompts[-1].text, LONGEST_TEXT) if prompts else "",
            last_reply=clip(self.reply, LONGEST_TEXT),
        )


def questions_in(text: str) -> tuple[str, ...]:
    """What the agent asked at the end and nobody has answered."""
    return tuple(clip(found.strip(), LONGEST_LINE) for found in _QUESTION.findall(text))[-5:]


def about_call(tool: str, given: Mapping[str, Any]) -> str:
    """What a call is about, in one line."""
    for key in ("command", "cmd", "file_path", "filePath", "path", "url", "query", "pattern", "description"):
        value = given.get(key)
        if isinstance(value, str) and value:
            return clip(" ".join(value.split()), LONGEST_LINE)
    return clip(" ".join(f"{key}={value}" for key, value in given.items()), 120) or tool


def clip(text: str, longest: int) -> str:
    """The beginning and, where it is long, the end of a text."""
    text = text.strip()
    if len(text) <= longest:
        return text
    tail = longest // 3
    return f"{text[: longest - tail - 5].rstrip()} […] {text[-tail:].lstrip()}"


def _decision(approval: Approval) -> DecisionMade:
    accesses: Any = approval.question.get("accesses") or ()
    targets = ", ".join(str(access["target"]) for access in accesses)
    about = targets or about_call(approval.tool, approval.question.get("input") or {})
    what = str(approval.answer) if approval.status == "answered" else approval.status
    at = approval.answered_at or approval.created_at
    return DecisionMade(approval.answered_by or "nobody", what, f"{approval.tool}: {clip(about, LONGEST_LINE)}", at)


def _open(approval: Approval) -> bool:
    return approval.status == "pending"


def _command(given: Mapping[str, Any]) -> str:
    for key in ("command", "cmd", "script"):
        value = given.get(key)
        if isinstance(value, list):
            value = " ".join(str(part) for part in value)
        if isinstance(value, str):
            return clip(value, LONGEST_LINE)
    return about_call("bash", given)


def _files(
    record: EventRecord, tool: str, call: Mapping[str, Any], given: Mapping[str, Any]
) -> Iterable[tuple[str, str]]:
    """Path and operation of each file a call has touched, from what was judged, else from its input."""
    accesses = call.get("accesses") or ()
    if accesses:
        for access in accesses:
            target = access.get("target")
            if isinstance(target, Mapping) and target.get("scheme") in ("vault", "fs"):
                verb = str(access.get("verb", "read"))
                operation = _CHANGING.get(tool, verb) if verb != "read" else "read"
                yield _shown(f"{target['scheme']}:{target['value']}"), operation
        return
    operation = _CHANGING.get(tool, "read" if tool in ("read", "search_in_file") else "")
    if operation:
        own = [
            given[key] for key in ("file_path", "filePath", "path", "absolute_path") if isinstance(given.get(key), str)
        ]
        for path in record.files or tuple(own[:1]):
            yield _shown(path), operation


def _shown(target: str) -> str:
    """Files of the project as people name them; others in full."""
    return target.removeprefix("vault:/") if target.startswith("vault:/") else target.removeprefix("fs:")


def _weight(used: Counter[str]) -> int:
    """Changed files first, then by how often."""
    return sum(1000 * count if operation != "read" else count for operation, count in used.items())


def _telling_line(text: str) -> str:
    """The line that says what went wrong: the first that names an error, else the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = (
        line for line in lines if re.search(r"error|exception|fail|denied|cannot|not found|错误|失败|无法", line, re.I)
    )
    return clip(next(named, lines[-1] if lines else ""), LONGEST_LINE)


def _open_tasks(given: Mapping[str, Any]) -> list[str] | None:
    """The entries of a list of tasks that are not done; None when the call carries no list."""
    for name in _TASK_LISTS:
        entries = given.get(name)
        if isinstance(entries, list):
            return [text for entry in entries if (text := _open_task(entry))]
    return None


def _open_task(entry: Any) -> str:
    if isinstance(entry, str):
        return clip(entry, LONGEST_LINE)
    if not isinstance(entry, Mapping) or str(entry.get("status", "")).lower() in _DONE:
        return ""
    text = next((str(entry[key]) for key in _TASK_TEXTS if entry.get(key)), "")
    doing = " (in progress)" if str(entry.get("status", "")).lower() in ("in_progress", "in-progress", "doing") else ""
    return clip(" ".join(text.split()), LONGEST_LINE) + doing if text else ""
