"""Clients of databases: where their statements come from."""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell import paths
from holdfast.shell.expand import FROM_NETWORK, Field, Output
from holdfast.shell.handlers.sql import read_sql
from holdfast.shell.lazy import Lazy
from holdfast.shell.options import acts, split_arguments
from holdfast.shell.statements import destructive_statement

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_REDIS_READS = Lazy(
    r"(?:GET|MGET|KEYS|SCAN|TTL|PTTL|TYPE|EXISTS|INFO|PING|DBSIZE|HGET|HGETALL|HKEYS|HVALS|HLEN|HMGET|LRANGE|LLEN|LINDEX|SMEMBERS|SCARD"
    r"|SISMEMBER|ZRANGE|ZSCORE|ZCARD|ZREVRANGE|ZRANGEBYSCORE|STRLEN|MEMORY|SLOWLOG|CLIENT|MONITOR|TIME|LASTSAVE|ROLE|OBJECT|XLEN|XRANGE|XINFO|GETRANGE|BITCOUNT"
    r"|RANDOMKEY|ECHO|COMMAND|PUBSUB|CLUSTER|SUBSCRIBE|PSUBSCRIBE|LATENCY|DUMP|SSCAN|HSCAN|ZSCAN|GEOPOS|GEODIST)\Z",
    re.IGNORECASE,
)


# Of the commands that have subcommands, those that only tell.
_REDIS_SUBCOMMANDS = {
    "CLIENT": frozenset("LIST INFO ID GETNAME GETREDIR TRACKINGINFO HELP".split()),
    "CLUSTER": frozenset("INFO NODES SLOTS SHARDS KEYSLOT COUNTKEYSINSLOT GETKEYSINSLOT MYID LINKS HELP".split()),
    "SLOWLOG": frozenset("GET LEN HELP".split()),
    "MEMORY": frozenset("USAGE STATS DOCTOR MALLOC-STATS HELP".split()),
    "LATENCY": frozenset("LATEST HISTORY DOCTOR GRAPH HISTOGRAM HELP".split()),
    "CONFIG": frozenset(("GET", "HELP")),
    "ACL": frozenset("LIST WHOAMI CAT USERS GETUSER HELP".split()),
    "SCRIPT": frozenset(("EXISTS", "HELP")),
    "FUNCTION": frozenset("LIST STATS DUMP HELP".split()),
}


_REDIS_DESTROYS = Lazy(
    r"(?:FLUSHALL|FLUSHDB|SHUTDOWN|DEBUG|UNLINK|DEL|SWAPDB|FAILOVER|REPLICAOF|SLAVEOF|GETDEL|HDEL|ZREMRANGEBY\w+|XTRIM|XDEL|LTRIM)\Z",
    re.IGNORECASE,
)


def sql_client(walker: Caller, call: Call) -> Output | None:  # noqa: PLR0915 - one place a source of statements
    """Statements come by option, by argument, by file or on standard input."""
    spec = call.spec
    arguments = call.arguments = split_arguments(call.fields, spec["opts"], spec.get("style", ""))
    walker.note(call)
    record = walker.record
    if arguments.has("--version", "-V", "--help", "-version", "-help") and not arguments.positionals:
        return Output(None)
    for name in arguments.flags:
        if name not in spec["opts"] and acts(name):
            record.cannot_know(f"the option {name} of {call.name} is not known")
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
    for value in [v for n, r in spec["opts"].items() if r == "sql" for v in arguments.values(n)]:
        # `mysql -e DROP TABLE users`: the quotes were forgotten, the meaning is plain
        statement = destructive_statement(" ".join((value.text, *(f.text for f in positionals))))
        if positionals and statement and " " not in value.text:
            record.finding("dangerous", "sql_destroys", statement=statement)
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
    if not local:
        walker.guess_by_verb(call.name, positionals)
    if not given:
        text = call.stdin.text
        if text is not None and text.strip():
            read_sql(walker, Field(text), call)
            given = True
        else:
            record.cannot_know(f"{call.name} runs statements that it is given")
            if call.stdin.taint & FROM_NETWORK:
                record.finding("dangerous", "downloads_and_runs", target=call.name)
    return Output(None)


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
    reading = _REDIS_SUBCOMMANDS.get(words[0].upper())
    if reading is not None:
        only_reads = len(words) > 1 and words[1].upper() in reading
    else:
        only_reads = _REDIS_READS.match(words[0]) is not None
    if only_reads:
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
