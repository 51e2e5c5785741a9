"""Which browsers may enter: one-time codes that admit one, and tokens by which it is known from then on.

At rest only hashes are kept. A token is a pair: a cookie that no script can read, and a key that the page keeps for
its own origin. Cookies do not tell ports apart, so a page that an agent serves on another port of this machine would be
sent the cookie; without the key it is worth nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.store.interface import Store

Kind = Literal["link", "code"]
PREFIX = "page-device:"
LINK_SECONDS = 600.0
PAIRING_SECONDS = 300.0
FORGOTTEN_AFTER = 90 * 86_400.0
SEEN_EVERY = 600.0
MOST_DEVICES = 50
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without what is mistaken for something else when it is read from a screen."""
_WINDOW = 60.0
_MOST_WRONG, _MOST_WRONG_OF_ALL = 10, 60


@dataclass(frozen=True, slots=True)
class Device:
    id: str
    name: str
    kind: Kind
    created_at: float
    last_seen: float
    cookie_hash: str
    key_hash: str


@dataclass(frozen=True, slots=True)
class Admitted:
    device: Device
    cookie: str
    key: str


class BadCode(Exception):
    """`reason` is what the page is told: code_unknown, code_used, code_expired or too_many_attempts."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class _Code:
    kind: Kind
    expires: float
    used: bool = False


class Codes:
    """One-time codes, kept by their hash and in memory only: they end with the process."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._codes: dict[str, _Code] = {}
        self._wrong: deque[tuple[float, str]] = deque()
        self._lock = threading.Lock()

    def link(self) -> str:
        return self._add(secrets.token_urlsafe(32), "link", LINK_SECONDS)

    def pairing(self) -> tuple[str, float]:
        """A code to be typed, and when it ends. An older one is no good any more."""
        with self._lock:
            for known in self._codes.values():
                if known.kind == "code":
                    known.expires = min(known.expires, self._clock())
        code = "".join(secrets.choice(_ALPHABET) for _ in range(8))
        return self._add(f"{code[:4]}-{code[4:]}", "code", PAIRING_SECONDS), self._clock() + PAIRING_SECONDS

    def _add(self, code: str, kind: Kind, seconds: float) -> str:
        now = self._clock()
        with self._lock:
            self._codes = {name: known for name, known in self._codes.items() if now < known.expires + _WINDOW}
            self._codes[_hashed(_normal(code))] = _Code(kind, now + seconds)
        return code

    def take(self, code: str, client: str) -> Kind:
        """Use it up; raises `BadCode`."""
        now = self._clock()
        with self._lock:
            while self._wrong and self._wrong[0][0] < now - _WINDOW:
                self._wrong.popleft()
            of_client = sum(1 for _, who in self._wrong if who == client)
            if of_client >= _MOST_WRONG or len(self._wrong) >= _MOST_WRONG_OF_ALL:
                raise BadCode("too_many_attempts")
            known = self._codes.get(_hashed(_normal(code)))
            if known is not None and not known.used and now < known.expires:
                known.used = True
                return known.kind
            self._wrong.append((now, client))
        if known is None:
            raise BadCode("code_unknown")
        raise BadCode("code_used" if known.used else "code_expired")


class Devices:
    """The browsers that are known; all of them in memory, so that a request is checked without touching the store."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._changing = threading.Lock()
        """Held while store and memory are brought into step: no old reading may bring a revoked device back."""
        self._known: dict[str, Device] = {}
        self.load()

    def load(self) -> bool:
        """Read them anew; True when something has changed."""
        with self._changing:
            found = {}
            for key, body in self._store.notes(PREFIX).items():
                device = _device(key.removeprefix(PREFIX), body)
                if device is not None and self._clock() - device.last_seen < FORGOTTEN_AFTER:
                    found[device.id] = device
            with self._lock:
                changed = found != self._known
                self._known = found
        return changed

    def all(self) -> list[Device]:
        with self._lock:
            return sorted(self._known.values(), key=lambda device: -device.last_seen)

    def admit(self, name: str, kind: Kind) -> Admitted:
        """A new one; when there are too many, the one that was away for longest is forgotten."""
        now = self._clock()
        for device in self.all()[MOST_DEVICES - 1 :]:
            self.revoke(device.id)
        identity, secret, key = secrets.token_hex(8), secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        device = Device(identity, name[:80] or "browser", kind, now, now, _hashed(secret), _hashed(key))
        with self._changing:
            self._keep(device)
        return Admitted(device, f"{identity}.{secret}", key)

    def known_by(self, cookie: str, key: str) -> Device | None:
        identity, _, secret = cookie.partition(".")
        with self._lock:
            device = self._known.get(identity)
        if device is None or self._clock() - device.last_seen >= FORGOTTEN_AFTER:
            return None
        fits = hmac.compare_digest(_hashed(secret), device.cookie_hash)
        return device if hmac.compare_digest(_hashed(key), device.key_hash) and fits else None

    def is_known(self, identity: str) -> bool:
        with self._lock:
            return identity in self._known

    def is_due(self, device: Device) -> bool:
        """Whether it is time to write down that it was here."""
        return self._clock() - device.last_seen > SEEN_EVERY

    def seen(self, identity: str) -> None:
        self._change(identity, last_seen=self._clock())

    def rename(self, identity: str, name: str) -> Device | None:
        return self._change(identity, name=name[:80])

    def _change(self, identity: str, **changes: Any) -> Device | None:
        with self._changing:
            with self._lock:
                device = self._known.get(identity)
            if device is None:
                return None  # it was revoked meanwhile, and stays so
            changed = replace(device, **changes)
            self._keep(changed)
            return changed

    def revoke(self, identity: str) -> bool:
        with self._lock:
            there = self._known.pop(identity, None) is not None
        with self._changing:
            self._store.note(PREFIX + identity, None)
            with self._lock:
                self._known.pop(identity, None)
        return there

    def _keep(self, device: Device) -> None:
        body = {name: getattr(device, name) for name in Device.__slots__ if name != "id"}
        self._store.note(PREFIX + device.id, body)
        with self._lock:
            self._known[device.id] = device


def _device(identity: str, body: Any) -> Device | None:
    try:
        return Device(id=identity, **body)
    except TypeError:
        return None  # written by another version: it has to enter again


def _normal(code: str) -> str:
    """A typed code may come with other case, blanks or without its dash; a link's is taken as it is."""
    plain = code.strip()
    short = plain.replace("-", "").replace(" ", "").upper()
    return short if len(short) == 8 else plain


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
