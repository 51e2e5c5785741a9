"""An approval as lines of text: what, why, by which rule, and what `always` would write, before anybody answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.core.messages import Language
from holdfast.doors import chat_words as say
from holdfast.doors.call_preview import preview, reader
from holdfast.doors.output import visible
from holdfast.store.interface import Approval

MOST_LINES = 40


@dataclass(frozen=True, slots=True)
class Card:
    title: str
    body: tuple[str, ...]
    """The command, the diff or the input."""
    is_diff: bool
    facts: tuple[tuple[str, str], ...]
    """Label and text."""
    keys: str
    """The answers that can be given: some of `oawd`."""


def card_of(approval: Approval, language: Language = "en") -> Card:
    question = approval.question
    if approval.policy == "modes":  # it stands before a message, not before a call
        facts = tuple(_facts(approval, [], False, language))
        return Card(say.CONFIRM_MODE().text(language), (), False, facts, "od")
    shown = preview(approval.tool, question.get("input") or {}, reader(approval.vault))
    proposals = list(question.get("proposals") or ())
    loop = approval.policy == "doom_loop"
    keys = "oawd" if proposals or loop else "od"
    return Card(
        title=say.WAITS(tool=visible(approval.tool)).text(language),
        body=tuple(_cut(shown.text.splitlines())),
        is_diff=shown.kind == "diff",
        facts=tuple(_facts(approval, proposals, loop, language)),
        keys=keys,
    )


def proposal_card(shown: Mapping[str, Any], language: Language = "en") -> Card:
    """A change that an agent proposes for the memory bank; the person's next message settles it (MB6)."""
    how = say.PROPOSAL_HOW(id=str(shown["proposal"])).text(language)
    facts = ((say.WHY().text(language), visible(str(shown["why"]), 400)), (say.YOUR_WORD().text(language), how))
    body = str(shown.get("diff", "")).splitlines()
    return Card(say.PROPOSED(path=visible(str(shown["path"]))).text(language), tuple(_cut(body)), True, facts, "")


def key_line(card: Card, language: Language = "en") -> str:
    more = (say.KEY_ALWAYS() if "a" in card.keys else None, say.KEY_WHILE() if "w" in card.keys else None)
    return say.KEYS(more="".join(message.text(language) for message in more if message)).text(language)


def _facts(approval: Approval, proposals: list[Any], loop: bool, language: Language) -> Iterator[tuple[str, str]]:
    asked = [finding for finding in approval.question.get("findings") or () if finding.get("decision") == "ask"]
    for finding in asked[:4]:
        yield say.WHY().text(language), visible(str(finding.get("why", {}).get(language, "")), 400)
        rule = finding.get("rule")
        if rule:
            line = f":{rule['line']}" if rule.get("line") else ""
            yield (
                say.BY_RULE().text(language),
                f"{rule['domain']} {rule['decision']} {visible(rule['pattern'])} ({visible(rule['source'])}{line})",
            )
    targets = [f"{a['verb']} {visible(str(a['target']), 160)}" for a in approval.question.get("accesses") or ()]
    if targets:
        more = f" (+{len(targets) - 4})" if len(targets) > 4 else ""
        yield say.TOUCHES().text(language), "; ".join(targets[:4]) + more
    if approval.where.subagent:
        yield say.FROM().text(language), visible(approval.where.subagent_name)
    if loop:
        yield say.WOULD_WRITE().text(language), say.THIS_SESSION().text(language)
    elif proposals:
        yield say.WOULD_WRITE().text(language), rules_text(proposals[0])


def rules_text(proposal: Mapping[str, Any]) -> str:
    """The exact rules that `always` writes."""
    rules = proposal.get("rules") or [proposal]
    return "; ".join(f"{rule['domain']} {rule['decision']} {visible(str(rule['pattern']))}" for rule in rules)


def _cut(lines: list[str]) -> Iterator[str]:
    for line in lines[:MOST_LINES]:
        yield visible(line.expandtabs(4), 400)
    if len(lines) > MOST_LINES:
        yield f"... {len(lines) - MOST_LINES} more lines"
