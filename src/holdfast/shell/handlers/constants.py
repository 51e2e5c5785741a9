"""Programs whose output is known when their input is: what they print may be run by the next one."""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.environment import SECRET_VARIABLE
from holdfast.shell.expand import FROM_DECODER, FROM_FILE, FROM_SECRET, MAX_FIELD_LENGTH, Field, Output
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import split_arguments
from holdfast.shell.words import decode_ansi

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_CONVERSION = Lazy(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?([a-zA-Z]))")
_HEX = Lazy(r"\s+")


def echo(walker: Caller, call: Call) -> Output:
    walker.note(call)
    fields = list(call.fields)
    newline, escapes = True, False
    while fields and re.fullmatch(r"-[neE]+", fields[0].text):
        newline = newline and "n" not in fields[0].text
        escapes = escapes or "e" in fields[0].text
        fields = fields[1:]
    text = " ".join(f.text for f in fields)
    if escapes:
        text = decode_ansi(text)
    taint = 0
    for value in fields:
        taint |= value.taint
        if value.dynamic and SECRET_VARIABLE.fullmatch(value.text):
            taint |= FROM_SECRET
    if escapes and re.search(r"\\x[0-9a-fA-F]{2}|\\0?[0-7]{3}", " ".join(f.text for f in fields)):
        taint |= FROM_DECODER
    if any(f.dynamic and f.text.startswith(("$(", "`")) for f in fields):
        return Output(None, taint)
    return Output(text + ("\n" if newline else ""), taint)


def printf(walker: Caller, call: Call) -> Output:
    walker.note(call)
    fields = list(call.fields)
    target = None
    if len(fields) > 1 and fields[0].text == "-v":
        target, fields = fields[1].text, fields[2:]
    if fields and fields[0].text == "--":
        fields = fields[1:]
    if not fields:
        return Output("")
    taint = 0
    for value in fields:
        taint |= value.taint
    if any(f.dynamic and f.text.startswith(("$(", "`")) for f in fields):
        return Output(None, taint)
    template = decode_ansi(fields[0].text)
    if template != fields[0].text and re.search(r"\\x|\\[0-7]{2}", fields[0].text):
        taint |= FROM_DECODER
    text = _format(template, [f.text for f in fields[1:]])
    if target is not None:
        call.scope.variables[target] = Field(text, any(f.dynamic for f in fields), taint=taint)
        return Output("")
    return Output(text, taint)


def _format(template: str, values: list[str]) -> str:
    pieces: list[str] = []
    remaining = list(values)
    slots = sum(1 for m in _CONVERSION.finditer(template) if m[1])
    for _ in range(64):

        def fill(match: re.Match[str]) -> str:
            if match[1] is None:
                return "%"
            value = remaining.pop(0) if remaining else ""
            if match[1] == "b":
                return decode_ansi(value)
            if match[1] == "x" and value.isdigit():
                return format(int(value), "x")
            if match[1] == "c":
                return value[:1]
            return value

        pieces.append(_CONVERSION.sub(fill, template))
        if not remaining or not slots:
            break
    return "".join(pieces)[:MAX_FIELD_LENGTH]


def cat(walker: Caller, call: Call) -> Output:
    """`cat`, `tac`, `nl`: the files as they are; constant input is passed on."""
    walker.note(call)
    arguments = split_arguments(call.fields, call.spec.get("opts", {}))
    texts: list[str] | None = []
    taint = 0
    if [f.text for f in arguments.positionals] == ["/dev/null"]:
        return Output("")
    if not arguments.positionals:
        return Output(call.stdin.text, call.stdin.taint)
    for value in arguments.positionals:
        if value.text == "-":
            taint |= call.stdin.taint
            content = call.stdin.text
        else:
            taint |= (
                walker.record.reads(value, call.scope, call.context, call.command, whole=True) | value.taint | FROM_FILE
            )
            path = paths.absolute(value.text, call.scope.cwd, call.scope.home)
            taint |= call.scope.origins.get(path, 0)
            content = call.scope.files.get(path)
        if content is None:
            texts = None
        elif texts is not None:
            texts.append(content)
    return Output("".join(texts) if texts is not None else None, taint)


def mktemp(walker: Caller, call: Call) -> Output:
    walker.note(call)
    walker.record.read_only = False
    path = "/tmp/tmp.mktemp"
    walker.record.writes(Field(path), call.scope, call.context, call.command)
    return Output(path + "\n")


_UNPACKS = frozenset(
    "zcat gzcat gunzip bzcat bunzip2 xzcat unxz lzcat unlzma zstdcat unzstd lz4cat unlz4 uncompress".split()
)
# Options of xxd that are followed by a number or a name.
_XXD_VALUES = {"-c": "cols", "-g": "groupsize", "-l": "len", "-n": "name", "-o": "offset", "-s": "seek", "-R": "when"}


def xxd(walker: Caller, call: Call) -> Output | None:
    """Options stand before the files, and the second file is written, whatever it is called."""
    flags: list[Field] = []
    index = 0
    while index < len(call.fields):
        text = call.fields[index].text
        if len(text) < 2 or text[0] != "-":
            break
        index += 1
        short = "-" + text.lstrip("-")[:1]
        long = _XXD_VALUES.get(short)
        if long is None:
            flags.append(Field(short))
        elif not text.lstrip("-")[1:] or long.startswith(text.lstrip("-")):
            index += 1
    files = call.fields[index:]
    for value in files[1:]:
        walker.record.writes(value, call.scope, call.context, call.command)
    call.fields = [*flags, *files[:1]]
    return decoder(walker, call)


def decoder(walker: Caller, call: Call) -> Output | None:
    """base64, xxd, rev, tr, openssl, gunzip ...: undone when the input is constant, remembered otherwise."""
    flags = {f.text for f in call.fields}
    text = call.stdin.text
    decoded: str | None = None
    if call.name in ("base64", "base32", "basenc", "b64decode") and flags & {"-d", "-D", "--decode", "-di", "-id"}:
        decoded = _decode64(text, call.name)
    elif call.name == "xxd" and any("r" in f for f in flags if f.startswith("-")):
        decoded = _decode_hex(text)
    elif call.name == "openssl" and "-d" in flags:
        decoded = _decode64(text, "base64")
    elif call.name == "rev" and not call.fields:
        decoded = "\n".join(line[::-1] for line in text.split("\n")) if text is not None else None
    elif call.name == "tr":
        return _translate(walker, call)
    elif call.name in ("uudecode", "gpg"):
        if call.name == "gpg" and not flags & {"-d", "--decrypt"}:
            return None
        walker.apply_leaf(call)
        return Output(None, call.taint | call.stdin.taint | FROM_DECODER)
    elif call.name not in ("base64", "base32", "basenc", "xxd", "openssl", "rev"):
        walker.apply_leaf(call)
        unpacks = call.name in _UNPACKS or bool(flags & {"-d", "-dc", "-cd", "--decompress"})
        return Output(None, call.taint | call.stdin.taint | (FROM_DECODER if unpacks else 0))
    else:
        return None
    walker.apply_leaf(call)
    return Output(decoded, call.taint | call.stdin.taint | FROM_DECODER)


def _decode64(text: str | None, name: str) -> str | None:
    if text is None:
        return None
    try:
        raw = _HEX.sub("", text)
        data = base64.b32decode(raw) if name == "base32" else base64.b64decode(raw + "=" * (-len(raw) % 4))
        return data.decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None


def _decode_hex(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return bytes.fromhex(_HEX.sub("", text)).decode("utf-8", "replace")
    except ValueError:
        return None


def _translate(walker: Caller, call: Call) -> Output:
    walker.note(call)
    arguments = split_arguments(call.fields, {})
    text = call.stdin.text
    sets = [f.text for f in arguments.positionals]
    if text is None or not sets:
        return Output(None, call.stdin.taint)
    first = _tr_set(sets[0])
    if first is None:
        return Output(None, call.stdin.taint)
    if arguments.has("-d"):
        return Output(text.translate({ord(c): None for c in first}), call.stdin.taint | FROM_DECODER)
    if arguments.has("-s", "-c", "-C") or len(sets) < 2:
        return Output(None, call.stdin.taint)
    second = _tr_set(sets[1])
    if not second:
        return Output(None, call.stdin.taint)
    second += second[-1] * (len(first) - len(second))
    table = {ord(a): b for a, b in zip(first, second, strict=False)}
    letters = sum(1 for a in first if a.isalpha())
    taint = FROM_DECODER if letters >= 26 and first.lower()[:3] != second.lower()[:3] else 0
    return Output(text.translate(table), call.stdin.taint | taint)


def _tr_set(text: str) -> str | None:
    text = decode_ansi(text)
    if "[:" in text:
        return None
    pieces: list[str] = []
    at = 0
    while at < len(text):
        if at + 2 < len(text) and text[at + 1] == "-":
            low, high = ord(text[at]), ord(text[at + 2])
            if high - low > 512:
                return None
            pieces.extend(chr(c) for c in range(low, high + 1))
            at += 3
        else:
            pieces.append(text[at])
            at += 1
    return "".join(pieces)
