"""Commands of the shell itself."""

TABLE = {
    ":|true|false|shift|return|break|continue|exit|logout|wait|times|getopts|let|caller|compgen|complete|compopt"
    "|suspend|fc|dirs|jobs|fg|bg|disown|help|bind|enable|setopt|unsetopt|autoload|zmodload|rehash|yes|sleep|select": {
        "ro": True,
        "pos": "text",
    },
    "cd|pushd|popd|chdir": {"ro": True, "handler": "cd"},
    "echo": {"ro": True, "handler": "echo"},
    "printf": {"ro": True, "handler": "printf"},
    "export|declare|typeset|local|readonly": {"ro": True, "handler": "declare"},
    "unset": {"ro": True, "handler": "unset"},
    "alias": {"ro": True, "handler": "alias"},
    "unalias|hash|type|umask|ulimit|shopt|set": {"ro": True, "pos": "text"},
    "trap": {"ro": True, "handler": "trap"},
    "read|mapfile|readarray": {"ro": True, "handler": "read"},
    "test|[|[[": {"ro": True, "pos": "text"},
    "]|]]": {"ro": True, "pos": "text"},
    "eval": {"handler": "eval"},
    "source|.": {"handler": "source"},
    "exec": {"handler": "exec"},
    "pwd": {"ro": True},
    "history": {
        "ro": True,
        "out": "secret",
        "pos": "text",
        "when": [
            ["-c|-d|-w", {"ro": False, "risk": "dangerous", "why": "it erases the record of commands"}],
            ["-a|-n|-r|-s", {"ro": False, "risk": "caution", "why": "it changes the history file"}],
        ],
    },
    "kill": {
        "pos": "text",
        "risk": "caution",
        "why": "it stops processes",
        "when": [["-l|-L|-0|--list", {"ro": True, "risk": "safe"}],
                 ["arg~^-1$|^1$", {"risk": "dangerous", "why": "it stops every process or the first one"}]],
    },
}  # fmt: skip
