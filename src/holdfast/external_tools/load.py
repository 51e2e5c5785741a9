"""Finding and loading `tools/*.py`; an edited file is picked up by the next run, a broken one is named and left out."""

from __future__ import annotations

import sys
import threading
import traceback
import types
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.core.messages import Message, Phrase
from holdfast.core.settings import Profile
from holdfast.external_tools.declare import ExternalTool, line_of, tool_of

LOAD_SECONDS = 10.0
"""How long running one file's top level may take."""

OFF = Phrase(
    "external_tools.off",
    "External tools are off. Set `tools.external.enabled` to true in config.jsonc to load {folder}.",
    "外部工具未启用。在 config.jsonc 中将 `tools.external.enabled` 设为 true 即可加载 {folder}。",
)
MOBILE = Phrase(
    "external_tools.mobile",
    "External tools are for the desktop profile only; this is the mobile one.",
    "外部工具仅在桌面端可用；当前为移动端。",
)
BROKEN = Phrase(
    "external_tools.broken",
    "The tool file {place} was left out: {error}. Correct it; the next run loads it again.",
    "工具文件 {place} 已跳过：{error}。请修正，下次运行会重新加载。",
)


@dataclass(frozen=True, slots=True)
class ToolProblem:
    """A file, or one tool of it, that was left out, and why."""

    file: str
    line: int | None
    message: Message

    def __str__(self) -> str:
        return self.message.text()


@dataclass(frozen=True, slots=True)
class Loaded:
    """The external tools of one run."""

    tools: tuple[ExternalTool, ...] = ()
    problems: tuple[ToolProblem, ...] = ()
    off: Message | None = None
    """Why no file was looked at."""


@dataclass(frozen=True, slots=True)
class _File:
    stamp: tuple[int, int, int]
    tools: tuple[tuple[ExternalTool, int | None], ...] = ()
    problems: tuple[ToolProblem, ...] = ()


class ExternalTools:
    """Keeps what it loaded; each `current()` looks for edits first, so call it once at the start of a run."""

    def __init__(self, folder: Path, *, reserved: Collection[str] = (), load_seconds: float = LOAD_SECONDS) -> None:
        self._folder = folder
        self._load_seconds = load_seconds
        self._reserved = frozenset(reserved)
        """Names of the built-in tools: a file that took one would be judged by the built-in tool's rules."""
        self._files: dict[Path, _File] = {}
        self._lock = threading.Lock()

    def current(self, *, enabled: bool, profile: Profile = "desktop") -> Loaded:
        if profile != "desktop":
            return Loaded(off=MOBILE())
        if not enabled:
            return Loaded(off=OFF(folder=self._folder))
        with self._lock:
            self._files = {path: self._file(path, stamp) for path, stamp in self._found()}
            return self._chosen()

    def _found(self) -> Iterable[tuple[Path, tuple[int, int, int]]]:
        for path in sorted(self._folder.glob("*.py")):
            try:
                stat = path.stat()
            except OSError:
                continue
            if not path.name.startswith("_"):
                yield path, (stat.st_mtime_ns, stat.st_size, stat.st_ino)

    def _file(self, path: Path, stamp: tuple[int, int, int]) -> _File:
        known = self._files.get(path)
        return known if known is not None and known.stamp == stamp else load(path, stamp, self._load_seconds)

    def _chosen(self) -> Loaded:
        tools: dict[str, tuple[ExternalTool, Path]] = {}
        problems: list[ToolProblem] = []
        for path, file in self._files.items():
            problems.extend(file.problems)
            for tool, line in file.tools:
                if tool.name in self._reserved:
                    reason = f"{tool.name!r} is the name of a built-in tool; choose another"
                    problems.append(_problem(path, line, reason))
                elif tool.name in tools:
                    other = tools[tool.name][1].name
                    problems.append(
                        _problem(path, line, f"{tool.name!r} is defined in {other} already; choose another")
                    )
                else:
                    tools[tool.name] = (tool, path)
        return Loaded(tuple(tool for tool, _ in tools.values()), tuple(problems))


def load(path: Path, stamp: tuple[int, int, int], seconds: float) -> _File:
    """Run a file and collect its tools, within the deadline."""
    done: list[_File] = []
    # A file that hangs leaves its thread behind; the run goes on without it.
    thread = threading.Thread(target=lambda: done.append(_load(path, stamp)), daemon=True, name=f"load {path.name}")
    thread.start()
    thread.join(seconds)
    if done:
        return done[0]
    return _File(stamp, problems=(_problem(path, None, f"it did not finish loading within {seconds:g} s"),))


def _load(path: Path, stamp: tuple[int, int, int]) -> _File:
    try:
        found = _tools_in(_run(path))
    except BaseException as error:  # whatever the file raises, `SystemExit` too, concerns this file only
        return _File(stamp, problems=(_problem(path, _line(error, path), _words(error)),))
    tools: list[tuple[ExternalTool, int | None]] = []
    problems: list[ToolProblem] = []
    for given in found:
        try:
            tools.append((tool_of(given), line_of(given)))
        except Exception as error:
            problems.append(_problem(path, line_of(given), _words(error)))
    return _File(stamp, tuple(tools), tuple(problems))


def _run(path: Path) -> types.ModuleType:
    """The module from its source as it is now: no bytecode cache that could be older than an edit."""
    module = types.ModuleType(f"holdfast_external_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


def _tools_in(module: types.ModuleType) -> list[Any]:
    found: list[Any] = []
    create = getattr(module, "create_tools", None)
    listed = getattr(module, "tools", None)
    if listed is None and create is None:
        raise TypeError("it defines neither `tools` nor `create_tools()`")
    if listed is not None:
        found.extend(_list(listed, "`tools`"))
    if create is not None:
        found.extend(_list(create(), "what `create_tools()` returns"))
    return found


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise TypeError(f"{what} must be a list of tools, got {type(value).__name__}")
    return list(value)


def _line(error: BaseException, path: Path) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")[:1000]


def _problem(path: Path, line: int | None, error: str) -> ToolProblem:
    return ToolProblem(str(path), line, BROKEN(place=f"{path}:{line}" if line else str(path), error=error))
