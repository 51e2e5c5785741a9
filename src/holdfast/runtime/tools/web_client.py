"""Fetching from the web through the guard: pinned connections, redirects checked again, limits on size and time.

`httpcore` carries the protocol; how a connection is made is ours.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpcore

from holdfast._version import __version__
from holdfast.runtime.web_guard import (
    CheckedUrl,
    RefusedAddress,
    Resolver,
    check_url,
    public_addresses,
    system_resolver,
)
from holdfast.trust import system_trust

MOST_REDIRECTS = 8
MOST_BYTES = 5 << 20
SECONDS = 30.0
_CONNECT_SECONDS = 10.0
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_AGENT = f"Mozilla/5.0 (compatible; Holdfast/{__version__}; agent of a user)"


Follow = Callable[[CheckedUrl], bool]
"""Whether a redirect to this address may be followed."""


class FetchFailed(Exception):
    """The address was good, but nothing came of it; the message says why."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer from the web."""

    url: str
    """Where it came from in the end."""
    status: int
    content_type: str
    body: bytes
    cut: bool = False
    """There was more than may be taken."""
    redirects: tuple[str, ...] = ()
    elsewhere: str = ""
    """It leads to an address that was not asked: that has to be judged first."""


@dataclass(frozen=True, slots=True)
class WebClient:
    """`get` an address. `trusted` hosts are the user's own choice (a search server) and skip the guard."""

    resolver: Resolver = system_resolver
    trusted: frozenset[str] = frozenset()
    most_bytes: int = MOST_BYTES
    seconds: float = SECONDS
    ssl_context: ssl.SSLContext | None = None
    connect: httpcore.AsyncNetworkBackend | None = None
    """How to reach a checked address; tests pass their own."""
    headers: Mapping[str, str] = field(default_factory=dict)

    async def get(
        self, url: str, *, headers: Mapping[str, str] | None = None, follow: Follow = lambda new: True
    ) -> Fetched:
        return await self.request("GET", url, headers=headers, follow=follow)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        follow: Follow = lambda new: True,
    ) -> Fetched:
        """One request with its redirects on the same host, as far as `follow` agrees; any other is only reported."""
        try:
            async with asyncio.timeout(self.seconds):
                return await self._follow(method, url, dict(headers or {}), body, follow)
        except TimeoutError:
            raise FetchFailed(f"{url} did not answer within {self.seconds:g} s. Try again later.") from None
        except httpcore.TimeoutException:
            raise FetchFailed(f"{url} did not answer in time. Try again later.") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            raise FetchFailed(f"{url} could not be fetched: {error or type(error).__name__}.") from None

    async def _follow(self, method: str, url: str, headers: dict[str, str], body: bytes, follow: Follow) -> Fetched:
        passed: list[str] = []
        checked = self._checked(url)
        context = self.ssl_context or system_trust()
        backend = GuardedBackend(self.resolver, self.trusted, self.connect)
        async with httpcore.AsyncConnectionPool(ssl_context=context, network_backend=backend, retries=0) as pool:
            while True:
                answer, location = await self._once(pool, method, checked, headers, body)
                if location is None:
                    return Fetched(
                        checked.text, answer.status, answer.content_type, answer.body, answer.cut, tuple(passed)
                    )
                passed.append(checked.text)
                if len(passed) > MOST_REDIRECTS:
                    raise FetchFailed(f"{url} redirects more than {MOST_REDIRECTS} times. Give the final address.")
                following = self._checked(urljoin(checked.text, location))
                if checked.scheme == "https" and following.scheme == "http":
                    raise RefusedAddress(f"{checked.text} redirects to {following.text}, which is not encrypted.")
                if not _same_site(checked, following) or not follow(following):
                    return Fetched(
                        checked.text, answer.status, "", b"", redirects=tuple(passed), elsewhere=following.text
                    )
                if answer.status == 303 or (answer.status in (301, 302) and method == "POST"):
                    method, body = "GET", b""
                checked = following

    def _checked(self, url: str) -> CheckedUrl:
        if self.trusted:
            return _trusted_url(url, self.trusted) or check_url(url)
        return check_url(url)

    async def _once(
        self, pool: httpcore.AsyncConnectionPool, method: str, url: CheckedUrl, headers: Mapping[str, str], body: bytes
    ) -> tuple[Fetched, str | None]:
        sent = {
            "Host": url.authority,
            "User-Agent": _AGENT,
            "Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5",
            "Accept-Encoding": "gzip, deflate",
            **({"Content-Length": str(len(body))} if body else {}),
            **self.headers,
            **headers,
        }
        timeouts = {"connect": _CONNECT_SECONDS, "read": self.seconds, "write": self.seconds, "pool": self.seconds}
        request = httpcore.Request(
            method,
            httpcore.URL(
                scheme=url.scheme.encode(), host=url.host.encode(), port=url.port, target=url.target.encode("ascii")
            ),
            headers=list(sent.items()),
            content=body or None,
            extensions={"timeout": timeouts},
        )
        response = await pool.handle_async_request(request)
        try:
            given = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            if response.status in _REDIRECTS and given.get("location"):
                return Fetched(url.text, response.status, "", b""), given["location"]
            content, cut = await _body(response, given.get("content-encoding", ""), self.most_bytes)
            return Fetched(url.text, response.status, given.get("content-type", ""), content, cut), None
        finally:
            await response.aclose()


def _same_site(first: CheckedUrl, second: CheckedUrl) -> bool:
    """The same host, with or without `www.`, on the same port or its encrypted sister."""
    if first.host.removeprefix("www.") != second.host.removeprefix("www."):
        return False
    return first.port == second.port or {(first.scheme, first.port), (second.scheme, second.port)} == {
        ("http", 80),
        ("https", 443),
    }


def _trusted_url(url: str, trusted: frozenset[str]) -> CheckedUrl | None:
    """An address of a host that the user named, wherever it lies."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    if f"{host}:{port}" not in trusted or "@" in parts.netloc or parts.scheme not in ("http", "https"):
        return None
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return CheckedUrl(url, parts.scheme, host, port, target)


async def _body(response: httpcore.Response, encoding: str, most: int) -> tuple[bytes, bool]:
    """At most so many bytes after unpacking: a small answer may unpack to a mountain."""
    unpack = _unpacker(encoding)
    parts: list[bytes] = []
    size = 0
    async for chunk in response.aiter_stream():
        for piece in unpack(chunk, most - size + 1):
            parts.append(piece)
            size += len(piece)
            if size > most:
                return b"".join(parts)[:most], True
    return b"".join(parts), False


def _unpacker(encoding: str) -> Any:
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return lambda chunk, most: [chunk]
    if name not in ("gzip", "x-gzip", "deflate"):
        raise FetchFailed(f"The answer is packed as {name!r}, which was not asked for and cannot be read.")
    machine = zlib.decompressobj(wbits=47 if name != "deflate" else 15)
    first = True

    def unpack(chunk: bytes, most: int) -> Iterable[bytes]:
        nonlocal machine, first
        try:
            piece = machine.decompress(chunk, max(1, most))
        except zlib.error:
            if name != "deflate" or not first:
                raise FetchFailed("The answer is packed in a broken way and cannot be read.") from None
            machine = zlib.decompressobj(wbits=-15)
            piece = machine.decompress(chunk, max(1, most))
        first = False
        return [piece]

    return unpack


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects to checked addresses only, and to exactly those that were checked."""

    def __init__(
        self,
        resolver: Resolver,
        trusted: frozenset[str] = frozenset(),
        connect: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        self._resolver = resolver
        self._trusted = trusted
        self._backend = connect or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses: Sequence[str]
        if f"{host}:{port}" in self._trusted:
            addresses = [host]
        else:
            addresses = await public_addresses(host, port, self._resolver)
        failure: Exception | None = None
        for address in addresses[:4]:
            try:
                return await self._backend.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore.ConnectError(f"{host} has no address")

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        raise RefusedAddress("Sockets of this machine are not fetched.")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
