"""What in a host's own settings would switch our hooks off, and which sandbox it brings along: for the doctor."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.core.health import RUN, Health
from holdfast.core.messages import Message, Phrase
from holdfast.hosts.attach.codex import CodexInstaller, trust
from holdfast.hosts.attach.ours import MCP_NAME, is_our_server
from holdfast.hosts.attach.spec import Installer, Spec
from holdfast.store.json5_tree import Json5Error, parse

_ASK_SECONDS = 20.0

_ALL_OFF = Phrase("doctor.all_hooks_off", "{path} switches every hook off", "{path} 关闭了所有钩子")
_REMOVE = Phrase("doctor.remove_key", "remove {key} from it", "从中移除 {key}")
_MANAGED_ONLY = Phrase("doctor.managed_only", "{path} allows managed hooks only", "{path} 只允许受管理的钩子")
_ASK_MANAGER = Phrase(
    "doctor.ask_manager",
    "have whoever manages this machine add Holdfast's hooks there",
    "请此机器的管理者在那里加入 Holdfast 的钩子",
)
_OWN_FOR_COMMANDS = Phrase("doctor.own_for_commands", "its own, for commands", "自带的沙箱，用于命令")
_HOOKS_OFF = Phrase("doctor.hooks_off", "{path} switches hooks off", "{path} 关闭了钩子")
_REMOVE_FEATURE = Phrase(
    "doctor.remove_feature", "remove `hooks = false` from [features]", "从 [features] 中移除 `hooks = false`"
)
_TYPED_INTO = Phrase(
    "doctor.typed_into",
    "a running terminal can be typed into, and that reaches no hook",
    "可以向运行中的终端输入，而这不经过任何钩子",
)
_NO_TTY = Phrase(
    "doctor.no_tty",
    "run: holdfast attach codex (it sets unified_exec_tty = false)",
    "运行：`holdfast attach codex`（它会设置 unified_exec_tty = false）",
)
_OWN = Phrase("doctor.own_sandbox", "its own: {kind}", "自带的沙箱：{kind}")
_AT_START = Phrase("doctor.chosen_at_start", "chosen at each start", "每次启动时选择")
_NO_SANDBOX = Phrase(
    "doctor.host_no_sandbox",
    "none: commands run with all of your rights once they are allowed",
    "没有：命令一旦获准，便以你的全部权限运行",
)
_BY_FILE = Phrase("doctor.by_file", "by config.toml", "依据 config.toml")
_BY_CODEX = Phrase("doctor.by_codex", "says Codex itself", "由 Codex 自己告知")
_DISTRUSTED = Phrase(
    "doctor.distrusted",
    "{count} of our hooks are not trusted ({source}), so Codex skips them: {first}",
    "有 {count} 个 Holdfast 的钩子未受信任（{source}），因此 Codex 会跳过：{first}",
)
_TRUST_THEM = Phrase(
    "doctor.trust_them",
    "run: holdfast attach codex, or trust them in /hooks",
    "运行：`holdfast attach codex`，或在 /hooks 中信任它们",
)
_TRUSTED = Phrase(
    "doctor.trusted", "all {count} hooks are trusted ({source})", "全部 {count} 个钩子均受信任（{source}）"
)
_OURS_OFF = Phrase("doctor.our_hooks_off", "{path} switches Holdfast's hooks off", "{path} 关闭了 Holdfast 的钩子")
_PURE = Phrase("doctor.pure", "OPENCODE_PURE is set: no plugin is loaded", "设置了 OPENCODE_PURE：不会加载任何插件")
_UNSET = Phrase("doctor.unset_pure", "unset OPENCODE_PURE", "取消设置 OPENCODE_PURE")
_BARE = Phrase("doctor.bare", "{name} is set: no hook is called", "设置了 {name}：不会调用任何钩子")
_UNSET_VARIABLE = Phrase("doctor.unset", "unset {name}", "取消设置 {name}")
_CONTAINER = Phrase(
    "doctor.container",
    "it runs in a container ({kind}), where the hooks' program is not: no call is judged there",
    "它在容器（{kind}）中运行，其中没有钩子程序：那里的调用都不会被裁决",
)
_NO_CONTAINER = Phrase(
    "doctor.no_container",
    "take tools.sandbox out of its settings and unset GEMINI_SANDBOX; Holdfast's rules take its place",
    "从其设置中移除 tools.sandbox，并取消设置 GEMINI_SANDBOX；由 Holdfast 的规则代替",
)
_STRANGE_SERVER = Phrase(
    "doctor.strange_server",
    "{path} brings an MCP server of its own that is called {name}",
    "{path} 带来一个名为 {name} 的 MCP 服务器",
)
_RENAME = Phrase(
    "doctor.rename_server",
    "rename or remove it; its tools would be taken for Holdfast's",
    "请重命名或移除它；它的工具会被当作 Holdfast 的",
)


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
            yield Health("claude-code", "problem", _ALL_OFF(path=path), _REMOVE(key="disableAllHooks"))
        if data.get("allowManagedHooksOnly") is True:
            yield Health("claude-code", "problem", _MANAGED_ONLY(path=path), _ASK_MANAGER())
        sandbox = sandbox or _at(data, "sandbox", "enabled") is True
    if spec.environ.get("CLAUDE_CODE_SIMPLE", "").lower() in ("1", "true"):
        name = "CLAUDE_CODE_SIMPLE"
        yield Health("claude-code", "problem", _BARE(name=name), _UNSET_VARIABLE(name=name))
    yield from _strange_server("claude-code", spec.vault / ".mcp.json", ("mcpServers", MCP_NAME))
    yield _sandbox("claude-code", _OWN_FOR_COMMANDS() if sandbox else None)


def codex(installer: Installer, spec: Spec, program: str | None) -> Iterator[Health]:
    config = _toml(installer.config_folder(spec) / "config.toml")
    if _at(config, "features", "hooks") is False:
        yield Health("codex", "problem", _HOOKS_OFF(path="config.toml"), _REMOVE_FEATURE())
    if _at(config, "features", "unified_exec_tty") is not False:
        yield Health("codex", "problem", _TYPED_INTO(), _NO_TTY())
    yield from _trust(spec, config, program)
    mode = str(config.get("sandbox_mode") or "")
    yield _sandbox("codex", None if mode == "danger-full-access" else _OWN(kind=mode or _AT_START()))


def _trust(spec: Spec, config: Mapping[str, Any], program: str | None) -> Iterator[Health]:
    """Codex skips a hook that it does not trust without a word: ask it, or compare the hashes ourselves."""
    hooks = CodexInstaller().hooks_file(spec)
    wanted = trust(hooks, _json(hooks))
    states = _at(config, "hooks", "state") or {}
    by_us = {key for key, value in wanted.items() if (states.get(key) or {}).get("trusted_hash") == value}
    said = _hooks_list(program, spec) if program else None
    if said is None:
        distrusted = sorted(set(wanted) - by_us)
        source = _BY_FILE()
    else:
        trusted = {hook.get("key") for hook in said if hook.get("trustStatus") == "trusted" and hook.get("enabled")}
        distrusted = sorted(set(wanted) - trusted)
        source = _BY_CODEX()
    if distrusted:
        what = _DISTRUSTED(count=len(distrusted), source=source, first=distrusted[0])
        yield Health("codex", "problem", what, _TRUST_THEM())
    elif wanted:
        yield Health("codex", "ok", _TRUSTED(count=len(wanted), source=source))


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
    sandbox = spec.environ.get("GEMINI_SANDBOX", "")
    for path in (installer.config_folder(spec) / "settings.json", spec.vault / ".gemini" / "settings.json"):
        data = _json(path)
        if _at(data, "hooksConfig", "enabled") is False or _at(data, "tools", "enableHooks") is False:
            yield Health("gemini", "problem", _HOOKS_OFF(path=path), _REMOVE(key="hooksConfig.enabled"))
        disabled = _at(data, "hooksConfig", "disabled") or []
        if isinstance(disabled, list) and "holdfast" in disabled:
            yield Health("gemini", "problem", _OURS_OFF(path=path), RUN(command="/hooks enable holdfast"))
        sandbox = sandbox or str(_at(data, "tools", "sandbox") or "")
    yield from _strange_server("gemini", spec.vault / ".gemini" / "settings.json", ("mcpServers", MCP_NAME))
    if sandbox.lower() in ("", "0", "false"):
        yield _sandbox("gemini", None)
    elif sandbox == "sandbox-exec" or (sandbox.lower() in ("1", "true") and sys.platform == "darwin"):
        yield _sandbox("gemini", _OWN(kind=sandbox))
    else:
        yield Health("gemini", "problem", _CONTAINER(kind=sandbox), _NO_CONTAINER())


def opencode(installer: Installer, spec: Spec, program: str | None) -> Iterator[Health]:
    if spec.environ.get("OPENCODE_PURE", "").lower() in ("1", "true"):
        yield Health("opencode", "problem", _PURE(), _UNSET())
    for name in ("opencode.json", "opencode.jsonc"):
        yield from _strange_server("opencode", spec.vault / name, ("mcp", MCP_NAME))
    yield _sandbox("opencode", None)


def _strange_server(host: str, path: Path, keys: tuple[str, ...]) -> Iterator[Health]:
    """A repository may bring a server that bears our name: its tools would be taken for ours."""
    there = _at(_json(path), *keys)
    if there is not None and not is_our_server(there):
        yield Health(host, "problem", _STRANGE_SERVER(path=path, name=MCP_NAME), _RENAME())


def _sandbox(host: str, kind: Message | None) -> Health:
    return Health(f"{host} sandbox", "ok", kind or _NO_SANDBOX())


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
