"""One process per user that answers hooks quickly and keeps the page live. It is for speed, never for correctness.

It speaks two small protocols on two doors: `HOOK host size deadline surroundings` lines and HTTP, on a socket that only
its owner can open, and HTTP with a token on a loopback port, because Claude Code's http hooks know no sockets.

Threads wait at each door, and whoever lets a link in serves it to its end: a hook wakes one thread and no other, and
is never handed from one to the next. A question to a person may hold a thread for minutes while the others go on.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable

from holdfast._version import __version__
from holdfast.doors.daemon_doors import Doors
from holdfast.doors.daemon_link import CLOSING_ERRORS, Link
from holdfast.hosts.gateway import Asked, environment_of
from holdfast.hosts.host import Reply

READY = 2
"""So many wait at a door at least; whoever lets a link in and leaves nobody waiting calls another."""
MOST = 512
"""Hosts keep their links open, and waiting for a person holds one; beyond this, links queue at the door."""
PATIENCE_AT_THE_END = 2.0
_NO_HANDLES_SECONDS = 0.1


Answer = Callable[[str, bytes, Asked], Reply]
"""`(host, payload, how it came) -> Reply`; never raises, always ends before the host's own deadline."""


class Daemon:
    """Serves hooks until stopped."""

    def __init__(self, doors: Doors, answer: Answer, *, token: str, stopping: threading.Event | None = None) -> None:
        self._answer = answer
        self._token = token.encode()
        self._crews = (_Crew(doors.local, self._serve_local), _Crew(doors.web, self._serve_web))
        self._later: set[threading.Thread] = set()
        self._later_lock = threading.Lock()
        self.stopping = stopping or threading.Event()

    def serve(self) -> None:
        """Run until `stop`."""
        for crew in self._crews:
            crew.start()
        self.stopping.wait()
        for crew in self._crews:
            crew.stop()
        end = time.monotonic() + PATIENCE_AT_THE_END
        with self._later_lock:
            begun = tuple(self._later)
        for thread in begun:
            thread.join(max(0.0, end - time.monotonic()))

    def stop(self) -> None:
        self.stopping.set()

    def _serve_local(self, link: socket.socket) -> None:
        if _same_user(link):
            self._serve(Link(link), trusted=True)

    def _serve_web(self, link: socket.socket) -> None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._serve(Link(link), trusted=False)

    def _serve(self, link: Link, *, trusted: bool) -> None:
        try:
            while line := link.next_line():
                if line.startswith(b"HOOK ") and trusted:
                    self._hook(line, link)
                    break
                self._http(line, link, trusted=trusted)
        except CLOSING_ERRORS:
            pass  # the peer went away or spoke nonsense; its own deadline or onFailure decides what that means

    def _hook(self, line: bytes, link: Link) -> None:
        _, host, size, deadline, surroundings = line.split()
        payload = link.exactly(int(size))
        asked = Asked(float(deadline), environment_of(surroundings.decode("ascii", "replace")))
        reply = self._answer(host.decode(), payload, asked)
        link.send(b"%d %d %d\n" % (reply.code, len(reply.out), len(reply.err)) + reply.out + reply.err)
        self._afterwards(reply)

    def _http(self, line: bytes, link: Link, *, trusted: bool) -> None:
        """One request; the link stays open for the next."""
        method, path, _ = line.split()
        headers = link.headers()
        payload = link.exactly(int(headers.get(b"content-length", b"0")))
        if not trusted and not self._may_enter(headers):
            _respond(link, b"403 Forbidden", b'{"error":"wrong or missing token"}')
        elif method == b"GET" and path == b"/alive":
            _respond(link, b"200 OK", b'{"holdfast":"%s","pid":%d}' % (__version__.encode(), os.getpid()))
        elif method != b"POST" or not path.startswith(b"/hook/"):
            _respond(link, b"404 Not Found", b'{"error":"no such path"}')
        else:
            host, _, query = path[len(b"/hook/") :].decode("ascii", "replace").partition("?")
            deadline = query.removeprefix("deadline=")
            reply = self._answer(host, payload, Asked(float(deadline) if deadline.isdigit() else None))
            _respond(link, b"200 OK" if reply.code == 0 else b"500 Internal Server Error", reply.out)
            self._afterwards(reply)

    def _afterwards(self, reply: Reply) -> None:
        """The host has its answer; what is left of the work holds nobody up, not even its next hook."""
        if reply.after is None or self.stopping.is_set():
            return
        thread = threading.Thread(target=self._do, args=(reply.after,), name="afterwards", daemon=True)
        with self._later_lock:  # whoever stops the daemon can only wait for what has begun
            thread.start()
            self._later.add(thread)

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:
            traceback.print_exc(file=sys.stderr)
        finally:
            with self._later_lock:
                self._later.discard(threading.current_thread())

    def _may_enter(self, headers: dict[bytes, bytes]) -> bool:
        host = headers.get(b"host", b"").rsplit(b":", 1)[0]
        if host not in (b"127.0.0.1", b"localhost") or b"origin" in headers:
            return False  # a page in a browser, or a name rebound to loopback: neither is a hook
        return hmac.compare_digest(headers.get(b"authorization", b""), b"Bearer " + self._token)


class _Crew:
    """The threads at one door."""

    def __init__(self, door: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        self._door = door
        self._serve = serve
        self._lock = threading.Lock()
        self._waiting = 0
        self._all = 0
        self._stopped = False

    def start(self) -> None:
        self._door.setblocking(True)
        for _ in range(READY):
            self._call_another()

    def stop(self) -> None:
        """Send home whoever waits; whoever serves is left to it."""
        with self._lock:
            self._stopped = True
            waiting = self._waiting
        for _ in range(waiting):  # closing the door would wake nobody, and it is not ours alone
            with contextlib.suppress(OSError), socket.socket(self._door.family) as knock:
                knock.settimeout(1.0)
                knock.connect(self._door.getsockname())

    def _call_another(self) -> None:
        with self._lock:
            if self._all >= MOST or self._stopped:
                return
            self._all += 1
            self._waiting += 1
        threading.Thread(target=self._work, name="hook", daemon=True).start()

    def _work(self) -> None:
        while True:
            try:
                link, _ = self._door.accept()
            except OSError:
                if self._is_closed():
                    return
                time.sleep(_NO_HANDLES_SECONDS)
                continue
            with self._lock:
                self._waiting -= 1
                alone = self._waiting == 0
            if alone:
                self._call_another()
            with link:
                if not self._stopped:
                    self._quietly(link)
            with self._lock:
                if self._stopped or self._waiting >= READY:
                    self._all -= 1
                    return
                self._waiting += 1

    def _quietly(self, link: socket.socket) -> None:
        try:
            self._serve(link)
        except Exception:  # the link is closed, and whoever waits at the door waits on
            traceback.print_exc(file=sys.stderr)

    def _is_closed(self) -> bool:
        """Whether there is nothing left to wait for; otherwise too many files are open, and some will be closed."""
        with self._lock:
            if not self._stopped and self._door.fileno() >= 0:
                return False
            self._waiting -= 1
            self._all -= 1
            return True


def _respond(link: Link, status: bytes, body: bytes) -> None:
    head = b"HTTP/1.1 " + status + b"\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    link.send(head + body)


def _same_user(link: socket.socket) -> bool:
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # the socket's own folder is 0700; that has to do where the kernel tells no more
    _, uid, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return uid in (os.getuid(), 0)
