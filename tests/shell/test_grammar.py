"""The grammar: what bash accepts is accepted, and means what bash means by it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.shell import read_command
from holdfast.shell.parse import parse_command
from holdfast.shell.syntax import Compound, Pipeline, Redirect, ShellSyntaxError, Simple
from holdfast.shell.words import decode_ansi

CONSTRUCTS = [
    "cat 2>&1 <<<hi",
    "coproc foo { ls; }",
    "select x in a b; do ls; done",
    "echo $[1+2]",
    "ls >| x",
    "ls |& cat",
    "a=(1 2); echo ${a[@]:1:2}",
    "echo ${x//a/b} ${x^^} ${!x} ${x@Q} ${#x}",
    "function f { ls; }",
    "cat <<A <<B\n1\nA\n2\nB",
    "cat <<EOF && ls\nx\nEOF",
    "for ((i=0;i<3;i++)); do ls; done",
    "for ((;;)) { ls; break; }",
    "[[ a =~ ^(b|c)$ ]]",
    "exec 3<>/dev/tcp/a/80",
    "exec {fd}>x",
    "case x in (a) ls;; b|c) pwd;& *) id;;& esac",
    "f() ( ls )",
    "if ! ls; then :; elif true; then pwd; else id; fi",
    "until ls; do sleep 1; done",
    "cat < <(ls)",
    "ls $(cat <<E\nx\nE\n)",
    'echo "${x:-"q"}"',
    "echo a#b #c",
    "time -p ls",
    "! { ls; }",
    "x=$((1+(2*3)))",
    "((x++)); ls",
    "( (ls) )",
    "$( (ls) )",
    "echo \\\n hi",
    "while read -r a b; do echo $a; done < x",
    "a[1]=x; a+=(y)",
    "echo 'it'\\''s'",
    "declare -a x=(a b)",
    "{ ls; } > x 2>&1",
    "ls & pwd & wait",
]


@pytest.mark.parametrize("text", CONSTRUCTS)
def test_constructs_that_bash_accepts(text: str) -> None:
    parse_command(text)


BROKEN = [
    "echo 'x",
    'echo "x',
    "echo $(ls",
    "if true; then ls",
    "ls )",
    "for x in a; do ls",
    "ls &&",
    "case x in a) ls",
    "echo `ls",
    "f() {",
    "}",
    "[[ a",
    "x=(a",
]


@pytest.mark.parametrize("text", BROKEN)
def test_text_that_bash_refuses(text: str) -> None:
    with pytest.raises(ShellSyntaxError):
        parse_command(text)
    reading = read_command(text)
    assert reading.has_error
    assert not reading.read_only


@pytest.mark.skipif(shutil.which("bash") is None, reason="installable: bash")
def test_bash_agrees_on_what_is_a_command() -> None:
    """The labelled set and the constructs, one `bash -n` for each."""
    lines = (Path(__file__).parent / "everyday.jsonl").read_text("utf-8").splitlines()
    commands = CONSTRUCTS + BROKEN + [json.loads(line)["command"] for line in lines[::6]]
    disagreements = []
    for command in commands:
        refused = subprocess.run(["bash", "-n", "-c", command], capture_output=True, check=False).returncode != 0
        if refused != read_command(command).has_error:
            disagreements.append(command)
    assert disagreements == []


def test_a_pipeline_and_its_redirects() -> None:
    script = parse_command("a 2>err | b > out &")
    (pipeline,) = script.items
    assert isinstance(pipeline, Pipeline)
    first, second = pipeline.commands
    assert isinstance(first, Simple)
    assert isinstance(second, Simple)
    assert [(r.descriptor, r.operator, r.target.raw) for r in first.redirects] == [("2", ">", "err")]
    assert [(r.descriptor, r.operator, r.target.raw) for r in second.redirects] == [("", ">", "out")]
    assert script.operators == ["&"]


def test_a_here_document_belongs_to_its_command() -> None:
    script = parse_command("cat <<-'END' | sh\n\trm x\n\tEND\nls")
    pipeline, last = script.items
    assert isinstance(pipeline, Pipeline)
    assert isinstance(pipeline.commands[0], Simple)
    redirect: Redirect = pipeline.commands[0].redirects[0]
    assert redirect.target.raw == "rm x\n"
    assert isinstance(last, Simple)
    assert last.words[0].plain == "ls"


def test_a_loop_keeps_its_list() -> None:
    (loop,) = parse_command("for f in a 'b c' $d; do rm $f; done").items
    assert isinstance(loop, Compound)
    assert (loop.kind, loop.name, [w.raw for w in loop.words or []]) == ("for", "f", ["a", "'b c'", "$d"])


@pytest.mark.parametrize(
    ("source", "value"),
    [(r"\x72\155", "rm"), (r"\u0072m", "rm"), (r"a\nb", "a\nb"), (r"\'", "'"), (r"\U0001F600", "😀"), (r"\cA", "\x01")],
)
def test_ansi_strings(source: str, value: str) -> None:
    assert decode_ansi(source) == value


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("x {a,b}{1..3}", ("x", "a1", "a2", "a3", "b1", "b2", "b3")),
        ("x {01..03}", ("x", "01", "02", "03")),
        ("x a{b,c{d,e}}f", ("x", "abf", "acdf", "acef")),
        ("x '{a,b}' \"{a,b}\" {a}", ("x", "{a,b}", "{a,b}", "{a}")),
        ("v='a b'; x $v \"$v\"", ("x", "a", "b", "a b")),
        ("v=(a 'b c'); x \"${v[@]}\" ${v[1]}", ("x", "a", "b c", "b", "c")),
        ("v=abc; x ${v:1} ${v:0:1} ${v%c} ${v#a} ${v/b/X} ${v^^}", ("x", "bc", "a", "ab", "bc", "aXc", "ABC")),
        ("v=a.tar.gz; x ${v%.*} ${v%%.*} ${v#*.} ${v##*.}", ("x", "a.tar", "a", "tar.gz", "gz")),
        ("x ${unset:-d} ${unset:=e} $unset", ("x", "d", "e", "e")),
        ("a=b; b=c; x ${!a}", ("x", "c")),
        ("x ~ ~/y '~'", ("x", "/home/u", "/home/u/y", "~")),
        ("IFS=,; v=a,b; x $v", ("x", "a", "b")),
        ("x $(echo a b) \"$(printf 'c d')\"", ("x", "a", "b", "c d")),
        ("x \"a\"'b'c\\ d", ("x", "abc d")),
        ("set -- q; x ${HOME:0:1}bin", ("x", "/bin")),
        ("x ${PATH:0:1}", ("x", "/")),
        ('f() { x "$2" $#; }; f a b', ("x", "b", "$#")),
        ("read a b <<< 'q r s'; x $b", ("x", "r", "s")),
    ],
)
def test_expansion(command: str, argv: tuple[str, ...]) -> None:
    reading = read_command(command, cwd="/w", home="/home/u")
    assert reading.simple_commands[-1].argv == argv


@pytest.mark.parametrize("command", ["x=$((cd sub; touch z))", "((touch z))", "$((rm -rf /))"])
def test_PE5_a_command_dressed_as_arithmetic_is_read_as_a_command(command: str) -> None:
    """bash refuses it when it runs, zsh runs it."""
    assert not read_command(command).read_only


@pytest.mark.parametrize(
    "command",
    [
        "echo $((1 + x))",
        "((i++))",
        "echo $((a - b))",
        "echo $((a -b / c))",
        "((a > b && c < d))",
        "echo $(( $(wc -l < f) + 1 ))",
    ],
)
def test_PE8_arithmetic_changes_nothing(command: str) -> None:
    assert read_command(command).read_only


def test_PE5_a_name_with_a_space_is_not_the_program_before_the_space() -> None:
    assert read_command("'git status'").simple_commands[0].text == "'git status'"
