"""What must hold for every command, not only for the ones we thought of."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.shell import read_command
from holdfast.shell.reading import RISK_ORDER, CommandReading

EVERYDAY = [
    json.loads(line)["command"] for line in (Path(__file__).parent / "everyday.jsonl").read_text("utf-8").splitlines()
]
WHOLE_LINES = [c for c in EVERYDAY if "\n" not in c and "#" not in c and not c.startswith("alias")]
PLAIN = [
    "rm -rf src",
    "git push --force origin main",
    "cat README.md",
    "cp a.txt b.txt",
    "curl -o x https://example.com/y",
    "find . -name x -delete",
    "git reset --hard",
    "ls -la /etc",
    "chmod -R 777 /",
    "docker system prune -af",
    "sort -o out in",
    "touch a/../b",
]
WRAPPERS = [
    "env {}",
    "env A=1 {}",
    "command {}",
    "nohup {}",
    "timeout 10 {}",
    "nice -n 5 {}",
    "setsid {}",
    "stdbuf -oL {}",
    "sudo {}",
    "time {}",
    "X=1 {}",
    "( {} )",
    "{ {}; }",
    "true && {}",
    "if true; then {}; fi",
    "for i in 1; do {}; done",
    "bash -c {q}",
    "sh -c {q}",
    "eval {q}",
    "sudo sh -c {q}",
    "echo {q} | sh",
    "bash <<'E_O_F'\n{}\nE_O_F",
    "x=$({})",
    "cat <({})",
    "f() { {}; }; f",
]


def quoted(word: str, style: int, cut: int) -> str:
    if style == 0:
        return shlex.quote(word)
    if style == 1:
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`") + '"'
    if style == 2:
        return "".join("\\" + c for c in word)
    if style == 3:
        return "$'" + "".join(f"\\x{ord(c):02x}" if ord(c) < 128 else c for c in word) + "'"
    cut = cut % (len(word) + 1)
    return quoted(word[:cut], 0, 0) + '""' + quoted(word[cut:], 1, 0)


def shape(reading: CommandReading) -> tuple[object, ...]:
    return (
        reading.risk,
        reading.read_only,
        reading.unknown,
        [(e.kind, e.target, e.certain) for e in reading.effects],
        [c.text for c in reading.simple_commands],
    )


@given(st.sampled_from(PLAIN), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30)), min_size=8, max_size=8))
@settings(max_examples=300, deadline=None)
def test_PE5_quoting_changes_nothing(command: str, styles: list[tuple[int, int]]) -> None:
    words = command.split()
    rewritten = " ".join(quoted(word, *styles[i % 8]) for i, word in enumerate(words))
    assert shape(read_command(rewritten, cwd="/w", home="/h")) == shape(read_command(command, cwd="/w", home="/h"))


@given(st.sampled_from(WHOLE_LINES), st.sampled_from(WRAPPERS))
@settings(max_examples=600, deadline=None)
def test_PE5_a_wrapper_never_lowers_the_risk(command: str, wrapper: str) -> None:
    plain = read_command(command, cwd="/w", home="/h")
    if plain.has_error or plain.simple_commands[:1] == ():
        return
    if wrapper.startswith(("env", "command", "nohup", "timeout", "nice", "setsid", "stdbuf", "sudo {}", "X=1")) and (
        plain.compound or not command[0].isalpha() or "=" in command.split(maxsplit=1)[0]
    ):
        return  # these take one program, not a script
    if command.split(maxsplit=1)[0] in (
        "exec",
        "eval",
        "set",
        "source",
        "cd",
        "export",
        "trap",
        "history",
        "type",
        "time",
        "alias",
    ):
        return  # builtins that mean something else, or nothing, behind a program
    wrapped = read_command(wrapper.replace("{q}", shlex.quote(command)).replace("{}", command, 1), cwd="/w", home="/h")
    assert RISK_ORDER[wrapped.risk] >= RISK_ORDER[plain.risk], (wrapped.command, wrapped.reason)
    if not plain.read_only:
        assert not wrapped.read_only, wrapped.command


@given(st.sampled_from(WHOLE_LINES), st.sampled_from(WHOLE_LINES))
@settings(max_examples=300, deadline=None)
def test_PE5_two_commands_do_at_least_what_each_does(first: str, second: str) -> None:
    a, b = read_command(first, cwd="/w", home="/h"), read_command(second, cwd="/w", home="/h")
    both = read_command(f"( {first} ) ; ( {second} )", cwd="/w", home="/h")
    if a.has_error or b.has_error:
        return
    kinds = {(e.kind, e.target) for e in both.effects}
    assert {(e.kind, e.target) for e in a.effects} <= kinds
    assert {(e.kind, e.target) for e in b.effects} <= kinds
    assert RISK_ORDER[both.risk] >= max(RISK_ORDER[a.risk], RISK_ORDER[b.risk])
    if not (a.read_only and b.read_only):
        assert not both.read_only


@given(st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_PE5_any_text_is_answered(text: str) -> None:
    reading = read_command(text)
    assert reading.command == text
    assert reading.risk in RISK_ORDER
    assert not (reading.read_only and reading.unknown)
    assert not (reading.read_only and any(e.kind in ("writes", "deletes") for e in reading.effects))


@given(st.text(alphabet="abc $(){}[]<>|&;'\"`\\\n\t*?~!#=-/", max_size=60))
@settings(max_examples=600, deadline=None)
def test_PE5_any_punctuation_is_answered_the_same_way_twice(text: str) -> None:
    assert shape(read_command(text, cwd="/w")) == shape(read_command(text, cwd="/w"))


@given(st.text(alphabet="abc\ud800 é中", max_size=30))
@settings(max_examples=150, deadline=None)
def test_PE5_quoted_text_is_data(text: str) -> None:
    reading = read_command("echo " + shlex.quote(text))
    assert reading.risk == "safe"


@given(st.text(alphabet="rm \x00-fx", max_size=12))
@settings(max_examples=150, deadline=None)
def test_PE10_a_nul_hides_nothing_and_proves_nothing(text: str) -> None:
    """Some shells drop it, so `r\\0m` is `rm`."""
    reading = read_command(f"{text}\x00; r\x00m -rf lib", cwd="/w")
    assert reading.risk == "dangerous"
    assert reading.unknown
