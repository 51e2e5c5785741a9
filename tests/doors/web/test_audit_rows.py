"""The slim rows that the audit is filtered by: the same as looking at every entry, also while entries come in."""

import threading
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.keys import SessionId, SessionKey
from holdfast.doors.web.audit_rows import FACETS, AuditRows, Wanted
from holdfast.store.interface import Change, Session
from holdfast.testing.memory_store import MemoryStore

VALUES = st.sampled_from(["", "a", "b"])
ENTRY = st.fixed_dictionaries(
    {
        "decision": st.sampled_from(["allow", "ask", "deny"]),
        "permissionDomain": VALUES,
        "tool": VALUES,
        "policy": VALUES,
        "sessionId": st.sampled_from(["s0", "s1"]),
        "timestamp": st.integers(0, 5),
        "reason": st.sampled_from(["Because", "perhaps", ""]),
    }
)
CHOICE = st.lists(st.sampled_from(["a", "b", "allow", "deny", "host0"]), max_size=2).map(tuple)
NAMES = {"domain": "permissionDomain"}


def filled(entries):
    store = MemoryStore()
    for number in range(2):
        where = SessionId(SessionKey("local", "agent", f"t{number}"), f"s{number}")
        store.open_session(Session(where, f"host{number}", "/vault", 1.0))
    for entry in entries:
        store.commit(Change(store.session(entry["sessionId"]).id, audit=({**entry, "user": "local", "agent": "a"},)))
    return store


def value_of(entry, facet):
    if facet == "host":
        return f"host{entry['sessionId'][1:]}"
    return "a" if facet == "agent" else entry[NAMES.get(facet, facet)]


@given(
    st.lists(ENTRY, max_size=12),
    st.fixed_dictionaries(dict.fromkeys(FACETS, CHOICE)),
    st.sampled_from(["", "s0"]),
    st.none() | st.integers(0, 5),
    st.none() | st.integers(0, 5),
    st.sampled_from(["", "BECAUSE"]),
)
def test_AU1_filters_and_facets_are_those_of_looking_at_every_entry(entries, facets, session, since, until, text):
    def fits(entry, without=None):
        return (
            all(value_of(entry, name) in facets[name] for name in FACETS if name != without and facets[name])
            and session in ("", entry["sessionId"])
            and (since is None or entry["timestamp"] >= since)
            and (until is None or entry["timestamp"] < until)
            and (not text or text.casefold() in entry["reason"].casefold())
        )

    chosen = AuditRows(filled(entries), "local").choose(Wanted(facets, session, since, until, text))
    assert [row.position for row in chosen.rows] == [at for at, entry in enumerate(entries, 1) if fits(entry)]
    for name in FACETS:
        assert chosen.counts[name] == Counter(value_of(entry, name) for entry in entries if fits(entry, name))
    assert chosen.complete


def test_AU1_rows_are_whole_while_others_write_and_read():
    entry = {"decision": "allow", "permissionDomain": "", "tool": "a", "policy": "", "sessionId": "s0",
             "timestamp": 1, "reason": "Because"}  # fmt: skip
    store = filled([entry] * 50)
    rows = AuditRows(store, "local")
    where = store.session("s0").id
    seen: list[list[int]] = []

    def write() -> None:
        for _ in range(100):
            store.commit(Change(where, audit=({**entry, "user": "local"},)))

    def read() -> None:
        for _ in range(40):
            found = rows.choose(Wanted({}, text="because")).rows
            seen.append([row.position for row in found])

    threads = [threading.Thread(target=work) for work in (write, read, read, write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(positions == list(range(1, len(positions) + 1)) for positions in seen)
    assert len(rows.choose(Wanted({})).rows) == 250
