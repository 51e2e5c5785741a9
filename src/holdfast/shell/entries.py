"""Entries of the table, applied to a call: subcommands, conditions, risk and effects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from holdfast.shell.call import Call
from holdfast.shell.commands import Spec
from holdfast.shell.expand import FROM_DECODER, FROM_NETWORK, FROM_SECRET, FROM_SHELL, FROM_TREE, Field, Output
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import Arguments, acts, holds, raw_matches, split_arguments
from holdfast.shell.reading import RISK_ORDER, EffectKind, Risk
from holdfast.shell.roles import Roles
from holdfast.shell.smuggle import smuggled, smuggled_to_reader
from holdfast.shell.verbs import (
    ASKS,
    CHANGE_PREFIXES,
    CHANGES,
    DESTROYS,
    NOUNS_TOO,
    READS,
    STRONG,
    STRONG_WORDS,
    destructive_task,
    verb_of,
)

if TYPE_CHECKING:
    from holdfast.shell.calls import Caller

_UNKNOWN = Output(None)
# A container that is given the root folder, or every right, is the machine itself.
_WHOLE_MACHINE = Lazy(r"(?:^|[,=\s])(?:src|source|hostPath)=/(?=,|\s|\Z)|security\.privileged=true|^--privileged\Z")
# `-o` names a format (`json`, `jsonpath=...`) in some tools and a file in others.
_LIKE_A_FILE = Lazy(r"^(?!\w[\w-]*=)(?:.*/|[\w.-]+\.(?!\w*=)[A-Za-z]\w{0,4}\Z)")
_USERS = frozenset(("useradd", "usermod", "adduser", "chsh", "git", "tmux", "mail", "logger", "notify-send"))
# Tools in which a word after a long option is always its value.
_VALUED = frozenset(("aws", "az", "gcloud", "heroku", "fly", "flyctl", "gh"))
# What people look for who look for secrets.
_SOUGHT = Lazy(
    r"AKIA|BEGIN[ .\w]*(?:PRIVATE|RSA|KEY)|(?i:passw(?:or)?d|secret|api.?key|access.?key|auth.?token|private.?key)"
)
_TELLS = frozenset(("-v", "-V", "-h", "--version", "--help"))
_ALWAYS_FINE = ("--help", "--version")


class Entries(Roles):
    def apply(self, call: Call) -> Output:
        spec = call.spec
        reader = spec.get("handler")
        if reader is not None:
            from holdfast.shell.handlers import handler  # noqa: PLC0415 - they need the walker's types

            result = handler(reader)(cast("Caller", self), call)
            if result is not None:
                return result
            spec = call.spec
        if "sub" in spec or "verbs" in spec:
            return self.apply_subcommand(call)
        return self.apply_leaf(call)

    def apply_subcommand(self, call: Call) -> Output:
        spec = call.spec
        call.arguments = split_arguments(call.fields, spec.get("opts", {}), spec.get("style", ""), True)
        if len(call.arguments.positionals) < len(call.fields):
            smuggled(self.record, call.label, call.fields, call.scope, positionals=False)
        self.option_roles(call)
        self.acting_options(call, call.arguments.flags, spec.get("opts", {}))
        positionals = call.arguments.positionals
        if not positionals:
            told = {f.text for f in call.fields}
            if len(told) == 1 and told <= _TELLS and "sub" in spec:  # `npm -v`, `cargo -V`
                self.note(call)
                return _UNKNOWN
            if "default" in spec and "verbs" not in spec:
                call.spec = {**spec["default"], "handler": None}
                return self.apply_leaf(call)
            self.note(call)
            if not (call.fields == [] or call.arguments.has("--help", "-h", "--version", "-v", "-V", "version")):
                self.unlisted(call, "")
            elif not spec.get("ro", True):
                self.base(call, spec)
            return _UNKNOWN
        word = positionals[0].text
        if positionals[0].dynamic:
            self.note(call)
            self.record.cannot_know(f"the subcommand {word} of {call.label} is only known when it runs")
            return _UNKNOWN
        sub = find_sub(spec.get("sub", {}), word)
        call.path = (*call.path, word)
        outer_flags = call.arguments.flags
        call.fields = positionals[1:]
        if sub is None:
            if "verbs" in spec:
                return self.by_verb(call, spec, word)
            sub = spec.get("default")
            if sub is None:
                self.note(call)
                self.unlisted(call, word)
                return _UNKNOWN
            call.fields = positionals if sub.get("target") == "keep" else positionals[1:]
        inherited = {
            key: spec[key] for key in ("verbs", "destroys", "reads", "style") if key in spec and key not in sub
        }
        if "sub" not in sub:
            inherited.pop("verbs", None)
        call.spec = {**inherited, **sub}
        if outer_flags and "dry" in spec and holds(spec["dry"], Arguments(outer_flags)):
            call.spec = {"ro": True}
        if outer_flags:
            call.environment = {**call.environment}
        return self.apply(call)

    def by_verb(self, call: Call, spec: Spec, word: str) -> Output:
        """`noun verb` or `verb noun`, as cloud tools are built: the first verb that is known decides."""
        words = [word, *(f.text for f in call.fields if not f.text.startswith("-"))][:4]
        named = len(words)
        if call.name in _VALUED:  # words that are no value of an option
            named = 1 + sum(
                not f.text.startswith("-") and not (before.text.startswith("-") and "=" not in before.text)
                for before, f in zip([Field(word), *call.fields], call.fields, strict=False)
            )
        self.note(call)
        detail = spec["verbs"]
        extra_destroys: str = spec.get("destroys", "")
        extra_reads: str = spec.get("reads", "")
        texts = {f.text for f in call.fields}
        if "--help" in texts or "help" in words[:1] or call.fields[-1:] == [Field("-h")]:
            return _UNKNOWN
        if texts & {"--dry-run", "--dryrun", "--dry-run=client"}:  # believed, not proven
            self.record.read_only = False
            return _UNKNOWN
        mirrors = bool({"mirror", "sync"} & set(words[:2])) and "--remove" in texts
        if mirrors or any(
            f.text in ("-purge", "--purge", "--delete", "--destroy", "--prune", "--delete-data") for f in call.fields
        ):
            self.record.add("external_state", " ".join(words), call.command, detail)
            self.record.finding("dangerous", "program", program=call.label, why=f"it destroys {detail} state")
            return _UNKNOWN
        asked = -1
        for position, candidate in enumerate(words):
            verb = verb_of(candidate)
            full = " ".join((call.name, *call.path[:-1], *words[: position + 1]))
            if candidate in extra_destroys.split() or verb in DESTROYS:
                self.record.add("external_state", " ".join(words[position + 1 :]), call.command, detail)
                self.record.finding("dangerous", "program", program=full, why=f"it destroys {detail} state")
                return _UNKNOWN
            if verb in READS:
                self.asks_service(call, detail)
                return Output(None, call.stdin.taint)
            noun = (call.name == "aws" and not position and len(call.path) == 1) or (
                call.name == "az" and position < named - 1  # groups of words come first, the verb is the last one
            )
            # `schedule delete`, `connect token delete`: a word that is a verb elsewhere names what is deleted
            noun = noun or (candidate in NOUNS_TOO and bool(STRONG_WORDS & set(words[position + 1 : position + 3])))
            if verb in CHANGES and (verb == candidate.lower() or verb in CHANGE_PREFIXES) and not noun:
                break
            if verb in ASKS or candidate in extra_reads.split():
                asked = position
        else:
            if asked >= 0:
                self.asks_service(call, detail)
                if asked < named - 1:  # `snapshot x`: the word behind may be a verb that nobody told us
                    self.record.read_only = False
                return Output(None, call.stdin.taint)
        inside = detail in ("container", "virtual machine")
        if inside and any(_WHOLE_MACHINE.search(f.text) for f in call.fields):
            self.record.finding("dangerous", "escalates", how=f"{call.name} gives the whole machine to a {detail}")
        smuggled(self.record, call.name, call.fields, call.scope, positionals=not inside)
        self.record.add("external_state", " ".join(words), call.command, detail)
        self.record.finding("caution", "external_state", detail=detail)
        self.file_options(call)
        return _UNKNOWN

    def acting_options(
        self, call: Call, flags: Iterable[str], declared: Mapping[str, str], known: frozenset[str] = frozenset()
    ) -> None:
        """The entry does not speak of the option, and its name says that more is done than reading."""
        for option in flags:
            if option not in declared and option not in known and acts(option):
                self.record.cannot_know(f"the option {option} of {call.label} is not known")

    def side_effects(self, call: Call) -> None:
        """A use of a reading program by which it does more than read."""
        from holdfast.shell.table import SIDE_EFFECTS  # noqa: PLC0415 - the data is loaded on first use only

        for condition in SIDE_EFFECTS.get(call.label, ()):
            if condition.startswith("raw~"):
                found = raw_matches(condition[4:], call.fields)
            else:
                found = holds(condition, call.arguments)
            if found:
                self.record.read_only = False
                self.record.finding("caution", "program", program=call.label, why="used this way it does not only read")

    def asks_service(self, call: Call, detail: str) -> None:
        from holdfast.shell.table import SIDE_EFFECTS  # noqa: PLC0415 - the data is loaded on first use only

        for condition in SIDE_EFFECTS.get(f"{call.name} *", ()):
            if raw_matches(condition, [Field(w) for w in call.path] + call.fields):
                self.record.read_only = False
        options = (f.text.partition("=")[0] for f in call.fields if f.text.startswith("-"))
        if call.name not in ("aws", "az"):  # theirs are parameters of the service, whatever they are called
            self.acting_options(call, options, {**call.spec.get("opts", {}), "--output": "val"})
        self.record.add("network", call.name, call.command, detail)
        call.taint |= FROM_NETWORK
        self.file_options(call)

    def file_options(self, call: Call) -> None:
        for previous, current in zip(call.fields, call.fields[1:], strict=False):
            named = previous.text in ("--output-file", "--outfile", "--out-file", "--output-path")
            if named or (previous.text in ("-o", "-O", "--output", "--out") and _LIKE_A_FILE.search(current.text)):
                self.record.writes(current, call.scope, call.context, call.command)

    def unlisted(self, call: Call, word: str) -> None:
        self.record.cannot_know(f"{word or 'this use'} of {call.name} is not known")
        self.record.add("runs", call.label, call.command)
        smuggled(self.record, call.name, call.fields, call.scope, positionals=True, unknown=True)
        self.guess_by_verb(call.name, [Field(word), *call.fields])

    def apply_leaf(self, call: Call) -> Output:
        spec = call.spec
        conditions = spec.get("when", ())
        pos = spec.get("pos", "val")
        roles = (pos,) if isinstance(pos, str) else pos
        stops = spec.get("stop", roles[-1] in ("argv", "envargv", "cmdline", "remote"))
        call.arguments = split_arguments(call.fields, spec.get("opts", {}), spec.get("style", ""), stops, _longs(spec))
        arguments = call.arguments
        if arguments.has(*_ALWAYS_FINE) and not arguments.positionals:
            self.note(call)
            return _UNKNOWN
        if "dry" in spec and holds(spec["dry"], arguments):
            self.note(call)
            self.read_roles(call, roles)
            return Output(None, call.taint)
        if conditions:
            merged: dict[str, Any] = dict(spec)
            for condition, changes in conditions:
                if holds(condition, arguments):
                    before: Risk = merged.get("risk", "safe")
                    merged.update(changes)
                    if changes.get("ro") and "risk" not in changes:
                        merged["risk"] = "safe"
                    if changes.get("only"):
                        break
                    if "risk" in changes and RISK_ORDER[before] > RISK_ORDER[changes["risk"]] and not changes.get("ro"):
                        merged["risk"] = before
            spec = call.spec = merged
            pos = spec.get("pos", "val")
            roles = (pos,) if isinstance(pos, str) else pos
        if spec.get("ro"):
            self.acting_options(call, arguments.flags, spec.get("opts", {}), _longs(call.spec))
            self.side_effects(call)
            smuggled_to_reader(self.record, call.label, call.fields, call.scope)
        elif roles[-1] not in ("argv", "envargv", "cmdline", "remote"):
            about_text = roles[0] in ("text", "val") and spec.get("fx", ("",))[:1] != ["git_history:commit"]
            runs_project = bool(spec.get("unknown")) or any(e.startswith("installs") for e in spec.get("fx", ()))
            smuggled(
                self.record,
                call.label,
                call.fields,
                call.scope,
                positionals=about_text and call.name not in _USERS,
                unknown=runs_project,
            )
        runs_inner = roles[-1] in ("argv", "envargv", "cmdline", "remote") and len(arguments.positionals) >= len(roles)
        if not runs_inner:
            self.note(call)
        self.base(call, spec)
        self.option_roles(call)
        output = self.position_roles(call, roles)
        self.follow_secret(call, spec)
        if output is not None:
            return output
        out = spec.get("out", "")
        if out == "nothing":
            return Output("")
        if roles[0] == "url" and not spec.get("ro") and "network" in spec.get("fx", ()):
            call.taint |= FROM_NETWORK
        if out:
            call.taint |= {
                "secret": FROM_SECRET,
                "network": FROM_NETWORK,
                "decoded": FROM_DECODER,
                "secret_db": FROM_TREE,
            }.get(out, 0)
        return Output(None, call.taint)

    def follow_secret(self, call: Call, spec: Spec) -> None:
        """What was read may be a secret: then what is written from it is one too, and must not be sent."""
        if call.taint & (FROM_SECRET | FROM_TREE):  # a copy in another form is as secret
            for effect in self.record.effects:
                if effect.kind == "writes" and effect.by is call.command and effect.path:
                    call.scope.origins[effect.target] = call.taint
        if call.taint & FROM_SECRET and spec.get("out") is None and self.sends(call):
            self.exfiltration(call)
        if spec.get("out") == "matches" and _SOUGHT.search(call.command.text):
            call.taint |= FROM_SECRET

    def base(self, call: Call, spec: Spec) -> None:
        """Risk and effects that every run of the entry has."""
        if not spec.get("ro", False):
            self.record.read_only = False
        risk: Risk = spec.get("risk", "safe")
        if risk != "safe":
            why = spec.get("why")
            if why is not None:
                self.record.finding(risk, "program", program=call.label, why=why)
        target = call.arguments.positionals[0].text if call.arguments.positionals else ""
        for effect in spec.get("fx", ()):
            kind, _, detail = effect.partition(":")
            self.effect(call, kind, detail, target)
        if spec.get("unknown"):
            self.guess_task(call.label, call.fields)
            self.record.cannot_know(str(spec["unknown"]))
            self.record.add("runs", call.label, call.command, "project")
        if risk != "safe" and spec.get("why") is None:
            self.record.finding(risk, "program", program=call.label, why="it changes something")

    def effect(self, call: Call, kind: EffectKind | str, detail: str, target: str) -> None:
        if kind == "writes":
            self.record.writes(Field(detail or "."), call.scope, call.context, call.command, detail="inside")
            return
        if kind == "network":
            asks_only = call.spec.get("ro", False)
            self.record.add("network", target or call.label, call.command, detail)
            if not asks_only:
                self.record.read_only = False
                self.record.finding("caution", "network", target=target or call.label)
            if call.stdin.taint & FROM_SHELL and not asks_only:
                self.record.finding("dangerous", "reverse_shell", target=call.label)
            if (call.stdin.taint & FROM_SECRET) and not asks_only:
                self.exfiltration(call)
            return
        self.record.add(kind, target or call.label, call.command, detail)  # type: ignore[arg-type]
        params = {"target": target or call.label, "detail": detail or call.label}
        self.record.finding("caution", kind, **params)

    def guess_task(self, name: str, fields: list[Field]) -> None:
        """A task that a project defines is believed when its name says that data goes."""
        task = destructive_task(f.text for f in fields[:4])
        if task:
            self.record.add("external_state", task, None, "database", certain=False)
            self.record.finding("dangerous", "program", program=name, why=f"{task!r} throws data away")

    def guess_by_verb(self, name: str, fields: list[Field]) -> None:
        """An unknown tool that says `delete` or `destroy` is believed."""
        words = [f.text for f in fields if not f.text.startswith("-")][:3]
        for word in words[:2]:
            if verb_of(word) in STRONG and not any(f.text in ("--help", "-h", "--dry-run", "-n") for f in fields):
                self.record.finding("dangerous", "program", program=name, why=f"{word!r} destroys something")
                return


def find_sub(subs: Mapping[str, Any], word: str) -> Mapping[str, Any] | None:
    key = id(subs)
    expanded = _SUBS.get(key)
    if expanded is None:  # a later entry of the table is the more exact one
        flat = {name: spec for names, spec in subs.items() for name in names.split("|")}
        expanded = _SUBS[key] = (subs, flat)
    return expanded[1].get(word)


# The mapping is kept beside its flat form, so that its id is never given to another one.
_SUBS: dict[int, tuple[Mapping[str, Any], dict[str, Mapping[str, Any]]]] = {}
_LONGS: dict[int, tuple[Spec, frozenset[str]]] = {}


def _longs(spec: Spec) -> frozenset[str]:
    """Every long option that the entry speaks of: only those need to be recognised when abbreviated."""
    opts, conditions, dry = spec.get("opts"), spec.get("when"), spec.get("dry", "")
    if not conditions and not dry and not opts:
        return frozenset()
    key = id(conditions if conditions else opts)
    found = _LONGS.get(key)
    if found is None:
        text = " ".join(pair[0] for pair in conditions or ()) + " " + dry
        names = set(re.findall(r"--[\w-]+", text)) | {n for n in opts or {} if n.startswith("--")}
        found = _LONGS[key] = (spec, frozenset(names))
    return found[1]
