"""Programs with one habit of their own that a table cannot say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell.expand import Field, Output
from holdfast.shell.options import split_arguments
from holdfast.shell.smuggle import smuggled

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

# ruff: noqa: SIM905 - long lists of words read better as text

_ONLY_LOOKS = frozenset(
    "ls list-sessions list-windows list-panes capture-pane display-message show-options info show-environment"
    " showenv -ls -list -V -v list-keys lsk list-clients show has-session has".split()
)


def fd(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    for option in ("-x", "--exec", "-X", "--exec-batch"):
        if option in texts:
            index = texts.index(option)
            command = call.fields[index + 1 :]
            call.fields = call.fields[:index]
            if command:
                found = Field("$found", dynamic=True)
                replaced = [found if re.fullmatch(r"\{[./]*\}", f.text) else f for f in command]
                if not any(f is found for f in replaced):
                    replaced.append(found)
                walker.run_fields(replaced, call.scope, Output(None), call.context.through(f"fd {option}"))
    return None


def multiplexer(walker: Caller, call: Call) -> Output:
    """screen and tmux start or steer shells."""
    walker.note(call)
    texts = [f.text for f in call.fields]
    looks = bool(texts) and texts[0] in _ONLY_LOOKS and not (texts[0] == "capture-pane" and "-p" not in texts)
    if looks and not any("#(" in f or f.endswith(";") or f == "-X" for f in texts):
        return Output(None)
    walker.record.read_only = False
    smuggled(walker.record, call.name, call.fields[:2] if call.name == "tmux" else [], call.scope, positionals=False)
    context = call.context.through(call.name)
    takes = dict.fromkeys(("-S", "-s", "-t", "-n", "-c", "-f", "-L", "-x", "-y", "-X", "-p", "-e", "-T"), "val")
    arguments = split_arguments(call.fields, takes, stop_at_first=call.name == "screen")
    words = arguments.positionals
    if call.name == "screen":
        if arguments.has("-L"):
            walker.record.writes(Field("screenlog.0"), call.scope, call.context, call.command, append=True)
        if words:
            walker.run_fields(words, call.scope, Output(None), context)
        elif not arguments.has("-r", "-x", "-wipe", "-D", "-R"):
            walker.record.cannot_know("screen opens an interactive shell")
            if not call.fields and not call.context.machine:
                walker.record.finding("dangerous", "escape", program="screen")
        return Output(None)
    name = words[0].text if words else "new-session"
    rest = words[1:]
    if name in (
        "new-session",
        "new",
        "new-window",
        "neww",
        "split-window",
        "splitw",
        "respawn-pane",
        "run-shell",
        "run",
        "if-shell",
        "popup",
        "display-popup",
        "pipe-pane",
    ):
        if rest:
            walker.run_text(" ".join(f.text for f in rest), call.scope.copy(), Output(None), context)
        elif name != "new-session":
            walker.record.cannot_know(f"{call.name} opens an interactive shell")
        elif not words and not call.context.machine:  # a terminal of its own, and nothing said about it
            walker.record.finding("dangerous", "escape", program="tmux")
    elif name in ("send-keys", "send"):
        text = " ".join(f.text for f in rest if f.text not in ("Enter", "C-m", "ENTER", "-l"))
        if text:
            walker.run_text(text, call.scope.copy(), Output(None), context)
    elif name in ("kill-server",):
        walker.record.finding("caution", "program", program="tmux", why="it stops every session")
    walker.record.finding("caution", "program", program=call.name, why="it runs in a terminal of its own")
    return Output(None)


def java(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    if "-jar" in texts:
        walker.note(call)
        index = texts.index("-jar")
        rest = call.fields[index + 2 :]
        if index + 1 < len(call.fields):
            walker.record.add("runs", call.fields[index + 1].text, call.command, "program")
        walker.record.cannot_know("a Java program is run")
        walker.guess_by_verb("java", _words_by_verb(rest))
        return Output(None)
    if texts and texts[0] in ("-version", "--version", "-help", "--help", "-showversion"):
        return None
    walker.note(call)
    walker.record.cannot_know("a Java program is run")
    walker.record.add("runs", call.command.text, call.command, "program")
    return Output(None)


def _words_by_verb(fields: list[Field]) -> list[Field]:
    """Options with values out of the way: the verb may stand after a server address."""
    words = []
    skip = False
    for value in fields:
        if skip:
            skip = False
        elif value.text.startswith("-"):
            skip = True
        else:
            words.append(value)
    return words


def make(walker: Caller, call: Call) -> Output | None:
    for index, value in enumerate(call.fields):
        text = value.text
        code = None
        if text.startswith("--eval="):
            code = text[7:]
        elif text == "--eval" and index + 1 < len(call.fields):
            code = call.fields[index + 1].text
        elif re.match(r"(?:SHELL|MAKE|CC|CXX|LD|AR)=", text) and call.name.endswith("make"):
            program = text.partition("=")[2]
            if re.fullmatch(r"(?:/(?:usr/)?(?:local/)?bin/)?(?:ba|da|z|k)?sh", program):
                continue  # which shell runs the rules is make's own business
            code = "\t" + program
        if code is not None:
            shells = re.findall(r"\$\(shell ([^)]*)\)|^\t[-@+]*(.*)$|:\s*;?\s*[\n\t]+[-@+]*(.*)", code, re.MULTILINE)
            for groups in shells:
                for line in groups:
                    if line:
                        walker.run_text(
                            line.replace("$$", "$"),
                            call.scope.copy(),
                            Output(None),
                            call.context.through("make", escaped="make"),
                        )
            walker.record.cannot_know("make runs rules given on its command line")
    texts = [f.text for f in call.fields if not f.text.startswith("-") and "=" not in f.text]
    if any(re.fullmatch(r"(?:deploy|publish|release)[\w-]*", t) for t in texts):
        walker.record.add("external_state", texts[0], call.command, "deploy", certain=False)
    return None


def cmake(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    if "-E" in texts:
        index = texts.index("-E")
        rest = call.fields[index + 1 :]
        if rest and rest[0].text in ("rm", "remove", "remove_directory"):
            walker.note(call)
            for value in rest[1:]:
                if not value.text.startswith("-"):
                    recursive = rest[0].text == "remove_directory" or any(f.text in ("-r", "-R", "-rf") for f in rest)
                    walker.record.deletes(value, call.scope, call.context, call.command, recursive=recursive)
            return Output(None)
        if rest and rest[0].text == "env":
            return walker.run_fields(rest, call.scope, call.stdin, call.context.through("cmake -E"))
    return None


def debugger(walker: Caller, call: Call) -> Output | None:
    """gdb -ex '!sh', -ex 'python ...'"""
    arguments = split_arguments(call.fields, call.spec["opts"], "dash")
    context = call.context.through(call.name, escaped=call.name)
    for value in arguments.values("-ex", "-o", "--eval-command", "-iex", "--init-eval-command"):
        text = value.text.strip()
        if text.startswith(("!", "shell ", "make ")):
            code = text.lstrip("!").removeprefix("shell ").strip()
            walker.run_string(Field(code), call.scope.copy(), Output(None), context)
            walker.record.finding("dangerous", "escape", program=call.name)
        elif text.startswith(("python ", "py ", "python-interactive", "pi ", "script ")):
            walker.run_code("python", Field(text.partition(" ")[2]), call.scope, Output(None), context, call.command)
        elif text.startswith(("call ", "print ", "p ", "expr ")) and "(" in text:
            walker.record.finding("dangerous", "escape", program=call.name)
        elif text.startswith(("dump ", "generate-core", "gcore")):
            walker.record.finding("caution", "writes", target=text)
    return None


def ip(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    if len(texts) >= 4 and texts[0] in ("netns", "vrf") and texts[1] == "exec":
        context = call.context.through("ip netns exec")
        return walker.run_fields(call.fields[3:], call.scope, call.stdin, context)
    return None


def exiftool(walker: Caller, call: Call) -> Output | None:
    """exiftool writes when a tag is given a value."""
    if call.name == "exiftool" and any(re.match(r"-[\w:#+*?-]+[-+<]?=", f.text) for f in call.fields):
        walker.note(call)
        for value in call.fields:
            if not value.text.startswith("-"):
                walker.record.writes(value, call.scope, call.context, call.command)
        return Output(None)
    return None


def mount(walker: Caller, call: Call) -> Output | None:
    target = call.fields[-1].text if len(call.fields) > 1 else ""
    if re.match(r"/(?:s?bin|usr/s?bin|etc|lib\w*)(?:/|\Z)", target):
        walker.record.finding("dangerous", "escalates", how="it puts another file in the place of one of the system")
    return None


def perf(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    if texts and texts[0] in ("stat", "record", "trace", "mem", "kvm", "c2c", "ftrace"):
        rest = split_arguments(call.fields[1:], call.spec["opts"], stop_at_first=True)
        if texts[0] == "record":
            walker.record.writes(Field("perf.data"), call.scope, call.context, call.command)
        for value in rest.values("-o"):
            walker.record.writes(value, call.scope, call.context, call.command)
        if rest.positionals:
            return walker.run_fields(rest.positionals, call.scope, call.stdin, call.context.through("perf"))
    if texts and texts[0] in ("list", "report", "annotate", "script", "top", "version", "help", "evlist", "diff"):
        walker.note(call)
        return Output(None)
    return None


def git_checkout(walker: Caller, call: Call) -> Output | None:
    """`git checkout branch` moves; `git checkout -- file`, `git checkout .`, `-f` throw changes away."""
    arguments = split_arguments(call.fields, call.spec["opts"])
    words = [f.text for f in arguments.positionals]
    creates = arguments.has("-b", "-B", "--orphan", "-t", "--track", "--detach", "-d")
    dangerous = arguments.has("-f", "--force")
    if (arguments.separated >= 0 and arguments.separated < len(words)) or (
        not creates and any(w in (".", ":/", "*", "./") or (w.endswith("/") and len(words) == 1) for w in words)
    ):
        dangerous = True
    elif not creates and len(words) >= 2 and not arguments.has("-p", "--patch"):
        dangerous = True  # `git checkout HEAD file`
    elif arguments.has("--ours", "--theirs", "--pathspec-from-file"):
        dangerous = True
    if dangerous:
        walker.record.finding(
            "dangerous", "program", program="git checkout", why="it throws away changes that are not committed"
        )
    return None


def m4(walker: Caller, call: Call) -> Output | None:
    text = call.stdin.text or ""
    for code in re.findall(r"(?:esyscmd|syscmd)\(`?([^)']*)", text):
        walker.run_text(code, call.scope.copy(), Output(None), call.context.through("m4", escaped="m4"))
    return None


def setarch(walker: Caller, call: Call) -> Output:
    """`setarch x86_64 -R program`: the architecture may be left out."""
    words = [f for f in call.fields if not f.text.startswith("-")]
    if words and re.fullmatch(
        r"x86_64|i[3-6]86|linux(?:32|64)|ppc\w*|sparc\w*|s390x?|arm\w*|aarch64|mips\w*|uname26", words[0].text
    ):
        words = words[1:]
    if not words:
        walker.note(call)
        return Output(None)
    index = call.fields.index(words[0])
    return walker.run_fields(call.fields[index:], call.scope, call.stdin, call.context.through(call.name))


def flock(walker: Caller, call: Call) -> Output | None:
    """`flock file -c 'command'`: the option stands after the file."""
    texts = [f.text for f in call.fields]
    for option in ("-c", "--command"):
        index = texts.index(option) if option in texts else -1
        if 0 <= index < len(call.fields) - 1:
            context = call.context.through("flock -c")
            return walker.run_string(call.fields[index + 1], call.scope.copy(), call.stdin, context)
    return None
