"""The command that every hook starts: what it loads, what it hands on, and what it does when all else fails."""

import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.doors import hook_client

CLIENT = hook_client.__file__
BARE = [sys.executable, "-I", "-S"]
ALLOWED_MODULES = {"_socket", "hook_client"}
"""What the client adds to a bare interpreter: every further module is paid for at every tool call of every host."""
IMPORT_IT = f"import sys; sys.path.insert(0, {str(Path(CLIENT).parent)!r}); import hook_client"


def test_the_client_imports_almost_nothing():
    listing = "; print(sorted(sys.modules))"
    before = subprocess.run([*BARE, "-c", "import sys" + listing], capture_output=True, text=True, check=True)
    after = subprocess.run([*BARE, "-c", IMPORT_IT + listing], capture_output=True, text=True, check=True)
    added = set(eval(after.stdout)) - set(eval(before.stdout))
    assert added <= ALLOWED_MODULES


@pytest.mark.full
def test_importing_the_client_adds_at_most_40_ms():
    def seconds(code):
        begun = time.perf_counter()
        subprocess.run([*BARE, "-c", code], check=True, timeout=60)
        return time.perf_counter() - begun

    seconds("pass"), seconds(IMPORT_IT)
    pairs = [(seconds("pass"), seconds(IMPORT_IT)) for _ in range(20)]
    bare, client = (statistics.median(times) for times in zip(*pairs, strict=True))
    assert client - bare <= 0.040, f"{(client - bare) * 1000:.1f} ms on top of {bare * 1000:.1f} ms"


@contextmanager
def daemon_that(folder, behaviour):
    """A socket where the daemon's would be; `behaviour(connection)` plays the daemon once."""
    run = folder / "run"
    run.mkdir(parents=True, exist_ok=True)
    path = run / "daemon.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(20)

        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(20)
                behaviour(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        thread.join(20)


def request_of(connection):
    data = b""
    while b"\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\n")
    size = int(head.split()[2])
    while len(body) < size:
        body += connection.recv(65536)
    return head, body


def hook(folder, payload, *, host="codex", deadline="5", **variables):
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **variables}
    command = [*BARE, CLIENT, host, str(folder), deadline]
    return subprocess.run(command, input=body, capture_output=True, timeout=60, env=environment, check=False)


def write_call(tool="Write"):
    return {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {}, "session_id": "s"}


def test_it_hands_the_payload_over_and_the_answer_back(tmp_path):
    seen = []

    def behaviour(connection):
        seen.append(request_of(connection))
        connection.sendall(b"2 3 4\nouterr!")

    payload = json.dumps({"text": "你好" * 100_000}).encode()
    with daemon_that(tmp_path, behaviour):
        done = hook(tmp_path, payload)
    assert (done.returncode, done.stdout, done.stderr) == (2, b"out", b"err!")
    assert seen == [(b"HOOK codex %d 5 -" % len(payload), payload)]


@pytest.mark.parametrize(
    "answer", [b"garbage", b"0 5 0\nab", b"x y z\n", b"0 0\n"], ids=["garbage", "cut", "words", "short"]
)
def test_HO4_garbage_from_the_daemon_blocks_a_write_with_a_reason(tmp_path, answer):
    def behaviour(connection):
        request_of(connection)
        connection.sendall(answer)

    with daemon_that(tmp_path, behaviour):
        done = hook(tmp_path, write_call())
    assert done.returncode == 2
    assert b"Holdfast itself failed" in done.stderr
    assert b"holdfast doctor codex" in done.stderr


def test_HO4_garbage_from_the_daemon_lets_a_read_go_on(tmp_path):
    def behaviour(connection):
        request_of(connection)
        connection.sendall(b"garbage")

    with daemon_that(tmp_path, behaviour):
        done = hook(tmp_path, write_call("Read"))
    assert (done.returncode, done.stdout) == (0, b"{}")


@pytest.mark.e2e
def test_HO4_a_daemon_that_dies_over_a_call_is_replaced_in_process(tmp_path):
    with daemon_that(tmp_path, request_of):
        call = {**write_call(), "cwd": str(tmp_path), "tool_input": {"file_path": "/etc/passwd"}, "tool_use_id": "t1"}
        done = hook(tmp_path, call, host="claude-code")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_the_variables_that_count_are_handed_on(tmp_path):
    seen = []

    def behaviour(connection):
        seen.append(request_of(connection)[0])
        connection.sendall(b"0 0 0\n")

    with daemon_that(tmp_path, behaviour):
        given = {"CLAUDE_CODE_SESSION_ATTENDED": "1", "HOLDFAST_THREAD": "a b;c=d", "OTHER": "x"}
        hook(tmp_path, b"{}", **given)
    assert seen == [b"HOOK codex 2 5 attended=1"], "a value that could be taken for something else is left out"


def test_HO4_a_daemon_that_never_answers_is_cut_at_the_deadline(tmp_path):
    release = threading.Event()

    def behaviour(connection):
        request_of(connection)
        release.wait(20)

    with daemon_that(tmp_path, behaviour):
        began = time.monotonic()
        done = hook(tmp_path, write_call(), deadline="1")
        took = time.monotonic() - began
        release.set()
    assert done.returncode == 2
    assert took < 10


@pytest.mark.skipif(sys.platform != "linux", reason="platform: processes have no name of their own elsewhere")
def test_PE10_a_hook_that_waits_is_no_python_to_pkill(tmp_path):
    """Codex and Gemini CLI let a call pass whose hook was ended by a signal."""
    names = []

    def behaviour(connection):
        request_of(connection)
        pid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        names.append(Path(f"/proc/{pid}/comm").read_text().strip())
        connection.sendall(b"0 2 0\n{}")

    with daemon_that(tmp_path, behaviour):
        assert hook(tmp_path, write_call()).returncode == 0
    assert names == ["holdfast"]


@pytest.mark.e2e
def test_HO4_without_a_daemon_the_plane_runs_in_the_hooks_own_process(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    home = tmp_path / "home"
    payload = {**write_call(), "cwd": str(vault), "tool_input": {"file_path": "/etc/passwd"}, "tool_use_id": "t1"}
    done = hook(home, payload, host="claude-code")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert "outside the vault" in answer["permissionDecisionReason"]
    assert (home / "data" / "holdfast.db").exists()


@pytest.mark.e2e
def test_HO4_without_a_daemon_and_with_a_broken_home_a_write_is_blocked(tmp_path):
    (tmp_path / "home").write_text("a file where the home should be")
    done = hook(tmp_path / "home", write_call(), host="claude-code")
    assert done.returncode == 2
    assert b"Holdfast itself failed" in done.stderr


@pytest.mark.e2e
def test_HO4_garbage_from_the_host_is_blocked(tmp_path):
    done = hook(tmp_path / "home", b"\xff\x00 not json", host="claude-code")
    assert b"deny" in done.stdout or done.returncode == 2
