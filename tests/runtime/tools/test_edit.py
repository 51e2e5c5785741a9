"""`edit` and `multiedit`: exact, unique, all or nothing, and never a byte more than was asked for."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.runtime.tool import ToolFailure
from holdfast.runtime.tools.replacing import Replacement, replaced
from holdfast.runtime.tools.texts import decode


def edit(bench, path, old, new, **more):
    return bench.text("edit", path=path, old_string=old, new_string=new, **more)


def test_a_unique_piece_is_replaced_and_shown_as_a_diff(bench):
    file = bench.seen("a.py", "def f():\n    return 1\n")
    output = bench.call("edit", path="a.py", old_string="return 1", new_string="return 2")
    assert file.read_text() == "def f():\n    return 2\n"
    expected = "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2"
    assert output.display["diff"] == expected
    assert output.text == f"Edited a.py (+1 -1)\n{expected}"


def test_a_piece_that_is_not_unique_is_refused_with_its_lines(bench):
    file = bench.seen("a.py", "x = 1\ny = 2\nx = 1\n")
    said = bench.failure("edit", path="a.py", old_string="x = 1", new_string="x = 3")
    assert "occurs 2 times, at lines 1, 3" in said
    assert "replace_all" in said
    assert file.read_text() == "x = 1\ny = 2\nx = 1\n"
    assert "2 places" in edit(bench, "a.py", "x = 1", "x = 3", replace_all=True)
    assert file.read_text() == "x = 3\ny = 2\nx = 3\n"


def test_a_piece_that_is_not_there_is_explained(bench):
    bench.seen("a.py", "if a:\n\tb()\n")
    assert "other blanks or line ends" in bench.failure(
        "edit", path="a.py", old_string="if a:\n    b()", new_string="c"
    )
    assert "first line stands at line 1" in bench.failure("edit", path="a.py", old_string="if a:\nc()", new_string="c")
    assert "was not found" in bench.failure("edit", path="a.py", old_string="nothing", new_string="c")


def test_empty_and_equal_pieces_are_refused(bench):
    bench.seen("a.py", "a\n")
    assert "old_string is empty" in bench.failure("edit", path="a.py", old_string="", new_string="c")
    assert "are the same" in bench.failure("edit", path="a.py", old_string="a", new_string="a")


def test_an_unseen_or_changed_file_is_refused(bench):
    file = bench.put("a.py", "a\n")
    assert "has not been read" in bench.failure("edit", path="a.py", old_string="a", new_string="b")
    bench.call("read", path="a.py")
    file.write_text("a\nb\n")
    assert "has changed since" in bench.failure("edit", path="a.py", old_string="a", new_string="b")


def test_line_ends_and_encodings_stay_as_they_are(bench):
    crlf = bench.seen("crlf.txt", b"one\r\ntwo\r\nthree\r\n")
    edit(bench, "crlf.txt", "one\ntwo", "1\n2\n2a")
    assert crlf.read_bytes() == b"1\r\n2\r\n2a\r\nthree\r\n"
    bom = bench.seen("bom.txt", b"\xef\xbb\xbfone\n")
    edit(bench, "bom.txt", "one", "two")
    assert bom.read_bytes() == b"\xef\xbb\xbftwo\n"
    wide = bench.seen("wide.txt", "\ufeffgrün\n".encode("utf-16-le"))
    edit(bench, "wide.txt", "grün", "blau")
    assert wide.read_bytes() == "\ufeffblau\n".encode("utf-16-le")
    latin = bench.seen("latin.txt", b"gr\xfcn\nrot\n")
    edit(bench, "latin.txt", "rot", "blau \u2713")
    assert latin.read_bytes() == b"gr\xfcn\nblau \xe2\x9c\x93\n"
    mixed = bench.seen("mixed.txt", b"a\r\nb\nc\r\n")
    edit(bench, "mixed.txt", "b", "B")
    assert mixed.read_bytes() == b"a\r\nB\nc\r\n"


def test_a_half_character_of_the_model_does_not_break_the_file(bench):
    file = bench.seen("a.txt", "x\n")
    edit(bench, "a.txt", "x", "y\ud83d")
    assert file.read_bytes() == b"y?\n"


def test_a_file_too_large_to_edit_is_explained(bench):
    file = bench.put("big.bin")
    with file.open("wb") as stream:
        stream.truncate((64 << 20) + 1)
    assert "through `bash`" in bench.failure("edit", path="big.bin", old_string="a", new_string="b")


def test_several_edits_are_made_in_order(bench):
    file = bench.seen("a.txt", "one\ntwo\n")
    edits = [{"old_string": "one", "new_string": "two"}, {"old_string": "two", "new_string": "2", "replace_all": True}]
    assert "3 places" in bench.text("multiedit", path="a.txt", edits=edits)
    assert file.read_text() == "2\n2\n"


def test_several_edits_over_files_are_all_made_or_none(bench):
    first, second = bench.seen("a.txt", "a\n"), bench.seen("b.txt", "b\n")
    edits = [
        {"path": "a.txt", "old_string": "a", "new_string": "A"},
        {"path": "b.txt", "old_string": "missing", "new_string": "B"},
    ]
    assert "b.txt: old_string was not found" in bench.failure("multiedit", edits=edits)
    assert first.read_text() == "a\n"
    edits[1]["old_string"] = "b"
    bench.call("multiedit", edits=edits)
    assert (first.read_text(), second.read_text()) == ("A\n", "B\n")
    bench.undo()
    assert (first.read_text(), second.read_text()) == ("a\n", "b\n")


@pytest.mark.parametrize(
    "edits", [None, [], "x", ["x"], [{"old_string": "a"}], [{"old_string": "a", "new_string": "b"}]]
)
def test_edits_that_are_none_are_explained(bench, edits):
    bench.seen("a.txt", "a\n")
    assert bench.failure("multiedit", edits=edits)
    assert bench.tree() == {"a.txt": b"a\n"}


def test_the_same_file_by_two_names_is_one_file(bench):
    file = bench.seen("a.txt", "a b\n")
    edits = [
        {"path": "a.txt", "old_string": "a", "new_string": "A"},
        {"path": "./sub/../a.txt", "old_string": "b", "new_string": "B"},
    ]
    (bench.vault / "sub").mkdir()
    bench.call("multiedit", edits=edits)
    assert file.read_text() == "A B\n"


words = st.text(alphabet="ab \n\t\r\u00e9\u4e2d", max_size=12)


@given(before=words, old=words.filter(bool), after=words, new=words)
def test_a_unique_piece_is_replaced_and_the_rest_untouched(before, old, after, new):
    content = before + old + after
    wanted = Replacement(old, new)
    if old == new or content.count(old) != 1:
        with pytest.raises(ToolFailure):
            replaced(content, wanted, "x")
    else:
        result, count = replaced(content, wanted, "x")
        assert count == 1
        assert result == content[: content.index(old)] + new + content[content.index(old) + len(old) :]


@given(content=words, old=words.filter(bool), new=words)
def test_replacing_all_is_what_python_does(content, old, new):
    if old == new or old not in content:
        return
    result, count = replaced(content, Replacement(old, new, every=True), "x")
    assert result == content.replace(old, new)
    assert count == content.count(old)


@example(b"\xff\xfe\r\x00\r\x00\n\x00")
@example(b"\r\r\n")
@given(data=st.binary(max_size=60) | words.map(lambda text: text.encode("utf-16")))
def test_decoding_loses_nothing(data):
    text = decode(data)
    assert text.encoded(text.content) == data
