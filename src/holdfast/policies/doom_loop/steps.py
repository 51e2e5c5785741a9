"""The calls of a run as short hashes, and the patterns that make a loop.

This stands in the path of every tool call, so whatever can be counted along is counted, not searched for again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.core.events import ToolCall, ToolResult

_SAMPLE = 1 << 16
_LONGEST_NAME = 64
_SAYS_LITTLE = re.compile(
    r"(?i)(?:\W|\d|\b(?:error|command|failed|exited|returned|with|non-?zero|exit|status|code)\b)*"
)


class Trail(NamedTuple):
    """The newest calls in the order they were made; three columns of one table."""

    calls: list[str]
    """Hash of tool and arguments."""
    results: list[str | None]
    """A hash behind `e` (it failed), `w` (it changed a file) or `r`; None until it is known."""
    ids: list[str]

    def with_call(self, call: str, call_id: str, most: int) -> Trail:
        return Trail(
            [*self.calls, call][-most:], [*self.results, None][-most:], [*self.ids, short_name(call_id)][-most:]
        )

    def with_result(self, at: int, result: str) -> Trail:
        results = list(self.results)
        results[at] = result
        return self._replace(results=results)

    def waiting(self, call: ToolCall) -> int | None:
        """The entry of a call that has no result yet; where a host gives no ids, the oldest equal one."""
        if not call.id:
            exact, _ = signature(call, 0)
            equal = [i for i, known in enumerate(self.calls) if known == exact and self.results[i] is None]
            return equal[0] if equal else None
        wanted = short_name(call.id)
        if wanted not in self.ids:
            return None
        # Some servers number the calls of each message from 0, so an id may stand here more than once.
        return next((i for i in range(len(self.ids)) if self.ids[i] == wanted and self.results[i] is None), None)

    def knows(self, call: ToolCall) -> bool:
        return bool(call.id) and short_name(call.id) in self.ids

    def is_news(self, at: int) -> bool:
        """Whether this call had not been made before with this result, or changed a file."""
        call, result = self.calls[at], self.results[at]
        if result is None or result.startswith("w"):
            return True
        return sum(c == call and r == result for c, r in zip(self.calls, self.results, strict=True)) == 1


class Ending(NamedTuple):
    """What the newest results have in common, counted along as they come."""

    tool: str = ""
    call: str = ""
    result: str = ""
    same: int = 0
    """Equal calls with equal results."""
    errors: int = 0
    """Failures with one error, whatever the calls were."""
    failing: int = 0
    """Failures of one call, whatever the errors say."""
    stale: int = 0
    """Calls that brought no news."""

    def then(self, tool: str, call: str, result: str, *, news: bool) -> Ending:
        failed = result.startswith("e")
        same_call = call == self.call
        same_result = result == self.result
        return Ending(
            tool[:_LONGEST_NAME],
            call,
            result,
            same=self.same + 1 if same_call and same_result else 1,
            errors=(self.errors + 1 if same_result else 1) if failed else 0,
            failing=(self.failing + 1 if same_call else 1) if failed else 0,
            stale=0 if news else self.stale + 1,
        )


def cycle(calls: Sequence[str], period: int) -> int:
    """How often the last `period` calls, not all the same, have come in a row."""
    length = min(period, len(calls))
    while length < len(calls) and calls[-length - 1] == calls[-length - 1 + period]:
        length += 1
    return length // period if len(set(calls[-period:])) > 1 else 1


def gets_somewhere(results: Sequence[str | None], period: int) -> bool:
    """Whether a cycle may be work: a result differs from the one a period ago, or every call changed a file."""
    for old, new in zip(results, results[period:], strict=False):
        if old is not None and new is not None and old != new:
            return True
    known = [result for result in results if result is not None]
    return bool(known) and all(result.startswith("w") for result in known)


def signature(call: ToolCall, max_bytes: int) -> tuple[str, str]:
    """The exact hash of a call, and the one DL1 counts by: the tool's name alone when the arguments are large."""
    body = _STABLE.encode(call.input if isinstance(call.input, dict) else dict(call.input))
    exact = _hash(f"{call.tool}\x00{body}")
    large = len(body) > max_bytes or (not body.isascii() and len(body.encode("utf-8", "surrogatepass")) > max_bytes)
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


def short_name(name: str) -> str:
    """A name of bounded length: ids come from outside."""
    return name if len(name) <= _LONGEST_NAME else _hash(name)


def _hash(text: str) -> str:
    if len(text) > 2 * _SAMPLE:
        # Hashing a gigabyte to notice a loop would be the costlier problem.
        text = f"{len(text)}\x00{text[:_SAMPLE]}{text[-_SAMPLE:]}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


_STABLE = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)
