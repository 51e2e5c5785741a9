"""`glob`: what a pattern means, where it may lead, and that it ends."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from wcmatch import glob as wc

from holdfast.runtime.tools.globbing import Glob, GlobError, expand_braces, literal_part, walk

FILES = (
    "a.py",
    "b.txt",
    "src/a.py",
    "src/test_a.ts",
    "src/x/y/z.py",
    ".hidden/c.py",
    "docs/[x].md",
    "node_modules/n.py",
)


@pytest.fixture
def filled(bench):
    for path in FILES:
        bench.put(path, "x")
    return bench


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["a.py"]),
        ("**/*.py", [".hidden/c.py", "a.py", "src/a.py", "src/x/y/z.py"]),
        ("src/**", ["src/a.py", "src/test_a.ts", "src/x/", "src/x/y/", "src/x/y/z.py"]),
        ("src/*", ["src/a.py", "src/test_a.ts", "src/x/"]),
        ("**/test_*.ts", ["src/test_a.ts"]),
        ("*.{py,txt}", ["a.py", "b.txt"]),
        ("{src,docs}/*.??", ["docs/[x].md", "src/a.py", "src/test_a.ts"]),
        ("**/[!a].py", [".hidden/c.py", "src/x/y/z.py"]),
        ("docs/[[]x].md", ["docs/[x].md"]),
        ("node_modules/*.py", ["node_modules/n.py"]),
        ("src/a.py", ["src/a.py"]),
        ("./src//a.py", ["src/a.py"]),
    ],
)
def test_patterns(filled, pattern, found):
    assert sorted(filled.text("glob", pattern=pattern).split("\n")) == found


def test_a_folder_narrows_it_and_absolute_patterns_work(filled):
    assert filled.text("glob", pattern="**/*.py", path="src") == "src/a.py\nsrc/x/y/z.py"
    assert filled.text("glob", pattern=f"{filled.vault}/src/*.py") == "src/a.py"


def test_nothing_found_is_said(filled):
    assert filled.text("glob", pattern="*.rs") == "No file matches '*.rs' below the vault."


def test_more_than_the_limit_is_said(filled):
    text = filled.text("glob", pattern="**/*.py", limit=2)
    assert text.count("\n") == 2
    assert "more than 2 matches" in text


@pytest.mark.parametrize(
    "pattern", ["*/../../*", "{../..,src}/*", "{/etc,src}/*", "*/..", "src/{a,../../../etc/*}", "", "{,}"]
)
def test_a_pattern_cannot_lead_where_it_was_not_judged(filled, pattern):
    assert filled.failure("glob", pattern=pattern)


def test_links_are_not_followed(filled, tmp_path):
    (tmp_path / "secret.py").write_text("x")
    (filled.vault / "out").symlink_to(tmp_path)
    (filled.vault / "loop").symlink_to(".")
    assert "secret" not in filled.text("glob", pattern="**/*.py")
    assert "leads out of the vault" in filled.failure("glob", pattern="out/*.py")


def test_braces_are_bounded():
    with pytest.raises(GlobError):
        Glob.parse("{a,b}" * 20)
    assert expand_braces("a{b,{c,d}}e") == ["abe", "ace", "ade"]
    assert expand_braces("{a}{b") == ["{a}{b"]


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("src/**/*.py", ("src", "**/*.py")),
        ("*.py", ("", "*.py")),
        ("/etc/*.conf", ("/etc", "*.conf")),
        ("/*", ("/", "*")),
        ("../a/*", ("../a", "*")),
        ("a/b", ("a", "b")),
    ],
)
def test_where_a_pattern_begins(pattern, parts):
    assert literal_part(pattern) == parts


names = st.sampled_from(["a", "b", "ab", ".a", "a.b", "abc"])
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
pieces = st.sampled_from(
    ["*", "**", "a*", "*b", "?", "??", "[ab]", "[!a]*", "a", "b", ".a", "{a,b}", "a{,b}", "*.b", "[a-c]"]
)
patterns = st.lists(pieces, min_size=1, max_size=4).map("/".join)
FLAGS = wc.GLOBSTAR | wc.DOTGLOB | wc.BRACE | wc.FORCEUNIX


@settings(max_examples=400)
@example("*/**", "a")
@given(pattern=patterns, path=paths)
def test_a_path_matches_as_in_wcmatch(pattern, path):
    assert Glob.parse(pattern).matches(path) == wc.globmatch(path, pattern, flags=FLAGS)


@settings(max_examples=60)
@given(pattern=patterns, files=st.sets(paths, max_size=8))
def test_the_walk_finds_exactly_what_matches(pattern, files):
    with tempfile.TemporaryDirectory() as root:
        for name in sorted(files):
            path = Path(root, name)
            if any(parent.is_file() for parent in path.parents) or path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        there = [os.path.relpath(os.path.join(at, name), root) for at, ds, fs in os.walk(root) for name in (*ds, *fs)]
        glob = Glob.parse(pattern)
        assert sorted(relative for relative, _ in walk(root, glob)) == sorted(filter(glob.matches, there))
