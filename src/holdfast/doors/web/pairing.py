"""Letting a phone in: a short code that works once, and the same as a QR to be scanned."""

from __future__ import annotations

import io
import ipaddress
import socket
from typing import TypedDict

import segno

from holdfast.doors.web.routes import Call, Route
from holdfast.doors.web.security import Address, bracketed


class Pairing(TypedDict):
    code: str
    url: str
    qr: str
    expiresAt: float
    reachable: bool


def pair(call: Call) -> Pairing:
    server = call.server
    code, expires = server.codes.pairing()
    url = f"{reached_at(server.address)}/#enter={code}"
    server.on_record("page.pair", device=call.device.id)
    return {
        "code": code,
        "url": url,
        "qr": qr_svg(url),
        "expiresAt": expires,
        "reachable": not server.address.loopback_only or bool(server.address.public_url),
    }


def qr_svg(text: str) -> str:
    """Black on white whatever the theme: cameras do not read the other way round."""
    drawn = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        drawn, kind="svg", scale=4, border=4, dark="#000", light="#fff", xmldecl=False, omitsize=True, nl=False
    )
    return drawn.getvalue().decode()


def reached_at(address: Address) -> str:
    """The address that another device would use."""
    if address.public_url:
        return address.public_url
    if address.names and not address.loopback_only:
        return f"{address.scheme}://{address.names[0]}:{address.port}"
    if address.host in ("0.0.0.0", "::"):
        return f"{address.scheme}://{bracketed(_own_address())}:{address.port}"
    return address.url


def _own_address() -> str:
    """This machine's address on its network. Connecting a datagram socket sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found = str(probe.getsockname()[0])
            ipaddress.ip_address(found)
        except (OSError, ValueError):
            return "127.0.0.1"
    return found


ROUTES = (Route("POST", "/api/devices/pair", pair, "A code by which another device enters, once.", returns=Pairing),)
