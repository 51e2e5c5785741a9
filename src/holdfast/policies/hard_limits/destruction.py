"""What no agent may destroy: the machine, its disks, a home, the vault as a whole, everybody's processes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.core.events import ToolCall
from holdfast.core.messages import Message, Phrase
from holdfast.policies.hard_limits.path_set import PathSet
from holdfast.policies.hard_limits.protected import Protected
from holdfast.shell.reading import CommandReading, Effect, SimpleCommand

DESTROYS_ROOT = Phrase(
    "hard_limits.destroys_root",
    "`{what}` would destroy {path} as a whole. No mode and no rule allows that.",
    "`{what}` 会整体毁掉 {path}。任何模式、任何规则都不允许。",
)
DESTROYS_VAULT = Phrase(
    "hard_limits.destroys_vault",
    "`{what}` would delete the whole vault ({path}). No mode and no rule allows that; name what should go.",
    "`{what}` 会删除整个 Vault（{path}）。任何模式、任何规则都不允许；请写明具体要删除的内容。",
)
WRITES_DEVICE = Phrase(
    "hard_limits.writes_device",
    "`{what}` would write to {path}, which destroys a disk or the running system. Nothing allows that.",
    "`{what}` 会写入 {path}，将毁坏磁盘或运行中的系统。任何情况都不允许。",
)
FORMATS = Phrase(
    "hard_limits.formats",
    "`{what}` would format or repartition a disk. No mode and no rule allows that.",
    "`{what}` 会格式化磁盘或重新分区。任何模式、任何规则都不允许。",
)
STOPS_MACHINE = Phrase(
    "hard_limits.stops_machine",
    "`{what}` would stop or restart the machine. No mode and no rule allows that.",
    "`{what}` 会关闭或重启机器。任何模式、任何规则都不允许。",
)
FORK_BOMB = Phrase(
    "hard_limits.fork_bomb",
    "`{what}` would start copies of itself without end. No mode and no rule allows that.",
    "`{what}` 会无限复制自身进程。任何模式、任何规则都不允许。",
)
KILLS_ALL = Phrase(
    "hard_limits.kills_all",
    "`{what}` would end every process, or the first one. No mode and no rule allows that.",
    "`{what}` 会终止所有进程或首个进程。任何模式、任何规则都不允许。",
)

_EVERYTHING_IN = re.compile(r"(?:/(?:\*+|\.\*|\.\?\?\*|\.\[!\.\]\*|\{\*,\.\*\}|\.))+/*\Z")
_FORMATTERS = re.compile(r"(?:mkfs|newfs|mke2fs|mkswap|mkdosfs|mkntfs|newfs_)[\w.-]*\Z")
_PARTITIONERS = frozenset(
    ("fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk", "parted", "wipefs", "blkdiscard", "shred", "badblocks", "hdparm")
)
_ONLY_LISTS = frozenset(("-l", "--list", "print", "-p", "--print", "-n", "--no-act", "-i", "-I", "--help", "--version"))
_STOPPERS = frozenset(("shutdown", "reboot", "halt", "poweroff", "kexec"))
_STOPPING_UNITS = frozenset(
    ("poweroff", "reboot", "halt", "kexec", "soft-reboot", "emergency", "rescue", "suspend", "hibernate")
)
_REMOTE = re.compile(r"ssh:[^/]*?:(?=/)")
_FIND_NARROWS = re.compile(r"-(?:i?name|i?path|i?regex|[acm]time|[acm]min|newer\w*|size|empty|user|group|inum|links)\Z")


class Destruction:
    """Finds the first thing in a call that must never happen."""

    def __init__(self, protected: Protected) -> None:
        self._roots = protected.roots | {protected.user_home}
        self._devices = PathSet(protected.devices)

    def judge(self, call: ToolCall) -> Iterator[Message]:
        if call.reading is None and call.domain != "edit":
            return
        what = _what(call)
        vault = _vault_root(call)
        for access in call.accesses:
            if access.verb == "write" and self._devices.holds(access.path):
                yield WRITES_DEVICE(what=what, path=access.path)
            if access.verb == "delete" and call.reading is None:
                yield from self._deleted(access.path, what, vault)
        if call.reading is None:
            return
        for effect in call.reading.effects:
            yield from self._effect(effect, what, vault)
        for command in call.reading.simple_commands:
            yield from _command(command)
        if "fork_bomb" in _codes(call.reading):
            yield FORK_BOMB(what=what)

    def _effect(self, effect: Effect, what: str, vault: str) -> Iterator[Message]:
        here = effect.path or not effect.target.startswith(("ssh:", "container:"))
        path = effect.target if here else _REMOTE.sub("", effect.target, count=1)
        if not path.startswith("/"):
            return
        if effect.kind == "deletes":
            narrow = effect.detail == "find" and effect.by is not None and _finds_some(effect.by)
            if not narrow or path in ("/", "/*"):
                yield from self._deleted(path, what, vault)
        elif effect.kind == "changes_permissions" and effect.by is not None and _recursive(effect.by):
            yield from self._deleted(path, what, "")
        elif effect.kind == "writes" and self._devices.holds(path):
            yield WRITES_DEVICE(what=what, path=path)

    def _deleted(self, path: str, what: str, vault: str) -> Iterator[Message]:
        base = _EVERYTHING_IN.sub("", path) or "/"
        if base in self._roots or _is_top_of_everything(base):
            yield DESTROYS_ROOT(what=what, path=base)
        elif vault and (base == vault or vault.startswith(base.rstrip("/") + "/")):
            yield DESTROYS_VAULT(what=what, path=vault)


def _is_top_of_everything(path: str) -> bool:
    """`/*` and the like, and every home at once."""
    return bool(re.fullmatch(r"/[*?.\[\]]+|/(?:home|Users)/[*?]+|/(?:home|Users)/[^/]+", path))


def _vault_root(call: ToolCall) -> str:
    for access in call.accesses:
        if access.target.scheme == "vault" and access.path:
            return access.path if access.target.value == "/" else access.path.removesuffix(access.target.value)
    return ""


def _command(command: SimpleCommand) -> Iterator[Message]:
    name, words = command.name, command.argv[1:]
    if _formats(name, words):
        yield FORMATS(what=command.text)
    elif (
        (name in _STOPPERS and not {"--help", "-c", "--version"} & set(words))
        or (name in ("init", "telinit") and words[:1] and words[0] in ("0", "6", "1", "s", "S"))
        or (name in ("systemctl", "loginctl") and _STOPPING_UNITS & set(words))
    ):
        yield STOPS_MACHINE(what=command.text)
    elif name == "killall5" or (name == "kill" and _kills_all(words)):
        yield KILLS_ALL(what=command.text)


def _formats(name: str, words: tuple[str, ...]) -> bool:
    if _FORMATTERS.match(name):
        return not {"--help", "--version", "-V"} & set(words)
    if name in _PARTITIONERS:
        return any(word.startswith("/dev/") for word in words) and not _ONLY_LISTS & set(words)
    if name == "cryptsetup":
        return any(word.lower() in ("luksformat", "luks-format", "reencrypt", "erase", "luks-erase") for word in words)
    return name == "diskutil" and any(
        word.lower().startswith(("erase", "partition", "zero", "secureerase")) for word in words
    )


def _kills_all(words: tuple[str, ...]) -> bool:
    """`kill -9 -1` ends everything one may end; `kill 1` ends the first process."""
    if "-l" in words or "-L" in words:
        return False
    targets = list(words)
    if targets and re.match(r"-(?:\d+|[A-Za-z]+\d*)\Z", targets[0]) and targets[0] not in ("-s", "-n"):
        targets = targets[1:]
    elif targets and targets[0] in ("-s", "-n"):
        targets = targets[2:]
    return any(target in ("-1", "1") for target in targets)


def _recursive(command: SimpleCommand) -> bool:
    return any(re.match(r"-[A-Za-z]*R|--recursive\Z", word) for word in command.argv[1:])


def _finds_some(command: SimpleCommand) -> bool:
    return any(_FIND_NARROWS.match(word) for word in command.argv[1:])


def _codes(reading: CommandReading) -> tuple[str, ...]:
    return (reading.reason_code, *reading.danger_codes)


def _what(call: ToolCall) -> str:
    text = call.reading.command if call.reading is not None else call.host_tool or call.tool
    return text if len(text) <= 200 else text[:197] + "..."
