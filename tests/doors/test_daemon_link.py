"""However a request is cut into pieces on its way, it is read as it was sent; what is too large or half is refused."""

from __future__ import annotations

import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.doors.daemon_link import MAX_BODY, CutOff, Link

names = st.from_regex(rb"[a-z][a-z-]{0,10}", fullmatch=True)
words = st.from_regex(rb"[!-9;-~]{0,20}", fullmatch=True)


@st.composite
def requests(draw):
    headers = draw(st.dictionaries(names, words, max_size=5))
    body = draw(st.binary(max_size=300))
    headers[b"content-length"] = b"%d" % len(body)
    lines = b"".join(b"%s: %s\r\n" % pair for pair in headers.items())
    return b"POST /hook/x HTTP/1.1\r\n" + lines + b"\r\n" + body, headers, body


def pieces(data, cuts):
    places = sorted({min(cut, len(data)) for cut in cuts})
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True) if a < b]


@given(sent=st.lists(requests(), min_size=1, max_size=4), cuts=st.lists(st.integers(0, 900), max_size=8))
def test_requests_in_any_pieces_are_read_as_they_were_sent(sent, cuts):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for piece in pieces(b"".join(raw for raw, _, _ in sent), cuts):
            theirs.sendall(piece)
        theirs.shutdown(socket.SHUT_WR)
        link = Link(ours)
        for _, headers, body in sent:
            assert link.next_line() == b"POST /hook/x HTTP/1.1\r"
            assert link.headers() == headers
            assert link.exactly(len(body)) == body
        assert link.next_line() == b""


def test_a_request_without_headers_is_one_too():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"GET /alive HTTP/1.1\r\n\r\nGET /again HTTP/1.1\r\n\r\n")
        link = Link(ours)
        assert (link.next_line(), link.headers()) == (b"GET /alive HTTP/1.1\r", {})
        assert (link.next_line(), link.headers()) == (b"GET /again HTTP/1.1\r", {})


@pytest.mark.parametrize("half", [b"HOOK codex 5", b"GET /alive HTTP/1.1\r\nhost: x"])
def test_half_a_request_is_none(half):
    ours, theirs = socket.socketpair()
    with ours:
        theirs.sendall(half)
        theirs.close()
        link = Link(ours)
        with pytest.raises(CutOff):
            _ = link.next_line() and link.headers()


@pytest.mark.parametrize("size", [-1, MAX_BODY + 1])
def test_a_body_of_an_impossible_size_is_refused(size):
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(CutOff):
        Link(ours).exactly(size)


def test_a_line_without_an_end_is_refused():
    ours, theirs = socket.socketpair()

    def pour():
        with theirs:
            try:
                for _ in range(40):
                    theirs.sendall(b"x" * (1 << 16))
            except OSError:
                pass  # refused, as it should be

    pouring = threading.Thread(target=pour)
    pouring.start()
    with ours, pytest.raises(CutOff):
        Link(ours).next_line()
    pouring.join(30)
