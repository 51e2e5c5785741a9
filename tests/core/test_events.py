"""Events: one kind each, frozen, and every kind is known wherever kinds are listed."""

from dataclasses import FrozenInstanceError, fields
from typing import get_args, get_type_hints

import pytest

from holdfast.core import events
from holdfast.core.events import Event, ToolCall
from holdfast.testing.builders import EventBuilder, session_id

KINDS = get_args(Event)
FILLED = {
    "text": "hello",
    "call": ToolCall("c1", "read"),
    "result": events.ToolResult("done"),
    "history": (),
    "used": 1,
    "approval": "a1",
    "call_id": "c1",
    "answer": "once",
    "by": "ada",
    "to": "agent",
    "message": {"code": "plain", "params": {}, "en": "hello", "zh": "hello"},
}


def made(kind):
    needed = {field.name for field in fields(kind)} & set(FILLED)
    return kind(id="e1", at=1.0, where=session_id(), **{name: FILLED[name] for name in needed})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_is_frozen_and_says_what_it_is(kind):
    event = made(kind)
    (name,) = get_args(get_type_hints(kind, vars(events) | {"CommandReading": object})["kind"])
    assert event.kind == name
    assert not hasattr(event, "__dict__"), "slots keep a misspelt field from being set"
    with pytest.raises(FrozenInstanceError):
        event.at = 2.0


def test_each_kind_has_a_name_of_its_own_and_none_is_left_out_of_the_union():
    assert len({made(kind).kind for kind in KINDS}) == len(KINDS)
    declared = {
        thing
        for thing in vars(events).values()
        if isinstance(thing, type) and thing.__module__ == events.__name__ and hasattr(thing, "kind")
    }
    assert declared == set(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_SC1_no_event_without_its_session(kind):
    with pytest.raises(TypeError, match="where"):
        kind(id="e1", at=1.0)


def test_a_call_that_nobody_examined_is_unknown_not_harmless():
    call = EventBuilder().call("mystery")
    assert call.domain == "unknown"
    assert call.accesses == ()
    assert call.reading is None
