"""The calls of a run as short hashes, and the patterns that make a loop. Everything looks back from the newest call."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from holdfast.core.events import ToolCall, ToolResult

_SAMPLE = 1 << 16
_LONGEST_NAME = 64
_SAYS_LITTLE = re.compile(
    r"(?i)(?:\W|\d|\b(?:error|command|failed|exited|returned|with|non-?zero|exit|status|code)\b)*"
)


class Step(NamedTuple):
    """One call of the run, as the state keeps it."""

    tool: str
    call: str
    """Hash of tool and arguments."""
    result: str | None
    """A hash behind `e` (it failed), `w` (it changed a file) or `r`; None until it is known."""
    id: str


def step_of(call: ToolCall, exact: str) -> Step:
    return Step(call.tool[:_LONGEST_NAME], exact, None, _short(call.id))


def signature(call: ToolCall, max_bytes: int) -> tuple[str, str]:
    """The exact hash of a call, and the one DL1 counts by: the tool's name alone when the arguments are large."""
    body = json.dumps(call.input, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)
    exact = _hash(f"{call.tool}\x00{body}")
    large = len(body) > max_bytes or len(body.encode("utf-8", "surrogatepass")) > max_bytes
    return exact, _hash(call.tool) if large else exact


def result_hash(call: ToolCall, call_hash: str, result: ToolResult) -> str:
    if result.failed:
        text = (result.error or result.output).strip()
        # "exit code 1" from four different searches is no common error.
        vague = len(text) <= _LONGEST_NAME and _SAYS_LITTLE.fullmatch(text)
        return "e" + _hash(call_hash + text if vague else text)
    kind = "w" if call.domain == "edit" else "r"
    return kind + _hash(f"{result.exit_code}\x00{result.output}")


def text_hash(text: str) -> str:
    return _hash(text.strip())


def find(steps: Sequence[Step], call: ToolCall) -> int | None:
    """Which step a call is; where a host gives no ids, the oldest equal one that waits for its result."""
    wanted = _short(call.id)
    exact = "" if wanted else signature(call, 0)[0]
    for index, step in enumerate(steps):
        if (step.id == wanted) if wanted else (step.call == exact and step.result is None):
            return index
    return None


def cycle(steps: Sequence[Step], period: int) -> int:
    """How often the last `period` calls, not all the same, have come in a row."""
    if len({step.call for step in steps[-period:]}) == 1:
        return 1
    length = min(period, len(steps))
    while length < len(steps) and steps[-length - 1].call == steps[-length - 1 + period].call:
        length += 1
    return length // period


def gets_somewhere(steps: Sequence[Step], period: int) -> bool:
    """Whether a cycle may be work: a result differs from the one a period ago, or every call changed a file."""
    for old, new in zip(steps, steps[period:], strict=False):
        if old.result is not None and new.result is not None and old.result != new.result:
            return True
    known = [step.result for step in steps if step.result is not None]
    return bool(known) and all(result.startswith("w") for result in known)


def same_results(done: Sequence[Step]) -> int:
    """How many equal calls with equal results stand at the end."""
    return _run_length(done, lambda step: (step.call, step.result))


def same_errors(done: Sequence[Step]) -> int:
    """How many failures with one error stand at the end, whatever the calls were."""
    return _run_length(done, lambda step: step.result) if _failed(done) else 0


def failing(done: Sequence[Step]) -> int:
    """How many failures of one call stand at the end, whatever the errors say."""
    return _run_length(done, lambda step: (step.call, (step.result or "")[:1])) if _failed(done) else 0


def stale(done: Sequence[Step]) -> int:
    """How many calls at the end had been made before with the same result, and changed no file."""
    seen: set[tuple[str, str | None]] = set()
    count = 0
    for step in done:
        pair = (step.call, step.result)
        old = pair in seen and not (step.result or "").startswith("w")
        count = count + 1 if old else 0
        seen.add(pair)
    return count


def _failed(done: Sequence[Step]) -> bool:
    return bool(done) and (done[-1].result or "").startswith("e")


def _run_length(steps: Sequence[Step], key: Callable[[Step], object]) -> int:
    count = 0
    for step in reversed(steps):
        if key(step) != key(steps[-1]):
            break
        count += 1
    return count


def _hash(text: str) -> str:
    if len(text) > 2 * _SAMPLE:
        # Hashing a gigabyte to notice a loop would be the costlier problem.
        text = f"{len(text)}\x00{text[:_SAMPLE]}{text[-_SAMPLE:]}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else _hash(name)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)
