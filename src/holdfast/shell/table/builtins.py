"""Commands of the shell itself."""

# ruff: noqa: E501 - one program a line, as in a table

TABLE = {
    ":|true|false|shift|return|break|continue|exit|logout|wait|times|getopts|let|caller|compgen|complete|compopt|suspend|dirs|jobs|fg|bg|disown|help|bind|setopt|unsetopt|autoload|zmodload|rehash|yes|sleep|select": {"ro": True, "pos": "text"},
    ":|true|false|sleep|wait": {"ro": True, "pos": "text", "out": "nothing"},
    "cd|pushd|popd|chdir": {"ro": True, "handler": "cd"},
    "echo": {"ro": True, "handler": "echo"},
    "printf": {"ro": True, "handler": "printf"},
    "export|declare|typeset|local|readonly": {"ro": True, "handler": "declare"},
    "unset": {"ro": True, "handler": "unset"},
    "alias": {"ro": True, "handler": "alias"},
    "unalias|hash|type|umask|ulimit|shopt": {"ro": True, "pos": "text"},
    "hash": {"ro": True, "pos": "text", "when": [["-p", {"ro": False, "unknown": "it makes a name mean another program"}]]},
    "jobs": {"ro": True, "pos": "text", "when": [["-x", {"ro": False, "unknown": "it runs a command"}]]},
    "bind|compgen|complete|compopt": {"ro": True, "pos": "text", "when": [["-C|-F|-x", {"ro": False, "unknown": "it runs a command sooner or later"}]]},
    "set|shift": {"ro": True, "pos": "text", "handler": "set"},
    "trap": {"ro": True, "handler": "trap"},
    "read|mapfile|readarray": {"ro": True, "handler": "read"},
    "test|[|[[": {"ro": True, "pos": "text"},
    "]|]]": {"ro": True, "pos": "text"},
    "eval": {"handler": "eval"},
    "source|.": {"handler": "source"},
    "exec": {"handler": "exec"},
    "pwd": {"ro": True},
    "history": {"ro": True, "out": "secret", "pos": "text", "when": [["-c", {"ro": False, "risk": "dangerous", "why": "it erases the record of commands"}], ["-a|-n|-r|-s|-d|-w", {"ro": False, "risk": "caution", "why": "it changes the history"}]]},
    "enable": {"ro": True, "pos": "text", "opts": {"-f": "val"}, "when": [["-f", {"ro": False, "risk": "dangerous", "why": "it loads a library into the shell"}]]},
    "fc": {"pos": "text", "risk": "caution", "why": "it edits and runs former commands", "unknown": "it runs former commands", "when": [["-l", {"ro": True, "risk": "safe", "unknown": "", "only": True}]]},
    "kill": {"handler": "kill"},
}  # fmt: skip
