"""`read`: what is text comes as it is, what is not is named, and size does not matter."""

import os
import struct

import pytest

from holdfast.core.settings import Settings, TruncationSettings
from tool_bench import Bench, with_runtime


def test_a_small_file_comes_as_it_is(bench):
    bench.put("a.txt", "one\ntwo\n")
    assert bench.text("read", path="a.txt") == "one\ntwo\n"


def test_the_aliases_of_the_neutral_table_are_understood(bench):
    bench.put("a.txt", "one\n")
    for key in ("path", "file_path", "filePath", "file"):
        assert bench.text("read", **{key: "a.txt"}) == "one\n"


def test_offset_and_limit_choose_lines_and_the_note_says_how_to_go_on(bench):
    bench.put("a.txt", "".join(f"line {number}\n" for number in range(1, 11)))
    text = bench.text("read", path="a.txt", offset=3, limit=2)
    assert text == "line 3\nline 4\n[a.txt: lines 3-4 of 10; go on with offset=5]"
    assert bench.text("read", path="a.txt", offset=9).endswith("line 10\n[a.txt: lines 9-10, the end]")


def test_line_numbers_are_put_before_the_lines_on_request(bench):
    bench.put("a.txt", "x\n" * 12)
    text = bench.text("read", path="a.txt", offset=9, line_numbers=True)
    assert text.startswith(" 9\tx\n10\tx\n")


def test_an_offset_behind_the_end_is_explained(bench):
    bench.put("a.txt", "one\ntwo")
    assert "has 2 lines" in bench.failure("read", path="a.txt", offset=5)


def test_an_empty_file_is_said_to_be_empty(bench):
    bench.put("a.txt", "")
    assert bench.text("read", path="a.txt") == "[a.txt is empty]"


def test_a_missing_file_is_answered_with_close_names(bench):
    bench.put("README.md", "x")
    said = bench.failure("read", path="READM.md")
    assert "does not exist" in said
    assert "README.md" in said


def test_a_folder_is_not_a_file(bench):
    bench.put("d/a.txt", "x")
    assert "Use `ls`" in bench.failure("read", path="d")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + b"\0" * 20, "PNG image, 640 x 480"),
        (b"GIF89a" + struct.pack("<HH", 3, 4) + b"\0" * 20, "GIF image, 3 x 4"),
        (b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x10\x00\x20" + b"\0" * 20, "JPEG image, 32 x 16"),
        (b"%PDF-1.7\n\0\0\0", "PDF document"),
        (b"\x7fELF\0\0\0\0", "ELF program"),
        (b"anything\0else", "binary file"),
    ],
)
def test_what_is_no_text_is_named_and_not_dumped(bench, data, kind):
    bench.put("x.bin", data)
    text = bench.text("read", path="x.bin")
    assert kind in text
    assert f"{len(data)} bytes" in text
    assert "\0" not in text


def test_other_encodings_are_read(bench):
    bench.put("u16.txt", "\ufeffgrüße\n".encode("utf-16-le"))
    bench.put("latin.txt", "gr\xfc\xdfe\n".encode("latin-1"))
    bench.put("bom.txt", b"\xef\xbb\xbfhello\n")
    assert bench.text("read", path="u16.txt") == "grüße\n"
    assert bench.text("read", path="latin.txt") == "gr\ufffd\ufffde\n"
    assert bench.text("read", path="bom.txt") == "hello\n"


def test_a_read_never_exceeds_what_truncation_would_cut(tmp_path):
    limits = TruncationSettings(max_lines=50, max_bytes=4096)
    bench = Bench(tmp_path, with_runtime(Settings(), truncation=limits))
    bench.put("long.txt", "x" * 30 + "\n" + "y" * 400 + "\n" * 5000)
    bench.put("wide.txt", ("z" * 1000 + "\n") * 50)
    for path in ("long.txt", "wide.txt"):
        text = bench.text("read", path=path)
        assert len(text.encode()) <= 4096
        assert text.count("\n") <= 50
        assert "go on with offset=" in text


def test_reading_on_gives_every_line_once(bench):
    lines = [f"{number} " + "x" * (number % 300) for number in range(6000)]
    bench.put("big.txt", "\n".join(lines))
    got, offset = [], 1
    while True:
        text = bench.text("read", path="big.txt", offset=offset)
        *body, note = text.split("\n") if text.endswith("]") else [*text.split("\n")[:-1], ""]
        got += body
        if "go on" not in note:
            break
        offset = int(note.partition("offset=")[2].rstrip("]"))
    assert got == lines


def test_an_endless_line_is_clipped(bench):
    bench.put("one.json", "a" * 1_000_000 + "\nsecond\n")
    text = bench.text("read", path="one.json")
    assert "[line clipped: 983616 more bytes]" in text
    assert text.endswith("second\n")


def test_a_huge_file_is_streamed(bench):
    import tracemalloc

    file = bench.put("huge.txt")
    with file.open("wb") as stream:
        for _ in range(100):
            stream.write(b"0123456789abcde\n" * 65536)
    tracemalloc.start()
    text = bench.text("read", path="huge.txt", offset=6_000_000, limit=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert text.startswith("0123456789abcde\n0123456789abcde\n[huge.txt: lines 6000000-6000001")
    assert peak < 8 << 20
    assert file.stat().st_size == 100 << 20


def test_a_pipe_is_not_waited_for(bench):
    os.mkfifo(bench.vault / "pipe")
    assert "not a regular file" in bench.failure("read", path="pipe")


def test_a_path_is_taken_as_the_judges_took_it(bench, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("out\n")
    assert bench.text("read", path=str(outside)) == "out\n"
    bench.put("d/a.txt", "in\n")
    assert bench.text("read", path=" ./d/../d/a.txt ") == "in\n"
    assert "NUL" in bench.failure("read", path="a\0b")
    assert "missing" in bench.failure("read")
    assert "must be a string" in bench.failure("read", path=7)


def test_a_link_that_leads_out_of_the_vault_is_not_followed(bench, tmp_path):
    (tmp_path / "secret").write_text("key")
    (bench.vault / "link").symlink_to(tmp_path / "secret")
    (bench.vault / "folder").symlink_to(tmp_path)
    assert "leads out of the vault" in bench.failure("read", path="link")
    assert "leads out of the vault" in bench.failure("read", path="folder/secret")
