"""The context gate, through the plane, on a real vault (MB2, MB3)."""

import pytest

from holdfast.core.risk import path_risk
from holdfast.core.settings import MemorySettings
from holdfast.testing.builders import session_id
from policies.gated_vault import FILES, GatedVault

PATTERNS = "memory-bank/details/patterns.md"


def test_MB2_block_high_risk_until_patterns_were_read(tmp_path):
    vault = GatedVault(tmp_path, guard_mode="block")
    vault.says()
    blocked = vault.writes("src/auth/login.ts")
    assert blocked.decision == "deny"
    assert blocked.reason().startswith("[Memory Bank Gating]")
    assert 'read(path="memory-bank/details/patterns.md")' in blocked.reason()
    vault.reads(PATTERNS)
    assert vault.writes("src/auth/login.ts").allowed


def test_MB2_warn_mode_only_warns(tmp_path):
    vault = GatedVault(tmp_path)
    vault.says()
    for path in ("src/utils/helper.ts", "src/auth/login.ts"):
        outcome = vault.writes(path)
        assert outcome.allowed
        assert outcome.warnings[0].text().startswith("[Memory Bank Gating]")


@pytest.mark.parametrize(
    ("mode", "risk", "decision", "warned"),
    [
        ("off", "high", "allow", False),
        ("off", "medium", "allow", False),
        ("off", "low", "allow", False),
        ("warn", "high", "allow", True),
        ("warn", "medium", "allow", True),
        ("warn", "low", "allow", False),
        ("block", "high", "deny", False),
        ("block", "medium", "allow", True),
        ("block", "low", "allow", False),
    ],
)
def test_MB2_the_guard_mode_table(tmp_path, mode, risk, decision, warned):
    path = {"high": "src/security/x.py", "medium": "src/x.py", "low": "docs/x.md"}[risk]
    vault = GatedVault(tmp_path, guard_mode=mode)
    vault.says()
    outcome = vault.writes(path)
    assert (outcome.decision, bool(outcome.warnings)) == (decision, warned)


def test_MB2_each_typed_message_starts_anew_but_a_continuation_does_not(tmp_path):
    vault = GatedVault(tmp_path, guard_mode="block")
    vault.says()
    vault.reads(PATTERNS)
    vault.says("go on", typed=False)
    assert vault.writes("src/auth/a.ts").allowed
    vault.says("something else")
    assert vault.writes("src/auth/a.ts").decision == "deny"


@pytest.mark.parametrize(
    "spelling",
    [
        "memory-bank/details/patterns.md",
        "./memory-bank/details/patterns.md",
        "memory-bank//details/../details/patterns.md",
        "{root}/memory-bank/details/patterns.md",
    ],
)
def test_MB2_every_spelling_of_the_file_counts(tmp_path, spelling):
    vault = GatedVault(tmp_path, guard_mode="block")
    vault.says()
    vault.reads(spelling.format(root=vault.root))
    assert vault.writes("src/auth/a.ts").allowed


def test_MB2_any_case_of_the_name_counts(tmp_path):
    files = {**FILES, "memory-bank/details/PATTERNS.md": "x"}
    del files["memory-bank/details/patterns.md"]
    vault = GatedVault(tmp_path, guard_mode="block", files=files)
    vault.says()
    assert vault.writes("src/auth/a.ts").decision == "deny"
    vault.reads("memory-bank/details/PATTERNS.md")
    assert vault.writes("src/auth/a.ts").allowed


@pytest.mark.parametrize(
    ("tool", "arguments", "counts"),
    [
        ("read", {"path": PATTERNS}, True),
        ("bash", {"command": f"cat {PATTERNS}"}, True),
        ("bash", {"command": f"head -3 {PATTERNS}"}, False),
        ("bash", {"command": f"grep auth {PATTERNS}"}, False),
        ("bash", {"command": f"cat {PATTERNS} > /dev/null"}, False),
        ("ls", {"path": "memory-bank/details"}, False),
        ("grep", {"path": PATTERNS, "pattern": "x"}, False),
        ("memory_read", {}, True),
        ("task", {"subagent_type": "memory-reader", "prompt": "read"}, True),
        ("task", {"subagent_type": "explorer", "prompt": "memory-reader"}, False),
    ],
)
def test_MB2_what_counts_as_a_read(tmp_path, tool, arguments, counts):
    vault = GatedVault(tmp_path, guard_mode="block")
    vault.says()
    vault.does(tool, **arguments)
    assert vault.writes("src/auth/a.ts").allowed is counts


def test_MB2_a_failed_read_and_a_namesake_do_not_count(tmp_path):
    vault = GatedVault(tmp_path, guard_mode="block", files={**FILES, "other/memory-bank/details/patterns.md": "x"})
    vault.says()
    vault.reads(PATTERNS, failed=True)
    assert vault.writes("src/auth/a.ts").decision == "deny"
    vault.reads("other/memory-bank/details/patterns.md")
    assert vault.writes("src/auth/a.ts").decision == "deny"


def test_MB10_a_subagents_reads_count_for_itself(tmp_path):
    vault = GatedVault(tmp_path, guard_mode="block")
    child = session_id(subagent="explorer")
    vault.says()
    vault.reads(PATTERNS, where=child)
    assert vault.writes("src/auth/a.ts", where=child).allowed
    assert vault.writes("src/auth/a.ts").decision == "deny"


def test_MB2_without_patterns_it_is_satisfied_with_one_warning(tmp_path):
    vault = GatedVault(tmp_path, guard_mode="block", files={})
    vault.says()
    first, second = vault.writes("src/auth/a.ts"), vault.writes("src/auth/b.ts")
    assert first.allowed
    assert "holdfast memory init" in first.warnings[0].text()
    assert second.allowed
    assert not second.warnings


@pytest.mark.parametrize(
    ("agent", "step"),
    [
        ("claude-code", 'Read(file_path="memory-bank/details/patterns.md")'),
        ("codex", 'cat "memory-bank/details/patterns.md"'),
        ("opencode", 'read({ filePath: "memory-bank/details/patterns.md" })'),
    ],
)
def test_MB2_the_next_step_is_in_the_hosts_own_tool(tmp_path, agent, step):
    vault = GatedVault(tmp_path, agent=agent, guard_mode="block")
    vault.says()
    assert step in vault.writes("src/auth/a.ts").reason()


@pytest.mark.parametrize(
    ("path", "risk"),
    [
        ("/src/auth/login.ts", "high"),
        ("/src/author/login.ts", "medium"),
        ("/packages/a/src/auth/x.py", "high"),
        ("/package.json", "high"),
        ("/docs/my-package.json", "low"),
        ("/tsconfig.json", "high"),
        ("/docker/Dockerfile", "high"),
        ("/docker-notes/x.py", "medium"),
        ("/infra/main.tf", "high"),
        ("/plugin/memory-bank.ts", "high"),
        ("/plugin/a/b.ts", "high"),
        ("/plugin/a/b.js", "medium"),
        ("/.github/workflows/ci.yml", "high"),
        ("/.env", "high"),
        ("/certs/server.pem", "high"),
        ("/lesson.md", "low"),
        ("/notes.txt", "low"),
        ("/data.json", "low"),
        ("/src/auth/readme.md", "high"),
        ("/main.py", "medium"),
    ],
)
def test_MB3_risk_by_whole_components_sensitive_first(path, risk):
    assert path_risk(path, MemorySettings()) == risk


def test_MB3_risk_is_configurable():
    settings = MemorySettings(high_risk=("billing/**",), low_risk=("*.css",))
    assert path_risk("/billing/a.md", settings) == "high"
    assert path_risk("/web/a.css", settings) == "low"


@pytest.mark.parametrize("command", ["git push", "gh pr merge 3 --squash", "npm publish", "terraform apply"])
def test_MB3_state_outside_the_vault_is_high_risk(tmp_path, command):
    vault = GatedVault(tmp_path, guard_mode="block")
    vault.says()
    assert vault.tries("bash", command=command).decision == "deny"


def test_MB3_several_files_are_at_least_medium(tmp_path):
    vault = GatedVault(tmp_path)
    vault.says()
    patch = "*** Begin Patch\n*** Add File: a.md\n+x\n*** Add File: b.md\n+x\n*** End Patch"
    assert vault.tries("apply_patch", patch=patch).warnings
    single = "*** Begin Patch\n*** Add File: a.md\n+x\n*** End Patch"
    assert not vault.tries("apply_patch", patch=single).warnings


@pytest.mark.parametrize(
    "command",
    [
        "rm src/auth/a.ts",
        "sed -i s/a/b/ src/auth/a.ts",
        "echo x > src/auth/a.ts",
        "mv x src/auth/a.ts",
        "tee src/auth/a.ts",
    ],
)
def test_MB4_writes_through_bash_count(tmp_path, command):
    vault = GatedVault(tmp_path, guard_mode="block")
    vault.says()
    assert vault.tries("bash", command=command).decision == "deny"


@pytest.mark.parametrize(
    "command", ["awk '$1 > 3' data.txt", "ls src > /dev/null", "grep -r 'a -> b' src", "git log --oneline | head"]
)
def test_MB4_what_only_looks_like_a_write_is_none(tmp_path, command):
    vault = GatedVault(tmp_path, guard_mode="block")
    vault.says()
    outcome = vault.tries("bash", command=command)
    assert outcome.allowed
    assert not outcome.warnings


def test_doc_first_reminds_once_per_message(tmp_path):
    vault = GatedVault(tmp_path, guard_mode="off", doc_first=True)
    vault.says()
    assert "before any memory-bank document" in vault.writes("src/a.py").warnings[0].text()
    assert not vault.writes("src/b.py").warnings
    vault.says()
    vault.reads("memory-bank/details/design/index-first.md")
    assert not vault.writes("src/a.py").warnings
