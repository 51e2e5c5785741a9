"""System calls that no command of an agent needs: a filter the kernel checks at every call.

Standard library only and no other module of ours: the Landlock launcher runs it in a fresh interpreter.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Iterable, Sequence

_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000
_KILL = 0x80000000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_LOAD, _EQUAL, _GREATER_EQUAL, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000

INET, INET6, NETLINK = 2, 10, 16

# name of the machine -> (audit number, system calls by name)
_MACHINES: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "socket": 41, "add_key": 248, "request_key": 249, "keyctl": 250, "perf_event_open": 298, "bpf": 321,
            "userfaultfd": 323, "io_uring_setup": 425,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "socket": 198, "add_key": 217, "request_key": 218, "keyctl": 219, "perf_event_open": 241, "bpf": 280,
            "userfaultfd": 282, "io_uring_setup": 425,
        },
    ),
}  # fmt: skip
_NEVER = ("add_key", "request_key", "keyctl", "perf_event_open", "bpf", "userfaultfd", "io_uring_setup")
"""Keyrings are inherited from whoever started us; the others reach far into the kernel; rings bypass this filter."""


def known_machine(machine: str = "") -> bool:
    return (machine or platform.machine()) in _MACHINES


def program(*, families: Iterable[int] | None = None, machine: str = "") -> bytes:
    """The filter in the kernel's form. `families` are the kinds of socket that may be made; None leaves them alone."""
    architecture, calls = _MACHINES[machine or platform.machine()]
    tests: list[tuple[int, int, int, int]] = []

    def refuse(error: int) -> tuple[int, int, int, int]:
        return (_RETURN, 0, 0, _REFUSE | error)

    tests += [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)]
    tests += [(_LOAD, 0, 0, _NUMBER), (_GREATER_EQUAL, 0, 1, _X32), refuse(_ENOSYS)]
    for name in _NEVER:
        tests += [(_EQUAL, 0, 1, calls[name]), refuse(_ENOSYS if name == "io_uring_setup" else _EPERM)]
    if families is not None:
        allowed = sorted(set(families))
        # Behind the load: one test for each family, then the refusal, then the final allowance.
        tests += [(_EQUAL, 0, len(allowed) + 2, calls["socket"]), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
        tests += [(_EQUAL, len(allowed) - index, 0, family) for index, family in enumerate(allowed)]
        tests += [refuse(_EAFNOSUPPORT)]
    tests += [(_RETURN, 0, 0, _ALLOW)]
    return packed(tests)


def packed(tests: Sequence[tuple[int, int, int, int]]) -> bytes:
    return b"".join(struct.pack("=HBBI", *test) for test in tests)
