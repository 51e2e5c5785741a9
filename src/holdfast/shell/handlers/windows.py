"""Commands of Windows, as far as they destroy or persist."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell.expand import Output
from holdfast.shell.lazy import Lazy

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

# What in the arguments makes the command destroy, persist or run something hidden.
_DESTRUCTIVE = {
    "format": r"^[a-z]:",
    "vssadmin": r"delete",
    "wbadmin": r"delete",
    "cipher": r"/w",
    "bcdedit": r"/set|/delete",
    "wevtutil": r"\bcl\b|clear",
    "reg": r"^(?:delete|add)\b",
    "schtasks": r"/create|/delete",
    "fsutil": r"deletejournal",
    "certutil": r"urlcache|decode|-f .*http|verifyctl",
    "bitsadmin": r"/transfer",
    "mshta": r".",
    "regsvr32": r"/i:|http",
    "rundll32": r".",
    "takeown": r"/r",
    "wmic": r"delete|process call create|shadowcopy",
    "icacls": r"everyone",
    "robocopy": r"/mir|/purge",
}
_WINDOWS_DELETE = Lazy(r"/s\b|/q\b|/f\b", re.IGNORECASE)


def windows(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    joined = " ".join(texts)
    record = walker.record
    name = call.name.lower()
    if any(t in ("--help", "/?", "-h") for t in texts):
        return None
    if name in ("del", "erase", "rd") and texts:
        record.read_only = False
        walker.note(call)
        for value in call.fields:
            if not value.text.startswith("/") or len(value.text) > 3:
                record.add("deletes", value.text, call.command)
        risk = "dangerous" if _WINDOWS_DELETE.search(joined) else "caution"
        record.finding(risk, "deletes_tree" if risk == "dangerous" else "deletes", target=joined)  # type: ignore[arg-type]
        return Output(None)
    pattern = _DESTRUCTIVE.get(name)
    if pattern is not None and re.search(pattern, joined, re.IGNORECASE):
        record.finding("dangerous", "program", program=call.name, why="it destroys, persists or runs something hidden")
    if name in ("tasklist", "ipconfig", "systeminfo", "ver", "cls"):
        call.spec = {"ro": True, "pos": "text"}
    return None


def cmd(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    for index, text in enumerate(texts):
        if text.lower() in ("/c", "/k") and index + 1 < len(texts):
            rest = " ".join(texts[index + 1 :])
            return walker.run_text(
                rest.replace("\\", "/"), call.scope.copy(), call.stdin, call.context.through("cmd /c")
            )
    return None
