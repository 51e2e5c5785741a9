"""Ways out of the sandbox, tried for real, as root and as nobody (PE12). None may work, and nothing may stay behind."""

import contextlib
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast.runtime import sandbox_bubblewrap, sandbox_landlock

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]
DRIVER = Path(__file__).with_name("escape_driver.py")
SECRET = "the-secret-nobody-may-see"
SYSTEM_PYTHON = "/usr/bin/python3"
USERS = ("root", "nobody") if os.geteuid() == 0 else ("me",)
KINDS = ("bubblewrap", "landlock")


def why_not(kind: str) -> str:
    """Why a kind of sandbox cannot be tried here; empty when it can."""
    if not sys.platform.startswith("linux"):
        return "platform: Linux only"
    if kind == "bubblewrap":
        if shutil.which("bwrap") is None:
            return "installable: bubblewrap"
        found = sandbox_bubblewrap.probe()
        return "" if found.kind != "none" else f"platform: {found.why}"
    found = sandbox_landlock.probe()
    return "" if found.kind != "none" else f"platform: {found.why}"


@dataclass
class Answer:
    code: int
    ended: bool
    closed: bool
    seconds: float
    output: str


class Place:
    """A vault with secrets and sockets around it, for one kind of sandbox and one user."""

    def __init__(self, folder: Path, kind: str, user: str) -> None:
        self.kind, self.user = kind, user
        self.vault = folder / "vault"
        self.outside = folder / "outside"
        self.home = folder / "user" / ".holdfast"
        self.user_home = folder / "user"
        self.temp = self.home / "data" / "tmp"
        for path in (self.vault, self.outside, self.home / "run", self.temp, self.user_home / ".ssh"):
            path.mkdir(parents=True, exist_ok=True)
        self.secret(self.outside / "file.txt", "outside")
        self.secret(self.user_home / ".ssh/id_ed25519")
        self.secret(self.user_home / ".netrc")
        self.secret(self.user_home / ".aws/credentials")
        self.secret(self.home / "credentials")
        self.secret(self.home / "run/token")
        self.uid = pwd.getpwnam("nobody").pw_uid if user == "nobody" else os.geteuid()
        self.gid = pwd.getpwnam("nobody").pw_gid if user == "nobody" else os.getegid()
        for path in (folder, *folder.rglob("*")):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    @staticmethod
    def secret(path: Path, content: str = SECRET) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def start(self) -> None:
        python = SYSTEM_PYTHON if self.user == "nobody" else sys.executable
        become = ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups", "--inh-caps=-all"]
        paths = [str(ROOT / "src"), *(path for path in sys.path if path.endswith("site-packages"))]
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(paths), "PARENT_SECRET": SECRET, "LANG": "C.UTF-8",
               "SSH_AUTH_SOCK": str(self.outside / "agent.sock"), "HOME": str(self.user_home)}  # fmt: skip
        self._driver = subprocess.Popen(
            [*(become if self.user == "nobody" else ()), python, str(DRIVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=env,
            text=True,
        )

    def stop(self) -> None:
        self._driver.stdin.close()
        self._driver.wait(30)
        self._driver.stdout.close()

    def run(self, command: str, *, network=False, seconds=20, processes=200, guarded=()) -> Answer:
        asked = {
            "kind": self.kind, "vault": str(self.vault), "home": str(self.home), "user_home": str(self.user_home),
            "temp": str(self.temp), "command": command, "network": network, "seconds": seconds,
            "processes": processes, "guarded": [str(path) for path in guarded],
        }  # fmt: skip
        self._driver.stdin.write(json.dumps(asked) + "\n")
        self._driver.stdin.flush()
        answer = self._driver.stdout.readline()
        assert answer, "the driver died"
        return Answer(**json.loads(answer))

    def refused(self, command: str, **options) -> Answer:
        """The command must fail, and say nothing secret."""
        answer = self.run(f"{{ {command}\n}} && echo ESCAPED", **options)
        assert "ESCAPED" not in answer.output, answer.output
        assert SECRET not in answer.output, answer.output
        return answer


def _cases():
    for kind in KINDS:
        for user in USERS:
            yield pytest.param((kind, user), id=f"{kind}-{user}")


@pytest.fixture(scope="module", params=_cases())
def place(request):
    kind, user = request.param
    reason = why_not(kind)
    if reason:
        pytest.skip(reason)
    # Not in /tmp: that is hidden anyway, and what is hidden cannot be attacked.
    base = ROOT / ".pytest_cache"
    base.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="escape-", dir=base) as folder:
        Path(folder).chmod(0o755)
        made = Place(Path(folder), kind, user)
        if user == "nobody":
            version = sys.version_info[:2]
            code = f"open({str(made.vault / 'x')!r}, 'w'); import sys; assert sys.version_info[:2] == {version}"
            become = ["setpriv", f"--reuid={made.uid}", f"--regid={made.gid}", "--clear-groups"]
            probe = subprocess.run(
                [*become, SYSTEM_PYTHON, "-c", code], capture_output=True, text=True, timeout=60, check=False
            )
            if probe.returncode:
                pytest.skip(f"platform: nobody cannot work in this checkout: {probe.stderr[-200:]}")
        # Somebody else's service, in a folder that an unprivileged user cannot even look into.
        locked = Path(folder) / "locked"
        locked.mkdir(mode=0o700)
        with listening(socket.AF_UNIX, str(locked / "s")):
            made.start()
            try:
                yield made
            finally:
                made.stop()


@contextlib.contextmanager
def listening(family, address):
    """A service of this machine; yields what it was sent."""
    heard: list[bytes] = []
    with socket.socket(family, socket.SOCK_STREAM) as service:
        service.bind(address)
        service.listen()
        service.settimeout(0.2)
        stop = threading.Event()

        def serve():
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    client, _ = service.accept()
                    with client:
                        heard.append(client.recv(100) or b"connected")

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield heard, service.getsockname()
        finally:
            stop.set()
            thread.join()


def python(code: str) -> str:
    return f"{SYSTEM_PYTHON} -c {json.dumps(code)}" if "'" in code else f"{SYSTEM_PYTHON} -c '{code}'"


def left_behind(marker: str, seconds: float = 15.0) -> list[str]:
    """Processes whose command line holds the marker; the kernel may take a moment to end what was killed."""
    end = time.monotonic() + seconds
    while (found := alive(marker)) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def alive(marker: str) -> list[str]:
    """Processes of this machine whose command line holds the marker."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                line = (folder / "cmdline").read_bytes()
                if marker.encode() in line and b"escape_driver" not in line and b"pytest" not in line:
                    found.append(line.decode("utf-8", "replace"))
    return found


# first that it is a place to work in at all


def test_PE12_the_vault_and_the_temporary_folder_can_be_written(place):
    answer = place.run(
        'echo in > made.txt && mkdir d && mv made.txt d/ && echo t > "$TMPDIR/t" && cat d/made.txt "$TMPDIR/t"'
    )
    assert (answer.code, answer.output) == (0, "in\nt\n")
    assert (place.vault / "d/made.txt").read_text() == "in\n"
    place.run("rm -r d")


def test_PE12_programs_run(place):
    answer = place.run(
        f"git init -q . && git status --short && {SYSTEM_PYTHON} -c 'print(6*7)' && ls / >/dev/null; rm -rf .git"
    )
    assert "42" in answer.output


def test_PE12_the_exit_code_comes_through(place):
    assert place.run("exit 7").code == 7
    assert place.run("kill -9 $$").code == 137


# writing outside


@pytest.mark.parametrize(
    "command",
    [
        "echo x > {outside}/new.txt",
        "echo x > {outside}/file.txt",
        "cd {outside} && echo x > file.txt",
        "truncate -s 0 {outside}/file.txt",
        "rm {outside}/file.txt",
        "mv {outside}/file.txt .",
        "mkdir {outside}/folder",
        "mknod {outside}/node p",
        "ln -s {outside} link && echo x > link/new.txt",
        "ln -s {outside}/file.txt l2 && echo x >> l2",
        "ln {outside}/file.txt hard && echo x >> hard",
        "ln made-here {outside}/hard",
        "cp --link {outside}/file.txt hard2 && echo x >> hard2",
        "echo x > {user_home}/.bashrc",
        "echo x > /etc/holdfast-escape",
        "echo x > /usr/local/bin/holdfast-escape",
        "echo x > /var/holdfast-escape",
        "echo x > /holdfast-escape",
        "echo x > /proc/1/root{outside}/new.txt",
        "echo x > /proc/self/root{outside}/new.txt",
        "echo x > /proc/self/cwd/../outside/new.txt",
        "for f in /proc/self/fd/*; do echo x > $f/../outside/new.txt; done; test -e {outside}/new.txt",
        "touch -d 1999-01-01 {outside}/file.txt && test {outside}/file.txt -ot /etc/passwd",
        "mount --bind . {outside}",
        "mount -t tmpfs none {outside}",
        "mount -o remount,rw / && echo x > /etc/holdfast-escape",
        "unshare -rm mount -t tmpfs none {outside}",
        "unshare -rm sh -c 'mount -o remount,rw /; echo x > {outside}/new.txt'",
        "chroot /proc/1/root touch {outside}/new.txt",
        "nsenter -t 1 -m touch {outside}/new.txt",
    ],
)  # fmt: skip
def test_PE12_nothing_is_written_outside(place, command):
    before = sorted((path.name, path.read_bytes()) for path in place.outside.iterdir() if path.is_file())
    (place.vault / "made-here").write_text("x")
    filled = command.format(outside=place.outside, user_home=place.user_home)
    if place.kind == "landlock" and command.startswith("touch -d"):
        pytest.skip("platform: Landlock does not guard times and modes; describe() says it is the weaker one")
    place.refused(filled)
    assert sorted((path.name, path.read_bytes()) for path in place.outside.iterdir() if path.is_file()) == before
    assert not list(place.outside.glob("folder"))
    assert not Path("/etc/holdfast-escape").exists()
    for name in ("link", "l2", "hard", "hard2"):
        (place.vault / name).unlink(missing_ok=True)


@pytest.mark.parametrize(
    "target",
    [
        "/proc/sys/vm/swappiness", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger",
        "/proc/sys/net/ipv4/ip_forward", "/sys/kernel/mm/transparent_hugepage/enabled", "/proc/kcore",
        "/sys/fs/cgroup/pids/release_agent", "/sys/fs/cgroup/cgroup.procs", "/proc/1/oom_score_adj", "/dev/kmsg",
        "/dev/mem", "/dev/vda", "/dev/sda",
    ],
)  # fmt: skip
def test_PE12_the_kernel_is_not_written_to(place, target):
    place.refused(f"exec 5>>{target}")
    place.refused(f"printf '' > {target}")


def test_PE12_devices_cannot_be_made(place):
    place.refused("mknod disk b 254 0 && head -c 1 disk")
    place.refused("mknod mem c 1 1 && head -c 1 mem")


# reading secrets


@pytest.mark.parametrize(
    "command",
    [
        "cat {user_home}/.ssh/id_ed25519",
        "cat ~/.netrc; cat ~/.aws/credentials; ls ~/.ssh | grep id_",
        "cat {home}/credentials {home}/run/token",
        "ln -s {user_home}/.ssh keys && cat keys/*",
        "ln {user_home}/.ssh/id_ed25519 key && cat key",
        "cat /proc/self/root{user_home}/.ssh/id_ed25519",
        "cat /proc/1/root{user_home}/.ssh/id_ed25519",
        "umount {user_home}/.ssh; cat {user_home}/.ssh/id_ed25519",
        "mkdir m; mount --bind / m; cat m{user_home}/.ssh/id_ed25519",
        "unshare -rm sh -c 'umount {user_home}/.ssh; cat {user_home}/.ssh/id_ed25519'",
        "unshare -Ur cat {user_home}/.ssh/id_ed25519",
        "mv {user_home}/.ssh here && cat here/*",
        "tar c {user_home}/.ssh | tar xO | grep the-secret",
        "cat {user_home}/*/* {user_home}/.*/* 2>/dev/null | grep -q secret",
        "grep -rs the-secret {user_home}",
        "cat /etc/shadow",
        "env | grep -i secret",
        "echo $PARENT_SECRET | grep .",
        "echo $SSH_AUTH_SOCK | grep .",
        "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -i PARENT_SECRET",
        "cat /proc/$PPID/environ /proc/1/environ 2>/dev/null | tr '\\0' '\\n' | grep -i PARENT_SECRET",
    ],
)  # fmt: skip
def test_PE12_secrets_are_not_seen(place, command):
    place.refused(command.format(home=place.home, user_home=place.user_home))
    for name in ("keys", "key", "here", "m"):
        with contextlib.suppress(OSError):
            (place.vault / name).unlink()
        with contextlib.suppress(OSError):
            (place.vault / name).rmdir()


def test_PE12_the_memory_of_other_processes_is_not_read(place):
    victim = subprocess.Popen(["sleep", "300"], env={"VICTIM": SECRET}, user=place.uid if os.geteuid() == 0 else None)
    try:
        place.refused(f"cat /proc/{victim.pid}/environ")
        place.refused(f"head -c 10 /proc/{victim.pid}/mem")
        place.refused(f"kill -9 {victim.pid}")
        place.refused(f"kill -9 -- -1; kill -0 {victim.pid}")
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


def test_PE12_keys_of_the_kernel_are_out_of_reach(place):
    code = "import ctypes; l = ctypes.CDLL(None, use_errno=True); r = l.syscall({}, {}); raise SystemExit(r < 0)"
    number = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
    if number is None:
        pytest.skip("platform: the number of keyctl is not known here")
    place.refused(python(code.format(number, "0, -3, 0")))
    place.refused(python(code.format(425, "8, 0")))


def test_PE12_there_are_no_rights_to_gain(place):
    answer = place.run("grep -E 'Cap(Prm|Eff|Bnd)|NoNewPrivs' /proc/self/status")
    fields = dict(line.split(":\t") for line in answer.output.strip().splitlines())
    assert fields["NoNewPrivs"] == "1"
    assert int(fields["CapPrm"], 16) == int(fields["CapEff"], 16) == 0
    if place.user == "root" or place.kind == "bubblewrap":
        assert int(fields["CapBnd"], 16) == 0


# reaching others

CONNECT = (
    "import socket, sys; family, kind, *to = sys.argv[1:]; s = socket.socket(getattr(socket, family), "
    "getattr(socket, kind)); s.settimeout(3); "
    's.connect((to[0], int(to[1])) if len(to) > 1 else to[0].replace("@", chr(0))); s.send(b"x")'
)


def connect(*arguments: object) -> str:
    return " ".join([f"{SYSTEM_PYTHON} -c '{CONNECT}'", *map(str, arguments)])


def test_PE12_no_service_of_this_machine_is_reached(place):
    with listening(socket.AF_INET, ("127.0.0.1", 0)) as (heard, (_, port)):
        place.refused(connect("AF_INET", "SOCK_STREAM", "127.0.0.1", port))
        place.refused(f"exec 3<>/dev/tcp/127.0.0.1/{port}")
        assert heard == []
        # The service is there: with the network allowed it is reached.
        answer = place.run(connect("AF_INET", "SOCK_STREAM", "127.0.0.1", port), network=True)
        assert answer.code == 0, answer.output
    assert heard == [b"x"]


def test_PE12_nothing_is_sent_by_other_protocols(place):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as service:
        service.bind(("127.0.0.1", 0))
        service.settimeout(0.5)
        place.run(connect("AF_INET", "SOCK_DGRAM", "127.0.0.1", service.getsockname()[1]))
        with pytest.raises(TimeoutError):
            service.recv(10)
    place.refused(python("import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"))
    place.refused(python("import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"))


@pytest.mark.parametrize("where", ["outside", "agent", "daemon", "vault", "abstract", "temporary"])
def test_PE12_no_socket_of_this_machine_is_reached(place, where, tmp_path):
    name = uuid.uuid4().hex[:8]
    path = {
        "outside": place.outside / f"{name}.sock",
        "agent": place.outside / "agent.sock",
        "daemon": place.home / "run" / f"{name}.sock",
        "vault": place.vault / f"{name}.sock",
        "temporary": Path(tempfile.gettempdir()) / f"{name}.sock",
        "abstract": Path(f"@{name}"),
    }[where]
    address = f"\0{name}" if where == "abstract" else str(path)
    if len(address) > 100:
        os.chdir(path.parent)
        pytest.skip("platform: the checkout's path is too long for a socket")
    with listening(socket.AF_UNIX, address) as (heard, _):
        if where != "abstract":
            path.chmod(0o777)
        place.refused(connect("AF_UNIX", "SOCK_STREAM", path))
    assert heard == []
    if where != "abstract":
        path.unlink()


def test_PE12_the_databases_of_this_machine_are_not_reached(place):
    for folder in ("/run/postgresql", "/var/run/postgresql", "/run/mysqld", "/run/dbus", "/run/docker.sock"):
        place.refused(f"ls {folder} | grep .")


# staying behind


@pytest.mark.parametrize(
    "command",
    [
        "sleep {n} &",
        "nohup sleep {n} >/dev/null 2>&1 &",
        "setsid sleep {n} >/dev/null 2>&1 < /dev/null &",
        "(setsid sh -c 'setsid sleep {n} & exit' &) ; exit 0",
        "sh -c 'trap \"\" TERM HUP INT; sleep {n}' & disown; exit 0",
        "python3 -c 'import os; os.fork() or (os.setsid(), os.fork() or os.execvp(\"sleep\", [\"sleep\", \"{n}\"]))'",
    ],
)  # fmt: skip
def test_PE12_no_process_outlives_its_command(place, command):
    marker = f"31{uuid.uuid4().int % 10**9}.5"
    answer = place.run(command.format(n=marker), seconds=10)
    assert answer.ended
    assert answer.closed, "something still holds the output"
    assert left_behind(marker) == []


def test_PE12_a_command_that_does_not_end_is_ended(place):
    marker = f"31{uuid.uuid4().int % 10**9}.5"
    answer = place.run(f"trap '' TERM INT HUP; setsid sleep {marker} & sleep {marker}; sleep {marker}", seconds=1)
    assert not answer.ended
    assert answer.closed
    assert answer.seconds < 20
    assert left_behind(marker) == []


def test_PE12_a_fork_bomb_is_ended_at_its_deadline(place):
    marker = f"bomb{uuid.uuid4().hex[:8]}"
    bomb = f"exec -a {marker} bash -c 'b() {{ b | b & }}; b; sleep 30' {marker}"
    answer = place.run(bomb, seconds=2, processes=120)
    assert answer.closed
    assert answer.seconds < 30
    assert left_behind(marker) == []


MANY = """
import os, time
for number in range(400):
    try:
        child = os.fork()
    except OSError:
        print("bounded at", number)
        break
    if not child:
        time.sleep(30)
        os._exit(0)
"""


def test_PE12_the_number_of_processes_is_bounded(place):
    (place.vault / "many.py").write_text(MANY)
    answer = place.run(f"{SYSTEM_PYTHON} many.py", processes=100)
    assert "bounded at" in answer.output
    assert int(answer.output.split()[-1]) <= 100


def test_PE12_no_terminal_can_be_typed_into(place):
    place.refused("exec 5<>/dev/tty")
    code = 'import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b"x")'
    place.refused(python(code))


# ways out through the vault


def test_PE12_what_programs_outside_obey_is_kept(place):
    if place.kind != "bubblewrap":
        pytest.skip("platform: Landlock cannot except files inside the vault; describe() says so")
    hooks = place.vault / ".git/hooks"
    hooks.mkdir(parents=True)
    os.chown(hooks, place.uid, place.gid)
    os.chown(hooks.parent, place.uid, place.gid)
    guarded = [hooks]
    for command in (
        "echo x > .git/hooks/pre-commit",
        "mv .git/hooks .git/h2 && mkdir .git/hooks && echo x > .git/hooks/pre-commit",
        "mv .git g2 && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
        "rm -rf .git && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
        "ln -sfn /tmp .git/hooks && echo x > .git/hooks/pre-commit",
        "mount --bind /tmp .git/hooks && echo x > .git/hooks/pre-commit",
    ):
        place.refused(command, guarded=guarded)
        assert not (hooks / "pre-commit").exists()
    assert place.run("echo x > .git/fine", guarded=guarded).code == 0
    shutil.rmtree(place.vault / ".git")
