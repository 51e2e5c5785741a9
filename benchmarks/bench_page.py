"""How quick the page is: bytes of the first load, first paint, and the delay of a key while 50 events a second come in.

A real server, a real Chromium, the built page. Bytes are counted at the server's door as the browser is sent them
(compressed); the paint is the browser's own `first-contentful-paint`; a key's delay is from its event to the next frame
that shows its letter. The keys are typed into the conversation that streams: text of a model and output of commands,
first in a new one, then behind ten thousand events that are all loaded.

    python benchmarks/bench_page.py [--rounds 5] [--keys 200] [--rate 90] [--past 10000] [--json]
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from e2e.page.served import Hosts, Served
from holdfast.store.interface import Change, EventRecord
from holdfast.testing import ChatCompletionsServer, Script, ToolUse, Turn

LIMITS = {"first load, kB": 120.0, "first paint, ms": 1000.0, "key to frame p95, ms": 50.0, "long: key p95, ms": 50.0}
MODEL = "talker"
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
WATCH_KEYS = """() => {
  window.delays = []
  document.querySelector('textarea').addEventListener('keydown', (event) => {
    const pressed = event.timeStamp
    requestAnimationFrame(() => setTimeout(() => window.delays.push(performance.now() - pressed)))
  })
  window.gaps = []
  let last = performance.now()
  const step = (now) => {
    window.gaps.push(now - last)
    last = now
    requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
}"""


def first_loads(browser, served, rounds):
    sizes, paints = [], []
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(served.link())
    page.locator("nav").wait_for()
    for _ in range(rounds):
        fresh = context.new_page()
        session = context.new_cdp_session(fresh)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        bytes_of = {}
        paths = {}
        session.on(
            "Network.responseReceived",
            lambda event, at=paths: at.update({event["requestId"]: event["response"]["url"]}),
        )
        session.on(
            "Network.loadingFinished",
            lambda event, at=bytes_of: at.update({event["requestId"]: event["encodedDataLength"]}),
        )
        fresh.goto(f"{served.url}/#/chat")
        fresh.locator("nav").wait_for()
        fresh.wait_for_function(PAINT)
        paints.append(fresh.evaluate(PAINT))
        sizes.append(sum(size for one, size in bytes_of.items() if "/api/" not in paths.get(one, "")) / 1000)
        fresh.close()
    context.close()
    return sizes, paints


class Talker:
    """A model that never stops: text deltas at `rate`, and from time to time a command that prints at `rate`."""

    def __init__(self, rate):
        self.pause = 1 / rate
        self.server = ChatCompletionsServer(self._script)

    def _script(self, request):
        turn = sum(1 for message in request.messages if message.role == "assistant")
        if turn % 2:
            lines = f"for i in $(seq 150); do echo line $i of the log; sleep {self.pause}; done"
            return Script(Turn("", (ToolUse("bash", {"command": lines}, f"call-{request.number}"),)))
        text = "".join(
            f"{'## Part' if at % 40 == 0 else '- point'} {at} with **some** words and `code`\n" for at in range(300)
        )
        return Script(Turn(text, (ToolUse("ls", {"path": "."}, f"ls-{request.number}"),), piece_delay=self.pause))


def key_delays(browser, served, keys, past):
    """Delays of keys typed into the very conversation that streams, behind `past` events that are all loaded."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(served.link())
    page.locator("nav").wait_for()
    thread = served.post("/api/threads")["thread"]
    served.post(f"/api/threads/{thread}/mode", {"mode": "full_access", "confirmed": True})
    if past:
        write_past(served, thread, past)
    page.goto(f"{served.url}/#/chat/{thread}{'?event=2' if past else ''}")
    page.locator("textarea").wait_for()
    if past:
        until(page, f"Number(document.querySelector('[data-count]')?.dataset.count) >= {past - 10}")
        page.get_by_role("button", name="To the newest").click()
    served.post(f"/api/threads/{thread}/messages", {"text": "go on"})
    page.locator('[data-row="reply"], [data-row="tool"]').first.wait_for()
    page.evaluate(WATCH_KEYS)
    page.locator("textarea").focus()
    began, before = time.perf_counter(), served.get(f"/api/threads/{thread}")["eventNo"]
    page.keyboard.type("x" * keys, delay=60)
    seconds = time.perf_counter() - began
    events = served.get(f"/api/threads/{thread}")["eventNo"] - before
    until(page, f"window.delays.length >= {keys}")
    delays, frames = page.evaluate("[window.delays, window.gaps]")
    served.post(f"/api/threads/{thread}/stop")
    context.close()
    return sorted(delays), sorted(frames), events / seconds


def until(page, condition, seconds=180):
    """Playwright's own waiting compiles a string in the page, which its policy forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        if time.monotonic() > end:
            raise SystemExit(f"{condition} did not come true in {seconds} s")
        page.wait_for_timeout(100)


def write_past(served, thread, count):
    """A long conversation, written into the record in one step: messages, replies, calls with their output."""
    hosts = Hosts(served)
    try:
        where = next(row for row in hosts.control.store.sessions(thread=thread)).id
        now = time.time() - count
        records = []
        for number in range(2, count + 2):
            kind = "prompt_submitted" if number % 10 == 0 else "assistant_replied"
            text = f"Event {number} with **some** words. " + "It goes on for a while. " * (number * 7 % 23)
            data = {"text": text, "format": 1}
            records.append(
                EventRecord(
                    id=f"past-{number}",
                    where=where,
                    at=now + number,
                    kind=kind,
                    data=data,
                    invocation=f"run-{number // 10}",
                )
            )
        hosts.control.store.commit(Change(where, events=tuple(records)))
    finally:
        hosts.close()


def at(values, share):
    return round(values[min(len(values) - 1, int(len(values) * share))], 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--rate", type=float, default=90.0, help="while text or output comes; less in all")
    parser.add_argument("--past", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no chromium here; install Debian's package `chromium`")
        return
    from playwright.sync_api import sync_playwright

    talker = Talker(given.rate)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder, talker.server:
        served = Served(Path(folder))
        models = {MODEL: {"baseUrl": talker.server.base_url, "customContext": 4_000_000}}
        config = {"agents": {"runtime": {"model": MODEL, "models": models}}}
        (served.home / "config.jsonc").write_text(json.dumps(config), encoding="utf-8")
        served.start()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                sizes, paints = first_loads(browser, served, given.rounds)
                fresh, fresh_gaps, fresh_rate = key_delays(browser, served, given.keys, 0)
                long, long_gaps, long_rate = key_delays(browser, served, given.keys, given.past)
                browser.close()
        finally:
            served.close()
    found = {
        "first load, kB": round(max(sizes), 1),
        "first paint, ms": round(statistics.median(paints)),
        "key to frame p50, ms": at(fresh, 0.5),
        "key to frame p95, ms": at(fresh, 0.95),
        "gap of frames p99, ms": at(fresh_gaps, 0.99),
        "events a second": round(fresh_rate, 1),
        "long: events": given.past,
        "long: key p50, ms": at(long, 0.5),
        "long: key p95, ms": at(long, 0.95),
        "long: gap p99, ms": at(long_gaps, 0.99),
        "long: events a second": round(long_rate, 1),
    }
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        limit = f"  (limit {LIMITS[name]:g}: {'kept' if value < LIMITS[name] else 'BROKEN'})" if name in LIMITS else ""
        print(f"{name:24} {value:>8}{limit}")


if __name__ == "__main__":
    main()
