"""The rows of permission, table by table (PE1-PE9, MO2)."""

import pytest

from holdfast.core.events import ApprovalAnswered
from holdfast.core.patterns import Rule
from holdfast.core.policy import EMPTY
from holdfast.core.settings import PermissionSettings
from holdfast.core.tools import NO_EFFECT, declared_tool
from holdfast.policies.permission import PermissionPolicy
from holdfast.rule_index import RuleIndex
from holdfast.testing.builders import START, EventBuilder, session_id
from judging import HOLDFAST_HOME, bench


@pytest.mark.parametrize(
    ("tool", "tool_input", "domain", "targets"),
    [
        ("read", {"path": "a.md"}, "read", ["vault:/a.md"]),
        ("read", {"file_path": "/etc/hosts"}, "read", ["fs:/etc/hosts"]),
        ("read", {"paths": ["a.md", "b.md"]}, "read", ["vault:/a.md", "vault:/b.md"]),
        ("ls", {}, "read", ["vault:/"]),
        ("ls", {"path": "src"}, "read", ["vault:/src"]),
        ("glob", {"pattern": "**/*.py"}, "read", ["vault:/"]),
        ("glob", {"pattern": "/etc/**/*.conf"}, "read", ["vault:/", "fs:/etc"]),
        ("glob", {"pattern": "../*", "path": "src"}, "read", ["vault:/src", "vault:/"]),
        ("glob", {"pattern": "../../*", "path": "src"}, "read", ["vault:/src", "fs:/"]),
        ("grep", {"pattern": "x", "path": "/var/log"}, "read", ["fs:/var/log"]),
        ("search_in_file", {"path": "a.md", "query": "x"}, "read", ["vault:/a.md"]),
        ("write", {"path": "a.md", "content": "x"}, "edit", ["vault:/a.md"]),
        ("edit", {"filePath": "../x"}, "edit", ["fs:/x"]),
        ("multiedit", {"edits": [{"path": "a"}, {"path": "/b"}]}, "edit", ["vault:/a", "fs:/b"]),
        ("multiedit", {"file_path": "a", "edits": [{"old": "x", "new": "y"}]}, "edit", ["vault:/a"]),
        ("move", {"source": "a", "destination": "/b"}, "edit", ["fs:/b", "vault:/a"]),
        ("delete", {"path": "a"}, "edit", ["vault:/a"]),
        ("bash", {"command": "git status"}, "bash", ["shell:git status"]),
        ("web_fetch", {"url": "https://Docs.rs/x?y"}, "web_fetch", ["url:https://docs.rs/x"]),
        ("web_search", {"query": "a  b"}, "web_search", ["query:a b"]),
        ("mcp:github/create_issue", {}, "mcp", ["mcp:github/create_issue"]),
        ("mcp__github__create_issue", {}, "mcp", ["mcp:github/create_issue"]),
        ("frobnicate", {"path": "a"}, "unknown", ["mcp:unknown/frobnicate"]),
        # the input is not what the table says: nobody can tell what it would touch
        ("read", {"uri": "a"}, "unknown", ["mcp:unknown/read"]),
        ("read", {"path": 7}, "unknown", ["mcp:unknown/read"]),
        ("move", {"source": "a"}, "unknown", ["mcp:unknown/move"]),
        ("apply_patch", {"patch": "no patch"}, "unknown", ["mcp:unknown/apply_patch"]),
        ("bash", {}, "unknown", ["mcp:unknown/bash"]),
    ],
)
def test_PE1_each_tool_has_its_domain_and_targets(tool, tool_input, domain, targets):
    call = bench().examined(tool, **tool_input)
    assert call.domain == domain
    assert [str(access.target) for access in call.accesses] == targets


@pytest.mark.parametrize("tool", NO_EFFECT)
def test_PE1_a_tool_without_effect_is_never_asked_about(tool):
    merged = bench("deny mcp **").judge(tool, anything="x")
    assert merged.decision == "allow"
    assert merged.findings == ()


def test_PE1_an_unknown_tool_asks_whatever_is_allowed_for_servers():
    assert bench("allow mcp **").decision("frobnicate") == "ask"
    assert bench("deny mcp **").decision("frobnicate") == "deny"
    assert bench("allow mcp mcp:unknown/frobnicate").decision("frobnicate") == "allow"


def test_PE1_an_external_tool_is_what_it_declares():
    tools = {
        "publish": declared_tool("publish"),
        "tidy": declared_tool("tidy", "edit", writes=("file",)),
        "sly": declared_tool("sly", "none"),
        "vague": declared_tool("vague", "edit"),
    }
    judged = bench(tools=tools)
    assert [str(a.target) for a in judged.examined("publish", x=1).accesses] == ["mcp:external/publish"]
    assert judged.decision("publish") == "ask"
    assert judged.decision("tidy", file="a.md") == "allow"
    assert judged.decision("tidy", file="/etc/hosts") == "deny"
    assert judged.decision("tidy") == "ask"
    # to have no effect, or no target, is not a tool's own to claim
    assert judged.decision("sly") == "ask"
    assert judged.decision("vague", file="a.md") == "ask"
    assert bench("allow mcp mcp:external/publish", tools=tools).decision("publish") == "allow"


def test_PE1_a_patch_is_judged_by_every_file_it_names():
    inside = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"
    outside = inside.replace("b.py", "../../etc/cron.d/x")
    call = bench().examined("apply_patch", patch=inside)
    assert call.files == 2
    assert bench().decision("apply_patch", patch=inside) == "allow"
    assert bench().decision("apply_patch", patch=outside) == "deny"


DEFAULTS = [
    ("read", {"path": "a.md"}, "allow"),
    ("read", {"path": "/vault/a.md"}, "allow"),
    ("read", {"path": "/etc/hosts"}, "ask"),
    ("ls", {"path": ".."}, "ask"),
    ("write", {"path": "a.md"}, "allow"),
    ("write", {"path": "/tmp/a.md"}, "deny"),
    ("move", {"source": "a", "destination": "/tmp/a"}, "deny"),
    ("move", {"source": "/tmp/a", "destination": "a"}, "deny"),
    ("delete", {"path": "/tmp/a"}, "deny"),
    ("bash", {"command": "ls"}, "ask"),
    ("bash", {"command": "cat a/b"}, "ask"),
    ("web_fetch", {"url": "https://example.org"}, "allow"),
    ("web_fetch", {"url": "ftp://example.org/x"}, "ask"),
    ("web_search", {"query": "x / y"}, "allow"),
    ("mcp:github/x", {}, "ask"),
    ("frobnicate", {}, "ask"),
]


@pytest.mark.parametrize(("tool", "tool_input", "expected"), DEFAULTS)
def test_PE4_defaults(tool, tool_input, expected):
    assert bench().decision(tool, **tool_input) == expected


CREDENTIALS = [
    ".env", ".env.local", "prod.env", "config/app.env.json", ".envrc", "server.pem", "tls/private.key", "store.p12",
    "id_rsa", "id_ed25519", "keys/id_ecdsa", ".ssh/config", ".ssh", ".aws/credentials", ".gnupg/secring.gpg", ".netrc",
    ".npmrc", ".pypirc", ".docker/config.json", ".kube/config", ".config/gcloud/credentials.db",
    ".azure/accessTokens.json", ".git-credentials", ".config/gh/hosts.yml", ".pgpass", "wallet.dat",
    "Library/Keychains/login.keychain-db",
    ".local/share/keyrings/login.keyring", "terraform.tfstate", ".bash_history", ".claude/.credentials.json",
]  # fmt: skip


@pytest.mark.parametrize("name", [".mozilla/firefox/x/logins.json", ".config/google-chrome/Default/Cookies"])
def test_PE10_a_browsers_profile_lets_into_the_page_so_nobody_reads_that_of_the_user(name):
    assert bench().decision("read", path=name) == "ask"
    assert bench().decision("read", path=f"/srv/other/{name}") == "ask"
    assert bench().decision("read", path=f"/home/u/{name}") == "deny"


@pytest.mark.parametrize("name", CREDENTIALS)
def test_PE4_credentials_are_asked_about_in_the_vault_and_outside(name):
    assert bench().decision("read", path=name) == "ask"
    assert bench().decision("read", path=f"/home/u/{name}") == "ask"
    assert bench().decision("write", path=name) in ("ask", "deny")
    assert bench().decision("write", path=f"/srv/{name}") == "deny"


@pytest.mark.parametrize("name", ["environment.py", "keys.md", "src/key/a.py", "monkey.txt", "ssh.md", "pem/readme.md"])
def test_PE8_ordinary_files_are_not_taken_for_credentials(name):
    assert bench().decision("read", path=name) == "allow"
    assert bench().decision("write", path=name) == "allow"


def test_PE4_outside_edits_follow_the_setting():
    asks = bench(settings=PermissionSettings(outside_edit="ask"))
    assert asks.decision("write", path="/tmp/a") == "ask"
    assert asks.decision("write", path="/home/u/.netrc") == "ask"


def test_PE4_servers_of_the_users_own_configuration_are_allowed_others_ask():
    # the published defaults put `mcp:**` behind the configured servers, so that they asked too
    judged = bench(servers=("github", "a*"))
    assert judged.decision("mcp:github/create_issue") == "allow"
    assert judged.decision("mcp:github2/create_issue") == "ask"
    assert judged.decision("mcp:a*/x") == "allow"
    assert judged.decision("mcp:abc/x") == "ask"


def test_PE4_no_match_is_ask_never_allow():
    empty = PermissionPolicy(RuleIndex([]))
    for tool, tool_input in (("read", {"path": "a"}), ("bash", {"command": "ls"}), ("web_search", {"query": "x"})):
        (finding,) = empty.decide(bench().event(tool, **tool_input), EMPTY)[0].findings
        assert finding.decision == "ask"
        assert "No rule speaks about" in finding.why.text()


def test_PE4_the_full_output_that_holdfast_points_to_may_be_read():
    assert bench().decision("read", path=f"{HOLDFAST_HOME}/data/outputs/2026-01-01-bash-c1.txt") == "allow"


def test_PE3_a_later_rule_wins_over_an_earlier_one():
    assert bench("deny read vault:/a.md", "allow read vault:/**").decision("read", path="a.md") == "allow"
    assert bench("allow read vault:/**", "deny read vault:/a.md").decision("read", path="a.md") == "deny"
    # a user who writes so reads credentials unasked: last match wins
    assert bench("allow read vault:/**").decision("read", path=".env") == "allow"


def test_PE3_across_targets_the_strictest_wins():
    judged = bench("ask edit vault:/b", "deny edit vault:/c")
    assert judged.decision("multiedit", edits=[{"path": "a"}, {"path": "b"}]) == "ask"
    assert judged.decision("multiedit", edits=[{"path": "c"}, {"path": "a"}, {"path": "b"}]) == "deny"


def test_PE3_the_finding_names_the_rule_its_place_and_the_target():
    merged = bench("deny read vault:/secret/**").judge("read", path="secret/a.md")
    assert merged.deciding.rule.pattern == "vault:/secret/**"
    assert merged.deciding.rule.line == 10
    assert merged.deciding.target == "vault:/secret/a.md"
    assert "config.jsonc:10" in merged.deciding.why.text()
    assert "config.jsonc:10" in merged.deciding.why.text("zh")


def test_PE3_an_expired_rule_no_longer_counts():
    at = EventBuilder().started().at
    policy = PermissionPolicy(RuleIndex([Rule("bash", "*", "ask"), Rule("bash", "ls", "allow", expires=at + 5)]))
    event = bench().event("bash", command="ls")
    assert policy.decide(event, EMPTY)[0].findings[0].decision == "allow"
    late = EventBuilder(start=at + 60).calling(event.call)
    assert policy.decide(late, EMPTY)[0].findings[0].decision == "ask"


def answered(rules, answer="for_a_while", at=START):
    return ApprovalAnswered(
        id="e9", at=at, where=session_id(), approval="a1", call_id="c1", answer=answer, by="local", rules=rules
    )


def test_PE6_like_this_for_a_while_answers_asks_until_it_ends_and_never_a_deny():
    policy = PermissionPolicy(RuleIndex([Rule("bash", "*", "ask"), Rule("bash", "git push *", "deny")]))
    grants = tuple(Rule("bash", p, "allow", "approval", expires=START + 1800) for p in ("git status *", "git push *"))
    _, state = policy.decide(answered(grants), EMPTY)

    def decide(command, at):
        event = EventBuilder(start=at).calling(bench().examined("bash", command=command))
        return policy.decide(event, state)[0].findings[0].decision

    assert decide("git status -s", START) == "allow"
    assert decide("git stash", START) == "ask"
    assert decide("git push", START) == "deny"
    assert decide("git status $X", START) == "ask"
    assert decide("git status -s", START + 1800) == "ask"


def test_PE6_grants_that_ended_leave_the_state():
    policy = PermissionPolicy(RuleIndex([]))
    _, state = policy.decide(answered((Rule("bash", "a", "allow", expires=START + 1),)), EMPTY)
    _, state = policy.decide(answered((Rule("bash", "b", "allow", expires=START + 99),), at=START + 50), state)
    assert [grant["pattern"] for grant in state["grants"]] == ["b"]


def test_PE6_always_is_in_the_rules_file_not_in_the_session():
    policy = PermissionPolicy(RuleIndex([]))
    _, state = policy.decide(answered((Rule("bash", "a", "allow"),), answer="always"), EMPTY)
    assert state == EMPTY


def test_PE9_unattended_an_ask_is_a_deny_with_a_reason():
    merged = bench(interactive=False).judge("bash", command="ls")
    assert merged.decision == "deny"
    assert "needs a person's approval" in merged.deciding.why.text()
    assert "Nobody can be asked" in merged.deciding.next_step.text()
    assert bench(interactive=False).decision("read", path="a.md") == "allow"


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("read", {"path": "/etc/hosts"}),
        ("read", {"path": ".env"}),
        ("bash", {"command": "make deploy"}),
        ("write", {"path": "/tmp/a"}),
        ("mcp:new/tool", {}),
        ("frobnicate", {}),
    ],
)
def test_MO2_full_access_lifts_asks_and_the_default_deny_and_records_it(tool, tool_input):
    merged = bench(mode="full_access").judge(tool, **tool_input)
    assert merged.decision == "allow"
    assert any(finding.lifted for finding in merged.findings)


def test_MO2_full_access_does_not_lift_the_users_own_denies():
    judged = bench("deny edit fs:/tmp/**", "deny bash make *", mode="full_access")
    assert judged.decision("write", path="/tmp/a") == "deny"
    assert judged.bash("make deploy") == "deny"
