"""UI2: what a call would do, shown before it happens; the model chooses the paths, so nothing there is trusted."""

import os

from hypothesis import given
from hypothesis import strategies as st

from holdfast.doors.call_preview import LARGEST_FILE, preview, read_small, reader, unified

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "long line"]), max_size=40)


def applied(before: list[str], diff: str) -> list[str]:
    """A unified diff carried out, strictly: wrong numbers or context fail."""
    made, at = [], 0
    for line in diff.split("\n")[2:] if diff else []:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            begin = int(start) - (0 if count == "0" else 1)
            made += before[at:begin]
            at = begin
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert before[at] == line[1:]
            if line.startswith(" "):
                made.append(line[1:])
            at += 1
    return made + before[at:]


@given(LINES, LINES)
def test_UI2_a_diff_leads_from_one_text_to_the_other(before, after):
    old, new = "".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after)
    assert applied(before, unified(old, new, "f")) == after


@given(LINES, st.lists(st.sampled_from(["x", "y"]), max_size=3), LINES)
def test_UI2_a_small_change_in_a_long_text_keeps_the_line_numbers(head, middle, tail):
    before, after = [*head, "old", *tail], [*head, *middle, *tail]
    text = [f"{line}\n" for line in before], [f"{line}\n" for line in after]
    assert applied(before, unified("".join(text[0]), "".join(text[1]), "f")) == after


def test_UI2_texts_that_have_nothing_in_common_are_compared_in_bounded_time():
    diff = unified("\n".join(f"a{n}" for n in range(5000)), "\n".join(f"b{n}" for n in range(5000)), "f")
    assert diff.count("\n-a") == 5000
    assert diff.count("\n+b") == 5000


def test_UI2_only_ordinary_files_of_modest_size_are_read(tmp_path):
    pipe, large, binary = tmp_path / "pipe", tmp_path / "large", tmp_path / "binary"
    os.mkfifo(pipe)
    large.write_bytes(b"x" * (LARGEST_FILE + 1))
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (pipe, large, binary, tmp_path, "/dev/zero"):
        assert read_small(str(path)) is None, path
    assert read_small(str(tmp_path / "new")) == ""
    shown = preview("write", {"path": "large", "content": "new\n"}, reader(str(tmp_path)))
    assert (shown.kind, shown.complete) == ("diff", False)
    assert "+new" in shown.text


def test_UI2_each_kind_of_call_has_its_form(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    read = reader(str(tmp_path))
    assert preview("bash", {"command": ["ls", "a b"]}).text == "ls 'a b'"
    both = preview(
        "multiedit",
        {
            "path": "a.txt",
            "edits": [{"old_string": "one", "new_string": "1"}, {"old_string": "three", "new_string": "3"}],
        },
        read,
    )
    assert applied(["one", "two", "three"], both.text) == ["1", "two", "3"]
    loose = preview("edit", {"path": "a.txt", "old_string": "four", "new_string": "4"}, read)
    assert (loose.complete, "-four\n+4" in loose.text) == (False, True)
    patch = preview("apply_patch", {"patch": "*** Begin Patch\n*** End Patch"})
    assert patch.kind == "diff"
    assert preview("web_fetch", {"url": "https://x"}).text == '{\n  "url": "https://x"\n}'
