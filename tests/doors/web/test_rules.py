"""Rules on the page: order, who wins, changes and their undo, the test field, templates."""

import pytest

from doors.web.scenes import SCRIPT

CONFIG = """{
  // mine
  "agents": {"runtime": {"permission": {"rules": [
    {"domain": "bash", "pattern": "git push *", "decision": "ask"}, // why: pushes are public
    {"domain": "bash", "pattern": "git *", "decision": "allow"},
    {"domain": "edit", "pattern": "vault:/docs/**", "decision": "deny"}
  ]}}}
}
"""


@pytest.fixture
def config(home):
    home.create()
    home.config.write_text(CONFIG)
    return home.config


def own(client):
    return [rule for rule in client.get("/api/rules").json()["rules"] if rule["own"]]


def test_PE3_rules_in_force_have_their_order_place_and_what_shadows_them(client, config):
    page = client.get("/api/rules").json()
    push, git, docs = own(client)
    assert page["file"] == str(config)
    assert [rule["line"] for rule in (push, git, docs)] == [4, 5, 6]
    assert [rule["index"] for rule in (push, git, docs)] == [0, 1, 2]
    assert push["shadowedBy"] == git["order"], "the later and wider rule always wins"
    assert (git["shadowedBy"], docs["shadowedBy"]) == (None, None)
    everything = client.get("/api/rules", all=1).json()
    assert len(everything["rules"]) == page["builtIn"] + len(page["rules"])
    assert {rule["origin"] for rule in everything["rules"]} >= {"built-in", "user"}
    assert {rule["domain"] for rule in client.get("/api/rules", all=1, domain="mcp").json()["rules"]} == {"mcp"}
    assert client.get("/api/rules", domain="nothing").status_code == 422


def test_PE7_add_and_undo_leaves_the_file_as_it_was(client, config):
    rule = {"domain": "bash", "pattern": "npm test *", "decision": "allow"}
    added = client.post("/api/rules", rule).json()
    assert (added["added"], added["rule"]["source"]) == (True, str(config))
    assert "// why: pushes are public" in config.read_text()
    removed = client.delete(f"/api/rules/{added['rule']['index']}", rule).json()
    assert removed["removed"]["pattern"] == "npm test *"
    assert config.read_text() == CONFIG


def test_PE7_remove_and_undo_puts_the_rule_back_in_its_place(client, config):
    before = own(client)
    deny = {key: before[2][key] for key in ("domain", "pattern", "decision")}
    first = {key: before[0][key] for key in ("domain", "pattern", "decision")}
    for index, rule in ((2, deny), (0, first)):
        assert client.delete(f"/api/rules/{index}", rule).status_code == 200
        assert len(own(client)) == 2
        back = client.post("/api/rules", {**rule, "index": index}).json()
        assert back["rule"]["index"] == index
        assert [one["pattern"] for one in own(client)] == [one["pattern"] for one in before]


def test_PE7_another_rule_than_the_one_that_was_seen_is_never_removed(client, config):
    answer = client.delete("/api/rules/0", {"domain": "bash", "pattern": "git *", "decision": "allow"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "changed_meanwhile")
    for index in ("7", "-1", "x", "9" * 20):
        rule = {"domain": "bash", "pattern": "git *", "decision": "allow"}
        assert client.delete(f"/api/rules/{index}", rule).status_code == 404
    assert config.read_text() == CONFIG


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        ({"domain": "bash", "pattern": "regex:(", "decision": "allow"}, 422),
        ({"domain": "bash", "pattern": "vault:/x", "decision": "allow"}, 422),
        ({"domain": "bash", "pattern": "x", "decision": "maybe"}, 422),
        ({"domain": "nothing", "pattern": "x", "decision": "allow"}, 422),
        ({"domain": "bash", "pattern": "x"}, 422),
        ({"domain": "bash", "pattern": "x", "decision": "allow", "more": 1}, 422),
        ({"domain": "bash", "pattern": "x", "decision": "allow", "index": 99}, 409),
    ],
)
def test_PE7_a_rule_that_cannot_be_is_refused_and_nothing_is_written(client, config, rule, status):
    answer = client.post("/api/rules", rule)
    assert answer.status_code == status, answer.text
    assert config.read_text() == CONFIG


def test_PE7_a_broken_file_is_never_rewritten(client, config):
    assert own(client)
    config.write_text("{ broken")
    answer = client.post("/api/rules", {"domain": "bash", "pattern": "x", "decision": "allow"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_configuration")
    assert config.read_text() == "{ broken"
    assert client.get("/api/rules").json()["problems"], "the last good rules are in force, and that is said"


def test_PE5_the_test_field_explains_a_command_with_its_effects(client, config):
    told = client.post("/api/rules/test", {"domain": "bash", "target": "git push && rm -rf build"}).json()
    assert told["decision"] == "ask"
    assert {access["target"] for access in told["accesses"]} >= {"shell:git push", "shell:rm -rf build"}
    push = next(access for access in told["accesses"] if access["target"] == "shell:git push")
    assert [(rule["pattern"], rule["role"]) for rule in push["rules"]][:2] == [
        ("git *", "decides"),
        ("git push *", "shadowed"),
    ]
    kinds = {effect["kind"] for effect in told["reading"]["effects"]}
    assert {"deletes", "network"} & kinds
    assert [command["text"] for command in told["reading"]["commands"]] == ["git push", "rm -rf build"]
    assert told["why"]["code"]


def test_PE2_the_test_field_takes_paths_addresses_tools_and_calls(client, config):
    def ask(**question):
        answer = client.post("/api/rules/test", question)
        assert answer.status_code == 200, answer.text
        return answer.json()

    assert ask(domain="edit", target="docs/a.md")["decision"] == "deny"
    assert ask(domain="web_fetch", target="https://example.com/x")["accesses"][0]["target"].startswith("url:")
    assert ask(domain="mcp", target="github/create_issue")["decision"] == "ask"
    by_tool = ask(tool="write", input={"path": "docs/a.md", "content": SCRIPT})
    assert (by_tool["decision"], by_tool["accesses"][0]["rules"][0]["pattern"]) == ("deny", "vault:/docs/**")
    assert ask(tool="no_such_tool", input={})["decision"] == "ask"
    assert ask(domain="bash", target="rm -rf /", mode="full_access")["hard"] is True
    allowed = ask(domain="bash", target="make all")
    assert allowed["proposals"][0]["rules"][0]["domain"] == "bash"


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"domain": "bash"},
        {"domain": "mcp", "target": "no-tool"},
        {"domain": "bash", "target": "x", "tool": "bash"},
        {"domain": "bash", "target": "x" * 100_001},
        {"domain": "bash", "target": "x", "vault": "/no/such/place"},
        {"domain": "bash", "target": "x", "vault": "/"},
    ],
)
def test_PE2_a_question_about_nothing_is_refused(client, config, question):
    assert client.post("/api/rules/test", question).status_code == 422


def test_PE8_templates_are_switched_on_and_off_and_their_rules_stand_below_the_users(client, config):
    names = [template["name"] for template in client.get("/api/rules/templates").json()["templates"]]
    assert "git-read" in names
    on = client.put("/api/rules/templates", {"name": "git-read", "on": True}).json()["templates"]
    assert [template["name"] for template in on if template["on"]] == ["git-read"]
    assert "// why: pushes are public" in config.read_text()
    rules = client.get("/api/rules").json()["rules"]
    assert rules[0]["origin"] == "template"
    assert rules[-1]["origin"] == "user"
    off = client.put("/api/rules/templates", {"name": "git-read", "on": False}).json()["templates"]
    assert not any(template["on"] for template in off)
    assert client.put("/api/rules/templates", {"name": "nothing", "on": True}).status_code == 404
