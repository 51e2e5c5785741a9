"""What in a host's own settings would switch our hooks off, and which sandbox it brings along: for the doctor."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.core.health import Health
from holdfast.hosts.attach.codex import CodexInstaller, trust
from holdfast.hosts.attach.ours import MCP_NAME, is_our_server
from holdfast.hosts.attach.spec import Installer, Spec
from holdfast.store.json5_tree import Json5Error, parse

_ASK_SECONDS = 20.0


def claude_code(installer: Installer, spec: Spec, program: str | None) -> Iterator[Health]:
    places = (
        installer.config_folder(spec) / "settings.json",
        spec.vault / ".claude" / "settings.json",
        spec.vault / ".claude" / "settings.local.json",
        Path("/etc/claude-code/managed-settings.json"),
        Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
    )
    sandbox = False
    for path in places:
        data = _json(path)
        if data.get("disableAllHooks") is True:
            yield Health("claude-code", "problem", f"{path} switches every hook off", "remove disableAllHooks from it")
        if data.get("allowManagedHooksOnly") is True:
            fix = "have whoever manages this machine add Holdfast's hooks there"
            yield Health("claude-code", "problem", f"{path} allows managed hooks only", fix)
        sandbox = sandbox or _at(data, "sandbox", "enabled") is True
    yield from _strange_server("claude-code", spec.vault / ".mcp.json", ("mcpServers", MCP_NAME))
    yield _sandbox("claude-code", "its own, for commands" if sandbox else "")


def codex(installer: Installer, spec: Spec, program: str | None) -> Iterator[Health]:
    config = _toml(installer.config_folder(spec) / "config.toml")
    if _at(config, "features", "hooks") is False:
        yield Health("codex", "problem", "config.toml switches hooks off", "remove `hooks = false` from [features]")
    if _at(config, "features", "unified_exec_tty") is not False:
        what = "a running terminal can be typed into, and that reaches no hook"
        yield Health("codex", "problem", what, "run: holdfast attach codex (it sets unified_exec_tty = false)")
    yield from _trust(spec, config, program)
    mode = str(config.get("sandbox_mode") or "chosen at each start")
    yield _sandbox("codex", "" if mode == "danger-full-access" else f"its own: {mode}")


def _trust(spec: Spec, config: Mapping[str, Any], program: str | None) -> Iterator[Health]:
    """Codex skips a hook that it does not trust without a word: ask it, or compare the hashes ourselves."""
    hooks = CodexInstaller().hooks_file(spec)
    wanted = trust(hooks, _json(hooks))
    states = _at(config, "hooks", "state") or {}
    by_us = {key for key, value in wanted.items() if (states.get(key) or {}).get("trusted_hash") == value}
    said = _hooks_list(program, spec) if program else None
    if said is None:
        distrusted = sorted(set(wanted) - by_us)
        source = "by config.toml"
    else:
        trusted = {hook.get("key") for hook in said if hook.get("trustStatus") == "trusted" and hook.get("enabled")}
        distrusted = sorted(set(wanted) - trusted)
        source = "says Codex itself"
    if distrusted:
        what = f"{len(distrusted)} of our hooks are not trusted ({source}), so Codex skips them: {distrusted[0]}"
        yield Health("codex", "problem", what, "run: holdfast attach codex, or trust them in /hooks")
    elif wanted:
        yield Health("codex", "ok", f"all {len(wanted)} hooks are trusted ({source})")


def _hooks_list(program: str, spec: Spec) -> list[Mapping[str, Any]] | None:
    """What `hooks/list` of the app server says; None when it cannot be asked."""
    try:
        server = subprocess.Popen(
            [program, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=dict(spec.environ),
        )
    except OSError:
        return None
    guard = threading.Timer(_ASK_SECONDS, server.kill)
    guard.start()
    try:
        return _asked(server, str(spec.vault))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    finally:
        guard.cancel()
        server.kill()
        server.wait()
        for stream in (server.stdin, server.stdout):
            with contextlib.suppress(OSError):  # it may have gone before it read what it was asked
                if stream is not None:
                    stream.close()


def _asked(server: subprocess.Popen[str], cwd: str) -> list[Mapping[str, Any]] | None:
    hello = {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "holdfast", "version": "0"}}}
    ask = {"id": 2, "method": "hooks/list", "params": {"cwds": [cwd]}}
    assert server.stdin is not None
    assert server.stdout is not None
    for message in (hello, {"method": "initialized"}, ask):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == 2:
            return [hook for entry in answer["result"]["data"] for hook in entry["hooks"]]
    return None


def gemini(installer: Installer, spec: Spec, program: str | None) -> Iterator[Health]:
    sandbox = ""
    for path in (installer.config_folder(spec) / "settings.json", spec.vault / ".gemini" / "settings.json"):
        data = _json(path)
        if _at(data, "hooksConfig", "enabled") is False or _at(data, "tools", "enableHooks") is False:
            yield Health("gemini", "problem", f"{path} switches hooks off", "remove hooksConfig.enabled from it")
        disabled = _at(data, "hooksConfig", "disabled") or []
        if isinstance(disabled, list) and "holdfast" in disabled:
            yield Health("gemini", "problem", f"{path} switches Holdfast's hooks off", "run /hooks enable holdfast")
        sandbox = sandbox or str(_at(data, "tools", "sandbox") or "")
    yield from _strange_server("gemini", spec.vault / ".gemini" / "settings.json", ("mcpServers", MCP_NAME))
    yield _sandbox("gemini", f"its own: {sandbox}" if sandbox and sandbox != "False" else "")


def opencode(installer: Installer, spec: Spec, program: str | None) -> Iterator[Health]:
    if spec.environ.get("OPENCODE_PURE", "").lower() in ("1", "true"):
        yield Health("opencode", "problem", "OPENCODE_PURE is set: no plugin is loaded", "unset OPENCODE_PURE")
    for name in ("opencode.json", "opencode.jsonc"):
        yield from _strange_server("opencode", spec.vault / name, ("mcp", MCP_NAME))
    yield _sandbox("opencode", "")


def _strange_server(host: str, path: Path, keys: tuple[str, ...]) -> Iterator[Health]:
    """A repository may bring a server that bears our name: its tools would be taken for ours."""
    there = _at(_json(path), *keys)
    if there is not None and not is_our_server(there):
        what = f"{path} brings an MCP server of its own that is called {MCP_NAME}"
        yield Health(host, "problem", what, "rename or remove it; its tools would be taken for Holdfast's")


def _sandbox(host: str, kind: str) -> Health:
    return Health(f"{host} sandbox", "ok", kind or "none: commands run with all of your rights once they are allowed")


def _json(path: Path) -> Mapping[str, Any]:
    try:
        data = parse(path.read_text(encoding="utf-8", errors="replace")).value
    except (OSError, Json5Error):
        return {}
    return data if isinstance(data, dict) else {}


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, tomllib.TOMLDecodeError):
        return {}


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


LOOK: Mapping[str, Callable[[Installer, Spec, str | None], Iterator[Health]]] = {
    "claude-code": claude_code,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
}
