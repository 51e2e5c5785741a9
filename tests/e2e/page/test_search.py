"""Search over everything that was said and done, in every host (UI1)."""

import re

from playwright.sync_api import expect

from e2e.page.conftest import SECONDS

expect.set_options(timeout=SECONDS)


def test_UI1_search_finds_filters_pages_and_jumps(window, told):
    one = window(server=told)
    page = one.page
    one.open("search")
    expect(page.get_by_text("Search everything that was said and done")).to_be_visible()
    one.axe()
    field = page.get_by_role("searchbox")
    page.keyboard.press("/")
    expect(field).to_be_focused()
    page.keyboard.type("token renewed")
    hits = page.get_by_role("main").locator("ol > li")
    expect(hits.first).to_be_visible()
    expect(hits.first.locator("mark").first).to_have_text(re.compile("token|renewed", re.IGNORECASE))
    expect(page.get_by_text("<script>").first).to_be_visible()
    assert page.locator("main script, main img").count() == 0
    one.axe()

    page.get_by_role("button", name="Filters").click()
    sheet = page.get_by_role("dialog", name="Filters")
    for label in ("Kind", "Tool", "File or folder", "Host", "Agent", "Project", "Session", "Time"):
        expect(sheet.get_by_label(label, exact=True)).to_be_visible()
    one.axe()
    sheet.get_by_label("Kind", exact=True).select_option("assistant_replied")
    sheet.get_by_label("Time", exact=True).select_option("7")
    sheet.get_by_role("button", name="Done").click()
    expect(hits).to_have_count(1)
    expect(hits.first).to_contain_text("Answer")
    expect(hits.first).to_contain_text("Claude Code")
    assert "kind=assistant_replied" in page.url
    page.get_by_role("button", name=re.compile("Remove filter Kind")).click()
    page.get_by_role("button", name="Clear filters").click()
    field.fill("wordthatnobodysaid")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    one.axe()

    field.fill("line")
    more = page.get_by_role("button", name="More hits")
    expect(more).to_be_visible()
    expect(hits).to_have_count(20)
    more.click()
    expect(hits).to_have_count(40)
    field.fill("dry-run")
    expect(hits.first).to_contain_text("Codex")
    field.press("ArrowDown")
    expect(hits.first.get_by_role("link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("article.target")).to_contain_text("dry-run")
    assert told.scenes.codex in page.url


def test_UI1_search_on_a_phone_in_chinese(window, told):
    one = window(server=told, phone=True, language="zh", theme="dark")
    page = one.page
    one.open("search?q=登录")
    hit = page.get_by_role("main").locator("ol > li").first
    expect(hit.locator("mark").first).to_have_text("登录")
    expect(hit).to_contain_text("请求")
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    one.axe()
    page.get_by_role("button", name="筛选").click()
    sheet = page.get_by_role("dialog", name="筛选")
    expect(sheet.get_by_label("类型")).to_be_visible()
    one.axe()
    sheet.get_by_role("button", name="完成").click()
    hit.get_by_role("link").click()
    expect(page.locator("article.target")).to_contain_text("登录测试")
