"""SC6: searching as others use it: pages, snippets, pointers, order, questions, errors."""

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.search import Search
from holdfast.store.search_cursor import Cursor, decode, encode, fingerprint
from holdfast.store.search_filters import Filters, Scope
from holdfast.store.search_keeper import KeepFresh
from holdfast.store.search_query import MOST_CHUNKS, SearchError, looks_like_question, read_query
from holdfast.store.search_snippet import WIDTH, Marker
from holdfast.testing.memory_store import MemoryStore
from store.search_steps import START, add, all_hits, found_ids, where


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def search(store, tmp_path):
    made = Search(store, tmp_path / "search", clock=lambda: START)
    yield made
    made.close()


both = pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "tail"])


def snippets(search, query, **options):
    return [hit.snippet for hit in search.find(query, **options).hits]


def test_SC6_a_hit_says_where_to_read_on(store, search):
    place = where("s7", "t7", user="ana", agent="helper")
    (record,) = add(
        store, "the answer is here", place=place, kind="tool_called", tool="bash", invocation="run-9", at=7.5
    )
    (hit,) = search.find("answer").hits
    assert (hit.session, hit.thread, hit.event_no, hit.invocation) == ("s7", "t7", record.no, "run-9")
    assert (hit.kind, hit.tool, hit.at, hit.user, hit.agent, hit.event_id) == (
        "tool_called", "bash", 7.5, "ana", "helper", record.id,
    )  # fmt: skip
    assert hit.marked() == "the «answer» is here"
    assert hit.score > 0


@both
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SessionManager", {1, 2, 3}),
        ("sessionmanager", {2}),
        ("getSessionManager", {1}),
        ("session", {1, 2, 3}),
        ("manager.run", {2}),
        ("TypeError: cannot read properties", {4}),
        ("typeerror", {4}),
        ('"of undefined"', {4}),
        ('"undefined of"', set()),
        ("store/search.py", {5}),
        ("search.py", {5}),
        ("holdf*", {5}),
        ("会话", {6}),
        ("会话链", {6}),
        ("链话", set()),
        ("会", {6}),
        ("セッション", {7}),
        ("관리", {7}),
        ("cafe", {8}),
        ("127.0.0.1:5432", {9}),
        ("ECONNREFUSED 5432", {9}),
        ("NOT NULL constraint failed: users.id", {10}),
        ("rm -rf", {10}),
        ("{user_id}", {10}),
        ("import", {11}),
    ],
)
def test_SC6_what_finds_what(store, search, indexed, query, expected):
    texts = [
        "x = getSessionManager(config)",
        "call SessionManager.run() twice",
        "the session_manager of old",
        "TypeError: Cannot read properties of undefined (reading 'foo')",
        "edited src/holdfast/store/search.py",
        "修复了会话链的错误",
        "セッション管理 세션 관리",
        "Le Café est fermé",
        "ECONNREFUSED 127.0.0.1:5432",
        "NOT NULL constraint failed: users.id after rm -rf {user_id}",
        r'write {"content": "x = 1\nimport os"}',
    ]
    numbers = {record.id: number for number, record in enumerate(add(store, *texts), 1)}
    if indexed:
        search.refresh()
    assert {numbers[event] for event in found_ids(search, query, match="all")} == expected


@both
def test_SC6_words_that_stand_nowhere_together_find_the_best_of_some(store, search, indexed):
    add(store, "apples and pears", "pears only", "nothing of it")
    if indexed:
        search.refresh()
    page = search.find("apples pears quinces")
    assert page.match == "any"
    assert [hit.snippet for hit in page.hits] == ["apples and pears", "pears only"]
    assert search.find("apples pears quinces", match="all").hits == ()
    assert search.find("apples pears").match == "all"


@both
def test_SC6_a_question_finds_the_turn_that_answers_it(store, search, indexed):
    talk = [
        "Ana: I have been to so many places lately.",
        "Ben: Oh, which one did you like best?",
        "Ana: Lisbon, I went there with my sister last spring!",
        "Ben: I only painted the fence.",
        "Ana: And how was the painting?",
        "Ben: Lisbon is on my list as well.",
    ]
    add(store, *talk, kind="prompt_submitted")
    add(store, *(f"Ana: filler {number} about the weather" for number in range(40)), kind="prompt_submitted")
    if indexed:
        search.refresh()
    page = search.find("When did Ana go to Lisbon?", limit=5)
    assert page.match == "any"
    assert page.hits[0].snippet == talk[2]


@both
def test_SC6_the_neighbour_of_a_good_hit_is_found_without_a_word_of_the_question(store, search, indexed):
    filler = [f"other turn {number} with nothing in it" for number in range(30)]
    add(store, *filler, "What colour is the new umbrella?", "Violet with dots.", *filler, kind="prompt_submitted")
    if indexed:
        search.refresh()
    assert "Violet with dots." in snippets(search, "what is the colour of the umbrella?", limit=3)


def test_SC6_a_neighbour_outside_the_scope_is_not_shown(store, search):
    add(store, "the umbrella question", place=where("s1", "t1"), kind="prompt_submitted")
    add(store, "violet", place=where("s1", "t1"), kind="tool_called")
    found = search.find("what about the umbrella?", Scope(), Filters(kinds=("prompt_submitted",))).hits
    assert [hit.kind for hit in found] == ["prompt_submitted"]


def test_SC6_recent_events_come_a_little_earlier(store, search):
    day = 86_400
    add(store, "same words here", at=START - 400 * day)
    add(store, "same words here", at=START - day)
    add(store, "same words here", at=START - 90 * day)
    search.refresh()
    ages = [round((START - hit.at) / day) for hit in search.find("same words").hits]
    assert ages == [1, 90, 400]
    add(store, "words words words", at=START - 800 * day)
    assert round((START - search.find("words").hits[0].at) / day) == 800, "a better match wins over a newer one"


# pages


def test_SC6_a_cursor_belongs_to_its_search(store, search):
    add(store, *(f"word{number} common" for number in range(30)))
    cursor = search.find("common", limit=10).cursor
    assert cursor
    assert len(cursor) < 200
    for wrong in (
        lambda: search.find("other", limit=10, cursor=cursor),
        lambda: search.find("common", Scope(thread="t1"), limit=10, cursor=cursor),
        lambda: search.find("common", filters=Filters(tools=("x",)), limit=10, cursor=cursor),
    ):
        with pytest.raises(SearchError, match="another search"):
            wrong()
    for nonsense in ("", "x", "AAAA", "ä", cursor[:-3] + "!!!", "a" * 500):
        with pytest.raises(SearchError, match=r"is no cursor|another search"):
            search.find("common", limit=10, cursor=nonsense)


def test_SC5_a_made_up_cursor_shows_nothing_outside_the_scope(store, search):
    add(store, "my own needle", place=where("s1", "mine"))
    (foreign,) = add(store, "foreign needle", place=where("s2", "theirs"))
    scope = Scope.chain(where("s1", "mine").key)
    sieve = fingerprint("needle", [[["u", "a", "mine", None], [[], [], [], [], [], [], None, None]], "auto"])
    forged = encode(Cursor("all", foreign.seq + 1, (foreign.seq,), ()), sieve)
    assert [hit.session for hit in search.find("needle", scope, cursor=forged).hits] == ["s1"]


@given(
    st.sampled_from(["all", "any"]),
    st.integers(0, 1 << 60),
    st.lists(st.integers(0, 1 << 60), max_size=80),
    st.frozensets(st.integers(1, 1 << 60), max_size=80),
)
def test_SC6_cursors_come_back_as_they_went(mode, before, pending, shown):
    cursor = Cursor(mode, before, tuple(pending), tuple(sorted(shown)))
    assert decode(encode(cursor, b"123456"), b"123456") == cursor


@given(st.text(max_size=60))
def test_SC6_any_text_for_a_cursor_is_answered_with_an_error_or_a_cursor(text):
    with contextlib.suppress(SearchError):
        decode(text, b"123456")


@pytest.mark.parametrize("limit", [0, -1, 201, 10_000])
def test_SC5_limits_are_held(search, limit):
    with pytest.raises(SearchError, match="between 1 and 200"):
        search.find("x", limit=limit)


def test_SC6_pages_end_with_the_last_hit(store, search):
    add(store, *("common" for _ in range(20)))
    assert search.find("common", limit=20).cursor is None
    assert len(all_hits(search, "common", limit=10)) == 20
    add(store, *("common" for _ in range(100)))
    search.refresh()
    pages, cursor = 0, None
    while True:
        page = search.find("common", limit=60, cursor=cursor)
        assert page.hits
        pages, cursor = pages + 1, page.cursor
        if cursor is None:
            break
    assert pages == 2


# queries


@pytest.mark.parametrize("text", ["", "   ", "!!!", '""', "* ** -", "\U0001f642"])
def test_SC6_nothing_to_search_for_is_an_error_that_says_what_to_do(search, text):
    with pytest.raises(SearchError, match="give a word"):
        search.find(text)


def test_SC6_too_long_a_query_is_refused(search):
    with pytest.raises(SearchError, match="shorten it"):
        search.find("word " * (MOST_CHUNKS + 1))


@given(st.text(max_size=80))
def test_SC6_any_query_is_read_or_refused(text):
    refused = ""
    try:
        read_query(text)
    except SearchError as error:
        refused = str(error)
    assert not refused or "nothing to search for" in refused


@pytest.mark.parametrize(
    "text",
    [
        "When did Ana go to Lisbon?",
        "how do we start the server",
        "what error did the build give",
        "会话是什么时候封存的？",
        "为什么测试会失败",
        "怎么修复这个错误",
    ],
)
def test_SC6_questions_are_recognised(text):
    assert looks_like_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "TypeError: cannot read properties",
        "is not defined",
        'what is "this thing"?',
        "timeout?",
        "修复会话错误",
        "SELECT * FROM users WHERE id = ?",
        "whatever",
    ],
)
def test_SC6_words_are_no_questions(text):
    assert not looks_like_question(text)


# snippets


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("needle", "a Needle in the hay", "a «Needle» in the hay"),
        ("SessionManager", "x = getSessionManager()", "x = «getSessionManager»()"),
        ("会话", "修复会话链的会话", "修复«会话»链的«会话»"),
        ("会话链", "修复会话链的", "修复«会话链»的"),
        ("foo*", "foobar food bar", "«foobar» «food» bar"),
        ('"b c"', "a b c d", "a «b» «c» d"),
        ("x", "line\none\tx\n\n  end", "line one «x» end"),
        ("cafe", "un café noir", "un «café» noir"),
    ],
)
def test_SC6_snippets_mark_what_matched(store, search, query, text, marked):
    add(store, text)
    assert search.find(query).hits[0].marked() == marked


def test_SC6_a_snippet_shows_the_place_that_holds_most(store, search):
    add(store, "alpha " + "filler " * 300 + "alpha then beta and gamma " + "filler " * 300)
    (hit,) = search.find("alpha beta gamma").hits
    assert "«alpha» then «beta» and «gamma»" in hit.marked()
    assert len(hit.snippet) <= WIDTH + 2
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")


@given(st.text(max_size=400), st.sampled_from(["a", "session", "会话", "1", "x*", "a b"]), st.booleans())
def test_SC6_marks_lie_inside_their_snippet(text, query, by_stem):
    snippet, marks = Marker(read_query(query), by_stem=by_stem).snippet(text)
    assert len(snippet) <= WIDTH + 2
    last = 0
    for low, high in marks:
        assert last <= low < high <= len(snippet)
        last = high


# keeping fresh


def test_SC6_a_thread_keeps_the_index_fresh(store, search):
    with KeepFresh(search, every=0.02):
        for number in range(3):
            add(store, f"fresh{number} words")
        for _ in range(500):
            if search.status().documents == 3:
                break
            time.sleep(0.02)
    assert search.status().documents == 3
    assert not search.status().behind


def test_SC6_trouble_with_the_index_is_told_and_searching_goes_on(store, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    search = Search(store, blocked / "search")
    add(store, "needle")
    keeper = KeepFresh(search, every=0.01)
    with keeper:
        for _ in range(500):
            if keeper.trouble:
                break
            time.sleep(0.01)
    assert "NotADirectoryError" in keeper.trouble
    assert len(search.find("needle").hits) == 1
