"""A loopback server that answers every call with the same raw bytes, sound or not: a broken daemon to hook to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def raw_http_server(body: bytes, *, status: int = 200, delay: float = 0.0) -> Iterator[str]:
    """Gives the URL; `delay` seconds pass before each answer, or less when the test ends."""
    closing = threading.Event()

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers.get("content-length", "0")))
            closing.wait(delay)
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):
            """A client that gave up waiting is no news."""

    with Server(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/hook"
        finally:
            closing.set()
            server.shutdown()
            thread.join(5)
