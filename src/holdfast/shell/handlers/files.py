"""Copying, moving, linking, deleting and the rights of files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.expand import FROM_FILE, FROM_SECRET, Field, Output
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import split_arguments
from holdfast.shell.reading import Effect

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_SHELL = Lazy(r"/(?:usr/)?(?:local/)?bin/(?:ba|da|z|k|mk|c|tc|a)?sh\Z")
_OPEN_MODE = Lazy(r"0?[0-7]?[0-7][0-7][2367]\Z|(?:^|,)[ugo]*[ao][ugoa]*[+=][rxXst]*w|\+rwx\Z")
_SETUID = Lazy(r"0?[4-7][0-7]{3}\Z|(?:^|,)g*u[ug]*[+=][rwxX]*s|(?:^|,)[+=][rwxX]*s")


def transfer(walker: Caller, call: Call, role: str) -> None:  # noqa: PLR0915 - one step after the other
    """`cp a b dir`, `mv`, `install`, `ln`: the last name is written, unless -t names it."""
    arguments = call.arguments
    record, scope, context, by = walker.record, call.scope, call.context, call.command
    target = arguments.value("-t", "--target-directory")
    sources = list(arguments.positionals)
    if arguments.has("-d", "--directory") and call.name == "install":
        for value in sources:
            record.writes(value, scope, context, by, detail="directory")
        return
    if target is None:
        if len(sources) < 2:
            if sources and role == "link":
                record.writes(Field("./" + sources[0].text.rsplit("/", 1)[-1]), scope, context, by)
            return
        target = sources.pop()
    for value in sources:
        if _SHELL.match(paths.absolute(value.text, scope.cwd, scope.home)) and role != "move" and not context.machine:
            record.finding("dangerous", "hides", how=f"{value.text} gets another name")
        if role == "link":
            if value.text == "/dev/null" and paths.is_secret(paths.absolute(target.text, scope.cwd, scope.home)):
                record.finding("dangerous", "empties", target=target.text)
            linked = paths.absolute(value.text, scope.cwd, scope.home)
            origin = scope.origins.get(linked, 0) | (FROM_SECRET if paths.is_secret(linked) else 0)
            if origin:
                scope.origins[paths.absolute(target.text, scope.cwd, scope.home)] = origin
            continue
        taint = record.reads(value, scope, context, by)
        call.taint |= taint
        if role == "move":
            if paths.is_harmless_device(paths.absolute(target.text, scope.cwd, scope.home)):
                record.deletes(value, scope, context, by, recursive=True)
            else:
                moved = paths.absolute(value.text, scope.cwd, scope.home)
                record.effects.append(_moved(walker, call, value))
                record.read_only = False
                if paths.is_root_like(moved) or re.fullmatch(
                    r"/(?:bin|boot|etc|lib\w*|sbin|usr|var|dev|proc|sys)(?:/\*)?", moved
                ):
                    record.finding("dangerous", "deletes_system", target=moved)
                elif paths.is_persistence(moved) or paths.is_secret(moved):
                    record.finding("dangerous", "deletes_secret", target=moved)
                elif paths.is_system(moved) and not re.match(r"/(?:var|opt|srv|usr/local|root|run)/", moved):
                    record.finding("caution", "deletes", target=moved)
        source_path = paths.absolute(value.text, scope.cwd, scope.home)
        target_path = paths.absolute(target.text, scope.cwd, scope.home)
        if source_path in scope.files:
            scope.files[target_path] = scope.files[source_path]
        origin = scope.origins.get(source_path, 0) | (taint & FROM_SECRET)
        if origin:
            scope.origins[target_path] = origin
    device_copy = paths.absolute(target.text, scope.cwd, scope.home)
    if device_copy == "/dev/tcp":
        return
    append = role == "link"
    record.writes(target, scope, context, by, append=False, detail="link" if append else "")
    mode = arguments.value("-m", "--mode")
    if mode is not None and _SETUID.search(mode.text):
        record.finding("dangerous", "setuid", target=target.text)


def _moved(walker: Caller, call: Call, value: Field) -> Effect:
    path, certain = walker.record.locate(value, call.scope, call.context)
    return Effect("deletes", path, "moved", call.command, certain=certain, path=not call.context.machine)


def rm(walker: Caller, call: Call) -> Output:
    arguments = split_arguments(
        call.fields,
        {},
        known_longs=frozenset(
            (
                "--recursive",
                "--force",
                "--interactive",
                "--no-preserve-root",
                "--preserve-root",
                "--verbose",
                "--dir",
                "--one-file-system",
                "--help",
                "--version",
            )
        ),
    )
    walker.note(call)
    if arguments.has("--help", "--version") and not arguments.positionals:
        return Output(None)
    recursive = arguments.has("-r", "-R", "--recursive")
    force = arguments.has("-f", "--force")
    record = walker.record
    record.read_only = False
    if arguments.has("--no-preserve-root"):
        record.finding("dangerous", "deletes_everything", target="/")
    if recursive and force and not arguments.positionals:
        # what is deleted comes from elsewhere (a pipe, a list): not known, and not small
        record.finding("dangerous", "deletes_tree", target="what it is given")
    for value in arguments.positionals:
        if value.dynamic and not recursive and value.text.startswith("$"):
            record.deletes(value, call.scope, call.context, call.command)
            continue
        record.deletes(value, call.scope, call.context, call.command, recursive=recursive)
    return Output(None)


def tee(walker: Caller, call: Call) -> Output:
    arguments = split_arguments(call.fields, {})
    walker.note(call)
    append = arguments.has("-a", "--append")
    for value in arguments.positionals:
        walker.record.writes(value, call.scope, call.context, call.command, append=append)
        path = paths.absolute(value.text, call.scope.cwd, call.scope.home)
        if call.stdin.text is not None:
            call.scope.files[path] = (call.scope.files.get(path, "") if append else "") + call.stdin.text
        call.scope.origins[path] = call.stdin.taint
    return Output(call.stdin.text, call.stdin.taint)


def dd(walker: Caller, call: Call) -> Output:
    walker.note(call)
    record = walker.record
    taint = call.stdin.taint
    wrote = False
    origins: dict[str, int] = {}
    for value in sorted(call.fields, key=lambda f: f.text.startswith("of=")):
        key, equals, text = value.text.partition("=")
        part = Field(text, value.dynamic, value.glob, value.taint)
        if value.dynamic and (not equals or key.startswith("$")):
            record.cannot_know(f"the operand {value.text} of dd is only known when it runs")
        if key == "if":
            taint |= call.scope.origins.get(paths.absolute(text, call.scope.cwd, call.scope.home), 0)
            taint |= record.reads(part, call.scope, call.context, call.command, whole=True) | FROM_FILE
        elif key == "of":
            wrote = True
            record.writes(part, call.scope, call.context, call.command)
            if part.dynamic and not paths.is_temporary(part.text):
                record.finding("caution", "writes", target=text)
            origins[paths.absolute(text, call.scope.cwd, call.scope.home)] = taint & ~FROM_FILE
    if not wrote:
        return Output(None, taint)
    call.scope.origins.update(origins)
    return Output("", taint & FROM_SECRET)


def chmod(walker: Caller, call: Call) -> Output:
    """`chmod`, `chown`, `chgrp`, `setfacl`: who may use what."""
    walker.note(call)
    arguments = split_arguments(
        [f for f in call.fields if not re.fullmatch(r"-[rwxXst]+", f.text) or call.name != "chmod"],
        {"--reference": "val", "--from": "val", "-m": "val", "-x": "val", "-M": "val"},
        known_longs=frozenset(
            ("--recursive", "--reference", "--from", "--verbose", "--changes", "--silent", "--quiet")
        ),
    )
    if arguments.has("--help", "--version"):
        return Output(None)
    call.arguments = arguments
    walker.record.read_only = False
    targets = list(arguments.positionals)
    mode = ""
    minus = [f for f in call.fields if re.fullmatch(r"-[rwxXst]+", f.text)]
    if call.name == "chmod":
        if minus and not arguments.has("-R"):
            mode = minus[0].text
        elif not arguments.has("--reference") and targets:
            if len(targets) > 1 or not re.match(r"[/.~*]", targets[0].text):  # a mode was forgotten: that is the file
                mode = targets.pop(0).text
        elif minus:
            mode = minus[0].text
    elif targets and not arguments.has("--reference") and call.name in ("chown", "chgrp"):
        targets.pop(0)
    recursive = arguments.has("-R", "--recursive")
    for value in targets:
        walker.permission(value, call)
        if mode and _SETUID.search(mode):
            walker.record.finding("dangerous", "setuid", target=value.text)
        path = paths.absolute(value.text, call.scope.cwd, call.scope.home)
        if (
            mode
            and _OPEN_MODE.search(mode)
            and (
                (
                    recursive
                    or (paths.is_system(path) and not re.match(r"/(?:var/www|opt|srv|dev|run|usr/local)/", path))
                    or paths.is_root_like(path)
                )
                or paths.is_secret(path)
            )
        ):
            walker.record.finding("dangerous", "opens_to_all", target=value.text)
        if mode in ("000", "0", "0000", "a-rwx", "-rwx", "a-x", "-x") and recursive:
            walker.record.finding("dangerous", "opens_to_all", target=value.text)
    return Output(None)
