"""No request of an agent may reach what only this machine can reach (PE11).

An address is checked where it matters: at the moment of connecting. The name is resolved once, every address it has is
checked, and the connection goes to one of those very addresses, so there is no second look-up that could answer
differently. Redirects are new addresses and go through the same door.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Name and port to addresses, as text."""

LONGEST_URL = 4096
_RESOLVE_SECONDS = 10.0
_UNCLEAR = re.compile(r"[\x00-\x20\x7f\\]")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)\Z")
_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]*|[0-9]+)\Z")


class RefusedAddress(Exception):
    """The address may not be reached; the message says why and what to do."""


# Everything that is not the public internet, by the registries of special-purpose addresses, and a few public numbers
# that clouds answer to on the inside.
_SPECIAL4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
    )
)  # fmt: skip
_PUBLIC6 = ipaddress.IPv6Network("2000::/3")
_SPECIAL6 = tuple(
    ipaddress.IPv6Network(text)
    for text in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = frozenset((0x00005EFE, 0x02005EFE))
_PRIVATE_NAMES = (
    "localhost", "local", "internal", "intranet", "private", "corp", "home", "lan", "localdomain", "home.arpa",
    "in-addr.arpa", "ip6.arpa", "test", "invalid", "example", "onion", "consul", "svc", "cluster.local",
)  # fmt: skip
_PORTS_OF_OTHERS = frozenset(
    (
        0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
        110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530,
        531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 2375,
        2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5984, 6000, 6379, 6443, 6566, 6665, 6666,
        6667, 6668, 6669, 6679, 6697, 9042, 9200, 9300, 10080, 10250, 11211, 27017,
    )
)  # fmt: skip
"""Where other protocols live: a request there would be words in somebody else's conversation."""


@dataclass(frozen=True, slots=True)
class CheckedUrl:
    """A URL whose form is clear. Its name still has to be resolved, which is done when connecting."""

    text: str
    scheme: str
    host: str
    """Lower case, ASCII, without brackets or a final dot."""
    port: int
    target: str
    """Path and query, as they are sent."""

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


_DEFAULT_PORTS = {"http": 80, "https": 443}


def check_url(url: str) -> CheckedUrl:
    """Refuse what is no plain http address, and hosts that cannot be public. No network is used."""
    text = url.strip()
    if len(text) > LONGEST_URL:
        raise RefusedAddress(f"The address is longer than {LONGEST_URL} characters. Shorten it.")
    if _UNCLEAR.search(text):
        raise RefusedAddress(f"{url!r} holds blanks, control characters or backslashes. Write them in %-form.")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise RefusedAddress(f"{url!r} is no address: {error}. Write it as https://host/path.") from None
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS or not parts.netloc:
        raise RefusedAddress(f"{url!r} is no http address. Only http:// and https:// are fetched.")
    if "@" in parts.netloc:
        raise RefusedAddress(f"{url!r} holds a user name or password before the host. Give the address without it.")
    host = _host(parts, url)
    chosen = port if port is not None else _DEFAULT_PORTS[scheme]
    if chosen in _PORTS_OF_OTHERS:
        raise RefusedAddress(f"Port {chosen} belongs to another protocol than http. Give a web address.")
    return CheckedUrl(text, scheme, host, chosen, _target(parts))


def _host(parts: SplitResult, url: str) -> str:
    raw = parts.hostname or ""
    if not raw:
        raise RefusedAddress(f"{url!r} names no host. Write it as https://host/path.")
    if parts.netloc.startswith("["):
        if "%" in raw:
            raise RefusedAddress(f"{url!r} names an interface of this machine, which is not fetched.")
        try:
            address: Address = ipaddress.IPv6Address(raw)
        except ValueError:
            raise RefusedAddress(f"{raw!r} is no IPv6 address. Use the host's name.") from None
        check_address(address)
        return str(address)
    host = _ascii(raw, url)
    if _NUMBER.match(host.rpartition(".")[2]):
        return str(_number_host(host))
    labels = host.split(".")
    if any(not _LABEL.match(label) for label in labels) or len(host) > 253:
        raise RefusedAddress(f"{raw!r} is no host name. Write it as https://host/path.")
    if len(labels) == 1 or any(host == name or host.endswith(f".{name}") for name in _PRIVATE_NAMES):
        raise RefusedAddress(f"{host!r} is a name of this machine or of a private network, which is not fetched.")
    return host


def _ascii(host: str, url: str) -> str:
    """The name as it is looked up; characters that mean others (full-width digits, other dots) are folded first."""
    folded = unicodedata.normalize("NFKC", host).lower().replace("\u3002", ".")
    folded = folded.removesuffix(".")
    if _UNCLEAR.search(folded) or any(char in folded for char in "%/?#@:[]<>^|\"'`{}"):
        raise RefusedAddress(f"{url!r} has a host that could be read in two ways. Write it plainly.")
    try:
        return folded.encode("idna").decode("ascii").lower() if not folded.isascii() else folded
    except UnicodeError:
        raise RefusedAddress(f"{host!r} is no host name.") from None


def _number_host(host: str) -> ipaddress.IPv4Address:
    """A host of digits. Octal, hexadecimal and short forms mean an address too; only the plain one is taken."""
    try:
        address = ipaddress.IPv4Address(host)
    except ValueError:
        meant = _loose_ipv4(host)
        what = f" (it means {meant})" if meant is not None else ""
        raise RefusedAddress(
            f"{host!r} is an address in an unusual spelling{what}. Use the host's name, or four plain decimal numbers."
        ) from None
    check_address(address)
    return address


def _loose_ipv4(host: str) -> ipaddress.IPv4Address | None:
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def _target(parts: SplitResult) -> str:
    path = parts.path or "/"
    target = f"{path}?{parts.query}" if parts.query else path
    return "".join(char if char.isascii() else _percent(char) for char in target)


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))


def check_address(address: Address) -> None:
    """Refuse every address that is not on the public internet, in whatever form it hides."""
    reason = _why_not_public(address)
    if reason:
        raise RefusedAddress(f"{address} is {reason}, which is not fetched. Only public addresses are.")


def _why_not_public(address: Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return _why_not_public4(address)
    inner = _embedded(address)
    if inner is not None:
        # A translator's prefix is the one form in which a public address may be wrapped: some networks have no other.
        why = _why_not_public4(inner)
        if why or address not in _NAT64:
            return f"another form of {inner}{', ' + why if why else ''}"
        return ""
    if address.is_loopback or address.is_unspecified:
        return "this machine itself"
    if address.is_link_local or address.is_multicast:
        return "a link-local or multicast address"
    if address not in _PUBLIC6 or any(address in network for network in _SPECIAL6):
        return "a private or reserved address"
    return ""


def _why_not_public4(address: ipaddress.IPv4Address) -> str:
    if address.is_loopback or address in _SPECIAL4[0]:
        return "this machine itself"
    if address.is_link_local:
        return "a link-local address (cloud metadata lives there)"
    if any(address in network for network in _SPECIAL4):
        return "a private or reserved address"
    return ""


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address inside: mapped, compatible, translated (SIIT, NAT64), 6to4, Teredo, ISATAP."""
    number = int(address)
    low = ipaddress.IPv4Address(number & 0xFFFFFFFF)
    top96 = number >> 32
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64 or top96 == 0xFFFF_0000:  # ::ffff:0:a.b.c.d
        return low
    if top96 == 0 and number > 0xFFFF:  # ::a.b.c.d; the first ones are :: and ::1
        return low
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if (number >> 32) & 0xFFFFFFFF in _ISATAP:
        return low
    return None


async def system_resolver(host: str, port: int) -> list[str]:
    """What the system answers, within a deadline."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(_RESOLVE_SECONDS):
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def public_addresses(host: str, port: int, resolver: Resolver = system_resolver) -> list[str]:
    """The addresses of a host, all of them checked: one private address among them refuses the name."""
    try:
        found = await resolver(host, port)
    except TimeoutError:
        raise RefusedAddress(f"Looking up {host!r} took too long. Try again later.") from None
    except (OSError, UnicodeError) as error:
        raise RefusedAddress(f"{host!r} could not be looked up: {error}. Check the name.") from None
    if not found:
        raise RefusedAddress(f"{host!r} has no address. Check the name.")
    for text in found:
        if "%" in text:
            raise RefusedAddress(f"{host!r} leads to {text}, an interface of this machine, which is not fetched.")
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            raise RefusedAddress(f"{host!r} was answered with {text!r}, which is no address.") from None
        reason = _why_not_public(address)
        if reason:
            raise RefusedAddress(f"{host!r} leads to {text}: {reason}, which is not fetched.")
    return list(found)
