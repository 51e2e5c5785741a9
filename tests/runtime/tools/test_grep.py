"""`grep` and `search_in_file`: by ripgrep and by ourselves, with the same answer."""

import shutil
import time
from operator import attrgetter

import pytest

from holdfast.runtime.tools import grep_by_ripgrep, grep_by_us
from holdfast.runtime.tools.grep_query import Query
from holdfast.runtime.tools.places import find
from tool_bench import Bench

RIPGREP = shutil.which("rg")


@pytest.fixture(params=["ripgrep", "us"])
def filled(request, bench, monkeypatch):
    """The same files, searched by one program or the other."""
    if request.param == "ripgrep" and RIPGREP is None:
        pytest.skip("installable: ripgrep")
    if request.param == "us":
        monkeypatch.setenv("PATH", str(bench.home))  # no program is found there
    bench.put("a.py", "import os\nx = 1\nimport sys\n")
    bench.put("src/b.py", "def f():\n    import re\n")
    bench.put("src/c.txt", "IMPORT\n")
    bench.put(".env", "KEY=import\n")
    bench.put("deploy.pem", "import\n")
    bench.put("x.bin", b"import\0\0\0")
    bench.put(".git/config", "import\n")
    return bench


def test_lines_come_with_path_and_number(filled):
    text = filled.text("grep", pattern=r"^\s*import \w+")
    assert text == "a.py:1:import os\na.py:3:import sys\nsrc/b.py:2:    import re"


def test_guarded_files_are_named_but_not_shown(filled):
    text = filled.text("grep", pattern="import")
    assert "KEY" not in text
    assert "rule guards the file (2): .env, deploy.pem" in text
    assert filled.call("grep", pattern="KEY").display["matches"] == 0
    # Naming the file is another question, which was judged.
    assert filled.text("grep", pattern="KEY", path=".env") == ".env:1:KEY=import"


def test_a_folder_outside_that_was_judged_is_shown_but_for_what_is_guarded(filled, tmp_path):
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "a.h").write_text("needle\n")
    (outside / "key.pem").write_text("needle\n")
    text = filled.text("grep", pattern="needle", path=str(outside))
    assert f"{outside}/a.h:1:needle" in text
    assert f"guards the file (1): {outside}/key.pem" in text


def test_options(filled):
    assert (
        filled.text("grep", pattern="IMPORT", ignore_case=True, path="src")
        == "src/b.py:2:    import re\nsrc/c.txt:1:IMPORT"
    )
    assert filled.text("grep", pattern="f()", literal=True) == "src/b.py:1:def f():"
    assert filled.text("grep", pattern="import", include="*.py", output="files") == "a.py\nsrc/b.py"
    assert filled.text("grep", pattern="import", include="src/**/*.py", output="count") == "src/b.py: 1"
    assert filled.text("grep", pattern="x = 1", context=1) == "a.py-1-import os\na.py:2:x = 1\na.py-3-import sys"
    assert "only the first 1 matches" in filled.text("grep", pattern="import", include="*.py", limit=1)
    assert filled.text("grep", pattern="nothing here") == "No matches for 'nothing here' in the vault."


def test_a_single_file_and_a_missing_one(filled):
    assert filled.text("grep", pattern="x", path="a.py") == "a.py:2:x = 1"
    assert "does not exist" in filled.failure("grep", pattern="x", path="nowhere")


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2", "(?=x)", "*"])
def test_a_pattern_that_is_none_is_explained(filled, pattern):
    if pattern in ("a{2", "*"):
        filled.call("grep", pattern=pattern, literal=True)
    else:
        assert "is no regular expression" in filled.failure("grep", pattern=pattern)


@pytest.mark.parametrize("include", ["../*", "/etc/*", "{../a,b}"])
def test_include_cannot_lead_out(filled, include):
    assert "leads out" in filled.failure("grep", pattern="x", include=include)


def test_a_pattern_that_looks_like_an_option_is_a_pattern(filled):
    filled.put("o.txt", "--pre=sh\n")
    assert filled.text("grep", pattern="--pre=sh") == "o.txt:1:--pre=sh"


def test_links_are_not_followed(filled, tmp_path):
    (tmp_path / "secret.txt").write_text("import key\n")
    (filled.vault / "out").symlink_to(tmp_path)
    (filled.vault / "file").symlink_to(tmp_path / "secret.txt")
    assert "key" not in filled.text("grep", pattern="import key", output="files").replace("'import key'", "")
    assert "leads out of the vault" in filled.failure("grep", pattern="x", path="out")


def test_names_with_anything_in_them(filled):
    filled.put("odd: 1-name\twith tab.txt", "needle\n")
    assert filled.text("grep", pattern="needle") == "odd: 1-name\twith tab.txt:1:needle"


def test_a_hostile_expression_ends_soon(bench):
    bench.put("a.txt", "a" * 50_000 + "!\n")
    place = find(bench.context(), ".")
    began = time.monotonic()
    grep_by_us.search(place, Query(r"(a+)+$"), 10)
    assert time.monotonic() - began < 5


def test_the_deadline_is_kept(bench):
    for number in range(200):
        bench.put(f"{number}.txt", "line\n" * 2000)
    place = find(bench.context(), ".")
    assert grep_by_us.search(place, Query("nothing"), 10, seconds=0).late
    if RIPGREP is not None:
        found = grep_by_ripgrep.search(RIPGREP, place, Query("line"), 10**9, seconds=0)
        assert found.late


@pytest.mark.skipif(RIPGREP is None, reason="installable: ripgrep")
def test_both_ways_of_searching_agree(tmp_path):
    bench = Bench(tmp_path)
    for number in range(30):
        bench.put(f"d{number % 3}/f{number}.txt", "".join(f"{number * k % 7} word {k}\r\n" for k in range(40)))
    place = find(bench.context(), ".")
    for query in (
        Query("word 1"),
        Query("^3 ", context=2),
        Query("WORD 3", ignore_case=True),
        Query("0 w", include="*1.txt"),
    ):
        ours = grep_by_us.search(place, query, 10_000)
        theirs = grep_by_ripgrep.search(RIPGREP, place, query, 10_000)
        by_place = attrgetter("path", "number")
        assert sorted(ours.lines, key=by_place) == sorted(theirs.lines, key=by_place)
        assert ours.lines


def test_search_in_file_shows_the_lines_around(bench):
    bench.put("log.txt", "".join(f"line {number}\n" for number in range(100)))
    assert bench.text("search_in_file", path="log.txt", pattern="line 50") == (
        "49-line 48\n50-line 49\n51:line 50\n52-line 51\n53-line 52"
    )
    assert "--" in bench.text("search_in_file", path="log.txt", pattern="line [18]0", context=0)
    assert "only the first 3 matches" in bench.text("search_in_file", path="log.txt", pattern="line", limit=3)
    assert bench.text("search_in_file", path="log.txt", pattern="nothing").startswith("No matches")
    bench.put("x.bin", b"\0\0")
    assert "binary file" in bench.failure("search_in_file", path="x.bin", pattern="x")


def test_search_in_file_takes_a_line_without_end(bench):
    bench.put("one.json", b"a" * (3 << 20) + b"needle" + b"b" * 100 + b"\nnext needle\n")
    text = bench.text("search_in_file", path="one.json", pattern="needle", context=0)
    assert text.startswith("1:")
    assert text.endswith("2:next needle")
