"""Package managers."""

# ruff: noqa: E501 - one program a line, as in a table

from typing import Any

_QUERY = {"ro": True, "pos": "text"}
_INSTALL = {"pos": "pkg", "risk": "caution", "why": "it installs packages", "fx": ["installs", "network"]}
_REMOVE = {"pos": "text", "risk": "caution", "why": "it removes packages", "fx": ["installs:remove"]}
_UPDATE = {"pos": "text", "risk": "caution", "why": "it updates packages", "fx": ["installs:update", "network"]}
_RUN = {
    "pos": "text",
    "risk": "caution",
    "why": "it runs what the project configures",
    "unknown": "it runs a script of the project",
}  # fmt: skip
_PUBLISH = {
    "pos": "text",
    "risk": "caution",
    "why": "it publishes a package",
    "fx": ["external_state:publish", "network"],
}  # fmt: skip
_NPM_VAL = {
    "-w": "val",
    "--workspace": "val",
    "--prefix": "val",
    "-C": "val",
    "--cwd": "val",
    "--dir": "val",
    "-F": "val",
    "--filter": "val",
    "--registry": "val",
    "--tag": "val",
    "--loglevel": "val",
    "--otp": "val",
}  # fmt: skip

_NPM: dict[str, Any] = {
    "opts": _NPM_VAL,
    "sub": {
        "ls|list|ll|la|view|v|info|show|search|find|s|outdated|why|explain|root|bin|prefix|ping|whoami|help|help-search|doctor|fund|licenses|query|sbom|diff|get|-v|--version|-g|completion|repo|docs|bugs|home": {**_QUERY, "opts": _NPM_VAL},
        "config|c": {"pos": "text", "risk": "caution", "why": "it changes settings", "when": [["arg0~^(?:get|list|ls)$", {"ro": True, "risk": "safe", "only": True}]]},
        "audit": {"ro": True, "pos": "text", "when": [["arg0~^fix$", {"ro": False, "risk": "caution", "why": "it changes packages"}], ["--fix", {"ro": False, "risk": "caution"}]]},
        "install|i|add|in|isntall|ci|clean-install|install-test|it|cit|link|ln|import|rebuild|rb|dedupe|ddp": {**_INSTALL, "opts": {**_NPM_VAL, "-D": "?val", "-E": "?val"}},
        "uninstall|remove|rm|r|un|unlink|prune": _REMOVE,
        "update|upgrade|up|udpate": _UPDATE,
        "run|run-script|rum|urn|start|test|t|tst|stop|restart|build|dev|serve|lint|format|preview|watch|deploy|storybook|e2e|coverage|typecheck|check|prepare|release|migrate|generate|codegen|node|pack|set|init|create|version|workspaces|workspace|patch|patch-commit|fetch|store|env|setup|plugin|policies|constraints|unplug|self-update|approve-builds|bun|vitest|jest|eslint|tsc|prettier|webpack|vite|next|turbo|nx|lerna|rw|prisma": _RUN,
        "exec|x|dlx|npx": {"pos": "argv", "risk": "caution", "why": "it runs a program of a package", "opts": {**_NPM_VAL, "-p": "pkg", "--package": "pkg", "-c": "shell", "--call": "shell"}},
        "publish": _PUBLISH,
        "unpublish|deprecate|access|owner|team|org|hook|star|unstar|dist-tag|token|adduser|login|logout|profile": {"pos": "text", "risk": "caution", "why": "it changes the registry", "fx": ["external_state:publish"], "when": [["arg0~^(?:ls|list|get)$", {"risk": "caution"}]]},
        "unpublish": {"pos": "text", "risk": "dangerous", "why": "it removes a published package", "fx": ["external_state:publish"]},
        "token|access|owner|team": {"pos": "text", "risk": "caution", "why": "it changes access", "fx": ["external_state:publish"], "when": [["arg0~^(?:revoke|delete|rm|destroy|remove)$", {"risk": "dangerous", "why": "it takes away access"}], ["arg0~^(?:ls|list|get)$", {"ro": True, "fx": [], "risk": "safe", "only": True}]]},
        "find-dupes|stars": {**_QUERY, "opts": _NPM_VAL},
        "pkg": {**_RUN, "when": [["arg0~^get$", {"ro": True, "risk": "safe", "unknown": ""}]]},
        "run|run-script": {**_RUN, "opts": _NPM_VAL, "when": [["n=0", {"ro": True, "risk": "safe", "unknown": ""}]]},
        "org|hook|star|dist-tag|profile": {"pos": "text", "risk": "caution", "why": "it changes the registry", "fx": ["external_state:publish"], "when": [["arg0~^(?:ls|list|get)$", {"ro": True, "fx": [], "risk": "safe", "only": True}], ["arg0~^(?:rm|remove)$", {"risk": "dangerous", "why": "it takes something from the registry"}]]},
        "cache": {"pos": "text", "risk": "caution", "why": "it changes the cache", "when": [["arg0~^(?:ls|list|verify|dir)$", {"ro": True, "risk": "safe", "only": True}]]},
    },
    "default": _RUN,
}  # fmt: skip
_PIP = {
    "opts": {"--python": "script", "--proxy": "val", "--timeout": "val"},
    "sub": {
        "list|show|freeze|check|search|help|debug|inspect|index|--version|-V": _QUERY,
        "install": {**_INSTALL, "opts": {"-r": "read", "-c": "read", "-e": "read", "-t": "write", "--target": "write", "-i": "url", "--index-url": "url", "--extra-index-url": "url", "--prefix": "val", "--root": "val", "--python-version": "val", "-f": "val", "--no-binary": "val", "--only-binary": "val", "--platform": "val", "--report": "write"}},
        "download|wheel": {"pos": "pkg", "risk": "caution", "why": "it downloads packages", "fx": ["network", "writes:."], "opts": {"-d": "write", "-r": "read", "-w": "write"}},
        "uninstall": {**_REMOVE, "opts": {"-r": "read"}},
        "cache|config": {"pos": "text", "risk": "caution", "why": "it changes settings", "when": [["arg0~^(?:list|info|dir|get|debug)$", {"ro": True, "risk": "safe", "only": True}]]},
        "hash": {"ro": True, "pos": "read"},
        "compile|sync|tree|venv": {"pos": "text", "risk": "caution", "why": "it changes the environment", "fx": ["installs"]},
    },
}  # fmt: skip
_APT = {
    "opts": {"-o": "aptoption", "-c": "read", "-t": "val", "--target-release": "val"},
    "sub": {
        "list|search|show|policy|depends|rdepends|madison|pkgnames|showpkg|showsrc|stats|dump|dumpavail|unmet|dotty|changelog|help|moo|why|why-not|versions|info|indextargets|search-file": {**_QUERY, "opts": {"-o": "aptoption", "-c": "script", "-t": "val"}},
        "install|reinstall|build-dep|satisfy": {**_INSTALL, "opts": {"-o": "aptoption", "-c": "read", "-t": "val"}, "dry": "-s|--simulate|--dry-run|--just-print|--no-act"},
        "remove|autoremove|auto-remove": {**_REMOVE, "dry": "-s|--simulate|--dry-run"},
        "purge|autopurge": {"pos": "text", "risk": "caution", "why": "it removes packages with their settings", "fx": ["installs:remove"], "dry": "-s|--simulate|--dry-run"},
        "update|upgrade|full-upgrade|dist-upgrade|safe-upgrade|dselect-upgrade": {**_UPDATE, "opts": {"-o": "aptoption"}},
        "clean|autoclean|auto-clean|download|source|mark|edit-sources|hold|unhold|forget-new|markauto|unmarkauto|add|gencaches|check": {"pos": "text", "risk": "caution", "why": "it changes the package manager's state"},
    },
}  # fmt: skip
_DNF = {
    "opts": {"-c": "read", "--enablerepo": "val", "--disablerepo": "val", "--repo": "val", "--releasever": "val", "-x": "val", "--exclude": "val"},
    "sub": {
        "list|search|info|provides|whatprovides|repolist|repoquery|deplist|check-update|check|history|help|updateinfo|leaves|repoinfo|resolvedep": {**_QUERY, "when": [["arg0~^(?:undo|rollback|redo)$", {"ro": False, "risk": "caution"}]]},
        "install|reinstall|localinstall|groupinstall|group|module|swap|builddep|shell|copr|config-manager": _INSTALL,
        "group|module|copr|config-manager": {**_INSTALL, "when": [["arg0~^(?:list|info|summary|search|provides)$", {"ro": True, "risk": "safe", "fx": [], "pos": "text"}], ["--dump", {"ro": True, "risk": "safe", "fx": []}], ["arg0~^(?:remove|reset|disable)$", {"why": "it removes packages"}]]},
        "changelog": _QUERY,
        "remove|erase|autoremove|groupremove": _REMOVE,
        "update|upgrade|upgrade-minimal|distro-sync|distribution-synchronization|downgrade|makecache|system-upgrade|offline-upgrade": _UPDATE,
        "clean|mark|versionlock|download|versionlock": {"pos": "text", "risk": "caution", "why": "it changes the package manager's state"},
    },
}  # fmt: skip
_BREW = {
    "sub": {
        "list|ls|search|info|abv|desc|deps|uses|leaves|outdated|config|doctor|dr|home|cat|log|--prefix|--cellar|--version|-v|--cache|--repository|options|missing|commands|help|analytics|tap-info|formulae|casks|livecheck|which-formula": {**_QUERY, "opts": {"--eval-all": "?val", "--installed-on-request": "?val", "--audit-debug": "?val"}},
        "install|reinstall|tap|link|ln|switch|fetch|bundle|extract|create|edit|pin|unpin|postinstall|migrate": _INSTALL,
        "uninstall|remove|rm|untap|unlink|autoremove|cleanup|zap": {**_REMOVE, "when": [["-n|--dry-run", {"ro": True, "risk": "safe", "fx": [], "only": True}], ["--zap", {"risk": "caution"}]]},
        "update|upgrade|up": {**_UPDATE, "when": [["-n|--dry-run", {"ro": True, "risk": "safe", "fx": [], "only": True}]]},
        "tap": {**_INSTALL, "when": [["n=0", {"ro": True, "risk": "safe", "fx": []}]]},
        "bundle": {**_INSTALL, "when": [["arg0~^(?:check|list)$", {"ro": True, "risk": "safe", "fx": []}]]},
        "services": {"pos": "text", "risk": "caution", "why": "it changes services", "when": [["n=0", {"ro": True, "risk": "safe", "only": True}], ["arg0~^(?:list|info)$", {"ro": True, "risk": "safe", "only": True}]]},
    },
    "opts": {"--eval-all": "?val", "--installed-on-request": "?val"},
    "default": {"pos": "text", "risk": "caution", "why": "it may change packages", "unknown": "a command of brew that is not listed", "when": [["n=0 --prefix|--cellar|--caskroom|--cache|--repository|--repo|--env|--config", {"ro": True, "risk": "safe", "unknown": ""}]]},
}  # fmt: skip

TABLE = {
    "npm|pnpm|yarn|bun|cnpm|tnpm|ni|nr|nci|yarnpkg|rushx|rush": _NPM,
    "npm|cnpm": {**_NPM, "sub": {**_NPM["sub"], "version": {**_RUN, "when": [["n=0 !opt~.", {"ro": True, "risk": "safe", "unknown": ""}]]}}},
    "yarn|yarnpkg": {**_NPM, "sub": {**_NPM["sub"], "npm": {"sub": {"unpublish": {"pos": "text", "risk": "dangerous", "why": "it removes a published package", "fx": ["external_state:publish"]}, "publish|login|logout|tag": _PUBLISH, "info|whoami|audit": _QUERY}}}},
    "npx|pnpx|bunx|yarnx|nlx|pnpm-dlx": {"pos": "argv", "risk": "caution", "why": "it runs a program of a package", "opts": {"-p": "pkg", "--package": "pkg", "-c": "shell", "--call": "shell"}, "ro": False},
    "deno": {"ro": False, "risk": "caution", "why": "without a subcommand it runs what it is given", "sub": {"info|doc|lint|check|types|help|completions|outdated": _QUERY, "run|test|bench|task|serve|repl|eval|compile|bundle|cache|install|add|remove|uninstall|upgrade|init|jupyter|deploy|publish|fmt|vendor|coverage": _RUN}},
    "corepack": _RUN,
    "pip|uv-pip": _PIP,
    "python -m pip": _PIP,
    "python -m venv|python -m virtualenv|python -m ensurepip": {"pos": "write", "risk": "caution", "why": "it makes an environment"},
    "python -m http.server|python -m SimpleHTTPServer|python -m pyftpdlib|python -m smtpd|python -m aiosmtpd": {"pos": "text", "risk": "caution", "why": "it offers files of this machine on the network", "fx": ["network:server"], "opts": {"-d": "dir", "--directory": "dir", "-b": "val", "--bind": "val"}},
    "python -m compileall|python -m py_compile": {"pos": "read", "risk": "caution", "why": "it writes compiled files", "fx": ["writes:."]},
    "python -m pdb|python -m cProfile|python -m trace|python -m profile|python -m runpy": {"pos": "script", "risk": "caution", "opts": {"-o": "write", "-s": "val", "-m": "val", "-c": "val"}},
    "python -m zipfile|python -m tarfile": {"pos": "text", "risk": "caution", "opts": {"-l": "read", "--list": "read", "-t": "read", "-e": "read", "-c": "write"}, "fx": ["writes:."], "when": [["-l|--list|-t|--test", {"ro": True, "fx": [], "risk": "safe", "only": True}]]},
    "python -m base64": {"ro": True, "pos": "read"},
    "python -m timeit": {"ro": True, "pos": "code:python", "opts": {"-s": "code:python", "--setup": "code:python", "-n": "val", "-r": "val", "-u": "val"}},
    "uv": {
        "sub": {
            "--version|version|help|tree": _QUERY,
            "pip": _PIP,
            "add|sync|lock|tool|python|venv|init|build|export|cache|self|remove": {"pos": "text", "risk": "caution", "why": "it changes the environment", "fx": ["installs"], "when": [["arg0~^(?:list|dir|find|show)$", {"ro": True, "fx": [], "risk": "safe", "only": True}]]},
            "publish": _PUBLISH,
            "run": {"pos": "argv", "opts": {"--with": "pkg", "--python": "val", "-p": "val", "--extra": "val", "--group": "val", "--env-file": "read", "--directory": "val", "--project": "val", "-m": "val"}, "risk": "caution", "why": "it runs in the project's environment"},
        },
    },
    "uvx|pipx": {"sub": {"list|environment|--version|help": _QUERY, "install|upgrade|upgrade-all|inject|reinstall|reinstall-all|ensurepath|install-all": _INSTALL, "uninstall|uninstall-all|uninject": _REMOVE, "run|runpip": {"pos": "argv", "risk": "caution", "why": "it runs a program of a package"}}, "default": _RUN},
    "poetry|pdm|hatch|flit|pipenv|rye|pixi|micropipenv|pip-tools|pip-compile|pip-sync|maturin|twine|build|cibuildwheel|briefcase|shiv|pex|easy_install|conda-build|setup.py": {
        "sub": {"show|check|about|search|list|graph|info|help|--version|--where|--venv|--py|status|debug": _QUERY, "env|python|self|source|cache|config": {**_RUN, "when": [["arg0~^(?:info|list|show|activate)$", {"ro": True, "risk": "safe", "unknown": "", "only": True}], ["--list", {"ro": True, "risk": "safe", "unknown": "", "only": True}], ["arg0~^(?:remove|clear|rm)$", {"risk": "caution", "unknown": "", "why": "it deletes environments or caches"}]]}, "version": {**_RUN, "when": [["n=0", {"ro": True, "risk": "safe", "unknown": ""}]]}, "run": {"pos": "argv", "risk": "caution", "why": "it runs in the project's environment"}, "publish|upload": _PUBLISH, "install|add|sync|update|lock": _INSTALL, "remove|uninstall|clean": _REMOVE},
        "default": _RUN,
    },
    "conda|mamba|micromamba": {
        "sub": {
            "list|search|info|--version|help|compare|doctor": _QUERY,
            "install|create|update|upgrade": _INSTALL,
            "remove|uninstall|clean": {**_REMOVE, "opts": {"-n": "val", "-p": "val", "--name": "val"}, "when": [["--all", {"risk": "dangerous", "why": "it deletes a whole environment or cache"}]]},
            "env": {"pos": "text", "risk": "caution", "why": "it changes environments", "when": [["arg0~^(?:list|export)$", {"ro": True, "risk": "safe", "only": True}], ["arg0~^remove$", {"risk": "dangerous", "why": "it deletes a whole environment"}]]},
            "run": {"pos": "argv", "opts": {"-n": "val", "-p": "val", "--name": "val"}, "risk": "caution"},
            "activate|deactivate|init|config|build|develop|package|skeleton|rename|export": {"pos": "text", "risk": "caution", "why": "it changes the environment"},
            "config": {"pos": "text", "risk": "caution", "why": "it changes settings", "when": [["--show|--show-sources|--get|--describe|--validate !--set !--add !--append !--prepend !--remove !--remove-key !--write-default", {"ro": True, "risk": "safe"}]]},
            "repoquery|notices": _QUERY,
        },
    },
    "gem|bundle|bundler": {
        "sub": {
            "list|search|query|which|environment|env|info|outdated|specification|contents|dependency|show|check|platform|licenses|help|stale|viz|doctor|rdoc": _QUERY,
            "install|i|add|update|fetch|unpack|pristine|lock|package|cache|init|inject|binstubs|setup|config|sources|build|gem|cert": _INSTALL,
            "uninstall|cleanup|remove|clean": _REMOVE,
            "push": _PUBLISH,
            "yank|owner": {"pos": "text", "risk": "dangerous", "why": "it removes a published package or its owners", "fx": ["external_state:publish"]},
            "exec": {"pos": "argv", "risk": "caution", "why": "it runs in the project's environment"},
        },
        "default": _RUN,
    },
    "composer": {"sub": {"show|info|search|validate|outdated|licenses|depends|why|prohibits|why-not|status|diagnose|about|home|browse|suggests|audit|check-platform-reqs|fund": _QUERY, "remove|uninstall|rm": _REMOVE, "install|require|update|create-project|i|u|r|upgrade|global|self-update|selfupdate|init|bump|reinstall": _INSTALL}, "default": _RUN},
    "luarocks|cpan|cpanm|cpanminus|pecl|pear|raco|quicklisp|vcpkg|conan|hunter|spack|easybuild|eb|dub|alr|haxelib|bower|jspm|component|tlmgr|apm|code-ext|krew|asdf-plugin|vpkg|jpm|basher|bpkg|antigen|zinit|zplug|fisher|omf|tpm|vundle|plug|mason": {"pos": "text", "risk": "caution", "why": "it installs packages", "fx": ["installs"], "when": [["arg0~^(?:list|search|show|info|which|help|find|inspect)$", {"ro": True, "risk": "safe", "fx": [], "only": True}]]},
    "apt|apt-get|aptitude|apt-cache|nala|apt-mark|apt-file|apt-key|aptly": _APT,
    "apt-mark": {"pos": "text", "risk": "caution", "when": [["arg0~^show", {"ro": True, "risk": "safe", "only": True}]]},
    "apt-key|add-apt-repository|apt-add-repository|rpm-key|dnf-config-manager|yum-config-manager": {"pos": "text", "risk": "caution", "why": "it changes which sources are trusted", "when": [["arg0~^(?:list|finger|export)$", {"ro": True, "risk": "safe", "only": True}]]},
    "dpkg": {
        "pos": "text",
        "risk": "caution",
        "why": "it changes packages",
        "opts": {"--root": "val", "--admindir": "val"},
        "when": [["-l|--list|-L|--listfiles|-s|--status|-S|--search|-p|--print-avail|-I|--info|-c|--contents|--get-selections|--print-architecture|-C|--audit|-V|--verify|--version|--compare-versions|--print-foreign-architectures", {"ro": True, "risk": "safe", "only": True}], ["-i|--install|--unpack|-R", {"pos": "pkg", "fx": ["installs"]}], ["-P|--purge|-r|--remove", {"fx": ["installs:remove"]}], ["-r|--remove|-P|--purge --force-all|--force-depends|--force-remove-essential", {"risk": "dangerous", "why": "it removes packages by force"}], ["opt~^--force-remove|^--force-all", {"risk": "dangerous", "why": "it changes packages by force"}]],
    },
    "dpkg-query|dpkg-deb|apt-show-versions|deborphan|debfoster|debsums|rpmquery|repoquery|equery|eix|qlist|pkg-config|pkgconf|pkg_info|apt-rdepends|popularity-contest|check-support-status|dpkg-architecture|needrestart": {
        "ro": True,
        "pos": "text",
        "opts": {"-f": "val", "-W": "?val"},
        "when": [["--eval|--pipe|-E", {"ro": False, "risk": "dangerous", "why": "it evaluates macros, which run commands"}], ["-b|--build|-x|-X|--extract|-R|-e", {"ro": False, "risk": "caution", "fx": ["writes:."]}]],
    },
    "dpkg-reconfigure|debconf-set-selections|update-alternatives|alternatives|update-rc.d|update-initramfs|update-grub|grub-install|grub-mkconfig|grub2-mkconfig|dracut|mkinitcpio|mkinitrd|ldconfig|depmod|update-ca-certificates|update-ca-trust|trust|locale-gen|localedef|update-locale|dpkg-divert|dpkg-statoverride|newaliases|postmap|postalias|a2ensite|a2dissite|a2enmod|a2dismod|update-desktop-database|update-mime-database|gtk-update-icon-cache|fc-cache|mandb|makewhatis|updatedb|ucf|update-binfmts|kernel-install|bootctl|efibootmgr|grubby|grub-set-default|fw_setenv": {
        "pos": "text",
        "risk": "caution",
        "why": "it changes the system's settings",
        "opts": {"-o": "write"},
        "when": [["--list|--display|--query|--get-selections", {"ro": True, "risk": "safe", "only": True}]],
    },
    "ldconfig": {"pos": "text", "risk": "caution", "why": "it changes the system's settings", "opts": {"-f": "read", "-C": "write", "-r": "val"}, "when": [["-p|--print-cache", {"ro": True, "risk": "safe", "only": True}]]},
    "trust": {"pos": "text", "risk": "caution", "why": "it changes which certificates are trusted", "when": [["arg0~^(?:list|check-format)$", {"ro": True, "risk": "safe", "only": True}]]},
    "bootctl": {"pos": "text", "risk": "caution", "why": "it changes how the machine starts", "when": [["arg0~^(?:status|list|is-installed|systemd-efi-options)$", {"ro": True, "risk": "safe", "only": True}]]},
    "efibootmgr": {"pos": "text", "risk": "caution", "why": "it changes how the machine starts", "when": [["!opt~^-(?!v$|u$|-verbose$|-unicode$)", {"ro": True, "risk": "safe", "only": True}], ["-B|--delete-bootnum", {"risk": "dangerous", "why": "it deletes a boot entry"}]]},
    "dnf|yum|microdnf|dnf5|tdnf|yumdownloader|zypper|rpm-ostree|urpmi|urpme|swupd|eopkg|apt-rpm": _DNF,
    "zypper": {
        "sub": {
            "search|se|info|if|list-updates|lu|repos|lr|packages|pa|patterns|pt|what-provides|wp|services|ls|list-patches|lp|locks|ll|products|pd|ps|verify|ve": _QUERY,
            "install|in|addrepo|ar|source-install|si|refresh|ref|addlock|al|install-new-recommends|inr": _INSTALL,
            "remove|rm|removerepo|rr|removelock|rl|clean|cc": _REMOVE,
            "update|up|dist-upgrade|dup|patch|modifyrepo|mr|renamerepo|nr": _UPDATE,
        },
    },
    "rpm": {
        "pos": "text",
        "risk": "caution",
        "why": "it changes packages",
        "opts": {"--root": "val", "--eval": "code:rpm", "-E": "code:rpm", "--pipe": "shell", "--qf": "val", "--queryformat": "val"},
        "when": [["-q|--query|-V|--verify|-K|--checksig|--showrc|--querytags|--version !--pipe !--eval", {"ro": True, "risk": "safe", "only": True}], ["-i|-U|-F|--install|--upgrade", {"pos": "pkg", "fx": ["installs"]}], ["-e|--erase", {"fx": ["installs:remove"]}], ["-e|--erase --nodeps|--allmatches", {"risk": "dangerous", "why": "it removes packages by force"}]],
    },
    "pacman|yay|paru|pamac|trizen|pikaur|aurman|pacaur": {
        "pos": "pkg",
        "risk": "caution",
        "why": "it changes packages",
        "fx": ["installs"],
        "opts": {"--config": "read", "--root": "val", "--hookdir": "val", "-b": "val"},
        "when": [["-Q|--query|-T|-F|-V|--version", {"ro": True, "risk": "safe", "fx": [], "pos": "text", "only": True}], ["-S -s|-i|-l|-g !-y !-u", {"ro": True, "risk": "safe", "fx": [], "pos": "text", "only": True}], ["-R -d", {"risk": "dangerous", "why": "it removes packages without looking at what needs them"}]],
    },
    "makepkg": {"pos": "text", "risk": "caution", "why": "it builds a package", "unknown": "it runs what the package configures"},
    "apk": {"opts": {"-p": "val", "--root": "val", "-X": "val", "--repository": "val"}, "sub": {"info|list|search|policy|stats|version|dot|audit|verify|manifest": _QUERY, "add|update|upgrade|fix|fetch|cache": _INSTALL, "del": _REMOVE}},
    "brew|linuxbrew": _BREW,
    "port|fink": {"sub": {"list|search|info|installed|outdated|contents|deps|variants|help|version|provides|dependents|echo|cat": _QUERY, "install|upgrade|selfupdate|sync|activate": _INSTALL, "uninstall|deactivate|clean|reclaim": _REMOVE}},
    "snap": {"sub": {"list|find|info|version|help|changes|connections|interfaces|services|known|whoami|warnings|tasks|logs|get": _QUERY, "install|refresh|revert|enable|disable|connect|disconnect|set|unset|start|stop|restart|switch|alias|unalias|login|logout|try|download": _INSTALL, "remove": {**_REMOVE, "when": [["--purge", {"risk": "caution"}]]}, "run": {"pos": "argv", "risk": "caution"}}},
    "flatpak": {"sub": {"list|search|info|remotes|remote-ls|remote-info|history|ps|config|permissions|permission-show|documents": _QUERY, "install|update|remote-add|override|mask|pin|repair|make-current|remote-modify": _INSTALL, "uninstall|remove|remote-delete|kill": _REMOVE, "run|enter": {"pos": ["val", "text"], "risk": "caution", "why": "it runs an app", "opts": {"--command": "shell"}}}},
    "emerge|layman|eselect|xbps-install|xbps-remove|xbps-query|xbps-reconfigure|slackpkg|installpkg|removepkg|upgradepkg|sbopkg|guix|nix-env|nix-channel|nix-store|nix-collect-garbage|nixos-rebuild|home-manager|pkg|pkg_add|pkg_delete|pkgin|opkg|ipkg|tce-load|choco|scoop|winget|cards|prt-get|cave|mas|pkgutil|softwareupdate|installer|appimaged|steamcmd": {
        "pos": "text",
        "risk": "caution",
        "why": "it changes packages",
        "fx": ["installs"],
        "opts": {"-A": "val", "--attr": "val", "-f": "val", "-I": "val"},
        "when": [["arg0~^(?:list|search|show|info|query|which|help|find|status|history|generations|outdated)$", {"ro": True, "risk": "safe", "fx": [], "only": True}], ["--query|--search|--pretend|--list", {"ro": True, "risk": "safe", "fx": [], "only": True}], ["arg0~^(?:gc|garbage-collect)$", {"risk": "caution"}]],
    },
    "emerge": {"pos": "pkg", "risk": "caution", "why": "it changes packages", "fx": ["installs"], "when": [["-p|--pretend|-s|--search|-S|--searchdesc|--info", {"ro": True, "risk": "safe", "fx": [], "pos": "text", "only": True}]]},
    "nix-env|nix-store": {"pos": "text", "risk": "caution", "why": "it changes packages", "fx": ["installs"], "opts": {"-A": "val", "--attr": "val", "-f": "val", "-I": "val", "-p": "val", "--profile": "val"}, "when": [["-q|--query|--list-generations|--verify-path|--print-env !--install !-i !--delete", {"ro": True, "risk": "safe", "fx": [], "only": True}]]},
    "xbps-query|pkg_info|nix-locate|nix-tree|nix-diff|nix-instantiate": {"ro": True, "pos": "text"},
    "nix-collect-garbage": {"risk": "caution", "why": "it deletes packages that nothing needs", "pos": "text", "when": [["-d|--delete-old", {"risk": "dangerous", "why": "it deletes every older generation"}]]},
    "nix": {
        "verbs": "packages",
        "sub": {
            "shell|develop|run": {"pos": "pkg", "opts": {"-c": "argv", "--command": "argv"}, "risk": "caution", "why": "it builds and runs packages", "fx": ["installs"]},
            "build|profile|flake|copy|upgrade-nix|registry|store|collect-garbage": {"pos": "text", "risk": "caution", "why": "it changes packages", "fx": ["installs"], "when": [["arg0~^(?:list|show|metadata|check|history|ls|cat|diff-closures)$", {"ro": True, "risk": "safe", "fx": [], "only": True}]]},
            "repl": {"pos": "text", "risk": "caution", "why": "it runs what it is given", "unknown": "an interactive session"},
            "eval|search|why-depends|path-info|show-config|log|hash|key|doctor|derivation|print-dev-env": {"ro": True, "pos": "text"},
        },
    },
    "checkinstall|alien|fpm|nfpm|debuild|dpkg-buildpackage|rpmbuild|mock|pbuilder|sbuild|dh_make|dput|debsign|dch|abuild|linuxdeploy|appimagetool|snapcraft|flatpak-builder|goreleaser|cargo-deb|cargo-release": {"pos": "text", "risk": "caution", "why": "it builds packages", "unknown": "it runs what the package's build says"},
}  # fmt: skip
