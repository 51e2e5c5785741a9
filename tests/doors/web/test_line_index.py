"""TR6: lines of large files by their number, held against what Python itself says of the text."""

import os

from hypothesis import given
from hypothesis import strategies as st

from holdfast.doors.web import line_index
from holdfast.doors.web.line_index import LineIndex

PIECES = st.lists(
    st.one_of(
        st.sampled_from(["", "\n", "a", "needle", "NEEDLE ", "straße", "两个字", "\r\n"]),
        st.integers(1, 3).map(lambda size: "x" * (line_index.BLOCK * size // 2)),
        st.integers(1, 2000).map(lambda count: "y\n" * count),
    ),
    max_size=12,
)


def lines_of(text: str) -> list[str]:
    parts = text.split("\n")
    return parts[:-1] if parts[-1] == "" else parts


@given(pieces=PIECES, first=st.integers(0, 50), count=st.integers(1, 300))
def test_TR6_the_lines_of_any_text(tmp_path_factory, pieces, first, count):
    text = "".join(pieces)
    with opened(tmp_path_factory, text) as (descriptor, index):
        index.extend(descriptor, seconds=60)
        expected = lines_of(text)
        assert index.total == len(expected)
        found = index.read(descriptor, first, count)
        assert found.lines == [
            line.removesuffix("\r")[: line_index.MOST_LINE] for line in expected[first : first + len(found.lines)]
        ]
        assert (
            len(found.lines) == min(count, max(0, len(expected) - first))
            or sum(len(line) for line in found.lines) >= line_index.MOST_LINE
        )
        assert found.cut == [
            first + at
            for at, line in enumerate(expected[first : first + len(found.lines)])
            if len(line.removesuffix("\r")) > line_index.MOST_LINE
        ]


@given(pieces=PIECES, most=st.integers(1, 5))
def test_TR6_find_tells_every_line_that_holds_the_words(tmp_path_factory, pieces, most):
    text = "".join(pieces)
    with opened(tmp_path_factory, text) as (descriptor, index):
        found, first = [], 0
        while first is not None:
            some, first = index.find(descriptor, "needle", first, most=most, seconds=60)
            found += [match.line for match in some]
        assert found == [number for number, line in enumerate(lines_of(text)) if "needle" in line.lower()]


def test_TR6_find_says_where_in_the_line(tmp_path_factory):
    with opened(tmp_path_factory, "first\n两个 Needle here\n") as (descriptor, index):
        (match,), following = index.find(descriptor, "needle", 0, most=10, seconds=60)
        assert (match.line, match.column, match.length) == (1, 3, 6)
        assert match.text == "两个 Needle here"
        assert following is None


def test_TR6_counting_goes_on_where_it_stopped(tmp_path_factory):
    with opened(tmp_path_factory, "line\n" * 2_000_000) as (descriptor, index):
        index.extend(descriptor, seconds=60, line=10)
        assert not index.complete
        assert index.read(descriptor, 5, 2).lines == ["line", "line"]
        index.extend(descriptor, seconds=60)
        assert index.complete
        assert index.total == 2_000_000
        assert index.read(descriptor, 1_999_999, 5).lines == ["line"]


class opened:
    def __init__(self, factory, text: str) -> None:
        self._path = factory.mktemp("output") / "text"
        self._path.write_bytes(text.encode())

    def __enter__(self):
        self._file = os.open(self._path, os.O_RDONLY)
        return self._file, LineIndex(self._path.stat().st_size)

    def __exit__(self, *error: object) -> None:
        os.close(self._file)
        self._path.unlink()
