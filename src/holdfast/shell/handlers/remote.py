"""Tools that copy to other machines or run there, other than ssh and rsync."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.expand import FROM_NETWORK, FROM_SECRET, Field, Output
from holdfast.shell.options import split_arguments

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller


def cloud_copy(walker: Caller, call: Call) -> Output | None:
    arguments = split_arguments(call.fields, call.spec.get("opts", {}))
    names = arguments.positionals
    dry = arguments.has("--dryrun", "--dry-run", "-n")
    if len(names) >= 2:
        source, target = names[0], names[-1]
        remote = re.compile(r"\w[\w+.-]*://|[\w-]+:")
        if not remote.match(source.text):
            taint = walker.record.reads(source, call.scope, call.context, call.command)
            if taint & FROM_SECRET and remote.match(target.text) and not dry:
                walker.record.finding("dangerous", "exfiltrates", source=source.text, target=target.text)
        if not remote.match(target.text) and target.text != "-" and not dry:
            walker.record.writes(target, call.scope, call.context, call.command, append=True)
            call.scope.origins[paths.absolute(target.text, call.scope.cwd, call.scope.home)] = FROM_NETWORK
        if source.text == "-" and call.stdin.taint & FROM_SECRET:
            walker.exfiltration(call)
    return None


def remote_words(walker: Caller, call: Call) -> Output:
    """pdsh, clush, salt ...: the last words may be a shell command for other machines."""
    walker.note(call)
    walker.record.read_only = False
    walker.record.add("external_state", call.label, call.command, "remote machines")
    walker.record.finding("caution", "external_state", detail="remote machines")
    words = [f for f in call.fields if not f.text.startswith("-")]
    for value in words[1:]:
        if " " in value.text or value.text.startswith("/"):
            context = replace(call.context.through(call.name), machine="ssh:many")
            walker.run_string(value, call.scope.copy(), Output(None), context)
    return Output(None)


def transfer(walker: Caller, call: Call) -> Output | None:
    """ftp, sftp, lftp: what they are told to do, by -c, -e or on standard input."""
    arguments = split_arguments(call.fields, call.spec["opts"])
    texts = [v.text for v in arguments.values("-c", "-e")]
    if call.stdin.text:
        texts.append(call.stdin.text)
    for text in texts:
        for line in re.split(r"[\n;]", text):
            stripped = line.strip()
            if stripped.startswith("!"):
                code = stripped[1:].strip() or "sh"
                walker.run_text(
                    code, call.scope.copy(), Output(None), call.context.through(call.name, escaped=call.name)
                )
                walker.record.finding("dangerous", "escape", program=call.name)
            elif re.match(r"(?:m?put|send|append|mirror\s+(?:-R|--reverse))\b", stripped):
                for word in stripped.split()[1:]:
                    if (
                        not word.startswith("-")
                        and walker.record.reads(Field(word), call.scope, call.context, call.command) & FROM_SECRET
                    ):
                        walker.record.finding("dangerous", "exfiltrates", source=word, target=call.name)
            elif re.match(r"(?:rm|mrm|delete|mdelete|rmdir)\b", stripped):
                walker.record.finding("dangerous", "program", program=call.name, why="it deletes on another machine")
    if call.stdin.taint & FROM_SECRET:
        walker.exfiltration(call)
    for value in call.fields:
        if paths.is_secret(paths.absolute(value.text, call.scope.cwd, call.scope.home)) and "/" in value.text:
            walker.record.finding("dangerous", "exfiltrates", source=value.text, target=call.name)
    return None
