"""SC6: index and plain scan give the same answers, whatever is indexed, deleted, rebuilt or damaged meanwhile."""

import random
import shutil
import threading

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.store.search import Search
from holdfast.store.search_filters import Filters, Scope
from holdfast.store.search_query import SearchError, read_query
from holdfast.store.search_scan import ScanText, matches
from holdfast.store.search_writer import IndexWriter
from holdfast.testing.memory_store import MemoryStore
from store.search_steps import add, all_hits, found_ids, where
from store.storm_steps import open_store

WORDS = [
    *("session", "Session", "getSessionManager", "session_manager", "SessionManager.run", "manager", "run", "a1b2"),
    *(
        "src/store/search.py",
        "search",
        "py",
        "会话",
        "会话链",
        "链接 会",
        "错误：会话",
        "HTTPServer",
        "http",
        "server2",
    ),
    *("Café", "the", "TypeError:", "cannot", "read", "127.0.0.1", "x", "42"),
]
QUERIES = [
    *WORDS,
    *("SessionManager", "manager.run", '"cannot read"', '"session manager"', "sess*", "server*", "会", "链", "cafe"),
    *("typeerror", "Manager", "0.0.1", '"search py"', "search.py", "话链", '"read 12*"', "session manager"),
    *("sessionmanager", "http server", "a1b2*", "store/search", "x 42", "manager*"),
]
corpora = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), max_size=25)


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def search(store, tmp_path):
    made = Search(store, tmp_path / "search")
    yield made
    made.close()


@settings(max_examples=40)
@given(st.data())
def test_SC6_index_and_tail_find_what_a_full_scan_finds(tmp_path_factory, data):
    """Random events in two sessions, indexed up to some point, one session perhaps deleted; every query, every page."""
    store = MemoryStore()
    folder = tmp_path_factory.mktemp("search")
    search = Search(store, folder)
    try:
        there = {}
        for _ in range(data.draw(st.integers(1, 3))):
            for session, thread in (("s1", "t1"), ("s2", "t2")):
                texts = data.draw(corpora)
                there.setdefault(session, []).extend(add(store, *texts, place=where(session, thread)))
            if data.draw(st.booleans()):
                search.refresh()
        if data.draw(st.booleans()):
            store.delete_session("s1", by="me", at=1.0)
            del there["s1"]
            if data.draw(st.booleans()):
                search.refresh()
        for query in data.draw(st.lists(st.sampled_from(QUERIES), min_size=1, max_size=12, unique=True)):
            node = read_query(query).node
            expected = {
                record.id for records in there.values() for record in records if matches(node, ScanText.of(record.text))
            }
            limit = data.draw(st.integers(1, 40))
            assert found_ids(search, query, limit=limit, match="all") == expected, query
    finally:
        search.close()
        shutil.rmtree(folder)


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["a", "b", "ab", "A-b", "aB", "a a b c"]), min_size=20, max_size=40))
def test_SC6_scores_of_index_and_tail_agree(tmp_path_factory, words):
    """The same texts, once indexed and once not, get about the same score: both stand in one list."""
    store = MemoryStore()
    folder = tmp_path_factory.mktemp("search")
    search = Search(store, folder)
    try:
        add(store, *words)
        before = {hit.event_id: hit.score for hit in search.find("a", limit=200).hits}
        search.refresh()
        after = {hit.event_id: hit.score for hit in search.find("a", limit=200).hits}
        assert before.keys() == after.keys()
        for event, score in before.items():
            assert after[event] == pytest.approx(score, rel=0.15, abs=0.05)
    finally:
        search.close()
        shutil.rmtree(folder)


def test_SC6_a_new_event_is_found_at_once_and_in_every_process(store, search, tmp_path):
    other = Search(store, tmp_path / "search")
    add(store, "first words")
    search.refresh()
    for number in range(5):
        add(store, f"needle{number} in the hay")
        assert [hit.snippet for hit in other.find(f"needle{number}").hits] == [f"needle{number} in the hay"]
        assert len(search.find(f"needle{number}").hits) == 1
    other.close()


def test_SC6_only_one_writes_and_the_others_are_told_at_once(store, search, tmp_path):
    other = Search(store, tmp_path / "search")
    add(store, "one")
    assert search.refresh().indexed == 1
    add(store, "two")
    assert other.refresh().busy
    assert other.rebuild().busy
    assert len(other.find("two").hits) == 1
    search.close()
    assert other.refresh().indexed == 1
    other.close()


def test_SC6_a_budget_ends_a_refresh_and_the_next_goes_on(store, search):
    add(store, *(f"word{number} text" for number in range(2000)))
    first = search.refresh(0.0)
    assert 0 < first.indexed < 2000
    assert first.behind
    assert len(found_ids(search, "text", limit=200)) == 2000
    while search.refresh(0.0).behind:
        pass
    assert not search.status().behind
    assert search.status().documents == 2000


def test_SC4_a_deleted_session_is_gone_from_results_and_index(store, search):
    add(store, "secret plans", place=where("s1", "t1"))
    add(store, "secret recipe", place=where("s2", "t2"))
    search.refresh()
    store.delete_session("s1", by="me", at=1.0)
    assert [hit.session for hit in search.find("secret").hits] == ["s2"]
    search.refresh()
    assert [hit.session for hit in search.find("secret").hits] == ["s2"]
    assert search.status().removed == 1


def test_SC4_scrubbing_leaves_no_term_of_a_deleted_session_in_any_file(store, search, tmp_path):
    add(store, "xylophonequartz", place=where("s1", "t1"))
    add(store, "ordinary words", place=where("s2", "t2"))
    search.refresh()

    def holds():
        """The dictionaries of the files, in which the terms of deleted documents stay until they are rewritten."""
        (generation,) = (tmp_path / "search").glob("v*-*")
        return tantivy.Index.open(str(generation)).searcher().doc_freq("words", "xylophonequartz") > 0

    assert holds()
    store.delete_session("s1", by="me", at=1.0)
    search.refresh()
    assert holds()
    assert search.scrub()
    assert not holds()
    assert search.status().removed == 0
    assert len(search.find("ordinary").hits) == 1


def test_SC4_a_session_that_begins_again_under_its_old_name_is_found(store, search):
    add(store, "old words", place=where("s1", "t1"))
    search.refresh()
    store.delete_session("s1", by="me", at=1.0)
    (again,) = add(store, "new words", place=where("s1", "t1"))
    search.refresh()
    assert found_ids(search, "words") == {again.id}


def test_SC4_a_deletion_that_is_read_late_costs_no_newer_event(store, search):
    """The index already holds events of the session's second life when it learns of the end of the first."""
    add(store, "old words", place=where("s1", "t1"))
    search.refresh()
    store.delete_session("s1", by="me", at=1.0)
    (again,) = add(store, "new words", place=where("s1", "t1"))

    class Late:
        """A store that tells of the deletion only after its events were read."""

        def __init__(self):
            self.silent = True

        def deletions(self, after=0, limit=1000):
            return [] if self.silent else store.deletions(after, limit)

        def __getattr__(self, name):
            return getattr(store, name)

    late = Late()
    search.close()
    writer = IndexWriter(late, search._folder)
    assert writer.refresh().indexed == 1
    late.silent = False
    writer.refresh()
    writer.close()
    assert found_ids(search, "words") == {again.id}
    assert search.status().documents >= 1


def test_SC6_a_lost_or_damaged_index_is_built_anew_and_missed_by_nobody(store, search, tmp_path):
    add(store, *(f"needle{number} hay" for number in range(50)))
    search.refresh()
    search.close()
    for harm in ("pointer", "meta", "segments", "everything"):
        folder = tmp_path / "search"
        (generation,) = folder.glob("v*-*")
        if harm == "pointer":
            (folder / "CURRENT").write_bytes(b"\xff\x00 nonsense")
        elif harm == "meta":
            (generation / "meta.json").write_text("{")
        elif harm == "segments":
            for path in generation.glob("*.idx"):
                path.unlink()
        else:
            shutil.rmtree(folder)
        fresh = Search(store, folder)
        assert len(found_ids(fresh, "hay", limit=200)) == 50, harm
        fresh.refresh()
        assert fresh.status().documents == 50, harm
        assert len(found_ids(fresh, "hay", limit=200)) == 50, harm
        assert len(found_ids(search, "hay", limit=200)) == 50, harm
        fresh.close()


def test_SC6_an_index_of_another_store_is_not_used(tmp_path):
    first, second = MemoryStore(), MemoryStore()
    add(first, "only in the first", "another")
    search = Search(first, tmp_path / "search")
    search.refresh()
    search.close()
    (kept,) = add(second, "only in the second")
    search = Search(second, tmp_path / "search")
    assert found_ids(search, "only") == {kept.id}
    search.refresh()
    assert search.status().documents == 1
    search.close()


def test_SC6_a_store_that_was_set_back_is_noticed(tmp_path):
    store = open_store(tmp_path)
    add(store, "kept words")
    shutil.copy(store.path, tmp_path / "copy.db")
    add(store, "later words", "and more words")
    search = Search(store, tmp_path / "search")
    search.refresh()
    search.close()
    store.close()
    for left in store.path.parent.glob("holdfast.db*"):
        left.unlink()
    shutil.copy(tmp_path / "copy.db", store.path)
    store = open_store(tmp_path)
    before = {record.id for record in store.events_since(0)}
    new = {record.id for record in add(store, "other words")}
    search = Search(store, tmp_path / "search")
    assert found_ids(search, "words") == before | new
    search.refresh()
    assert found_ids(search, "words") == before | new
    search.close()
    store.close()


@pytest.mark.slow
def test_SC6_rebuilding_goes_on_under_the_eyes_of_searchers(store, search, tmp_path):
    add(store, *(f"needle{number} hay" for number in range(800)))
    search.refresh()
    search.close()
    other = Search(store, tmp_path / "search")
    wrong, stop = [], threading.Event()

    def look():
        while not stop.is_set():
            if len(search.find("needle7").hits) != 1:
                wrong.append("lost")

    watcher = threading.Thread(target=look)
    watcher.start()
    for _ in range(5):
        other.rebuild()
    stop.set()
    watcher.join(20)
    assert wrong == []
    assert len(list((tmp_path / "search").glob("v*-*"))) == 1
    other.close()


def test_SC6_paging_gives_every_hit_once_while_the_index_grows_and_is_rebuilt(store, search):
    ids = {record.id for record in add(store, *(f"common word{number}" for number in range(300)))}
    chance = random.Random(5)
    seen, cursor = [], None
    while True:
        page = search.find("common", limit=11, cursor=cursor)
        seen += [hit.event_id for hit in page.hits]
        cursor = page.cursor
        if cursor is None:
            break
        add(store, "common newcomer")
        if chance.random() < 0.3:
            search.refresh()
        if chance.random() < 0.1:
            search.rebuild()
    assert len(seen) == len(set(seen))
    assert set(seen) == ids


def test_SC6_order_is_ranked_first_and_newest_after(store, search):
    add(store, *(f"common word{number}" for number in range(150)), "common common common")
    search.refresh()
    hits = all_hits(search, "common", limit=50)
    assert hits[0].snippet == "common common common"
    assert len(hits) == 151
    late = [hit.event_no for hit in hits[60:]]
    assert late == sorted(late, reverse=True)
    assert search.find("common", limit=50).order == "best"


def test_SC6_a_long_tail_is_indexed_by_the_search_that_meets_it(store, search):
    add(store, *(f"word{number}" for number in range(3100)))
    assert len(search.find("word3099").hits) == 1
    assert search.status().documents == 3100


def test_SC6_a_search_that_runs_out_of_time_says_so(store, search, tmp_path):
    add(store, *(f"word{number} text" for number in range(1200)))
    blocker = Search(store, tmp_path / "search")
    blocker._folder.try_lock()  # somebody else writes, so that this one has to read everything
    assert not search.find("text", patience=0.0).complete
    assert search.find("text", patience=60.0).complete


def test_SC6_several_threads_search_and_write_at_once(tmp_path):
    store = open_store(tmp_path)
    search = Search(store, tmp_path / "search")
    errors = []

    def work(me):
        try:
            for number in range(15):
                (record,) = add(store, f"thread{me} number{number}", place=where(f"s{me}", f"t{me}"))
                assert found_ids(search, f'"thread{me} number{number}"') == {record.id}
                search.refresh(0.2)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert errors == []
    search.refresh()
    assert search.status().documents == 60
    search.close()
    store.close()


@pytest.mark.parametrize(
    ("scope", "filters", "expected"),
    [
        (Scope(), Filters(), {1, 2, 3, 4}),
        (Scope(thread="t1"), Filters(), {1, 2}),
        (Scope.chain(where("s2", "t2").key), Filters(), {3}),
        (Scope.project("/other"), Filters(), {4}),
        (Scope(agent="b"), Filters(), {4}),
        (Scope(user="nobody"), Filters(), set()),
        (Scope(), Filters(sessions=("s1", "s2")), {1, 2, 3}),
        (Scope(thread="t1"), Filters(sessions=("s2",)), set()),
        (Scope(), Filters(kinds=("tool_called",)), {2, 3, 4}),
        (Scope(), Filters(tools=("bash",)), {2}),
        (Scope(), Filters(tools=("bash", "read")), {2, 3}),
        (Scope(), Filters(files=("src/app.py",)), {2, 3}),
        (Scope(), Filters(files=("app.py",)), {2, 3}),
        (Scope(), Filters(files=("vault:/src",)), {2}),
        (Scope(), Filters(files=("pp.py",)), set()),
        (Scope(), Filters(agents=("b",)), {4}),
        (Scope(), Filters(threads=("t2", "t3")), {3, 4}),
        (Scope(), Filters(since=1002.0), {2, 3, 4}),
        (Scope(), Filters(until=1002.0), {1}),
        (Scope(), Filters(since=1002.0, until=1003.0), {2}),
    ],
)
@pytest.mark.parametrize("indexed", [True, False])
def test_SC6_scope_and_filters(store, search, indexed, scope, filters, expected):
    records = [
        *add(store, "needle", place=where("s1", "t1"), at=1001.0, kind="prompt_submitted"),
        *add(store, "needle", place=where("s1", "t1"), at=1002.0, tool="bash", files=("vault:/src/app.py",)),
        *add(store, "needle", place=where("s2", "t2"), at=1003.0, tool="read", files=("fs:/tmp/src/app.py", "fs:/x")),
        *add(store, "needle", place=where("s3", "t3", agent="b"), at=1004.0, vault="/other"),
    ]
    numbers = {record.id: number for number, record in enumerate(records, 1)}
    if indexed:
        search.refresh()
    found = {numbers[event] for event in found_ids(search, "needle", scope, filters)}
    assert found == expected


def test_SC6_times_are_those_of_the_events(store, search):
    records = add(store, "early needle", "late needle")
    moment = records[1].at
    assert found_ids(search, "needle", Scope(), Filters(since=moment)) == {records[1].id}
    assert found_ids(search, "needle", Scope(), Filters(until=moment)) == {records[0].id}


@pytest.mark.parametrize(
    "filters", [{"sessions": "s1"}, {"tools": ("",)}, {"files": ("//",)}, {"since": 2.0, "until": 1.0}]
)
def test_SC6_filters_that_make_no_sense_are_refused(filters):
    with pytest.raises(SearchError):
        Filters(**filters)
