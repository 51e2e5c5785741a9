"""The chain of sessions on the page: timeline, digest, transcript, raw, recovery, figures, seal and unseal (UI1)."""

import re

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import SECONDS
from e2e.page.served import Hosts

expect.set_options(timeout=SECONDS)


def no_sideways(window) -> None:
    """The page itself never scrolls sideways."""
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert window.page.evaluate(wide) <= 0, window.name


def inert(window) -> None:
    """What a script in the texts would have done."""
    assert "owned" not in window.page.title()
    assert window.page.locator("main script, main img").count() == 0


def test_UI1_the_timeline_says_how_each_session_stands(window, told):
    one = window(server=told)
    page, scenes = one.page, told.scenes
    one.open("sessions")
    threads = page.get_by_role("region", name="Conversations")
    expect(threads.get_by_role("link", name=re.compile("The login test is flaky"))).to_contain_text("2 sessions")
    expect(page.get_by_text("Choose a conversation")).to_be_visible()
    one.axe()
    page.get_by_label("Host", exact=True).select_option("codex")
    expect(threads.get_by_role("link")).to_have_count(1)
    expect(threads.get_by_role("link")).to_contain_text("Add a --dry-run option")
    page.get_by_role("searchbox").fill("nothing is called like this")
    expect(page.get_by_text("No conversation matches")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    threads.get_by_role("link", name=re.compile("The login test is flaky")).click()

    chain = page.get_by_role("navigation", name="Chain of sessions")
    expect(chain.get_by_role("listitem")).to_have_count(2)
    expect(chain.get_by_role("link", name=re.compile("Session 2"))).to_have_attribute("aria-current", "page")
    chain.get_by_role("link", name=re.compile("Session 1")).click()
    first = chain.get_by_role("link", name=re.compile("Session 1"))
    for said in ("Sealed", "by hand", "88%", "1 compaction"):
        expect(first).to_contain_text(said)
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("158k of 200k tokens")
    expect(panel).to_contain_text("Verified: as it was written")
    expect(panel.get_by_role("meter")).to_have_attribute("aria-valuenow", "88")
    expect(panel).to_contain_text("memory-bank/MEMORY.md")
    expect(panel).to_contain_text("must read 2 anchors again")
    plot = panel.get_by_role("img", name=re.compile(r"Tokens in the context over time.*1 compaction"))
    expect(plot).to_be_visible()
    for mark in ("warns", "acts"):
        expect(plot.get_by_text(mark)).to_be_visible()
    plot.focus()
    page.keyboard.press("End")
    expect(panel.locator("strong", has_text="158,000")).to_be_visible()
    panel.get_by_text("Show as a table").click()
    expect(panel.get_by_role("cell", name="168,000 → 42,000")).to_be_visible()
    one.axe()
    page.get_by_role("region", name="Conversations").focus()
    assert scenes.first in page.url


def test_UI1_digest_transcript_and_raw_lead_to_every_event(window, told):
    one = window(server=told, theme="dark")
    page, scenes = one.page, told.scenes
    one.open(f"sessions/{scenes.first}/digest")
    panel = page.get_by_role("tabpanel")
    for heading in ("Where it stood", "What was asked", "Files", "Commands", "Errors", "Decisions", "Tools"):
        expect(panel.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    expect(panel).to_contain_text("Found by rules")
    expect(panel.get_by_text("<script>").first).to_be_visible()
    inert(one)
    one.axe()
    panel.get_by_role("link", name="Go to event 17").first.click()
    expect(page.get_by_role("tab", name="Transcript")).to_have_attribute("aria-selected", "true")
    expect(page.locator("article.target")).to_contain_text("Does it also happen with SSO?")
    expect(page.locator("article.target")).to_be_in_viewport()
    inert(one)
    one.axe()
    page.locator("article.target").get_by_role("button").click()
    sheet = page.get_by_role("dialog", name="Event 17")
    expect(sheet).to_contain_text('"kind": "prompt_submitted"')
    inert(one)
    one.axe()
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    page.get_by_role("tab", name="Raw").click()
    expect(page.locator("article").first).to_contain_text("Session started")
    page.get_by_label("Go to event").fill("16")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.locator("article", has_text="Compacted").first).to_be_visible()
    inert(one)
    one.axe()


@pytest.mark.parametrize(("language", "theme"), [("zh", "dark"), ("en", "light")])
def test_UI1_sessions_fit_a_phone(window, told, language, theme):
    one = window(server=told, phone=True, language=language, theme=theme)
    page, english = one.page, language == "en"
    one.open("sessions")
    link = page.get_by_role("link", name=re.compile("The login test is flaky"))
    expect(link).to_be_visible()
    no_sideways(one)
    one.axe()
    link.click()
    expect(page.get_by_role("heading", level=1, name=re.compile("The login test"))).to_be_visible()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("~31k of 200k tokens" if english else "~31k / 200k 令牌")
    for button in page.get_by_role("main").get_by_role("button").all():
        if button.is_visible():
            assert button.bounding_box()["height"] >= 43.9, button.inner_text()
    no_sideways(one)
    one.axe()
    for name in ("Digest", "Transcript", "Raw") if english else ("摘要", "记录", "原始"):
        page.get_by_role("tab", name=name).click()
        expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
        expect(panel.get_by_text("登录测试还需要写文档").first).to_be_visible()
        no_sideways(one)
        one.axe()
    page.get_by_role("link", name="All conversations" if english else "全部对话").click()
    expect(link).to_be_visible()
    expect(panel).to_have_count(0)


def test_UI1_a_transcript_of_ten_thousand_events_scrolls(window, told):
    one = window(server=told)
    page = one.page
    one.open(f"sessions/{told.scenes.long}/transcript")
    expect(page.get_by_text("Message number 2.", exact=False).first).to_be_visible()
    feed = page.get_by_role("region", name=re.compile("Transcript of session"))
    feed.hover()
    reached = 0
    for _ in range(60):
        page.mouse.wheel(0, 30_000)
        page.wait_for_timeout(50)
        reached = int(page.locator("article").last.get_attribute("data-no"))
        if reached > 600:
            break
    assert reached > 600, "scrolling loads what comes next"
    assert page.locator("article").count() < 150, "only what is in sight is in the document"
    page.get_by_label("Go to event").fill("5000")
    page.get_by_role("button", name="Go", exact=True).click()
    target = page.locator("article.target")
    expect(target).to_contain_text("Message number 5000.")
    expect(target).to_be_in_viewport()
    expect(page.get_by_text(re.compile(r"Event [45],\d{3} of 10,000"))).to_be_visible()
    # what comes in above does not move what is being read
    for _ in range(12):
        page.mouse.wheel(0, -3_000)
        page.wait_for_timeout(50)
    page.get_by_role("button", name="To the end").click()
    expect(page.get_by_text("Message number 10000.", exact=False)).to_be_in_viewport()
    page.get_by_role("button", name="To the start").click()
    expect(page.get_by_text("Message number 2.", exact=False).first).to_be_in_viewport()
    page.goto(f"{told.url}/#/sessions/{told.scenes.long}/9000")
    expect(page.locator("article.target")).to_contain_text("Message number 9000.")
    expect(page.locator("article.target")).to_be_in_viewport()


def test_SC3_seal_unseal_and_hand_off_with_confirmation(window, served):
    """Own conversations of this test, on the server that all share."""
    hosts = Hosts(served)
    try:
        where = hosts.begin("codex")
        hosts.say(where, "Write the changelog")
        hosts.reply(where, "It is written.")
        hosts.chain.end_turn(where, "run-1")
    finally:
        hosts.close()
    one = window()
    page = one.page
    one.open(f"sessions/{where.session}")
    page.get_by_role("button", name="Seal", exact=True).click()
    asked = page.get_by_role("dialog")
    expect(asked).to_contain_text("Seal session 1?")
    one.axe()
    asked.get_by_role("button", name="Cancel").click()
    assert served.get(f"/api/sessions/{where.session}")["state"] == "active"
    page.get_by_role("button", name="Seal", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Seal", exact=True).click()
    page.get_by_role("button", name="Unseal").click(timeout=SECONDS)
    assert served.get(f"/api/sessions/{where.session}")["sealReason"] == "manual"
    page.get_by_role("dialog").get_by_role("button", name="Unseal").click()
    expect(page.get_by_text("Session 1 is active again")).to_be_visible()
    page.get_by_role("button", name="Hand off").click()
    page.get_by_role("dialog").get_by_role("button", name="Hand off").click()
    told_next = page.get_by_role("dialog", name="What the next session is told")
    expect(told_next).to_contain_text("changelog")
    one.axe()
    page.keyboard.press("Escape")
    expect(page.get_by_role("navigation", name="Chain of sessions")).to_contain_text("handed off")


def test_UI1_a_session_that_is_not_there_says_so_and_can_be_asked_again(window, served):
    one = window()
    one.open("sessions/never-was")
    expect(one.page.get_by_role("alert")).to_contain_text("no such session")
    expect(one.page.get_by_role("button", name="Try again")).to_be_visible()
    one.problems.clear()  # the browser notes every answer that is no success
