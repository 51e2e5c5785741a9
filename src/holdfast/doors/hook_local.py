"""A hook answered in the hook's own process, when no daemon runs: the same plane on the same store."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.hosts.gateway import Asked, environment_of
from holdfast.hosts.registry import gateway_for, open_control
from holdfast.store.config_file import Inline
from holdfast.store.home import Home

GUARD_MODE = "MEMORY_BANK_GUARD_MODE"


def answer(host: str, home: str, payload: bytes, deadline: float, surroundings: str = "") -> tuple[int, bytes, bytes]:
    # A repository can set variables for its host's hooks. None may loosen a rule, so only the strict value counts.
    environ = {GUARD_MODE: "block"} if os.environ.get(GUARD_MODE, "").lower() == "block" else {}
    control = open_control(Home(Path(home)), inline=Inline(environ=environ))
    try:
        reply = gateway_for(control).answer(host, payload, Asked(deadline, environment_of(surroundings)))
        if reply.after is not None:
            reply.after()
    finally:
        control.close()
    return reply.code, reply.out, reply.err
