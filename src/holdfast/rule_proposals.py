"""What an "always" would write: the narrowest useful rule first, wider ones only for the user to choose (PE7).

A command that is compound, dynamic or not understood can only be approved once: no pattern stands for it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.core.events import ToolCall
from holdfast.core.messages import Message, Phrase
from holdfast.core.patterns import Rule, escaped
from holdfast.core.targets import Access, Domain, Target
from holdfast.core.verdict import Finding
from holdfast.rule_index import RuleIndex
from holdfast.shell.reading import CommandReading

ONLY_ONCE = {
    "compound": Phrase(
        "proposals.compound",
        "This can only be approved once: {count} commands are joined ({commands}), and a rule stands for one.",
        "此操作只能单次批准：{count} 条命令连在一起（{commands}），而一条规则只对应一条命令。",
    ),
    "block": Phrase(
        "proposals.block",
        "This can only be approved once: {commands} stands in a loop or a condition, and a rule knows neither.",
        "此操作只能单次批准：{commands} 处于循环或条件之中，规则无法表达。",
    ),
    "dynamic": Phrase(
        "proposals.dynamic",
        "This can only be approved once: part of it is only known when it runs ({commands}).",
        "此操作只能单次批准：其中一部分要到运行时才知道（{commands}）。",
    ),
    "unread": Phrase(
        "proposals.unread",
        "This can only be approved once: the command could not be read to its end.",
        "此操作只能单次批准：该命令无法完整解析。",
    ),
    "wrapped": Phrase(
        "proposals.wrapped",
        "This can only be approved once: it runs through {via}, and a rule would stand for more than was asked.",
        "此操作只能单次批准：它经由 {via} 运行，规则会超出所询问的范围。",
    ),
    "environment": Phrase(
        "proposals.environment",
        "This can only be approved once: it sets {names}, and names may then mean other programs.",
        "此操作只能单次批准：它设置了 {names}，之后的名称可能指向其他程序。",
    ),
    "uncertain": Phrase(
        "proposals.uncertain",
        "This can only be approved once: it is not known before it runs which files it touches ({targets}).",
        "此操作只能单次批准：运行前无法知道它会触及哪些文件（{targets}）。",
    ),
    "unknown_tool": Phrase(
        "proposals.unknown_tool",
        "This can only be approved once: {tool} is a tool that is not known, so no rule can say what it touches.",
        "此操作只能单次批准：{tool} 是未知工具，没有规则能说明它会触及什么。",
    ),
    "not_a_rule": Phrase(
        "proposals.not_a_rule",
        "This can only be approved once: {policy} asks, and a rule would not change that.",
        "此操作只能单次批准：由 {policy} 询问，规则无法改变。",
    ),
}
STILL_STRICTER = Phrase(
    "proposals.still_stricter",
    "Your rule {pattern} ({source}) still decides afterwards: {decision}.",
    "之后仍由你的规则 {pattern}（{source}）决定：{decision}。",
)

# How many words say what a program does: `git status`, `npm run build`, `docker compose ps`.
_WORDS_OF: Mapping[str, int] = {
    "git": 2, "gh": 3, "glab": 3, "npm": 2, "pnpm": 2, "yarn": 2, "bun": 2, "npx": 2, "pip": 2, "pip3": 2, "uv": 2,
    "poetry": 2, "cargo": 2, "go": 2, "make": 2, "just": 2, "task": 2, "docker": 2, "podman": 2, "kubectl": 2,
    "helm": 2, "terraform": 2, "aws": 3, "gcloud": 3, "az": 3, "brew": 2, "apt": 2, "apt-get": 2, "dnf": 2,
    "systemctl": 2, "journalctl": 1, "mvn": 2, "gradle": 2, "./gradlew": 2, "dotnet": 2, "bundle": 3, "rake": 2,
    "mix": 2, "composer": 2, "conda": 2, "deno": 2, "rustup": 2, "flutter": 2, "dart": 2, "swift": 2, "nx": 2,
    "turbo": 2, "holdfast": 2, "ruff": 2, "pre-commit": 2,
}  # fmt: skip
_LONGER: Mapping[tuple[str, ...], int] = {
    ("npm", "run"): 3, ("npm", "run-script"): 3, ("pnpm", "run"): 3, ("yarn", "run"): 3, ("bun", "run"): 3,
    ("uv", "run"): 3, ("uv", "pip"): 3, ("poetry", "run"): 3, ("docker", "compose"): 3, ("docker", "image"): 3,
    ("docker", "container"): 3, ("git", "stash"): 3, ("git", "remote"): 3, ("git", "worktree"): 3,
    ("git", "submodule"): 3, ("cargo", "run"): 3, ("deno", "task"): 3, ("bundle", "exec"): 3,
}  # fmt: skip
# Programs that do whatever their arguments say: only the very same command may be repeated.
_EXACT_ONLY = frozenset(
    (
        "rm", "rmdir", "mv", "cp", "dd", "chmod", "chown", "ln", "tee", "sudo", "doas", "su", "bash", "sh", "zsh",
        "fish", "dash", "ksh", "python", "python3", "node", "ruby", "perl", "php", "lua", "deno", "osascript", "eval",
        "exec", "source", "env", "xargs", "parallel", "find", "awk", "gawk", "sed", "ed", "vim", "vi", "nano", "ssh",
        "scp", "rsync", "curl", "wget", "nc", "ncat", "socat", "kill", "pkill", "killall", "crontab", "at", "npx",
        "pipx", "uvx", "psql", "mysql", "sqlite3", "mongosh", "redis-cli", "export", "alias", "trap", "nohup",
    )
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._/@+-]*\Z")


@dataclass(frozen=True, slots=True)
class Proposal:
    """One choice: the rules it would write, and what would still decide otherwise."""

    rules: tuple[Rule, ...]
    still: tuple[Message, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The card's form; the first rule also stands alone, for those who take only one."""
        rules = [{"domain": r.domain, "pattern": r.pattern, "decision": r.decision} for r in self.rules]
        return {**rules[0], "rules": rules, "still": [message.to_dict() for message in self.still]}


@dataclass(frozen=True, slots=True)
class Proposals:
    choices: tuple[Proposal, ...] = ()
    """Narrowest first."""
    refused: Message | None = None
    """Why there is no "always"."""


def propose(call: ToolCall, findings: Sequence[Finding], index: RuleIndex | None = None) -> Proposals:
    """The rules that would let this call through unasked; `index` holds those in force, to see what would still win
    over a rule that is written above the user's deny rules."""
    asked = {(f.domain, f.target) for f in findings if f.policy == "permission" and f.decision == "ask"}
    accesses = [access for access in call.accesses if (access.domain, str(access.target)) in asked]
    refused = _refusal(call, accesses)
    if refused is not None or not accesses:
        return Proposals(refused=refused)
    ladders = [_ladder(access, call) for access in accesses]
    steps = max(len(ladder) for ladder in ladders)
    still = _still_stricter(accesses, index)
    choices: list[Proposal] = []
    for step in range(steps):
        patterns = [ladder[min(step, len(ladder) - 1)] for ladder in ladders]
        wanted = tuple(
            dict.fromkeys(
                Rule(access.domain, pattern, "allow", source="approval")
                for access, pattern in zip(accesses, patterns, strict=True)
            )
        )
        choices.append(Proposal(wanted, still))
    return Proposals(tuple(choices))


def propose_rules(call: ToolCall, findings: Sequence[Finding], index: RuleIndex | None = None) -> list[dict[str, Any]]:
    """The choices as an approval card keeps them."""
    return [choice.to_dict() for choice in propose(call, findings, index).choices]


def why_only_once(call: ToolCall, findings: Sequence[Finding]) -> Message | None:
    """Why there is no "always", in words for whoever is asked; None where a rule could stand for it."""
    found = propose(call, findings)
    if found.refused is not None or found.choices:
        return found.refused
    asking = [finding for finding in findings if finding.decision == "ask"]
    if any(finding.policy == "permission" for finding in asking):
        return ONLY_ONCE["unknown_tool"](tool=call.host_tool or call.tool)
    return ONLY_ONCE["not_a_rule"](policy=asking[0].policy) if asking else None


def _refusal(call: ToolCall, accesses: Sequence[Access]) -> Message | None:
    refused = _unreadable(call.reading) if call.reading is not None else None
    if refused is None and not all(access.certain for access in accesses):
        open_ended = (str(access.target) for access in accesses if not access.certain)
        return ONLY_ONCE["uncertain"](targets=_listed(open_ended))
    return refused


def _unreadable(reading: CommandReading) -> Message | None:
    commands = reading.simple_commands
    if reading.has_error or reading.incomplete:
        return ONLY_ONCE["unread"]()
    if _only_guessed(reading):
        return ONLY_ONCE["dynamic"](commands=_listed([commands[0].text]))
    if len(commands) == 1 and reading.compound:
        via = commands[0].via
        return ONLY_ONCE["wrapped"](via=_listed(via)) if via else ONLY_ONCE["block"](commands=commands[0].text)
    if len(commands) != 1:
        return ONLY_ONCE["compound"](count=len(commands), commands=_listed(one.text for one in commands))
    if commands[0].dynamic:
        return ONLY_ONCE["dynamic"](commands=_listed([commands[0].text]))
    if commands[0].via:
        return ONLY_ONCE["wrapped"](via=_listed(commands[0].via))
    if names := [name for name in reading.assigned if not name.islower()]:
        return ONLY_ONCE["environment"](names=_listed(names))
    return None


def _listed(texts: Iterable[str], most: int = 3, longest: int = 40) -> str:
    shown = [text if len(text) <= longest else f"{text[:longest]}…" for text in dict.fromkeys(texts)]
    return ", ".join(shown[:most]) + (", …" if len(shown) > most else "")


def _only_guessed(reading: CommandReading) -> bool:
    """One command under a name that is not known yet; the others are what that name may stand for."""
    first, *rest = reading.simple_commands or (None,)
    return first is not None and first.dynamic and all(guess.via == (first.name,) for guess in rest)


def _ladder(access: Access, call: ToolCall) -> list[str]:
    """Patterns that cover the access, narrowest first."""
    target = access.target
    exact = escaped(target)
    match target.scheme:
        case "shell":
            return _command_ladder(target, call)
        case "vault" | "fs":
            folder = posixpath.dirname(target.value)
            wider = escaped(Target(target.scheme, folder.rstrip("/"))) + "/**"
            return [exact, wider] if folder not in ("", "/") else [exact]
        case "url":
            head, _, _ = target.value.partition("://")
            host = target.value[len(head) + 3 :].partition("/")[0]
            return [exact, escaped(Target("url", f"{head}://{host}")) + "/**"]
        case "mcp":
            server = target.value.partition("/")[0]
            return [exact] if call.domain == "unknown" else [exact, escaped(Target("mcp", server)) + "/*"]
        case _:
            return [exact]


def _command_ladder(target: Target, call: ToolCall) -> list[str]:
    """`git status *` for `git status -s`; whatever may do harm begins with the exact command."""
    exact = escaped(target)
    words = target.value.split(" ")
    program = words[0]
    if program in _EXACT_ONLY or "/" in program.removeprefix("./"):
        return [exact]
    count = _LONGER.get(tuple(words[:2]), _WORDS_OF.get(program, 1))
    prefix = words[:count]
    if len(prefix) < count or not all(_WORD.match(word) for word in prefix[1:]):
        return [exact]
    wider = escaped(Target("shell", " ".join(prefix))) + " *"
    reading = call.reading
    harmless = reading is not None and reading.risk == "safe"
    return [wider] if harmless else [exact, wider]


def _still_stricter(accesses: Sequence[Access], index: RuleIndex | None) -> tuple[Message, ...]:
    """Which rules would decide otherwise even with the new ones in their place."""
    if index is None:
        return ()
    found: dict[str, Message] = {}
    for access in accesses:
        rule = index.match(access.domain, access.target)
        if rule is None or rule.decision == "allow" or _is_ours(rule):
            continue
        position = next(i for i, known in enumerate(index.rules) if known is rule)
        if position >= place_of(access.domain, index.rules):
            place = rule.source if rule.line is None else f"{rule.source}:{rule.line}"
            found[f"{place} {rule.pattern}"] = STILL_STRICTER(
                pattern=rule.pattern, source=place, decision=rule.decision
            )
    return tuple(found.values())


def place_of(domain: Domain, rules: Sequence[Rule]) -> int:
    """Where an allow goes among rules in force: above the user's first deny of its domain, else behind the user's."""
    own = [index for index, rule in enumerate(rules) if rule.source.startswith("/")]  # those of the user's file
    deny = next((i for i in own if rules[i].decision == "deny" and rules[i].domain == domain), None)
    if deny is not None:
        return deny
    if own:
        return own[-1] + 1
    return sum(1 for rule in rules if _is_ours(rule))


def _is_ours(rule: Rule) -> bool:
    return rule.source == "built-in" or rule.source.startswith("template ")
