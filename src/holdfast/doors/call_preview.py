"""What a call is about to do, ready to be shown: a command, a diff, or its arguments.

The model chooses the path, so nothing is assumed of what lies there: it may be a pipe that never ends, a device, or a
gigabyte. Then the new text alone is shown, and said to be incomplete.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import shlex
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

LARGEST_FILE = 512 << 10
MOST_TEXT = 200_000
_MOST_COMPARISONS = 4_000_000
_CONTEXT = 3
_CONTENT_KEYS = ("content", "text", "contents", "file_text")
_PATH_KEYS = ("path", "file_path", "filePath", "file", "notebook_path")
_OLD_KEYS, _NEW_KEYS = ("old", "old_string", "old_text", "oldString"), ("new", "new_string", "new_text", "newString")
_WRITES = ("write", "create_file", "write_file", "Write")


@dataclass(frozen=True, slots=True)
class Preview:
    kind: Literal["command", "diff", "mode", "input"]
    text: str
    path: str = ""
    complete: bool = True
    """False when a diff could not be made against the file as it is."""


def preview(tool: str, given: Mapping[str, Any], current: Callable[[str], str | None] = lambda path: None) -> Preview:
    """`current` reads the file at a path of the call; None when it cannot or should not be read."""
    command = given.get("command")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = shlex.join(command)
    if isinstance(command, str):
        return Preview("command", _cut(command))
    path = _first(given, _PATH_KEYS) or ""
    for key in ("patch", "diff"):
        if isinstance(given.get(key), str):
            return Preview("diff", _cut(given[key]), path)
    edits = given.get("edits")
    if isinstance(edits, list) and edits and all(isinstance(edit, Mapping) for edit in edits):
        return _edits(edits, path, current)
    content = _first(given, _CONTENT_KEYS)
    if path and content is not None and tool in _WRITES:
        before = current(path)
        return Preview("diff", _cut(unified(before or "", content, path)), path, before is not None)
    if path and _first(given, _OLD_KEYS) is not None:
        return _edits([given], path, current)
    return Preview("input", _cut(json.dumps(dict(given), ensure_ascii=False, indent=2, default=str)), path)


def _edits(edits: Sequence[Mapping[str, Any]], path: str, current: Callable[[str], str | None]) -> Preview:
    """Each edit in the file where it is to happen, so that line numbers are the file's; else the passages alone."""
    texts: dict[str, tuple[str, str] | None] = {}
    loose: list[str] = []
    for edit in edits:
        name = _first(edit, _PATH_KEYS) or path
        old, new = _first(edit, _OLD_KEYS) or "", _first(edit, _NEW_KEYS) or ""
        if name not in texts:
            before = current(name)
            texts[name] = None if before is None else (before, before)
        known = texts[name]
        if known is not None and old and old in known[1]:
            count = -1 if edit.get("replace_all") or edit.get("replaceAll") else 1
            texts[name] = (known[0], known[1].replace(old, new, count))
        else:
            loose.append(unified(old, new, name))
    placed = [unified(*pair, name) for name, pair in texts.items() if pair is not None and pair[0] != pair[1]]
    return Preview("diff", _cut("\n".join((*placed, *loose))), path or next(iter(texts), ""), not loose)


def unified(before: str, after: str, path: str) -> str:
    """A unified diff. What is the same at both ends is put aside first: the rest is compared in bounded time."""
    old, new = before.splitlines(), after.splitlines()
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    start, end = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
    mid_old, mid_new = old[start : len(old) - end], new[start : len(new) - end]
    if len(mid_old) * len(mid_new) > _MOST_COMPARISONS:
        lines = [f"@@ -{start + 1},{len(mid_old)} +{start + 1},{len(mid_new)} @@"]
        lines += [f"-{line}" for line in mid_old] + [f"+{line}" for line in mid_new]
    else:
        lines = [_moved(line, start) for line in difflib.unified_diff(mid_old, mid_new, lineterm="", n=_CONTEXT)][2:]
    return "\n".join((f"--- {path}", f"+++ {path}", *lines)) if lines else ""


def _moved(line: str, by: int) -> str:
    """A hunk's header with the file's own line numbers."""
    if not by or not line.startswith("@@ -"):
        return line
    _, old, new, _ = line.split(" ", 3)
    return f"@@ {_shifted(old, by)} {_shifted(new, by)} @@"


def _shifted(span: str, by: int) -> str:
    number, comma, count = span[1:].partition(",")
    return f"{span[0]}{int(number) + by}{comma}{count}"


def reader(*folders: str) -> Callable[[str], str | None]:
    """Reads files named relative to the first folder that is given; a new file is an empty one."""
    base = next((folder for folder in folders if folder), "")

    def read(path: str) -> str | None:
        return read_small(os.path.join(base, path)) if base or path.startswith("/") else None

    return read


def read_small(path: str) -> str | None:
    """A text file of modest size; empty when there is none; None when it is anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        return None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST_FILE:
            return None
        with contextlib.suppress(UnicodeDecodeError):
            return os.read(descriptor, LARGEST_FILE).decode("utf-8")
        return None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def shortened(value: Any, most: int = 20_000) -> Any:
    """Arguments for the eye: long strings are cut, and say so."""
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[:most]}… (+{len(value) - most})"
    if isinstance(value, Mapping):
        return {str(key): shortened(entry, most) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(entry, most) for entry in value]
    return value


def _first(given: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((given[key] for key in keys if isinstance(given.get(key), str)), None)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\n… (+{len(text) - MOST_TEXT})"
