"""Stands where the daemon would, and answers nonsense: what a host does then is what must be safe."""

from __future__ import annotations

import socket
import threading
import time
from types import TracebackType
from typing import Self

from holdfast.doors.daemon_process import port_of
from holdfast.store.home import Home


class FalseDaemon:
    """Listens on the home's socket and port; every request gets the same bytes, whatever the protocol."""

    def __init__(self, home: Home, answer: bytes) -> None:
        path = home.run / "daemon.sock"
        self._answer = answer
        self._listeners = [socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET)]
        self._listeners[1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # The port first: a daemon that is still leaving takes its socket's file along.
        self._bind_when_free(self._listeners[1], port_of(home))
        path.unlink(missing_ok=True)
        self._listeners[0].bind(str(path))
        self.asked = 0

    @staticmethod
    def _bind_when_free(listener: socket.socket, port: int, seconds: float = 60.0) -> None:
        """The daemon before us may still be leaving, or a passing connection may have been given its port."""
        end = time.monotonic() + seconds
        while True:
            try:
                return listener.bind(("127.0.0.1", port))
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def __enter__(self) -> Self:
        for listener in self._listeners:
            listener.listen()
            threading.Thread(target=self._serve, args=(listener,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for listener in self._listeners:
            listener.close()

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                link, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._reply, args=(link,), daemon=True).start()

    def _reply(self, link: socket.socket) -> None:
        with link:
            link.settimeout(5)
            try:
                link.recv(1 << 20)
                self.asked += 1
                link.sendall(self._answer)
            except OSError:
                pass
