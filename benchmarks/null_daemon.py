"""A daemon that answers every hook at once and judges nothing: what a host's hooks cost by themselves."""

from __future__ import annotations

import asyncio
import contextlib
import threading

ALLOW = {
    b"claude-code": b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}',
    b"opencode": b'{"allow":true,"system":""}',
}
QUESTIONS = (b'"PreToolUse"', b'"tool.execute.before"', b'"tool.execute.after"')


class NullDaemon:
    """Listens on a loopback port and on a socket, in a thread of its own."""

    def __init__(self, socket_path):
        self.socket_path = str(socket_path)
        self.port = 0
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(10)

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self):
        asyncio.set_event_loop(self._loop)
        web = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        local = self._loop.run_until_complete(asyncio.start_unix_server(self._serve, self.socket_path))
        self.port = web.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        web.close()
        local.close()

    async def _serve(self, reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = next((int(h[15:]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-length:")), 0)
                body = await reader.readexactly(size)
                host = head.split(b" ")[1].removeprefix(b"/hook/").partition(b"?")[0]
                answer = ALLOW.get(host, b"{}") if any(question in body for question in QUESTIONS) else b"{}"
                if b'"PostToolUse"' in body:
                    answer = b"{}"
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
                writer.write(b"content-length: %d\r\n\r\n" % len(answer) + answer)
        writer.close()
