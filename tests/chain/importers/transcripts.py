"""Small transcripts in the forms that the four hosts write, made here in the test's own words."""

from __future__ import annotations

import json
import sqlite3

T = "2026-11-15T07:00:{:02d}.000Z"


def lines(*entries):
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)


def claude(session="c1", cwd="/data/project"):
    """A prompt, a thought, text, two calls (one fails), a compaction, a command, another prompt."""

    def entry(number, kind, message, prompt="p1", **more):
        return {
            "type": kind,
            "uuid": f"u{number}",
            "timestamp": T.format(number),
            "sessionId": session,
            "cwd": cwd,
            **({"promptId": prompt} if kind == "user" else {}),
            "message": message,
            **more,
        }

    def said(*blocks):
        usage = {"input_tokens": 10, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 30}
        return {"role": "assistant", "model": "opus", "content": list(blocks), "usage": usage}

    def result(call, content, **more):
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": content, **more}]}

    boundary = {"trigger": "manual", "preTokens": 900, "postTokens": 90}
    return [
        {"type": "queue-operation", "content": "fix it"},
        entry(1, "user", {"role": "user", "content": "fix the login 修复登录"}),
        {"type": "attachment", "uuid": "a1", "attachment": {"type": "environment"}},
        entry(2, "assistant", said({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."})),
        entry(
            3,
            "assistant",
            said({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": f"{cwd}/a.py"}}),
        ),
        entry(4, "user", result("t1", [{"type": "text", "text": "code"}])),
        entry(5, "assistant", said({"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "make"}})),
        entry(6, "user", result("t2", "Exit code 2\nmake: no rule", is_error=True)),
        {"type": "system", "subtype": "compact_boundary", "uuid": "b", "compactMetadata": boundary},
        entry(7, "user", {"role": "user", "content": "SUMMARY so far"}, isCompactSummary=True),
        entry(8, "user", {"role": "user", "content": "<local-command-caveat>x</local-command-caveat>"}, isMeta=True),
        entry(
            9,
            "user",
            {"role": "user", "content": "<command-name>/review</command-name><command-args>all</command-args>"},
        ),
        entry(10, "user", {"role": "user", "content": "<local-command-stdout>ok</local-command-stdout>"}),
        entry(11, "user", {"role": "user", "content": "go on"}, prompt="p2"),
        entry(12, "assistant", said({"type": "text", "text": "done"})),
    ]


def claude_agent(session="c1"):
    base = {"isSidechain": True, "agentId": "abc", "sessionId": session, "cwd": "/data/project"}
    return [
        {
            **base,
            "type": "user",
            "uuid": "s1",
            "timestamp": T.format(20),
            "promptId": "p1",
            "message": {"content": "look"},
        },
        {
            **base,
            "type": "assistant",
            "uuid": "s2",
            "timestamp": T.format(21),
            "message": {"content": [{"type": "text", "text": "sub-agent found it"}]},
        },
    ]


def codex(session="01a1de25-694f-7dd0-9661-8baadc4b40f1", cwd="/data/project"):
    def line(number, kind, payload):
        return {"timestamp": T.format(number), "ordinal": number, "type": kind, "payload": payload}

    def message(number, role, text):
        return line(
            number,
            "response_item",
            {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]},
        )

    usage = {"last_token_usage": {"total_tokens": 120}, "model_context_window": 258_400}
    patch = "*** Begin Patch\n*** Add File: b.txt\n+made\n*** End Patch\n"
    return [
        line(0, "session_meta", {"id": session, "cwd": cwd}),
        line(1, "event_msg", {"type": "task_started", "turn_id": "turn-1", "model_context_window": 258_400}),
        message(2, "developer", "<skills_instructions>"),
        message(3, "user", "<environment_context>\n<cwd>/x</cwd></environment_context>"),
        line(4, "turn_context", {"turn_id": "turn-1", "model": "gpt-5.5"}),
        message(5, "user", "fix the login"),
        line(6, "event_msg", {"type": "item_completed"}),
        message(7, "assistant", "I look."),
        line(
            8,
            "response_item",
            {"type": "function_call", "name": "exec_command", "call_id": "t1", "arguments": '{"cmd": "make"}'},
        ),
        line(
            9,
            "response_item",
            {"type": "function_call_output", "call_id": "t1", "output": "Process exited with code 2\nOutput:\nno rule"},
        ),
        line(10, "response_item", {"type": "custom_tool_call", "name": "apply_patch", "call_id": "t2", "input": patch}),
        line(
            11, "response_item", {"type": "custom_tool_call_output", "call_id": "t2", "output": "Exit code: 0\nSuccess"}
        ),
        line(12, "event_msg", {"type": "token_count", "info": usage}),
        line(13, "compacted", {"message": "SUMMARY so far", "replacement_history": []}),
        line(
            14,
            "response_item",
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
        ),
    ]


def gemini():
    call = {
        "id": "t1",
        "name": "run_shell_command",
        "args": {"command": "make"},
        "status": "success",
        "timestamp": T.format(4),
        "result": [{"functionResponse": {"id": "t1", "response": {"output": "Output: no rule\nExit Code: 2"}}}],
    }
    reply = {
        "id": "m2",
        "timestamp": T.format(3),
        "type": "gemini",
        "content": "I look.",
        "model": "flash",
        "tokens": {"input": 100},
    }
    snapshot = {
        "id": "m9",
        "timestamp": T.format(6),
        "type": "user",
        "content": [{"text": "<state_snapshot>SUMMARY</state_snapshot>"}],
    }
    return [
        {"sessionId": "g1", "projectHash": "x", "startTime": T.format(1), "kind": "main"},
        {
            "$set": {
                "messages": [
                    {"id": "m0", "type": "user", "timestamp": T.format(1), "content": [{"text": "<session_context>x"}]}
                ]
            }
        },
        {"id": "m1", "timestamp": T.format(2), "type": "user", "content": [{"text": "fix the login"}]},
        {"$set": {"lastUpdated": T.format(2)}},
        reply,
        {**reply, "toolCalls": [call]},
        {"id": "m3", "timestamp": T.format(5), "type": "user", "content": [{"functionResponse": {"id": "t1"}}]},
        {"$set": {"messages": [snapshot]}},
        {"id": "m4", "timestamp": T.format(7), "type": "gemini", "content": "done", "thoughts": []},
    ]


def opencode_database(path, directory="/data/project"):
    database = sqlite3.connect(path)
    database.executescript(
        """
        CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, agent TEXT, time_created INTEGER);
        CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
        """
    )
    start = 1_790_000_000_000
    database.execute("INSERT INTO session VALUES ('o1', NULL, ?, 'Login', 'build', ?)", (directory, start))
    database.execute("INSERT INTO session VALUES ('o2', 'o1', ?, 'child', 'explore', ?)", (directory, start + 5))
    tokens = {"input": 100, "cache": {"read": 7, "write": 3}}
    state = {
        "status": "completed",
        "input": {"command": "make"},
        "output": "no rule",
        "metadata": {"exit": 2},
        "time": {"end": start + 40},
    }
    bad = {"status": "error", "input": {"filePath": f"{directory}/a.py"}, "error": "not found"}
    rows = [
        ("m1", "o1", {"role": "user"}, [{"type": "text", "text": "fix the login"}]),
        ("m2", "o1", {"role": "assistant", "parentID": "m1", "modelID": "m", "tokens": tokens}, [
            {"type": "step-start"},
            {"type": "reasoning", "text": "hm"},
            {"type": "text", "text": "I look."},
            {"type": "tool", "tool": "bash", "callID": "t1", "state": state},
            {"type": "tool", "tool": "read", "callID": "t2", "state": bad},
            {"type": "tool", "tool": "bash", "callID": "t3", "state": {"status": "pending", "input": {}}},
        ]),
        ("m3", "o1", {"role": "assistant", "parentID": "m1", "summary": True}, [{"type": "text", "text": "SUMMARY"}]),
        ("m4", "o2", {"role": "user"}, [{"type": "text", "text": "look"}]),
        ("m5", "o2", {"role": "assistant", "parentID": "m4"}, [{"type": "text", "text": "sub-agent found it"}]),
    ]  # fmt: skip
    for number, (message, session, data, parts) in enumerate(rows):
        at = start + 10 * number
        database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (message, session, at, json.dumps(data)))
        for place, part in enumerate(parts):
            name = f"p{number}{place}"
            database.execute(
                "INSERT INTO part VALUES (?, ?, ?, ?, ?)", (name, message, session, at + place, json.dumps(part))
            )
    database.commit()
    database.close()
