"""Runs one command under Landlock: `python -I -S this-file <plan as JSON> command...`. Standard library only.

Three processes. The first is the one Holdfast knows and kills. The second, in a session of its own, adopts every orphan
of the command and kills them all as soon as the command ends or the first process dies. The third is the command.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import select
import signal
import stat
import struct
import sys
import time
from typing import Any, NoReturn

Plan = dict[str, Any]

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
READING = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_SET_CHILD_SUBREAPER = 1, 24, 22, 38, 36
CAPSET = {"x86_64": 126, "aarch64": 91}
LAST_CAPABILITY = 63
OLDEST_ABI = 3  # before that, files outside could be truncated

libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The kernel did not take a step of the confinement; then the command does not run."""


def call(what: str, *arguments: Any) -> int:
    result: int = libc.syscall(*arguments)
    if result < 0:
        raise Refused(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def control(option: int, first: int = 0) -> None:
    if libc.prctl(option, ctypes.c_ulong(first), 0, 0, 0) < 0:
        raise Refused(f"prctl {option}: {os.strerror(ctypes.get_errno())}")


def abi() -> int:
    """Version of Landlock in this kernel, 0 when there is none."""
    return max(0, int(libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def handled(version: int) -> int:
    rights = (1 << 13) - 1
    rights |= 1 << 13 if version >= 2 else 0
    rights |= TRUNCATE if version >= 3 else 0
    rights |= IOCTL_DEV if version >= 5 else 0
    return rights


def confine(plan: Plan) -> None:
    version = abi()
    if version < OLDEST_ABI:
        raise Refused(f"Landlock {version or 'none'} is too old")
    drop_rights()
    everything = handled(version)
    network = 0 if plan["network"] or version < 4 else 3
    scoped = 3 if version >= 6 else 0
    attributes = struct.pack("=QQQ", everything, network, scoped)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = call("ruleset", CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    for rights, paths in ((READING, plan["read"]), (everything, plan["write"]), (OF_FILES, plan["devices"])):
        for path in paths:
            allow(ruleset, path, rights & everything)
    control(PR_SET_NO_NEW_PRIVS, 1)
    call("confinement", RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    program = bytes.fromhex(plan["filter"])
    code = ctypes.create_string_buffer(program, len(program))
    description = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    if libc.prctl(PR_SET_SECCOMP, 2, ctypes.create_string_buffer(description), 0, 0) < 0:
        raise Refused(f"filter: {os.strerror(ctypes.get_errno())}")


def drop_rights() -> None:
    """Root without capabilities is anybody."""
    for number in range(LAST_CAPABILITY + 1):
        if libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0) < 0 and ctypes.get_errno() != errno.EPERM:
            break
    header = struct.pack("=Ii", 0x20080522, 0)
    capset = CAPSET.get(os.uname().machine)
    if capset is None:
        raise Refused(f"capabilities of {os.uname().machine} are not known")
    call("capabilities", capset, header, struct.pack("=6I", 0, 0, 0, 0, 0, 0))


def allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # gone since, or out of reach anyway
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        call(f"rule for {path}", ADD_RULE, ruleset, 1, rule, 0)
    finally:
        os.close(descriptor)


def run(plan: Plan, command: list[str]) -> NoReturn:
    """The command itself; never returns."""
    try:
        os.chdir(plan["cwd"])
        confine(plan)
        os.execvpe(command[0], command, os.environ)
    except (OSError, Refused) as error:
        os.write(2, f"sandbox: the command was not started: {error}\n".encode())
    os._exit(126)


def family(root: int) -> list[int]:
    """Every living process below `root`."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 (run at every end)
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state != b"Z":
            children.setdefault(int(parent), []).append(int(name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def end_family() -> None:
    end = time.monotonic() + 10.0
    while time.monotonic() < end:
        members = family(os.getpid())
        for number in (signal.SIGSTOP, signal.SIGKILL):  # first nobody may be born any more
            for pid in members:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def supervise(plan: Plan, command: list[str], lifeline: int) -> NoReturn:
    """The second process: until the command ends or whoever started us is gone."""
    os.setsid()
    control(PR_SET_CHILD_SUBREAPER, 1)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(woken)
        os.close(wake)
        os.close(lifeline)
        run(plan, command)
    code: int | None = None
    while code is None:
        ready, _, _ = select.select([woken, lifeline], [], [], 1.0)
        if woken in ready:
            os.read(woken, 512)
        if lifeline in ready:
            break
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not pid:
                break
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
    end_family()
    os._exit(137 if code is None else 128 - code if code < 0 else code)


def main() -> NoReturn:
    plan = json.loads(sys.argv[1])
    command = sys.argv[2:]
    control(PR_SET_PDEATHSIG, signal.SIGKILL)
    control(PR_SET_CHILD_SUBREAPER, 1)
    lifeline, held = os.pipe()
    second = os.fork()
    if second == 0:
        os.close(held)
        supervise(plan, command, lifeline)
    os.close(lifeline)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == second:
            end_family()  # should the second process have been killed
            code = os.waitstatus_to_exitcode(status)
            sys.exit(128 - code if code < 0 else code)


if __name__ == "__main__":
    main()
