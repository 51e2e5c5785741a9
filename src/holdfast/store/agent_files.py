"""Agents as Markdown: `agents/*.md`, a header in JSON5 or YAML and a body that is the system prompt (HK2).

A broken file is named with its line and left out; the others are there all the same.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from holdfast.core.decode import Path, Problem, decode
from holdfast.core.messages import Phrase
from holdfast.core.setting_keys import AGENT_ID, key_text
from holdfast.core.settings import AgentHeader, ModelParams
from holdfast.store import json5_tree
from holdfast.store.config_file import LoadedConfig
from holdfast.store.config_layers import read_text
from holdfast.store.config_problems import ConfigError, ConfigProblem
from holdfast.store.json5_tree import Entry, Json5Error, Lines

if TYPE_CHECKING:
    from yaml.nodes import Node as YamlNode

_FENCE = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)")
_CLOSING = re.compile(r"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_ID = re.compile(r"[\w][\w.-]{0,63}")

_SAME_ID = Phrase("agent.same_id", "{id} is the id of {other} already", "{id} 已是 {other} 的 id")
_NO_AGENT = Phrase(
    "agent.none_called",
    "no agent is called {chosen}; those that can be read: {names}",
    "没有名为 {chosen} 的智能体；可读取的有：{names}",
)
_NONE = Phrase("agent.none", "none", "无")
_GONE = Phrase("agent.gone", "is gone", "已不存在")
_OPEN_HEADER = Phrase(
    "agent.open_header",
    "expected `---` below the header, found the end of the file",
    "文件头下方应有 `---`，实际为文件结尾",
)
_BAD_ID = Phrase(
    "agent.bad_id",
    "expected letters, digits, `.`, `_` and `-`, got {got}",
    "只能包含字母、数字、`.`、`_` 和 `-`，实际为 {got}",
)
_NO_HEADER = Phrase(
    "agent.no_header",
    "expected YAML or JSON5; as YAML it fails: {error}",
    "应为 YAML 或 JSON5；按 YAML 读取失败：{error}",
)

# where a path of keys stands in the file, as line and column: first its key, then its value
_Places = Callable[[Path], tuple[tuple[int, int], tuple[int, int]] | None]


@dataclass(frozen=True, slots=True)
class AgentFile:
    """One agent of the user's own."""

    id: str
    name: str
    description: str
    params: ModelParams
    prompt: str
    path: FilePath


@dataclass(frozen=True, slots=True)
class AgentFiles:
    """All that could be read, by id, and what could not."""

    agents: Mapping[str, AgentFile] = field(default_factory=dict)
    problems: tuple[ConfigProblem, ...] = ()


def load_agents(folder: FilePath) -> AgentFiles:
    agents: dict[str, AgentFile] = {}
    problems: list[ConfigProblem] = []
    for path in agent_paths(folder):
        try:
            agent = read_agent(path)
        except ConfigError as error:
            problems += error.problems
            continue
        if agent.id in agents:
            other = agents[agent.id].path.name
            problems.append(ConfigProblem(str(path), _SAME_ID(id=repr(agent.id), other=other), "id", 1, 1))
            continue
        agents[agent.id] = agent
    return AgentFiles(agents, tuple(problems))


def chosen_agent_problem(config: LoadedConfig, files: AgentFiles) -> ConfigProblem | None:
    """What is wrong with `agent.id`: it must name an agent that could be read."""
    chosen = config.settings.runtime.agent.id
    if not chosen or chosen in files.agents:
        return None
    names = ", ".join(sorted(files.agents)) or _NONE()
    origin = config.origin(AGENT_ID)
    said = _NO_AGENT(chosen=repr(chosen), names=names)
    return ConfigProblem(origin.source, said, key_text(AGENT_ID), origin.line)


def agent_paths(folder: FilePath) -> list[FilePath]:
    """The files in the order of their names, so that of two with one id the same one counts every time."""
    try:
        return sorted(path for path in folder.glob("*.md") if not path.name.startswith("."))
    except OSError:
        return []


def read_agent(path: FilePath) -> AgentFile:
    """One file; raises `ConfigError`."""
    text = read_text(path)
    if text is None:
        raise ConfigError([ConfigProblem(str(path), _GONE())])
    header, prompt = _split(path, text)
    return AgentFile(
        header.id or path.stem,
        header.name or header.id or path.stem,
        header.description,
        header.model_settings,
        prompt.strip("\r\n"),
        path,
    )


def _split(path: FilePath, text: str) -> tuple[AgentHeader, str]:
    opening = _FENCE.match(text)
    if opening is None:
        return AgentHeader(), text.removeprefix("\ufeff")
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise ConfigError([ConfigProblem(str(path), _OPEN_HEADER(), "", 1, 1)])
    # everything before the header becomes blank, so that lines and columns are those of the file
    source = re.sub(r"[^\r\n]", " ", text[: opening.end()]) + text[opening.end() : closing.start()]
    data, places = _read_json5(path, source) if source.lstrip().startswith("{") else _read_yaml(path, source)
    header, problems = decode(AgentHeader, data)
    if header is not None and header.id and not _ID.fullmatch(header.id):
        problems.append(Problem(("id",), _BAD_ID(got=repr(header.id))))
    if problems or header is None:
        raise ConfigError(_located(path, problem, places) for problem in problems)
    return header, text[closing.end() :]


def _located(path: FilePath, problem: Problem, places: _Places) -> ConfigProblem:
    for depth in range(len(problem.path), -1, -1):
        if found := places(problem.path[:depth]):
            line, column = found[0 if problem.at == "key" else 1]
            return ConfigProblem(str(path), problem.message, key_text(problem.path), line, column)
    return ConfigProblem(str(path), problem.message, key_text(problem.path), 1, 1)


def _read_json5(path: FilePath, source: str) -> tuple[Any, _Places]:
    lines = Lines(source)
    try:
        tree = json5_tree.parse(source)
    except Json5Error as error:
        at = lines.at(error.offset)
        raise ConfigError([ConfigProblem(str(path), error.message, key_text(error.path), *at)]) from None

    def places(key: Path) -> tuple[tuple[int, int], tuple[int, int]] | None:
        place = json5_tree.find(tree, key)
        if place is None:
            return None
        value = place.node.start if isinstance(place, Entry) else place.start
        return lines.at(place.start), lines.at(value)

    return tree.value, places


def _read_yaml(path: FilePath, source: str) -> tuple[Any, _Places]:
    import yaml  # noqa: PLC0415 (most headers are JSON5)

    try:
        root = yaml.compose(source, Loader=yaml.SafeLoader)
        data = yaml.safe_load(source)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or str(error).splitlines()[0]
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise ConfigError([ConfigProblem(str(path), _NO_HEADER(error=said), "", *place)]) from None
    except (RecursionError, ValueError) as error:
        raise ConfigError([ConfigProblem(str(path), _NO_HEADER(error=error), "", 1, 1)]) from None
    found: dict[Path, tuple[tuple[int, int], tuple[int, int]]] = {}
    if root is not None:
        _yaml_places(path, root, (), found)
    return ({} if data is None else data), found.get


def _yaml_places(path: FilePath, node: YamlNode, key: Path, found: dict[Path, Any]) -> None:
    """Positions of the keys of mappings; deeper than two levels nothing of an agent's header goes."""
    here = (node.start_mark.line + 1, node.start_mark.column + 1)
    found.setdefault(key, (here, here))
    if not isinstance(node.value, list) or len(key) > 2:
        return
    for pair in node.value:
        if not isinstance(pair, tuple):
            continue
        name, value = pair
        inner = (*key, str(name.value))
        at = (name.start_mark.line + 1, name.start_mark.column + 1)
        if inner in found:
            said = json5_tree.TWICE(key=repr(inner[-1]), line=found[inner][0][0])
            raise ConfigError([ConfigProblem(str(path), said, key_text(inner), *at)])
        found[inner] = (at, (value.start_mark.line + 1, value.start_mark.column + 1))
        _yaml_places(path, value, inner, found)


class AgentWatcher:
    """The agents as the folder holds them now: every look costs one `stat` a file, nothing is read twice."""

    def __init__(self, folder: FilePath, on_problem: Callable[[ConfigProblem], None] | None = None) -> None:
        self.folder = folder
        self._on_problem = on_problem
        self._lock = threading.Lock()
        self._stamps: tuple[Any, ...] | None = None
        self._files = AgentFiles()

    def current(self) -> AgentFiles:
        with self._lock:
            stamps = tuple(map(_stamp, agent_paths(self.folder)))
            if stamps == self._stamps:
                return self._files
            before, self._stamps = self._files, stamps
            files = self._files = load_agents(self.folder)
        for problem in files.problems:
            if self._on_problem and problem not in before.problems:
                self._on_problem(problem)
        return files


def _stamp(path: FilePath) -> tuple[Any, ...]:
    try:
        status = path.stat()
    except OSError:
        return (path.name,)
    return (path.name, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
