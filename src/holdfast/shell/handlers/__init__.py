"""Readers for programs whose arguments are a language of their own, by the name used in the table.

Each is imported when the first command needs it: a hook reads one command and ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from holdfast.shell.expand import Output

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

Handler = Callable[["Caller", "Call"], Output | None]

# Where each reader is defined: module and function.
HANDLERS: Mapping[str, tuple[str, str]] = {
    "alias": ("builtins", "alias"),
    "awk": ("awk", "awk"),
    "cat": ("constants", "cat"),
    "cd": ("builtins", "change_directory"),
    "chmod": ("files", "chmod"),
    "curl": ("network", "curl"),
    "dd": ("files", "dd"),
    "decoder": ("constants", "decoder"),
    "declare": ("builtins", "declare"),
    "echo": ("constants", "echo"),
    "eval": ("shells", "evaluate"),
    "exec": ("shells", "execute"),
    "find": ("find", "find"),
    "git": ("git", "git"),
    "interpreter": ("shells", "interpreter"),
    "kill": ("builtins", "kill"),
    "mktemp": ("constants", "mktemp"),
    "netcat": ("network", "netcat"),
    "pager": ("editors", "pager"),
    "parallel": ("repeat", "parallel"),
    "printf": ("constants", "printf"),
    "read": ("builtins", "read"),
    "rm": ("files", "rm"),
    "rsync": ("network", "rsync"),
    "sed": ("sed", "sed"),
    "set": ("builtins", "set_arguments"),
    "shell": ("shells", "shell"),
    "source": ("shells", "source"),
    "ssh": ("network", "ssh"),
    "tar": ("archive", "tar"),
    "tee": ("files", "tee"),
    "trap": ("builtins", "trap"),
    "unset": ("builtins", "unset"),
    "wget": ("network", "wget"),
    "xargs": ("repeat", "xargs"),
    "vim": ("editors", "vim"),
    "ed": ("editors", "ed"),
    "fd": ("programs", "fd"),
    "multiplexer": ("programs", "multiplexer"),
    "java": ("programs", "java"),
    "make": ("programs", "make"),
    "cmake": ("programs", "cmake"),
    "debugger": ("programs", "debugger"),
    "docker_run": ("containers", "docker_run"),
    "docker_cp": ("containers", "docker_cp"),
    "kubectl_exec": ("containers", "kubectl_exec"),
    "cloud_copy": ("remote", "cloud_copy"),
    "remote_words": ("remote", "remote_words"),
    "sql_client": ("databases", "sql_client"),
    "redis": ("databases", "redis"),
    "transfer": ("remote", "transfer"),
    "ip": ("programs", "ip"),
    "exiftool": ("programs", "exiftool"),
    "mount": ("programs", "mount"),
    "perf": ("programs", "perf"),
    "git_checkout": ("programs", "git_checkout"),
    "windows": ("windows", "windows"),
    "cmd": ("windows", "cmd"),
    "m4": ("programs", "m4"),
    "setarch": ("programs", "setarch"),
    "xxd": ("constants", "xxd"),
    "flock": ("programs", "flock"),
}


@cache
def handler(name: str) -> Handler:
    module, function = HANDLERS[name]
    return cast("Handler", getattr(import_module(f"holdfast.shell.handlers.{module}"), function))
