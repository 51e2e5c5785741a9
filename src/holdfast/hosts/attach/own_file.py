"""A file that is ours as a whole: an agent, a skill. It is signed, so that one the user has changed is left to them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_SIGNATURE = re.compile(r"\n(?:<!--|#) holdfast: ([0-9a-f]{12})(?: -->)?\n\Z")


@dataclass(frozen=True, slots=True)
class OwnFile:
    path: Path
    body: str
    secret: bool = False
    kind: Literal["own"] = "own"

    def applied(self, text: str | None) -> str:
        """Ours, unless somebody has put a file there or changed ours: then theirs."""
        return self.signed() if text is None or is_untouched(text) else text

    def stripped(self, text: str, before: str | None) -> str | None:
        return None if is_untouched(text) else text

    def signed(self) -> str:
        body = self.body.rstrip("\n") + "\n"
        mark = f"holdfast: {_digest(body)}"
        return f"{body}\n# {mark}\n" if self.path.suffix == ".toml" else f"{body}\n<!-- {mark} -->\n"


def is_untouched(text: str) -> bool:
    """Whether a file is one of ours and still as we wrote it."""
    found = _SIGNATURE.search(text)
    return found is not None and _digest(text[: found.start()]) == found[1]


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:12]
