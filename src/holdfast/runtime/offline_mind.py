"""What the offline model does next: it replays the steps already taken and makes the one that follows.

Nothing is remembered between two questions: the same history always leads to the same next step, in any process, which
is what makes the model fit for tests and for resuming a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.core.history import Item, pairs
from holdfast.core.messages import Language
from holdfast.runtime import offline_words as say
from holdfast.runtime.marks import DENIED, FAILED
from holdfast.runtime.offline_hands import Call, Hands, NoTool, Result, Work
from holdfast.runtime.offline_intents import Intent, parse_all, speaks_chinese
from holdfast.runtime.offline_works import WORKS


@dataclass(frozen=True, slots=True)
class Reply:
    """Either words, or calls to make first."""

    text: str = ""
    calls: tuple[Call, ...] = ()


def next_step(history: Sequence[Item], hands: Hands) -> Reply:
    """What the model answers to this history."""
    start = _open_since(history)
    requests = [item.text for item in history[start:] if item.kind == "user"]
    results = [_result(history[result]) for call, result in pairs(history) if call >= start]
    language: Language = "zh" if requests and speaks_chinese(requests[-1]) else "en"
    work = _all([intent for request in requests for intent in parse_all(request)], hands, language)
    try:
        call = next(work)
        for result in results:
            call = work.send(result)
    except StopIteration as finished:
        return Reply(text=finished.value)
    return Reply(calls=(call,))


def _open_since(history: Sequence[Item]) -> int:
    """Behind the model's last words: whatever was asked since is not answered yet."""
    spoken = [index for index, item in enumerate(history) if item.kind == "assistant" and item.text.strip()]
    return spoken[-1] + 1 if spoken else 0


def _result(item: Item) -> Result:
    denied = item.text.startswith(DENIED)
    return Result(item.text, not (item.failed or denied or item.text.startswith(FAILED)), denied)


def _all(intents: Sequence[Intent], hands: Hands, language: Language) -> Work:
    texts: list[str] = []
    for intent in intents:
        try:
            texts.append((yield from WORKS[intent.kind](intent, hands, language)))
        except NoTool as missing:
            texts.append(say.NO_TOOL(tool=missing.tool).text(language))
    return "\n\n".join(texts) or say.HELP().text(language)
