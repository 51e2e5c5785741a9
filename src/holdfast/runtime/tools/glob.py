"""`glob`: files by the pattern of their path."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools.arguments import number_of, optional_text, schema, text_of
from holdfast.runtime.tools.globbing import Glob, GlobError, literal_part, walk
from holdfast.runtime.tools.places import Place, find_folder

PASSED_OVER = frozenset(
    (
        ".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".ruff_cache",
        ".pytest_cache", ".agent-output", ".gradle", ".terraform", "bower_components",
    )
)  # fmt: skip
"""Folders full of what nobody wrote by hand; a pattern that names one looks into it."""
_SECONDS = 20.0


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    pattern = text_of(given, "pattern", "patterns").strip()
    folder = optional_text(given, "path", "dir", "directory", "dir_path")
    limit = number_of(given, "limit", 500, least=1, most=5000)
    literal, rest = literal_part(pattern)
    start = literal if literal.startswith("/") or not folder else f"{folder.rstrip('/') or '/'}/{literal}"
    place = find_folder(context, start or folder)
    try:
        glob = Glob.parse(rest)
    except GlobError as error:
        raise ToolFailure(f"{error}.") from None
    return await asyncio.to_thread(_find, place, glob, pattern, limit)


def _find(place: Place, glob: Glob, pattern: str, limit: int) -> ToolOutput:
    end = time.monotonic() + _SECONDS
    found: list[str] = []
    more = False
    late = False
    for relative, entry in walk(str(place.path), glob, passed_over=PASSED_OVER):
        if time.monotonic() > end:
            late = True
            break
        if len(found) >= limit:
            more = True
            break
        found.append(place.below(relative).shown + ("/" if entry.is_dir(follow_symlinks=False) else ""))
    lines = [path.encode("utf-8", "replace").decode("utf-8").replace("\n", "\\n") for path in found]
    if late:
        lines.append(f"[stopped after {_SECONDS:g} s; use a narrower pattern or a folder by `path`]")
    elif more:
        lines.append(f"[more than {limit} matches; use a narrower pattern or a folder by `path`]")
    elif not lines:
        lines.append(f"No file matches {pattern!r} below {place.named}.")
    return ToolOutput("\n".join(lines), display={"matches": len(found)})


TOOL = Tool(
    name="glob",
    description=(
        "Find files and folders by name. `**` stands for any folders, `*` for any part of a name: `**/*.py`, "
        "`src/**/test_*.ts`, `*.{md,txt}`. Paths come sorted, folders end with `/`. Folders such as .git and "
        "node_modules are passed over unless the pattern names them. To search in contents use `grep`."
    ),
    parameters=schema(
        {
            "pattern": {"type": "string", "description": "The glob, relative to `path`."},
            "path": {"type": "string", "description": "Folder to search; the working directory when absent."},
            "limit": {"type": "integer", "description": "Most paths to return.", "default": 500},
        },
        ["pattern"],
    ),
    run=run,
)
