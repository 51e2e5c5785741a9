"""A hook answered in the hook's own process, when no daemon runs: the same plane on the same store."""

from __future__ import annotations

from pathlib import Path

from holdfast.control import Control
from holdfast.hosts.registry import gateway_for
from holdfast.store.home import Home

MARGIN_SECONDS = 5.0
"""Kept back from the host's own deadline, so that our answer arrives before the host gives up and goes on."""


def answer(host: str, home: str, payload: bytes, deadline: float) -> tuple[int, bytes, bytes]:
    control = Control.open(Home(Path(home)))
    try:
        patience = max(0.0, deadline - MARGIN_SECONDS)
        reply = gateway_for(control, patience=patience).answer(host, payload)
    finally:
        control.close()
    return reply.code, reply.out, reply.err
