"""Ending, stopping, looking into or cutting off Holdfast's own processes (PE10)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.core.messages import Message
from holdfast.core.targets import absolute, is_inside
from holdfast.policies.hard_limits.phrases import CUTS_OFF, ENDS_GUARD, TOUCHES_PROCESS
from holdfast.policies.hard_limits.protected import Protected
from holdfast.shell.reading import CommandReading, SimpleCommand

TOKENS = re.compile(r"[\s:/@,=\[\]\"'?&;()<>|]+")
_NAMERS = frozenset(("pkill", "killall", "skill", "snice", "fkill", "taskkill"))
_FINDERS = frozenset(("pgrep", "pidof", "ps", "lsof", "ss", "netstat", "fuser", "grep", "egrep", "rg", "awk", "gawk",
                      "sed", "systemctl", "jq", "cut", "pstree", "top"))  # fmt: skip
"""What people take process numbers from."""
_TAKES_VALUE = frozenset(("-u", "-U", "-g", "-G", "-P", "-s", "-t", "-F", "-n", "--signal", "--euid", "--uid",
                          "--group", "--parent", "--session", "--terminal", "--pidfile", "--ns", "--user"))  # fmt: skip
_BY_OWNER = frozenset(("-u", "-U", "-G", "--euid", "--uid", "--group", "--user"))
_SERVICES = frozenset(("systemctl", "service", "launchctl", "rc-service", "initctl", "sv", "s6-svc", "supervisorctl"))
_SERVICE_LOOKS = frozenset(("status", "is-active", "is-enabled", "show", "cat", "list-units", "list", "print", "blame"))
_WHOLE_LOGIN = frozenset(("kill-user", "terminate-user", "kill-session", "terminate-session"))
_LOGIN_UNIT = re.compile(r"user(?:@\d*)?(?:\.service|\.slice)|user-\d+\.slice|session-\w+\.scope")
_INTO_PROCESSES = frozenset(
    ("gdb", "lldb", "strace", "ltrace", "nsenter", "reptyr", "renice", "prlimit", "cpulimit", "taskset", "ionice",
     "chrt", "py-spy", "pyrasite", "gcore", "perf", "bpftrace", "criu", "kill", "choom")
)  # fmt: skip
_FIREWALLS = frozenset(
    ("iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "pfctl", "tc", "tcpkill", "conntrack", "ss")
)
_LISTENERS = frozenset(("tcpdump", "tshark", "ngrep", "dumpcap", "tcpflow", "wireshark", "mitmproxy", "mitmdump"))
_LONGEST_PATTERN = 500
_LOOPBACK_DEVICES = frozenset(("lo", "lo0", "any"))


class Processes:
    """Finds what in a command would end Holdfast's processes or part them from the hosts."""

    def __init__(self, protected: Protected) -> None:
        self._protected = protected
        self._pids = frozenset(map(str, protected.pids))
        self._ports = frozenset(map(str, protected.ports))

    def judge(self, command: SimpleCommand, reading: CommandReading, cwd: str, code: str) -> Iterator[Message]:
        """`code` is the program text that an interpreter gets, wherever it stands in the command."""
        if self._ends(command, reading, cwd) or ("kill" in code and self._pids & set(TOKENS.split(code))):
            yield ENDS_GUARD(what=command.text)
        elif not _INTO_PROCESSES.isdisjoint((command.name, *command.via)) and self._pids & _numbers(command, reading):
            yield TOUCHES_PROCESS(what=command.text)
        elif self._cuts_off(command):
            yield CUTS_OFF(what=command.text)

    def _ends(self, command: SimpleCommand, reading: CommandReading, cwd: str) -> bool:
        words = command.argv[1:]
        if command.name == "kill":
            if self._pids & {word.lstrip("-") for word in words}:
                return True
            return command.dynamic and any(self._finds_guard(other) for other in reading.simple_commands)
        if command.name in _NAMERS:
            return self._named(command)
        if command.name == "fuser":
            return any(re.match(r"--kill|-\w*k", word) for word in words) and any(self._holds(w, cwd) for w in words)
        if command.name in _SERVICES:
            named = any(program in word.casefold() for word in words for program in self._protected.programs)
            whole = any(_LOGIN_UNIT.fullmatch(word) for word in words)
            return (named or whole) and not _SERVICE_LOOKS & set(words)
        return command.name == "loginctl" and bool(_WHOLE_LOGIN & set(words))

    def _finds_guard(self, command: SimpleCommand) -> bool:
        """Whether a command looks for our processes, so that what it prints are their numbers."""
        if command.name not in _FINDERS:
            return False
        if command.name in ("pgrep", "pidof"):
            return self._named(command)
        plain = [re.sub(r"[\[\]\\.*?^$]", "", word).casefold() for word in command.argv[1:]]
        named = any(program in word for word in plain for program in self._protected.programs)
        return named or any(self._ports & set(TOKENS.split(word)) for word in command.argv[1:])

    def _named(self, command: SimpleCommand) -> bool:
        """By a pattern, as `pkill` and its kin take it; without one by whose processes they are."""
        patterns: list[str] = []
        by_owner = full = False
        words = iter(command.argv[1:])
        for word in words:
            if not word.startswith("-"):
                patterns.append(word)
                continue
            option = word.partition("=")[0]
            full = full or option == "--full" or re.fullmatch(r"-[0-9a-z]*f[0-9a-z]*", word) is not None
            by_owner = by_owner or option in _BY_OWNER or re.match(r"-[uUG].", word) is not None
            if option in _TAKES_VALUE and option == word:
                value = next(words, "")
                if option in ("-P", "--parent") and self._pids & set(value.split(",")):
                    return True
        if not patterns:
            return by_owner and command.name != "pgrep"
        if command.name in ("killall", "pidof"):
            full = False
        return any(self._meets(pattern, full) for pattern in patterns)

    def _meets(self, pattern: str, full: bool) -> bool:
        if not _is_quick(pattern):
            return True
        lines = self._protected.process_lines if full else ()
        for line in (*self._protected.process_names, *lines):
            try:
                if re.search(pattern, line, re.IGNORECASE):
                    return True
            except re.error:
                pass
            at = 0
            for part in re.findall(r"[\w-]+", pattern.casefold()):
                at = line.casefold().find(part, at)
                if at < 0:
                    break
                at += len(part)
            if at > 0:
                return True
        return False

    def _holds(self, word: str, cwd: str) -> bool:
        if self._ports & set(TOKENS.split(word)):
            return True
        home = self._protected.home
        path = absolute(word, cwd or "/", self._protected.user_home)
        return bool(home) and not word.startswith("-") and (is_inside(path, home) or is_inside(home, path))

    def _cuts_off(self, command: SimpleCommand) -> bool:
        words = set(command.argv[1:])
        tokens = {token for word in words for token in TOKENS.split(word)}
        if command.name == "ss" and not {"-K", "--kill"} & words:
            return False
        if command.name in _FIREWALLS or command.name in _LISTENERS:
            listens = command.name in _LISTENERS and bool(self._ports) and bool(_LOOPBACK_DEVICES & tokens)
            return bool(self._ports & tokens) or listens
        return (
            command.name in ("ip", "ifconfig", "ifdown")
            and bool({"lo", "lo0"} & words)
            and (command.name == "ifdown" or bool({"down", "delete", "del", "flush"} & words))
        )


def _is_quick(pattern: str) -> bool:
    """Whether it is tried in few ways. The pattern is the agent's; one that could hold us up counts as one of ours."""
    if len(pattern) > _LONGEST_PATTERN or re.search(r"\)[*+?{]|\\[1-9]", pattern):
        return False
    return len(re.findall(r"[*+?{]", pattern)) <= 4 and pattern.count("(") <= 3 and pattern.count("|") <= 20


def _numbers(command: SimpleCommand, reading: CommandReading) -> set[str]:
    """Every number on its command line, `-p4242` and `--pid=4242` too; of a wrapper, what stands in the text."""
    return set(re.findall(r"\d+", " ".join(command.argv) if not command.via else reading.command))
