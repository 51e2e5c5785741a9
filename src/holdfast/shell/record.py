"""Collects what a command would do, and judges each effect at the moment it is seen."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from holdfast.shell import paths
from holdfast.shell.expand import FROM_SECRET, Field, Scope
from holdfast.shell.lazy import Lazy
from holdfast.shell.reading import RISK_ORDER, Effect, EffectKind, Risk, SimpleCommand

_EVERYTHING_HERE = Lazy(r"(?:\./|\.\./)*(?:\*+|\.\*|\.\[.*\]\*|\{,\.\}\*)(?:/\*+)*/?\Z|\.{1,2}/?\Z")
_VERSION_CONTROL = Lazy(r"(?:^|/)\.(?:git|hg|svn)(?:/|\Z)")


@dataclass(frozen=True, slots=True)
class Context:
    """Where a command stands: which wrappers lead to it, on which machine, with which rights."""

    via: tuple[str, ...] = ()
    span: tuple[int, int] = (0, 0)
    machine: str = ""  # "" is this one; otherwise "ssh:host" or "container"
    elevated: bool = False
    depth: int = 0
    calls: tuple[str, ...] = ()
    inline: bool = False  # inside python -c, awk, ...
    escaped: str = ""  # the program whose escape feature led here
    background: bool = False
    shown: bool = True  # what it prints reaches whoever started the command

    def through(self, wrapper: str, **changes: object) -> Context:
        return replace(self, via=(*self.via, wrapper), depth=self.depth + 1, **changes)  # type: ignore[arg-type]


@dataclass(slots=True)
class Record:
    effects: list[Effect] = field(default_factory=list)
    commands: list[SimpleCommand] = field(default_factory=list)
    findings: list[tuple[Risk, str, dict[str, str]]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    incomplete: bool = False  # something was not followed to its end
    assigned: list[str] = field(default_factory=list)  # variables that are set, before a command or for good
    read_only: bool = True
    structured: bool = False  # control structures or substitutions were seen

    def finding(self, risk: Risk, code: str, **params: str) -> None:
        self.findings.append((risk, code, params))
        if risk == "dangerous":
            self.read_only = False

    def cannot_know(self, why: str) -> None:
        if len(self.unknown) < 20:
            self.unknown.append(why)
        self.read_only = False

    def worst(self) -> tuple[Risk, str, dict[str, str]] | None:
        best: tuple[Risk, str, dict[str, str]] | None = None
        for found in self.findings:
            if best is None or RISK_ORDER[found[0]] > RISK_ORDER[best[0]]:
                best = found
        return best

    # -- effects ------------------------------------------------------------------------------------

    def add(
        self, kind: EffectKind, target: str, by: SimpleCommand | None, detail: str = "", certain: bool = True
    ) -> None:
        """An effect on something that is not a path."""
        if kind not in ("reads", "network"):
            self.read_only = False
        self.effects.append(Effect(kind, target, detail, by, certain=certain))

    def locate(self, target: Field, scope: Scope, context: Context) -> tuple[str, bool]:
        """The absolute path as far as it is known, and whether it is certain."""
        text = target.text
        path = located(target, scope)
        certain = target.certain and (text.startswith(("/", "~")) or (scope.cwd is not None and scope.cwd_certain))
        if context.machine:
            return f"{context.machine}:{path}", certain
        return path, certain

    def reads(
        self, target: Field, scope: Scope, context: Context, by: SimpleCommand | None, whole: bool = False
    ) -> int:
        """A file is read; the answer is the taint that its content carries."""
        if "://" in target.text and not target.text.startswith("file://"):
            self.add("network", target.text, by, certain=target.certain)
            self.read_only = False  # some readers fetch it, to others it is a strange name
            return target.taint
        if target.text in ("-", "") or target.text.startswith("/dev/fd/"):
            return target.taint
        path, certain = self.locate(target, scope, context)
        if paths.is_harmless_device(path):
            return 0
        self.effects.append(
            Effect("reads", path, "", by, whole=whole and context.shown, certain=certain, path=not context.machine)
        )
        if target.taint & FROM_SECRET and target.dynamic:  # the name was found by looking for secrets
            self.finding("caution", "reads_secret", target=path)
            return FROM_SECRET
        if not is_sensitive(path):
            return scope.origins.get(path, 0) & FROM_SECRET if scope.origins else 0
        if path != "/etc/passwd":
            self.finding("caution", "reads_secret", target=path)
        return FROM_SECRET

    def writes(
        self,
        target: Field,
        scope: Scope,
        context: Context,
        by: SimpleCommand | None,
        append: bool = False,
        detail: str = "",
    ) -> None:
        path, certain = self.locate(target, scope, context)
        if target.text == "-" or (not context.machine and paths.is_harmless_device(path)):
            return
        self.read_only = False
        self.effects.append(
            Effect(
                "writes", path, detail or ("append" if append else ""), by, certain=certain, path=not context.machine
            )
        )
        bare = located(target, scope)
        if paths.is_device(bare):
            self.finding("dangerous", "overwrites_device", target=bare)
        elif paths.is_persistence(bare) and detail not in ("attributes", "directory"):
            self.finding("dangerous", "persists", target=bare)
        elif paths.is_record(bare) and not append and detail not in ("attributes", "directory"):
            self.finding("dangerous", "empties", target=bare)
        elif bare.startswith(("/proc/", "/sys/")):
            risk: Risk = (
                "dangerous" if bare.startswith(("/proc/sysrq", "/sys/firmware", "/proc/sys/kernel/core")) else "caution"
            )
            self.finding(risk, "overwrites_system", target=bare)
        elif bare in ("/tmp", "/var/tmp", "/dev/shm"):
            self.finding("caution", "writes", target=path)
        elif paths.is_system(bare) and not append and detail not in ("attributes", "directory", "link"):
            risk = "dangerous" if paths.is_critical(bare) and not target.text.endswith("/") else "caution"
            self.finding(risk, "overwrites_system", target=bare)
        elif _VERSION_CONTROL.search(bare) and detail != "attributes":
            self.finding("dangerous" if "/hooks/" in bare else "caution", "writes", target=bare)
        else:
            self.finding("caution", "writes", target=path)

    def deletes(
        self,
        target: Field,
        scope: Scope,
        context: Context,
        by: SimpleCommand | None,
        recursive: bool = False,
        narrow: bool = False,
        detail: str = "",
    ) -> None:
        """`narrow`: something else (a name pattern of find) limits what is deleted."""
        path, certain = self.locate(target, scope, context)
        self.read_only = False
        self.effects.append(
            Effect(
                "deletes",
                path,
                detail or ("recursive" if recursive else ""),
                by,
                certain=certain,
                path=not context.machine,
            )
        )
        bare = located(target, scope)
        self._judge_delete(target, bare, scope, context, recursive, narrow)

    def _judge_delete(
        self, target: Field, bare: str, scope: Scope, context: Context, recursive: bool, narrow: bool
    ) -> None:
        text = target.text
        relative_everything = _EVERYTHING_HERE.match(text) is not None
        if paths.is_temporary(bare) and not (context.inline and recursive):
            if relative_everything and not scope.cwd_certain:
                self.finding("dangerous", "deletes_everything", target=text)
            else:
                self.finding("caution", "deletes", target=bare)
        elif narrow and not paths.is_system(bare):
            self.finding("caution", "deletes", target=bare)
        elif paths.is_root_like(bare) or (relative_everything and (recursive or text != ".")):
            self.finding("dangerous", "deletes_everything", target=text)
        elif context.inline and recursive:
            self.finding("dangerous", "deletes_in_program", target=bare)
        elif recursive:
            self.finding("dangerous", "deletes_tree", target=bare)
        elif paths.is_persistence(bare) or _VERSION_CONTROL.search(bare) or (paths.is_secret(bare) and not target.glob):
            self.finding("dangerous", "deletes_secret", target=bare)
        elif paths.is_record(bare) or (
            paths.is_system(bare)
            and not re.match(
                r"/(?:var/(?:www|cache|run|lock|tmp|spool|crash|lib|backups|opt)|run|opt|srv|usr/local|root|var/log)/.",
                bare,
            )
        ):
            self.finding("dangerous", "deletes_system", target=bare)
        else:
            self.finding("caution", "deletes", target=bare)


def located(target: Field, scope: Scope) -> str:
    """The path of a file that is named. A dollar that no expansion left behind is part of the name."""
    text = target.text
    if text[:1] == "$" and not target.dynamic:
        text = f"./{text}"
    return paths.absolute(text, scope.cwd, scope.home)


def is_sensitive(path: str) -> bool:
    return paths.is_secret(path)
