"""No input crashes it, hangs it, or makes it claim too much."""

from __future__ import annotations

import json
import random
import time
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.shell import default_table, read_command
from holdfast.shell.expand import MAX_FIELDS, Output, Scope
from holdfast.shell.read import MAX_LENGTH
from holdfast.shell.record import Context, Record
from holdfast.shell.syntax import TooComplex
from holdfast.shell.walk import MAX_VISITS, Walker

SEEDS = [
    json.loads(line)["command"] for line in (Path(__file__).parent / "everyday.jsonl").read_text("utf-8").splitlines()
]
NASTY = [
    "\x00",
    "\x00" * 5000,
    "\ud800",
    "\udcff" * 100,
    "é" * 1000,
    "(" * 10_000,
    ")" * 10_000,
    "$(" * 10_000,
    "`" * 9_999,
    "{" * 10_000,
    "'" * 9_999,
    '"' * 9_999,
    "${" * 5000,
    "((" * 5000,
    "<<" * 3000,
    "<(" * 5000,
    "[[ " * 3000,
    "\\" * 10_001,
    "a;" * 20_000,
    "a|" * 20_000,
    "a&&" * 10_000 + "a",
    "{1..99999999}",
    "{a,b}" * 30,
    "{a," * 200 + "b" + "}" * 200,
    "x=1;" * 10_000,
    "if " * 3000,
    "for i in a; do " * 500,
    "case x in a) " * 500,
    "f(){ f;};f",
    "f(){ f|f&};f",
    "a=a; " + "a=$a$a; " * 60 + "echo $a",
    "echo " + "a " * 30_000,
    "echo " + "$x" * 20_000,
    "eval " * 2000 + "ls",
    "sudo " * 5000 + "ls",
    "bash -c " * 3000 + "ls",
    "xargs " * 3000 + "rm",
    "cat <<A\n" * 2000,
    "echo {" + "a,b" * 10_000 + "}",
    "python -c '" + "(" * 5000 + "'",
    "python -c '" + "-" * 30_000 + "1'",
    "python -c 'x=" + "+".join(["1"] * 10_000) + "'",
    "sed '" + "s/a/b/;" * 5000 + "'",
    "awk '" + "{print}" * 5000 + "'",
    "find " + "( " * 5000,
    "perl -e '" + "a(" * 10_000 + "'",
    "echo ${x" + "#a" * 10_000 + "}",
    "x=" + "a" * 60_000 + "; echo ${x##*b}",
    "ls" * 30_000,
    "a" * 1_000_000,
    "rm -rf / " * 100_000,
    "\n" * 100_000,
    "#" * 60_000,
    "x" + "[" * 20_000,
    "echo " + "*" * 30_000,
    "$'" + "\\x" * 20_000 + "'",
    "~" * 30_000,
    "for i in 1 2 3 4 5 6 7 8; do " * 8 + "ls" + "; done" * 8,
    "git " + "-c a=b " * 5000,
    "while read x; do " * 50 + "ls" + "; done" * 50,
    "x='" + "a*" * 10_000 + "'; echo ${x//a*a*a*a*b/}",
    "echo ${x/" + "a*" * 2000 + "}",
    "psql -c '" + "DELETE FROM a " * 4000 + "'",
]


# Far above what any input takes (see benchmarks/bench_shell_reading.py): it only fails when something runs away.
RUNAWAY_SECONDS = 2.0


@pytest.mark.slow
@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_PE5_hostile_input_is_answered(text: str) -> None:
    started = time.process_time()
    reading = read_command(text, cwd="/w", home="/h")
    assert time.process_time() - started < RUNAWAY_SECONDS
    assert not (reading.read_only and reading.unknown)
    assert reading.risk != "safe" or not reading.unknown
    assert len(reading.effects) <= 2 * MAX_VISITS + MAX_FIELDS
    assert len(reading.simple_commands) <= MAX_VISITS + MAX_FIELDS


@pytest.mark.parametrize("text", [t for t in NASTY if len(t) <= MAX_LENGTH], ids=lambda t: repr(t[:12]))
def test_PE5_the_work_for_hostile_input_is_counted(text: str) -> None:
    walker = Walker(default_table(), Record())
    with suppress(TooComplex, RecursionError):
        walker.run_text(text, Scope("/w", "/h"), Output(""), Context())
    assert walker.visits >= -1
    assert walker.parse_budget[0] >= -1
    assert walker.words >= -len(text)


def test_PE5_each_budget_ends_the_reading() -> None:
    for text, why in (
        ("for i in 1 2 3 4 5 6 7 8; do " * 8 + "ls" + "; done" * 8, "more commands than are followed"),
        ("a;" * 20_000, "more parts than are followed"),
        ("sudo " * 5000 + "ls", "more words than are followed"),
        ("f(){ f;};f", "the function f calls itself"),
        ("eval '" + "$(" * 300 + ")" * 300 + "'", "nested deeper than is followed"),
    ):
        assert read_command(text).unknown_why == why, text[:40]


def test_PE5_too_long_is_unknown_not_safe() -> None:
    reading = read_command("ls " + "a" * 100_000)
    assert reading.unknown
    assert reading.risk == "caution"
    assert not reading.read_only


def mutate(source: random.Random, text: str) -> str:
    pieces = list(text)
    for _ in range(source.randint(1, 6)):
        place = source.randint(0, len(pieces))
        action = source.randrange(5)
        if action == 0 and pieces:
            del pieces[min(place, len(pieces) - 1)]
        elif action == 1:
            pieces.insert(place, source.choice("'\"`$(){}[]<>|&;\\\n \t*?~!#=\x00\ud800é-"))
        elif action == 2:
            pieces.insert(
                place,
                source.choice(["$(", "${", "<<E\n", "&&", "||", "<(", "$((", "))", ">>", "\\\n", " -rf /", "'\"'"]),
            )
        elif action == 3 and pieces:
            cut = source.randint(0, len(pieces))
            pieces[place:place] = pieces[cut : cut + source.randint(1, 12)]
        else:
            pieces[place:] = list(source.choice(SEEDS))
    return "".join(pieces)


def fuzz(count: int, seed: int) -> None:
    source = random.Random(seed)
    for _ in range(count):
        text = mutate(source, source.choice(SEEDS))
        started = time.process_time()
        reading = read_command(text, cwd="/w", home="/h")
        assert time.process_time() - started < RUNAWAY_SECONDS, text
        assert "the reader failed" not in " ".join((reading.unknown_why, reading.reason)), text
        if reading.read_only:
            assert not reading.unknown
            assert not reading.has_error
            assert not [e for e in reading.effects if e.kind in ("writes", "deletes", "changes_permissions")], text


@pytest.mark.slow
def test_PE5_mutated_commands() -> None:
    fuzz(4000, seed=1)


@pytest.mark.full
def test_PE5_a_hundred_thousand_mutated_commands() -> None:
    fuzz(100_000, seed=2)
