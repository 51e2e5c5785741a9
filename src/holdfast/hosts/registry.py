"""The hosts that Holdfast knows, and the gateway in front of them all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from holdfast.control import Control
from holdfast.hosts.claude_code import ClaudeCode
from holdfast.hosts.gateway import Gateway
from holdfast.hosts.host import Host
from holdfast.hosts.opencode import OpenCode
from holdfast.store.home import VaultError, find_vault

HOSTS: Mapping[str, Host] = {host.name: host for host in (ClaudeCode(), OpenCode())}


def gateway_for(control: Control, *, patience: float | None = None) -> Gateway:
    """One gateway for an open control; `patience` caps how long a hook waits for a person."""

    def seconds() -> float:
        configured = control.settings.runtime.permission.approval_timeout_seconds
        return configured if patience is None else min(configured, patience)

    return Gateway(
        HOSTS,
        control.plane,
        control.approvals,
        vault_of=lambda cwd: vault_of(control, cwd),
        clock=control.clock,
        new_id=control.new_id,
        user=control.user,
        patience=seconds,
        interactive=lambda: not control.settings.runtime.permission.unattended,
    )


def vault_of(control: Control, cwd: str) -> str:
    """The vault of a host's session; where none may be (HOME, `/`), the folder itself, so that all is outside."""
    try:
        return str(find_vault(start=Path(cwd), home=control.home))
    except VaultError:
        return str(control.home.root / "no-vault")
