"""Who may talk to the server at all, before anybody looks at what is asked.

Loopback is not safety: every page in the user's browser, and every program on the machine, can reach a loopback port.

- Host: a name that an attacker's DNS points at 127.0.0.1 arrives with its own name, and is refused (rebinding).
- Origin and Sec-Fetch-Site: another site's script or form is refused, whatever it sends. There is no CORS at all.
- Everything under `/api` needs a custom header, which no form and no image can send.
- The answer's headers let the page run its own scripts only, be framed by nobody, and leak nothing to others.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.core.messages import Message as Said
from holdfast.core.messages import Phrase

_FOREIGN_HOST = Phrase(
    "page.foreign_host", "this server does not answer to the name {host}", "此服务器不以 {host} 这个名称应答"
)
_FOREIGN_ORIGIN = Phrase(
    "page.foreign_origin", "another site's page may not talk to this server", "其他网站的页面不得与此服务器通信"
)
KEY_HEADER = "x-holdfast"
CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "media-src 'self' data:",
        "manifest-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server can be reached, and under which names."""

    host: str = "127.0.0.1"
    port: int = 8787
    tls: bool = False
    public_url: str = ""
    """What stands before a proxy's users; empty without one."""
    names: tuple[str, ...] = ()

    @property
    def scheme(self) -> str:
        return "https" if self.tls else "http"

    @property
    def loopback_only(self) -> bool:
        return _is_loopback(self.host)

    @property
    def url(self) -> str:
        """For the person who started it."""
        name = "127.0.0.1" if self.host in ("0.0.0.0", "::", "localhost") else self.host
        return f"{self.scheme}://{bracketed(name)}:{self.port}"

    @property
    def secure(self) -> bool:
        """Whether browsers reach it over TLS."""
        return self.tls or self.public_url.startswith("https:")

    def accepts_host(self, header: str) -> bool:
        name, port = _split_host(header)
        if not name:
            return False
        if self.public_url and header.lower() == urlsplit(self.public_url).netloc.lower():
            return True
        if port != self.port and not (port is None and self.port == (443 if self.tls else 80)):
            return False
        if name in (*_LOOPBACK_NAMES, *(known.lower() for known in self.names)):
            return True
        # An address in numbers cannot be rebound: whoever sends it meant this machine.
        return not self.loopback_only and _is_address(name)

    def accepts_origin(self, origin: str, host: str) -> bool:
        if self.public_url and host.lower() == urlsplit(self.public_url).netloc.lower():
            return origin.lower() == _origin_of(self.public_url)
        return origin.lower() == f"{self.scheme}://{host.lower()}"


class Guard:
    """ASGI middleware: refuses foreigners, and puts our headers on every answer."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app = app
        self._address = address
        more = {"strict-transport-security": "max-age=31536000"} if address.secure else {}
        self._headers = {**HEADERS, **more}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send_with_headers)
        else:
            await _refuse(send_with_headers, *refusal)

    def _refusal(self, scope: Scope) -> tuple[int, str, Said] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or not self._address.accepts_host(host):
            return 421, "foreign_host", _FOREIGN_HOST(host=repr(host[:100]))
        origin = headers.get("origin")
        if origin is not None and not self._address.accepts_origin(origin, host):
            return 403, "foreign_origin", _FOREIGN_ORIGIN()
        if not scope["path"].startswith("/api/"):
            return None
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "foreign_origin", _FOREIGN_ORIGIN()
        return None


async def _refuse(send: Send, status: int, code: str, said: Said) -> None:
    body = json.dumps({"error": {**said.to_dict(), "code": code}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name and not name.startswith("[") else name


def _split_host(header: str) -> tuple[str, int | None]:
    """Name (with brackets for IPv6) and port; an empty name for nonsense."""
    name, colon, port = header.lower().rpartition(":")
    if not colon or header.endswith("]"):
        name, port = header.lower(), ""
    if (colon and not header.endswith("]") and not port.isdigit()) or len(port) > 5 or "@" in name:
        return "", None
    return name.rstrip("."), int(port) if port else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host.strip("[]")).is_loopback)


def _origin_of(url: str) -> str:
    parts = urlsplit(url.lower())
    return f"{parts.scheme}://{parts.netloc}"


def is_loopback_client(scope: Scope) -> bool:
    """Whether the request comes from this machine."""
    client: Iterable[object] | None = scope.get("client")
    return client is not None and _is_loopback(str(next(iter(client))))
