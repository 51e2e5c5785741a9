"""What no call may touch, as data: the plane and the hosts add their own.

Two kinds. Some things nobody's agent should destroy. The others are how an agent could free itself: Holdfast's own
home and program, the daemon, and the settings that make a host call Holdfast at all (PE10).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

# Deleting or handing over one of these as a whole ends the machine or an account.
SYSTEM_ROOTS: frozenset[str] = frozenset(
    {
        "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/media", "/mnt", "/opt", "/proc",
        "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/usr/bin", "/usr/include", "/usr/lib", "/usr/lib64",
        "/usr/local", "/usr/local/bin", "/usr/local/lib", "/usr/sbin", "/usr/share", "/var", "/var/lib", "/var/log",
        "/Applications", "/Library", "/Network", "/System", "/Users", "/Volumes", "/private", "/private/etc",
        "/private/var",
    }
)  # fmt: skip

# Writing here destroys a disk, the running kernel or the next start.
DEVICES: tuple[str, ...] = (
    "/dev/{s,h,v,xv}d[a-z]*", "/dev/nvme[0-9]*", "/dev/mmcblk*", "/dev/{disk,rdisk}*", "/dev/md[0-9]*", "/dev/dm-*",
    "/dev/mapper/*", "/dev/loop[0-9]*", "/dev/disk/**", "/dev/block/**", "/dev/mem", "/dev/kmem", "/dev/port",
    "/proc/sysrq-trigger", "/proc/sys/kernel/**", "/proc/kcore", "/sys/firmware/**", "/sys/power/**",
    "/sys/kernel/**", "/boot/**", "/efi/**",
)  # fmt: skip

# The settings by which the hosts know Holdfast; `**/` because a project may hold its own copy that wins.
HOST_SETTINGS: tuple[str, ...] = (
    "/**/.claude/settings*.json", "/**/.claude/{remote-settings,managed-settings}.json", "/**/.claude.json",
    "/etc/claude-code/**", "/Library/Application Support/ClaudeCode/**",
    "/**/.codex/hooks.json", "/**/.codex/*.toml", "/etc/codex/**",
    "/**/.gemini/settings.json", "/**/.gemini/trustedFolders.json", "/**/.gemini/.env", "/**/.gemini/extensions/**",
    "/etc/gemini-cli/**", "/Library/Application Support/GeminiCli/**",
    "/**/opencode.{json,jsonc}", "/**/.opencode/{plugin,plugins}/**", "/**/.config/opencode/**",
)  # fmt: skip
# What a host would start in place of us, or of itself; what Python runs before any program of ours.
SHIMS: tuple[str, ...] = (
    "/**/bin/holdfast", "/**/bin/holdfast-*", "/**/bin/{claude,codex,opencode,gemini}",
    "/**/{site,dist}-packages/{sitecustomize,usercustomize}.py", "/**/{site,dist}-packages/*.pth",
)  # fmt: skip
# Removing or moving one of these takes the settings along.
HOST_FOLDERS: tuple[str, ...] = (
    "/**/.claude", "/**/.codex", "/**/.gemini", "/**/.opencode", "/**/.config/opencode", "/**/.config",
)  # fmt: skip

# Where browsers keep what lets the user into Holdfast's page: cookies and the storage of origins, in the user's home.
BROWSER_PROFILES: tuple[str, ...] = (
    ".mozilla/firefox", "snap/firefox/common/.mozilla/firefox", ".var/app/org.mozilla.firefox/.mozilla/firefox",
    ".config/google-chrome", ".config/google-chrome-beta", ".config/chromium", "snap/chromium/common/chromium",
    ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera",
    "Library/Application Support/Firefox", "Library/Application Support/Google/Chrome",
    "Library/Application Support/Chromium", "Library/Application Support/BraveSoftware",
    "Library/Application Support/Microsoft Edge", "Library/Safari", "Library/Cookies",
)  # fmt: skip

# By these a process gives away its memory and its open files.
PROCESS_SECRETS: tuple[str, ...] = ("environ", "mem", "maps", "fd/**", "map_files/**", "root/**", "cwd/**")

# Of Holdfast's own commands an agent may run these; every other one is for people.
HARMLESS_COMMANDS: tuple[str, ...] = (
    "--help", "-h", "--version", "version", "help", "status", "search", "why", "doctor", "explain",
    "shell explain", "rules list", "rules test", "rules explain", "rules templates", "rules simulate",
    "config show", "config path", "audit show", "audit list", "audit verify", "sessions list", "sessions show",
    "chain list", "chain show", "approvals list", "memory show", "memory status", "memory propose", "mode show",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HostProgram:
    """A host's command line, and what on it would start an agent that Holdfast does not see."""

    name: str
    flags: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    """Names of environment variables; a final `*` stands for any ending."""
    words: tuple[str, ...] = ()
    """Parts of an argument, such as a key of inline settings."""
    packages: tuple[str, ...] = ()
    """What it is called in a registry, for `npx` and its kin."""
    commands: tuple[str, ...] = ()
    """Subcommands that change what it loads."""


_ANY_HOST_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "HOLDFAST_*", "MEMORY_BANK_*")
HOST_PROGRAMS: tuple[HostProgram, ...] = (
    HostProgram(
        "claude",
        flags=("--settings", "--setting-sources", "--bare", "--safe-mode"),
        variables=("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_*", *_ANY_HOST_VARIABLES),
        words=("disableAllHooks",),
        packages=("@anthropic-ai/claude-code",),
        commands=("config set", "config remove"),
    ),
    HostProgram(
        "codex",
        flags=("--dangerously-bypass-hook-trust", "--profile", "-p", "--disable", "--enable", "--ignore-user-config"),
        variables=("CODEX_HOME", *_ANY_HOST_VARIABLES),
        words=("hooks", "features."),
        packages=("@openai/codex",),
        commands=("features enable", "features disable", "app-server", "remote-control"),
    ),
    HostProgram(
        "opencode",
        flags=("--pure",),
        variables=("OPENCODE_*", *_ANY_HOST_VARIABLES),
        packages=("opencode-ai",),
        commands=("plugin", "plug", "uninstall"),
    ),
    HostProgram(
        "gemini",
        # in a container of its own the hooks' program is not there, and a hook that cannot start lets the call pass
        flags=("--extensions", "-e", "--sandbox", "-s"),
        variables=("GEMINI_CLI_*", "GEMINI_SANDBOX", *_ANY_HOST_VARIABLES),
        words=("/hooks disable", "/hooks panel"),
        packages=("@google/gemini-cli",),
        commands=("hooks", "hook", "extensions disable", "extensions uninstall", "extension disable"),
    ),
)


@dataclass(frozen=True, slots=True)
class Protected:
    """Everything the hard limits guard. Paths are absolute globs over where a file really lies."""

    user_home: str
    never_changed: tuple[str, ...]
    never_read: tuple[str, ...]
    never_deleted: tuple[str, ...] = ()
    """Folders that hold something of `never_changed`: their content may change, they may not go."""
    never_swept: tuple[str, ...] = ()
    """Of `never_read`, what is there on every machine: nothing may go through a folder around it."""
    always_readable: tuple[str, ...] = ()
    """Exceptions to `never_read`: what Holdfast itself tells the agent to read."""
    roots: frozenset[str] = SYSTEM_ROOTS
    devices: tuple[str, ...] = DEVICES
    programs: frozenset[str] = frozenset({"holdfast"})
    harmless_commands: tuple[str, ...] = HARMLESS_COMMANDS
    host_programs: tuple[HostProgram, ...] = HOST_PROGRAMS
    ports: frozenset[int] = field(default_factory=frozenset)
    """Where Holdfast's own API listens."""
    pids: frozenset[int] = field(default_factory=frozenset)
    """Holdfast's own processes."""
    process_names: tuple[str, ...] = ("holdfast",)
    """Their names, as `pkill` and `killall` see them."""
    process_lines: tuple[str, ...] = (
        "python3 -m holdfast.doors.daemon_process",
        "python3 -m holdfast daemon run",
        "python3 -I -S /holdfast/doors/hook_client.py claude-code codex gemini",
    )
    """Their command lines, as `pkill -f` sees them."""
    home: str = ""
    """Holdfast's home."""


def standard_protection(
    *,
    home: str,
    user_home: str,
    ports: Iterable[int] = (),
    pids: Iterable[int] = (),
    further: Iterable[str] = (),
    secrets: Iterable[str] = (),
    process_names: tuple[str, ...] = ("holdfast",),
) -> Protected:
    """What is guarded on every machine. `home` is Holdfast's home, `further` more paths that may not be changed
    (the installed program, a host's settings in an unusual place), `secrets` files that hold our token."""
    home = home.rstrip("/") or "/"
    user_home = user_home.rstrip("/") or "/"
    pids = frozenset(pids)
    inside = tuple(f"/proc/{pid}/{name}" for pid in sorted(pids) for name in PROCESS_SECRETS)
    own = (
        *(glob_of(f"{home}/{name}") for name in ("run", "credentials", "data")),
        *(glob_of(f"{home}/{name}") + "/**" for name in ("run", "data")),
        glob_of(f"{home}/credentials") + "*",
        *map(glob_of, secrets),
    )
    profiles = tuple(glob_of(f"{user_home}/{name}") + "/**" for name in BROWSER_PROFILES)
    return Protected(
        user_home=user_home,
        never_changed=(glob_of(home) + "/**", *HOST_SETTINGS, *SHIMS, *further, *inside),
        never_read=(*own, *profiles, *inside),
        never_swept=own,
        never_deleted=HOST_FOLDERS,
        always_readable=(glob_of(f"{home}/data/outputs") + "/**",),
        ports=frozenset(ports),
        pids=pids,
        process_names=process_names,
        home=home,
    )


def glob_of(path: str) -> str:
    """A glob that matches this path only."""
    return "".join("\\" + char if char in "*?[{\\" else char for char in path)
