"""git: options that run programs, before the table of its subcommands is asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.expand import Field, Output
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import split_arguments

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_RUNS = Lazy(
    r"(?:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|alternaterefscommand)|alias\..+"
    r"|diff\..*(?:external|textconv|command)|difftool\..*|mergetool\..*|filter\..*|pager\..+|sequence\.editor"
    r"|credential(?:\..*)?\.helper|gpg\.(?:.*\.)?program|interactive\.difffilter|merge\..*\.driver|remote\..*\.(?:uploadpack"
    r"|receivepack|vcs)|protocol\.ext\.allow|uploadpack\.packobjectshook|web\.browser|browser\..*|man\..*)\Z",
    re.IGNORECASE,
)
# Settings that name no program and no file.
_SHOWN_ONLY = Lazy(
    r"(?:color\..*|core\.(?:quotepath|abbrev|ignorecase|precomposeunicode|autocrlf|safecrlf|eol|filemode|preloadindex"
    r"|longpaths|symlinks|untrackedcache|commentchar|commitgraph|multipackindex|compression|bigfilethreshold)"
    r"|diff\.(?:renames|renamelimit|algorithm|context|interhunkcontext|noprefix|mnemonicprefix|wserrorhighlight"
    r"|colormoved\w*|submodule|statgraphwidth|indentheuristic|wordregex|relative|suppressblankempty|dirstat)"
    r"|(?:log|user|author|committer|advice|status|column|grep|blame|init|fetch|pull|push|rebase|branch|tag|pack|index"
    r"|feature|versionsort|submodule|checkout|transfer|fsck|gc|maintenance|i18n|http|url|protocol|safe|commit|receive"
    r"|rerere|stash|reset|revert|apply|clean|extensions|showbranch|sequence|worktree|merge)\.(?!.*(?:helper|program|command"
    r"|editor|pager|hook|driver|template|proxy|cookiefile|savecookies|sslcert|sslkey|insteadof|excludesfile|receivepack"
    r"|uploadpack|mailmap|path\Z)).*|alias\..*)\Z"
)
_HARMLESS_PAGERS = frozenset(
    ("", "cat", "less", "more", "true", "false", "delta", "vim", "vi", "nano", "code", "emacs")
)


def git(walker: Caller, call: Call) -> Output | None:
    opts = call.spec["opts"]
    arguments = split_arguments(call.fields, opts, stop_at_first=True)
    directory = arguments.value("-C")
    for value in arguments.values("-c"):
        key, _, text = value.text.partition("=")
        setting(walker, call, key, Field(text, value.dynamic, taint=value.taint))
        if not _RUNS.match(key.lower()) and not _SHOWN_ONLY.match(key.lower()):
            walker.record.cannot_know(f"the setting {key} of git is not known")
    if arguments.has("--config-env") or arguments.value("--exec-path") is not None:
        walker.record.cannot_know("git takes its settings or its programs from elsewhere")
    if any(a.startswith(("ext::", "fd::")) for a in (f.text for f in call.fields)):
        walker.record.finding("dangerous", "escape", program="git")
    positionals = arguments.positionals
    if directory is not None:
        call.scope = call.scope.copy()
        call.scope.cwd = paths.absolute(directory.text, call.scope.cwd, call.scope.home)
    if not positionals:
        return None
    name = positionals[0].text
    _switches(walker, arguments.values("-c"), name, positionals[1:])
    if name in ("show", "cat-file", "blame", "archive"):  # `HEAD:path` is a file of the history
        for value in positionals[1:]:
            _, colon, path = value.text.partition(":")
            if colon and path and not path.startswith("/"):
                walker.record.reads(Field(path, value.dynamic), call.scope, call.context, call.command, whole=True)
    if name == "config":
        return _config(walker, call, positionals[1:])
    alias = call.scope.aliases.get(f"git {name}")
    if alias is not None:
        rest = positionals[1:]
        if alias.startswith("!"):
            text = " ".join((alias[1:], *(f.text for f in rest)))
            return walker.run_text(text, call.scope.copy(), call.stdin, call.context.through(f"git {name}"))
        words = [Field(word) for word in alias.split()]
        return walker.run_fields(
            [Field("git"), *words, *rest], call.scope, call.stdin, call.context.through(f"git {name}")
        )
    if name in ("bisect", "rebase", "submodule", "filter-branch", "difftool", "mergetool"):
        _embedded(walker, call, name, positionals[1:])
    return None


def _switches(walker: Caller, settings: list[Field], name: str, rest: list[Field]) -> None:
    """Settings for one run that do what an option would: `-c gc.pruneExpire=now gc`."""
    for value in settings:
        key, _, text = value.text.lower().partition("=")
        if key in ("gc.pruneexpire", "gc.reflogexpire", "gc.reflogexpireunreachable") and name in ("gc", "maintenance"):
            if re.match(r"now|all|0|\d+[. ]?(?:sec|min|hour)", text):
                walker.record.finding(
                    "dangerous", "program", program="git gc", why="it deletes commits that nothing names"
                )
        elif key == "clean.requireforce" and text in ("false", "no", "off", "0", "") and name == "clean":
            dry = any(re.match(r"-[a-zA-Z]*n|--dry-run", f.text) for f in rest)
            walker.record.finding(
                "caution" if dry else "dangerous",
                "program",
                program="git clean",
                why="it deletes files that git does not know",
            )


def setting(walker: Caller, call: Call, key: str, value: Field) -> None:
    """A setting that names a program is a way to run it."""
    lowered = key.lower()
    if lowered.startswith("alias."):
        call.scope.aliases[f"git {key[6:]}"] = value.text
        return
    if _RUNS.match(lowered):
        text = value.text.removeprefix("!")
        if text in _HARMLESS_PAGERS or text.startswith(("store", "cache", "osxkeychain", "manager")):
            return
        inner = call.context.through(f"git -c {key}", escaped="git")
        walker.run_string(Field(text, value.dynamic, taint=value.taint), call.scope.copy(), Output(None), inner)
        walker.record.cannot_know(f"git runs {text[:60]!r} for {key}")


def _config(walker: Caller, call: Call, fields: list[Field]) -> Output | None:
    arguments = split_arguments(
        fields, {"-f": "val", "--file": "val", "--blob": "val", "--default": "val", "--type": "val"}
    )
    words = arguments.positionals
    reads = arguments.has("--get", "--get-all", "--list", "-l", "--get-regexp", "--get-urlmatch", "--show-origin")
    if words and words[0].text in ("get", "list"):
        reads = True
    elif words and words[0].text == "set":
        words = words[1:]
    edits = bool(words) and words[0].text in ("edit", "unset", "rename-section", "remove-section")
    walker.note(call)
    changing = any(
        f.startswith(("--unset", "--add", "--replace", "--remove", "--rename", "--edit", "-e")) for f in arguments.flags
    )
    if not changing and not edits and (reads or len(words) == 1):
        return Output(None)
    walker.record.read_only = False
    file = arguments.value("-f") or arguments.value("--file")
    scope = (
        file.text
        if file is not None
        else "~/.gitconfig"
        if arguments.has("--global")
        else "/etc/gitconfig"
        if arguments.has("--system")
        else ".git/config"
    )
    walker.record.writes(Field(scope), call.scope, call.context, call.command, append=True, detail="attributes")
    if len(words) >= 2:
        setting(walker, call, words[0].text, words[1])
    return Output(None)


def _embedded(walker: Caller, call: Call, name: str, fields: list[Field]) -> None:
    """`git rebase --exec cmd`, `git bisect run cmd`, `git submodule foreach cmd`."""
    context = call.context.through(f"git {name}")
    texts = [f.text for f in fields]
    if name == "bisect" and texts[:1] == ["run"] and len(fields) > 1:
        walker.run_fields(fields[1:], call.scope, Output(None), context)
    elif name == "submodule" and "foreach" in texts:
        rest = [f for f in fields[texts.index("foreach") + 1 :] if f.text != "--recursive"]
        walker.run_text(" ".join(f.text for f in rest), call.scope.copy(), Output(None), context)
    else:
        takes = ("-x", "--exec", "--tree-filter", "--index-filter", "--env-filter", "--msg-filter", "--extcmd",
                 "--commit-filter", "--parent-filter", "--tag-name-filter")  # fmt: skip
        for position, text in enumerate(texts):
            flag, equals, value = text.partition("=")
            if flag in takes or (name == "difftool" and flag == "-x"):
                code = Field(value) if equals else fields[position + 1] if position + 1 < len(fields) else None
                if code is not None:
                    walker.run_string(code, call.scope.copy(), Output(None), context)
