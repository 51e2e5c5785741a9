"""Globs as bash expands them, and never a search of the whole disk (PE5)."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.glob_files import expand_glob


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    for name in ("a.md", "b.md", ".env", "x y.txt", "[z].md", "src/a.py", "src/b.py", "src/deep/c.py", ".hidden/d.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (folder / "link").symlink_to(folder / "src")
    (folder / "gone").symlink_to(folder / "nowhere")
    return folder


def in_bash(folder, pattern):
    script = f'shopt -s nullglob; cd "$1"; for f in {pattern}; do printf \'%s\\0\' "$1/$f"; done'
    run = subprocess.run(
        ["bash", "-c", script, "bash", str(folder)],
        capture_output=True, check=True, timeout=30, text=True, env={"LC_ALL": "C"},
    )  # fmt: skip
    return sorted(run.stdout.split("\0")[:-1])


PIECES = st.sampled_from(
    ["*", "?", "a", "b", ".md", ".py", "[ab]", "[!a]", "[^a]", "src", "link", ".e", ".", "deep", "g*"]
)
NAMES = st.lists(PIECES, min_size=1, max_size=3).map("".join).filter(lambda name: any(char in name for char in "*?["))


@given(names=st.lists(NAMES, min_size=1, max_size=3))
def test_PE5_a_glob_stands_for_what_bash_says(tree, names):
    pattern = "/".join(names)
    expected = [path for path in in_bash(tree, pattern) if path.rsplit("/", 1)[-1] not in (".", "..")]
    found = expand_glob(f"{tree}/{pattern}")
    # more than bash is fine (a bracket may have been quoted), less never
    assert set(found) >= {path for path in expected if "/../" not in path}
    assert "[" in pattern or {path for path in found if "/../" not in path} <= set(expected)


def test_PE5_too_many_files_are_not_named(tree):
    assert expand_glob(f"{tree}/*.md", most_files=2) is None
    assert len(expand_glob(f"{tree}/*.md", most_files=3)) == 3


def test_PE5_looking_is_bounded(tree):
    assert expand_glob(f"{tree}/*/*", most_looks=5) is None


def test_PE5_a_relative_pattern_cannot_be_expanded_here():
    assert expand_glob("*.md") is None


def test_PE5_nothing_matches(tree):
    assert expand_glob(f"{tree}/*.nothing") == []
    assert expand_glob(f"{tree}/nowhere/*") == []


def test_PE5_a_quoted_bracket_is_found_too(tree):
    # `cat "[z]"*` reads `[z].md`, and the quotes are not visible here any more
    assert f"{tree}/[z].md" in expand_glob(f"{tree}/[z]*")
