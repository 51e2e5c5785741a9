"""The command a host runs at every hook: hand stdin to the daemon, hand back its answer, and nothing else.

Run as `python -I -S hook_client.py HOST HOME DEADLINE`: it may import only what the bare interpreter has loaded
already and the socket extension, because its start is added to every tool call. Without a daemon it loads the whole
plane into this process: slower, never less correct. If even that fails, what is not known to only read is blocked.
"""

import _socket
import posix
import sys

CONNECT_SECONDS = 1.0
BLOCKED = 2
"""The exit code by which Claude Code, Codex and Gemini CLI all block a call and show stderr to the model."""


def read_all(descriptor: int) -> bytes:
    parts = []
    while part := posix.read(descriptor, 1 << 16):
        parts.append(part)
    return b"".join(parts)


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[posix.write(descriptor, data) :]


def ask_daemon(path: str, host: str, payload: bytes, deadline: float) -> "tuple[int, bytes, bytes] | None":
    """The daemon's answer, or None when there is no daemon to answer."""
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        link.settimeout(CONNECT_SECONDS)
        try:
            link.connect(path)
        except OSError:
            return None
        link.settimeout(deadline)
        request = b"HOOK %s %d\n" % (host.encode(), len(payload)) + payload
        sent = 0
        while sent < len(request):
            sent += link.send(request[sent : sent + (1 << 18)])
        answer = b""
        while part := link.recv(1 << 16):
            answer += part
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

    return answer(host, home, payload, deadline)


def closed(host: str, payload: bytes, error: BaseException) -> "tuple[int, bytes, bytes]":
    """Our own failure: a call that only reads goes on, any other call is blocked with a reason that says so."""
    import json

    try:
        asked = json.loads(payload)
        event, tool = asked.get("hook_event_name", ""), asked.get("tool_name", "")
    except (ValueError, AttributeError):
        event, tool = "PreToolUse", ""
    if event not in ("PreToolUse", "BeforeTool", "PermissionRequest") or tool in READS:
        return 0, b"", b""
    kind = type(error).__name__
    reason = f"Holdfast itself failed ({kind}: {error}), so this call was blocked. Run `holdfast doctor {host}`."
    return BLOCKED, b"", reason.encode("utf-8", "replace")


READS = frozenset(
    (
        *("Read", "Glob", "Grep", "LS", "NotebookRead", "TodoRead"),
        *("read_file", "read_many_files", "list_directory", "glob", "search_file_content", "grep_search"),
    )
)


def main(arguments: "list[str]") -> int:
    host, home, seconds = arguments[1], arguments[2], float(arguments[3])
    payload = read_all(0)
    try:
        answer = ask_daemon(home + "/run/daemon.sock", host, payload, seconds)
        if answer is None:
            answer = answer_here(host, home, payload, seconds)
    except BaseException as error:
        answer = closed(host, payload, error)
    code, out, err = answer
    write_all(1, out)
    write_all(2, err)
    return code


if __name__ == "__main__":
    posix._exit(main(sys.argv))
