"""Runs commands in a sandbox as whoever runs this program: each line of stdin a question in JSON, an answer a line.

A program of its own, because the suite asks as root and as an unprivileged user.
"""

import json
import os
import sys
import time
from pathlib import Path

from holdfast.runtime.sandbox import Found, Outside
from holdfast.runtime.sandbox_landlock import Landlock
from holdfast.runtime.sandbox_processes import start
from holdfast.runtime.sandbox_secrets import command_environment
from holdfast.runtime.tools.bash_setup import shell_argv


def answer(asked):
    outside = Outside(home=Path(asked["home"]), user_home=Path(asked["user_home"]), temp=Path(asked["temp"]))
    if asked["kind"] == "landlock":
        sandbox = Landlock(outside, python=sys.executable)
    else:
        sandbox = Found(asked["kind"], program="/usr/bin/bwrap").build(outside)
    temp = "/tmp" if sandbox.name == "bubblewrap" else asked["temp"]
    environ = {**os.environ, "HOME": asked["user_home"]}
    output, end = os.pipe()
    report, report_end = os.pipe()
    wrapped = sandbox.wrap(
        shell_argv(asked["command"], report_end, asked["processes"]),
        vault=Path(asked["vault"]),
        cwd=Path(asked["vault"]),
        network=asked["network"],
        env=command_environment(environ, network=asked["network"], temp=temp),
        guarded=[Path(path) for path in asked["guarded"]],
    )
    began = time.monotonic()
    running = start(
        wrapped.argv,
        env=wrapped.env,
        cwd=wrapped.cwd,
        output=end,
        pass_fds=(report_end, *wrapped.fds),
        most_processes=asked["processes"],
    )
    os.close(end)
    os.close(report_end)
    ended = running.wait(asked["seconds"])
    code = running.close()
    os.set_blocking(output, False)
    text = b""
    deadline = time.monotonic() + 5
    open_still = True
    while open_still and time.monotonic() < deadline:
        try:
            piece = os.read(output, 1 << 20)
            open_still = bool(piece)
            text += piece
        except BlockingIOError:
            time.sleep(0.01)
    os.close(report)
    os.close(output)
    for descriptor in wrapped.fds:
        os.close(descriptor)
    return {
        "code": code,
        "ended": ended,
        "closed": not open_still,
        "seconds": time.monotonic() - began,
        "output": text[-200_000:].decode("utf-8", "replace"),
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
