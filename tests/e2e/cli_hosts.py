"""Runs the real host CLIs against a scripted model: clean environment, throw-away HOME, dummy key, loopback.

    host = ClaudeCode(tmp_path, server.url)
    host.settings.write_text(json.dumps({"hooks": {...}}))
    run = host.run("please write a.txt")
    assert run.exit_code == 0

Nothing of the machine reaches the CLI: its environment is only what stands here. Every run has a deadline,
at which its whole process group is killed. A caller puts its hooks, plugins and settings into
`host.home` and `host.workspace` itself; what a host needs to run at all is already there.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Any, ClassVar, Self

from e2e.installed_clis import CLEAN_PATH, CLIS, find_node

DEADLINE_SECONDS = 200.0
"""A start on a machine that is busy with the other tests; a run alone takes seconds."""
PLAIN_ENVIRONMENT = {"PATH": CLEAN_PATH, "LANG": "C.UTF-8", "TERM": "dumb"}


@dataclass(frozen=True, slots=True)
class HostRun:
    """How a run ended. `events` are the JSON lines of its standard output."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool
    transcript: Path | None

    @property
    def events(self) -> list[dict[str, Any]]:
        return json_lines(self.stdout)

    def events_of(self, kind: str) -> list[dict[str, Any]]:
        """The events whose `type` is this."""
        return [event for event in self.events if event.get("type") == kind]

    def explain(self) -> str:
        """For an assertion's message: how it ended and the last that was said."""
        late = ", killed at its deadline" if self.timed_out else ""
        return (
            f"exit {self.exit_code} after {self.seconds:.1f} s{late}\n"
            f"--- stdout\n{self.stdout[-3000:]}\n--- stderr\n{self.stderr[-3000:]}"
        )


def json_lines(text: str) -> list[dict[str, Any]]:
    """The lines that are JSON objects; a CLI may print others between them."""
    found = []
    for line in text.splitlines():
        try:
            parsed = json.loads(line)
        except ValueError:
            continue
        if isinstance(parsed, dict):
            found.append(parsed)
    return found


class RunningCli:
    """A CLI under way: wait() for its end, or kill() it; at the deadline its whole group is killed.

    Its output goes to files and not to pipes: a full pipe would stop a talkative CLI, and one that a
    daemon inherited would keep us waiting after the CLI has ended.
    """

    def __init__(
        self,
        host: CliHost,
        argv: Sequence[str],
        environment: Mapping[str, str],
        stdin: str | None,
        deadline: float,
    ) -> None:
        self._host = host
        self._began = time.monotonic()
        self._deadline = self._began + deadline
        self._files = [TemporaryFile() for _ in range(3)]  # noqa: SIM115 (closed in __exit__)
        given, self._stdout, self._stderr = self._files
        given.write((stdin or "").encode())
        given.seek(0)
        self.process = subprocess.Popen(
            list(argv),
            cwd=host.workspace,
            env=dict(environment),
            stdin=subprocess.DEVNULL if stdin is None else given,
            stdout=self._stdout,
            stderr=self._stderr,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self.process.wait(10)
        for file in self._files:
            file.close()

    def wait(self) -> HostRun:
        """Blocks until the CLI ends or its deadline is reached."""
        with self:
            try:
                self.process.wait(max(0.1, self._deadline - time.monotonic()))
                timed_out = False
            except subprocess.TimeoutExpired:
                timed_out = True
            seconds = time.monotonic() - self._began
            # Also what the CLI left behind: servers it started and shells in the background.
            self.kill()
            code = self.process.wait(10)
            stdout, stderr = _whole(self._stdout), _whole(self._stderr)
        return HostRun(code, stdout, stderr, seconds, timed_out, self._host.transcript(stdout))

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Signals the CLI and everything it started in its process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, how)


def _whole(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", errors="replace")


class CliHost(ABC):
    """What all hosts share; `home` and `workspace` are made under the folder given."""

    name: ClassVar[str]

    def __init__(self, folder: Path, model_url: str) -> None:
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.model_url = model_url
        self.extra_environment: dict[str, str] = {}
        self.home.mkdir(parents=True, exist_ok=True)
        self.workspace.mkdir(parents=True, exist_ok=True)
        self.prepare()

    @abstractmethod
    def prepare(self) -> None:
        """Writes the settings without which this host does not run offline."""

    def environment(self) -> dict[str, str]:
        """The whole environment of the CLI."""
        return {**PLAIN_ENVIRONMENT, "HOME": str(self.home), **self.extra_environment}

    @abstractmethod
    def argv(self, prompt: str, arguments: Iterable[str]) -> list[str]:
        """The command line that asks this prompt without a terminal."""

    @abstractmethod
    def transcript(self, stdout: str) -> Path | None:
        """Where the host itself recorded the run that printed this."""

    def start(
        self,
        prompt: str,
        *,
        arguments: Iterable[str] = (),
        stdin: str | None = None,
        deadline: float = DEADLINE_SECONDS,
    ) -> RunningCli:
        """Starts a run and comes back at once."""
        return RunningCli(self, self.argv(prompt, arguments), self.environment(), stdin, deadline)

    def run(
        self,
        prompt: str,
        *,
        arguments: Iterable[str] = (),
        stdin: str | None = None,
        deadline: float = DEADLINE_SECONDS,
    ) -> HostRun:
        """Runs the CLI to its end."""
        return self.start(prompt, arguments=arguments, stdin=stdin, deadline=deadline).wait()

    def program(self, pattern: str) -> str:
        """The installed program that fits this pattern below the CLI's own folder."""
        found = sorted((CLIS / self.name).glob(pattern))
        if not found:
            raise FileNotFoundError(f"{self.name}: no {pattern} below {CLIS / self.name}; reinstall it")
        return str(found[0])


class ClaudeCode(CliHost):
    """Claude Code in print mode. `settings` is the user's settings file; edits are accepted, Bash is allowed."""

    name = "claude-code"
    permission_mode = "acceptEdits"
    allowed_tools: tuple[str, ...] = ("Bash",)

    def prepare(self) -> None:
        self.settings = self.home / ".claude" / "settings.json"
        self.settings.parent.mkdir(exist_ok=True)

    def environment(self) -> dict[str, str]:
        return {
            **super().environment(),
            "ANTHROPIC_BASE_URL": self.model_url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            # Root may bypass permissions only where it says that it is in a sandbox.
            **({"IS_SANDBOX": "1"} if self.permission_mode == "bypassPermissions" else {}),
            **self.extra_environment,
        }

    def argv(self, prompt: str, arguments: Iterable[str]) -> list[str]:
        program = self.program("node_modules/@anthropic-ai/claude-code-*/claude")
        fixed = ["-p", "--output-format", "stream-json", "--verbose", "--permission-mode", self.permission_mode]
        allowed = ["--allowedTools", *self.allowed_tools] if self.allowed_tools else []
        # `--` because variadic flags would swallow the prompt; no prompt when it comes by stdin.
        return [program, *fixed, *arguments, *allowed, "--", *([prompt] if prompt else [])]

    def transcript(self, stdout: str) -> Path | None:
        session = next((e["session_id"] for e in json_lines(stdout) if e.get("session_id")), "none")
        return next(iter((self.home / ".claude" / "projects").glob(f"*/{session}.jsonl")), None)


class OpenCode(CliHost):
    """OpenCode's `run`. `config` is the project's opencode.json, changed by edit_config()."""

    name = "opencode"

    def prepare(self) -> None:
        self.config = self.workspace / "opencode.json"
        model = {"tool_call": True, "limit": {"context": 100_000, "output": 8_000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{self.model_url}/v1", "apiKey": "dummy"},
            "models": {"m1": model},
        }
        settings = {
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "lsp": False,
            "formatter": False,
            "enabled_providers": ["fake"],
            "model": "fake/m1",
            "small_model": "fake/m1",
            "provider": {"fake": provider},
        }
        self.config.write_text(json.dumps(settings, indent=2))

    def edit_config(self, **changes: Any) -> None:
        """Sets top-level keys of the project's configuration."""
        self.config.write_text(json.dumps({**json.loads(self.config.read_text()), **changes}, indent=2))

    def environment(self) -> dict[str, str]:
        switched_off = (
            "AUTOUPDATE",
            "MODELS_FETCH",
            "LSP_DOWNLOAD",
            "DEFAULT_PLUGINS",
            "EMBEDDED_WEB_UI",
            "CLAUDE_CODE",
            "EXTERNAL_SKILLS",
        )
        return {
            **super().environment(),
            **{f"OPENCODE_DISABLE_{name}": "1" for name in switched_off},
            # Without these two a plugin waits about 70 s for a registry that is not there.
            "npm_config_offline": "true",
            "npm_config_fetch_retries": "0",
            **self.extra_environment,
        }

    def argv(self, prompt: str, arguments: Iterable[str]) -> list[str]:
        fixed = ["run", "--print-logs", "--format", "json"]
        return [self.program("node_modules/.bin/opencode"), *fixed, *arguments, prompt]

    def transcript(self, stdout: str) -> Path | None:
        """The database that holds every session of this home."""
        database = self.home / ".local" / "share" / "opencode" / "opencode.db"
        return database if database.exists() else None


class Codex(CliHost):
    """Codex's `exec`. `config` is its config.toml; hooks go into `codex_home / "hooks.json"`."""

    name = "codex"
    trust_hooks = True

    def prepare(self) -> None:
        self.codex_home = self.home / ".codex"
        self.codex_home.mkdir(exist_ok=True)
        self.config = self.codex_home / "config.toml"
        # Plugins and apps are off because each run would look for github.com and chatgpt.com.
        self.config.write_text(f"""\
model = "gpt-5.5"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[features]
plugins = false
apps = false

[analytics]
enabled = false

[model_providers.fake]
name = "fake"
base_url = "{self.model_url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
""")

    def prepend_config(self, lines: str) -> None:
        """Adds top-level keys, which TOML wants before the first table."""
        self.config.write_text(f"{lines.rstrip()}\n{self.config.read_text()}")

    def environment(self) -> dict[str, str]:
        return {
            **super().environment(),
            "CODEX_HOME": str(self.codex_home),
            "FAKE_KEY": "dummy",
            **self.extra_environment,
        }

    def argv(self, prompt: str, arguments: Iterable[str]) -> list[str]:
        program = self.program("node_modules/@openai/codex-*/vendor/*/bin/codex")
        fixed = ["exec", "--json", "--skip-git-repo-check", "-C", str(self.workspace)]
        trust = ["--dangerously-bypass-hook-trust"] if self.trust_hooks else []
        return [program, *fixed, *trust, *arguments, prompt]

    def transcript(self, stdout: str) -> Path | None:
        thread = next((e["thread_id"] for e in json_lines(stdout) if e.get("thread_id")), "none")
        return next(iter((self.codex_home / "sessions").glob(f"*/*/*/rollout-*-{thread}.jsonl")), None)


class Gemini(CliHost):
    """Gemini CLI without a terminal. `settings` is the user's settings file, changed by edit_settings()."""

    name = "gemini"
    approval_mode = "yolo"

    def prepare(self) -> None:
        self.settings = self.home / ".gemini" / "settings.json"
        self.settings.parent.mkdir(exist_ok=True)
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "model": {"name": "gemini-2.5-flash"},
            # Without this each run would look for play.googleapis.com.
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        }
        self.settings.write_text(json.dumps(settings, indent=2))

    def edit_settings(self, **changes: Any) -> None:
        """Sets top-level keys of the user's settings."""
        self.settings.write_text(json.dumps({**json.loads(self.settings.read_text()), **changes}, indent=2))

    def environment(self) -> dict[str, str]:
        return {
            **super().environment(),
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": self.model_url,
            **self.extra_environment,
        }

    def argv(self, prompt: str, arguments: Iterable[str]) -> list[str]:
        program = [str(find_node()), self.program("node_modules/@google/gemini-cli/bundle/gemini.js")]
        fixed = ["--output-format", "stream-json", "--approval-mode", self.approval_mode]
        return [*program, *fixed, *arguments, "-p", prompt]

    def transcript(self, stdout: str) -> Path | None:
        session = next((e["session_id"] for e in json_lines(stdout) if e.get("session_id")), "none")
        chats = (self.home / ".gemini" / "tmp").glob(f"*/chats/session-*-{session[:8]}.jsonl")
        return next(iter(chats), None)
