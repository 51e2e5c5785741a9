"""`ls`: what is in a folder, with kinds and sizes."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools.arguments import number_of, optional_text, schema
from holdfast.runtime.tools.places import Place, find_folder

MOST_ENTRIES = 1000
_FOLDED = frozenset((".git", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".pytest_cache", ".agent-output"))
"""Shown but not opened when going deeper."""


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    place = find_folder(context, optional_text(given, "path", "dir", "directory", "dir_path"))
    depth = number_of(given, "depth", 1, least=1, most=6)
    return await asyncio.to_thread(_list, place, depth)


def _list(place: Place, depth: int) -> ToolOutput:
    lines: list[str] = []
    more = 0
    try:
        for line in _entries(str(place.path), depth, ""):
            if len(lines) < MOST_ENTRIES:
                lines.append(line)
            else:
                more += 1
                if more > 100_000:
                    break
    except OSError as error:
        raise ToolFailure(f"{place.shown} could not be listed: {error.strerror or error}.") from None
    if not lines:
        return ToolOutput(f"[{place.shown} is empty]")
    if more:
        lines.append(f"[{more} more entries; name a folder below, or use `glob` with a pattern]")
    return ToolOutput("\n".join(lines), display={"path": place.shown, "entries": len(lines)})


def _entries(folder: str, depth: int, indent: str) -> Iterator[str]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        yield f"{indent}{_described(entry)}"
        if depth > 1 and entry.is_dir(follow_symlinks=False) and entry.name not in _FOLDED:
            try:
                yield from _entries(entry.path, depth - 1, indent + "  ")
            except OSError as error:
                yield f"{indent}  [not readable: {error.strerror or error}]"


def _described(entry: os.DirEntry[str]) -> str:
    name = entry.name.encode("utf-8", "replace").decode("utf-8").replace("\n", "\\n")
    try:
        if entry.is_symlink():
            return f"{name}  -> {Path(entry.path).readlink()}"
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return f"{name}  [cannot be looked at]"
    if stat.S_ISDIR(status.st_mode):
        return f"{name}/"
    if stat.S_ISREG(status.st_mode):
        return f"{name}  {status.st_size}"
    return f"{name}  [special file]"


TOOL = Tool(
    name="ls",
    description=(
        "List a folder: folders end with `/`, files show their size in bytes, links where they lead. "
        "`depth` goes into folders below. Hidden files are shown. To find files by name use `glob`."
    ),
    parameters=schema(
        {
            "path": {"type": "string", "description": "The folder; the working directory when absent."},
            "depth": {"type": "integer", "description": "How many levels to show, 1 to 6.", "default": 1},
        }
    ),
    run=run,
)
