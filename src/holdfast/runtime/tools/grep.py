"""`grep`: lines that match an expression, over many files; by ripgrep where it is installed, else by ourselves.

Files that a rule would ask about (`.env`, keys) are searched but never shown: whoever needs one reads it by name.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.runtime.tool import Tool, ToolContext, ToolFailure, ToolOutput
from holdfast.runtime.tools import grep_by_ripgrep, grep_by_us
from holdfast.runtime.tools.arguments import choice_of, flag_of, number_of, optional_text, schema, text_of
from holdfast.runtime.tools.globbing import Glob, GlobError
from holdfast.runtime.tools.grep_query import Found, Query
from holdfast.runtime.tools.judged import may_read
from holdfast.runtime.tools.places import Place, find, missing

_LONGEST_LINE = 400


async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
    place = find(context, optional_text(given, "path", "dir", "directory", "dir_path") or ".")
    if not place.path.exists():
        raise ToolFailure(missing(place))
    query = Query(
        pattern=text_of(given, "pattern"),
        literal=flag_of(given, "literal"),
        ignore_case=flag_of(given, "ignore_case"),
        context=number_of(given, "context", 0, least=0, most=50),
        include=(optional_text(given, "include", "glob") or "").strip(),
        everything=flag_of(given, "everything"),
    )
    if query.include:
        try:
            Glob.parse(query.include)
        except GlobError as error:
            raise ToolFailure(f"include: {error}.") from None
    mode = choice_of(given, "output", ("lines", "files", "count"))
    limit = number_of(given, "limit", 200, least=1, most=5000)
    program = shutil.which("rg")
    if program is not None:
        found = await asyncio.to_thread(grep_by_ripgrep.search, program, place, query, limit)
    else:
        found = await asyncio.to_thread(grep_by_us.search, place, query, limit)
    return _told(context, place, query, found, mode, limit)


@dataclass(slots=True)
class _Answer:
    lines: list[str] = field(default_factory=list)
    matches: int = 0
    files: int = 0
    hidden: set[str] = field(default_factory=set)


def _told(context: ToolContext, place: Place, query: Query, found: Found, mode: str, limit: int) -> ToolOutput:
    answer = _Answer()
    for path, lines in found.by_file().items():
        file = place if not path else place.below(path)
        if path and not may_read(context, file, place):
            answer.hidden.add(file.shown)
            continue
        count = sum(1 for line in lines if line.matched)
        answer.matches += count
        answer.files += 1
        if mode == "files":
            answer.lines.append(file.shown)
        elif mode == "count":
            answer.lines.append(f"{file.shown}: {count}")
        else:
            _add_lines(answer, file, lines, query)
    notes = []
    if found.late:
        notes.append("[the search was stopped at its deadline; name a folder or `include` a narrower glob]")
    elif found.more:
        notes.append(f"[only the first {limit} matches; name a folder, `include` a glob, or raise `limit`]")
    if answer.hidden:
        names = ", ".join(sorted(answer.hidden)[:5])
        notes.append(f"[matches not shown because a rule guards the file ({len(answer.hidden)}): {names}]")
    if not answer.lines:
        answer.lines.append(f"No matches for {query.pattern!r} in {place.named}.")
    return ToolOutput("\n".join([*answer.lines, *notes]), display={"matches": answer.matches, "files": answer.files})


def _add_lines(answer: _Answer, file: Place, lines: list[Any], query: Query) -> None:
    last = 0
    for line in lines:
        if query.context and answer.lines and (last == 0 or line.number > last + 1):
            answer.lines.append("--")
        last = line.number
        text = line.text if len(line.text) <= _LONGEST_LINE else f"{line.text[:_LONGEST_LINE]} [...]"
        answer.lines.append(
            f"{file.shown}{':' if line.matched else '-'}{line.number}{':' if line.matched else '-'}{text}"
        )


TOOL = Tool(
    name="grep",
    description=(
        "Search file contents with a regular expression (no lookaround or backreferences). Returns `path:line:text`. "
        "`path` narrows it to a folder or file, `include` to names (`*.py`, `src/**/*.ts`). `output` may be `files` or "
        "`count`. Ignored files (.gitignore) and binary files are left out; `everything` searches ignored ones too."
    ),
    parameters=schema(
        {
            "pattern": {"type": "string", "description": "Regular expression, or plain text with `literal`."},
            "path": {"type": "string", "description": "Folder or file to search; the working directory when absent."},
            "include": {"type": "string", "description": "Glob of the files to search, such as *.py."},
            "literal": {"type": "boolean", "description": "Take the pattern as plain text.", "default": False},
            "ignore_case": {"type": "boolean", "default": False},
            "context": {"type": "integer", "description": "Lines to show around each match.", "default": 0},
            "output": {"type": "string", "enum": ["lines", "files", "count"], "default": "lines"},
            "limit": {"type": "integer", "description": "Most matching lines to return.", "default": 200},
            "everything": {
                "type": "boolean",
                "description": "Search ignored files too.",
                "default": False,
            },
        },
        ["pattern"],
    ),
    run=run,
)
