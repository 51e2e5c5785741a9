"""Statements of a database typed where a command should be.

A shell does not know them; but a session may be inside a client, and the text is pasted on. What they would
destroy is said, whatever reads them.
"""

from __future__ import annotations

import re

from holdfast.shell.lazy import Lazy

_STATEMENT = Lazy(
    r"\s*(?P<what>DROP\s+(?:DATABASE|SCHEMA|TABLE|VIEW|INDEX|USER|ROLE|KEYSPACE|COLLECTION|SEQUENCE|FUNCTION|TRIGGER)\b"
    r"(?:\s+(?:IF\s+EXISTS|CONCURRENTLY))?\s+\S+"
    r"|TRUNCATE\s+(?:TABLE\s+)?[\w.`\"]+\s*;?\s*\Z|ALTER\s+TABLE\s+\S+\s+DROP\s+\S+"
    r"|DELETE\s+FROM\s+[\w.`\"]+\s*;?\s*\Z|UPDATE\s+[\w.`\"]+\s+SET\b(?!.*\bWHERE\b).*=.*"
    r"|FLUSH(?:ALL|DB)(?:\s+A?SYNC)?\s*\Z|SHUTDOWN(?:\s+NOSAVE|\s+SAVE)?\s*\Z)",
    re.IGNORECASE | re.DOTALL,
)
# The shell of MongoDB: bash does not even accept it, or takes it for a name.
_METHOD = Lazy(
    r"(?:^|[\s;\"'])(?P<what>(?:db|rs|sh)\.(?:[\w-]+\.)*(?:dropDatabase|drop|dropIndexes|remove|deleteMany|shutdownServer)\s*\()",
    re.IGNORECASE,
)


def destructive_statement(text: str) -> str:
    """The statement that would destroy data; "" without one."""
    if len(text) > 2048:
        return ""
    found = _STATEMENT.match(text) or _METHOD.search(text)
    return found["what"].strip().rstrip("(") if found is not None else ""
