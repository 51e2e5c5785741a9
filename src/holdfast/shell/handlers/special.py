"""Programs with one habit of their own that a table cannot say."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.expand import FROM_NETWORK, FROM_SECRET, Field, Output
from holdfast.shell.options import split_arguments

if TYPE_CHECKING:
    from holdfast.shell.calls import Call, Caller

_VIM_SHELL = re.compile(
    r"^:*\s*(?:silent!?\s+|sil!?\s+|exe(?:cute)?\s+[\"'])*(?:%|\d+,\d+|r(?:ead)?\s*|w(?:rite)?\s*)?!+\s*(?P<code>[^|\"']*)"
)
_VIM_LUA = re.compile(r":*\s*(?:py(?:thon)?3?x?|lua|ruby|perl|tcl|mzscheme)\b\s*(?P<code>.*)", re.DOTALL)
_SHELL_NAMES = frozenset(("sh", "bash", "zsh", "dash", "ksh", "fish", "ash"))


def vim(walker: Caller, call: Call) -> Output | None:
    """`vim -c ':!cmd'`: commands of the editor that leave it."""
    arguments = call.arguments = split_arguments(call.fields, call.spec["opts"], "plus")
    walker.note(call)
    walker.record.read_only = False
    commands = arguments.values("-c", "--cmd")
    commands += [Field(f.text[1:]) for f in call.fields if f.text.startswith("+") and len(f.text) > 1]
    context = call.context.through(call.name, escaped=call.name)
    for value in commands:
        editor_command(walker, call, value, context)
    for value in arguments.values("-S", "-s"):
        walker.run_script(value, call.scope, Output(None), call.context, call.command, [], "other")
    for value in arguments.values("-w", "-W"):
        walker.record.writes(value, call.scope, call.context, call.command)
    for value in arguments.positionals:
        if value.text in ("-",) or value.text.startswith("+"):
            continue
        if call.name in ("view", "rview"):
            walker.record.reads(value, call.scope, call.context, call.command, whole=True)
        else:
            walker.record.writes(value, call.scope, call.context, call.command, append=True, detail="edits")
    walker.record.finding("caution", "program", program=call.name, why="it opens an editor")
    return Output(None)


def editor_command(walker: Caller, call: Call, value: Field, context: object) -> None:
    text = value.text.strip()
    shell = _VIM_SHELL.match(text)
    lua = _VIM_LUA.match(text)
    if shell is not None:
        walker.run_string(Field(shell["code"].strip() or "sh"), call.scope.copy(), Output(None), context)  # type: ignore[arg-type]
        walker.record.finding("dangerous", "escape", program=call.name)
    elif (
        re.match(r":*\s*(?:sh(?:ell)?|term(?:inal)?|suspend|stop)\b", text)
        or "shell=" in text
        or re.search(r"\|\s*!|\bsystem\s*\(|termopen|jobstart", text)
    ):
        walker.record.finding("dangerous", "escape", program=call.name)
    elif lua is not None:
        language = "python" if text.lstrip(":").startswith("py") else "lua"
        walker.run_code(language, Field(lua["code"]), call.scope, Output(None), context, call.command)  # type: ignore[arg-type]
    elif re.match(r":*\s*(?:w(?:rite)?|sav(?:eas)?)!?\s+(?P<path>\S+)", text):
        match = re.match(r":*\s*(?:w(?:rite)?|sav(?:eas)?)!?\s+(?P<path>\S+)", text)
        assert match is not None
        walker.record.writes(Field(match["path"]), call.scope, call.context, call.command)
    elif re.match(r":*\s*(?:so(?:urce)?|luafile|pyfile)\s", text):
        walker.record.cannot_know("the editor runs a file of commands")


def ed(walker: Caller, call: Call) -> Output:
    walker.note(call)
    walker.record.read_only = False
    text = call.stdin.text
    for value in call.fields:
        if value.text.startswith("!"):
            walker.run_string(
                Field(value.text[1:]), call.scope.copy(), Output(None), call.context.through("ed", escaped="ed")
            )
        elif not value.text.startswith("-"):
            walker.record.writes(value, call.scope, call.context, call.command)
    if text is not None:
        for line in text.splitlines():
            if line.strip().startswith("!"):
                walker.run_string(
                    Field(line.strip()[1:]), call.scope.copy(), Output(None), call.context.through("ed", escaped="ed")
                )
    return Output(None)


def fd(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    for option in ("-x", "--exec", "-X", "--exec-batch"):
        if option in texts:
            index = texts.index(option)
            command = call.fields[index + 1 :]
            call.fields = call.fields[:index]
            if command:
                found = Field("$found", dynamic=True)
                replaced = [found if re.fullmatch(r"\{[./]*\}", f.text) else f for f in command]
                if not any(f is found for f in replaced):
                    replaced.append(found)
                walker.run_fields(replaced, call.scope, Output(None), call.context.through(f"fd {option}"))
    return None


def multiplexer(walker: Caller, call: Call) -> Output:
    """screen and tmux start or steer shells."""
    walker.note(call)
    walker.record.read_only = False
    texts = [f.text for f in call.fields]
    reading = {"ls", "list-sessions", "list-windows", "list-panes", "capture-pane", "display-message", "show-options", "info",
               "-ls", "-list", "-V", "-v", "list-keys", "lsk", "list-clients", "show", "has-session", "has"}  # fmt: skip
    if texts and (texts[0] in reading) and not any(f.startswith("#(") for f in texts):
        walker.record.read_only = walker.record.read_only
        return Output(None)
    context = call.context.through(call.name)
    takes = {
        "-S": "val",
        "-s": "val",
        "-t": "val",
        "-n": "val",
        "-c": "val",
        "-f": "val",
        "-L": "val",
        "-x": "val",
        "-y": "val",
        "-X": "val",
        "-p": "val",
        "-h": "?val",
        "-e": "val",
        "-T": "val",
    }
    arguments = split_arguments(call.fields, takes, stop_at_first=call.name == "screen")
    words = arguments.positionals
    if call.name == "screen":
        if words:
            walker.run_fields(words, call.scope, Output(None), context)
        elif not arguments.has("-r", "-x", "-wipe", "-D", "-R"):
            walker.record.cannot_know("screen opens an interactive shell")
        return Output(None)
    name = words[0].text if words else "new-session"
    rest = words[1:]
    if name in (
        "new-session",
        "new",
        "new-window",
        "neww",
        "split-window",
        "splitw",
        "respawn-pane",
        "run-shell",
        "run",
        "if-shell",
        "popup",
        "display-popup",
        "pipe-pane",
    ):
        if rest:
            walker.run_text(" ".join(f.text for f in rest), call.scope.copy(), Output(None), context)
        elif name != "new-session":
            walker.record.cannot_know(f"{call.name} opens an interactive shell")
    elif name in ("send-keys", "send"):
        text = " ".join(f.text for f in rest if f.text not in ("Enter", "C-m", "ENTER", "-l"))
        if text:
            walker.run_text(text, call.scope.copy(), Output(None), context)
    elif name in ("kill-server",):
        walker.record.finding("caution", "program", program="tmux", why="it stops every session")
    walker.record.finding("caution", "program", program=call.name, why="it runs in a terminal of its own")
    return Output(None)


def java(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    if "-jar" in texts:
        walker.note(call)
        index = texts.index("-jar")
        rest = call.fields[index + 2 :]
        if index + 1 < len(call.fields):
            walker.record.add("runs", call.fields[index + 1].text, call.command, "program")
        walker.record.cannot_know("a Java program is run")
        walker.guess_by_verb("java", _words_by_verb(rest))
        return Output(None)
    if texts and texts[0] in ("-version", "--version", "-help", "--help", "-showversion"):
        return None
    walker.note(call)
    walker.record.cannot_know("a Java program is run")
    walker.record.add("runs", call.command.text, call.command, "program")
    return Output(None)


def _words_by_verb(fields: list[Field]) -> list[Field]:
    """Options with values out of the way: the verb may stand after a server address."""
    words = []
    skip = False
    for value in fields:
        if skip:
            skip = False
        elif value.text.startswith("-"):
            skip = True
        else:
            words.append(value)
    return words


def make(walker: Caller, call: Call) -> Output | None:
    for index, value in enumerate(call.fields):
        text = value.text
        code = None
        if text.startswith("--eval="):
            code = text[7:]
        elif text == "--eval" and index + 1 < len(call.fields):
            code = call.fields[index + 1].text
        elif re.match(r"(?:SHELL|MAKE|CC|CXX|LD|AR)=", text) and call.name.endswith("make"):
            code = "\t" + text.partition("=")[2]
        if code is not None:
            shells = re.findall(r"\$\(shell ([^)]*)\)|^\t[-@+]*(.*)$|:\s*;?\s*[\n\t]+[-@+]*(.*)", code, re.MULTILINE)
            for groups in shells:
                for line in groups:
                    if line:
                        walker.run_text(
                            line.replace("$$", "$"),
                            call.scope.copy(),
                            Output(None),
                            call.context.through("make", escaped="make"),
                        )
            walker.record.cannot_know("make runs rules given on its command line")
    texts = [f.text for f in call.fields if not f.text.startswith("-") and "=" not in f.text]
    if any(re.fullmatch(r"(?:deploy|publish|release)[\w-]*", t) for t in texts):
        walker.record.add("external_state", texts[0], call.command, "deploy", certain=False)
    return None


def cmake(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    if "-E" in texts:
        index = texts.index("-E")
        rest = call.fields[index + 1 :]
        if rest and rest[0].text in ("rm", "remove", "remove_directory"):
            walker.note(call)
            for value in rest[1:]:
                if not value.text.startswith("-"):
                    recursive = rest[0].text == "remove_directory" or any(f.text in ("-r", "-R", "-rf") for f in rest)
                    walker.record.deletes(value, call.scope, call.context, call.command, recursive=recursive)
            return Output(None)
        if rest and rest[0].text == "env":
            return walker.run_fields(rest, call.scope, call.stdin, call.context.through("cmake -E"))
    return None


def debugger(walker: Caller, call: Call) -> Output | None:
    """gdb -ex '!sh', -ex 'python ...'"""
    arguments = split_arguments(call.fields, call.spec["opts"], "dash")
    context = call.context.through(call.name, escaped=call.name)
    for value in arguments.values("-ex", "-o", "--eval-command", "-iex", "--init-eval-command"):
        text = value.text.strip()
        if text.startswith(("!", "shell ", "make ")):
            code = text.lstrip("!").removeprefix("shell ").strip()
            walker.run_string(Field(code), call.scope.copy(), Output(None), context)
            walker.record.finding("dangerous", "escape", program=call.name)
        elif text.startswith(("python ", "py ", "python-interactive", "pi ", "script ")):
            walker.run_code("python", Field(text.partition(" ")[2]), call.scope, Output(None), context, call.command)
        elif text.startswith(("call ", "print ", "p ", "expr ")) and "(" in text:
            walker.record.finding("dangerous", "escape", program=call.name)
        elif text.startswith(("dump ", "generate-core", "gcore")):
            walker.record.finding("caution", "writes", target=text)
    return None


def docker_run(walker: Caller, call: Call) -> Output | None:
    """A container that is given this machine is not a container."""
    arguments = split_arguments(call.fields, call.spec["opts"], stop_at_first=True)
    record = walker.record
    if arguments.has("--privileged"):
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
                if not (path.endswith("docker.sock") and False):
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


def cloud_copy(walker: Caller, call: Call) -> Output | None:
    arguments = split_arguments(call.fields, call.spec.get("opts", {}))
    names = arguments.positionals
    dry = arguments.has("--dryrun", "--dry-run", "-n")
    if len(names) >= 2:
        source, target = names[0], names[-1]
        remote = re.compile(r"\w[\w+.-]*://|[\w-]+:")
        if not remote.match(source.text):
            taint = walker.record.reads(source, call.scope, call.context, call.command)
            if taint & FROM_SECRET and remote.match(target.text) and not dry:
                walker.record.finding("dangerous", "exfiltrates", source=source.text, target=target.text)
        if not remote.match(target.text) and target.text != "-" and not dry:
            walker.record.writes(target, call.scope, call.context, call.command, append=True)
            call.scope.origins[paths.absolute(target.text, call.scope.cwd, call.scope.home)] = FROM_NETWORK
        if source.text == "-" and call.stdin.taint & FROM_SECRET:
            walker.exfiltration(call)
    return None


def remote_words(walker: Caller, call: Call) -> Output:
    """pdsh, clush, salt ...: the last words may be a shell command for other machines."""
    walker.note(call)
    walker.record.read_only = False
    walker.record.add("external_state", call.label, call.command, "remote machines")
    walker.record.finding("caution", "external_state", detail="remote machines")
    words = [f for f in call.fields if not f.text.startswith("-")]
    for value in words[1:]:
        if " " in value.text or value.text.startswith("/"):
            context = replace(call.context.through(call.name), machine="ssh:many")
            walker.run_string(value, call.scope.copy(), Output(None), context)
    return Output(None)


def sql_client(walker: Caller, call: Call) -> Output | None:
    """Statements come by option, by argument, by file or on standard input."""
    from holdfast.shell.handlers.sql import read_sql  # noqa: PLC0415

    spec = call.spec
    arguments = call.arguments = split_arguments(call.fields, spec["opts"], spec.get("style", ""))
    walker.note(call)
    record = walker.record
    if arguments.has("--version", "-V", "--help", "-version", "-help") and not arguments.positionals:
        return Output(None)
    local = spec.get("target") == "file"
    given = False
    if not local:
        record.add("network", call.label, call.command, "database")
    for name, values in arguments.flags.items():
        role = spec["opts"].get(name, "")
        for value in values:
            if value is None:
                continue
            if role == "sql":
                given = True
                read_sql(walker, value, call)
            elif role == "sqlfile":
                given = True
                record.reads(value, call.scope, call.context, call.command)
                content = call.scope.files.get(paths.absolute(value.text, call.scope.cwd, call.scope.home))
                if content is not None:
                    read_sql(walker, Field(content), call)
                else:
                    record.cannot_know(f"the statements in {value.text} are not read here")
            elif role not in ("val", "?val"):
                walker.role(role.lstrip("?"), value, call, option=name)
    positionals = list(arguments.positionals)
    if local and positionals:
        database = positionals.pop(0)
        read_only = arguments.has("-readonly")
        before = record.read_only
        record.reads(database, call.scope, call.context, call.command)
        marker = len(record.effects)
        for value in positionals:
            given = True
            read_sql(walker, value, call)
        changed_state = any(e.kind in ("external_state", "writes") for e in record.effects[marker:])
        if changed_state and not read_only and database.text != ":memory:":
            record.writes(database, call.scope, call.context, call.command, append=True, detail="database")
        elif given and not changed_state:
            record.read_only = before
    if not given:
        text = call.stdin.text
        if text is not None and text.strip():
            read_sql(walker, Field(text), call)
            given = True
        else:
            record.cannot_know(f"{call.name} runs statements that it is given")
            if call.stdin.taint & FROM_NETWORK:
                record.finding("dangerous", "downloads_and_runs", target=call.name)
    return Output(None, FROM_SECRET if not local and False else 0)


_REDIS_READS = re.compile(
    r"(?:GET|MGET|KEYS|SCAN|TTL|PTTL|TYPE|EXISTS|INFO|PING|DBSIZE|HGET|HGETALL|HKEYS|HVALS|HLEN|HMGET|LRANGE|LLEN|LINDEX|SMEMBERS|SCARD"
    r"|SISMEMBER|ZRANGE|ZSCORE|ZCARD|ZREVRANGE|ZRANGEBYSCORE|STRLEN|MEMORY|SLOWLOG|CLIENT|MONITOR|TIME|LASTSAVE|ROLE|OBJECT|XLEN|XRANGE|XINFO|GETRANGE|BITCOUNT"
    r"|RANDOMKEY|ECHO|COMMAND|PUBSUB|CLUSTER|SUBSCRIBE|PSUBSCRIBE|LATENCY|DUMP|SSCAN|HSCAN|ZSCAN|GEOPOS|GEODIST)\Z",
    re.IGNORECASE,
)
_REDIS_DESTROYS = re.compile(
    r"(?:FLUSHALL|FLUSHDB|SHUTDOWN|DEBUG|UNLINK|DEL|SWAPDB|FAILOVER|REPLICAOF|SLAVEOF|GETDEL|HDEL|ZREMRANGEBY\w+|XTRIM|XDEL|LTRIM)\Z",
    re.IGNORECASE,
)


def redis(walker: Caller, call: Call) -> Output:
    arguments = split_arguments(call.fields, call.spec["opts"], stop_at_first=True)
    walker.note(call)
    record = walker.record
    words = [f.text for f in arguments.positionals]
    for value in arguments.values("--eval"):
        walker.run_script(value, call.scope, Output(None), call.context, call.command, [], "lua")
    for value in arguments.values("--rdb"):
        record.writes(value, call.scope, call.context, call.command)
    record.add("network", call.name, call.command, "database")
    if not words and call.stdin.text:
        words = call.stdin.text.split()
    if not words:
        if not arguments.has(
            "--scan", "--bigkeys", "--memkeys", "--hotkeys", "--stat", "--latency", "--version", "-v", "--help"
        ):
            record.cannot_know("redis-cli runs what it is given")
        return Output(None)
    if _REDIS_READS.match(words[0]) and not (
        words[0].upper() in ("CLIENT", "CLUSTER", "SLOWLOG", "MEMORY")
        and len(words) > 1
        and re.match(r"(?:kill|reset|forget|flush|del|purge|failover)", words[1], re.I)
    ):
        return Output(None)
    record.add("external_state", " ".join(words[:3]), call.command, "database")
    record.finding("caution", "external_state", detail="database")
    config_write = (
        words[0].upper() == "CONFIG" and len(words) > 1 and words[1].upper() in ("SET", "REWRITE", "RESETSTAT")
    )
    if _REDIS_DESTROYS.match(words[0]) or (
        words[0].upper() in ("SCRIPT", "FUNCTION", "CLUSTER", "ACL")
        and any(re.match(r"(?:flush|reset|delete|deluser|forget)", w, re.I) for w in words[1:2])
    ):
        record.finding("dangerous", "sql_destroys", statement=" ".join(words[:3]))
    elif config_write and len(words) > 2 and words[2].lower() in ("dir", "dbfilename"):
        record.finding("dangerous", "persists", target=" ".join(words))
    return Output(None)


def transfer(walker: Caller, call: Call) -> Output | None:
    """ftp, sftp, lftp: what they are told to do, by -c, -e or on standard input."""
    arguments = split_arguments(call.fields, call.spec["opts"])
    texts = [v.text for v in arguments.values("-c", "-e")]
    if call.stdin.text:
        texts.append(call.stdin.text)
    for text in texts:
        for line in re.split(r"[\n;]", text):
            stripped = line.strip()
            if stripped.startswith("!"):
                code = stripped[1:].strip() or "sh"
                walker.run_text(
                    code, call.scope.copy(), Output(None), call.context.through(call.name, escaped=call.name)
                )
                walker.record.finding("dangerous", "escape", program=call.name)
            elif re.match(r"(?:m?put|send|append|mirror\s+(?:-R|--reverse))\b", stripped):
                for word in stripped.split()[1:]:
                    if (
                        not word.startswith("-")
                        and walker.record.reads(Field(word), call.scope, call.context, call.command) & FROM_SECRET
                    ):
                        walker.record.finding("dangerous", "exfiltrates", source=word, target=call.name)
            elif re.match(r"(?:rm|mrm|delete|mdelete|rmdir)\b", stripped):
                walker.record.finding("dangerous", "program", program=call.name, why="it deletes on another machine")
    if call.stdin.taint & FROM_SECRET:
        walker.exfiltration(call)
    for value in call.fields:
        if paths.is_secret(paths.absolute(value.text, call.scope.cwd, call.scope.home)) and "/" in value.text:
            walker.record.finding("dangerous", "exfiltrates", source=value.text, target=call.name)
    return None


def ip(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    if len(texts) >= 4 and texts[0] in ("netns", "vrf") and texts[1] == "exec":
        context = call.context.through("ip netns exec")
        return walker.run_fields(call.fields[3:], call.scope, call.stdin, context)
    return None


def exiftool(walker: Caller, call: Call) -> Output | None:
    """exiftool writes when a tag is given a value."""
    if call.name == "exiftool" and any(re.match(r"-[\w:#+]+[-+<]?=", f.text) for f in call.fields):
        walker.note(call)
        for value in call.fields:
            if not value.text.startswith("-"):
                walker.record.writes(value, call.scope, call.context, call.command)
        return Output(None)
    return None


def mount(walker: Caller, call: Call) -> Output | None:
    target = call.fields[-1].text if len(call.fields) > 1 else ""
    if re.match(r"/(?:s?bin|usr/s?bin|etc|lib\w*)(?:/|\Z)", target):
        walker.record.finding("dangerous", "escalates", how="it puts another file in the place of one of the system")
    return None


def perf(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    if texts and texts[0] in ("stat", "record", "trace", "mem", "kvm", "c2c", "ftrace"):
        rest = split_arguments(call.fields[1:], call.spec["opts"], stop_at_first=True)
        if texts[0] == "record":
            walker.record.writes(Field("perf.data"), call.scope, call.context, call.command)
        for value in rest.values("-o"):
            walker.record.writes(value, call.scope, call.context, call.command)
        if rest.positionals:
            return walker.run_fields(rest.positionals, call.scope, call.stdin, call.context.through("perf"))
    if texts and texts[0] in ("list", "report", "annotate", "script", "top", "version", "help", "evlist", "diff"):
        walker.note(call)
        return Output(None)
    return None


def git_checkout(walker: Caller, call: Call) -> Output | None:
    """`git checkout branch` moves; `git checkout -- file`, `git checkout .`, `-f` throw changes away."""
    arguments = split_arguments(call.fields, call.spec["opts"])
    words = [f.text for f in arguments.positionals]
    creates = arguments.has("-b", "-B", "--orphan", "-t", "--track", "--detach", "-d")
    dangerous = arguments.has("-f", "--force") and not creates
    if (arguments.separated >= 0 and arguments.separated < len(words)) or (not creates and any(w in (".", ":/", "*", "./") or (w.endswith("/") and len(words) == 1) for w in words)):
        dangerous = True
    elif not creates and len(words) >= 2 and not arguments.has("-p", "--patch"):
        dangerous = True  # `git checkout HEAD file`
    elif arguments.has("--ours", "--theirs", "--pathspec-from-file"):
        dangerous = True
    if dangerous:
        walker.record.finding(
            "dangerous", "program", program="git checkout", why="it throws away changes that are not committed"
        )
    return None


_WINDOWS_DELETE = re.compile(r"/s\b|/q\b|/f\b", re.IGNORECASE)


def windows(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    joined = " ".join(texts)
    record = walker.record
    name = call.name.lower()
    if any(t in ("--help", "/?", "-h") for t in texts):
        return None
    if name in ("del", "erase", "rd") and texts:
        record.read_only = False
        walker.note(call)
        for value in call.fields:
            if not value.text.startswith("/") or len(value.text) > 3:
                record.add("deletes", value.text, call.command)
        risk = "dangerous" if _WINDOWS_DELETE.search(joined) else "caution"
        record.finding(risk, "deletes_tree" if risk == "dangerous" else "deletes", target=joined)  # type: ignore[arg-type]
        return Output(None)
    destructive = {
        "format": re.search(r"^[A-Za-z]:", joined), "vssadmin": "delete" in joined.lower(), "wbadmin": "delete" in joined.lower(),
        "cipher": "/w" in joined.lower(), "bcdedit": "/set" in joined.lower() or "/delete" in joined.lower(), "wevtutil": re.search(r"\bcl\b|clear", joined, re.I),
        "reg": re.match(r"(?:delete|add)\b", joined, re.I), "schtasks": re.search(r"/create|/delete", joined, re.I), "fsutil": "deletejournal" in joined.lower(),
        "certutil": re.search(r"urlcache|decode|-f", joined, re.I), "bitsadmin": "/transfer" in joined.lower(), "mshta": bool(joined), "regsvr32": "/i:" in joined.lower() or "http" in joined.lower(),
        "rundll32": bool(joined), "takeown": "/r" in joined.lower(), "wmic": re.search(r"delete|process call create|shadowcopy", joined, re.I), "icacls": "everyone" in joined.lower(),
        "robocopy": re.search(r"/mir|/purge", joined, re.I),
    }  # fmt: skip
    if destructive.get(name):
        record.finding("dangerous", "program", program=call.name, why="it destroys, persists or runs something hidden")
    if name in ("tasklist", "ipconfig", "systeminfo", "ver", "cls"):
        call.spec = {"ro": True, "pos": "text"}
    return None


def cmd(walker: Caller, call: Call) -> Output | None:
    texts = [f.text for f in call.fields]
    for index, text in enumerate(texts):
        if text.lower() in ("/c", "/k") and index + 1 < len(texts):
            rest = " ".join(texts[index + 1 :])
            return walker.run_text(
                rest.replace("\\", "/"), call.scope.copy(), call.stdin, call.context.through("cmd /c")
            )
    return None


def m4(walker: Caller, call: Call) -> Output | None:
    text = call.stdin.text or ""
    for code in re.findall(r"(?:esyscmd|syscmd)\(`?([^)']*)", text):
        walker.run_text(code, call.scope.copy(), Output(None), call.context.through("m4", escaped="m4"))
    return None


def setarch(walker: Caller, call: Call) -> Output:
    """`setarch x86_64 -R program`: the architecture may be left out."""
    words = [f for f in call.fields if not f.text.startswith("-")]
    if words and re.fullmatch(r"x86_64|i[3-6]86|linux(?:32|64)|ppc\w*|sparc\w*|s390x?|arm\w*|aarch64|mips\w*|uname26", words[0].text):
        words = words[1:]
    if not words:
        walker.note(call)
        return Output(None)
    index = call.fields.index(words[0])
    return walker.run_fields(call.fields[index:], call.scope, call.stdin, call.context.through(call.name))
