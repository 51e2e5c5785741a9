"""Which authorities an encrypted connection trusts, read once in a process: that takes longer than a short request."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def system_trust() -> ssl.SSLContext:
    """What the system trusts; the usual list of authorities where it names none."""
    context = ssl.create_default_context()
    if not context.cert_store_stats()["x509_ca"]:
        import certifi  # noqa: PLC0415 (not needed where the system has a list)

        context.load_verify_locations(certifi.where())
    return context
