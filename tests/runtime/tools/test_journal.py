"""The journal: whatever the tools did can be undone, call by call, and nothing of somebody else's is lost."""

import json
import os
import tempfile
import time
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from holdfast.runtime.tool import ToolFailure
from holdfast.runtime.tools.journal import Journal, sweep, undo_last
from tool_bench import Bench

NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/c"])
CONTENTS = st.sampled_from(["", "x\n", "x\ny\n", "\u4e2d\n", "no end"])


class Changes(RuleBasedStateMachine):
    """Random changes; before each the tree is noted, and every undo must lead back to what was noted."""

    def __init__(self):
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.bench = Bench(Path(self._folder.name))
        self.trees = []

    def teardown(self):
        self.bench.close()
        self._folder.cleanup()

    def whole(self):
        """Files with their contents, and folders."""
        folders = {str(path): b"" for path in self.bench.vault.rglob("*") if path.is_dir()}
        return {**self.bench.tree(), **folders}

    def change(self, tool, **given):
        before = self.whole()
        try:
            self.bench.call(tool, **given)
        except ToolFailure:
            assert self.whole() == before
            return
        if self.whole() != before:
            self.trees.append(before)

    @rule(path=NAMES, content=CONTENTS)
    def write(self, path, content):
        if (self.bench.vault / path).is_file():
            self.bench.call("read", path=path)
        self.change("write", path=path, content=content)

    @rule(path=NAMES)
    def edit(self, path):
        if (self.bench.vault / path).is_file():
            self.bench.call("read", path=path)
        self.change("edit", path=path, old_string="x", new_string="z")

    @rule(path=NAMES | st.just("d"))
    def delete(self, path):
        self.change("delete", path=path, recursive=True)

    @rule(source=NAMES | st.just("d"), destination=NAMES | st.just("f"))
    def move(self, source, destination):
        self.change("move", source=source, destination=destination)

    @rule(path=NAMES, other=NAMES)
    def patch(self, path, other):
        text = f"*** Begin Patch\n*** Add File: {path}\n+p\n*** Delete File: {other}\n*** End Patch"
        self.change("apply_patch", patch=text)

    @rule()
    def undo(self):
        undone = self.bench.undo()
        if not self.trees:
            assert undone is None
            return
        assert undone is not None
        assert not undone.left
        assert self.whole() == self.trees.pop()

    @invariant()
    def nothing_is_left_beside_the_work(self):
        assert not [name for name in self.bench.tree() if name.endswith(".tmp")]


Changes.TestCase.settings = settings(max_examples=40, stateful_step_count=12, deadline=None)
TestChanges = Changes.TestCase


def test_what_somebody_changed_since_is_left_and_said(bench):
    file = bench.seen("a.txt", "old\n")
    bench.call("write", path="a.txt", content="new\n")
    bench.call("write", path="b.txt", content="b\n")
    (bench.vault / "b.txt").write_text("mine now\n")
    undone = bench.undo()
    assert not undone.restored
    assert "was changed after this call" in undone.left[0]
    assert (bench.vault / "b.txt").read_text() == "mine now\n"
    file.write_text("also mine\n")
    undone = bench.undo()
    kept = Path(undone.left[0].rpartition(" is ")[2])
    assert kept.read_text() == "old\n"
    assert "Left as it is" in undone.text


def test_a_deleted_file_does_not_replace_what_came_after_it(bench):
    bench.put("a.txt", "old")
    bench.call("delete", path="a.txt")
    bench.put("a.txt", "new")
    assert "something else stands there now" in bench.undo().left[0]
    assert bench.tree() == {"a.txt": b"new"}


def test_a_crash_in_the_middle_can_be_undone(bench):
    bench.seen("a.txt", "a\n")
    bench.seen("b.txt", "b\n")
    edits = [{"path": f"{name}.txt", "old_string": name, "new_string": name.upper()} for name in "ab"]
    bench.call("multiedit", edits=edits)
    # As a crash between the two files leaves it: the entry begun, only the first file changed.
    journal = Journal(bench.context())
    entry = journal.last()
    (bench.vault / "b.txt").write_text("b\n")
    data = json.loads((entry.folder / "entry.json").read_text())
    (entry.folder / "entry.json").write_text(json.dumps({**data, "state": "begun"}))
    undone = bench.undo()
    assert not undone.left
    assert bench.tree() == {"a.txt": b"a\n", "b.txt": b"b\n"}


def test_a_torn_entry_is_passed_over(bench):
    bench.call("write", path="a.txt", content="a\n")
    torn = Journal(bench.context()).begin("write")
    (torn.folder / "entry.json").write_text('{"format": 1, "to')
    bench.undo()
    assert bench.tree() == {}


def test_undo_works_in_another_process_of_the_session(bench, tmp_path):
    bench.seen("a.txt", "old\n")
    bench.call("edit", path="a.txt", old_string="old", new_string="new")
    other = Bench(tmp_path)
    assert undo_last(other.context()).restored == (str(bench.vault / "a.txt"),)
    assert (bench.vault / "a.txt").read_text() == "old\n"


def test_the_trash_is_for_nobody_else_and_goes_after_a_while(bench):
    bench.put("a.txt", "secret")
    bench.call("delete", path="a.txt")
    root = Journal(bench.context()).root
    assert root.stat().st_mode & 0o077 == 0
    assert sweep(root.parent, 30) == 0
    old = time.time() - 31 * 86_400
    for path in (*root.iterdir(), root):
        os.utime(path, (old, old))
    assert sweep(root.parent, 30) == 1
    assert not root.exists()
    assert bench.undo() is None


def test_parallel_calls_do_not_share_an_entry(bench):
    import asyncio

    async def many():
        await asyncio.gather(*(bench.acall("write", path=f"{n}.txt", content=f"{n}\n") for n in range(20)))

    asyncio.run(many())
    assert len(bench.tree()) == 20
    for _ in range(20):
        assert not bench.undo().left
    assert bench.tree() == {}
