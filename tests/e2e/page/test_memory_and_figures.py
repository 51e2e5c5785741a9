"""The memory bank with its proposals, the figures, and what every screen of the record shows when something fails."""

import re
from functools import partial

from playwright.sync_api import expect

from e2e.page.conftest import SECONDS

expect.set_options(timeout=SECONDS)


def _keep(held: list, route) -> None:
    held.append(route)


def test_MB6_a_proposal_is_read_written_undone_and_skipped(window, told):
    one = window(server=told)
    page, file = one.page, told.vault / "memory-bank" / "MEMORY.md"
    before = file.read_text(encoding="utf-8")
    one.open("memory")
    expect(page.get_by_role("heading", name="make the login test steady")).to_be_visible()
    expect(page.get_by_text("<script>").first).to_be_visible()
    one.axe()
    page.get_by_role("link", name="memory-bank/MEMORY.md").click()
    sheet = page.get_by_role("dialog", name="memory-bank/MEMORY.md")
    expect(sheet).to_contain_text("the token is renewed twice")
    assert page.locator("main script, dialog script, main img, dialog img").count() == 0
    assert "owned" not in page.title()
    one.axe()
    sheet.get_by_role("button", name="Write").click()
    expect(sheet).to_have_count(0)
    assert "the token is renewed twice" in file.read_text(encoding="utf-8")
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("As it was before: memory-bank/MEMORY.md")).to_be_visible()
    assert file.read_text(encoding="utf-8") == before
    page.get_by_role("link", name=re.compile("patterns.md")).click()
    page.get_by_role("dialog").get_by_role("button", name="Skip").click()
    expect(page.get_by_text("Nothing waits")).to_be_visible()
    page.get_by_text("All", exact=True).click()
    rows = page.get_by_role("main").locator("ul.rows li")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="skipped")).to_have_count(1)
    expect(rows.filter(has_text="undone")).to_have_count(1)


def test_UI1_figures_by_day_and_by_session(window, told):
    for phone, language, theme in ((False, "en", "dark"), (True, "zh", "light")):
        one = window(server=told, phone=phone, language=language, theme=theme)
        page = one.page
        one.open(f"plots?session={told.scenes.first}")
        name = "decision" if language == "en" else "个决定"
        expect(page.get_by_role("group", name=re.compile(name))).to_be_visible()
        expect(page.get_by_role("img", name=re.compile("Tokens|令牌"))).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        one.axe()
    page.get_by_role("group", name=re.compile(name)).get_by_role("button").last.click()
    expect(page.get_by_role("heading", level=1, name="审计")).to_be_visible()
    assert "since=" in page.url


def test_UI1_every_screen_waits_with_a_skeleton_and_fails_with_a_way_to_try_again(window, told):
    one = window(server=told)
    page = one.page
    screens = {
        "sessions": "**/api/chains?*",
        f"sessions/{told.scenes.first}/digest": "**/api/sessions/*/digest",
        f"sessions/{told.scenes.first}/transcript": "**/api/sessions/*/events?*",
        "search?q=login": "**/api/search?*",
        "audit": "**/api/audit?*",
        "rules": "**/api/rules",
        "rules/templates": "**/api/rules/templates",
        "settings/prompt": "**/api/system-prompt",
        "settings/models": "**/api/models",
        "settings/strategy": "**/api/strategies",
        "settings/devices": "**/api/devices",
        "settings/all": "**/api/settings",
        "memory": "**/api/memory",
        "plots": "**/api/stats/decisions?*",
    }
    for place, address in screens.items():
        held = []
        page.route(address, partial(_keep, held))
        page.goto("about:blank")
        one.open(place)
        for _ in range(SECONDS // 50):
            if held:
                break
            page.wait_for_timeout(50)
        assert held, f"{place} asked nothing of {address}"
        expect(page.get_by_role("status").filter(has_text="Loading").first).to_be_attached()
        for route in held:
            route.fulfill(status=503, json={"error": {"code": "store", "params": {}, "text": "no"}})
        problem = page.get_by_role("alert").filter(has_text="The record cannot be read")
        expect(problem).to_be_visible()
        page.unroute(address)
        problem.get_by_role("button", name="Try again").click()
        expect(problem).to_have_count(0)
    one.problems.clear()  # the browser notes the failures that were made
