"""`apply_patch`: all of a patch or nothing of it."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.runtime.tools.patching import apply, parse


def patch(*lines):
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def test_files_are_added_updated_moved_and_deleted_together(bench):
    bench.put("a.py", "def f():\n    return 1\n\n\ndef g():\n    return 1\n")
    bench.put("old.txt", "bye\n")
    bench.put("name.txt", "x\ny\n", mode=0o750)
    text = patch(
        "*** Update File: a.py", "@@ def g():", "-    return 1", "+    return 2",
        "*** Add File: new/b.txt", "+hello", "+",
        "*** Delete File: old.txt",
        "*** Update File: name.txt", "*** Move to: other.txt", "@@", " x", "-y", "+z",
    )  # fmt: skip
    output = bench.call("apply_patch", patch=text)
    assert bench.tree() == {
        "a.py": b"def f():\n    return 1\n\n\ndef g():\n    return 2\n",
        "new/b.txt": b"hello\n\n",
        "other.txt": b"x\nz\n",
    }
    assert (bench.vault / "other.txt").stat().st_mode & 0o777 == 0o750
    assert output.text.startswith("Patched 5 files (+5 -4)")
    bench.undo()
    assert set(bench.tree()) == {"a.py", "old.txt", "name.txt"}
    assert (bench.vault / "name.txt").read_text() == "x\ny\n"
    assert (bench.vault / "name.txt").stat().st_mode & 0o777 == 0o750


def test_one_hunk_that_does_not_fit_leaves_everything_as_it_was(bench):
    bench.put("a.txt", "a\n")
    bench.put("b.txt", "b\n")
    text = patch("*** Update File: a.txt", "@@", "-a", "+A", "*** Update File: b.txt", "@@", "-missing", "+B")
    assert "b.txt, hunk 1: these lines were not found" in bench.failure("apply_patch", patch=text)
    assert bench.tree() == {"a.txt": b"a\n", "b.txt": b"b\n"}
    assert bench.undo() is None


def test_a_failing_disk_in_the_middle_takes_everything_back(bench):
    bench.put("a.txt", "a\n")
    bench.put("blocked", "a file where a folder is needed")
    text = patch("*** Update File: a.txt", "@@", "-a", "+A", "*** Add File: blocked/b.txt", "+b")
    assert "a folder is needed" in bench.failure("apply_patch", patch=text)
    assert bench.tree()["a.txt"] == b"a\n"
    assert bench.undo() is None


def test_lines_match_but_for_blanks_at_their_ends(bench):
    file = bench.put("a.txt", "one  \ntwo\t\nthree\n")
    bench.call("apply_patch", patch=patch("*** Update File: a.txt", "@@", " one", "-two", "+2", " three"))
    assert file.read_text() == "one  \n2\nthree\n"


def test_the_anchor_and_the_hunk_before_say_where_to_look(bench):
    file = bench.put("a.txt", "x\n1\nx\n1\nx\n1\n")
    text = patch("*** Update File: a.txt", "@@", " x", "-1", "+2", "@@", " x", "-1", "+3")
    bench.call("apply_patch", patch=text)
    assert file.read_text() == "x\n2\nx\n3\nx\n1\n"


def test_the_end_of_the_file_can_be_meant(bench):
    file = bench.put("a.txt", "x\nx\n")
    bench.call("apply_patch", patch=patch("*** Update File: a.txt", "@@", "-x", "+y", "*** End of File"))
    assert file.read_text() == "x\ny\n"
    bench.call("apply_patch", patch=patch("*** Update File: a.txt", "@@", "+last"))
    assert file.read_text() == "x\ny\nlast\n"


def test_a_file_the_model_knows_to_be_older_is_refused(bench):
    file = bench.seen("a.txt", "a\nb\n")
    file.write_text("a\nB\n")
    text = patch("*** Update File: a.txt", "@@", "-a", "+A")
    assert "has changed since" in bench.failure("apply_patch", patch=text)
    bench.call("read", path="a.txt")
    bench.call("apply_patch", patch=text)
    assert file.read_text() == "A\nB\n"


def test_fences_and_windows_line_ends_are_understood(bench):
    file = bench.put("a.txt", b"a\r\nb\r\n")
    text = "```diff\n" + patch("*** Update File: a.txt", "@@", "-a", "+A").replace("\n", "\r\n") + "\n```\n"
    bench.call("apply_patch", patch=text)
    assert file.read_bytes() == b"A\r\nb\r\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n",
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A",
        patch(),
        patch("*** Update File: a.txt"),
        patch("*** Update File:", "@@", "-a", "+A"),
        patch("-a", "+A"),
        patch("*** Update File: a.txt", "@@", "no mark"),
        patch("*** Add File: a.txt", "+a"),
        patch("*** Add File: b.txt", "no plus"),
        patch("*** Delete File: a.txt", "+x"),
        patch("*** Delete File: missing.txt"),
        patch("*** Update File: a.txt", "@@ nowhere", "-a", "+A"),
        patch("*** Update File: a.txt", "*** Move to: there.txt", "@@", "-a", "+A"),
        patch("*** Update File: a.txt", "@@", "-a", "+A", "*** Move to: c.txt"),
        patch("*** Delete File: a.txt", "*** Update File: a.txt", "@@", "-a", "+A"),
        patch("*** Update File: ../outside.txt", "@@", "-a", "+A"),
    ],
)
def test_what_cannot_be_applied_is_explained_and_nothing_happens(bench, text):
    bench.put("a.txt", "a\n")
    bench.put("there.txt", "t\n")
    assert bench.failure("apply_patch", patch=text)
    assert bench.tree() == {"a.txt": b"a\n", "there.txt": b"t\n"}


lines = st.lists(st.sampled_from(["a", "b", "c", "", " x", "-", "+y", "*** z", "@@"]), max_size=14)


def patch_between(before, after):
    """The patch a careful author would write: every hunk with all lines since the one before."""
    out = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        out += [f" {line}" for line in before[a:b]] if kind == "equal" else []
        out += [f"-{line}" for line in before[a:b]] if kind in ("replace", "delete") else []
        out += [f"+{line}" for line in after[c:d]] if kind in ("replace", "insert") else []
    return patch("*** Update File: f", "@@", *out)


@given(before=lines, after=lines)
def test_a_patch_made_from_two_texts_leads_from_one_to_the_other(before, after):
    if not before and not after:
        return
    content = "".join(f"{line}\n" for line in before)
    (only,) = parse(patch_between(before, after))
    assert apply(content, only) == "".join(f"{line}\n" for line in after)
