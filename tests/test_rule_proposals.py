"""What "always" would write: the narrowest useful rule, shown exactly, or nothing (PE7)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events import ToolCall
from holdfast.core.messages import plain
from holdfast.core.patterns import matches
from holdfast.core.targets import Target
from holdfast.core.verdict import Finding
from holdfast.rule_proposals import Proposal, _command_ladder, propose, propose_rules, why_only_once
from judging import bench, rule


def choices(tool, *rules, **tool_input):
    judged = bench(*rules)
    call = judged.examined(tool, **tool_input)
    return propose(call, judged.judge(tool, **tool_input).findings, judged.index())


def patterns(tool, *rules, **tool_input):
    return [[r.pattern for r in choice.rules] for choice in choices(tool, *rules, **tool_input).choices]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status -s", ["shell:git status *"]),
        ("git status", ["shell:git status *"]),
        ("git log --oneline -5", ["shell:git log *"]),
        ("ls -la src", ["shell:ls *"]),
        ("git push origin main", ["shell:git push origin main", "shell:git push *"]),
        ("npm run build", ["shell:npm run build", "shell:npm run build *"]),
        ("npm test", ["shell:npm test", "shell:npm test *"]),
        ("docker compose up -d", ["shell:docker compose up -d", "shell:docker compose up *"]),
        ("make deploy", ["shell:make deploy", "shell:make deploy *"]),
        # whatever does what its arguments say is repeated only as it is
        ("rm -rf build", ["shell:rm -rf build"]),
        ("python3 script.py", ["shell:python3 script.py"]),
        ("curl https://example.org/x", ["shell:curl https://example.org/x"]),
        ("./deploy.sh prod", ["shell:./deploy.sh prod", "shell:./deploy.sh *"]),
        ("git --version", ["shell:git --version"]),
    ],
)
def test_PE7_the_narrowest_useful_rule_comes_first(command, expected):
    assert [choice[0] for choice in patterns("bash", command=command)] == expected


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("git status && rm x", "2 commands are joined (git status, rm x)"),
        ("git status; ls", "2 commands are joined"),
        ("cat a | grep x", "2 commands are joined"),
        ("echo $(rm x)", "2 commands are joined"),
        ("for f in a b; do cat $f; done", "2 commands are joined"),
        ("git push $REMOTE", "only known when it runs"),
        ("$CMD x", "only known when it runs"),
        ("sudo rm x", "it runs through sudo"),
        ("bash -c 'rm x'", "it runs through bash"),
        ("LD_PRELOAD=x git status", "it sets LD_PRELOAD"),
        ("git status 'open", "could not be read"),
    ],
)
def test_PE7_what_is_compound_or_ambiguous_can_only_be_once(command, reason):
    found = choices("bash", command=command)
    assert found.choices == ()
    assert reason in found.refused.text()
    assert found.refused.text("zh")


def test_PE7_a_tool_that_nobody_knows_and_a_hook_that_asks_say_why_no_rule_helps():
    unknown = ToolCall("c", "mystery")
    asked = Finding("permission", "ask", plain("unknown"), domain="mcp")
    assert "mystery is a tool that is not known" in why_only_once(unknown, [asked]).text()
    hook = Finding("user_hooks", "ask", plain("look first"))
    assert "user_hooks asks" in why_only_once(ToolCall("c", "read"), [hook]).text()
    assert why_only_once(ToolCall("c", "read"), []) is None


def test_PE7_a_file_first_and_its_folder_only_as_a_wider_choice():
    assert patterns("read", path="/etc/app/a.conf") == [["fs:/etc/app/a.conf"], ["fs:/etc/app/**"]]
    assert patterns("read", path=".env") == [["vault:/.env"]]
    assert patterns("read", path="/data/a[1]*.txt")[0] == [r"fs:/data/a\[1]\*.txt"]


def test_PE7_servers_and_unknown_tools():
    assert patterns("mcp:github/create_issue") == [["mcp:github/create_issue"], ["mcp:github/*"]]
    assert patterns("frobnicate") == [["mcp:unknown/frobnicate"]]
    web = patterns("web_fetch", "ask web_fetch *", url="https://a.org/x/y?z")
    assert web == [["url:https://a.org/x/y"], ["url:https://a.org/**"]]


def test_PE7_every_question_of_the_call_gets_its_rule():
    assert patterns("bash", command="cat /etc/hosts") == [
        ["shell:cat *", "fs:/etc/hosts"],
        ["shell:cat *", "fs:/etc/**"],
    ]


def test_PE7_the_proposed_rules_do_let_the_call_through():
    for command in ("git status -s", "cat /etc/hosts", "npm run build", "rm -rf 'a b'", "echo '*'"):
        for choice in choices("bash", command=command).choices:
            judged = bench()
            judged.rules = list(choice.rules)
            assert judged.bash(command) == "allow", (command, choice)


def test_PE7_a_rule_of_the_users_that_still_wins_is_named():
    # the new rule goes above the deny, and the ask below it decides afterwards
    found = choices("bash", "deny bash rm *", "ask bash git *", command="git status -s")
    (still,) = found.choices[0].still
    assert "git *" in still.text()
    assert "config.jsonc:11" in still.text()
    # an ask above the deny is overridden by the new rule
    found = choices("bash", "ask bash git *", "deny bash rm *", command="git status -s")
    assert found.choices[0].still == ()


def test_PE7_nothing_is_proposed_for_what_was_not_asked():
    assert choices("read", path="a.md").choices == ()
    assert choices("write", path="/etc/x").choices == ()


def test_PE7_the_card_gets_the_exact_rules():
    judged = bench()
    call = judged.examined("bash", command="cat /etc/hosts")
    first = propose_rules(call, judged.judge("bash", command="cat /etc/hosts").findings)[0]
    assert (first["domain"], first["pattern"], first["decision"]) == ("bash", "shell:cat *", "allow")
    assert [(r["domain"], r["pattern"]) for r in first["rules"]] == [
        ("bash", "shell:cat *"),
        ("read", "fs:/etc/hosts"),
    ]
    assert Proposal((rule("allow bash x"),)).to_dict()["still"] == []


@given(
    st.lists(
        st.sampled_from(["git", "npm", "run", "status", "*", "[a]", "-x", "a b", "?", "\\"]), min_size=1, max_size=5
    )
)
def test_PE7_a_proposal_always_covers_its_own_command(words):
    target = Target("shell", " ".join(words).strip())
    call = bench().examined("ls")
    for pattern in _command_ladder(target, call):
        assert matches(rule(f"allow bash {pattern}"), target)
