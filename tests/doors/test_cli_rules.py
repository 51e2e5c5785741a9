"""`holdfast rules` and `holdfast why` as people use them (PE7, AU3)."""

import json

import pytest
from click.testing import CliRunner

from holdfast.control import Control
from holdfast.doors.cli import cli
from holdfast.doors.cli_rules_simulate import age
from holdfast.store.home import Home
from holdfast.store.interface import Session
from holdfast.testing.builders import EventBuilder, session_id


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home and a vault of one's own."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("text")
    monkeypatch.chdir(vault)
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def data(*arguments, code=0):
    return json.loads(run(*arguments, "--json", code=code))


def config(place, text):
    (place / "home").mkdir(exist_ok=True)
    (place / "home" / "config.jsonc").write_text(text)


def test_PE7_add_list_remove(place):
    config(place, '{\n  // mine\n  "agents": {"runtime": {"permission": {"rules": []}}}\n}\n')
    assert "added: deny bash rm *" in run("rules", "add", "deny", "bash", "rm *")
    added = data("rules", "add", "allow", "bash", "git status *")
    assert added["added"] is True
    assert added["rule"]["index"] == 0
    listed = data("rules", "list")
    assert [(rule["decision"], rule["pattern"]) for rule in listed] == [("allow", "git status *"), ("deny", "rm *")]
    assert "// mine" in (place / "home" / "config.jsonc").read_text()
    assert "already there" in run("rules", "add", "allow", "bash", "git status *")
    assert "removed: allow bash git status *" in run("rules", "remove", "0")
    assert [rule["pattern"] for rule in data("rules", "list")] == ["rm *"]
    assert "no rule 7" in run("rules", "remove", "7", code=1)


def test_PE7_add_says_when_a_later_rule_may_still_win(place):
    run("rules", "add", "deny", "bash", "rm *")
    config_text = (place / "home" / "config.jsonc").read_text()
    ask = '{ "domain": "bash", "pattern": "git *", "decision": "ask" }'
    config(place, config_text.replace('"decision": "deny" }', f'"decision": "deny" }}, {ask}'))
    assert "may still win" in run("rules", "add", "allow", "bash", "git status *")


def test_PE3_a_bad_rule_is_refused_with_its_place(place):
    said = run("rules", "add", "deny", "bash", "regex:(?!x)", code=3)
    assert "config.jsonc" in said
    assert "(?!" in said


def test_PE5_test_judges_as_a_real_call_would_be(place):
    run("rules", "add", "allow", "bash", "git status *")
    assert data("rules", "test", "bash", "git status -s")["decision"] == "allow"
    judged = data("rules", "test", "bash", "git status && rm -rf x")
    assert judged["decision"] == "ask"
    assert {access["target"] for access in judged["accesses"]} == {"shell:git status", "shell:rm -rf x", "vault:/x"}
    assert data("rules", "test", "read", "a.md")["decision"] == "allow"
    assert data("rules", "test", "read", str(place / "vault" / "a.md"))["decision"] == "allow"
    assert data("rules", "test", "read", "vault:.env")["decision"] == "ask"
    assert data("rules", "test", "edit", "/etc/hosts")["decision"] == "deny"
    assert data("rules", "test", "edit", "/etc/hosts", "--mode", "full_access")["decision"] == "allow"
    assert data("rules", "test", "web_fetch", "https://example.org")["decision"] == "allow"
    assert data("rules", "test", "mcp", "github/create_issue")["decision"] == "ask"
    assert data("rules", "test", "bash", "rm -rf /")["hard"] is True
    assert "names no tool" in run("rules", "test", "mcp", "github", code=2)


def test_rules_test_takes_a_command_without_a_domain_and_says_how_otherwise(place):
    assert data("rules", "test", "git status -s") == data("rules", "test", "bash", "git status -s")
    assert data("rules", "test", "rm -rf /")["hard"] is True
    assert data("rules", "test", "https://example.org")["accesses"][0]["domain"] == "web_fetch"
    assert "shell:git push: ask" in run("rules", "explain", "git push")
    assert "'git status'" in run("rules", "test", "git", "status", code=2)
    assert "bash 'git status'" in run("rules", "test", "bash", "git", "status", code=2)
    assert "what about bash?" in run("rules", "test", "bash", code=2)


def test_rules_test_serves_as_a_check(place):
    run("rules", "test", "read", "a.md", "--expect", "allow")
    assert "expected deny, but it is allow" in run("rules", "test", "read", "a.md", "--expect", "deny", code=1)


def test_PE7_explain_shows_what_decides_and_what_is_shadowed(place):
    run("rules", "add", "allow", "bash", "git *")
    run("rules", "add", "ask", "bash", "git push *")
    explained = data("rules", "explain", "bash", "git push")
    (access,) = explained["accesses"]
    assert [(rule["role"], rule["pattern"]) for rule in access["rules"]] == [
        ("decides", "git push *"),
        ("shadowed", "git *"),
        ("shadowed", "shell:*"),
    ]
    assert "decides" in run("rules", "explain", "bash", "git push")


def test_PE8_explain_tells_apart_rules_that_do_not_count(place):
    run("rules", "templates", "--on", "read-only-commands")
    (access, *_) = data("rules", "explain", "bash", "rm x")["accesses"]
    assert [rule["role"] for rule in access["rules"]] == ["does not count", "decides"]
    (access, *_) = data("rules", "explain", "bash", "ls")["accesses"]
    assert [rule["role"] for rule in access["rules"]] == ["decides", "shadowed"]


def test_PE5_explain_names_a_rule_about_another_spelling(place):
    run("rules", "add", "deny", "bash", "rm *")
    run("rules", "add", "allow", "bash", "/opt/**")
    assert "by another spelling" in run("rules", "explain", "bash", "/opt/tools/rm x")


def test_PE8_templates_are_listed_and_switched(place):
    assert all(not template["on"] for template in data("rules", "templates"))
    run("rules", "templates", "--on", "git-read")
    assert [template["name"] for template in data("rules", "templates") if template["on"]] == ["git-read"]
    assert data("rules", "test", "bash", "git log")["decision"] == "allow"
    run("rules", "templates", "--off", "git-read")
    assert data("rules", "test", "bash", "git log")["decision"] == "ask"
    assert "no template 'x'" in run("rules", "templates", "--on", "x", code=2)


@pytest.fixture
def recorded(place):
    """A few decisions in the audit."""
    home = Home(place / "home")
    control = Control.open(home)
    where = session_id()
    build = EventBuilder(where, cwd=str(place / "vault"))
    control.store.open_session(Session(where, "holdfast", str(place / "vault"), 0.0))
    calls = [
        ("read", {"path": "a.md"}),
        ("bash", {"command": "git push origin main"}),
        ("write", {"path": "/etc/motd"}),
        ("bash", {"command": "curl -H 'Authorization: Bearer abcdefghijklmnop123456' https://example.org"}),
        ("bash", {"command": "rm -rf /"}),
    ]
    events = [build.calling(build.call(tool, **tool_input)) for tool, tool_input in calls]
    for event in events:
        control.plane.handle(event)
    control.close()
    return [event.id for event in events]


def test_AU3_why_names_the_rule_and_the_command_that_changes_it(recorded):
    read, push, write, _, hard = recorded
    (told,) = data("why", push)
    assert told["decision"] == "ask"
    assert "shell:*" in told["rule"]
    assert told["change"] == ["holdfast rules add allow bash 'shell:git push origin main'"]
    assert "approval" in told["decidedBy"]
    assert "holdfast rules add deny read vault:/a.md" in run("why", read)
    assert "outsideEdit ask" in run("why", write)
    (limit,) = data("why", hard)
    assert limit["change"] == ["nothing does; this limit holds in every mode and under every rule"]
    assert "nothing is recorded about 'nothing'" in run("why", "nothing", code=1)
    session, thread = session_id().session, session_id().thread
    assert f"is a session, not a decision; `holdfast audit show --session {session}`" in run("why", session, code=1)
    assert f"is a thread; `holdfast audit show --session {session}`" in run("why", thread, code=1)


def test_AU3_why_finds_an_entry_by_its_event_its_call_and_its_approval(place, recorded):
    control = Control.open(Home(place / "home"))
    push = control.store.event(recorded[1])
    (approval,) = (one for one in control.store.approvals() if one.call_id == push.data["call"]["id"])
    control.approvals.answer(approval.id, "deny", by="ada")
    control.close()
    by_call = [told["eventId"] for told in data("why", push.data["call"]["id"])]
    assert by_call[0] == push.id
    assert len(by_call) == 2, "the question and its answer"
    assert [told["eventId"] for told in data("why", approval.id)] == by_call
    assert [told["eventId"] for told in data("why", approval.id[:12])] == by_call, "as the list of approvals shows it"
    assert [told["eventId"] for told in data("why", push.id)] == [push.id]
    assert [told["eventId"] for told in data("why", by_call[1])] == [by_call[1]]


def test_AU3_why_names_the_rule_to_remove(place, recorded):
    run("rules", "add", "deny", "read", "vault:/a.md")
    control = Control.open(Home(place / "home"))
    build = EventBuilder(session_id(), cwd=str(place / "vault"), start=2_000_000_000.0)
    event = build.calling(build.call("read", call_id="later", path="a.md"), over={"id": "later"})
    control.plane.handle(event)
    control.close()
    (told,) = data("why", "later")
    # an allow would stand above the deny and change nothing, so it is not offered
    assert told["change"] == ["holdfast rules remove 0   (takes the rule away)"]
    # the rule is named by the number it has now, not by the one it had then
    run("rules", "add", "ask", "read", "vault:/b.md")
    (told,) = data("why", "later")
    number = next(rule["index"] for rule in data("rules", "list") if rule["pattern"] == "vault:/a.md")
    assert told["change"] == [f"holdfast rules remove {number}   (takes the rule away)"]
    assert number == 1
    run("rules", "remove", str(number))
    assert "taken out of the configuration since" in run("why", "later")


def test_AU3_simulate_shows_what_would_change(place, recorded):
    new = place / "new.jsonc"
    new.write_text(
        json.dumps(
            {
                "agents": {
                    "runtime": {
                        "permission": {
                            "outsideEdit": "ask",
                            "rules": [
                                {"domain": "bash", "pattern": "git push *", "decision": "allow"},
                                {"domain": "read", "pattern": "*.md", "decision": "deny"},
                            ],
                        }
                    }
                }
            }
        )
    )
    result = data("rules", "simulate", "--rules", str(new))
    assert {(c["tool"], c["before"], c["after"]) for c in result["changes"]} == {
        ("read", "allow", "deny"),
        ("bash", "ask", "allow"),
        ("write", "deny", "ask"),
    }
    assert result["redacted"] == [recorded[3]]
    assert result["replayed"] == 4
    text = run("rules", "simulate", "--rules", str(new))
    assert "3 would change" in text
    assert "1 cannot be replayed: secrets were taken out" in text
    assert data("rules", "simulate", "--rules", str(new), "--since", "1s")["replayed"] in (0, 4)


def test_AU3_simulate_with_the_same_rules_changes_nothing(place, recorded):
    same = place / "same.jsonc"
    same.write_text("{}")
    assert data("rules", "simulate", "--rules", str(same))["changes"] == []


def test_AU3_simulate_refuses_broken_rules_with_their_line(place, recorded):
    broken = place / "broken.jsonc"
    broken.write_text('{\n "agents": {"runtime": {"permission": {"rules": [{"domain": "bash"}]}}}\n}')
    assert "broken.jsonc:2" in run("rules", "simulate", "--rules", str(broken), code=3)


def test_ages():
    assert age("7d") == 7 * 86400
    assert age("1.5h") == 5400
