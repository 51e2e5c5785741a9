"""How quick the page is: bytes of the first load, first paint, and the delay of a key while 50 events a second come in.

A real server, a real Chromium, the built page. Bytes are counted at the server's door as the browser is sent them
(compressed); the paint is the browser's own `first-contentful-paint`; a key's delay is from its event to the next frame
that shows its letter.

    python benchmarks/bench_page.py [--rounds 5] [--keys 60] [--rate 50] [--json]
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from e2e.page.served import Hosts, Served

LIMITS = {"first load, kB": 120.0, "first paint, ms": 1000.0, "key to frame p95, ms": 50.0}
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
WATCH_KEYS = """() => {
  window.delays = []
  document.querySelector('textarea').addEventListener('keydown', (event) => {
    const pressed = event.timeStamp
    requestAnimationFrame(() => setTimeout(() => window.delays.push(performance.now() - pressed)))
  })
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


def key_delays(browser, served, keys, rate):
    hosts = Hosts(served)
    where = hosts.begin("claude-code")
    hosts.say(where, "stream")
    ending = threading.Event()
    sent = 0

    def stream():
        nonlocal sent
        while not ending.is_set():
            started = time.perf_counter()
            hosts.reply(where, f"event {sent} with **some** words of a reply that goes on and on " * 3)
            sent += 1
            ending.wait(max(0.0, 1 / rate - (time.perf_counter() - started)))

    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(served.link())
    page.locator("nav").wait_for()
    own = served.thread("help")
    served.until_idle(own)
    page.goto(f"{served.url}/#/chat/{own}")
    page.locator("textarea").wait_for()
    page.evaluate(WATCH_KEYS)
    page.locator("textarea").focus()
    thread = threading.Thread(target=stream, daemon=True)
    thread.start()
    began = time.perf_counter()
    page.keyboard.type("x" * keys, delay=60)
    seconds = time.perf_counter() - began
    page.wait_for_function(f"window.delays.length >= {keys}")
    ending.set()
    thread.join(30)
    delays = page.evaluate("window.delays")
    context.close()
    hosts.close()
    return delays, sent / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no chromium here; install Debian's package `chromium`")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        served = Served(Path(folder)).start()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                sizes, paints = first_loads(browser, served, given.rounds)
                delays, rate = key_delays(browser, served, given.keys, given.rate)
                browser.close()
        finally:
            served.close()
    delays.sort()
    found = {
        "first load, kB": round(max(sizes), 1),
        "first paint, ms": round(statistics.median(paints)),
        "key to frame p50, ms": round(delays[len(delays) // 2], 1),
        "key to frame p95, ms": round(delays[int(len(delays) * 0.95)], 1),
        "events a second": round(rate, 1),
    }
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        limit = f"  (limit {LIMITS[name]:g}: {'kept' if value < LIMITS[name] else 'BROKEN'})" if name in LIMITS else ""
        print(f"{name:24} {value:>8}{limit}")


if __name__ == "__main__":
    main()
