"""What the SQLite store promises, method by method."""

import os
import sqlite3
import threading
from dataclasses import replace

import pytest

from holdfast.core.keys import SessionId, SessionKey, WrongThreadError
from holdfast.store.interface import (
    AlreadyDecided,
    Approval,
    Change,
    EventRecord,
    Remembered,
    SealedError,
    StateConflict,
    StateRow,
    StoreError,
)
from store.storm_steps import audit_entry, open_store, place, sealed_event, session_at

HERE = place("s1", thread="t")


@pytest.fixture
def store(tmp_path):
    opened = open_store(tmp_path)
    opened.open_session(session_at(HERE))
    yield opened
    opened.close()


def event(event_id: str, where: SessionId = HERE, **fields) -> EventRecord:
    return EventRecord(event_id, where, 1.5, fields.pop("kind", "prompt_submitted"), fields.pop("data", {}), **fields)


def question(approval_id: str, where: SessionId = HERE, **fields) -> Approval:
    return Approval(approval_id, where, f"call-{approval_id}", fields.pop("at", 1.0), "bash", {"input": {}}, **fields)


# sessions


def test_SC1_a_session_comes_back_as_it_was_given(tmp_path, store):
    full = replace(
        session_at(place("s2", thread="另一个")),
        cwd="/v/主",
        model="m",
        title="标题 \ud800",
        mode="full_access",
        used=10,
        window=200,
        reserve=5,
        exact=True,
        measured_at=3.5,
        compressions=2,
        extra={"a": [1, None, {"b": "ü"}]},
    )
    opened = store.open_session(full)
    assert opened == replace(full, number=1, version=1)
    found = open_store(tmp_path).session("s2")
    assert found == replace(opened, title="标题 \ufffd")
    assert store.session("nobody") is None


def test_SC1_opening_again_gives_the_same_session_and_another_thread_is_refused(store):
    again = store.open_session(replace(session_at(HERE), title="ignored"))
    assert (again.title, again.number) == ("", 1)
    for key in (SessionKey("local", "agent", "x"), SessionKey("eve", "agent", "t"), SessionKey("local", "other", "t")):
        with pytest.raises(WrongThreadError):
            store.open_session(session_at(SessionId(key, "s1")))


def test_SC3_a_chain_has_one_live_session_and_numbers_never_come_back(store):
    second = place("s2", thread="t")
    with pytest.raises(StateConflict, match="'s1' is active"):
        store.open_session(session_at(second))
    store.update_session("s1", 1, state="sealing", sealing_since=2.0)
    with pytest.raises(StateConflict, match="'s1' is sealing"):
        store.open_session(session_at(second))
    store.update_session("s1", 2, state="sealed", ended_at=3.0, seal_reason="threshold")
    assert store.open_session(session_at(second)).number == 2
    with pytest.raises(StateConflict, match="'s2' is active"):
        store.update_session("s1", 3, state="active")
    assert [s.id.session for s in store.chain(HERE.key)] == ["s1", "s2"]
    store.delete_session("s2", by="me", at=9.0)
    assert store.update_session("s1", 3, state="active").state == "active", "unsealed"
    store.update_session("s1", 4, state="sealed")
    assert store.open_session(session_at(place("s3", thread="t"))).number == 3


def test_SC3_a_session_changes_by_compare_and_set(store):
    changed = store.update_session("s1", 1, title="new", used=7, exact=True, extra={"k": 1})
    assert (changed.version, changed.title, changed.extra) == (2, "new", {"k": 1})
    assert store.session("s1") == changed
    with pytest.raises(StateConflict, match="version 2, not 1"):
        store.update_session("s1", 1, title="late")
    with pytest.raises(StoreError, match="no session 'x'"):
        store.update_session("x", 1, title="")
    for wrong in ("number", "version", "id", "colour"):
        with pytest.raises(StoreError, match=wrong):
            store.update_session("s1", 2, **{wrong: 1})


def test_sessions_are_found_newest_first(store):
    for number in range(5):
        where = SessionId(SessionKey(f"user{number % 2}", "agent", f"thread{number}"), f"n{number}")
        host = "codex" if number == 3 else "gemini"
        store.open_session(replace(session_at(where), started_at=100.0 + number, host=host, vault=f"/v{number % 3}"))

    def ids(**wanted):
        return [s.id.session for s in store.sessions(**wanted)]

    assert ids(limit=3) == ["s1", "n4", "n3"]
    assert ids(user="user0") == ["n4", "n2", "n0"]
    assert ids(host="codex") == ["n3"]
    assert ids(vault="/v1", user="user0") == ["n4"]
    assert ids(thread="thread2", agent="agent") == ["n2"]
    assert ids(before=102.0) == ["n1", "n0"]
    assert ids(state="sealed") == []


# events and state


def test_SC4_events_are_numbered_in_their_session_and_in_the_store(store):
    other = place("s2", thread="u")
    store.open_session(session_at(other))
    first = store.commit(Change(HERE, events=(event("a"), event("b"))))
    store.commit(Change(other, events=(event("c", other),)))
    last = store.commit(Change(HERE, events=(event("d"),)))
    assert [(e.id, e.no, e.seq) for e in (*first.events, *last.events)] == [("a", 1, 1), ("b", 2, 2), ("d", 3, 4)]
    assert [(e.id, e.seq) for e in store.events_since(1)] == [("b", 2), ("c", 3), ("d", 4)]
    assert [e.id for e in store.events_since(0, limit=2)] == ["a", "b"]
    assert store.event("c").where == other
    assert store.event("nothing") is None


def test_SC4_an_event_comes_back_as_it_was_given(store):
    given = event(
        "a",
        HERE.of_subagent("helper"),
        kind="tool_called",
        data={"result": {"output": "你好\x00\n", "n": 2**53, "f": 0.1, "none": None, "list": [1, [2]]}},
        invocation="run-1",
        text="search 会话 \U0001f980",
        tool="bash",
        files=("vault:/a", "fs:/b c"),
    )
    stored = store.commit(Change(HERE, events=(given,))).events[0]
    assert stored == replace(given, no=1, seq=1)
    assert store.event("a") == stored


def test_what_json_cannot_hold_is_replaced_not_refused(store):
    odd = event("a", data={"half": "\ud83d!", "tuple": (1, 2), "big": 2**70, 5: "key", "set": {1}}, text="half \ud83d")
    store.commit(Change(HERE, events=(odd,), state=StateRow(0, {"x": "\udc00"})))
    found = store.event("a")
    assert found.text == "half \ufffd"
    assert found.data["half"] == "\ufffd!"
    assert found.data["tuple"] == [1, 2]
    assert found.data["big"] == pytest.approx(2**70)
    assert found.data["5"] == "key"
    assert store.state(HERE).data == {"x": "\ufffd"}


def test_events_of_a_session_are_read_in_pages_by_kind_and_by_run(store):
    store.commit(
        Change(
            HERE,
            events=tuple(
                event(f"e{n}", kind=("tool_called", "prompt_submitted")[n % 2], invocation=f"run{n // 4}")
                for n in range(12)
            ),
        )
    )

    def numbers(**wanted):
        return [e.no for e in store.events("s1", **wanted)]

    assert numbers() == list(range(1, 13))
    assert numbers(after=9) == [10, 11, 12]
    assert numbers(limit=2, newest_first=True) == [12, 11]
    assert numbers(after=3, limit=2) == [4, 5]
    assert numbers(before=4) == [1, 2, 3]
    assert numbers(before=9, limit=2, newest_first=True) == [8, 7]
    assert numbers(after=3, before=6) == [4, 5]
    assert numbers(kinds=["tool_called"], after=6) == [7, 9, 11]
    assert numbers(kinds=[]) == []
    assert numbers(invocation="run1") == [5, 6, 7, 8]
    assert store.events("nobody") == []


def test_SC1_a_step_for_another_thread_is_refused_and_nothing_of_it_is_written(store):
    stranger = SessionId(SessionKey("local", "agent", "elsewhere"), "s1")
    sibling = place("s2", thread="t")
    for change in (
        Change(stranger, audit=(audit_entry(stranger, "x"),)),
        Change(HERE, events=(event("a"), event("b", stranger))),
        Change(HERE, events=(event("a"),), approvals=(question("q", stranger),)),
    ):
        with pytest.raises(WrongThreadError):
            store.commit(change)
    with pytest.raises(StoreError, match="of session 's2', not of 's1'"):
        store.commit(Change(HERE, events=(event("b", sibling),)))
    for read in (lambda: store.save_snapshot(stranger, "n", b"", 1.0), lambda: store.take_snapshot(stranger, "n")):
        with pytest.raises(WrongThreadError):
            read()
    assert store.events("s1") == []
    assert list(store.audit()) == []


def test_a_step_of_a_session_that_was_never_opened_says_so(store):
    with pytest.raises(StoreError, match=r"session 'ghost' is not in .*holdfast\.db; open_session"):
        store.commit(Change(place("ghost"), events=(event("a", place("ghost")),)))


def test_SC3_nothing_is_added_after_the_seal_but_audit(store):
    store.update_session("s1", 1, state="sealing")
    store.commit(Change(HERE, events=(event("late"),)))
    store.update_session("s1", 2, state="sealed")
    for change in (
        Change(HERE, events=(event("x"),)),
        Change(HERE, approvals=(question("q"),)),
        Change(HERE, state=StateRow(0, {})),
        Change(HERE, remember=Remembered("c", "f", {})),
    ):
        with pytest.raises(SealedError, match="'s1' is sealed"):
            store.commit(change)
    store.commit(Change(HERE, audit=(audit_entry(HERE, "refused"),)))
    assert [e.id for e in store.events("s1")] == ["late"]
    assert len(list(store.audit())) == 1


def test_state_is_kept_per_subagent_and_changed_by_compare_and_set(store):
    helper = HERE.of_subagent("helper")
    assert store.state(HERE) == StateRow(0, {})
    assert store.commit(Change(HERE, state=StateRow(0, {"a": 1}))).state_version == 1
    assert store.commit(Change(HERE, state=StateRow(1, {"a": 2}))).state_version == 2
    assert store.commit(Change(helper, state=StateRow(0, {"b": 1}))).state_version == 1
    assert store.state(HERE) == StateRow(2, {"a": 2})
    assert store.state(helper) == StateRow(1, {"b": 1})
    with pytest.raises(StateConflict, match="version 2, not 1"):
        store.commit(Change(HERE, events=(event("x"),), state=StateRow(1, {}), audit=(audit_entry(HERE, "x"),)))
    assert store.events("s1") == []
    assert list(store.audit()) == []


def test_a_decision_is_remembered_once_for_one_input(store):
    helper = HERE.of_subagent("helper")
    first = Remembered("call", "print", {"decision": "ask"}, "approval-1")
    store.commit(Change(HERE, remember=first))
    assert store.remembered(HERE, "call") == first
    assert store.remembered(helper, "call") is None
    assert store.remembered(HERE, "other") is None
    with pytest.raises(StateConflict, match="'call' has just been decided"):
        store.commit(Change(HERE, events=(event("x"),), remember=replace(first, outcome={"decision": "deny"})))
    other_input = Remembered("call", "other print", {"decision": "deny"})
    store.commit(Change(HERE, remember=other_input))
    assert store.remembered(HERE, "call") == other_input
    store.commit(Change(helper, remember=first))
    assert store.remembered(helper, "call") == first
    assert store.events("s1") == []


def test_an_event_and_an_approval_are_recorded_once(store):
    store.commit(Change(HERE, events=(event("a"),), approvals=(question("q"),)))
    with pytest.raises(StoreError, match="event 'a' is in the store already"):
        store.commit(Change(HERE, events=(event("b"), event("a"))))
    with pytest.raises(StoreError, match="approval 'q' is in the store already"):
        store.commit(Change(HERE, events=(event("c"),), approvals=(question("q"),)))
    assert [e.id for e in store.events("s1")] == ["a"]


# approvals


def test_an_approval_comes_back_as_it_was_given_and_is_settled_exactly_once(store):
    asked = question("q", HERE.of_subagent("helper"), deadline=9.0, host="codex", vault="/v", invocation="r")
    store.commit(Change(HERE, approvals=(asked,)))
    assert store.approval("q") == asked
    rule = {"domain": "bash", "pattern": "ls *", "decision": "allow"}
    settled = store.settle_approval("q", status="answered", at=5.0, answer="always", by="me", message="fine", rule=rule)
    assert settled == replace(
        asked, status="answered", answer="always", answered_at=5.0, answered_by="me", message="fine", rule=rule
    )
    assert store.approval("q") == settled
    with pytest.raises(AlreadyDecided) as refused:
        store.settle_approval("q", status="expired", at=6.0)
    assert refused.value.approval == settled
    with pytest.raises(StoreError, match="no approval 'x'"):
        store.settle_approval("x", status="expired", at=6.0)
    assert store.approval("x") is None


def test_only_one_of_many_answers_counts(tmp_path, store):
    stores = [open_store(tmp_path) for _ in range(4)]
    store.commit(Change(HERE, approvals=tuple(question(f"q{n}") for n in range(20))))
    won: list[str] = []

    def answer(mine, me):
        for n in range(20):
            try:
                mine.settle_approval(f"q{n}", status="answered", at=1.0, answer="once", by=me)
            except AlreadyDecided:
                continue
            won.append(f"q{n}")

    threads = [threading.Thread(target=answer, args=(stores[n % 4], str(n))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(won) == sorted(f"q{n}" for n in range(20))
    for each in stores:
        each.close()


def test_approvals_are_found_newest_first(store):
    eve = SessionId(SessionKey("eve", "agent", "t"), "s9")
    store.open_session(session_at(eve))
    store.commit(Change(HERE, approvals=tuple(question(f"q{n}", at=float(n)) for n in range(4))))
    store.commit(Change(eve, approvals=(question("e", eve, at=9.0),)))
    store.settle_approval("q2", status="cancelled", at=5.0)

    def ids(**wanted):
        return [a.id for a in store.approvals(**wanted)]

    assert ids() == ["e", "q3", "q2", "q1", "q0"]
    assert ids(status="pending") == ["e", "q3", "q1", "q0"]
    assert ids(status="cancelled") == ["q2"]
    assert ids(user="local", status="pending", limit=2) == ["q3", "q1"]
    assert ids(session="s9") == ["e"]


# snapshots, notes, upkeep


def test_a_snapshot_is_taken_by_one_only(tmp_path, store):
    other = open_store(tmp_path)
    store.save_snapshot(HERE, "run", b"old", 1.0)
    store.save_snapshot(HERE, "run", b"\x00new", 2.0)
    assert store.take_snapshot(HERE.of_subagent("x"), "run") is None
    taken = [other.take_snapshot(HERE, "run"), store.take_snapshot(HERE, "run")]
    assert taken == [b"\x00new", None]
    other.close()


def test_notes(store):
    for key, value in {"dir:/a": {"x": 1}, "dir:/b%": [2], "dirt": 3, "dir_": 4, "目录:一": "v"}.items():
        store.note(key, value)
    assert store.noted("dir:/a") == {"x": 1}
    assert store.noted("nothing") is None
    assert store.notes("dir:") == {"dir:/a": {"x": 1}, "dir:/b%": [2]}
    assert store.notes("目录:") == {"目录:一": "v"}
    store.note("dir:/a", None)
    assert store.notes("dir:") == {"dir:/b%": [2]}
    assert len(store.notes("")) == 4


def test_the_revision_changes_with_every_commit_of_anybody(tmp_path, store):
    other = open_store(tmp_path)
    seen = store.revision()
    assert store.revision() == seen
    for step in (
        lambda: store.commit(Change(HERE, events=(event("a"),))),
        lambda: other.commit(Change(HERE, approvals=(question("q"),))),
        lambda: other.settle_approval("q", status="expired", at=1.0),
        lambda: store.note("k", 1),
    ):
        step()
        assert store.revision() != seen
        seen = store.revision()
    other.close()


def test_SC4_deleting_leaves_no_text_anywhere_but_a_tombstone(tmp_path, store):
    secret = "unmistakable-words-of-the-session"
    other = place("s2", thread="u")
    store.open_session(session_at(other))
    kept = store.commit(Change(other, events=(sealed_event(other, "kept"),))).events[0]
    for n in range(60):
        store.commit(
            Change(
                HERE,
                events=(event(f"e{n}", text=f"{secret} {n} " * 50, data={"text": secret}),),
                state=StateRow(n, {"last": secret}),
                remember=Remembered(f"c{n}", "f", {"why": secret}),
                approvals=(replace(question(f"q{n}"), question={"input": secret}),),
            )
        )
    store.save_snapshot(HERE, "run", secret.encode() * 1000, 1.0)
    copy = tmp_path / "data" / "holdfast.db.bak-v1"
    copy.write_text(secret)
    store.delete_session("s1", by="me", at=7.0)
    assert store.session("s1") is None
    assert store.events("s1") == []
    assert store.state(HERE) == StateRow(0, {})
    assert store.approvals() == []
    (tombstone,) = store.audit(session="s1")
    assert (tombstone["what"], tombstone["decidedBy"], tombstone["events"]) == ("session_deleted", "me", 60)
    assert store.verify_audit().ok
    assert store.event("kept") == kept
    (deletion,) = store.deletions()
    assert (deletion.where, deletion.at, deletion.by, deletion.events) == (HERE, 7.0, "me", 60)
    assert store.deletions(after=deletion.position) == []
    assert store.usage()["free_bytes"] == 0
    store.close()
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes(), path
    with pytest.raises(StoreError, match="no session 's1'"):
        open_store(tmp_path).delete_session("s1", by="me", at=8.0)


def test_SC4_events_after_a_deletion_have_new_numbers_so_that_an_index_misses_none(store):
    store.commit(Change(HERE, events=(event("a"), event("b"))))
    store.delete_session("s1", by="me", at=7.0)
    reopened = store.open_session(session_at(HERE))
    assert reopened.number == 2
    assert store.commit(Change(HERE, events=(event("c"),))).events[0].seq == 3
    assert [e.id for e in store.events_since(2)] == ["c"]


def test_usage_counts_rows_bytes_and_growth(tmp_path):
    now = 1_700_000_000.0
    store = open_store(tmp_path, clock=lambda: now)
    store.open_session(session_at(HERE))
    for n in range(40):
        at = now - 30 * 86_400 if n < 25 else now - 3600
        record = replace(event(f"e{n}"), at=at)
        store.commit(Change(HERE, events=(record,), audit=(audit_entry(HERE, f"e{n}"),)))
    usage = store.usage()
    assert (usage["sessions"], usage["events"], usage["audit_entries"]) == (1, 40, 40)
    assert usage["events_last_7_days"] == 15
    assert 0 < usage["bytes_per_day"] <= usage["database_bytes"] / 7
    assert usage["audit_bytes"] == (tmp_path / "logs" / "agent-audit" / "s1.jsonl").stat().st_size
    assert usage["log_bytes"] > 0
    store.close()


def test_files_are_for_their_owner_only(tmp_path, store):
    store.commit(Change(HERE, audit=(audit_entry(HERE, "e"),)))
    private = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(private) == 4, "the database, its two companions, the audit file"
    for path in (*private, tmp_path / "data", tmp_path / "logs" / "agent-audit"):
        assert path.stat().st_mode & 0o077 == 0, path


# threads and processes


def test_threads_share_transactions_without_sharing_failures(tmp_path, store):
    done: list[str] = []
    failed: list[str] = []

    def write(me):
        for n in range(25):
            store.commit(Change(HERE, events=(event(f"{me}-{n}"),)))
            done.append(f"{me}-{n}")
            try:
                store.commit(Change(HERE, events=(event(f"{me}-{n}-x"), event("0-0"))))
            except StoreError:
                failed.append(f"{me}-{n}-x")

    store.commit(Change(HERE, events=(event("0-0-first"),)))
    store.commit(Change(HERE, events=(event("0-0"),)))
    threads = [threading.Thread(target=write, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    there = {e.id for e in store.events("s1", limit=10_000)}
    assert there == {"0-0", "0-0-first", *done}
    assert len(done) == len(failed) == 200
    assert [e.no for e in store.events("s1", limit=10_000)] == list(range(1, 203))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_store_can_be_used_on_both_sides_of_a_fork(tmp_path, store):
    store.commit(Change(HERE, events=(event("before"),), audit=(audit_entry(HERE, "before"),)))
    child = os.fork()
    if child == 0:
        try:
            store.commit(Change(HERE, events=(event("in child"),), audit=(audit_entry(HERE, "in child"),)))
            ok = [e.id for e in store.events("s1")] == ["before", "in child"]
            store.close()
            os._exit(0 if ok else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.commit(Change(HERE, events=(event("after"),), audit=(audit_entry(HERE, "after"),)))
    assert [e.id for e in store.events("s1")] == ["before", "in child", "after"]
    assert store.verify_audit().ok


def test_a_closed_store_says_so(store):
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.commit(Change(HERE, events=(event("x"),)))
    with pytest.raises(StoreError, match="was closed"):
        store.session("s1")


def test_a_process_that_never_lets_go_is_named_after_the_deadline(tmp_path):
    store = open_store(tmp_path, patience=0.3)
    store.open_session(session_at(HERE))
    holder = sqlite3.connect(tmp_path / "data" / "holdfast.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"holdfast.db: another process has been writing for more than 0.3 s"):
        store.commit(Change(HERE, events=(event("x"),)))
    assert store.events("s1") == []
    holder.execute("ROLLBACK")
    store.commit(Change(HERE, events=(event("x"),)))
    holder.close()
    store.close()
