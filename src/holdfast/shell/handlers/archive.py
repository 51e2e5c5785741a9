"""tar: reads, writes, extracts, and can run programs."""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.expand import FROM_DECODER, FROM_FILE, FROM_SECRET, FROM_TREE, Field, Output
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import acts, split_arguments

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_TAKES = {
    "-f": "val", "--file": "val", "-C": "val", "--directory": "val", "-X": "val", "-T": "val", "-I": "val",
    "--use-compress-program": "val", "--to-command": "val", "--checkpoint-action": "val", "-b": "val", "-H": "val",
    "--exclude": "val", "--exclude-from": "val", "--files-from": "val", "--strip-components": "val", "--owner": "val",
    "--group": "val", "--mode": "val", "--transform": "val", "--xform": "val", "-F": "val", "--info-script": "val",
    "--new-volume-script": "val", "--rsh-command": "val", "-g": "val", "--listed-incremental": "val", "-N": "val",
    "--newer": "val", "--mtime": "val", "-L": "val", "-V": "val", "--format": "val", "-s": "val", "-K": "val",
    "--checkpoint": "?val", "--level": "val", "--rmt-command": "val", "--one-top-level": "?val", "--index-file": "val",
}  # fmt: skip
_MODES = frozenset(("--extract", "--create", "--update", "--delete", "--append", "--remove-files", "--overwrite"))


# GNU tar takes a long option by its beginning; these are the ones that decide what is done.
_LONGS = frozenset(name for name in _TAKES if name.startswith("--")) | frozenset(
    "--create --extract --list --append --update --delete --diff --compare --concatenate --to-stdout --absolute-names"
    " --remove-files --get --gzip --bzip2 --xz --verbose --keep-old-files --overwrite".split()
)


def tar(walker: Caller, call: Call) -> Output:  # noqa: PLR0915 - one step after the other
    style = "" if call.fields and call.fields[0].text.startswith("-") else "bsd"
    fields = call.fields
    if style == "bsd" and fields:
        fields = _old_style(fields)
    arguments = split_arguments(fields, _TAKES, known_longs=_LONGS)
    walker.note(call)
    record, scope, context, by = walker.record, call.scope, call.context, call.command
    if arguments.has("--help", "--version", "--usage"):
        return Output(None)
    for option in arguments.flags:
        if option not in _TAKES and option not in _MODES and acts(option):
            record.cannot_know(f"the option {option} of tar is not known")
    for value in arguments.values("--index-file"):
        record.writes(value, scope, context, by)
    for option in (
        "--to-command",
        "-I",
        "--use-compress-program",
        "-F",
        "--info-script",
        "--new-volume-script",
        "--rsh-command",
        "--rmt-command",
    ):
        for value in arguments.values(option):
            if option in ("-I", "--use-compress-program") and value.text.split(" ")[0] in _COMPRESSORS:
                continue
            walker.run_string(value, scope.copy(), Output(None), context.through(f"tar {option}", escaped="tar"))
    for value in arguments.values("--checkpoint-action"):
        if value.text.startswith("exec="):
            code = Field(value.text[5:], value.dynamic, taint=value.taint)
            walker.run_string(
                code, scope.copy(), Output(None), context.through("tar --checkpoint-action", escaped="tar")
            )
            record.finding("dangerous", "hides", how="tar runs a program at a checkpoint")
    archive = arguments.value("-f", "--file")
    directory = arguments.value("-C", "--directory")
    if archive is not None and ":" in archive.text and "/" not in archive.text.split(":")[0]:
        record.add("network", archive.text, by)
        record.read_only = False
    if arguments.has("-t", "--list", "-d", "--diff", "--compare"):
        if archive is not None:
            record.reads(archive, scope, context, by)
        return Output(None, call.stdin.taint)
    if arguments.has("-x", "--extract", "--get"):
        if archive is not None:
            call.taint |= record.reads(archive, scope, context, by)
        if arguments.has("-O", "--to-stdout"):
            return Output(None, call.stdin.taint | FROM_FILE | FROM_DECODER)
        target = directory if directory is not None else Field(".")
        record.writes(target, scope, context, by, detail="inside", append=True)
        if arguments.has("-P", "--absolute-names"):
            record.finding("caution", "writes", target="/")
        return Output(None)
    if arguments.has("-c", "--create", "-r", "--append", "-u", "--update", "-A", "--delete"):
        taint = 0
        for value in arguments.positionals:
            taint |= record.reads(value, scope, context, by)
        for value in arguments.values("-T", "--files-from"):
            record.reads(value, scope, context, by)
        if arguments.has("--remove-files"):
            for value in arguments.positionals:
                record.deletes(value, scope, context, by, recursive=True)
        if any(_PRIVATE.match(paths.absolute(v.text, scope.cwd, scope.home)) for v in arguments.positionals):
            taint |= FROM_SECRET
        if archive is None or archive.text == "-":
            return Output(None, taint | FROM_FILE | FROM_TREE)
        if ":" in archive.text and "/" not in archive.text.split(":")[0] and taint & FROM_SECRET:
            walker.exfiltration(call)
        opened = re.match(r"/(?:dev|proc/(?:self|thread-self))/fd/(\d+)\Z", archive.text)
        if opened is not None and scope.descriptors.get(opened[1], ("", 0))[1] & 64:
            walker.exfiltration(call)
        record.writes(archive, scope, context, by)
        scope.origins[paths.absolute(archive.text, scope.cwd, scope.home)] = taint | FROM_TREE
        return Output(None, 0)
    record.read_only = False
    return Output(None)


# A whole home, or the settings of the machine: keys and passwords are among them.
_PRIVATE = Lazy(r"/(?:etc|root|home(?:/[^/]+)?|Users(?:/[^/]+)?)?(?:/?\*)?\Z|(?:~|\$HOME|\$\{HOME\})[\w-]*(?:/?\*)?\Z")
_COMPRESSORS = frozenset(
    "gzip pigz bzip2 pbzip2 lbzip2 xz pxz zstd lz4 lzop lzma lzip plzip brotli compress zstdmt".split()
)


def _old_style(fields: list[Field]) -> list[Field]:
    """`tar czf a.tgz dir`: letters first, their values after, in the same order."""
    letters, rest = fields[0].text, fields[1:]
    result: list[Field] = []
    for letter in letters:
        if f"-{letter}" in _TAKES and rest:
            result.extend((Field(f"-{letter}"), rest[0]))
            rest = rest[1:]
        else:
            result.append(Field(f"-{letter}"))
    return [*result, *rest]
