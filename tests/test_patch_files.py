"""Which files a patch touches: every one of them, or the patch is refused (PE1)."""

import contextlib
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.patch_files import PatchError, patch_files


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        (
            "*** Begin Patch\n*** Add File: a b.py\n+x\n*** Update File: c.py\n@@\n-x\n+y\n*** Delete File: d\n",
            [("a b.py", "write"), ("c.py", "write"), ("d", "delete")],
        ),
        (
            "prose before\n*** Begin Patch\n*** Update File: a\n*** Move to: ../b\n@@\n+y\n*** End Patch",
            [("a", "write"), ("a", "delete"), ("../b", "write")],
        ),
        ("  *** Begin Patch\r\n  *** Update File:  a.py \r\n*** End Patch\r\n", [("a.py", "write")]),
        ("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n", [("x.py", "write")]),
        ("--- x.py\t2026-01-01\n+++ x.py\t2026-01-01\n@@ -1 +1 @@\n-a\n+b\n", [("x.py", "write")]),
        ("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+b\n", [("new", "write")]),
        ("--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", [("old", "delete")]),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", [("x", "write")]),
        ("diff --git a/my file b/my file\nold mode 100644\nnew mode 100755\n", [("my file", "write")]),
        (
            "diff --git a/old name b/new\nsimilarity index 100%\nrename from old name\nrename to new\n",
            [("old name", "delete"), ("new", "write")],
        ),
        ('--- "a/caf\\303\\251"\n+++ "b/caf\\303\\251"\n@@ -1 +1 @@\n-a\n+b\n', [("caf\u00e9", "write")]),
        # inside a hunk such lines are content
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/not this\n+++ b/nor this\n c\n", [("x", "write")]),
        # two files: the hunk ends where its count says
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/../../z\n@@ -1 +1 @@\n-a\n+b\n",
            [("x", "write"), ("../../z", "write"), ("y", "write")],
        ),
        ("--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", [("/etc/passwd", "write")]),
    ],
)
def test_PE1_files_of_a_patch(patch, expected):
    assert patch_files(patch) == expected


@pytest.mark.parametrize("text", ["", "no patch", "*** Begin Patch\n*** End Patch", "@@ -1 +1 @@\n-a\n+b"])
def test_PE1_a_patch_without_files_is_refused(text):
    with pytest.raises(PatchError, match="names no file"):
        patch_files(text)


@given(st.text(st.sampled_from('*-+@ ab/\n"\\0123 diff--git'), max_size=200))
def test_no_text_raises_anything_else(text):
    with contextlib.suppress(PatchError):
        patch_files(text)


NAMES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12)
    .filter(lambda name: name not in (".", "..", ".git") and len(name.encode()) < 200),
    min_size=1,
    max_size=3,
    unique=True,
)  # fmt: skip


@given(names=NAMES)
def test_PE1_every_file_that_git_changes_is_found(tmp_path_factory, names):
    folder = tmp_path_factory.mktemp("repository")

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True, timeout=60).stdout

    git("init", "-q")
    for name in names:
        (folder / name).write_text("new\n")
    git("add", "--intent-to-add", "--", ".")
    diff = git("diff", "--no-ext-diff", "--no-color").decode("utf-8", "surrogateescape")
    assert {path for path, _ in patch_files(diff)} >= set(names)


@pytest.mark.parametrize("line", ["+++ b/0 ", "+++ b/0 \t", '+++ "b/0" '])
def test_PE1_blanks_at_the_ends_of_a_name_hide_no_file(line):
    assert ("0", "write") in patch_files(f"--- /dev/null\n{line}\n@@ -0,0 +1 @@\n+new\n")
