"""The command a host runs at every hook: hand stdin to the daemon, hand back its answer, and nothing else.

Run as `python -I -S hook_client.py HOST HOME DEADLINE [start]`: it may import only what the bare interpreter has loaded
already and the socket extension, because its start is added to every tool call. Without a daemon it loads the whole
plane into this process: slower, never less correct. If even that fails, what is not known to only read is blocked.
With `start` a missing daemon is started; Claude Code's other hooks speak HTTP and need it, so there it is waited for.
"""

import _socket
import posix
import sys

CONNECT_SECONDS = 1.0
BLOCKED = 2
"""The exit code by which Claude Code, Codex and Gemini CLI all block a call and show stderr to the model."""
NEEDS_DAEMON = ("claude-code",)
VARIABLES = (
    (b"CLAUDE_CODE_SESSION_ATTENDED", b"attended"),
    (b"HOLDFAST_THREAD", b"thread"),
    (b"MEMORY_BANK_GUARD_MODE", b"guard"),
)


def read_all(descriptor: int) -> bytes:
    parts = []
    while part := posix.read(descriptor, 1 << 16):
        parts.append(part)
    return b"".join(parts)


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[posix.write(descriptor, data) :]


def surroundings() -> bytes:
    """The few variables of the host's process that count, as `name=value;...`; `-` when there are none."""
    found = []
    for variable, name in VARIABLES:
        value = posix.environ.get(variable, b"")
        if value and value.replace(b"-", b"").replace(b"_", b"").replace(b".", b"").isalnum():
            found.append(name + b"=" + value)
    return b";".join(found) or b"-"


def ask_daemon(path: str, host: str, payload: bytes, deadline: float) -> "tuple[int, bytes, bytes] | None":
    """The daemon's answer, or None when there is no daemon, or it went away before it had answered."""
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        link.settimeout(CONNECT_SECONDS)
        try:
            link.connect(path)
        except OSError:
            return None
        link.settimeout(deadline)
        head = b"HOOK %s %d %d %s\n" % (host.encode(), len(payload), deadline, surroundings())
        request = head + payload
        answer = b""
        try:
            sent = 0
            while sent < len(request):
                sent += link.send(request[sent : sent + (1 << 18)])
            while part := link.recv(1 << 16):
                answer += part
        except ConnectionError:
            return None
        if not answer:
            return None
        head, newline, body = answer.partition(b"\n")
        code, out_size, err_size = map(int, head.split())
        if not newline or len(body) != out_size + err_size:
            raise ValueError("the daemon's answer was cut")
        return code, body[:out_size], body[out_size:]
    finally:
        link.close()


def answer_here(host: str, home: str, payload: bytes, deadline: float) -> "tuple[int, bytes, bytes]":
    """The same plane in this process, for when no daemon runs."""
    import site

    site.main()
    from holdfast.doors.hook_local import answer

    return answer(host, home, payload, deadline, surroundings().decode())


def start_daemon(host: str, home: str) -> bool:
    """Have one started; True when it is worth asking it at once."""
    import site

    site.main()
    from holdfast.doors.daemon_process import start_for_hook

    return start_for_hook(home, wait=host in NEEDS_DAEMON)


def closed(host: str, payload: bytes, error: BaseException) -> "tuple[int, bytes, bytes]":
    """Our own failure: a call that only reads goes on, any other call is blocked with a reason that says so."""
    import json

    try:
        asked = json.loads(payload)
        event, tool = asked.get("hook_event_name", ""), asked.get("tool_name", "")
    except (ValueError, AttributeError):
        event, tool = "PreToolUse", ""
    if event not in ("PreToolUse", "BeforeTool", "PermissionRequest") or tool in READS:
        return 0, b"{}", b""
    kind = type(error).__name__
    reason = f"Holdfast itself failed ({kind}: {error}), so this call was blocked. Run `holdfast doctor {host}`."
    return BLOCKED, b"", reason.encode("utf-8", "replace")


READS = frozenset(
    (
        *("Read", "Glob", "Grep", "LS", "NotebookRead", "TodoRead"),
        *("read_file", "read_many_files", "list_directory", "glob", "search_file_content", "grep_search"),
    )
)


def answered(host: str, home: str, payload: bytes, seconds: float, start: bool) -> "tuple[int, bytes, bytes]":
    path = home + "/run/daemon.sock"
    answer = ask_daemon(path, host, payload, seconds)
    if answer is None and start and start_daemon(host, home):
        answer = ask_daemon(path, host, payload, seconds)
    return answer_here(host, home, payload, seconds) if answer is None else answer


def take_name() -> None:
    """`pkill python` would end a hook that waits for a person's answer, and some hosts then let the call pass."""
    try:
        descriptor = posix.open("/proc/self/comm", posix.O_WRONLY)
        posix.write(descriptor, b"holdfast")
        posix.close(descriptor)
    except OSError:
        return  # no such place on this system; a hook answers under any name


def main(arguments: "list[str]") -> int:
    host, home, seconds = arguments[1], arguments[2], float(arguments[3])
    take_name()
    payload = read_all(0)
    try:
        answer = answered(host, home, payload, seconds, "start" in arguments[4:])
    except BaseException as error:
        answer = closed(host, payload, error)
    code, out, err = answer
    write_all(1, out)
    write_all(2, err)
    return code


if __name__ == "__main__":
    posix._exit(main(sys.argv))
