"""The sentences of a reading, by code: one place, so that they can be translated."""

from __future__ import annotations

from collections.abc import Mapping

SENTENCES: Mapping[str, str] = {
    "nothing": "Nothing would run.",
    "read_only": "It only reads.",
    "harmless": "It changes nothing that matters.",
    "reads_secret": "It reads {target}, which holds keys or passwords.",
    "shows_secret": "It shows a secret ({target}).",
    "writes": "It writes {target}.",
    "deletes": "It deletes {target}.",
    "runs": "It runs {target}, whose effects depend on the project.",
    "network": "It talks to {target}.",
    "installs": "It installs {target}.",
    "changes_permissions": "It changes who may use {target}.",
    "git_history": "It changes the git repository ({detail}).",
    "external_state": "It changes state outside this machine's files ({detail}).",
    "unknown": "What it would do cannot be known before it runs: {why}.",
    "program": "{program}: {why}.",
    "deletes_tree": "It deletes {target} with everything below it.",
    "deletes_everything": "It deletes {target}: the whole machine, a whole home or all files here.",
    "deletes_system": "It deletes {target}, which the system or its users need.",
    "deletes_secret": "It deletes {target}, which holds keys, settings or history.",
    "deletes_in_program": "It deletes {target} from inside an inline program.",
    "overwrites_device": "It writes to the device {target} and destroys what is on it.",
    "overwrites_system": "It overwrites {target}, a file of the system.",
    "persists": "It writes {target}, which decides who may log in or what starts by itself.",
    "empties": "It empties {target}.",
    "exfiltrates": "It sends {source} to {target}.",
    "downloads_and_runs": "It runs a program that it downloads ({target}).",
    "decodes_and_runs": "It hides what it runs behind an encoding.",
    "hides": "It hides what it runs: {how}.",
    "reverse_shell": "It connects a shell to the network ({target}).",
    "escape": "It starts a shell through {program}, past any rule about {program}.",
    "escalates": "It gains rights: {how}.",
    "fork_bomb": "It starts copies of itself without end.",
    "setuid": "It lets {target} run with its owner's rights.",
    "opens_to_all": "It lets everybody change {target}.",
    "sql_destroys": "It destroys data in a database: {statement}.",
    "http_delete": "It asks a server to delete {target}.",
    "too_complex": "It is longer or deeper than is followed.",
    "syntax": "bash would not accept it: {error}.",
}


def sentence(code: str, params: Mapping[str, str]) -> str:
    template = SENTENCES[code]
    shortened = {key: value if len(value) <= 120 else value[:117] + "..." for key, value in params.items()}
    return template.format(**shortened)
