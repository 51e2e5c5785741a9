"""Readers for programs whose arguments are a language of their own, by the name used in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from holdfast.shell.expand import Output
from holdfast.shell.handlers import (
    archive,
    awk,
    builtins,
    constants,
    files,
    find,
    git,
    network,
    repeat,
    sed,
    shells,
    special,
)

if TYPE_CHECKING:
    from holdfast.shell.calls import Call, Caller

Handler = Callable[["Caller", "Call"], Output | None]

HANDLERS: Mapping[str, Handler] = {
    "alias": builtins.alias,
    "awk": awk.awk,
    "cat": constants.cat,
    "cd": builtins.change_directory,
    "chmod": files.chmod,
    "curl": network.curl,
    "dd": files.dd,
    "decoder": constants.decoder,
    "declare": builtins.declare,
    "echo": constants.echo,
    "eval": shells.evaluate,
    "exec": shells.execute,
    "find": find.find,
    "git": git.git,
    "interpreter": shells.interpreter,
    "kill": builtins.kill,
    "ln": files.link,
    "mktemp": constants.mktemp,
    "netcat": network.netcat,
    "parallel": repeat.parallel,
    "printf": constants.printf,
    "read": builtins.read,
    "rm": files.rm,
    "rsync": network.rsync,
    "sed": sed.sed,
    "shell": shells.shell,
    "source": shells.source,
    "ssh": network.ssh,
    "tar": archive.tar,
    "tee": files.tee,
    "trap": builtins.trap,
    "unset": builtins.unset,
    "wget": network.wget,
    "xargs": repeat.xargs,
    "vim": special.vim,
    "ed": special.ed,
    "fd": special.fd,
    "multiplexer": special.multiplexer,
    "java": special.java,
    "make": special.make,
    "cmake": special.cmake,
    "debugger": special.debugger,
    "docker_run": special.docker_run,
    "docker_cp": special.docker_cp,
    "kubectl_exec": special.kubectl_exec,
    "cloud_copy": special.cloud_copy,
    "remote_words": special.remote_words,
    "sql_client": special.sql_client,
    "redis": special.redis,
    "transfer": special.transfer,
    "ip": special.ip,
    "exiftool": special.exiftool,
    "mount": special.mount,
    "perf": special.perf,
    "git_checkout": special.git_checkout,
    "windows": special.windows,
    "cmd": special.cmd,
    "m4": special.m4,
    "setarch": special.setarch,
}
