"""The hosts that Holdfast knows, and the gateway in front of them all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from holdfast.chain.chain import Chain
from holdfast.control import Control
from holdfast.hosts.afterwards import Afterwards
from holdfast.hosts.checkpoints import Checkpoints
from holdfast.hosts.claude_code import ClaudeCode
from holdfast.hosts.codex import Codex
from holdfast.hosts.gateway import Gateway, GatewaySettings
from holdfast.hosts.gemini import Gemini
from holdfast.hosts.host import Host
from holdfast.hosts.opencode import OpenCode
from holdfast.hosts.seen import Seen
from holdfast.hosts.sessions import HostSessions
from holdfast.hosts.settings_guard import why_not
from holdfast.store.home import Home, VaultError, find_vault

HOSTS: Mapping[str, Host] = {host.name: host for host in (ClaudeCode(), OpenCode(), Codex(), Gemini())}


def open_control(home: Home, **options: object) -> Control:
    """A control whose questions expire as they must in a host (PE6)."""
    control: Control

    def limit() -> float:
        return control.settings.runtime.permission.approval_timeout_seconds

    control = Control.open(home, wait_limit=limit, **options)
    return control


def gateway_for(control: Control) -> Gateway:
    """One gateway for an open control."""
    chain = Chain(control)
    sessions = HostSessions(chain, vault_of=lambda cwd: vault_of(control, cwd))
    checkpoints = Checkpoints(control.home)
    settings = GatewaySettings(
        clock=control.clock,
        new_id=control.new_id,
        settings=lambda: control.settings,
        language=control.language,
        memory=control.memory_facts,
        settings_guard=lambda path: why_not(control.home, path),
        seen=Seen(control.store, control.clock),
        before_run=checkpoints.before_run,
        after_run=checkpoints.after_run,
        afterwards=Afterwards(control.plane, chain, new_id=control.new_id, language=control.language),
    )
    return Gateway(HOSTS, control.plane, control.approvals, sessions, settings)


def vault_of(control: Control, cwd: str) -> str:
    """The vault of a host's session; where none may be (HOME, `/`), the folder itself, so that all is outside."""
    try:
        return str(find_vault(start=Path(cwd), home=control.home))
    except VaultError:
        return str(control.home.root / "no-vault")
