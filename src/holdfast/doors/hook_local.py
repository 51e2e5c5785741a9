"""A hook answered in the hook's own process, when no daemon runs: the same plane on the same store."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.control import Control
from holdfast.hosts.registry import gateway_for
from holdfast.store.config_file import Inline
from holdfast.store.home import Home

MARGIN_SECONDS = 5.0
"""Kept back from the host's own deadline, so that our answer arrives before the host gives up and goes on."""


def answer(host: str, home: str, payload: bytes, deadline: float) -> tuple[int, bytes, bytes]:
    # A repository can set variables for its host's hooks: none of them may loosen a rule.
    environ = {name: os.environ[name] for name in ("MEMORY_BANK_GUARD_MODE",) if name in os.environ}
    control = Control.open(Home(Path(home)), inline=Inline(environ=environ))
    try:
        patience = max(0.0, deadline - MARGIN_SECONDS)
        reply = gateway_for(control, patience=patience).answer(host, payload)
    finally:
        control.close()
    return reply.code, reply.out, reply.err
