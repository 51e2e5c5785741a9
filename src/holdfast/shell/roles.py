"""What an argument means for the program that is given it: the roles of the table."""

from __future__ import annotations

import re
from dataclasses import replace as changed
from typing import TYPE_CHECKING, cast

from holdfast.shell import paths
from holdfast.shell.call import Call, Engine
from holdfast.shell.expand import (
    FROM_DECODER,
    FROM_FILE,
    FROM_NETWORK,
    FROM_OUTPUT,
    FROM_SECRET,
    FROM_TREE,
    Field,
    Output,
    Scope,
)
from holdfast.shell.lazy import Lazy
from holdfast.shell.reading import SimpleCommand
from holdfast.shell.record import Context

if TYPE_CHECKING:
    from holdfast.shell.calls import Caller


_NO_OPTION = Lazy(r"[^\w#?+.:@,%=/-]")
_LIBRARY = Lazy(r"\.(?:so|dylib|dll)(?:\.[\d.]+)?\Z")
# Settings whose value is a command, and settings that only change what is shown.
_NAMES_PROGRAM = Lazy(
    r"(?:^|[.:_-])(?:command|cmd|program|ssh|exec|helper|pager|editor|tool|tools|hooks?|rsh|proxy|alias(?:es)?|extensions?"
    r"|external|textconv|driver|rustc|rustc-wrapper|linker|runner|merge-tools|diff-cmd|tunnels|browser)(?:[.:_-]|\Z)",
    re.IGNORECASE,
)
_SHOWN_ONLY = Lazy(
    r"(?:ui\.)?(?:color|colour|quiet|verbose|debug|formatted|format|diff|log|templates?|user|graph)\b", re.I
)


class Roles(Engine):
    """Handlers are written for the complete walker, which every instance is."""

    def option_roles(self, call: Call) -> None:
        opts = call.spec.get("opts")
        if not opts:
            return
        for name, values in call.arguments.flags.items():
            role = opts.get(name)
            if role is None or role in ("val", "?val", "text"):
                continue
            for value in values:
                if value is not None:
                    self.role(role.lstrip("?"), value, call, option=name)

    def read_roles(self, call: Call, roles: tuple[str, ...] | list[str]) -> None:
        for index, value in enumerate(call.arguments.positionals):
            role = roles[min(index, len(roles) - 1)]
            if role in ("read", "print", "copy", "move", "dir"):
                call.taint |= self.record.reads(value, call.scope, call.context, call.command)

    def position_roles(self, call: Call, roles: tuple[str, ...] | list[str]) -> Output | None:
        positionals = call.arguments.positionals
        first = roles[0]
        if first in ("copy", "move", "link"):
            from holdfast.shell.handlers.files import transfer  # noqa: PLC0415 - handlers need the roles

            transfer(cast("Caller", self), call, first)
            return None
        for index, value in enumerate(positionals):
            role = roles[min(index, len(roles) - 1)]
            if role in ("argv", "envargv", "cmdline", "remote"):
                return self.inner(call, role, positionals[index:], positionals[:index])
            if role != "val":
                self.role(role, value, call)
            call.taint |= value.taint
        if call.spec.get("ro") or "read" in roles or "print" in roles:
            reads_stdin = not positionals or any(p.text == "-" for p in positionals)
            if reads_stdin or first not in ("read", "print"):
                call.taint |= call.stdin.taint
        return None

    def inner(self, call: Call, role: str, fields: list[Field], before: list[Field]) -> Output:
        """A wrapper: what follows is what really runs."""
        label = call.label
        for option in call.arguments.flags:
            if _NO_OPTION.search(option):  # then the command may begin elsewhere
                self.record.cannot_know(f"the option {option} of {label} is not known")
        context = call.context.through(label)
        if call.spec.get("flags") == "elevated":
            context = changed(context, elevated=True)
        elif call.spec.get("flags") == "container":
            context = changed(context, machine="container")
            call.scope = call.scope.copy()
            call.scope.cwd = None
        if role == "envargv":
            environment: dict[str, Field] = {}
            while fields and re.match(r"[A-Za-z_]\w*=", fields[0].text):
                name, _, value = fields[0].text.partition("=")
                environment[name] = Field(value, fields[0].dynamic, taint=fields[0].taint)
                fields = fields[1:]
            if not fields:
                self.note(call)
                return Output(None, FROM_SECRET)
            return self.run_fields(fields, call.scope, call.stdin, context, environment)
        if role in ("cmdline", "remote"):
            if role == "remote":
                context = changed(context, machine=f"ssh:{before[-1].text if before else ''}")
                call.scope = call.scope.copy()
                call.scope.cwd, call.scope.home = None, None
            text = " ".join(f.text for f in fields)
            if any(f.taint & FROM_NETWORK for f in fields):
                self.record.finding("dangerous", "downloads_and_runs", target=text)
            return self.run_text(text, call.scope.copy(), call.stdin, context)
        return self.run_fields(fields, call.scope, call.stdin, context, call.environment)

    def role(self, role: str, value: Field, call: Call, option: str = "") -> None:  # noqa: PLR0915 - one case a role
        record, scope, context, by = self.record, call.scope, call.context, call.command
        match role:
            case "read" | "dir":
                call.taint |= record.reads(value, scope, context, by) | FROM_FILE
                call.taint |= scope.origins.get(paths.absolute(value.text, scope.cwd, scope.home), 0)
            case "print":
                call.taint |= record.reads(value, scope, context, by, whole=True) | FROM_FILE
                call.taint |= scope.origins.get(paths.absolute(value.text, scope.cwd, scope.home), 0)
            case "write" | "append":
                record.writes(value, scope, context, by, append=role == "append")
                if any(e.startswith("network") for e in call.spec.get("fx", ())):
                    scope.origins[paths.absolute(value.text, scope.cwd, scope.home)] = FROM_NETWORK
            case "touch":
                record.writes(value, scope, context, by, append=True, detail="attributes")
            case "mkdir":
                record.writes(value, scope, context, by, append=True, detail="directory")
            case "rmdir":
                record.deletes(value, scope, context, by, narrow=True, detail="empty directory")
            case "delete" | "rdelete":
                recursive = role == "rdelete" or bool(call.spec.get("recursive"))
                record.deletes(value, scope, context, by, recursive=recursive)
            case "perm":
                self.permission(value, call)
            case "shell" | "prog":
                inner = context.through(f"{call.label} {option}".strip(), escaped=call.label if option else "")
                self.run_string(value, scope, call.stdin, inner)
            case "url" | "host":
                self.network(value, call)
            case "pkg":
                record.add("installs", value.text, by, "package", value.certain)
            case "script":
                if _LIBRARY.search(value.text):
                    record.finding("dangerous", "hides", how=f"{value.text} is loaded into {call.label}")
                self.run_script(value, scope, call.stdin, context, by, [])
            case "upload":
                self.upload(value, call)
            case "uploadfile":
                self.upload(Field("@" + value.text, value.dynamic, value.glob, value.taint), call)
            case "device":
                self.device(value, call)
            case "plugin":
                if "/" in value.text:
                    record.finding("dangerous", "hides", how=f"{value.text} is loaded into {call.label}")
            case "setting":
                self.setting(value, call, option)
            case "aptoption":
                self.apt_option(value, call)
            case "nmap":
                if "/" in value.text or value.text.endswith(".nse"):
                    self.run_script(value, scope, call.stdin, context, by, [], "lua")
            case "sql":
                from holdfast.shell.handlers.sql import read_sql  # noqa: PLC0415 - handlers need the roles

                read_sql(cast("Caller", self), value, call)
            case "image":
                record.add("runs", value.text, by, "image")
            case _:
                if role.startswith("code:"):
                    self.run_code(
                        role[5:], value, scope, call.stdin, context.through(f"{call.label} {option}".strip()), by
                    )

    def run_string(self, value: Field, scope: Scope, stdin: Output, context: Context) -> Output:
        """A string that a shell will read."""
        if value.taint & FROM_NETWORK:
            self.record.finding("dangerous", "downloads_and_runs", target=value.text)
        elif value.taint & FROM_DECODER:
            self.record.finding("dangerous", "decodes_and_runs")
        return self.run_text(value.text, scope, stdin, context)

    def run_code(
        self, language: str, code: Field, scope: Scope, stdin: Output, context: Context, command: SimpleCommand | None
    ) -> Output:
        from holdfast.shell.handlers.code import read_code  # noqa: PLC0415 - most commands hold no program

        return read_code(cast("Caller", self), language, code, scope, stdin, context, command)

    def network(self, value: Field, call: Call) -> None:
        self.record.add("network", value.text, call.command, certain=value.certain)
        if "@" in value.text or not value.text.isascii():
            from holdfast.shell.spoofing import spoofed_host  # noqa: PLC0415 - few addresses need it

            disguise = spoofed_host(value.text)
            if disguise:
                self.record.finding("dangerous", "hides", how=disguise)
        if value.taint & FROM_SECRET:
            self.record.finding("dangerous", "exfiltrates", source="secret data", target=call.label)
        if value.dynamic and value.taint & FROM_OUTPUT and call.spec.get("ro"):
            self.record.read_only = False  # a question may carry what it asks about
            self.record.finding("caution", "network", target=value.text)

    def upload(self, value: Field, call: Call) -> None:
        text = value.text
        if "@" in text and not text.startswith("@"):
            text = text.partition("@")[2] if "=@" in text else ""
        text = text.removeprefix("@")
        piped = text in ("-", "", "/dev/stdin") and (value.text != text or call.spec.get("target") != "at")
        if value.taint & FROM_SECRET or (piped and call.stdin.taint & (FROM_SECRET | FROM_TREE)):
            self.exfiltration(call)
        if not text or text == "-" or (value.text == text and call.spec.get("target") == "at"):
            return
        target = Field(re.split(r"[;,]", text)[0], value.dynamic, value.glob)
        taint = self.record.reads(target, call.scope, call.context, call.command)
        taint |= call.scope.origins.get(paths.absolute(target.text, call.scope.cwd, call.scope.home), 0)
        if taint & FROM_SECRET:
            self.record.finding("dangerous", "exfiltrates", source=text, target=call.label)

    def device(self, value: Field, call: Call) -> None:
        self.record.add("reads" if call.spec.get("ro") else "writes", value.text, call.command, "device", value.certain)

    def setting(self, value: Field, call: Call, option: str) -> None:
        """`hg --config alias.x='!sh'`, `restic -o sftp.command=x`: a setting may be a program to run."""
        key, _, text = value.text.partition("=")
        if _NAMES_PROGRAM.search(key) or text.startswith("!"):
            inner = call.context.through(f"{call.label} {option}", escaped=call.name)
            self.run_string(
                Field(text.lstrip("!\"'"), value.dynamic, taint=value.taint), call.scope.copy(), Output(None), inner
            )
            self.record.cannot_know(f"{call.name} runs what the setting {key} says")
        elif not _SHOWN_ONLY.match(key):
            self.record.cannot_know(f"the setting {key} of {call.name} is not known")

    def apt_option(self, value: Field, call: Call) -> None:
        """`apt -o APT::Update::Pre-Invoke::=/bin/sh`: settings of apt may hold commands."""
        key, _, text = value.text.partition("=")
        if "invoke" in key.lower() or key.lower().startswith("dpkg::options") or "pager" in key.lower():
            context = call.context.through(f"{call.label} -o", escaped=call.name)
            self.run_string(Field(text, value.dynamic), call.scope.copy(), Output(None), context)
            if "invoke" in key.lower():
                self.record.finding("dangerous", "escape", program=call.name)
        elif not re.match(r"(?:APT::(?:Get|Cache|Color|Install-|Architecture)|Acquire::|quiet|Debug::)", key, re.I):
            self.record.cannot_know(f"the setting {key} of {call.name} is not known")

    def permission(self, value: Field, call: Call) -> None:
        path, certain = self.record.locate(value, call.scope, call.context)
        self.record.add("changes_permissions", path, call.command, certain=certain)
        self.record.finding("caution", "changes_permissions", target=path)
        bare = paths.absolute(value.text, call.scope.cwd, call.scope.home)
        recursive = call.arguments.has("-R", "--recursive", "-r")
        system_root = re.fullmatch(r"/(?:bin|boot|dev|etc|home|lib\w*|proc|root|run|sbin|sys|usr|var)?(?:/\*)?", bare)
        everything = bare.rstrip("/*") in ("", "/home", "/Users") and (recursive or value.glob)
        if (
            (recursive and system_root)
            or everything
            or bare == "/"
            or re.match(r"/etc/(?:shadow|passwd|sudoers)", bare)
        ):
            self.record.finding("dangerous", "opens_to_all", target=value.text)

    def sends(self, call: Call) -> bool:
        return any(effect.startswith("network") for effect in call.spec.get("fx", ())) and not call.spec.get("ro")

    def exfiltration(self, call: Call) -> None:
        self.record.finding("dangerous", "exfiltrates", source="secret data", target=call.label)
