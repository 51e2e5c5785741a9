"""The recovery gate and the writer guard, through the plane, on a real vault (MB5, MB7-MB10)."""

import os
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.memory import BLOCK_TOKENS, Focus, MemoryFacts, anchor_block, focus_of
from holdfast.core.tokens import estimate
from holdfast.store.memory_layout import TEMPLATES
from holdfast.testing.builders import session_id
from policies.gated_vault import FILES, GatedVault

REQUIREMENT = "memory-bank/details/requirements/REQ-005.md"
DESIGN = "memory-bank/details/design/index-first.md"
MEMORY, PATTERNS = "memory-bank/MEMORY.md", "memory-bank/details/patterns.md"


def compacted(tmp_path, *read, **options):
    vault = GatedVault(tmp_path, **options)
    vault.says()
    for path in read:
        vault.reads(path)
    vault.compacts()
    return vault


def test_MB9_after_compaction_writes_wait_for_every_anchor(tmp_path):
    vault = compacted(tmp_path, REQUIREMENT, DESIGN)
    blocked = vault.writes("src/a.py")
    assert blocked.decision == "deny"
    assert blocked.reason().startswith("[Recovery Gate]")
    assert f'read(path="{DESIGN}")' in blocked.reason()
    vault.reads(DESIGN)
    assert REQUIREMENT in vault.writes("src/a.py").reason()
    assert DESIGN not in vault.writes("src/a.py").reason()
    vault.reads(REQUIREMENT)
    assert vault.writes("src/a.py").allowed


def test_MB9_low_risk_and_reading_go_on(tmp_path):
    vault = compacted(tmp_path, REQUIREMENT)
    assert vault.writes("notes.md").allowed
    assert vault.tries("bash", command="git status && ls -la").allowed


def test_MB9_a_merge_after_a_compaction_is_stopped(tmp_path):
    vault = compacted(tmp_path, REQUIREMENT)
    assert vault.tries("bash", command="gh pr merge 3 --squash").decision == "deny"


@pytest.mark.parametrize("mode", ["off", "warn", "block"])
def test_MB9_it_holds_in_every_guard_mode(tmp_path, mode):
    vault = compacted(tmp_path, REQUIREMENT, guard_mode=mode)
    assert vault.writes("src/a.py").decision == "deny"


def test_MB9_its_own_switch_turns_it_off(tmp_path):
    vault = compacted(tmp_path, REQUIREMENT, recovery=False)
    assert vault.writes("src/a.py").allowed


@pytest.mark.parametrize(
    ("tool", "arguments"), [("memory_read", {}), ("task", {"subagent_type": "memory-reader", "prompt": "x"})]
)
def test_MB10_memory_reader_clears_both_gates_at_once_and_it_is_audited(tmp_path, tool, arguments):
    vault = compacted(tmp_path, REQUIREMENT, guard_mode="block")
    vault.does(tool, **arguments)
    assert vault.writes("src/auth/a.ts").allowed
    cleared = [f["why"]["code"] for entry in vault.store.audit() for f in entry.get("findings", [])]
    assert "recovery_gate.cleared" in cleared


def test_MB9_an_anchor_deleted_meanwhile_is_dropped(tmp_path):
    vault = compacted(tmp_path, REQUIREMENT, DESIGN)
    (vault.root / DESIGN).unlink()
    vault.reads(REQUIREMENT)
    assert vault.writes("src/a.py").allowed


def test_MB9_none_left_clears_it(tmp_path):
    vault = compacted(tmp_path, REQUIREMENT)
    (vault.root / REQUIREMENT).unlink()
    assert vault.writes("src/a.py").allowed


def test_MB8_nothing_tracked_means_memory_and_patterns(tmp_path):
    vault = compacted(tmp_path)
    assert sorted(vault.recovering()) == sorted([MEMORY, PATTERNS])


def test_MB8_no_memory_bank_means_no_recovery(tmp_path):
    vault = compacted(tmp_path, files={})
    assert vault.writes("src/a.py").allowed


def test_MB7_anchors_are_successful_reads_newest_first_at_most_five(tmp_path):
    extra = {f"memory-bank/details/design/d{n}.md": "x" for n in range(7)}
    vault = GatedVault(tmp_path, files={**FILES, **extra})
    vault.says()
    vault.reads(REQUIREMENT, failed=True)
    for name in extra:
        vault.reads(name)
    vault.reads("memory-bank/details/design/d3.md")
    vault.reads(PATTERNS)
    vault.compacts()
    assert vault.recovering() == [f"memory-bank/details/design/d{n}.md" for n in (3, 6, 5, 4, 2)]


def test_MB9_codex_has_no_read_tool_and_printing_the_file_counts(tmp_path):
    vault = GatedVault(tmp_path, agent="codex")
    vault.says()
    vault.does("bash", command=f"cat {REQUIREMENT}")
    vault.compacts()
    blocked = vault.tries("bash", command="echo x > src.py")
    assert f'cat "{REQUIREMENT}"' in blocked.reason()
    vault.does("bash", command=f"head -1 {REQUIREMENT}")
    assert vault.tries("bash", command="echo x > src.py").decision == "deny"
    vault.does("bash", command=f"cat {REQUIREMENT}")
    assert vault.tries("bash", command="echo x > src.py").allowed


def test_MB8_the_block_reaches_the_working_model(tmp_path):
    vault = GatedVault(tmp_path)
    vault.says()
    vault.reads(REQUIREMENT)
    injected = "\n".join(part.text for part in vault.compacts().inject)
    assert "<memory-bank>" in injected
    assert "<memory-bank-anchors>" in injected
    assert f"- {REQUIREMENT}" in injected
    assert "- Goal: ship it" in injected
    assert "Compaction #1" in injected
    assert "<memory-bank-anchors>" in "".join(part.text for part in vault.says().inject), "until it is cleared"
    vault.reads(REQUIREMENT)
    assert "<memory-bank-anchors>" not in "".join(part.text for part in vault.says().inject)


def test_MB8_two_signals_of_one_compaction_count_once(tmp_path):
    vault = GatedVault(tmp_path, agent="claude-code")
    vault.says()
    vault.reads(REQUIREMENT)
    vault.plane.handle(vault.build.started(source="compact"))
    vault.compacts()
    assert vault.store.state(vault.where).data["recovery_gate"]["compactions"] == 1
    vault.reads(REQUIREMENT)
    vault.compacts()
    assert vault.store.state(vault.where).data["recovery_gate"]["compactions"] == 2


words = st.text(max_size=400)


@given(words, words, words, st.lists(st.sampled_from(list(FILES)), min_size=1, max_size=5, unique=True))
@settings(deadline=None)
def test_MB8_the_block_never_loses_a_path_and_stays_short(goal, progress, remaining, paths):
    text = f"## Current Focus\n- Goal: {goal}\n- In progress: {progress}\n- Remaining: {remaining}\n"
    block = anchor_block(paths, MemoryFacts(text=text), 3)
    assert all(f"- {path}" in block for path in paths)
    assert estimate(block) <= BLOCK_TOKENS
    assert block.startswith("<memory-bank-anchors>")
    assert block.endswith("</memory-bank-anchors>")


def test_MB8_a_focus_that_nobody_has_filled_in_says_nothing():
    for files in TEMPLATES.values():
        assert focus_of(files["MEMORY.md"]) == Focus()
    half = TEMPLATES["en"]["MEMORY.md"].replace("- In progress:", "- In progress: tests")
    assert focus_of(half) == Focus(progress="tests")


def test_MB8_focus_is_read_in_both_languages():
    assert focus_of("# M\n## Current Focus\n* **Goal:** a\n## Next\n- Goal: b").goal == "a"
    found = focus_of("## 当前焦点\n- 目标：甲\n- 进行中：乙\n- 剩余：丙\n")
    assert (found.goal, found.progress, found.remaining) == ("甲", "乙", "丙")
    assert focus_of("no focus here\n- Goal: x").goal == ""


@pytest.mark.parametrize(
    "other", [{"session": "s2"}, {"thread": "t2", "session": "s3"}, {"agent": "b", "session": "s4"}]
)
def test_MB9_a_read_elsewhere_does_not_count(tmp_path, other):
    vault = compacted(tmp_path, REQUIREMENT)
    where = session_id(**other)
    vault.reads(REQUIREMENT, where=where)
    assert vault.writes("src/a.py").decision == "deny"


ACCENTED = "memory-bank/details/design/r\u00e9sum\u00e9.md"


def forms(root: Path, path: str, folds: bool) -> list[str]:
    """Spellings of one file that all lead to it on this file system."""
    folder, name = os.path.split(path)
    link = root / "link"
    if not link.exists():
        link.symlink_to(root / "memory-bank")
    same = [
        path,
        f"./{path}",
        path.replace("/", "//"),
        str(root / path),
        f"{root}/./{path}",
        f"{folder}/../{Path(folder).name}/{name}",
        path.replace("memory-bank", "link", 1),
        f"src/../{path}",
        path.replace("/", "\\"),
    ]
    if folds:  # as on macOS and Windows; the file itself lies there under one name only
        same += [path.upper(), path.title(), unicodedata.normalize("NFD", path), str(root / path.swapcase())]
    return same


kinds = st.sampled_from(["read", "compact", "prompt", "continue", "write", "child_read", "child_write", "fail", "both"])
steps = st.lists(st.tuples(kinds, st.integers(0, 12), st.integers(0, 4)), max_size=14)


@given(steps, st.booleans(), st.data())
@settings(max_examples=80, deadline=None)
def test_MB9_never_a_deadlock_whatever_the_order_and_spelling(sequence, folds, data):
    with TemporaryDirectory() as folder:
        vault = GatedVault(Path(folder), files={**FILES, ACCENTED: "a design"}, folds_case=folds)
        (vault.root / "src").mkdir()
        names = [REQUIREMENT, DESIGN, PATTERNS, "memory-bank/details/progress.md", ACCENTED]
        child = session_id(subagent="explorer")

        def spelled(path, form):
            same = forms(vault.root, path, folds)
            return same[form % len(same)]

        for kind, form, which in sequence:
            path = spelled(names[which], form)
            match kind:
                case "read":
                    vault.reads(path)
                case "both":
                    with ThreadPoolExecutor(2) as pool:
                        list(pool.map(vault.reads, [path, spelled(names[which - 1], form)]))
                case "child_read":
                    vault.reads(path, where=child)
                case "child_write":
                    vault.writes("src/a.py", where=child)
                case "fail":
                    vault.reads(path, failed=True)
                case "compact":
                    vault.compacts()
                case "prompt":
                    vault.says()
                case "continue":
                    vault.says(typed=False)
                case "write":
                    vault.writes("src/a.py")
        for where in (None, child):  # a sub-agent too finds its way out by itself
            cleared(vault, where, lambda path: spelled(path, data.draw(st.integers(0, 12))))


def cleared(vault, where, spelled):
    for _ in range(10):
        outcome = vault.writes("src/a.py", where=where)
        if outcome.allowed:
            return
        named = [line.strip()[11:-2] for line in outcome.reason().splitlines() if line.strip().startswith("read(")]
        assert named, "a blocked call always names what to read"
        vault.reads(spelled(named[0]), where=where)
    pytest.fail("reading what the message names never cleared the gate")


def test_MB9_parallel_reads_clear_the_gate(tmp_path):
    vault = compacted(tmp_path, REQUIREMENT, DESIGN, "memory-bank/details/progress.md")
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(vault.reads, vault.recovering() * 2))
    assert vault.writes("src/a.py").allowed


def test_MB7_one_file_is_one_anchor_however_it_is_spelled_where_case_is_folded(tmp_path):
    vault = GatedVault(tmp_path, folds_case=True)
    vault.reads(REQUIREMENT)
    vault.reads(REQUIREMENT.upper())
    vault.compacts()
    assert len(vault.recovering()) == 1
    vault.reads(REQUIREMENT)
    assert vault.writes("src/a.py").allowed


# the writer guard


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write", {"path": "memory-bank/MEMORY.md", "content": "x"}),
        ("edit", {"path": "./memory-bank/details/patterns.md"}),
        ("move", {"source": "memory-bank/MEMORY.md", "destination": "x.md"}),
        ("delete", {"path": "memory-bank"}),
        ("bash", {"command": "echo x >> memory-bank/MEMORY.md"}),
        ("bash", {"command": "rm -rf memory-bank"}),
        ("bash", {"command": "cd memory-bank && tee MEMORY.md"}),
        ("bash", {"command": "rm -rf memory*"}),
        ("write", {"path": "linked/MEMORY.md", "content": "x"}),
    ],
)
def test_MB5_only_the_writer_may_write(tmp_path, tool, arguments):
    vault = GatedVault(tmp_path, guard_mode="off")
    (vault.root / "linked").symlink_to(vault.root / "memory-bank")
    outcome = vault.tries(tool, **arguments)
    assert outcome.decision == "deny"
    assert outcome.deciding.policy == "writer_guard"
    assert "memory_propose" in outcome.reason()


def test_MB5_the_writer_may_write_markdown_and_nothing_else(tmp_path):
    vault = GatedVault(tmp_path)
    writer = session_id(subagent="memory-bank-writer")
    assert vault.writes("memory-bank/details/learnings/a.md", where=writer).allowed
    refused = vault.writes("memory-bank/run.sh", where=writer)
    assert refused.decision == "deny"
    assert "Markdown" in refused.reason()


def test_MB5_the_rest_of_the_vault_is_not_guarded(tmp_path):
    vault = GatedVault(tmp_path, guard_mode="off")
    for path in ("memory-banker/x.py", "src/memory-bank.py", "docs/memory-bank/x.md"):
        assert vault.writes(path).allowed
    assert vault.tries("bash", command="rm *.pyc").allowed
