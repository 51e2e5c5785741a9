"""A hook answered in the hook's own process, when no daemon runs: the same plane on the same store."""

from __future__ import annotations

from pathlib import Path

from holdfast.hosts.gateway import Asked, environment_of
from holdfast.hosts.registry import gateway_for, open_control
from holdfast.store.config_file import Inline
from holdfast.store.home import Home


def answer(host: str, home: str, payload: bytes, deadline: float, surroundings: str = "") -> tuple[int, bytes, bytes]:
    # A repository can set variables for its host's hooks, so nothing of the environment is taken for configuration;
    # the few that count come with the surroundings.
    control = open_control(Home(Path(home)), inline=Inline(environ={}))
    try:
        reply = gateway_for(control).answer(host, payload, Asked(deadline, environment_of(surroundings)))
        if reply.after is not None:
            reply.after()
    finally:
        control.close()
    return reply.code, reply.out, reply.err
