"""Files and directories: the everyday tools."""

# ruff: noqa: E501 - one program a line, as in a table

_LISTS = {"ro": True, "pos": "read"}

TABLE = {
    "ls|dir|vdir|exa|eza|lsd|tree|stat|file|readlink|realpath|du|df|basename|dirname|namei|getfacl|lsattr|pathchk|lsof"
    "|getfattr|ll|la|l|fdupes|ncdu|dust|duf|dua|gstat|gls|mdls|GetFileInfo|broot": {
        "ro": True,
        "pos": "read",
        "opts": {
            "-I": "val", "-w": "val", "--ignore": "val", "--width": "val", "-c": "val", "--format": "val", "--printf": "val",
            "-L": "?val", "-P": "?val", "-d": "?val", "--max-depth": "val", "-t": "?val", "-x": "?val", "--exclude": "val",
            "-B": "?val", "--block-size": "val", "-o": "?val", "-s": "?val", "--suffix": "val", "--sort": "val", "--time": "val",
        },
        "when": [["opt~^--(?:output|delete|fix)", {"ro": False}]],
    },
    "basename|dirname": {"ro": True, "pos": "text"},
    "tree": {"ro": True, "pos": "read", "opts": {"-o": "write", "-L": "val", "-I": "val", "-P": "val", "--filelimit": "val",
                                                 "--charset": "val", "--fromfile": "?val", "-H": "val", "-T": "val"}},
    "fdupes|jdupes|rdfind": {"ro": True, "pos": "read", "when": [["-d|--delete|-L|-deleteduplicates", {"ro": False, "risk": "dangerous", "why": "it deletes files that it thinks are copies"}]]},
    "ncdu": {"ro": True, "pos": "read", "opts": {"-o": "write", "-f": "read", "--exclude": "val", "-X": "read"}},
    "df": {"ro": True, "pos": "read", "opts": {"-t": "val", "-x": "val", "-B": "val"}},
    "lsof": {"ro": True, "pos": "read", "opts": {"-i": "?val", "-p": "val", "-u": "val", "-c": "val", "-g": "?val", "-s": "?val", "-F": "?val", "-d": "val", "-r": "?val"}},
    "date": {
        "ro": True,
        "pos": "text",
        "opts": {"-d": "val", "--date": "val", "-r": "read", "--reference": "read", "-f": "read", "--file": "read", "-s": "val", "--set": "val",
                 "-I": "?val", "--iso-8601": "?val", "-j": "?val", "-v": "val"},
        "when": [["-s|--set", {"ro": False, "risk": "caution", "why": "it sets the clock"}],
                 ["arg~^\\d{8,12}(\\.\\d\\d)?$ !-j !-f", {"ro": False, "risk": "caution", "why": "it sets the clock"}]],
    },
    "cal|ncal|uname|arch|nproc|whoami|id|groups|users|who|w|last|lastlog|lastb|uptime|hostid|tty|logname|getent|locale|finger"
    "|pinky|lsb_release|getconf|factor|seq|expr|bc|dc|numfmt|units|printenv|tput|reset|clear|stty|sw_vers|system_profiler"
    "|lscpu|lsmem|lsblk|lspci|lsusb|lsmod|lshw|lsscsi|free|vmstat|iostat|mpstat|pidstat|sar|top|htop|btop|atop|glances|iotop"
    "|ps|pgrep|pstree|pidof|pmap|pwdx|nvidia-smi|inxi|neofetch|fastfetch|screenfetch|dmidecode|sensors|acpi|cpuid|numastat|slabtop|tload"
    "|findmnt|lsns|lslogins|lsipc|lslocks|locate|mlocate|plocate|which|whereis|whatis|apropos|mdfind|fc-list"
    "|xwininfo|xprop|xdpyinfo|xev|xlsclients|lsinitramfs|modinfo|getcap|getsebool|sestatus|getenforce|aa-status|vulkaninfo|glxinfo|upower"
    "|runlevel|faillog|ac|lastcomm|sa|biosdecode|lsirq|cpufreq-info|turbostat|hwinfo|uuidgen|mcookie|figlet|cowsay|fortune|sl|cmatrix|banner|toilet|lolcat|nproc|tsort|ipcs|lsw|macchina|onefetch|tokei|cloc|scc|sloccount": {
        "ro": True,
        "pos": "text",
    },
    "bc": {"ro": True, "pos": "read", "opts": {"-e": "val", "-f": "read"}},
    "dc": {"ro": True, "pos": "read", "opts": {"-e": "dc", "-f": "read"}, "when": [["-e~!", {"ro": False, "risk": "dangerous", "why": "it runs a command"}]]},
    "dmidecode|biosdecode": {"ro": True, "pos": "text", "opts": {"--dump-bin": "write", "--from-dump": "read", "-d": "val", "-s": "val", "-t": "val"}},
    "cowsay|fortune|figlet|toilet": {"ro": True, "pos": "text", "opts": {"-f": "val", "-W": "val", "-w": "val"}, "when": [["-f~/|\\.(?:pl|pm|cow)$", {"ro": False, "unknown": "a file of code is run"}]]},
    "finger": {"ro": True, "pos": "text", "when": [["arg~@", {"ro": False, "fx": ["network"]}]]},
    "fastfetch|neofetch|screenfetch|inxi|onefetch": {"ro": True, "pos": "text", "opts": {"-c": "script", "--config": "script", "-l": "val"}},
    "printenv": {"ro": True, "pos": "text", "out": "secret"},
    "id|whoami": {"ro": True, "pos": "text"},
    "tokei|cloc|scc": {"ro": True, "pos": "read", "opts": {"--out": "write", "-o": "write", "--output": "val", "-t": "val", "--exclude-dir": "val"}},
    "ps": {"ro": True, "pos": "text", "opts": {"-o": "val", "-p": "val", "-u": "val", "-C": "val", "--sort": "val", "-t": "val", "-g": "val", "--ppid": "val", "--format": "val"}},
    "last|lastb|who|w": {"ro": True, "pos": "text", "opts": {"-n": "val", "-f": "read"}},
    "top|htop|pidstat|vmstat|iostat": {"ro": True, "pos": "text", "opts": {"-d": "val", "-n": "val", "-p": "val", "-u": "val", "-b": "?val", "-o": "?val", "-H": "?val"}, "when": [["-e", {"ro": False, "risk": "caution", "unknown": "it runs a command"}]]},
    "lsblk": {"ro": True, "pos": "text", "opts": {"-o": "val", "--output": "val", "-I": "val", "-e": "val", "-x": "val", "--sort": "val"}},
    "locate|mlocate|plocate": {"ro": True, "pos": "text", "opts": {"-d": "read", "-l": "val", "-n": "val"}},
    "reset|stty|tput": {"ro": True, "pos": "text"},
    "modinfo": {"ro": True, "pos": "text"},
    "shuf": {"ro": True, "pos": "read", "opts": {"-n": "val", "-i": "val", "-e": "?val", "-o": "write", "--output": "write", "--random-source": "read", "-z": "?val"},
             "when": [["-e|--echo", {"pos": "text"}]]},
    "touch": {"pos": "touch", "opts": {"-d": "val", "-t": "val", "-r": "read", "--date": "val", "--reference": "read", "--time": "val", "-A": "val"}},
    "mkdir|mkfifo|mknod": {"pos": "mkdir", "opts": {"-m": "val", "--mode": "val", "-Z": "?val"}},
    "mknod": {"pos": ["write", "val"], "opts": {"-m": "val"}},
    "rmdir": {"pos": "rmdir", "opts": {}, "risk": "caution", "why": "it deletes empty directories"},
    "rm|grm": {"handler": "rm"},
    "unlink": {"pos": "delete"},
    "trash|trash-put|gio_trash|trash-rm": {"pos": "delete"},
    "trash-empty": {"risk": "dangerous", "why": "it empties the trash for good"},
    "trash-list": {"ro": True},
    "srm": {"pos": "delete", "risk": "caution", "why": "it deletes files beyond recovery", "when": [["-r|-R|--recursive", {"pos": "rdelete"}]]},
    "shred": {
        "pos": "write",
        "opts": {"-n": "val", "-s": "val", "--iterations": "val", "--size": "val", "--random-source": "read"},
        "risk": "dangerous",
        "why": "it destroys the content of files beyond recovery",
        "when": [["-u|--remove", {"pos": "delete"}], ["arg~^(?:/tmp/|/var/tmp/)", {"risk": "caution"}]],
    },
    "wipe|scrub|sfill|sswap": {"pos": "delete", "risk": "dangerous", "why": "it destroys data beyond recovery"},
    "truncate": {
        "pos": "write",
        "opts": {"-s": "val", "--size": "val", "-r": "read", "--reference": "read"},
        "risk": "caution",
        "why": "it cuts files",
        "when": [["-s|--size~^0$ !arg~^(?:/tmp/|/var/tmp/)", {"risk": "dangerous", "why": "it empties files"}]],
    },
    "cp|gcp|install|ditto": {
        "pos": "copy",
        "opts": {"-t": "val", "--target-directory": "val", "-S": "val", "--suffix": "val", "-m": "val", "--mode": "val", "-o": "val", "-g": "val",
                 "--owner": "val", "--group": "val", "--backup": "?val", "--sparse": "?val", "--reflink": "?val", "--preserve": "?val"},
    },
    "mv|gmv": {"pos": "move", "opts": {"-t": "val", "--target-directory": "val", "-S": "val", "--suffix": "val", "--backup": "?val"}},
    "rename|prename|mmv|vidir|qmv|perl-rename": {"pos": ["val", "write"], "risk": "caution", "why": "it renames files",
                                  "when": [["-n|--nono|--no-act|--dry-run", {"ro": True, "risk": "safe", "pos": ["val", "read"]}]]},
    "ln|link|gln": {"pos": "link", "opts": {"-t": "val", "--target-directory": "val", "-S": "val"}},
    "chmod|chown|chgrp|setfacl|gchmod|gchown": {"handler": "chmod"},
    "chattr|chflags": {"pos": ["val", "perm"], "style": "plus", "risk": "caution", "why": "it changes attributes of files"},
    "setcap": {"pos": "perm", "risk": "dangerous", "why": "it gives a program special rights"},
    "setfattr|xattr": {"pos": "write", "opts": {"-n": "val", "-v": "val", "-x": "val"}, "risk": "caution"},
    "dd|gdd|dcfldd|dc3dd": {"handler": "dd", "ro": True},
    "tee|gtee|sponge": {"handler": "tee", "ro": True},
    "mktemp|tempfile": {"handler": "mktemp"},
    "sync|fsync": {"ro": True, "pos": "read"},
    "fallocate": {"pos": "write", "opts": {"-l": "val", "-o": "val"}},
    "split|csplit|gsplit": {"pos": ["read", "write"], "opts": {"-l": "val", "-b": "val", "-n": "val", "-a": "val", "-C": "val", "-t": "val", "--filter": "shell",
                            "--additional-suffix": "val", "-f": "write", "--prefix": "write", "--lines": "val", "--bytes": "val", "--number": "val"},
                            "fx": ["writes:."]},
    "find|gfind": {"ro": True, "handler": "find"},
    "fd|fdfind": {
        "ro": True,
        "pos": ["text", "read"],
        "opts": {"-e": "val", "--extension": "val", "-t": "val", "--type": "val", "-d": "val", "--max-depth": "val", "-E": "val", "--exclude": "val",
                 "-x": "argv", "--exec": "argv", "-X": "argv", "--exec-batch": "argv", "-S": "val", "--size": "val", "--changed-within": "val",
                 "--changed-before": "val", "-c": "val", "-j": "val"},
        "handler": "fd",
    },
    "watch": {
        "pos": "cmdline",
        "opts": {"-n": "val", "--interval": "val", "-q": "val"},
        "ro": True,
    },
}  # fmt: skip
