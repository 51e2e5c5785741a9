"""UI1: `holdfast serve` as a process: its port, its link, its stream over a restart, its end, TLS."""

import datetime
import ipaddress
import json
import signal
import socket
import ssl
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx
import pytest

from doors.web.questions import PATIENCE, ask, until
from holdfast.control import Control
from holdfast.store.home import Home
from holdfast.store.page_processes import page_pids, page_ports

pytestmark = [pytest.mark.e2e]


class Serving:
    """A server process; `browser` is one that has entered."""

    def __init__(self, folder, *options: str, base: str = "", verify=True) -> None:
        self.home = Home(folder / "home")
        self.vault = folder / "vault"
        self.vault.mkdir(exist_ok=True)
        self._said, self._errors = folder / "said", folder / "errors"
        command = [sys.executable, "-m", "holdfast", "--home", str(self.home.root), "--vault", str(self.vault)]
        with self._said.open("wb") as said, self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [*command, "serve", "--json", *options],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=errors,
                cwd=folder,
            )
        until(lambda: self._said.read_text().endswith("\n") or self.process.poll() is not None, "the link")
        assert self.process.poll() is None, self._errors.read_text()
        self.facts = json.loads(self._said.read_text())
        self.browser = httpx.Client(base_url=self.facts["url"], timeout=60, verify=verify)
        self.browser.headers["x-holdfast"] = "none"

    def enter(self) -> "Serving":
        answer = self.browser.post("/api/enter", json={"code": self.facts["link"].partition("#enter=")[2]})
        assert answer.status_code == 200, answer.text
        self.browser.headers["x-holdfast"] = answer.json()["key"]
        return self

    def come_back(self, other: "Serving") -> "Serving":
        """The same browser, after the server was started anew."""
        self.browser.cookies = other.browser.cookies
        self.browser.headers["x-holdfast"] = other.browser.headers["x-holdfast"]
        return self

    @contextmanager
    def stream(self, last_id: str = ""):
        headers = {"last-event-id": last_id} if last_id else {}
        with self.browser.stream("GET", "/api/events", headers=headers, timeout=PATIENCE) as answer:
            assert answer.status_code == 200
            yield events_of(answer)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(60)
        self.close()
        return code

    def close(self) -> None:
        self.browser.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(60)


def events_of(answer):
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        if not line:
            if "data" in fields:
                yield fields.get("id", ""), fields["event"], json.loads(fields["data"])
            fields = {}
        else:
            name, _, value = line.partition(": ")
            fields[name] = value


def next_of(events, kind: str):
    return next(event for event in events if event[1] == kind)


@pytest.fixture
def serve(tmp_path):
    started: list[Serving] = []

    def start(*options: str, **given) -> Serving:
        started.append(Serving(tmp_path, *options, **given))
        return started[-1]

    yield start
    for one in started:
        one.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_UI1_the_stream_goes_on_over_a_broken_connection_and_a_restart(serve):
    port = str(free_port())
    first = serve("--port", port).enter()
    control = Control.open(first.home)
    try:
        with first.stream() as events:
            assert next(events)[1] == "ping"
            one = ask(control, first.vault, command="make one")
            last_id, _, card = next_of(events, "approval")
            assert card["id"] == one.id
        two = ask(control, first.vault, call_id="c2", command="make two")
        with first.stream(last_id) as events:
            identity, _, card = next_of(events, "approval")
            assert card["id"] == two.id, "nothing twice, nothing left out"
        assert first.stop() == 0

        second = serve("--port", port).come_back(first)
        assert second.browser.get("/api/hello").json()["pending"] == 2, "the browser is still known"
        with second.stream(identity) as events:
            three = ask(control, first.vault, call_id="c3", command="make three")
            kinds, cards = set(), set()  # earlier cards may come once more, and the new one before or after `resumed`
            while "resumed" not in kinds or three.id not in cards:
                _, kind, data = next(events)
                kinds.add(kind)
                if kind == "approval":
                    cards.add(data["id"])
            assert "reset" not in kinds
        assert second.stop(signal.SIGINT) == 0
    finally:
        control.close()


def test_UI1_an_answer_on_one_page_is_seen_on_the_other(serve):
    serving = serve("--port", str(free_port())).enter()
    control = Control.open(serving.home)
    try:
        code = serving.browser.post("/api/devices/pair", json={}).json()["code"]
        with httpx.Client(base_url=serving.facts["url"], timeout=60) as phone:
            phone.headers["x-holdfast"] = "none"
            phone.headers["x-holdfast"] = phone.post("/api/enter", json={"code": code}).json()["key"]
            with serving.stream() as events:
                next(events)
                waiting = ask(control, serving.vault, command="make all")
                assert next_of(events, "approval")[2]["status"] == "pending"
                answered = phone.post(f"/api/approvals/{waiting.id}/answer", json={"answer": "once"})
                assert answered.json()["approval"]["answeredHere"] is True
                seen = next_of(events, "approval")[2]
                assert (seen["status"], seen["answer"], seen["answeredHere"]) == ("answered", "once", False)
            late = serving.browser.post(f"/api/approvals/{waiting.id}/answer", json={"answer": "deny"})
            assert late.status_code == 409
    finally:
        control.close()


def test_UI1_its_port_and_process_are_written_down_while_it_runs(serve):
    serving = serve("--port", str(free_port()))
    assert page_ports(serving.home) == (serving.facts["port"],)
    assert page_pids(serving.home) == (serving.process.pid,)
    assert serving.stop() == 0
    assert page_ports(serving.home) == ()
    left = [path.name for path in serving.home.run.iterdir() if path.is_file()]
    assert "page-open.html" not in left


def test_UI1_a_taken_port_is_passed_over_or_named(serve, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run = serve_to_its_end(tmp_path, "--port", str(port))
        assert run.returncode == 1
        assert f"port {port} of 127.0.0.1 is taken" in run.stderr
        assert "--port" in run.stderr
    first, second = serve(), serve()
    assert first.facts["port"] != second.facts["port"]


def serve_to_its_end(folder, *options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "holdfast", "--home", str(folder / "home"), "serve", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=folder)


def test_UI1_beyond_loopback_it_needs_tls_or_a_proxy(tmp_path):
    run = serve_to_its_end(tmp_path, "--listen", "0.0.0.0")
    assert run.returncode == 2
    assert "--tls" in run.stderr
    nowhere = serve_to_its_end(tmp_path, "--listen", "192.0.2.1", "--behind-proxy", "https://x.example")
    assert nowhere.returncode == 1
    assert "192.0.2.1" in nowhere.stderr


def test_UI1_it_serves_with_a_certificate_of_the_users(serve, tmp_path):
    certificate, key = make_certificate(tmp_path)
    trust = ssl.create_default_context(cafile=str(certificate))
    serving = serve(
        "--listen", "0.0.0.0", "--port", str(free_port()), "--tls", str(certificate), str(key), verify=trust
    )
    assert serving.facts["url"].startswith("https://127.0.0.1:")
    answer = serving.browser.post("/api/enter", json={"code": serving.facts["link"].partition("#enter=")[2]})
    assert "secure" in answer.headers["set-cookie"].lower()
    assert "strict-transport-security" in answer.headers
    serving.browser.headers["x-holdfast"] = answer.json()["key"]
    pairing = serving.browser.post("/api/devices/pair", json={}).json()
    assert pairing["reachable"] is True
    assert pairing["url"].startswith("https://")


def make_certificate(folder):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "holdfast test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "cert.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    private.write_bytes(key.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    return certificate, private


def test_UI1_while_an_agent_works_the_page_answers(serve):
    """A run that keeps its own loop busy holds up no page; how long an answer takes is measured in benchmarks."""
    serving = serve("--port", str(free_port())).enter()
    browser = serving.browser
    thread = browser.post("/api/threads", json={}).json()["thread"]
    browser.post(f"/api/threads/{thread}/mode", json={"mode": "full_access", "confirmed": True})
    browser.post(f"/api/threads/{thread}/messages", json={"text": "run `sleep 30`"})
    until(lambda: (browser.get(f"/api/threads/{thread}").json()["live"] or {"tools": []})["tools"])
    for _ in range(20):
        assert browser.get("/api/hello").status_code == 200
    started = time.monotonic()
    assert serving.stop() == 0
    assert time.monotonic() - started < 60
