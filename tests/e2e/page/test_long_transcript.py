"""A conversation of ten thousand events opens at its end, scrolls to its beginning, and stays in its place."""

import time
import uuid

from playwright.sync_api import expect

from e2e.page.conftest import SECONDS
from holdfast.core.events import AssistantReplied, PromptSubmitted

EVENTS = 10_000
AT_ONCE = 250


def lived(hosts, count):
    where = hosts.begin("claude-code")
    now = time.time() - count
    for start in range(0, count, AT_ONCE):
        events = []
        for number in range(start, start + AT_ONCE):
            header = {"id": uuid.uuid4().hex, "at": now + number, "where": where, "invocation": f"run-{number // 10}"}
            words = f"event number {number} " + "with **more** words " * (number % 7)
            kind = PromptSubmitted if number % 2 == 0 else AssistantReplied
            events.append(kind(**header, text=words))
        hosts.control.plane.handle_all(events)
    return where


def test_UI1_ten_thousand_events_scroll(window, hosts):
    where = lived(hosts, EVENTS)
    one = window()
    one.open(f"chat/{where.key.thread}")
    log = one.page.get_by_role("log")
    expect(log.get_by_text(f"event number {EVENTS - 1} ").first).to_be_visible(timeout=SECONDS)
    rows = one.page.locator("[data-row]")
    assert rows.count() < 80
    # Upwards in steps: earlier pages come in while what is read stays where it is.
    seen, end = EVENTS, time.monotonic() + 120
    while seen >= EVENTS - 500:
        assert time.monotonic() < end
        one.page.evaluate("document.querySelector('[role=log]').scrollTop = 0")
        one.page.mouse.move(800, 400)
        one.page.mouse.wheel(0, -50)
        one.page.wait_for_timeout(150)
        first = int(one.page.locator("[data-row]").first.inner_text().split("event number ")[1].split()[0])
        seen = min(seen, first)
        assert rows.count() < 80
    one.page.get_by_role("button", name="To the newest").click()
    expect(log.get_by_text(f"event number {EVENTS - 1} ").first).to_be_visible()
    # A place in the far past is reached directly.
    one.open(f"chat/{where.key.thread}?event=40")
    expect(log.get_by_text("event number 38 ").first).to_be_visible(timeout=60_000)
    count = one.page.locator("[data-count]").get_attribute("data-count")
    assert int(count) >= EVENTS
    assert rows.count() < 80
    # What is read does not move when something new is said at the end.
    spot = log.get_by_text("event number 38 ").first.bounding_box()["y"]
    hosts.reply(where, "the newest of all")
    expect(one.page.locator(f'[data-count="{int(count) + 1}"]')).to_have_count(1, timeout=SECONDS)
    assert abs(log.get_by_text("event number 38 ").first.bounding_box()["y"] - spot) < 3
    one.axe()
