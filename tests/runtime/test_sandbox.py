"""Which sandbox there is, what it hides, and what it is started with (PE12)."""

import os
import platform
import shutil
import socket
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.messages import plain
from holdfast.runtime import sandbox_landlock, sandbox_macos, sandbox_seccomp
from holdfast.runtime.sandbox import Found, NoSandbox, Outside, detect, session_outside
from holdfast.runtime.sandbox_bubblewrap import Bubblewrap
from holdfast.runtime.sandbox_landlock import readable
from holdfast.runtime.sandbox_secrets import command_environment, hidden_paths, other_homes, sockets

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="platform: Linux only")


@pytest.fixture
def outside(tmp_path):
    user_home = tmp_path / "user"
    for name in (
        ".ssh",
        ".aws",
        ".config/gcloud",
        ".holdfast/data/outputs",
        ".holdfast/data/tmp/s",
        "project",
        ".cargo",
    ):
        (user_home / name).mkdir(parents=True)
    for name in (".netrc", ".npmrc", "server.pem", ".cargo/credentials.toml", "notes.txt", ".bash_history"):
        (user_home / name).write_text("x")
    home = user_home / ".holdfast"
    return Outside(home=home, user_home=user_home, temp=home / "data/tmp/s", readable=(home / "data/outputs",))


def names(outside, paths):
    return {str(path.relative_to(outside.user_home)) for path in paths if path.is_relative_to(outside.user_home)}


def test_PE12_secrets_are_found_where_they_lie(outside):
    hidden = names(outside, hidden_paths(outside))
    assert hidden == {".ssh", ".aws", ".config/gcloud", ".holdfast", ".netrc", ".npmrc", "server.pem", ".bash_history",
                      ".cargo/credentials.toml"}  # fmt: skip


def test_PE12_what_the_user_names_is_hidden_too_and_links_by_where_they_lead(outside, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (outside.user_home / ".gnupg").symlink_to(tmp_path / "elsewhere")
    more = Outside(outside.home, outside.user_home, outside.temp, hidden=(outside.user_home / "notes.txt",))
    hidden = hidden_paths(more)
    assert tmp_path / "elsewhere" in hidden
    assert outside.user_home / "notes.txt" in hidden


def test_PE12_homes_of_others_are_hidden_but_never_ones_own(outside, tmp_path):
    homes = tmp_path / "homes"
    (homes / "other").mkdir(parents=True)
    (homes / "alias").symlink_to(outside.user_home)
    (homes / "Shared").mkdir()
    found = set(other_homes(outside, (homes, tmp_path / "nowhere"))) - {Path("/root")}
    assert found == {homes / "other"}
    assert outside.user_home not in list(other_homes(outside, (tmp_path,)))


def test_PE12_nothing_is_hidden_twice(outside):
    hidden = hidden_paths(outside)
    assert not [path for path in hidden if any(parent in hidden for parent in path.parents)]


@linux
def test_PE12_listening_sockets_are_found(tmp_path):
    with socket.socket(socket.AF_UNIX) as service:
        service.bind(str(tmp_path / "s"))
        service.listen()
        assert tmp_path / "s" in sockets()
    (tmp_path / "s").unlink()
    assert tmp_path / "s" not in sockets()


def test_PE12_the_environment_is_an_allow_list():
    environ = {"PATH": "/bin", "AWS_SECRET_ACCESS_KEY": "x", "OPENAI_API_KEY": "x", "LC_ALL": "C", "HOME": "/h",
               "MINE": "1", "http_proxy": "http://proxy:3128", "HTTPS_PROXY": "http://user:pw@proxy:3128",
               "LD_PRELOAD": "x.so", "SSH_AUTH_SOCK": "/s",
               "DBUS_SESSION_BUS_ADDRESS": "x", "BASH_ENV": "x", "PYTHONPATH": "x"}  # fmt: skip
    env = command_environment(environ, network=False, passed=("MINE",), temp="/t")
    kept = {"PATH", "LC_ALL", "HOME", "MINE"}
    assert set(env) & set(environ) == kept
    assert env["TMPDIR"] == "/t"
    with_network = command_environment(environ, network=True)
    assert with_network["http_proxy"] == "http://proxy:3128"
    assert "HTTPS_PROXY" not in with_network, "it holds a password"
    assert command_environment({}, network=False)["PATH"]


def bubblewrap_argv(outside, vault, *, network=False, guarded=()):
    wrapped = Bubblewrap("bwrap", outside).wrap(
        ["true"], vault=vault, cwd=vault, network=network, env={"A": "1"}, guarded=guarded
    )
    for descriptor in wrapped.fds:
        os.close(descriptor)
    assert wrapped.env == {"A": "1"}
    return list(wrapped.argv)


@linux
def test_PE12_bubblewrap_is_started_with_the_flags_that_hold_root(outside):
    argv = bubblewrap_argv(outside, outside.user_home / "project")
    for flag in (
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--unshare-user",
        "--disable-userns",
        "--seccomp",
    ):
        assert flag in argv
    assert argv[argv.index("--cap-drop") + 1] == "ALL"
    assert "--share-net" not in argv
    assert "--share-net" in bubblewrap_argv(outside, outside.user_home / "project", network=True)
    text = " ".join(argv)
    assert text.index("--bind") < text.index("--remount-ro /proc")
    assert argv[-2:] == ["--", "true"]


def seen(argv, path):
    """Where a path inside leads on this machine, None when it is covered. As mounts work, the last one counts."""
    found = None
    index = 0
    while argv[index] != "--":
        if argv[index] in ("--ro-bind", "--ro-bind-try", "--bind"):
            source, place = argv[index + 1 : index + 3]
            if path.is_relative_to(place):
                found = Path(source, path.relative_to(place)) if path != Path(place) else Path(source)
        elif argv[index] in ("--tmpfs", "--dev", "--proc") and path.is_relative_to(argv[index + 1]):
            found = None
        index += 1
    return found


@linux
def test_PE12_secrets_are_covered_and_the_work_is_not(outside):
    vault = outside.user_home / "project"
    argv = bubblewrap_argv(outside, vault)
    for path in ("/run/docker.sock", "/tmp/x/y.sock", "/dev/sda", "/proc/1/environ", "/etc/shadow"):
        assert seen(argv, Path(path)) != Path(path)
    for name in (".ssh/id_rsa", ".holdfast/credentials", ".netrc", ".aws/credentials", ".holdfast/run/token"):
        assert seen(argv, outside.user_home / name) != outside.user_home / name
    assert seen(argv, vault / "src/a.py") == vault / "src/a.py"
    assert seen(argv, Path("/usr/bin/env")) == Path("/usr/bin/env")
    assert seen(argv, Path("/tmp")) == outside.temp
    assert seen(argv, outside.home / "data/outputs/x.txt") == outside.home / "data/outputs/x.txt"


@linux
def test_PE12_a_home_inside_the_vault_is_covered_after_the_vault(outside):
    argv = bubblewrap_argv(outside, outside.user_home)
    assert seen(argv, outside.user_home / "notes.txt") == outside.user_home / "notes.txt"
    assert seen(argv, outside.home / "credentials") is None
    assert seen(argv, outside.home / "data/outputs/x.txt") is None


@linux
def test_PE12_guarded_files_are_read_only_and_their_folders_cannot_be_renamed(outside):
    vault = outside.user_home / "project"
    (vault / ".git/hooks").mkdir(parents=True)
    argv = bubblewrap_argv(
        outside, vault, guarded=[vault / ".git/hooks", vault / "missing", outside.user_home / ".ssh"]
    )
    text = " ".join(argv)
    assert f"--bind {vault}/.git {vault}/.git --ro-bind {vault}/.git/hooks {vault}/.git/hooks" in text
    assert "missing" not in text


# Landlock


def test_PE12_landlock_allows_everything_but_what_is_hidden(tmp_path):
    for name in ("a/x", "a/y/z", "b", "c/d"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "c/file").write_text("x")
    (tmp_path / "link").symlink_to("b")
    allowed = readable([tmp_path / "a/y", tmp_path / "c/d", tmp_path / "nowhere"], tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in allowed] == ["a/x", "b", "c/file"]
    assert readable([], tmp_path) == [tmp_path]
    assert readable([tmp_path], tmp_path) == []


@given(st.sets(st.sampled_from(["a", "a/b", "a/c", "b", "b/a/c", "c"]), max_size=4))
def test_PE12_no_hidden_folder_is_ever_below_an_allowed_one(tmp_path_factory, hidden):
    root = tmp_path_factory.getbasetemp() / "tree"
    for name in ("a/b/x", "a/c", "b/a/c", "b/a/d", "c"):
        (root / name).mkdir(parents=True, exist_ok=True)
    paths = [root / name for name in hidden]
    allowed = readable(paths, root)
    for path in paths:
        assert not any(path.is_relative_to(other) for other in allowed)
    for leaf in ("a/b/x", "a/c", "b/a/c", "b/a/d", "c"):
        is_hidden = any((root / leaf).is_relative_to(path) for path in paths)
        assert any((root / leaf).is_relative_to(other) for other in allowed) != is_hidden


@linux
def test_PE12_the_launcher_refuses_to_run_what_it_cannot_confine():
    launcher = Path(sandbox_landlock.__file__).with_name("sandbox_landlock_launcher.py")
    plan = '{"cwd": "/", "read": ["/"], "write": [], "devices": [], "network": false, "filter": "00"}'
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(launcher), plan, "/bin/echo", "ran"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 126
    assert "ran" not in done.stdout
    assert "the command was not started" in done.stderr


# the filter of system calls


def verdict(program: bytes, number: int, first_argument: int = 0, architecture: int = 0xC000003E) -> int:
    """Runs the filter as the kernel would."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, first_argument, 0, 0, 0, 0, 0)
    steps = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    position, register = 0, 0
    while True:
        code, if_true, if_false, value = steps[position]
        position += 1
        if code == 0x20:
            (register,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return value
        else:
            holds = register == value if code == 0x15 else register >= value
            position += if_true if holds else if_false


ALLOW, EPERM, ENOSYS, NO_FAMILY, KILL = 0x7FFF0000, 0x50001, 0x50026, 0x50061, 0x80000000


def test_PE12_the_filter_refuses_what_it_should_and_nothing_else():
    program = sandbox_seccomp.program(families=(2, 10, 16), machine="x86_64")
    for number, result in {0: ALLOW, 1: ALLOW, 59: ALLOW, 250: EPERM, 248: EPERM, 321: EPERM, 425: ENOSYS}.items():
        assert verdict(program, number) == result
    for family, result in {1: NO_FAMILY, 2: ALLOW, 10: ALLOW, 16: ALLOW, 17: NO_FAMILY, 40: NO_FAMILY}.items():
        assert verdict(program, 41, family) == result
    assert verdict(program, 0, architecture=0x40000003) == KILL
    assert verdict(program, 0x40000000 | 41, 2) == ENOSYS
    plain = sandbox_seccomp.program(machine="aarch64")
    assert verdict(plain, 198, 1, 0xC00000B7) == ALLOW
    assert verdict(plain, 219, 0, 0xC00000B7) == EPERM


@given(st.sets(st.integers(0, 45), min_size=1, max_size=8), st.integers(0, 60))
def test_PE12_exactly_the_given_families_are_allowed(families, family):
    program = sandbox_seccomp.program(families=families, machine="x86_64")
    assert verdict(program, 41, family) == (ALLOW if family in families else NO_FAMILY)


# macOS


def test_PE12_the_profile_for_macos_says_what_it_should(outside):
    vault = outside.user_home / 'pro"ject'
    text = sandbox_macos.profile(
        vault, outside, [outside.user_home / ".ssh", outside.home], network=False, guarded=[vault / ".git/hooks"]
    )
    lines = text.splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    escaped = str(vault).replace('"', '\\"')
    write = lines.index(f'(allow file-read* file-write* (subpath "{escaped}"))')
    assert lines.index(f'(deny file-read* file-write* (subpath "{outside.user_home}/.ssh"))') < write
    assert lines.index(f'(deny file-write* (subpath "{escaped}/.git/hooks"))') > write
    assert f'(allow file-read* file-write* (subpath "{outside.temp}"))' in lines
    assert "network-outbound" not in text
    assert "(allow network-outbound (remote ip))" in sandbox_macos.profile(vault, outside, [], network=True)
    assert text.count("(") == text.count(")")
    wrapped = sandbox_macos.SandboxExec("/usr/bin/sandbox-exec", outside).wrap(
        ["true"], vault=vault, cwd=vault, network=False, env={}
    )
    assert wrapped.argv[:2] == ("/usr/bin/sandbox-exec", "-p")
    assert "not been verified" in sandbox_macos.SandboxExec("x", outside).describe()


# finding out


def test_PE12_without_a_sandbox_that_is_said_plainly(outside, tmp_path):
    sandbox = Found("none", why=plain("bubblewrap is not installed")).build(outside)
    assert isinstance(sandbox, NoSandbox)
    assert "all your rights" in sandbox.describe()
    assert "bubblewrap is not installed" in sandbox.describe()
    wrapped = sandbox.wrap(["echo", "x"], vault=tmp_path, cwd=tmp_path, network=False, env={"A": "1"})
    assert (wrapped.argv, wrapped.env, wrapped.cwd) == (("echo", "x"), {"A": "1"}, str(tmp_path))


@linux
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="installable: bubblewrap")
def test_PE12_the_best_of_this_machine_is_found():
    found = detect(again=True)
    assert found.kind in ("bubblewrap", "landlock", "none")
    if found.kind == "none":
        assert found.why
    assert detect() is found


@linux
def test_PE12_without_the_program_landlock_is_taken_or_the_reason_given(monkeypatch, tmp_path, outside):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = detect(again=True)
    try:
        assert found.kind in ("landlock", "none")
        assert "bubblewrap is not installed" in found.why.text()
        assert "install bubblewrap" in found.fix.text()
        if found.kind == "landlock":
            assert "weaker than bubblewrap" in found.build(outside).describe()
    finally:
        monkeypatch.undo()
        detect(again=True)


@linux
def test_PE12_a_program_that_does_not_start_is_no_sandbox(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = detect(again=True)
    try:
        assert found.kind != "bubblewrap"
        assert "No permissions to create new namespace" in found.why.text()
        assert "user namespaces" in found.fix.text()
    finally:
        monkeypatch.undo()
        detect(again=True)


def test_PE12_a_session_has_a_temporary_folder_for_nobody_else(tmp_path):
    outside = session_outside(tmp_path / "home", "../odd session")
    assert outside.temp.is_dir()
    assert outside.temp.is_relative_to(tmp_path / "home" / "data" / "tmp")
    assert stat.S_IMODE(outside.temp.stat().st_mode) == 0o700


def test_PE12_forgotten_temporary_folders_go_after_a_week(tmp_path):
    first = session_outside(tmp_path, "first").temp
    (first / "x").write_text("x")
    session_outside(tmp_path, "second")
    assert (first / "x").exists()
    os.utime(first, (0, 0))
    session_outside(tmp_path, "third")
    assert not first.exists()


def test_the_machine_of_this_test_is_known_to_the_filter():
    if platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip("platform: no filter for this processor")
    assert sandbox_seccomp.known_machine()
