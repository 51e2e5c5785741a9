"""How long a decision takes, and what it costs more at ten thousand rules than at ten.

    python benchmarks/bench_decision.py [--rules 10,100,1000,10000] [--targets 2000] [--no-rivals] [--json]

Three figures for each number of rules, on file targets that were never seen before:
- matching: the index finds the rule that decides about one target;
- decision: every policy that judges a tool call, the merge, and the audit record with its hash, without its sync;
- rivals: cedarpy and casbin on the same patterns, in the same run. They do less: no order among rules, no other policy.

Exits with 1 when a target is missed at the most rules: matching below 40 microseconds, a decision below 120. A busy
machine shows in the clock and not in the processor's time; the quieter of the two counts.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from holdfast.audit_entries import audit_entries
from holdfast.control import Control
from holdfast.core.events import ToolCall, ToolCalling
from holdfast.core.outcome import from_merged
from holdfast.core.patterns import Rule
from holdfast.core.policy import EMPTY
from holdfast.core.settings import DEFAULTS
from holdfast.core.targets import Access, Target
from holdfast.core.verdict import merge
from holdfast.rule_index import RuleIndex, rule_list
from holdfast.store.audit_log import FIRST_PREVIOUS, chained_line
from holdfast.store.home import Home
from holdfast.testing.builders import EventBuilder

STEMS = ("alpha", "beta", "gamma", "delta", "core", "util", "auth", "pay", "user", "file")
WORDS = [f"{stem}{number}" for stem in STEMS for number in range(200)]
MOST_US = {"matching": 40.0, "decision": 120.0}
ENDINGS = ("py", "ts", "md", "json", "env.local")


def make_rules(count: int, chance: random.Random) -> list[Rule]:
    """The kinds of rules people write, most of them with `**`."""
    shapes: Sequence[Callable[[str, str], str]] = (
        lambda a, b: f"vault:**/{a}/*.{chance.choice(ENDINGS)}",
        lambda a, b: f"vault:/src/{a}/{b}.py",
        lambda a, b: f"vault:/src/{a}/**",
        lambda a, b: f"fs:/home/u/{a}/**/{b}*",
        lambda a, b: f"*{a}.env*",
    )
    decisions = ("allow", "ask", "deny")
    return [
        Rule("read", shapes[i % len(shapes)](chance.choice(WORDS), chance.choice(WORDS)), chance.choice(decisions),
             "/home/u/.holdfast/config.jsonc", i, i)
        for i in range(count)
    ]  # fmt: skip


def make_targets(chance: random.Random) -> Iterator[Target]:
    for number in itertools.count():
        folder = "/".join(chance.choice(WORDS) for _ in range(chance.randint(1, 3)))
        yield Target("vault", f"/src/{folder}/x{number}.{chance.choice(ENDINGS)}")


def measured(work: Callable[[Target], object], targets: Sequence[Target]) -> tuple[list[float], list[float]]:
    """Microseconds for each target: by the clock, and of this thread's processor time (others may be busy too)."""
    clock, processor = [], []
    gc.collect()
    gc.disable()
    for target in targets:
        used, started = time.thread_time_ns(), time.perf_counter_ns()
        work(target)
        clock.append((time.perf_counter_ns() - started) / 1000)
        processor.append((time.thread_time_ns() - used) / 1000)
    gc.enable()
    return clock, processor


def decider(rules: Sequence[Rule], folder: Path) -> Callable[[Target], object]:
    """All policies as every door assembles them, the merge and the audit record, as the plane runs them."""
    config = {"agents": {"runtime": {"permission": {"rules": [
        {"domain": rule.domain, "pattern": rule.pattern, "decision": rule.decision} for rule in rules
    ]}}}}  # fmt: skip
    (folder / "config.jsonc").write_text(json.dumps(config))
    control = Control.open(Home(folder))
    # the user's own Python is looked for on the disk, so it is no part of a decision without I/O
    policies = [policy for policy in control.in_force().policies if policy.name != "python_hooks"]
    states = {policy.name: EMPTY for policy in policies}
    build = EventBuilder()
    last = [0, FIRST_PREVIOUS]

    def decide(target: Target) -> object:
        access = Access("read", target, "read", path="/vault" + target.value)
        call = ToolCall("c", "read", {"path": target.value}, "/vault", domain="read", accesses=(access,))
        event: ToolCalling = build.calling(call)
        verdicts = []
        for policy in policies:
            verdict, states[policy.name] = policy.decide(event, states[policy.name])
            verdicts.append(verdict)
        outcome = from_merged(merge(verdicts, event.mode, interactive=True), event.id)
        for entry in audit_entries(event, outcome):
            last[0] += 1
            _, last[1] = chained_line(entry, last[0], last[1])
        return outcome

    control.close()
    return decide


def cedar(rules: Sequence[Rule]) -> Callable[[Target], object] | None:
    try:
        import cedarpy
    except ImportError:
        return None
    lines = []
    for rule in rules:
        effect = "permit" if rule.decision == "allow" else "forbid"
        glob = rule.pattern.replace("**", "*").replace("\\", "\\\\")
        glob = glob if glob.startswith(("vault:", "fs:")) else "*/" + glob
        lines.append(f'{effect}(principal, action, resource) when {{ context.target like "{glob}" }};')
    policies = cedarpy.PolicySet.from_str("\n".join(lines))
    entities = cedarpy.Entities.from_json_str("[]")

    def decide(target: Target) -> object:
        request = {
            "principal": 'User::"u"',
            "action": 'Action::"read"',
            "resource": 'File::"f"',
            "context": {"target": str(target)},
        }
        return cedarpy.is_authorized(request, policies, entities)

    return decide


def casbin(rules: Sequence[Rule]) -> Callable[[Target], object] | None:
    try:
        import casbin as library
    except ImportError:
        return None
    model = library.Model()
    model.load_model_from_text(
        "[request_definition]\nr = dom, obj\n[policy_definition]\np = dom, obj, eft\n"
        "[policy_effect]\ne = some(where (p.eft == allow)) && !some(where (p.eft == deny))\n"
        "[matchers]\nm = r.dom == p.dom && globMatch(r.obj, p.obj)\n"
    )
    enforcer = library.Enforcer(model)
    for rule in rules:
        enforcer.add_policy(rule.domain, rule.pattern, "allow" if rule.decision == "allow" else "deny")
    return lambda target: enforcer.enforce("read", str(target))


def row(name: str, count: int, clock: Sequence[float], processor: Sequence[float]) -> dict[str, Any]:
    ordered = sorted(clock)
    return {
        "what": name,
        "rules": count,
        "median": round(statistics.median(ordered), 1),
        "p99": round(ordered[int(len(ordered) * 0.99)], 1),
        "processor": round(statistics.median(processor), 1),
    }


def line(found: dict[str, Any]) -> str:
    return (
        f"{found['what']:<10} {found['rules']:>7} rules   median {found['median']:>10.1f} us"
        f"   p99 {found['p99']:>10.1f} us   processor {found['processor']:>10.1f} us"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", default="10,100,1000,10000")
    parser.add_argument("--targets", type=int, default=2000)
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    counts = [int(text) for text in options.rules.split(",")]
    rows: list[dict[str, Any]] = []
    with contextlib.ExitStack() as room:
        for found in measure(counts, options.targets, not options.no_rivals, room):
            rows.append(found)
            if not options.json:
                print(line(found), flush=True)
    quiet = {(found["what"], found["rules"]): min(found["median"], found["processor"]) for found in rows}
    growth = {name: round(quiet[name, counts[-1]] / quiet[name, counts[0]], 1) for name in MOST_US}
    met = all(quiet[name, counts[-1]] < most for name, most in MOST_US.items())
    if options.json:
        print(json.dumps({"rows": rows, "growth": growth, "met": met}, indent=2))
    else:
        for name, times in growth.items():
            print(f"{name}: {times} times from {counts[0]} to {counts[-1]} rules")
        wanted = ", ".join(f"{name} below {most:.0f} us" for name, most in MOST_US.items())
        print("targets met" if met else f"targets missed: {wanted}")
    return 0 if met else 1


def measure(counts: Sequence[int], repeats: int, rivals: bool, room: contextlib.ExitStack) -> Iterator[dict[str, Any]]:
    for count in counts:
        folder = room.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-bench-"))
        chance = random.Random(count)
        rules = make_rules(count, chance)
        targets = make_targets(chance)
        index = RuleIndex(rule_list(DEFAULTS.runtime.permission, user_rules=rules))
        works: list[tuple[str, Callable[[Target], object] | None, int]] = [
            ("matching", lambda target, index=index: index.match("read", target), repeats),
            ("decision", decider(rules, Path(folder)), repeats),
        ]
        if rivals:
            few = max(5, min(repeats, 200_000 // (count * 4)))
            works += [("cedarpy", cedar(rules), few), ("casbin", casbin(rules), few)]
        for name, work, times_each in works:
            if work is None:
                print(f"{name} is not installed", file=sys.stderr)
                continue
            for target in itertools.islice(targets, 20 if name in MOST_US else 2):
                work(target)
            yield row(name, count, *measured(work, list(itertools.islice(targets, times_each))))


if __name__ == "__main__":
    sys.exit(main())
