"""Programs that talk to other machines: what they fetch, what they send, what they run there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.environment import SECRET_VARIABLE
from holdfast.shell.expand import FROM_FILE, FROM_NETWORK, FROM_SECRET, FROM_SHELL, FROM_TREE, Field, Output
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import Arguments, split_arguments

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_DESTRUCTIVE_URL = Lazy(
    r"[/_?&=:.-](?:do[_-]?)?(?:delete(?:[_-]?by[_-]?query|[_-]?all|[_-]?series|[_-]?batch|[_-]?index)?|destroy|purge|wipe|drop(?:_?database)?|terminate|flush(?:all)?)"
    r"(?:[/?&=]|\Z)",
    re.IGNORECASE,
)
_REMOTE_PATH = Lazy(r"(?:[\w.-]+@)?(?:[\w.-]+|\[[0-9a-fA-F:]+\]):(?!//|\\)|rsync://|sftp://|scp://")
# Where a machine in a cloud is told its credentials.
_METADATA = Lazy(
    r"(?:^|[/@])(?:169\.254\.169\.254|169\.254\.170\.2|100\.100\.100\.200|metadata(?:\.google\.internal)?|\[?fd00:ec2::254\]?)(?:[:/]|\Z)"
)
_METADATA_SECRET = Lazy(
    r"security-credentials/.|/token|/identity|user-data|/credentials|/v2/credentials|ssh-keys|access_token"
)
# Places where anybody can leave a file for anybody: what is sent there is gone.
_DROP = Lazy(
    r"(?:^|[/.@])(?:file\.io|transfer\.sh|0x0\.st|ix\.io|sprunge\.us|termbin\.com|paste\.rs|pastebin\.com|hastebin\.com"
    r"|dpaste\.\w+|bashupload\.com|oshi\.at|temp\.sh|tmpfiles\.org|gofile\.io|catbox\.moe|anonfiles?\.com|webhook\.site"
    r"|requestbin\.\w+|pipedream\.net|ngrok(?:-free)?\.\w+|oast\.\w+|interact\.sh|burpcollaborator\.net|keep\.sh|wetransfer\.com"
    r"|discord(?:app)?\.com/api/webhooks|api\.telegram\.org|hooks\.slack\.com)(?:[:/]|\Z)",
    re.IGNORECASE,
)
_DATA = ("-d", "--data", "--data-binary", "--data-raw", "--data-ascii", "--data-urlencode", "--json", "-F", "--form",
         "-T", "--upload-file", "--form-string", "--url-query")  # fmt: skip


def curl(walker: Caller, call: Call) -> Output:
    opts = call.spec.get("opts", {})
    arguments = call.arguments = split_arguments(call.fields, opts, known_longs=_long_names(opts))
    walker.note(call)
    record, scope, context, by = walker.record, call.scope, call.context, call.command
    if arguments.has("--help", "--version", "-V", "-h", "--manual") and not arguments.positionals:
        return Output(None)
    urls = arguments.positionals + arguments.values("--url")
    for url in urls:
        walker.network(url, call)
        if url.text.startswith("file:"):
            call.taint |= record.reads(Field(re.sub(r"^file:/*", "/", url.text)), scope, context, by, whole=True)
        if url.taint & FROM_SECRET:
            walker.exfiltration(call)
    if not urls:
        record.add("network", call.name, by)
    walker.option_roles(call)
    method = _method(arguments.value("-X", "--request", "--method"))
    sends = any(arguments.has(name) for name in _DATA)
    record.read_only = False
    target = urls[0].text if urls else call.name
    record.finding("caution", "network", target=target)
    for url in urls:
        if _METADATA.search(url.text):
            call.taint |= FROM_SECRET
            how = "it takes the credentials that the cloud gives to this machine"
            if _METADATA_SECRET.search(url.text):
                record.finding("dangerous", "escalates", how=how)
            else:
                record.finding("caution", "shows_secret", target=url.text)
        elif _DROP.search(url.text) and _sends_file(call, arguments):
            record.finding("dangerous", "exfiltrates", source="a file", target=url.text)
    destructive = any(_DESTRUCTIVE_URL.search(u.text.partition("://")[2]) for u in urls)
    if method == "DELETE":
        record.add("external_state", target, by, "http delete")
        record.finding("dangerous", "http_delete", target=target)
    elif method in ("PUT", "PATCH", "POST") or sends:
        record.add("external_state", target, by, f"http {method.lower() or 'post'}")
        if destructive:
            record.finding("dangerous", "http_delete", target=target)
    for name in _DATA:
        for value in arguments.values(name):
            if value.taint & FROM_SECRET or SECRET_VARIABLE.fullmatch(value.text):
                walker.exfiltration(call)
            if re.search(
                r"\b(?:DROP\s+(?:TABLE|DATABASE)|deleteMany|dropDatabase|TRUNCATE\s+TABLE)\b", value.text, re.I
            ):
                record.finding("dangerous", "sql_destroys", statement=value.text[:80])
    for name in ("-H", "--header", "-u", "--user", "-A", "-b", "--cookie", "-e"):
        for value in arguments.values(name):
            if value.taint & FROM_SECRET and name not in ("-u", "--user", "-H", "--header"):
                walker.exfiltration(call)
    if arguments.has("-O", "--remote-name", "--remote-name-all", "-J"):
        for url in urls:
            name = re.sub(r"[?#].*", "", url.text).rstrip("/").rsplit("/", 1)[-1] or "index.html"
            _save(walker, call, Field(name, url.dynamic))
        return Output("", 0)
    saved = arguments.value("-o", "--output")
    if saved is not None and saved.text not in ("-", "/dev/stdout"):
        return Output("", 0)
    return Output(None, call.taint | FROM_NETWORK)


@lru_cache(maxsize=8)
def _longs(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for name in names if name.startswith("--"))


def _long_names(opts: Mapping[str, str]) -> frozenset[str]:
    """Both programs take a long option by its beginning: `--post-f` is `--post-file`."""
    return _longs(tuple(opts))


def _sends_file(call: Call, arguments: Arguments) -> bool:
    if arguments.has("-T", "--upload-file", "--post-file", "--body-file"):
        return True
    for value in arguments.values(*_DATA):
        text = value.text.partition("=")[2] if "=@" in value.text else value.text
        if text.startswith("@") and (text != "@-" or call.stdin.taint):
            return True
    return False


def _method(value: Field | None) -> str:
    return value.text.upper() if value is not None else ""


def _save(walker: Caller, call: Call, name: Field) -> None:
    walker.record.writes(name, call.scope, call.context, call.command)
    call.scope.origins[paths.absolute(name.text, call.scope.cwd, call.scope.home)] = FROM_NETWORK


def wget(walker: Caller, call: Call) -> Output:
    opts = call.spec.get("opts", {})
    arguments = call.arguments = split_arguments(call.fields, opts, known_longs=_long_names(opts))
    walker.note(call)
    record = walker.record
    if arguments.has("--help", "--version", "-V", "-h") and not arguments.positionals:
        return Output(None)
    for url in arguments.positionals:
        walker.network(url, call)
    record.read_only = False
    target = arguments.positionals[0].text if arguments.positionals else call.name
    record.finding("caution", "network", target=target)
    walker.option_roles(call)
    method = _method(arguments.value("--method"))
    if method == "DELETE":
        record.finding("dangerous", "http_delete", target=target)
    if any(v.taint & FROM_SECRET for v in arguments.values("--post-data", "--body-data", "--header")):
        walker.exfiltration(call)
    if method or arguments.has("--post-data", "--post-file", "--body-data", "--body-file"):
        record.add("external_state", target, call.command, f"http {method.lower() or 'post'}")
    if arguments.has("--use-askpass"):
        for value in arguments.values("--use-askpass"):
            walker.run_string(value, call.scope.copy(), Output(None), call.context.through("wget", escaped="wget"))
    secret = 0
    for url in arguments.positionals:
        if _METADATA.search(url.text):
            secret = FROM_SECRET
            record.finding("caution", "shows_secret", target=url.text)
        elif _DROP.search(url.text) and _sends_file(call, arguments):
            record.finding("dangerous", "exfiltrates", source="a file", target=url.text)
    output = arguments.value("-O", "--output-document")
    if output is not None:
        if output.text in ("-", "/dev/stdout"):
            return Output(None, FROM_NETWORK | secret)
        return Output("", 0)
    if arguments.has("--spider"):
        return Output(None, 0)
    prefix = arguments.value("-P", "--directory-prefix")
    for url in arguments.positionals:
        name = re.sub(r"[?#].*", "", url.text).rstrip("/").rsplit("/", 1)[-1] or "index.html"
        place = f"{prefix.text.rstrip('/')}/{name}" if prefix is not None else name
        _save(walker, call, Field(place, url.dynamic))
    if not arguments.positionals:
        record.writes(Field("."), call.scope, call.context, call.command, detail="inside", append=True)
    return Output("", 0)


def netcat(walker: Caller, call: Call) -> Output:
    arguments = call.arguments = split_arguments(call.fields, call.spec.get("opts", {}))
    walker.note(call)
    record = walker.record
    record.read_only = False
    target = " ".join(f.text for f in arguments.positionals) or call.name
    record.add("network", target, call.command, "socket")
    record.finding("caution", "network", target=target)
    for value in arguments.values("-e", "-c", "--exec", "--sh-exec", "--lua-exec"):
        if re.search(r"(?:^|[\s/])(?:ba|z|da|k|a|c|tc|fi)?sh\b|cmd(?:\.exe)?\b|powershell|python|perl", value.text):
            record.finding("dangerous", "reverse_shell", target=target)
        else:
            walker.run_string(value, call.scope.copy(), Output(None), call.context.through(call.name))
    if call.stdin.taint & FROM_SHELL:
        record.finding("dangerous", "reverse_shell", target=target)
    if _DROP.search(target.split(" ")[0]) and call.stdin.taint & (FROM_FILE | FROM_TREE):
        record.finding("dangerous", "exfiltrates", source="a file", target=target)
    if call.stdin.taint & (FROM_SECRET | FROM_TREE) or any(f.taint & FROM_SECRET for f in call.fields):
        walker.exfiltration(call)
    elif any(re.match(r"(?:EXEC|SYSTEM|SHELL)(?:[:,]|\Z)", f.text, re.I) for f in arguments.positionals):
        record.finding("dangerous", "reverse_shell", target=target)
    for value in arguments.positionals:
        match = re.match(r"(?:OPEN|CREATE|GOPEN|FILE|PIPE):([^,]+)|(?P<path>[./][^,]*)", value.text, re.I)
        if match is not None and call.name == "socat":
            name = (match[1] or match["path"]).strip("\"'")
            taint = record.reads(Field(name), call.scope, call.context, call.command)
            taint |= call.scope.origins.get(paths.absolute(name, call.scope.cwd, call.scope.home), 0)
            if taint & (FROM_SECRET | FROM_TREE):
                walker.exfiltration(call)
            record.writes(Field(name), call.scope, call.context, call.command, append=True)
    return Output(None, FROM_NETWORK)


def ssh(walker: Caller, call: Call) -> Output:
    """`ssh host command`: read as if it ran here, on paths that are not ours."""
    arguments = call.arguments = split_arguments(call.fields, call.spec.get("opts", {}), stop_at_first=True)
    record = walker.record
    record.read_only = False
    for value in arguments.values("-o"):
        _ssh_option(walker, call, value)
    if not arguments.positionals:
        walker.note(call)
        return Output(None)
    host = arguments.positionals[0]
    record.add("network", host.text, call.command, "ssh", host.certain)
    record.finding("caution", "network", target=host.text)
    if call.stdin.taint & FROM_SECRET or host.taint & FROM_SECRET:
        walker.exfiltration(call)
    if arguments.has("-R", "-D", "-L"):
        record.finding("caution", "network", target=host.text)
    rest = arguments.positionals[1:]
    if rest and re.match(r"-[A-Za-z0-9]", rest[0].text):  # options may stand behind the host
        later = split_arguments(rest, call.spec.get("opts", {}), stop_at_first=True)
        for value in later.values("-o"):
            _ssh_option(walker, call, value)
        rest = later.positionals
    if not rest:
        walker.note(call)
        record.cannot_know(f"a session on {host.text}")
        if call.stdin.text is not None and call.stdin.text.strip():
            context = replace(call.context.through("ssh"), machine=f"ssh:{host.text}")
            remote = call.scope.copy()
            remote.cwd = remote.home = None
            walker.run_text(call.stdin.text, remote, Output(None), context)
        return Output(None)
    here = host.text.rsplit("@", 1)[-1] in ("localhost", "127.0.0.1", "::1", "0.0.0.0")
    if here:  # a way around to this machine
        context = call.context.through("ssh", escaped=call.name)
    else:
        context = replace(call.context.through("ssh"), machine=f"ssh:{host.text}")
    remote = call.scope.copy()
    remote.cwd = remote.home = None
    text = " ".join(f.text for f in rest)
    output = walker.run_text(text, remote, call.stdin, context)
    return Output(None, output.taint)


def _ssh_option(walker: Caller, call: Call, value: Field) -> None:
    """`-o ProxyCommand=...` runs here, whatever the host is."""
    key, _, text = re.sub(r"\s*=\s*|\s+", "=", value.text, count=1).partition("=")
    if key.lower() in ("proxycommand", "localcommand", "knownhostscommand"):
        inner = call.context.through(f"{call.name} -o {key}", escaped=call.name)
        walker.run_string(Field(text.lstrip("; "), value.dynamic), call.scope.copy(), Output(None), inner)


def rsync(walker: Caller, call: Call) -> Output:
    """rsync and scp: `host:path` is elsewhere, everything else is here."""
    arguments = call.arguments = split_arguments(call.fields, call.spec.get("opts", {}), call.spec.get("style", ""))
    walker.note(call)
    record, scope, context, by = walker.record, call.scope, call.context, call.command
    names = arguments.positionals
    if arguments.has("--help", "--version") and not names:
        return Output(None)
    record.read_only = False
    for option in ("-e", "--rsh", "--rsync-path", "-S"):
        for value in arguments.values(option):
            if not re.match(r"(?:\S*/)?ssh(?:\s|\Z)", value.text) and option != "--rsync-path":
                walker.run_string(
                    value, scope.copy(), Output(None), context.through(f"{call.name} {option}", escaped=call.name)
                )
    for value in arguments.values("-o"):
        _ssh_option(walker, call, value)
    remote = [n for n in names if _REMOTE_PATH.match(n.text)]
    for value in remote:
        record.add("network", value.text, by, call.name, value.certain)
        record.finding("caution", "network", target=value.text)
    if arguments.has("--list-only") or len(names) < 2:
        record.read_only = not remote and record.read_only
        return Output(None)
    dry = call.name == "rsync" and arguments.has("-n", "--dry-run")
    sources, target = names[:-1], names[-1]
    for value in sources:
        if value in remote:
            continue
        origin = scope.origins.get(paths.absolute(value.text, scope.cwd, scope.home), 0)
        taint = record.reads(value, scope, context, by) | origin
        if target not in remote and taint:
            scope.origins[paths.absolute(target.text, scope.cwd, scope.home)] = taint
        if taint & FROM_SECRET and target in remote and not dry:
            record.finding("dangerous", "exfiltrates", source=value.text, target=target.text)
    if dry:
        return Output(None)
    deletes = call.name == "rsync" and any(f.startswith("--del") for f in arguments.flags)
    if target in remote:
        record.add("external_state", target.text, by, f"{call.name} copy")
    else:
        record.writes(target, scope, context, by, append=True)
        if remote:
            scope.origins[paths.absolute(target.text, scope.cwd, scope.home)] = FROM_NETWORK
    if deletes:
        if target in remote:
            record.finding("dangerous", "deletes_tree", target=target.text)
        else:
            record.deletes(target, scope, context, by, recursive=True, detail="rsync --delete")
    if arguments.has("--remove-source-files"):
        for value in sources:
            if value not in remote:
                record.deletes(value, scope, context, by, recursive=True, detail="rsync")
    return Output(None, FROM_FILE)
