from holdfast.core.events import ApprovalAnswered, ModeChanged, ToolCall
from holdfast.core.patterns import Rule
from holdfast.core.targets import Access, Target
from holdfast.records import event_of, record_of
from holdfast.testing.builders import EventBuilder, session_id


def rich_events():
    build = EventBuilder(session_id(subagent="reader"))
    access = Access("edit", Target("vault", "/src/a.py"), "write", by="tee")
    call = ToolCall("c1", "write", {"path": "src/a.py", "n": 1}, domain="edit", accesses=(access,))
    yield build.started(host="codex", model="m")
    yield build.prompt("把 Redux 改成 Zustand", typed=False)
    yield build.calling(call)
    yield build.called(call, "done", failed=True, error="no space")
    yield build.compacted(summary="s", before=10, after=2)
    yield build.measured(5, None, exact=False)
    rule = Rule("bash", "git status *", "allow", "approval", expires=5.0)
    head = {"id": "e90", "at": 3.5, "where": build.where}
    yield ApprovalAnswered(**head, approval="a", call_id="c1", answer="for_a_while", by="ada", rules=(rule,))
    yield ModeChanged(**head, to="full_access", by="ada", mode="agent")


def test_every_event_comes_back_as_it_was():
    for event in rich_events():
        assert event_of(record_of(event)) == event


def test_a_record_knows_its_tool_files_and_words():
    record = record_of(next(e for e in rich_events() if e.kind == "tool_calling"))
    assert (record.tool, record.files) == ("write", ("vault:/src/a.py",))
    assert "src/a.py" in record.text
