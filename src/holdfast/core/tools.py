"""Which tools there are and what their input names, as data (PE1).

A host brings its own table in the same form. Whatever stands in no table is unknown, and unknown tools are asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from holdfast.core.targets import Domain

UNKNOWN_SERVER = "unknown"
"""Tools of no table are judged as `mcp:unknown/<name>`, so that a rule can name them."""
EXTERNAL_SERVER = "external"
"""External tools that declare no domain are judged as `mcp:external/<name>`."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What one tool does to what its input names.

    Keys are names in the input; `edits[].path` looks into each object of a list. A key may hold a string or a list.
    """

    name: str
    domain: Domain | Literal["none"]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """A folder that is searched; the working directory when absent."""
    globs: tuple[str, ...] = ()
    """Patterns of paths, which may lead out of the folder."""
    patches: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    url_texts: tuple[str, ...] = ()
    """Free text in which addresses stand; without any it cannot be judged."""
    queries: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    cwd_keys: tuple[str, ...] = ()
    required: tuple[tuple[str, ...], ...] = ()
    """Of each group one key must be there: otherwise the table is not about this tool, and it is asked about."""
    mcp_server: str = ""
    mcp_tool: str = ""


_FILE = ("path", "file_path", "filePath", "absolute_path", "file")
_FILES = (*_FILE, "paths", "files")
_FOLDER = ("path", "dir", "directory", "dir_path")
_SOURCE = ("source", "from", "src", "old_path", "oldPath")
_DESTINATION = ("destination", "to", "dest", "dst", "new_path", "newPath")
_PATCH = ("patch", "input", "patchText", "diff", "command")
_NOTEBOOK = ("notebook_path", "notebookPath")
_COMMAND = ("command", "cmd", "script")


def _table(specs: Iterable[ToolSpec]) -> dict[str, ToolSpec]:
    return {spec.name: spec for spec in specs}


NO_EFFECT: tuple[str, ...] = (
    # plans and to-do lists
    "manage_plan", "plan", "update_plan", "todo", "todo_read", "todo_write", "tasks_list", "tasks_get", "tasks_add",
    "tasks_update", "tasks_graph",
    # delegation: the sub-agent's own calls are judged one by one
    "task",
    # recall over the chain, always limited to the caller's own threads
    "list_session_chain", "read_session_events", "read_invocation_detail", "session_search",
    # memory: reading it, and proposals, which only a person can apply
    "memory_read", "memory_propose",
    "ask_user",
    # looking after what was started by a call that was judged itself; finding tools and instructions
    "job_output", "job_stop", "tool_search", "skill", "invalid",
)  # fmt: skip

NEUTRAL_TOOLS: Mapping[str, ToolSpec] = _table(
    [
        ToolSpec("read", "read", reads=_FILES, required=(_FILES,)),
        ToolSpec("ls", "read", folders=_FOLDER),
        ToolSpec("glob", "read", folders=_FOLDER, globs=("pattern", "patterns")),
        ToolSpec("grep", "read", folders=_FOLDER, globs=("include", "glob", "include_pattern")),
        ToolSpec("search_in_file", "read", reads=_FILES, required=(_FILES,)),
        ToolSpec("read_many", "read", globs=("include", "paths"), folders=_FOLDER, required=(("include", "paths"),)),
        ToolSpec("look_up", "read", reads=_FILES, required=(_FILES,)),
        ToolSpec("notebook_read", "read", reads=_NOTEBOOK, required=(_NOTEBOOK,)),
        ToolSpec("notebook_edit", "edit", writes=_NOTEBOOK, required=(_NOTEBOOK,)),
        ToolSpec("write", "edit", writes=_FILE, required=(_FILE,)),
        ToolSpec("edit", "edit", writes=_FILE, required=(_FILE,)),
        ToolSpec(
            "multiedit",
            "edit",
            writes=(*_FILE, "edits[].path", "edits[].file_path", "edits[].filePath"),
            required=((*_FILE, "edits[].path", "edits[].file_path", "edits[].filePath"),),
        ),
        ToolSpec("apply_patch", "edit", patches=_PATCH, required=(_PATCH,)),
        ToolSpec("move", "edit", deletes=_SOURCE, writes=_DESTINATION, required=(_SOURCE, _DESTINATION)),
        ToolSpec("delete", "edit", deletes=_FILES, required=(_FILES,)),
        ToolSpec("bash", "bash", commands=_COMMAND, cwd_keys=("workdir", "cwd", "dir_path"), required=(_COMMAND,)),
        ToolSpec(
            "web_fetch",
            "web_fetch",
            urls=("url", "urls"),
            url_texts=("prompt",),
            required=(("url", "urls", "prompt"),),
        ),
        ToolSpec("web_search", "web_search", queries=("query", "queries"), required=(("query", "queries"),)),
        *(ToolSpec(name, "none") for name in NO_EFFECT),
    ]
)


def find_tool(name: str, tools: Mapping[str, ToolSpec]) -> ToolSpec | None:
    """The tool's entry; `mcp:server/tool` and `mcp__server__tool` need none."""
    spec = tools.get(name)
    if spec is not None:
        return spec
    server = tool = ""
    if name.startswith("mcp:"):
        server, _, tool = name[4:].partition("/")
    elif name.startswith("mcp__"):
        server, _, tool = name[5:].partition("__")
    if server and tool:
        return ToolSpec(name, "mcp", mcp_server=server, mcp_tool=tool)
    return None


def declared_tool(
    name: str,
    domain: Domain | Literal["none"] | None = None,
    *,
    reads: tuple[str, ...] = (),
    writes: tuple[str, ...] = (),
    deletes: tuple[str, ...] = (),
    urls: tuple[str, ...] = (),
    queries: tuple[str, ...] = (),
    commands: tuple[str, ...] = (),
) -> ToolSpec:
    """The entry of an external tool, from what it declares; undeclared it is `mcp:external/<name>`.

    A tool that claims a domain but names no target for it cannot be judged by that domain, so it counts as undeclared;
    and only Holdfast's own tools may claim to have no effect.
    """
    targets = {
        "read": reads,
        "edit": writes + deletes,
        "bash": commands,
        "web_fetch": urls,
        "web_search": queries,
    }
    if domain is None or domain in ("mcp", "none") or not targets.get(domain):
        return ToolSpec(name, "mcp", mcp_server=EXTERNAL_SERVER, mcp_tool=name)
    needed = tuple(group for group in (reads, writes + deletes, urls, queries, commands) if group)
    return ToolSpec(
        name,
        domain,
        reads=reads,
        writes=writes,
        deletes=deletes,
        urls=urls,
        queries=queries,
        commands=commands,
        required=needed,
    )
