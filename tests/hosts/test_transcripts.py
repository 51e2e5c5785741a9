"""The hosts' own transcripts, read as they grow."""

from __future__ import annotations

import json

import pytest

from holdfast.hosts.host_memo import StoreMemo
from holdfast.hosts.registry import HOSTS
from holdfast.hosts.telling import Telling
from holdfast.hosts.transcripts.claude_code import ClaudeCodeLines
from holdfast.hosts.transcripts.codex import CodexLines
from holdfast.hosts.transcripts.gemini import GeminiLines
from holdfast.hosts.transcripts.items import Call, Fill, Words, read_lines

AT = "2026-11-15T08:30:44.000Z"


def claude(text=None, call=None, used=100, side=False, model="claude-sonnet-4-5"):
    content = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}}] if call else []
    usage = {"input_tokens": used, "cache_read_input_tokens": 1000, "output_tokens": 5}
    message = {"role": "assistant", "model": model, "content": content, "usage": usage}
    return {"type": "assistant", "uuid": "u1", "isSidechain": side, "timestamp": AT, "message": message}


def codex(kind, **payload):
    return {"timestamp": AT, "type": kind, "payload": payload}


def of(dialect, *lines):
    return [item for line in lines for item in dialect.items(line)]


def test_claude_code_words_calls_and_fill():
    words, call, fill = of(ClaudeCodeLines(), claude("hello", "c1"))
    assert (words.text, words.at) == ("hello", 1794731444.0)
    assert (call.id, call.tool, call.arguments) == ("c1", "Bash", {"command": "ls"})
    assert (fill.used, fill.window) == (1105, 200_000)


def test_claude_code_side_chains_and_other_lines_are_none_of_ours():
    assert of(ClaudeCodeLines(), claude("hello", side=True), {"type": "user"}, {"type": "assistant"}, {}) == []


def test_codex_words_calls_and_fill():
    passed = {"internal_chat_message_metadata_passthrough": {"turn_id": "t1"}}
    text = [{"type": "output_text", "text": "hello"}]
    items = of(
        CodexLines(),
        codex("turn_context", model="gpt-5.5"),
        codex("response_item", type="message", role="assistant", id="m1", content=text, **passed),
        codex("response_item", type="message", role="user", id="m0", content=text),
        codex("response_item", type="function_call", name="exec_command", call_id="c1", arguments='{"cmd": "ls"}'),
        codex("response_item", type="custom_tool_call", name="apply_patch", call_id="c2", input="*** Begin"),
        codex(
            "event_msg",
            type="token_count",
            info={"last_token_usage": {"total_tokens": 5120}, "model_context_window": 258_400},
        ),
    )
    assert items == [
        Words("m1", 1794731444.0, "hello", "t1"),
        Call("c1", "exec_command", 1794731444.0, {"cmd": "ls"}),
        Call("c2", "apply_patch", 1794731444.0, {"input": "*** Begin"}),
        Fill(5120, 1794731444.0, 258_400, "gpt-5.5"),
    ]


def test_gemini_words_calls_and_fill():
    line = {
        "id": "g1",
        "type": "gemini",
        "timestamp": AT,
        "content": "hello",
        "tokens": {"input": 100, "output": 20},
        "model": "gemini-2.5-flash",
        "toolCalls": [{"id": "c1", "name": "read_file", "args": {"file_path": "a"}}],
    }
    words, call, fill = of(GeminiLines(), line, {"$set": {"lastUpdated": AT}}, {"type": "user", "content": []})
    assert words.text == "hello"
    assert call == Call("c1", "read_file", 1794731444.0, {"file_path": "a"})
    assert (fill.used, fill.window) == (120, 1_048_576)


def test_a_file_is_read_on_from_where_it_was_left(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\nnot json\n[1]\n{"b"')
    lines, end = read_lines(path, 0)
    assert lines == [{"a": 1}]
    with path.open("a") as file:
        file.write(': 2}\n{"c": 3}\n')
    lines, end = read_lines(path, end)
    assert lines == [{"b": 2}, {"c": 3}]
    assert read_lines(path, end) == ([], end)
    path.write_text('{"new": 1}\n')
    assert read_lines(path, end)[0] == [{"new": 1}], "a file that is shorter than before was written anew"
    assert read_lines(tmp_path / "missing", 7) == ([], 7)


def test_SC4_words_and_fill_are_on_record_once(stage):
    it = stage("claude-code")
    path = it.vault.parent / "transcript.jsonl"
    path.write_text(json.dumps(claude("let me look", "c1", used=100_000)) + "\n")
    it.prompt("please")
    it.send(it.hook("PostToolUse", transcript_path=str(path), tool_name="Bash", tool_use_id="c1", tool_input={}))
    it.send(it.hook("PostToolBatch", transcript_path=str(path), tool_calls=[]))
    with path.open("a") as file:
        file.write(json.dumps({**claude("all done", used=150_000), "uuid": "u2"}) + "\n")
    it.send(it.hook("Stop", transcript_path=str(path), last_assistant_message="all done"))
    it.send(it.hook("SessionEnd", transcript_path=str(path), reason="exit"))
    events = it.control.store.events("s1")
    assert [event.text for event in events if event.kind == "assistant_replied"] == ["let me look", "all done"]
    fills = [event.data["used"] for event in events if event.kind == "context_measured"]
    assert fills == [101_005, 151_005]


def test_SC4_words_are_told_once_though_two_hooks_meet_at_them(stage):
    """The end of a turn began before the transcript was read, and speaks after it."""
    store = stage("claude-code").control.store
    memos = [StoreMemo(store, "claude-code", "s1") for _ in range(2)]
    assert [memo.get("said") for memo in memos] == [None, None], "both have looked, and found nothing"
    assert [Telling(HOSTS["claude-code"], memo).is_news("t1", "all done") for memo in memos] == [True, False]


@pytest.mark.parametrize("garbage", ["", "\x00\xff", "{}", '{"type": "assistant", "message": 7}\n' * 3])
def test_a_transcript_that_makes_no_sense_is_read_without_harm(stage, garbage):
    it = stage("claude-code")
    path = it.vault.parent / "t.jsonl"
    path.write_text(garbage)
    it.prompt()
    it.send(it.hook("Stop", transcript_path=str(path), last_assistant_message="done"))
    assert "assistant_replied" in it.kinds()
