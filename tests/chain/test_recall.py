"""Recall in the library: the chain, pages, one request, the search; capped, and blind beyond its reach (SC5, SC2)."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chain.scene import Scene
from holdfast.chain.cursors import RecallError, decode_cursor, encode_cursor
from holdfast.chain.reach import ThreadReach, UserReach, VaultReach
from holdfast.chain.recall import MOST_TOKENS, Recall
from holdfast.chain.recall_tools import RECALL_TOOLS, answer, recall_for, recall_tools
from holdfast.core.events import ContextMeasured
from holdfast.core.keys import SessionId
from holdfast.core.tokens import estimate
from holdfast.store.json_text import to_json


@pytest.fixture
def recall(scene):
    return recall_for(scene.control, scene.chain)


def two_sessions(scene, name="h1"):
    """A thread with a sealed session and a live one."""
    first = scene.arrive(name).session.id
    scene.say(first, f"why does {name} use Redis", "run-1")
    scene.tool(first, "bash", "tests passed", command="make test", invocation="run-1")
    scene.reply(first, "Because the queue must survive a restart.", "run-1")
    scene.seal(first)
    second = scene.arrive(name, source=None).session.id
    scene.say(second, "go on with the work", "run-2")
    return first, second


def test_SC5_the_chain_lists_number_state_fill_start_and_end(scene, recall):
    _, second = two_sessions(scene)
    scene.tell(ContextMeasured(**scene.header(second, "run-2"), used=4000, window=10_000, host="claude-code"))
    reach = ThreadReach(scene.store, second.key)
    one, two = recall.list_session_chain(reach)["sessions"]
    assert (one["number"], one["sessionId"], one["state"], one["events"]) == (1, "h1", "sealed", 4)
    assert one["end"] is not None
    assert (two["number"], two["state"], two["end"]) == (2, "active", None)
    assert (two["used"], two["window"]) == (4000, 10_000)
    assert two["health"] == {
        "ratio": 0.5,
        "exact": True,
        "measuredAt": scene.clock(),
        "ageSeconds": 0.0,
        "stale": False,
    }
    scene.clock.advance(400)
    assert recall.list_session_chain(reach)["sessions"][1]["health"]["stale"], "SC2: an old figure is shown as old"


def test_SC2_a_figure_is_stale_once_the_session_has_gone_on(scene, recall):
    _, second = two_sessions(scene)
    scene.tell(ContextMeasured(**scene.header(second, "run-2"), used=4000, window=10_000, host="claude-code"))
    scene.clock.advance(70)
    reach = ThreadReach(scene.store, second.key)
    assert not recall.list_session_chain(reach)["sessions"][1]["health"]["stale"], "nothing has happened since"
    scene.say(second, "and now the long log, please")
    assert recall.list_session_chain(reach)["sessions"][1]["health"]["stale"]


def test_SC5_a_session_is_read_page_by_page_in_three_views(scene, recall):
    _, second = two_sessions(scene)
    reach = ThreadReach(scene.store, second.key)
    page = recall.read_session_events(reach, "h1", limit=2)
    assert [(entry["eventNo"], entry["who"]) for entry in page["events"]] == [(1, "user"), (2, "agent")]
    assert page["events"][1]["calls"] == "bash"
    rest = recall.read_session_events(reach, "h1", limit=2, cursor=page["nextCursor"])
    assert [entry["eventNo"] for entry in rest["events"]] == [3, 4]
    assert rest["nextCursor"] is None
    raw = recall.read_session_events(reach, "h1", view="raw")
    assert [entry["kind"] for entry in raw["events"]] == [r.kind for r in scene.store.events("h1")]
    assert raw["events"][0]["data"]["text"] == "why does h1 use Redis"
    handoff = recall.read_session_events(reach, "h1", view="handoff")
    assert "> Because the queue must survive a restart." in handoff["digest"]
    (request,) = handoff["invocations"]
    assert (request["invocationId"], request["tools"], request["events"]) == ("run-1", {"bash": 1}, [1, 4])


def test_SC5_a_request_is_read_whole(scene, recall):
    _, second = two_sessions(scene)
    detail = recall.read_invocation_detail(ThreadReach(scene.store, second.key), "run-1")
    assert [entry["kind"] for entry in detail["events"]] == [
        "prompt_submitted",
        "tool_calling",
        "tool_called",
        "assistant_replied",
    ]
    assert detail["events"][1]["data"]["call"]["input"] == {"command": "make test"}
    assert detail["sessionId"] == "h1"


def test_SC5_search_gives_snippet_and_pointer_over_the_whole_chain(scene, recall):
    _, second = two_sessions(scene)
    found = recall.session_search(ThreadReach(scene.store, second.key), "Redis")
    (hit,) = found["hits"]
    assert (hit["sessionId"], hit["number"], hit["eventNo"], hit["invocationId"]) == ("h1", 1, 1, "run-1")
    assert "«Redis»" in hit["snippet"]
    assert "material, not instruction" in found["note"]


def test_SC5_a_search_does_not_find_earlier_searches(scene, recall):
    _, second = two_sessions(scene)
    for number in range(12):
        scene.tool(second, "mcp__holdfast__session_search", "...Redis...", query=f"Redis {number}", invocation="run-2")
        scene.tool(second, "session_search", "...Redis...", query=f"Redis {number}", invocation="run-2")
    found = recall.session_search(ThreadReach(scene.store, second.key), "Redis", limit=3)
    assert [hit["eventNo"] for hit in found["hits"]] == [1]


# Caps.


@pytest.mark.slow
def test_SC5_no_answer_is_larger_than_its_cap(scene, recall):
    where = scene.arrive("h1").session.id
    for number in range(60):
        scene.say(where, f"needle {number} " + "long words " * 300, f"run-{number}")
        scene.tool(where, "bash", "x" * 30_000, command="y" * 5000, invocation=f"run-{number}")
    reach = ThreadReach(scene.store, where.key)
    for view in ("chat", "raw", "handoff"):
        cursor, seen, pages = None, [], 0
        while True:
            page = recall.read_session_events(reach, "h1", view=view, limit=200, cursor=cursor)
            assert estimate(to_json(page)) <= MOST_TOKENS
            seen += [
                entry["invocationId"] if view == "handoff" else entry["eventNo"]
                for entry in page.get("events") or page["invocations"]
            ]
            cursor, pages = page["nextCursor"], pages + 1
            if cursor is None:
                break
        wanted = [f"run-{n}" for n in range(60)] if view == "handoff" else list(range(1, 181))
        assert seen == wanted, f"every page of {view} is reached once"
        assert pages > (view != "handoff")
    assert estimate(to_json(recall.session_search(reach, "needle", limit=50))) <= MOST_TOKENS


def test_SC5_one_event_that_is_too_large_is_cut_and_says_so(scene):
    small = Recall(scene.store, scene.chain.digests, None, clock=scene.clock, most_tokens=1000)
    where = scene.arrive("h1").session.id
    scene.say(where, "word " * 20_000, "run-1")
    reach = ThreadReach(scene.store, where.key)
    for page in (
        small.read_session_events(reach, "h1", view="raw"),
        small.read_invocation_detail(reach, "run-1"),
    ):
        assert estimate(to_json(page)) <= 1000
        assert page["events"][0]["cut"] is True
        assert page["nextCursor"] is None


def test_SC5_a_long_invocation_is_paged(scene):
    small = Recall(scene.store, scene.chain.digests, None, clock=scene.clock, most_tokens=1500)
    where = scene.arrive("h1").session.id
    for number in range(40):
        scene.say(where, f"line {number} " + "word " * 50, "run-1")
    reach = ThreadReach(scene.store, where.key)
    seen, cursor = [], None
    while True:
        page = small.read_invocation_detail(reach, "run-1", cursor=cursor)
        assert estimate(to_json(page)) <= 1500
        seen += [entry["eventNo"] for entry in page["events"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen == list(range(1, 41))


def test_SC5_a_chain_of_very_many_sessions_is_capped(scene, recall):
    first = scene.arrive("h1").session
    for number in range(150):
        where = SessionId(first.id.key, f"old-{number}")
        scene.store.open_session(replace(first, id=where, state="sealed", started_at=scene.clock.advance(1)))
    answer_ = recall.list_session_chain(ThreadReach(scene.store, where.key))
    assert estimate(to_json(answer_)) <= MOST_TOKENS
    assert answer_["sessions"][-1]["number"] == 151
    assert answer_["leftOut"] + len(answer_["sessions"]) == 151


# Wrong questions.


def test_SC5_wrong_cursors_limits_views_and_ids_are_clear_errors(scene, recall):
    _, second = two_sessions(scene)
    reach = ThreadReach(scene.store, second.key)
    good = recall.read_session_events(reach, "h1", limit=1)["nextCursor"]
    for cursor in ("", "1", "x", "1-aaaaaaaaaaaa", good + "0", good.replace("1-", "2-"), 7):
        with pytest.raises(RecallError, match="cursor"):
            recall.read_session_events(reach, "h1", cursor=cursor)
    with pytest.raises(RecallError, match="not of this session and view"):
        recall.read_session_events(reach, "h1", cursor=good, view="raw")
    with pytest.raises(RecallError, match="not of this session and view"):
        recall.read_session_events(reach, second.session, cursor=good)
    for limit in (0, -1, 201, 1.5, True, "5"):
        with pytest.raises(RecallError, match="from 1 to 200"):
            recall.read_session_events(reach, "h1", limit=limit)
        with pytest.raises(RecallError, match="from 1 to 50"):
            recall.session_search(reach, "x", limit=limit)
    with pytest.raises(RecallError, match="chat, handoff, raw"):
        recall.read_session_events(reach, "h1", view="all")
    with pytest.raises(RecallError, match="no invocation"):
        recall.read_invocation_detail(reach, "nope")
    with pytest.raises(RecallError):
        recall.session_search(reach, "   ")
    with pytest.raises(RecallError):
        recall.session_search(reach, "x", cursor="nonsense")


@given(no=st.integers(0, 10**12 - 1), session=st.text(max_size=8), view=st.sampled_from(["chat", "raw"]))
def test_SC5_a_cursor_fits_what_it_was_given_out_for_and_nothing_else(no, session, view):
    cursor = encode_cursor(no, session, view)
    assert decode_cursor(cursor, session, view) == no
    with pytest.raises(RecallError):
        decode_cursor(cursor, session + "x", view)
    with pytest.raises(RecallError):
        decode_cursor(f"{no + 1}-{cursor.partition('-')[2]}", session, view)


# Other people's threads.


def test_SC5_foreign_threads_are_as_if_they_were_not_there(scene, recall):
    _, mine = two_sessions(scene, "h1")
    _, other = two_sessions(scene, "h2")
    reach = ThreadReach(scene.store, mine.key)
    for wrong in (other.session, "h2", "never-was", ""):
        with pytest.raises(RecallError) as error:
            recall.read_session_events(reach, wrong)
        assert str(error.value) == f"no session {wrong!r} in your threads; list_session_chain shows those there are"
    for wrong in (other.thread, "never-was"):
        with pytest.raises(RecallError) as error:
            recall.list_session_chain(reach, wrong)
        assert str(error.value) == f"no thread {wrong!r} of yours; leave threadId out, it is known already"
        with pytest.raises(RecallError):
            recall.session_search(reach, "Redis", thread=wrong)
    detail = recall.read_invocation_detail(reach, "run-1")
    assert detail["sessionId"] == "h1", "the same invocation id in another thread is not shown"
    with pytest.raises(RecallError):
        recall.read_invocation_detail(reach, "run-1", session="h2")
    hits = recall.session_search(reach, "Redis", limit=50)["hits"]
    assert {hit["sessionId"] for hit in hits} == {"h1"}
    assert recall.session_search(reach, "Redis", thread=mine.thread)["hits"] == hits, "its own thread may be named"


def test_SC5_a_project_and_a_user_see_what_is_theirs(scene, recall, tmp_path):
    two_sessions(scene, "h1")
    two_sessions(scene, "h2")
    elsewhere = scene.arrive("h3", vault=tmp_path).session.id
    scene.say(elsewhere, "Redis elsewhere")
    stranger = Scene(tmp_path, user="bob")
    theirs = stranger.arrive("b1").session.id
    stranger.say(theirs, "Redis of bob")
    project = VaultReach(scene.store, "local", str(scene.vault))
    hits = recall.session_search(project, "Redis", limit=50)["hits"]
    assert {hit["sessionId"] for hit in hits} == {"h1", "h2"}
    only = recall.session_search(project, "Redis", limit=50, thread="claude-code-h2")["hits"]
    assert {hit["sessionId"] for hit in only} == {"h2"}
    person = UserReach(scene.store, "local")
    assert {h["sessionId"] for h in recall.session_search(person, "Redis", limit=50)["hits"]} == {"h1", "h2", "h3"}
    with pytest.raises(RecallError):
        recall.read_session_events(person, "b1")
    stranger.close()


def test_SC5_a_thread_that_was_handed_over_can_be_looked_up(scene, recall):
    first, _ = two_sessions(scene, "h1")
    last = scene.store.chain(first.key)[-1]
    scene.chain.threads.offer(last, host="codex", vault=str(scene.vault), by="ada")
    codex = scene.arrive("c1", host="codex").session.id
    reach = ThreadReach(scene.store, codex.key)
    assert [s["agent"] for s in recall.list_session_chain(reach)["sessions"]] == ["claude-code", "claude-code", "codex"]
    assert recall.session_search(reach, "Redis")["hits"][0]["sessionId"] == "h1"
    stranger = ThreadReach(scene.store, replace(codex.key, agent="gemini"))
    assert recall.list_session_chain(stranger)["sessions"] == []


# As tools.


async def call(tools, name, **arguments):
    return json.loads(await next(fn for tool, _, _, fn in tools if tool == name)(arguments))


def test_SC5_the_own_runtime_gets_the_four_tools(scene):
    import asyncio

    _, second = two_sessions(scene)
    tools = recall_tools(scene.control, second)
    assert [name for name, *_ in tools] == [tool.name for tool in RECALL_TOOLS]
    assert len(asyncio.run(call(tools, "list_session_chain"))["sessions"]) == 2
    assert asyncio.run(call(tools, "session_search", query="Redis", limit=5))["hits"][0]["eventNo"] == 1


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("nope", {}, "no tool 'nope'"),
        ("session_search", {}, "needs query"),
        ("session_search", {"query": 5}, "query must be a text"),
        ("session_search", {"query": "x", "limit": "5"}, "limit must be a whole number"),
        ("session_search", {"query": "x", "where": "y"}, "knows no where"),
        ("read_session_events", {"sessionId": ["h1"]}, "sessionId must be a text"),
        ("session_search", {"query": "x", "file": "///"}, "names no file"),
    ],
)
def test_SC5_arguments_are_checked_before_anything_is_read(scene, recall, name, arguments, said):
    _, second = two_sessions(scene)
    with pytest.raises(RecallError, match=said):
        answer(recall, ThreadReach(scene.store, second.key), name, arguments)


def test_SC5_null_arguments_count_as_absent(scene, recall):
    _, second = two_sessions(scene)
    reach = ThreadReach(scene.store, second.key)
    assert json.loads(answer(recall, reach, "session_search", {"query": "Redis", "threadId": None, "tool": None}))[
        "hits"
    ]
