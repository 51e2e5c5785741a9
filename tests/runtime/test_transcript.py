"""The history that is rebuilt from events, whatever happened."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events import AssistantReplied, PromptSubmitted, ToolCall, ToolCalled, ToolCalling, ToolResult
from holdfast.core.history import Item, is_valid
from holdfast.plane import Plane
from holdfast.records import record_of
from holdfast.runtime.marks import INTERRUPTED
from holdfast.runtime.transcript import Transcript, item_from_json, item_to_json
from holdfast.store.interface import Change, Session
from holdfast.testing.builders import session_id
from holdfast.testing.memory_store import MemoryStore

WHERE = session_id()


class Book:
    """Writes events as the plane would, without judging."""

    def __init__(self):
        self.store = MemoryStore()
        self.store.open_session(Session(WHERE, host="holdfast", vault="/vault", started_at=0.0))
        self.transcript = Transcript(Plane(self.store, tuple, None), WHERE)
        self._number = 0

    def _header(self, where=WHERE):
        self._number += 1
        return {"id": f"e{self._number}", "at": float(self._number), "where": where, "invocation": "run"}

    def _commit(self, event):
        self.store.commit(Change(event.where, events=(record_of(event),)))

    def said(self, text, where=WHERE):
        self._commit(PromptSubmitted(**self._header(where), text=text))

    def replied(self, text):
        self._commit(AssistantReplied(**self._header(), text=text))

    def calling(self, call_id, batch="", tool="read"):
        self._commit(ToolCalling(**self._header(), call=ToolCall(call_id, tool, {"path": call_id}, batch=batch)))

    def called(self, call_id, output="ok", batch="", tool="read"):
        call = ToolCall(call_id, tool, {"path": call_id}, batch=batch)
        self._commit(ToolCalled(**self._header(), call=call, result=ToolResult(output)))

    def load(self):
        loaded = self.transcript.load()
        assert is_valid(loaded.items)
        return loaded

    def shape(self):
        return [f"{item.kind}:{item.call_id or item.text}" for item in self.load().items]


def test_SC4_calls_of_one_reply_stand_before_their_results_however_they_ran():
    book = Book()
    book.said("go")
    for call_id in ("a", "b"):
        book.calling(call_id, batch="1")
    book.called("b", batch="1")
    book.calling("c", batch="1")
    book.called("a", batch="1")
    book.called("c", batch="1")
    book.replied("done")
    assert book.shape() == [
        "user:go",
        "call:a",
        "call:b",
        "call:c",
        "result:a",
        "result:b",
        "result:c",
        "assistant:done",
    ]


def test_SC4_a_call_without_a_result_says_so():
    book = Book()
    book.said("go")
    book.calling("a")
    (call,) = book.load().open_calls
    assert (call.id, call.standing) == ("a", "started")
    assert book.load().items[-1].text.startswith(INTERRUPTED)
    book.called("a")
    assert book.load().open_calls == ()


def test_SC4_a_result_that_never_passed_a_hook_brings_its_call():
    book = Book()
    book.said("go")
    book.called("a", "no such tool")
    assert book.shape() == ["user:go", "call:a", "result:a"]


def test_SC1_a_sub_agents_words_are_not_the_main_agents():
    book = Book()
    book.said("go")
    book.said("inner", where=WHERE.of_subagent("general"))
    assert book.shape() == ["user:go"]
    inner = Transcript(Plane(book.store, tuple, None), WHERE.of_subagent("general"), "run").load()
    assert [item.text for item in inner.items] == ["inner"]
    other = Transcript(Plane(book.store, tuple, None), WHERE.of_subagent("general"), "another run").load()
    assert other.items == ()


def test_CO9_a_checkpoint_stands_for_everything_before_it():
    book = Book()
    book.said("one")
    book.replied("two")
    book.transcript.replace([Item("system", "【会话摘要】 so far")], compacted="e9")
    assert book.shape() == ["system:【会话摘要】 so far"]
    book.said("three")
    assert book.shape() == ["system:【会话摘要】 so far", "user:three"]


ITEMS = st.builds(
    Item,
    kind=st.sampled_from(["system", "user", "assistant", "reasoning", "call", "result"]),
    text=st.text(max_size=30),
    call_id=st.text(max_size=5),
    tool=st.text(max_size=5),
    failed=st.booleans(),
    pinned=st.booleans(),
    exit_code=st.one_of(st.none(), st.integers(0, 255)),
    kept_at=st.text(max_size=10),
)


@given(ITEMS)
def test_CO9_what_a_checkpoint_keeps_comes_back(item):
    assert item_from_json(item_to_json(item)) == item


@given(st.lists(st.tuples(st.sampled_from("pracx"), st.integers(0, 4), st.integers(0, 2)), max_size=40))
def test_SC4_the_history_is_valid_after_any_sequence_of_events(steps):
    book = Book()
    said = []
    for number, (step, which, batch) in enumerate(steps):
        if step == "p":
            said.append(f"message {number}")
            book.said(said[-1])
        elif step == "r":
            book.replied(f"reply {number}")
        elif step == "a":
            book.calling(f"c{which}", batch=f"b{batch}")
        elif step == "c":
            book.called(f"c{which}", batch=f"b{batch}")
        else:
            book.transcript.replace(book.load().items[-2:] if is_valid(book.load().items[-2:]) else (), compacted="x")
            said = [item.text for item in book.load().items if item.kind == "user"]
    assert [item.text for item in book.load().items if item.kind == "user"] == said
