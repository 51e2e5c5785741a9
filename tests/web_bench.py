"""A small internet for tests: names by a resolver of our own, every address answered by one server on loopback."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpcore

PUBLIC = "93.184.216.34"
PUBLIC6 = "2606:2800:220:1:248:1893:25c8:1946"


@dataclass
class Names:
    """A resolver. A list of lists answers differently each time; names it does not know lead to a public address."""

    answers: Mapping[str, Sequence[str] | Sequence[Sequence[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        try:
            return [str(ipaddress.ip_address(host))]
        except ValueError:
            pass
        try:
            return [socket.inet_ntoa(socket.inet_aton(host))]  # as the system's resolver would read 0x7f.1
        except OSError:
            pass
        known = self.answers.get(host, [PUBLIC])
        if known and not isinstance(known[0], str):
            return list(known[min(self.asked.count(host), len(known)) - 1])
        return list(known)


class Unencrypted(httpcore.AsyncNetworkStream):
    """A stream that only says it is encrypted, so that https can be tried without certificates."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes, timeout=None):
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer, timeout=None):
        await self._stream.write(buffer, timeout)

    async def aclose(self):
        await self._stream.aclose()

    async def start_tls(self, ssl_context, server_hostname=None, timeout=None):
        return self

    def get_extra_info(self, info):
        return None


@dataclass
class Wire(httpcore.AsyncNetworkBackend):
    """Connects every address to the test's server, and notes which addresses it was asked for."""

    port: int
    connected: list[str] = field(default_factory=list)
    encrypted: bool = False
    """Whether https is real."""
    real: httpcore.AsyncNetworkBackend = field(default_factory=httpcore.AnyIOBackend)

    async def connect_tcp(self, host, port, timeout=None, local_address=None, socket_options=None):
        self.connected.append(host)
        stream = await self.real.connect_tcp("127.0.0.1", self.port, timeout, local_address, socket_options)
        return stream if self.encrypted else Unencrypted(stream)


Handler = Callable[[str, str, Mapping[str, str], bytes], tuple[int, Mapping[str, str], bytes]]
"""Method, target, headers and body to status, headers and body."""


@asynccontextmanager
async def server(handler: Handler, *, slow: float = 0.0, ssl_context: ssl.SSLContext | None = None):
    """A server on loopback; yields its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                method, target, _ = line.decode("latin-1").split(" ", 2)
                headers = {}
                while (raw := await reader.readline()).strip():
                    name, _, value = raw.decode("latin-1").partition(":")
                    headers[name.strip().lower()] = value.strip()
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                status, given, content = handler(method, target, headers, body)
                await asyncio.sleep(slow)
                head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
                writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n{head}\r\n".encode("latin-1"))
                writer.write(content)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=ssl_context)
    async with listening:
        yield listening.sockets[0].getsockname()[1]
