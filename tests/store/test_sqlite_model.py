"""The SQLite store and the one in memory, side by side through random steps: they answer alike."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from holdfast.core.keys import SessionId, SessionKey, WrongThreadError
from holdfast.store.interface import Approval, Change, EventRecord, Remembered, StateRow, StoreError
from holdfast.testing.memory_store import MemoryStore
from store.storm_steps import open_store, session_at

pytestmark = pytest.mark.slow

THREADS = [SessionKey(user, "agent", thread) for user in ("a", "b") for thread in ("t", "u")]
SESSIONS = ["s1", "s2", "s3", "s4"]
places = st.builds(SessionId, st.sampled_from(THREADS), st.sampled_from(SESSIONS), st.sampled_from(["", "", "helper"]))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
data = st.dictionaries(st.text(max_size=4), json_values, max_size=3)
storable = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


class TwoStores(RuleBasedStateMachine):
    approvals = Bundle("approvals")

    @initialize()
    def begin(self):
        self.home = tempfile.TemporaryDirectory(prefix="holdfast-model-")
        self.real = open_store(Path(self.home.name))
        self.model = MemoryStore()
        self.count = 0
        for key, name in zip(THREADS, SESSIONS, strict=True):
            self.open_session(SessionId(key, name), 0, "active")

    def teardown(self):
        if hasattr(self, "real"):
            assert self.real.verify_audit().ok
            self.real.close()
            self.home.cleanup()

    def both(self, step):
        """Do the same to both; what one refuses the other refuses for the same reason."""
        answers = []
        for store in (self.real, self.model):
            try:
                answers.append(("answer", step(store)))
            except (StoreError, WrongThreadError) as error:
                answers.append(("refusal", type(error)))
        assert answers[0] == answers[1]
        return answers[0]

    def at_home(self, where, stray):
        """Mostly the thread that the session is really of: a step that is always refused proves little."""
        known = self.model.session(where.session)
        return SessionId(known.id.key, where.session, where.subagent) if known and stray else where

    def next_id(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    @rule(where=places, started=st.integers(0, 5), state=st.sampled_from(["active", "active", "sealed"]))
    def open_session(self, where, started, state):
        session = replace(session_at(where), started_at=float(started) + self.count / 1000, state=state)
        self.count += 1
        self.both(lambda store: store.open_session(session))

    @rule(name=st.sampled_from(SESSIONS), state=st.sampled_from(["active", "sealing", "sealed"]), off=st.integers(0, 9))
    def change_session(self, name, state, off):
        known = self.model.session(name)
        version = (known.version if known else 1) - (off == 0)
        self.both(lambda store: store.update_session(name, version, state=state, used=off))

    @rule(
        where=places, stray=st.integers(0, 9), texts=st.lists(storable, max_size=3), body=data, audit=st.integers(0, 2)
    )
    def record(self, where, stray, texts, body, audit):
        where = self.at_home(where, stray)
        events = tuple(
            EventRecord(self.next_id("e"), where, 1.0, f"k{len(text) % 2}", body, "run", text, "bash", (text,))
            for text in texts
        )
        entries = tuple(
            {"eventId": self.next_id("a"), "sessionId": where.session, **({"callId": f"c{n}"} if n else {})}
            for n in range(audit)
        )
        self.both(lambda store: store.commit(Change(where, events=events, audit=entries)))
        for name in ("c1", "a1", "nothing"):
            self.both(lambda store, name=name: [entry["eventId"] for _, entry in store.audit_naming(name)])

    @rule(where=places, state=data, stale=st.integers(0, 2))
    def decide(self, where, state, stale):
        where = self.at_home(where, stray=1)
        version = self.model.state(where).version - (stale == 0)
        event = EventRecord(self.next_id("e"), where, 1.0, "k0", {})
        self.both(lambda store: store.commit(Change(where, events=(event,), state=StateRow(version, state))))

    @rule(where=places, call=st.sampled_from(["c1", "c2"]), fingerprint=st.sampled_from(["f", "g"]), outcome=data)
    def remember(self, where, call, fingerprint, outcome):
        where = self.at_home(where, stray=1)
        event = EventRecord(self.next_id("e"), where, 1.0, "k0", {})
        decision = Remembered(call, fingerprint, outcome)
        self.both(lambda store: store.commit(Change(where, events=(event,), remember=decision)))

    @rule(target=approvals, where=places, stray=st.integers(0, 9))
    def ask(self, where, stray):
        where = self.at_home(where, stray)
        approval = Approval(self.next_id("q"), where, "c", float(self.count), "bash", {"input": "x"})
        self.both(lambda store: store.commit(Change(where, approvals=(approval,))))
        return approval.id

    @rule(approval=approvals, status=st.sampled_from(["answered", "expired"]))
    def settle(self, approval, status):
        self.both(lambda store: store.settle_approval(approval, status=status, at=2.0, by="me"))

    @rule(where=places, name=st.sampled_from(["x", "y"]), content=st.none() | st.binary(max_size=5))
    def snapshot(self, where, name, content):
        where = self.at_home(where, stray=1)
        session = self.model.session(where.session)
        if session is None or session.state == "sealed":
            return
        if content is None:
            self.both(lambda store: store.take_snapshot(where, name))
        else:
            self.both(lambda store: store.save_snapshot(where, name, content, 1.0))

    @rule(key=storable, value=json_values)
    def note(self, key, value):
        self.both(lambda store: store.note(key, value))
        self.both(lambda store: store.noted(key))
        self.both(lambda store: dict(store.notes(key[:1])))

    @rule(key=st.sampled_from("ab"), expected=st.none() | json_values, value=json_values, right=st.booleans())
    def swap_note(self, key, expected, value, right):
        wanted = self.model.noted(key) if right else expected
        self.both(lambda store: store.swap_note(key, wanted, value))
        self.both(lambda store: store.noted(key))

    @rule(name=st.sampled_from(SESSIONS), really=st.integers(0, 4))
    def delete(self, name, really):
        if not really:
            self.both(lambda store: store.delete_session(name, by="me", at=3.0))

    @rule()
    def open_again(self):
        self.real.close()
        self.real = open_store(Path(self.home.name))

    @rule(
        seq=st.integers(0, 10),
        before=st.none() | st.integers(0, 10),
        limit=st.integers(1, 5),
        kinds=st.none() | st.just(["k1"]),
        newest=st.booleans(),
    )
    def read_pages(self, seq, before, limit, kinds, newest):
        self.both(lambda store: list(store.events_since(seq, limit)))
        for name in SESSIONS:
            self.both(
                lambda store: list(
                    store.events(name, after=seq, before=before, limit=limit, kinds=kinds, newest_first=newest)  # noqa: B023 (called at once)
                )
            )

    @invariant()
    def the_same_everywhere(self):
        if not hasattr(self, "real"):
            return
        self.both(lambda store: list(store.sessions()))
        self.both(lambda store: list(store.events_since(0)))
        self.both(lambda store: list(store.approvals()))
        self.both(lambda store: list(store.deletions()))
        for key in THREADS:
            chain = self.both(lambda store: list(store.chain(key)))[1]  # noqa: B023 (called at once)
            assert sum(session.state != "sealed" for session in chain) <= 1
        for name in SESSIONS:
            for subagent in ("", "helper"):
                where = SessionId(THREADS[0], name, subagent)
                self.both(lambda store: store.state(where))  # noqa: B023 (called at once)
                self.both(lambda store: store.remembered(where, "c1"))  # noqa: B023 (called at once)
        ids = [[entry.get("eventId") for entry in store.audit()] for store in (self.real, self.model)]
        assert [i for i in ids[0] if not i.startswith("deleted-")] == [i for i in ids[1] if i is not None]


TwoStores.TestCase.settings = settings(max_examples=40, stateful_step_count=40)
test_SC1_SC3_SC4_the_two_stores_answer_alike = TwoStores.TestCase
