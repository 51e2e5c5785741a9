"""The four hosts behind one small interface, so that what must hold in all of them is tested by the same words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from e2e.attached import Holdfast, Later, Watched
from e2e.cli_hosts import ClaudeCode, CliHost, Codex, Gemini, HostRun, OpenCode
from e2e.opencode_serve import OpenCodeServe
from holdfast.testing import (
    AnthropicServer,
    ChatCompletionsServer,
    GeminiServer,
    ResponsesServer,
    Script,
    ToolUse,
    Turn,
)
from holdfast.testing.model_request import ModelRequest
from holdfast.testing.scripted_server import ScriptedServer


class Scripted:
    """A host and the scripted model it talks to."""

    later: Later
    server: ScriptedServer
    host: CliHost

    @property
    def workspace(self) -> Path:
        return self.host.workspace

    @property
    def requests(self) -> list[ModelRequest]:
        return self.server.requests

    def play(self, *steps: Any, **options: Any) -> None:
        self.later.play(Script(*steps, **options))

    def calls(self, *uses: tuple[str, Any]) -> Turn:
        return Turn(tool_calls=tuple(ToolUse(name, arguments) for name, arguments in uses))


class Kit(Scripted, ABC):
    """One attached host with its scripted model; `with Kit(folder, holdfast) as kit`."""

    name: ClassVar[str]
    server_class: ClassVar[type[ScriptedServer]]
    host_class: ClassVar[type[CliHost]]

    def __init__(self, folder: Path, holdfast: Holdfast, *, deadline: int = 40, server: bool = False) -> None:
        self.later = Later()
        self.server = self.server_class(self.later, side_reply={"summary": self.summary})
        self.server.start()
        self.host = self.host_class(folder, self.server.url)
        self.it = Watched(self.host, holdfast, deadline=deadline, server=server)
        self.session = ""

    summary: ClassVar[str] = "SUMMARY"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self.server.close()
        if kind is None and self.server.errors:
            raise self.server.errors[0]

    def close(self) -> None:
        """Ends what the kit has started besides the model."""

    def run(self, prompt: str = "go") -> HostRun | None:
        """A new session, until the agent stops."""
        run = self.host.run(prompt)
        assert run.exit_code == 0, run.explain()
        return run

    def result(self, call: str) -> str:
        return self.requests[-1].result_of(call)

    # what the model can call

    @abstractmethod
    def write(self, *names: str) -> Turn: ...

    @abstractmethod
    def read(self, *names: str) -> Turn: ...

    @abstractmethod
    def bash(self, *commands: str) -> Turn: ...

    @abstractmethod
    def own(self, tool: str, **arguments: Any) -> Turn:
        """One of Holdfast's own tools, under this host's name for it."""

    def both(self, *turns: Turn) -> Turn:
        return Turn(tool_calls=tuple(call for turn in turns for call in turn.tool_calls))

    def remember(self) -> None:
        """A memory bank with one anchor."""
        details = self.workspace / "memory-bank" / "details"
        details.mkdir(parents=True, exist_ok=True)
        (details.parent / "MEMORY.md").write_text("# Project\nREMEMBER THIS\n\n## Current Focus\n- Goal: ship\n")
        (details / "patterns.md").write_text("# Patterns\n")
        (details / "progress.md").write_text("# Progress\n")


class ClaudeCodeKit(Kit):
    name = "claude-code"
    server_class = AnthropicServer
    host_class = ClaudeCode
    summary = "<summary>SUMMARY</summary>"

    def write(self, *names: str) -> Turn:
        return self.calls(*(("Write", {"file_path": str(self.workspace / n), "content": "x"}) for n in names))

    def read(self, *names: str) -> Turn:
        return self.calls(*(("Read", {"file_path": str(self.workspace / n)}) for n in names))

    def bash(self, *commands: str) -> Turn:
        return self.calls(*(("Bash", {"command": command}) for command in commands))

    def own(self, tool: str, **arguments: Any) -> Turn:
        return self.calls((f"mcp__holdfast__{tool}", arguments))


class CodexKit(Kit):
    name = "codex"
    server_class = ResponsesServer
    host_class = Codex

    def write(self, *names: str) -> Turn:
        body = "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n"
        return self.calls(*(("apply_patch", body.format(name)) for name in names))

    def read(self, *names: str) -> Turn:
        return self.bash(*(f"cat {name}" for name in names))

    def bash(self, *commands: str) -> Turn:
        return self.calls(*(("exec_command", {"cmd": command}) for command in commands))

    def own(self, tool: str, **arguments: Any) -> Turn:
        return Turn(tool_calls=(ToolUse(tool, arguments, namespace="mcp__holdfast"),))


class GeminiKit(Kit):
    name = "gemini"
    server_class = GeminiServer
    host_class = Gemini
    summary = "<state_snapshot><overall_goal>SNAPSHOT</overall_goal></state_snapshot>"

    def write(self, *names: str) -> Turn:
        return self.calls(*(("write_file", {"file_path": n, "content": "x"}) for n in names))

    def read(self, *names: str) -> Turn:
        return self.calls(*(("read_file", {"file_path": n}) for n in names))

    def bash(self, *commands: str) -> Turn:
        return self.calls(*(("run_shell_command", {"command": command}) for command in commands))

    def own(self, tool: str, **arguments: Any) -> Turn:
        return self.calls((f"mcp_holdfast_{tool}", arguments))


class OpenCodeKit(Kit):
    """One warm server for all prompts of a kit: a `run` of its own takes six seconds."""

    name = "opencode"
    server_class = ChatCompletionsServer
    host_class = OpenCode

    def __init__(self, folder: Path, holdfast: Holdfast, *, deadline: int = 40, server: bool = False) -> None:
        super().__init__(folder, holdfast, deadline=deadline, server=server)
        self._serve: OpenCodeServe | None = None

    @property
    def serve(self) -> OpenCodeServe:
        if self._serve is None:
            self._serve = OpenCodeServe(self.host).__enter__()  # type: ignore[arg-type]
        return self._serve

    def close(self) -> None:
        if self._serve is not None:
            self._serve.close()

    def run(self, prompt: str = "go") -> HostRun | None:
        self.session = self.serve.new_session()
        self.serve.prompt(self.session, prompt)
        return None

    def write(self, *names: str) -> Turn:
        return self.calls(*(("write", {"filePath": str(self.workspace / n), "content": "x"}) for n in names))

    def read(self, *names: str) -> Turn:
        return self.calls(*(("read", {"filePath": str(self.workspace / n)}) for n in names))

    def bash(self, *commands: str) -> Turn:
        return self.calls(*(("bash", {"command": command, "description": "d"}) for command in commands))

    def own(self, tool: str, **arguments: Any) -> Turn:
        return self.calls((f"holdfast_{tool}", arguments))


KITS: dict[str, type[Kit]] = {kit.name: kit for kit in (ClaudeCodeKit, OpenCodeKit, CodexKit, GeminiKit)}
