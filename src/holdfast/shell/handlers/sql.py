"""Statements for databases, read as far as needed to know whether data is destroyed, changed or shown."""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell.expand import FROM_NETWORK, Field, Output
from holdfast.shell.lazy import Lazy

if TYPE_CHECKING:
    from holdfast.shell.call import Call
    from holdfast.shell.calls import Caller

_COMMENTS = Lazy(r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|''|\\.)*'", re.DOTALL)
_DESTROYS = Lazy(
    r"\b(?:DROP\s+(?:DATABASE|SCHEMA|TABLE|VIEW|INDEX|USER|ROLE|KEYSPACE|COLLECTION|TABLESPACE|FUNCTION|TYPE|MATERIALIZED"
    r"|SEQUENCE|TRIGGER|OWNED|PROCEDURE|EXTENSION|COLUMN|PARTITION)"
    r"|TRUNCATE\b|ALTER\s+TABLE\s+\S+\s+DROP|FLUSHALL|FLUSHDB|SHUTDOWN|RESET\s+MASTER|PURGE\s+(?:BINARY|MASTER)"
    r"|DROP\s+\w+\s+IF\s+EXISTS)",
    re.IGNORECASE,
)
_MONGO = Lazy(
    r"\.(?:dropDatabase|drop|dropIndexes|dropIndex|dropUser|dropAllUsersFromDatabase|dropRole|remove|deleteMany|deleteOne"
    r"|findOneAndDelete|findAndRemove|shutdownServer|dropCollection|bulkWrite)\s*\(",
)
_UNBOUNDED = Lazy(
    r"\b(?:DELETE\s+FROM\s+[\w.`\"\[\]]+|UPDATE\s+[\w.`\"\[\]]+\s+SET\b[^;]*?)\s*(?:;|\Z)", re.IGNORECASE | re.DOTALL
)
_RUNS = Lazy(
    r"\\!\s*(?P<shell>[^\n;]+)|^\s*(?:\.shell|\.system)\s+(?P<dot>[^\n]+)|\bTO\s+PROGRAM\b|\bFROM\s+PROGRAM\b"
    r"|xp_cmdshell|\bsys_exec\b|\bsystem\s+(?P<mysql>/\S+.*|[a-z]+\b.*)",
    re.IGNORECASE | re.MULTILINE,
)
_FILES = Lazy(
    r"\bINTO\s+(?:OUTFILE|DUMPFILE)\b|^\s*\.(?:output|once|excel|backup|save|dump\s*>)\s|\\o\s+\S|lo_export|load_extension",
    re.IGNORECASE | re.MULTILINE,
)
# Commands of psql that run a program or a file, or send what is asked into one.
_META = Lazy(
    r"\\g\w*\s+\S|\\(?:gexec|gset|o|out|w|write|i|ir|include\w*|e|edit|ef|ev|s|copy|lo_\w+|password|setenv|cd|watch|crosstabview"
    r"|getenv|prompt|startpipeline|sendpipeline|bind)(?![A-Za-z])|\\(?:set|echo)[^\n]*`"
)
_READS = Lazy(
    r"\s*(?:SELECT|SHOW|DESCRIBE|DESC|EXPLAIN|WITH|PRAGMA\s+\w+\s*(?:\(.*\))?\s*;?\s*\Z|\\[dlcz?][\w+]*|\.(?:tables|schema|databases|headers|mode|help|indexes|dump|width|print|show|stats|timer|fullschema|nullvalue|separator|version)|USE|VALUES|TABLE|HELP|KEYS|GET|INFO|PING|db\.\w+\.find)\b|\\(?:d[a-zA-Z+]*|l\+?|list|z|sf\+?|sv\+?|conninfo|x|timing|pset|a|t|f|H|encoding|echo|qecho|q|p|r|h|help|\?|errverbose|c|connect|set|unset|gx?)(?=[\s;+]|\Z)",
    re.IGNORECASE,
)
_WRITES = Lazy(
    r"\b(?:INSERT|UPDATE|DELETE|CREATE|ALTER|GRANT|REVOKE|REPLACE|MERGE|COPY|CALL|DO|VACUUM|REINDEX|SET\s+PASSWORD|ATTACH|LOAD|IMPORT|INTO)\b",
    re.IGNORECASE,
)

MAX_STATEMENT = 8192
_CALLS = Lazy(r"\b([A-Za-z_]\w*)\s*\(")
# Functions and keywords before a parenthesis that compute and change nothing.
_PLAIN_FUNCTIONS = frozenset(
    "count sum avg min max coalesce length lower upper substr substring trim round abs now date datetime strftime"
    " in values as and or not exists select from where on using over cast concat ifnull nullif iif case when then"
    " distinct date_trunc extract to_char group_concat string_agg array_agg json_extract json_agg row_number rank"
    " dense_rank lag lead current_timestamp version pg_size_pretty pg_database_size pg_total_relation_size find"
    " limit sort pretty explain countdocuments aggregate printjson print table_info index_list total typeof instr"
    " replace left right floor ceil ceiling mod power sqrt random unixepoch julianday all any union like between hex"
    " char".split()
)


def destroying(statement: str) -> str:
    """The words by which a statement destroys; empty when it does not."""
    found = _DESTROYS.search(statement) or _UNBOUNDED.search(statement)
    return found[0] if found else ""


def read_sql(walker: Caller, statement: Field, call: Call) -> None:
    if len(statement.text) > MAX_STATEMENT:
        walker.record.cannot_know("the statement is longer than is followed")
        statement = Field(statement.text[:MAX_STATEMENT], statement.dynamic, taint=statement.taint)
    text = _COMMENTS.sub(" '' ", statement.text)
    record, by = walker.record, call.command
    runs = _RUNS.search(statement.text)
    if runs is not None:
        code = runs["shell"] or runs["dot"] or runs["mysql"]
        context = call.context.through(call.label, escaped=call.label)
        if code:
            walker.run_string(Field(code.strip()), call.scope.copy(), Output(None), context)
        else:
            record.finding("dangerous", "escape", program=call.label)
    destroyed = _DESTROYS.search(text) or _MONGO.search(statement.text) or _UNBOUNDED.search(text)
    if destroyed is not None:
        record.add("external_state", destroyed[0], by, "database")
        record.finding("dangerous", "sql_destroys", statement=destroyed[0].strip())
    elif _META.search(text):
        record.cannot_know("the client is told to run, read or write a file")
    elif _FILES.search(text):
        record.add("writes", "a file named by the statement", by, "database", certain=False)
        record.finding("caution", "writes", target="a file named by the statement")
    elif _WRITES.search(text) or not (_READS.match(text) or not text.strip()):
        record.add("external_state", statement.text[:80], by, "database")
        record.finding("caution", "external_state", detail="database")
    elif any(name.lower() not in _PLAIN_FUNCTIONS for name in _CALLS.findall(text)):
        record.cannot_know("the statement calls functions, which may change data")
    if statement.taint & FROM_NETWORK:
        record.finding("dangerous", "downloads_and_runs", target=call.label)
