"""Containers: what they are given of this machine, and what runs inside them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.expand import Output
from holdfast.shell.options import split_arguments

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller


def docker_run(walker: Caller, call: Call) -> Output | None:
    """A container that is given this machine is not a container."""
    arguments = split_arguments(call.fields, call.spec["opts"], stop_at_first=True)
    record = walker.record
    switched = arguments.value("--privileged")
    if arguments.has("--privileged") and (switched is None or switched.text.lower() not in ("false", "0", "f")):
        record.finding("dangerous", "escalates", how="a privileged container owns the machine")
    for value in arguments.values("--pid", "--cap-add", "--security-opt", "--userns"):
        if value.text in ("host", "SYS_ADMIN", "ALL", "SYS_PTRACE", "SYS_MODULE", "apparmor=unconfined"):
            record.finding(
                "dangerous" if value.text in ("ALL", "SYS_ADMIN", "SYS_MODULE") else "caution",
                "escalates",
                how=f"the container gets {value.text}",
            )
    for value in arguments.values("-v", "--volume", "--mount"):
        source = value.text.split(":")[0]
        match = re.search(r"(?:source|src)=([^,]+)", value.text)
        if match is not None:
            source = match[1]
        path = paths.absolute(source, call.scope.cwd, call.scope.home)
        if source.startswith(("/", "~", ".", "$")):
            record.add("reads", path, call.command, "mount")
            read_only = value.text.endswith((":ro", "readonly"))
            if path in (
                "/",
                "/etc",
                "/root",
                "/home",
                "/boot",
                "/usr",
                "/var",
                "/proc",
                "/sys",
                "/dev",
            ) or path.endswith("docker.sock"):
                record.finding(
                    "dangerous" if not (read_only and path != "/") or path.endswith("docker.sock") else "caution",
                    "escalates",
                    how=f"the container gets {source} of this machine",
                )
    entrypoint = arguments.value("--entrypoint")
    if entrypoint is not None and arguments.positionals:
        rest = [entrypoint, *arguments.positionals[1:]]
        context = replace(call.context.through(call.label), machine="container")
        walker.run_fields(rest, call.scope.copy(), call.stdin, context)
    return None


def docker_cp(walker: Caller, call: Call) -> Output:
    arguments = split_arguments(call.fields, call.spec.get("opts", {}))
    walker.note(call)
    names = arguments.positionals
    walker.record.read_only = False
    walker.record.add("external_state", call.label, call.command, "container")
    if len(names) >= 2:
        if ":" not in names[-1].text:
            walker.record.writes(names[-1], call.scope, call.context, call.command, append=True)
        elif ":" not in names[0].text:
            walker.record.reads(names[0], call.scope, call.context, call.command)
    walker.record.finding("caution", "external_state", detail="container")
    return Output(None)


def kubectl_exec(walker: Caller, call: Call) -> Output | None:
    """`kubectl exec pod -- cmd`: options may stand after the pod's name, up to `--`."""
    texts = [f.text for f in call.fields]
    if "--" in texts:
        index = texts.index("--")
        arguments = split_arguments(call.fields[:index], call.spec["opts"])
        rest = call.fields[index + 1 :]
        walker.record.read_only = False
        walker.record.finding("caution", "program", program=call.label, why="it runs in the cluster")
        if rest:
            context = replace(call.context.through(call.label), machine="container")
            scope = call.scope.copy()
            scope.cwd = None
            target = arguments.positionals[0].text if arguments.positionals else ""
            walker.record.add("external_state", target, call.command, "kubernetes")
            return walker.run_fields(rest, scope, call.stdin, context)
    return None
