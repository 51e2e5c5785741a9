"""Events of other programs' transcripts, and changes that wait for open questions: both stores alike."""

from dataclasses import replace

import pytest

from holdfast.core.keys import SessionId, SessionKey, WrongThreadError
from holdfast.store.interface import IMPORTED, Approval, Change, EventRecord, PendingApproval, SealedError, StoreError
from holdfast.testing.memory_store import MemoryStore
from store.storm_steps import open_store, session_at

WHERE = SessionId(SessionKey("u", "claude-code", "t"), "s")


@pytest.fixture(params=["sqlite", "memory"])
def store(request, tmp_path):
    opened = open_store(tmp_path) if request.param == "sqlite" else MemoryStore()
    yield opened
    opened.close()


def events(*ids, where=WHERE):
    return [EventRecord(name, where, 1.0, "prompt_submitted", {"text": name}, text=name) for name in ids]


def test_SC11_known_events_are_left_out_and_numbers_go_on(store):
    store.open_session(replace(session_at(WHERE), state="sealed", seal_reason=IMPORTED))
    assert store.append_imported(WHERE, events("a", "b", "a")) == 2
    assert store.append_imported(WHERE, events("b", "c")) == 1
    assert [(record.no, record.id) for record in store.events("s")] == [(1, "a"), (2, "b"), (3, "c")]
    assert [record.id for record in store.events_since(0)] == ["a", "b", "c"]


def test_SC3_nothing_is_imported_into_a_session_of_our_own(store):
    store.open_session(session_at(WHERE))
    with pytest.raises(SealedError):
        store.append_imported(WHERE, events("a"))
    assert list(store.events("s")) == []


def test_SC1_an_import_of_another_thread_is_refused_whole(store):
    store.open_session(replace(session_at(WHERE), state="sealed", seal_reason=IMPORTED))
    elsewhere = SessionId(SessionKey("u", "claude-code", "other"), "s")
    with pytest.raises(WrongThreadError):
        store.append_imported(elsewhere, events("a", where=elsewhere))
    with pytest.raises(StoreError):
        store.append_imported(WHERE, [*events("a"), *events("b", where=elsewhere)])
    assert list(store.events("s")) == []


def test_SC3_a_quiet_change_waits_for_the_open_question(store):
    session = store.open_session(session_at(WHERE))
    store.commit(Change(WHERE, approvals=(Approval("q", WHERE, "c", 1.0, "bash", {}),)))
    with pytest.raises(PendingApproval):
        store.update_session("s", session.version, quiet=True, state="sealing")
    assert store.session("s").state == "active"
    store.settle_approval("q", status="answered", at=2.0, answer="once", by="me")
    assert store.update_session("s", session.version, quiet=True, state="sealing").state == "sealing"
