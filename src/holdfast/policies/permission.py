"""May this call touch what it would touch (PE1-PE5, PE8)?

Every access of a call is judged by the last rule that speaks about it; the merge then takes the strictest answer.
Where no rule speaks, or only part of a target is known, a person is asked: nothing is allowed by silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol

from holdfast.core.events import ApprovalAnswered, Event, ToolCall, ToolCalling
from holdfast.core.messages import Message, Phrase
from holdfast.core.patterns import Matcher, Rule, is_literal, matches
from holdfast.core.policy import State
from holdfast.core.targets import Access, Target
from holdfast.core.tools import UNKNOWN_SERVER
from holdfast.core.verdict import NOTHING, Decision, Finding, Verdict


class Covers(Protocol):
    """Whether a rule's pattern covers a target."""

    def __call__(self, rule: Rule, target: Target, *, fold_case: bool = False) -> bool: ...


NAME = "permission"
_STRICTNESS: Mapping[Decision, int] = {"allow": 0, "ask": 1, "deny": 2}
_UNKNOWN_RULE = f"mcp:{UNKNOWN_SERVER}/"

BY_RULE: Mapping[Decision, Phrase] = {
    "allow": Phrase(
        "permission.allow",
        "{target} is allowed by the rule {pattern} ({source}).",
        "规则 {pattern}（{source}）允许 {target}。",
    ),
    "ask": Phrase(
        "permission.ask",
        "{target} needs a person's approval by the rule {pattern} ({source}).",
        "规则 {pattern}（{source}）要求先经人工批准：{target}。",
    ),
    "deny": Phrase(
        "permission.deny",
        "{target} is denied by the rule {pattern} ({source}).",
        "规则 {pattern}（{source}）禁止 {target}。",
    ),
}
OUTSIDE_READ = Phrase(
    "permission.outside_read",
    "{target} lies outside the vault; reading it needs a person's approval.",
    "{target} 位于 Vault 之外，读取需先经人工批准。",
)
OUTSIDE_EDIT = Phrase(
    "permission.outside_edit",
    "{target} lies outside the vault; it may not be changed (permission.outsideEdit).",
    "{target} 位于 Vault 之外，不可更改（permission.outsideEdit）。",
)
SENSITIVE = Phrase(
    "permission.sensitive",
    "{target} may hold keys or passwords ({pattern}); touching it needs a person's approval.",
    "{target} 可能含有密钥或密码（{pattern}），访问需先经人工批准。",
)
COMMAND = Phrase(
    "permission.command",
    "Running `{command}` needs a person's approval.",
    "运行 `{command}` 需先经人工批准。",
)
SERVER = Phrase(
    "permission.server",
    "{target} belongs to an MCP server that is not in your configuration; it needs a person's approval.",
    "{target} 所属的 MCP 服务器不在你的配置中，需先经人工批准。",
)
NO_RULE = Phrase(
    "permission.no_rule",
    "No rule speaks about {target}, so a person is asked.",
    "没有规则涉及 {target}，因此需人工批准。",
)
UNKNOWN_TOOL = Phrase(
    "permission.unknown_tool",
    "The tool {tool} is not known, so nobody can say what it would touch; a person is asked.",
    "工具 {tool} 未知，无法判断它会触及什么，因此需人工批准。",
)
UNCERTAIN = Phrase(
    "permission.uncertain",
    "{target} is only known in part before it runs, so the rule {pattern} cannot allow it; a person is asked.",
    "{target} 在运行前只知道一部分，规则 {pattern} 不能放行，因此需人工批准。",
)
GRANTED = Phrase(
    "permission.granted",
    "{target} is allowed for this session for a while ({pattern}).",
    "本会话暂时允许 {target}（{pattern}）。",
)
CHOOSE_INSIDE = Phrase(
    "permission.choose_inside",
    'Write inside the vault instead, or ask the user to change it or to set permission.outsideEdit to "ask".',
    '请改为写入 Vault 内，或请用户自行修改，或将 permission.outsideEdit 设为 "ask"。',
)
CHOOSE_OTHERWISE = Phrase(
    "permission.choose_otherwise",
    "Do not work around it: choose another way, or tell the user what you need and why.",
    "请勿绕过：换一种方式，或向用户说明你需要什么以及原因。",
)


class PermissionPolicy:
    """Rules over targets; `rules` holds built-in, template, user and inline rules in this order.

    `covers` matches what was granted for a while; whoever decides in earnest gives one that no pattern can stall.
    """

    name = NAME
    on_error: Literal["open", "closed"] = "closed"

    def __init__(self, rules: Matcher, *, fold_case: bool = False, covers: Covers = matches) -> None:
        self._rules = rules
        self._fold_case = fold_case
        self._covers_target = covers

    def decide(self, event: Event, state: State) -> tuple[Verdict, State]:
        if isinstance(event, ApprovalAnswered):
            return NOTHING, _with_grants(event, state)
        if not isinstance(event, ToolCalling) or event.call.domain == "none":
            return NOTHING, state
        call = event.call
        grants = _grants(state, event.at)
        findings = tuple(self._judge(access, call, event.at, grants) for access in call.accesses)
        if call.domain == "unknown" and not findings:
            findings = (Finding(NAME, "ask", UNKNOWN_TOOL(tool=_shown(call)), domain="mcp"),)
        return Verdict(findings=findings), state

    def _judge(self, access: Access, call: ToolCall, at: float, grants: tuple[Rule, ...]) -> Finding:
        read_only = call.reading is not None and call.reading.read_only
        rule = self._deciding(access, read_only, at)
        stricter = self._by_other_spelling(access, rule, read_only, at)
        if stricter is not None:
            return _finding(access, stricter)
        if rule is None:
            finding = Finding(
                NAME, "ask", NO_RULE(target=access.target), target=str(access.target), domain=access.domain
            )
        elif call.domain == "unknown" and not (rule.decision == "allow" and rule.pattern.startswith(_UNKNOWN_RULE)):
            decision: Decision = "deny" if rule.decision == "deny" else "ask"
            finding = _finding(access, rule, decision, UNKNOWN_TOOL(tool=_shown(call)))
        elif not access.certain:
            finding = _of_uncertain(access, rule)
        else:
            finding = _finding(access, rule)
        return self._granted(finding, access, grants) or finding

    def _deciding(self, access: Access, read_only: bool, at: float) -> Rule | None:
        for rule in self._rules.all_matches(access.domain, access.target):
            if _counts(rule, read_only, at):
                return rule
        return None

    def _by_other_spelling(self, access: Access, rule: Rule | None, read_only: bool, at: float) -> Rule | None:
        """`/bin/rm x` is also `rm x`: a stricter rule about the other spelling holds; a laxer one does not.

        A rule that covers both spellings was weighed already, in its place among the others.
        """
        found: Rule | None = None
        for target in access.also:
            for other in self._rules.all_matches(access.domain, target):
                if not _counts(other, read_only, at):
                    continue
                weight = _STRICTNESS[other.decision]
                known = max((_STRICTNESS[r.decision] for r in (rule, found) if r is not None), default=1)
                if weight > known and other.source != "built-in" and not self._covers(other, access):
                    found = other
                break
        return found

    def _covers(self, rule: Rule, access: Access) -> bool:
        return any(found is rule for found in self._rules.all_matches(access.domain, access.target))

    def _granted(self, finding: Finding, access: Access, grants: tuple[Rule, ...]) -> Finding | None:
        """A grant answers an ask; it never overrides a deny."""
        if finding.decision != "ask":
            return None
        for grant in grants:
            may = grant.domain == access.domain and (access.certain or is_literal(grant))
            if may and self._covers_target(grant, access.target, fold_case=self._fold_case):
                return _finding(access, grant, "allow", GRANTED(target=access.target, pattern=grant.pattern))
        return None


def _counts(rule: Rule, read_only: bool, at: float) -> bool:
    return (rule.expires is None or at < rule.expires) and (rule.only != "read_only" or read_only)


def _of_uncertain(access: Access, rule: Rule) -> Finding:
    """A target known in part: a deny holds where the known part is enough, an allow only for the literal text."""
    if rule.decision == "ask" or (rule.decision == "allow" and is_literal(rule)):
        return _finding(access, rule)
    known_place = access.target.scheme not in ("vault", "fs") or access.target.value.startswith("/")
    if rule.decision == "deny" and (rule.source != "built-in" or known_place):
        return _finding(access, rule)
    return _finding(access, rule, "ask", UNCERTAIN(target=access.target, pattern=rule.pattern))


def _finding(access: Access, rule: Rule, decision: Decision | None = None, why: Message | None = None) -> Finding:
    decided = decision or rule.decision
    built_in = rule.source == "built-in"
    next_step = None
    if decided == "deny":
        next_step = CHOOSE_INSIDE() if built_in else CHOOSE_OTHERWISE()
    return Finding(
        NAME,
        decided,
        why or _why(access, rule),
        by_default=built_in,
        rule=rule.ref(),
        target=str(access.target),
        domain=access.domain,
        next_step=next_step,
    )


def _why(access: Access, rule: Rule) -> Message:
    """Our own defaults explain themselves; a user's rule is named with its place."""
    target = str(access.target)
    if rule.source == "built-in" and rule.decision != "allow":
        if access.domain == "bash":
            return COMMAND(command=access.target.value)
        if access.domain == "mcp":
            return SERVER(target=target)
        if access.domain in ("read", "edit"):
            if rule.pattern not in ("**", "fs:/**"):
                return SENSITIVE(target=target, pattern=rule.pattern)
            if rule.decision == "deny":
                return OUTSIDE_EDIT(target=target)
            return OUTSIDE_READ(target=target)
    place = rule.source if rule.line is None else f"{rule.source}:{rule.line}"
    return BY_RULE[rule.decision](target=target, pattern=rule.pattern, source=place)


def _shown(call: ToolCall) -> str:
    return call.host_tool or call.tool


# grants: "like this for 30 minutes", kept in the session's state and never in a file


def _with_grants(event: ApprovalAnswered, state: State) -> State:
    given = [_plain(rule) for rule in event.rules if rule.expires is not None]
    if event.answer != "for_a_while" or not given:
        return state
    kept = [grant for grant in state.get("grants", ()) if grant["expires"] > event.at]
    return {**state, "grants": [*kept, *given]}


def _plain(rule: Rule) -> dict[str, Any]:
    return {"domain": rule.domain, "pattern": rule.pattern, "expires": rule.expires}


def _grants(state: State, at: float) -> tuple[Rule, ...]:
    kept: Iterable[Mapping[str, Any]] = state.get("grants", ())
    return tuple(
        Rule(grant["domain"], grant["pattern"], "allow", source="approval", expires=grant["expires"])
        for grant in kept
        if at < grant["expires"]
    )
