"""Questions to a person, made as a host's hook makes them, and waiting until something is so."""

import time
from collections.abc import Callable
from typing import Any

from holdfast.control import Control
from holdfast.store.interface import Approval, Session
from holdfast.testing.builders import EventBuilder, session_id

PATIENCE = 120.0


def until(condition: Callable[[], Any], what: str = "it") -> Any:
    """What the condition gives, once it gives something; generous, because machines are busy."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not happen within {PATIENCE:g} s"
        time.sleep(0.02)
    return found


def open_session(control: Control, vault: Any, *, name: str = "s1", thread: str = "t1", host: str = "claude-code"):
    where = session_id(name, agent="claude", thread=thread)
    row = Session(where, host=host, vault=str(vault), started_at=control.clock(), title="Mend the build")
    return control.store.open_session(row).id


def ask(control: Control, vault: Any, tool: str = "bash", *, where=None, call_id: str = "c1", **given) -> Approval:
    """The approval that a call of a host's agent leads to."""
    where = where or open_session(control, vault)
    event = EventBuilder(where, cwd=str(vault)).calling(
        tool, call_id=call_id, over={"id": f"ask-{call_id}", "at": control.clock()}, **given
    )
    outcome = control.plane.handle(event)
    assert outcome.decision == "ask", outcome
    approval = control.store.approval(outcome.approval)
    assert approval is not None
    return approval
