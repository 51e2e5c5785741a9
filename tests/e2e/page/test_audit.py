"""Every decision: facets, histogram, drawer with the reasons, replay, verification and export (UI1)."""

import csv
import json
import re

from playwright.sync_api import expect

from e2e.page.conftest import SECONDS

expect.set_options(timeout=SECONDS)


def test_UI1_audit_facets_histogram_and_search(window, told):
    one = window(server=told)
    page = one.page
    one.open("audit")
    rows = page.get_by_role("list", name="Decisions, newest first").get_by_role("listitem")
    expect(rows.first).to_be_visible()
    for facet in ("Decision", "Kind of access", "Tool", "Agent", "Host", "Decided by"):
        expect(page.get_by_role("group", name=facet, exact=True)).to_be_visible()
    one.axe()
    page.get_by_role("group", name="Decision", exact=True).get_by_label("Deny").check()
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("shell:rm -rf /")
    assert "decision=deny" in page.url
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("searchbox").fill("flaky-helper")
    expect(rows.first).to_contain_text("pip install flaky-helper")
    page.get_by_role("searchbox").fill("nothing like this")
    expect(page.get_by_text("No decision matches these filters")).to_be_visible()
    page.get_by_role("button", name="Clear filters").first.click()
    expect(rows.nth(3)).to_be_visible()

    plot = page.get_by_role("group", name=re.compile("Decisions over time"))
    denied = plot.get_by_role("button", name=re.compile("1 denied"))
    denied.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=re.compile(r" to \d"))).to_be_visible()
    assert re.search(r"since=\d+&until=\d+", page.url)
    expect(page.get_by_role("group", name="Decision", exact=True).get_by_label("Deny")).to_be_visible()
    page.get_by_role("button", name=re.compile(r" to \d")).click()
    page.get_by_label("Time range").select_option("1d")
    expect(rows.nth(3)).to_be_visible()
    # drawn across with the pointer
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + 60, steps=5)
    page.mouse.up()
    expect(page.get_by_role("button", name=re.compile(r" to \d"))).to_be_visible()
    page.get_by_text("Show as a table").click()
    expect(page.get_by_role("columnheader", name="denied")).to_be_visible()
    one.axe()


def test_UI1_the_drawer_tells_every_finding_and_replays(window, told):
    one = window(server=told, theme="dark")
    page = one.page
    one.open(f"audit/{told.scenes.denied}")
    drawer = page.get_by_role("dialog", name="Why this was decided")
    expect(drawer).to_contain_text("hard limit")
    expect(drawer).to_contain_text("needs a person's approval")
    expect(drawer.get_by_role("listitem").filter(has_text="Hard limits").first).to_be_visible()
    expect(drawer).to_contain_text("this limit holds in every mode")
    one.axe()
    drawer.get_by_role("button", name="Replay against today's rules").click()
    expect(drawer.get_by_text("Today's rules decide the same")).to_be_visible()
    drawer.get_by_text("Entry as it is on record").click()
    expect(drawer.get_by_text('"decision": "deny"').first).to_be_visible()
    drawer.get_by_role("link", name="Open in the transcript").click()
    expect(page.locator("article.target")).to_contain_text("rm -rf /")
    one.open(f"audit/{told.scenes.asked}")
    expect(drawer).to_contain_text("pip install flaky-helper")
    expect(drawer.get_by_text("holdfast rules add allow bash", exact=False).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)


def test_UI1_the_drawer_tells_what_a_person_answered(window, hosts):
    where = hosts.begin("claude-code")
    hosts.say(where, "install the helper")
    asked = hosts.ask(where, "bash", command="pip install answered-helper")
    hosts.control.approvals.answer(asked.id, "deny", by="ann", message="not on a Friday")
    one = window()
    one.open("audit")
    one.page.get_by_role("searchbox").fill("answered-helper")
    rows = one.page.get_by_role("list", name="Decisions, newest first").get_by_role("listitem")
    rows.filter(has_text="answered-helper").first.get_by_role("button").click()
    sections = one.page.get_by_role("dialog", name="Why this was decided").locator("section")
    expect(sections.first).to_contain_text("pip install answered-helper")
    answered = sections.filter(has_text="Approval answered")
    expect(answered).to_have_count(1)
    expect(answered).to_contain_text("Deny")
    expect(answered).to_contain_text("ann")
    answered.get_by_text("Entry as it is on record").click()
    expect(answered).to_contain_text("not on a Friday")
    one.axe()


def test_UI1_the_record_is_verified_and_exported(window, told, tmp_path):
    one = window(server=told)
    page = one.page
    one.open("audit?decision=deny")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("dialog")).to_contain_text("all as they were written")
    one.axe()
    page.keyboard.press("Escape")
    for label, name in (("JSON Lines", "jsonl"), ("CSV", "csv")):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as waited:
            page.get_by_role("dialog").get_by_role("button", name=re.compile(label)).click()
        file = tmp_path / name
        waited.value.save_as(file)
        text = file.read_text(encoding="utf-8")
        found = (
            [json.loads(line) for line in text.splitlines()]
            if name == "jsonl"
            else list(csv.DictReader(text.splitlines()))
        )
        assert [row["decision"] for row in found] == ["deny"], name
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_UI1_audit_on_a_phone_in_chinese(window, told):
    one = window(server=told, phone=True, language="zh", theme="light")
    page = one.page
    one.open("audit")
    rows = page.get_by_role("list", name="决定，最新的在前").get_by_role("listitem")
    expect(rows.first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    one.axe()
    page.get_by_role("button", name="筛选").click()
    sheet = page.get_by_role("dialog", name="筛选")
    sheet.get_by_label("拒绝").check()
    one.axe()
    sheet.get_by_role("button", name="完成").click()
    expect(rows).to_have_count(1)
    rows.first.get_by_role("button").click()
    drawer = page.get_by_role("dialog", name="为何如此决定")
    expect(drawer).to_contain_text("硬性限制")
    expect(drawer).to_contain_text("需先经人工批准")
    one.axe()
