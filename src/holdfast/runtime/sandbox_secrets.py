"""What no command may see: keys, log-ins, other people's homes, and every socket through which it could act outside.

The names come from the permission rules' own table of credentials, so that what is asked about when named is hidden
when it is not.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from holdfast.core.default_rules import CREDENTIAL_FILES, CREDENTIAL_FOLDERS
from holdfast.runtime.sandbox import Outside

# Beyond the credentials: what opens sessions, talks to agents, or tells what was typed.
_MORE_IN_HOME = (
    ".Xauthority", ".ICEauthority", ".pki", ".docker", ".config/containers/auth.json", ".config/Signal",
    ".config/Slack",
    ".config/discord", ".local/share/TelegramDesktop", ".config/keepassxc", ".config/Bitwarden", ".config/1Password",
    ".config/evolution", ".config/git/credentials", ".config/github-copilot", ".databrickscfg", ".snowflake", ".fly",
    ".vercel", ".netlify", ".config/configstore", ".claude", ".claude.json", ".codex", ".gemini",
    ".local/share/opencode", ".mail", "Mail", "Maildir",
)  # fmt: skip
_ABSOLUTE = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/krb5.keytab", "/etc/NetworkManager/system-connections", "/etc/wireguard", "/etc/openvpn", "/etc/letsencrypt",
    "/etc/kubernetes", "/etc/rancher", "/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/lib/mysql",
    "/var/lib/postgresql", "/var/lib/redis", "/var/lib/mongodb", "/var/lib/sss", "/var/lib/NetworkManager",
    "/var/spool", "/var/mail", "/var/backups",
)  # fmt: skip
_KEYS_OF_THIS_HOST = "/etc/ssh"


def hidden_paths(outside: Outside) -> list[Path]:
    """Every existing path that is to be hidden, parents instead of their children, in order."""
    found: set[Path] = set()
    for path in (*_candidates(outside), *outside.hidden):
        real = _real(path)
        if real is not None and real != Path("/"):
            found.add(real)
    return sorted(path for path in found if not any(parent in found for parent in path.parents))


def _candidates(outside: Outside) -> Iterator[Path]:
    yield outside.home
    for home in {outside.user_home, *_homes_of_the_environment()}:
        yield from _secrets_of(home)
    yield from (Path(name) for name in _ABSOLUTE)
    yield from _named_secrets(Path(_KEYS_OF_THIS_HOST))
    yield from other_homes(outside)


def _homes_of_the_environment() -> Iterator[Path]:
    home = os.environ.get("HOME", "")
    if home.startswith("/"):
        yield Path(os.path.realpath(home))


def _secrets_of(home: Path) -> Iterator[Path]:
    for pattern in CREDENTIAL_FOLDERS:
        if not pattern.startswith("/**/"):
            continue
        relative = pattern.removeprefix("/**/").removesuffix("/**")
        if "*" in relative:
            folder, _, name = relative.rpartition("/")
            yield from _matching(home / folder, (name,))
        else:
            yield home / relative
    for name in _MORE_IN_HOME:
        yield home / name
    yield from _named_secrets(home)


def _named_secrets(folder: Path) -> Iterator[Path]:
    """Files directly in a folder that are credentials by their name."""
    yield from _matching(folder, CREDENTIAL_FILES)


def _matching(folder: Path, patterns: Iterable[str]) -> Iterator[Path]:
    try:
        found = list(folder.iterdir())
    except OSError:
        return
    yield from (path for path in found if any(fnmatchcase(path.name, pattern) for pattern in patterns))


def other_homes(outside: Outside, roots: Sequence[Path] = (Path("/home"), Path("/Users"))) -> Iterator[Path]:
    """Homes of other people; one that is, holds or leads to the user's own is left."""
    for root in roots:
        try:
            homes = [Path(os.path.realpath(home)) for home in root.iterdir() if home.name != "Shared"]
        except OSError:
            continue
        yield from (home for home in homes if not outside.user_home.is_relative_to(home))
    root_home = Path("/root")
    if not outside.user_home.is_relative_to(root_home) and os.access(root_home, os.R_OK):
        yield root_home


def _real(path: Path) -> Path | None:
    """Where it really lies, None when there is nothing: masking a link would leave what it leads to."""
    real = Path(os.path.realpath(path))
    try:
        return real if real.exists() else None
    except OSError:
        return None


def sockets() -> list[Path]:
    """The socket files that programs of this machine listen on; a read-only mount does not keep anybody from them."""
    found: set[Path] = set()
    with contextlib.suppress(OSError), open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as table:
        for line in table:
            path = line.rstrip("\n").partition("/")
            if path[1]:
                found.add(Path("/" + path[2]))
    return sorted(filter(_is_socket, found))


def _is_socket(path: Path) -> bool:
    try:
        return path.is_socket()
    except OSError:
        return False  # out of our reach, so out of the command's


_PASSED = frozenset(
    (
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "COLUMNS", "LINES", "VIRTUAL_ENV",
        "CONDA_PREFIX", "PYENV_ROOT", "PYENV_VERSION", "NVM_DIR", "NVM_BIN", "VOLTA_HOME", "FNM_DIR", "GOPATH",
        "GOROOT",
        "GOFLAGS", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "JAVA_HOME", "GRADLE_HOME", "MAVEN_HOME", "M2_HOME",
        "RBENV_ROOT", "GEM_HOME", "GEM_PATH", "DOTNET_ROOT", "ANDROID_HOME", "NIX_PATH", "NIX_PROFILES",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CI",
    )
)  # fmt: skip
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")


def command_environment(
    environ: Mapping[str, str], *, network: bool, passed: Iterable[str] = (), temp: str = "/tmp"
) -> dict[str, str]:
    """The environment of a command: what is known to be harmless, what the user named, and nothing else."""
    wanted = {*_PASSED, *passed}
    env = {name: value for name, value in environ.items() if name in wanted or name.startswith("LC_")}
    if network:
        for name in (*_PROXIES, *(name.upper() for name in _PROXIES)):
            value = environ.get(name)
            if value and "@" not in value:  # a password in it stays here
                env[name] = value
    env.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
    env.update(
        TMPDIR=temp, XDG_CACHE_HOME=f"{temp}/.cache", npm_config_cache=f"{temp}/.npm", TERM="dumb", PAGER="cat",
        GIT_PAGER="cat", GIT_TERMINAL_PROMPT="0", HOLDFAST_SANDBOX="1",
    )  # fmt: skip
    return env
