"""Which hooks there are, what they are asked, and what becomes of their answers and failures."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from holdfast.core.decode import camel, decode
from holdfast.core.events import Event, HistorySending, ToolCalled, ToolCalling
from holdfast.core.messages import Message, Phrase
from holdfast.core.policy import State
from holdfast.core.settings import ModelParams
from holdfast.core.verdict import NOTHING, Verdict
from holdfast.python_hooks.process import Worker, WorkerError, WorkerSlow

LARGEST_OUTPUT = 4 << 20
"""Characters of an output that hooks are given; more would take longer to hand over than the deadline allows."""
PAUSE_SECONDS = 300.0
"""How long a hook that missed its deadline is left out, unless it is edited before."""

_PROBLEMS_KEPT = 50
_TOLD_KEPT = 1000
_VERDICTS_KEPT = 64

FAILED = Phrase(
    "python_hooks.failed",
    "The hook {place} failed and was skipped: {error}. Correct the file; the next call uses it.",
    "钩子 {place} 出错，已跳过：{error}。请修正该文件，下次调用即生效。",
)
SLOW = Phrase(
    "python_hooks.slow",
    "The hook {place} took longer than {seconds} s and was skipped; it is left out for 5 minutes, or until it is "
    "edited.",
    "钩子 {place} 超过 {seconds} 秒，已跳过；5 分钟内或修改该文件之前不再调用。",
)
BUSY = Phrase(
    "python_hooks.busy",
    "The hooks in {place} were busy with other calls for more than {seconds} s, so this call went on without them.",
    "{place} 中的钩子忙于其他调用超过 {seconds} 秒，本次调用未经钩子处理即继续。",
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HookProblem:
    """Something wrong with a hook, and where."""

    file: str
    line: int | None
    function: str
    """Empty when the file could not be loaded."""
    message: Message

    def __str__(self) -> str:
        return self.message.text()


@dataclass(slots=True)
class _File:
    """What is known of one `hooks/*.py`."""

    stamp: tuple[int, int, int]
    functions: tuple[str, ...] | None = None
    """None until it was loaded into the present process."""
    broken: bool = False
    paused_until: float = 0.0


class PythonHooks:
    """Runs the user's functions, each under a deadline; whatever fails is reported and left out.

    It has the shape of a policy and stands right behind `user_hooks` among them, but it is not pure: replaying past
    decisions leaves it out. Safe under threads.
    """

    name = "python_hooks"
    on_error: Literal["open", "closed"] = "open"

    def __init__(
        self,
        folder: Path,
        *,
        enabled: bool = True,
        timeout: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._enabled = enabled
        self._timeout = timeout
        self._clock = clock
        self._files: dict[Path, _File] = {}
        self._worker: Worker | None = None
        self._turn = threading.Lock()
        """Held while hooks run: they share one process."""
        self._notes = threading.Lock()
        self._told: set[tuple[Path, str]] = set()
        self._problems: list[HookProblem] = []
        self._new: list[HookProblem] = []
        self._verdicts: OrderedDict[str, Verdict] = OrderedDict()

    @property
    def problems(self) -> list[HookProblem]:
        """What went wrong of late, newest last; each thing once for every version of a file."""
        return list(self._problems)

    def tool_before(self, tool: str, tool_input: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._all("tool_before", dict(tool_input), (tool,), _object)

    def tool_after(self, tool: str, output: str) -> str:
        return self._all("tool_after", output, (tool,), _text) if len(output) <= LARGEST_OUTPUT else output

    def chat_system(self, system: str) -> str:
        return self._all("chat_system", system, (), _text)

    def chat_params(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._all("chat_params", dict(params), (), _params)

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if not isinstance(event, ToolCalling | ToolCalled | HistorySending) or not self._present():
            return NOTHING, state
        # The plane decides again when somebody else changed the session meanwhile; a hook is asked once.
        known = self._verdicts.get(event.id)
        if known is None:
            known = self._verdicts[event.id] = self._decide(event)
            while len(self._verdicts) > _VERDICTS_KEPT:
                self._verdicts.popitem(last=False)
        return known, state

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _decide(self, event: ToolCalling | ToolCalled | HistorySending) -> Verdict:
        changes: dict[str, Any] = {}
        if isinstance(event, ToolCalling):
            given = event.call.input
            changes = _changed("rewrite_input", given, self.tool_before(event.call.tool, given))
        elif isinstance(event, ToolCalled):
            result = event.result
            if not result.structured and not (result.failed and not result.output):
                output = self.tool_after(event.call.tool, result.output)
                changes = _changed("rewrite_output", result.output, output)
        else:
            changes = _changed("system", event.system, self.chat_system(event.system))
            changes |= _changed("model_params", event.params, self.chat_params(event.params))
        with self._notes:
            warnings = tuple(problem.message for problem in self._new)
            self._new = []
        return Verdict(warnings=warnings, **changes) if changes or warnings else NOTHING

    # asking the functions, one file after the other

    def _all(self, function: str, value: T, before: tuple[str, ...], check: Callable[[object], T]) -> T:
        if not self._present():
            return value
        if not self._turn.acquire(timeout=self._timeout):
            self._report(self._folder, "", None, BUSY, seconds=f"{self._timeout:g}")
            return value
        try:
            for path in self._refresh():
                value = self._one(path, function, value, before, check)
        finally:
            self._turn.release()
        return value

    def _one(self, path: Path, function: str, value: T, before: tuple[str, ...], check: Callable[[object], T]) -> T:
        known = self._files[path]
        if self._clock() < known.paused_until or function not in self._functions(path):
            return value
        try:
            answer = self._ask(path, {"op": "call", "function": function, "args": [*before, value]})
            if "error" in answer:
                self._report(path, function, answer.get("line"), FAILED, error=answer["error"])
                return value
            returned = answer.get("value")
            return value if returned is None else check(returned)
        except WorkerSlow:
            known.paused_until = self._clock() + PAUSE_SECONDS
            self._report(path, function, None, SLOW, seconds=f"{self._timeout:g}")
        except (WorkerError, OSError, TypeError, ValueError) as error:
            self._report(path, function, None, FAILED, error=str(error))
        return value

    def _functions(self, path: Path) -> tuple[str, ...]:
        """The hooks that a file defines; it is loaded when it is first needed and after every edit."""
        known = self._files[path]
        if known.broken:
            return ()
        if known.functions is None or self._worker is None:
            try:
                answer = self._ask(path, {"op": "load"})
            except WorkerSlow:
                known.paused_until = self._clock() + PAUSE_SECONDS
                self._report(path, "", None, SLOW, seconds=f"{self._timeout:g}")
                return ()
            except (WorkerError, OSError) as error:
                answer = {"error": str(error)}
            if "error" in answer:
                known.broken = True
                self._report(path, "", answer.get("line"), FAILED, error=answer["error"])
                return ()
            known.functions = tuple(answer["functions"])
        return known.functions

    def _ask(self, path: Path, request: dict[str, Any]) -> dict[str, Any]:
        if self._worker is None:
            self._worker = Worker(self._folder)
            for known in self._files.values():
                known.functions = None
        try:
            return self._worker.ask({"file": str(path), **request}, self._timeout)
        except WorkerError:
            self._worker = None
            raise

    def _present(self) -> bool:
        return self._enabled and self._folder.is_dir()

    def _refresh(self) -> list[Path]:
        """The files as they are now, in the order of their names; an edited one counts as new."""
        found: dict[Path, _File] = {}
        for name in sorted(name for name in _listed(self._folder) if name.endswith(".py") and name[0] != "_"):
            path = self._folder / name
            try:
                stat = path.stat()
            except OSError:
                continue
            stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            known = self._files.get(path)
            if known is None or known.stamp != stamp:
                known = _File(stamp)
                self._told = {entry for entry in self._told if entry[0] != path}
            found[path] = known
        self._files = found
        return list(found)

    def _report(self, path: Path, function: str, line: int | None, phrase: Phrase, **params: str) -> None:
        place = f"{path}:{line}" if line else str(path)
        message = phrase(place=f"{place} ({function})" if function else place, **params)
        with self._notes:
            if (path, message.text()) in self._told:
                return
            if len(self._told) >= _TOLD_KEPT:
                self._told.clear()
            self._told.add((path, message.text()))
            problem = HookProblem(str(path), line, function, message)
            self._problems = [*self._problems, problem][-_PROBLEMS_KEPT:]
            self._new.append(problem)


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 (names only: asked at every event)
    except OSError:
        return []


def _changed(name: str, old: object, new: object) -> dict[str, Any]:
    return {name: new} if new != old else {}


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"it must return an object (or None to change nothing), got {_shown(value)}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"it must return a string (or None to change nothing), got {_shown(value)}")
    return value


def _params(value: object) -> dict[str, Any]:
    """Known parameters with values in their bounds; `top_p` and `topP` are the same."""
    given = {camel(str(key)): entry for key, entry in _object(value).items()}
    params, problems = decode(ModelParams, given)
    if params is None:
        raise ValueError("; ".join(str(problem) for problem in problems))
    return params.given()


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
