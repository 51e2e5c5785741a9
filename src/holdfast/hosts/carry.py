"""From an outcome to what a host can pass on. What it cannot is downgraded here, in one place and aloud (HO3).

A changed input that a host cannot run is denied, for what is judged must be what runs. A text that cannot be shown at
this event takes the next best way: a warning goes to the model where the person cannot be reached, and what can go
nowhere now is kept for the session's next event that can carry it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from holdfast.core.messages import Language, Phrase
from holdfast.core.outcome import Outcome
from holdfast.core.policy import Capabilities
from holdfast.hosts.host import Answer

CANNOT_REWRITE = Phrase(
    "carry.cannot_rewrite",
    "A hook changes what this call would do, and {host} cannot run a changed call, so it was not run.",
    "有钩子修改了此调用的内容，而 {host} 无法运行修改后的调用，因此未执行。",
)
CANNOT_BLOCK = Phrase(
    "carry.cannot_block",
    "[Holdfast] {host} cannot stop this here, although it should have been: {reason}",
    "[Holdfast] 本应阻止，但 {host} 在此处无法阻止：{reason}",
)
CUT = "\n[cut here; the whole text has {size} characters]\n"


@dataclass(frozen=True, slots=True)
class Kept:
    """Texts that wait for an event that can carry them."""

    context: tuple[str, ...] = ()
    notice: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.context or self.notice)


def carry(
    capabilities: Capabilities, kind: str, outcome: Outcome, language: Language, waiting: Kept | None = None
) -> tuple[Answer, Kept]:
    """The answer to one event, and what must wait."""
    can = capabilities.abilities.get(kind, frozenset())
    host = capabilities.host
    context = [*(waiting.context if waiting else ()), *_texts(outcome, "model")]
    notice = [*(waiting.notice if waiting else ()), *(warning.text(language) for warning in outcome.warnings)]
    notice += _texts(outcome, "user")
    answer = Answer(kind=kind, allowed=outcome.allowed, reason="" if outcome.allowed else outcome.reason(language))
    if kind == "tool_called":  # it has run: a finding on it is told by its warning, and asked about at the next call
        answer = replace(answer, allowed=True, reason="")
    elif not outcome.allowed and "block" not in can:
        notice.append(CANNOT_BLOCK(host=host, reason=answer.reason).text(language))
        answer = replace(answer, allowed=True, reason="")
    if outcome.allowed and outcome.input is not None:
        if "rewrite_input" in can:
            answer = replace(answer, input=outcome.input)
        else:
            answer = replace(answer, allowed=False, reason=CANNOT_REWRITE(host=host).text(language))
    if outcome.output is not None and "replace_output" in can:
        answer = replace(answer, output=outcome.output)
    kept = Kept()
    if "warn_user" not in can and notice:
        if "inject" in can:
            context, notice = [*context, *notice], []
        else:
            kept, notice = Kept(notice=tuple(notice)), []
    if "inject" not in can and context:
        kept, context = replace(kept, context=tuple(context)), []
    limit = capabilities.inject_limit
    return replace(answer, context=fitted(context, limit), notice=fitted(notice, limit)), kept


def together(answers: Sequence[Answer]) -> Answer:
    """One payload can hold several events; the host takes one answer."""
    if not answers:
        return Answer()
    refused = [answer for answer in answers if not answer.allowed]
    main = refused[0] if refused else answers[-1]
    return replace(
        main,
        input=next((answer.input for answer in answers if answer.input is not None), None) if not refused else None,
        output=next((answer.output for answer in answers if answer.output is not None), None),
        context=_joined(answer.context for answer in answers),
        notice=_joined(answer.notice for answer in answers),
    )


def fitted(parts: Sequence[str], limit: int | None) -> str:
    """All parts, if need be with the longest one cut; its last line stays, because it closes a block."""
    unique = [part for part in dict.fromkeys(parts) if part]
    text = "\n\n".join(unique)
    while limit is not None and len(text) > limit and unique:
        longest = max(range(len(unique)), key=lambda place: len(unique[place]))
        shorter = _cut(unique[longest], len(unique[longest]) - (len(text) - limit))
        if len(shorter) >= len(unique[longest]):
            return text[:limit]
        unique[longest] = shorter
        text = "\n\n".join(unique)
    return text


def _cut(text: str, limit: int) -> str:
    body, _, last = text.rpartition("\n")
    if len(last) > 200 or not body:
        body, last = text, ""
    mark = CUT.format(size=len(text))
    room = limit - len(mark) - len(last)
    return body[: max(0, room)] + mark + last


def _texts(outcome: Outcome, audience: str) -> list[str]:
    return [part.text for part in outcome.inject if part.audience in (audience, "both")]


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(dict.fromkeys(text for text in texts if text))
