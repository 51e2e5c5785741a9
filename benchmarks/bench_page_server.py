"""The page's server as a process: how soon it is there, how soon a page learns what another process wrote, how long
answers take while events stream in, and how a large output opens.

    python benchmarks/bench_page_server.py [--megabytes 100] [--events 500] [--rate 50]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx

from holdfast.control import Control
from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.home import Home
from holdfast.store.interface import Session
from holdfast.testing.builders import EventBuilder


def p(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] * 1000


class Page:
    def __init__(self, folder: Path) -> None:
        self.home, self.vault = Home(folder / "home"), folder / "vault"
        self.vault.mkdir()
        started = time.perf_counter()
        command = [sys.executable, "-m", "holdfast", "--home", str(self.home.root), "--vault", str(self.vault)]
        self.process = subprocess.Popen([*command, "serve", "--json"], stdout=subprocess.PIPE, text=True)
        facts = json.loads(self.process.stdout.readline())
        self.client = httpx.Client(base_url=facts["url"], timeout=60, headers={"x-holdfast": "none"})
        code = facts["link"].partition("#enter=")[2]
        self.client.headers["x-holdfast"] = self.client.post("/api/enter", json={"code": code}).json()["key"]
        self.client.get("/api/hello")
        print(f"from the command to the first answer     {time.perf_counter() - started:8.2f} s")
        self.control = Control.open(self.home)
        where = SessionId(SessionKey("local", "bench", "bench"), "bench")
        self.control.store.open_session(Session(where, "claude-code", str(self.vault), time.time()))
        self.build = EventBuilder(where, cwd=str(self.vault))

    def close(self) -> None:
        self.client.close()
        self.control.close()
        self.process.terminate()
        self.process.wait(30)


def streaming(page: Page, events: int, rate: float) -> None:
    """Another process (this one) writes; how long until the page has it, and how long its requests take meanwhile."""
    sent: dict[str, float] = {}
    lags: list[float] = []
    ready = threading.Event()

    def listen() -> None:
        with httpx.Client(base_url=page.client.base_url, cookies=page.client.cookies, timeout=60) as client:
            headers = {"x-holdfast": page.client.headers["x-holdfast"]}
            with client.stream("GET", "/api/events", headers=headers) as answer:
                ready.set()
                for line in answer.iter_lines():
                    if line.startswith("data: ") and '"text":"bench ' in line:
                        lags.append(time.perf_counter() - sent[json.loads(line[6:])["item"]["text"]])
                        if len(lags) == events:
                            return

    listener = threading.Thread(target=listen)
    listener.start()
    ready.wait(30)
    asked: list[float] = []
    ending = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=page.client.base_url, cookies=page.client.cookies, timeout=60) as client:
            client.headers["x-holdfast"] = page.client.headers["x-holdfast"]
            while not ending.is_set():
                begun = time.perf_counter()
                client.get("/api/approvals")
                asked.append(time.perf_counter() - begun)
                time.sleep(0.02)

    asking = threading.Thread(target=ask)
    asking.start()
    for number in range(events):
        text = f"bench {number}"
        sent[text] = time.perf_counter()
        page.control.plane.handle(page.build.prompt(text))
        time.sleep(max(0.0, 1 / rate - (time.perf_counter() - sent[text])))
    listener.join(60)
    ending.set()
    asking.join(60)
    print(f"another process's event on the page      {p(lags, 0.5):8.1f} ms p50 {p(lags, 0.95):8.1f} ms p95")
    print(f"an API answer at {rate:3.0f} events/s            {p(asked, 0.5):8.1f} ms p50 {p(asked, 0.95):8.1f} ms p95")


def large_output(page: Page, megabytes: int) -> None:
    line = "a line of an output, with a number: {:09d}\n"
    text = "".join(line.format(number) for number in range((megabytes << 20) // len(line.format(0))))
    call = page.build.call("bash", call_id="large", command="x")
    page.control.plane.handle(page.build.called(call, text))
    path = "/api/outputs/bench/large"
    for name, ask in (
        ("opened (first time)", lambda: page.client.get(path)),
        ("opened (again)", lambda: page.client.get(path)),
        (
            "200 lines from the middle",
            lambda: page.client.get(f"{path}/lines?from={text.count(chr(10)) // 2}&count=200"),
        ),
        ("200 lines from the end", lambda: page.client.get(f"{path}/lines?from={text.count(chr(10)) - 200}&count=200")),
    ):
        begun = time.perf_counter()
        answer = ask().json()
        print(f"{megabytes} MB: {name:32} {(time.perf_counter() - begun) * 1000:8.1f} ms ({answer['state']})")
    begun, following, rounds = time.perf_counter(), 0, 0
    while following is not None:
        answer = page.client.get(f"{path}/find?q=not+there+at+all&from={following}").json()
        following, rounds = answer["next"], rounds + 1
    took = (time.perf_counter() - begun) * 1000
    print(f"{megabytes} MB: {'searched to the end, nothing':32} {took:8.1f} ms in {rounds} requests")


def revision_cost(page: Page) -> None:
    store = page.control.store
    begun = time.perf_counter()
    for _ in range(10_000):
        store.revision()
    print(f"asking whether anything was written      {(time.perf_counter() - begun) / 10_000 * 1e6:8.1f} µs")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--events", type=int, default=500)
    parser.add_argument("--rate", type=float, default=50)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = Page(Path(folder))
        try:
            time.sleep(4)  # the model libraries are being loaded beside it
            revision_cost(page)
            streaming(page, given.events, given.rate)
            large_output(page, given.megabytes)
        finally:
            page.close()


if __name__ == "__main__":
    main()
