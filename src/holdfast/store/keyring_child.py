"""`python -m holdfast.store.keyring_child SERVICE NAME`: prints what the library `keyring` has under a name.

Only from a keyring that is open: a locked one would bring up a question for its password.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def main() -> int:
    service, name = sys.argv[1:]
    chosen: Any = import_module("keyring").get_keyring()
    for backend in getattr(chosen, "backends", [chosen]):
        if _asks(backend):
            continue
        try:
            found = backend.get_password(service, name)
        except Exception:  # the next one may have it
            continue
        if isinstance(found, str) and found:
            sys.stdout.write(found)
            return 0
    return 1


def _asks(backend: Any) -> bool:
    """Whether reading would bring up a question."""
    kind = type(backend).__module__
    if kind == "keyring.backends.kwallet":
        return True  # opening a wallet asks, and whether it is open can only be learned by opening
    if kind != "keyring.backends.SecretService":
        return False
    try:
        service: Any = import_module("secretstorage")
        connection = service.dbus_init()
        try:
            return bool(service.get_default_collection(connection).is_locked())
        finally:
            connection.close()
    except Exception:
        return True


if __name__ == "__main__":
    sys.exit(main())
