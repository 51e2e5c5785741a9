"""What a path means, by its spelling alone: temporary, of the system, secret, started at login.

Pure text: nothing is looked up on disk. A path is made absolute against the tracked directory when that
is known, and `..` is resolved, so that `/tmp/../etc` is `/etc`.
"""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re

from holdfast.shell.lazy import Lazy

_TEMPORARY = Lazy(r"(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev/shm)/(?P<rest>.+)", re.DOTALL)
_SYSTEM_ROOTS = frozenset(
    "bin boot dev etc lib lib32 lib64 proc root run sbin srv sys usr var opt System Library Applications"
    " private Windows".split()
)
_DEVICE = Lazy(
    r"/dev/(?:[shv]d[a-z]\w*|xvd[a-z]\w*|nvme\d\w*|mmcblk\d\w*|r?disk\d\w*|md\d+|dm-\d+|mapper/\S+|loop\d+"
    r"|mem|kmem|port|sr\d|block/\S*|[shv]d[*?\[]\S*)\Z"
)
_HARMLESS_DEVICES = frozenset(
    "/dev/null /dev/stdout /dev/stderr /dev/tty /dev/stdin /dev/zero /dev/full /dev/random /dev/urandom"
    " /dev/fd/0 /dev/fd/1 /dev/fd/2".split()
)
# Who logs in, who may become root, what starts by itself: writing here is how an intruder stays.
_PERSISTENCE = Lazy(
    r"(?:^|/)\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zprofile|zshenv|zlogin"
    r"|shrc|kshrc|cshrc|tcshrc|login|xinitrc|xsessionrc|xprofile|inputrc|pam_environment|rhosts|netrc|forward)\Z"
    r"|(?:^|/)\.config/(?:fish/(?:config\.fish|conf\.d/.*)|autostart/.*|systemd/.*)\Z"
    r"|(?:^|/)\.ssh/(?:authorized_keys2?|config|rc|environment)\Z"
    r"|(?:^|/)Library/(?:LaunchAgents|StartupItems|Preferences/ByHost/com\.apple\.loginwindow)"
    r"|/(?:site|dist)-packages/(?:[^/]+\.pth|sitecustomize\.py|usercustomize\.py)\Z"
    r"|^(?:/private)?/etc/(?:passwd|shadow|gshadow|group|sudoers|sudoers\.d/.*|cron[^/]*(?:/.*)?|anacrontab|crontab"
    r"|rc\.local|rc\.common|rc\.conf|emond\.d/.*|rc\d\.d/.*|init\.d/.*|init/.*|inittab|profile|profile\.d/.*|bash\.bashrc|bashrc|zsh/.*|zshrc"
    r"|environment|ld\.so\.(?:preload|conf)(?:\.d/.*)?|pam\.d/.*|security/.*|ssh/.*|systemd/.*|xdg/autostart/.*"
    r"|update-motd\.d/.*|hosts\.equiv|fstab|polkit-1/.*|doas\.conf|apt/apt\.conf\.d/.*)\Z"
    r"|^/usr/local/etc/rc\.d/|^/(?:usr/)?lib/systemd/|^/var/spool/cron|^/Library/Launch"
    r"|(?:^|/)\.git/hooks/",
)
_SECRET = Lazy(
    r"(?:^|/)\.(?:ssh|gnupg|aws|azure|kube|docker/config\.json|config/gcloud|config/gh|config/glab-cli|config/hub"
    r"|config/(?:doctl|op|sops|configstore|git/credentials|containers/auth\.json|pypoetry/auth\.toml)"
    r"|composer/auth\.json|m2/settings\.xml|gradle/gradle\.properties|docker/auth\.json|netrc|pgpass|my\.cnf|npmrc"
    r"|pypirc|git-credentials|vault-token|password-store|mozilla|bash_history|zsh_history|python_history"
    r"|psql_history|mysql_history|history|htpasswd|boto|s3cfg|terraform\.d|cargo/credentials(?:\.toml)?"
    r"|gem/credentials|rclone\.conf|config/rclone|Xauthority|credentials)(?:/|\Z)"
    r"|(?:^|/)\.?env(?:\.[\w-]+)?\Z|(?:^|/)\.envrc\Z"
    r"|(?:^|/)id_(?:rsa|dsa|ecdsa|ed25519)[^/]*\Z"
    r"|\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)\Z"
    r"|^(?:/private)?/etc/(?:shadow|gshadow|sudoers|master\.passwd|ssl/private|krb5\.keytab|ssh/ssh_host"
    r"|kubernetes/(?:admin|kubelet|controller-manager|scheduler|super-admin)\.conf"
    r"|kubernetes/pki|ipsec\.secrets|ppp/(?:chap|pap)-secrets|wireguard|NetworkManager/system-connections)"
    r"|(?:^|/)(?:secrets?|credentials?|passwords?|passwd|tokens?|api_?keys?|private_?keys?|service[-_]account)"
    r"(?:\.[A-Za-z0-9]+)*\Z|(?:^|/)(?:secrets|credentials)/|/etc/passwd\Z|^/proc/(?:self|thread-self|\d+|[*?$]\S*)/(?:environ|mem|kcore)\Z|^/proc/kcore"
    r"|^/(?:var/)?run/secrets/|(?:^|/)Library/Keychains/|\.keychain(?:-db)?\Z|(?:^|/)\.local/share/keyrings/"
    r"|wallet\.dat\Z|(?:^|/)(?:Login Data|Cookies|logins\.json|key4\.db)\Z",
    re.IGNORECASE,
)
# A copy, packed or put aside, holds what the original holds.
_WRAPPED = Lazy(r"(?:\.(?:gz|bz2|xz|zst|lz4|zip|tar|tgz|7z|bak|backup|old|orig|save|b64|enc|swp))+\Z")
_NOT_SECRET = Lazy(r"(?:\.pub|\.example|\.sample|\.template|\.dist|\.md|known_hosts)\Z")
_SCRATCH_VARIABLE = Lazy(r"\$(?:TMPDIR|\{TMPDIR\}|\{TMPDIR:?-[^}]*\}|TEMP|TMP|RUNNER_TEMP|XDG_RUNTIME_DIR)/.+")


def normalise(path: str) -> str:
    """`a/./b//c/..` -> `a/b`: lexically, as a symbolic link cannot be seen from here."""
    if not path:
        return path
    absolute = path.startswith("/")
    kept: list[str] = []
    for piece in path.split("/"):
        if piece in ("", "."):
            continue
        if piece == ".." and kept and kept[-1] != ".." and not kept[-1].startswith(("~", "$")):
            kept.pop()
        elif piece == ".." and absolute and not kept:
            continue
        else:
            kept.append(piece)
    text = "/".join(kept)
    return "/" + text if absolute else text or "."


def absolute(path: str, cwd: str | None, home: str | None) -> str:
    """The path against `cwd`, and `~` against `home`, where they are known."""
    if path.startswith("~"):
        if home is not None and (path == "~" or path.startswith("~/")):
            path = home.rstrip("/") + path[1:]
        else:
            return normalise(path)
    if path.startswith("$"):
        return normalise(path)
    if cwd is not None and not path.startswith("/"):
        path = f"{cwd}/{path}" if cwd != "/" else f"/{path}"
    return normalise(path)


def is_temporary(path: str) -> bool:
    """Below a folder meant for throw-away files; the folder itself is not."""
    match = _TEMPORARY.match(path)
    if match is not None:
        return not match["rest"].startswith("..")
    return bool(_SCRATCH_VARIABLE.match(path)) and "/.." not in path


def is_harmless_device(path: str) -> bool:
    return path in _HARMLESS_DEVICES or path.startswith(("/dev/fd/", "/dev/pts/", "/proc/self/fd/"))


def is_device(path: str) -> bool:
    return _DEVICE.match(path) is not None


def is_root_like(path: str) -> bool:
    """The whole machine, a whole home, or everything in it."""
    stripped = path.rstrip("*").rstrip("/") or "/"
    return stripped in ("/", "~", "$HOME", "/home", "/root", "/Users", "/.", "C:", "c:") or (
        re.fullmatch(r"(?:/home|/Users)/[^/]+|~[\w-]*|\$\{?HOME\}?|[A-Za-z]:\\?", stripped) is not None
    )


def is_system(path: str) -> bool:
    if not path.startswith("/") or is_temporary(path) or is_harmless_device(path):
        return False
    first = path[1:].split("/", 1)[0]
    return first in _SYSTEM_ROOTS or first == "" or "*" in first or "?" in first


_CRITICAL = Lazy(r"/(?:s?bin|usr/s?bin|lib\w*|usr/lib\w*|boot|dev|System|Windows)/.")


def is_critical(path: str) -> bool:
    """A program, a library, the boot files or a device: what the machine itself consists of."""
    return _CRITICAL.match(path) is not None and not is_harmless_device(path)


def is_persistence(path: str) -> bool:
    return _PERSISTENCE.search(path) is not None


# Where the machine keeps its record of who did what: emptying or replacing one destroys it.
_RECORDS = Lazy(
    r"(?:/private)?/var/(?:log/(?:messages|syslog|secure|auth\.log|kern\.log|daemon\.log|system\.log|cron|boot\.log|dmesg"
    r"|audit(?:/.*)?|journal(?:/.*)?|wtmp|btmp|utmp|lastlog|faillog|maillog|mail\.log|install\.log|utx\..*|sudo\.log"
    r"|(?:apache2|httpd|nginx)/(?:access|error)\S*)|run/utmp|spool/mail/[^/]+|audit/.*)\Z"
)


def is_record(path: str) -> bool:
    return _RECORDS.match(path) is not None


def is_secret(path: str) -> bool:
    bare = _WRAPPED.sub("", path) if path[-1:].isalnum() else path.rstrip("*?")
    if bare != path and _SECRET.search(bare) is not None and _NOT_SECRET.search(bare) is None:
        return True
    return _SECRET.search(path) is not None and _NOT_SECRET.search(path) is None
