"""Text that looks like something else: characters that are not shown, names of hosts that imitate others."""

from __future__ import annotations

import re
import unicodedata

from holdfast.shell.lazy import Lazy

# Characters that turn the direction of what follows, and tags that no screen shows.
_TURNS = Lazy("[\u202a-\u202e\u2066-\u2069]")
_TAGS = Lazy("[\U000e0001\U000e0020-\U000e007f]")
# Dots that are none, and letters of full width.
_NO_DOT = Lazy("[\uff0e\u3002\uff61\uff01-\uff5e]")
_HOST = Lazy(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^/@\s]*@)?(?P<host>[^/:?#\s]+)", re.IGNORECASE)
_USER_LIKE_HOST = Lazy(
    r"[a-z][a-z0-9+.-]*://[\w.-]+\.(?:com|org|net|io|dev|gov|edu|app|co)(?::[^/@]*)?@", re.IGNORECASE
)


def unseen_characters(text: str) -> str:
    """How characters in the text deceive whoever reads it; "" when they do not."""
    if _TURNS.search(text):
        return "it holds characters that show it in another order"
    if _TAGS.search(text):
        return "it holds characters that are not shown"
    return ""


def spoofed_host(target: str) -> str:
    """Why the host in an address is not what it looks like; "" when it is."""
    if _USER_LIKE_HOST.match(target):
        return f"{target[:60]} looks like one host and is another"
    if target.isascii():
        return ""
    match = _HOST.match(target)
    host = match["host"] if match is not None else ""
    if _NO_DOT.search(host):
        return f"{host[:60]} is written with characters that look like others"
    for label in host.split("."):
        scripts = {_script(char) for char in label if char.isalpha()}
        if len(scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}) > 1:
            return f"{host[:60]} mixes letters of several alphabets"
    return ""


def _script(char: str) -> str:
    return "LATIN" if char.isascii() else unicodedata.name(char, "").partition(" ")[0]
