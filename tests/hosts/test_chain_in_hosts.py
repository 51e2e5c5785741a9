"""The session chain inside hosts: measured, sealed after the turn, handed over, bootstrapped (SC9, SC10)."""

from __future__ import annotations

import json

import pytest

from holdfast.chain.chain import Chain
from hosts.stage import NAMES

FULL = 185_000


def transcript(it, used, text="done"):
    path = it.vault.parent / "transcript.jsonl"
    match it.host:
        case "claude-code":
            usage = {"input_tokens": used, "output_tokens": 0}
            content = [{"type": "text", "text": text}]
            message = {"role": "assistant", "model": "claude-sonnet-4-5", "content": content, "usage": usage}
            lines = [{"type": "assistant", "uuid": f"u{used}", "message": message, "timestamp": "2026-11-15T08:00:00Z"}]
        case "codex":
            info = {"last_token_usage": {"total_tokens": used}, "model_context_window": 200_000}
            lines = [
                {
                    "type": "event_msg",
                    "timestamp": "2026-11-15T08:00:00Z",
                    "payload": {"type": "token_count", "info": info},
                }
            ]
        case _:
            raise AssertionError(it.host)
    with path.open("a") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def context_of(answer):
    return (answer.get("hookSpecificOutput") or {}).get("additionalContext", "")


def turn(it, name, used):
    """One whole turn after which the context is so full."""
    it.turn = name
    answer = it.prompt(f"do {name}")
    it.write(f"{name}.py", f"c-{name}")
    it.called(NAMES[it.host]["write"], it.write_arguments(f"{name}.py"), "ok", f"c-{name}")
    path = transcript(it, used)
    it.send(it.hook("Stop", transcript_path=path, last_assistant_message=f"did {name}"))
    return answer


def test_SC10_codex_hands_over_when_it_is_full(stage):
    it = stage("codex")
    it.send(it.hook("SessionStart", source="startup", transcript_path=""))
    turn(it, "one", FULL)
    (sealed,) = it.control.store.sessions()
    assert (sealed.state, sealed.seal_reason) == ("sealed", "threshold")
    answer = turn(it, "two", 1000)
    chain = it.control.store.chain(sealed.id.key)
    assert [(session.number, session.state) for session in chain] == [(1, "sealed"), (2, "active")]
    assert "<holdfast-session>" in context_of(answer)
    assert "did one" in context_of(answer)
    assert "sealed" in answer["systemMessage"], "the person is told"


def test_SC10_a_new_conversation_in_the_same_place_claims_what_was_sealed(stage):
    it = stage("codex")
    it.send(it.hook("SessionStart", source="startup"))
    turn(it, "one", FULL)
    it.session = "s2"
    answer = it.send(it.hook("SessionStart", source="startup"))
    assert "<holdfast-session>" in context_of(answer)
    first, second = it.control.store.sessions()
    assert first.id.key == second.id.key, "one thread"
    assert "This goes on with thread" in answer["systemMessage"]


def test_SC10_every_host_tells_the_next_session_what_came_before(stage, host):
    it = stage(host)

    def told_with(prompt):
        answer = it.prompt(prompt)
        if host == "opencode":  # which asks for what the model is told with each request
            answer = it.send(it.hook("chat.system"))
        return json.dumps(answer)

    it.prompt("fix the login of ada")
    (sealed,) = it.control.store.sessions()
    Chain(it.control).sealer.seal_now(sealed.id, by="tester", turn_is_over=True)
    it.turn = "turn-2"
    told = told_with("go on")
    assert "holdfast-session" in told
    assert "session 2 of thread" in told
    assert "fix the login of ada" in told
    assert [row.state for row in it.control.store.chain(sealed.id.key)] == ["sealed", "active"]
    it.turn = "turn-3"
    again = "fix the login of ada" in told_with("and then")
    assert again == (host == "opencode"), "told once where a host keeps it, else with each request"


def test_SC9_claude_code_compacts_once_and_then_seals(stage):
    it = stage("claude-code")
    it.send(it.hook("SessionStart", source="startup"))
    it.turn = "t1"
    it.prompt("go")
    assert it.send(it.hook("PreCompact", trigger="auto")) == {}, "hybrid: the first compaction goes through"
    it.send(it.hook("SessionStart", source="compact"))
    it.send(it.hook("PostCompact", trigger="auto", compact_summary="SUMMARY"))
    answer = it.send(it.hook("PreCompact", trigger="auto"))
    assert answer["decision"] == "block"
    assert "/clear" in answer["systemMessage"]
    it.send(it.hook("Stop", last_assistant_message="done"))
    (session,) = it.control.store.sessions()
    assert (session.state, session.seal_reason) == ("sealed", "compressions")
    it.turn = "t2"
    assert "<holdfast-session>" in context_of(it.prompt("go on"))
    assert it.send(it.hook("PreCompact", trigger="auto")) == {}, "nobody is stopped twice"


def test_SC9_a_manual_compaction_is_the_persons_own_wish(stage):
    it = stage("codex")
    it.prompt("go")
    assert it.send(it.hook("PreCompact", trigger="manual")) == {}


def test_SC9_codex_ends_the_turn_instead_of_compressing(stage):
    it = stage("codex")
    it.prompt("go")
    answer = it.send(it.hook("PreCompact", trigger="auto"))
    assert answer["continue"] is False
    assert "sealed instead" in answer["stopReason"]
    assert set(answer) <= {"continue", "stopReason", "systemMessage"}


def test_SC9_gemini_and_opencode_compress_as_they_like(stage):
    it = stage("opencode")
    it.prompt("go")
    assert it.send(it.hook("compacting")) == {}


def test_SC2_a_warning_about_the_fill_reaches_the_person_at_the_next_event(stage):
    it = stage("claude-code")
    it.turn = "t1"
    it.prompt("go")
    path = transcript(it, 158_000)
    it.send(it.hook("Stop", transcript_path=path, last_assistant_message="done"))
    it.turn = "t2"
    assert "The context is" in it.prompt("more").get("systemMessage", "")


def test_SC1_a_message_for_a_sealed_session_goes_to_the_next(stage, host):
    it = stage(host)
    it.write("a.py", "c1")
    (session,) = it.control.store.sessions()
    Chain(it.control).sealer.seal_now(session.id, by="tester", turn_is_over=True)
    it.write("b.py", "c2")
    chain = it.control.store.chain(session.id.key)
    assert [one.state for one in chain] == ["sealed", "active"]
    assert [record.kind for record in it.control.store.events(chain[1].id.session)] == ["tool_calling"]


def test_HOLDFAST_THREAD_names_the_thread(stage):
    it = stage("claude-code")
    it.send(it.hook("SessionStart", source="startup"), thread="release-7")
    (session,) = it.control.store.sessions()
    assert session.id.thread == "release-7"


@pytest.mark.parametrize("attended", ["1", "0"])
def test_claude_code_shows_its_own_dialog_only_where_somebody_sits(stage, attended):
    it = stage("claude-code", patience=0.2)
    it.send(it.hook("SessionStart", source="startup"), attended=attended)
    decision = it.bash("make deploy")["hookSpecificOutput"]["permissionDecision"]
    assert decision == ("ask" if attended == "1" else "deny")
    pending = it.control.approvals.pending()
    assert len(pending) == (1 if attended == "1" else 0)
    if attended == "1":
        it.called("Bash", {"command": "make deploy"}, "deployed")
        approval = it.control.store.approval(pending[0].id)
        assert (approval.status, approval.answer, approval.answered_by) == ("answered", "once", "claude-code dialog")
