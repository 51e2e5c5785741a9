"""Rules on the page: their order, adding and removing with a way back, the test field, templates, the simulator."""

import re

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import SECONDS
from e2e.page.record_scenes import SCRIPT

expect.set_options(timeout=SECONDS)


@pytest.fixture
def no_rules(told):
    """The user's rules are taken away again."""
    yield
    told.put("/api/settings", {"key": "permission.templates", "unset": True})
    for rule in reversed([one for one in told.get("/api/rules")["rules"] if one["own"]]):
        told._ask("DELETE", f"/api/rules/{rule['index']}", {k: rule[k] for k in ("domain", "pattern", "decision")})


def add(page, decision, domain, pattern):
    form = page.get_by_role("group", name="Add a rule")
    form.get_by_label("Decision").select_option(decision)
    form.get_by_label("Kind of access").select_option(domain)
    form.get_by_label("Pattern").fill(pattern)
    page.get_by_role("button", name="Add", exact=True).click()


@pytest.mark.usefixtures("no_rules")
def test_PE7_rules_are_added_removed_and_put_back(window, told):
    one = window(server=told)
    page = one.page
    one.open("rules")
    expect(page.get_by_text("No rules of your own")).to_be_visible()
    one.axe()
    rows = page.get_by_role("list", name="Rules in their order").get_by_role("listitem")
    add(page, "allow", "bash", "git status *")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text(re.compile(r"config\.jsonc:\d+"))
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("No rules of your own")).to_be_visible()
    add(page, "allow", "bash", "git status *")
    expect(rows).to_have_count(1)
    add(page, "deny", "bash", "git *")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("shadowed by")
    add(page, "deny", "edit", f"vault:{SCRIPT}")
    expect(rows).to_have_count(3)
    expect(rows.nth(2)).to_contain_text("<script>")
    assert page.locator("main script, main img").count() == 0
    assert "owned" not in page.title()
    add(page, "deny", "bash", "regex:(")
    expect(page.get_by_role("alert")).to_contain_text("nothing was written")
    one.axe()
    rows.nth(1).get_by_role("button", name=re.compile("Remove rule")).click()
    expect(rows).to_have_count(2)
    page.get_by_role("status").get_by_role("button", name="Undo").last.click()
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("git *")
    page.get_by_role("switch").check()
    expect(rows.nth(50)).to_be_attached()
    one.problems.clear()  # the pattern that is none was refused


@pytest.mark.usefixtures("no_rules")
def test_AU3_a_command_is_explained_and_edited_rules_are_simulated(window, told):
    one = window(server=told, theme="dark")
    page = one.page
    one.open("rules/test")
    page.get_by_label("Command").fill("git push --force && rm -rf build")
    page.get_by_role("button", name="Test", exact=True).click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("needs a person's approval")
    for effect in ("Dangerous", "Changes outside this machine", "Deletes"):
        expect(panel).to_contain_text(effect)
    expect(panel.get_by_text("decides", exact=True).first).to_be_visible()
    one.axe()
    panel.get_by_text("Full access").click()
    expect(panel.locator(".verdict")).to_contain_text("Allow")
    page.get_by_role("tabpanel").get_by_label("Kind of access").select_option("read")
    page.get_by_label("Path").fill(f"docs/{SCRIPT}.md")
    page.get_by_label("Path").press("Enter")
    expect(panel).to_contain_text("<script>")
    assert page.locator("main script, main img").count() == 0

    page.get_by_role("tab", name="Templates").click()
    switch = page.get_by_role("switch", name=re.compile("git-read"))
    switch.check()
    expect(page.get_by_role("switch", name=re.compile("git-read"))).to_be_checked()
    one.axe()
    assert "git-read" in [t["name"] for t in told.get("/api/rules/templates")["templates"] if t["on"]]

    page.get_by_role("tab", name="Simulator").click()
    expect(page.get_by_text("Nothing is changed yet")).to_be_visible()
    expect(page.get_by_role("button", name="Simulate")).to_be_disabled()
    page.get_by_label("Pattern").fill("pip install *")
    page.get_by_role("button", name="Simulate").click()
    expect(panel).to_contain_text("What would be different")
    expect(panel.get_by_role("link", name=re.compile("pip install flaky-helper"))).to_contain_text("Allow")
    one.axe()
    page.get_by_role("button", name="Apply these changes").click()
    expect(page.get_by_text("Applied: 1 change written")).to_be_visible()
    assert "pip install" in str([r["pattern"] for r in told.get("/api/rules")["rules"] if r["own"]])


def test_AU3_a_long_simulation_tells_how_far_it_is_and_can_be_cancelled(window, told):
    """The server is quicker than a person can look; the browser is told of a longer record, and of its end."""
    one = window(server=told)
    page = one.page
    asked, jobs = [], {"state": "running", "replayed": 1_200, "total": 4_000}

    def answer(route) -> None:
        asked.append(route.request.method)
        real = route.fetch().json()
        if route.request.method == "DELETE":
            jobs["state"] = "cancelled"
        route.fulfill(json={**real, **jobs, "result": None})

    page.route(re.compile(r"/api/rules/simulate(/|$)"), answer)
    one.open("rules/simulator")
    page.get_by_label("Pattern").fill("pip install *")
    page.get_by_role("button", name="Simulate").click()
    panel = page.get_by_role("tabpanel")
    bar = panel.get_by_role("progressbar")
    expect(bar).to_have_attribute("value", "1200")
    expect(bar).to_have_attribute("max", "4000")
    expect(panel).to_contain_text("1,200 of 4,000 decisions judged again")
    jobs["replayed"] = 3_999
    expect(panel).to_contain_text("3,999 of 4,000 decisions judged again")
    one.axe()
    panel.get_by_role("button", name="Cancel").click()
    expect(panel.get_by_text("Cancelled")).to_be_visible()
    expect(bar).to_have_count(0)
    assert asked[0] == "POST"
    assert "GET" in asked
    assert "DELETE" in asked  # a look that was under way may come after it
    # And it can be tried again.
    expect(page.get_by_role("button", name="Simulate")).to_be_enabled()


def test_UI1_rules_on_a_phone_in_chinese(window, told):
    one = window(server=told, phone=True, language="zh", theme="light")
    page = one.page
    for place in ("rules", "rules/test", "rules/templates", "rules/simulator"):
        one.open(place)
        expect(page.get_by_role("tabpanel")).to_be_visible()
        expect(page.get_by_role("tabpanel").get_by_role("status", name="加载中…")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0, place
        for button in page.get_by_role("tabpanel").get_by_role("button").all():
            if button.is_visible():
                assert button.bounding_box()["height"] >= 43.9, f"{place} {button.inner_text()}"
        one.axe()
