"""Settings on the page: prompt (HK5), models, agents, strategies (SC9), hosts, notifications, devices and the rest."""

import re

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import SECONDS

expect.set_options(timeout=SECONDS)


@pytest.fixture(scope="module")
def agents(told):
    folder = told.home / "agents"
    folder.mkdir(exist_ok=True)
    name = "Reviewer <script>document.title='owned'</script>"
    text = f"---\nname: {name}\ndescription: reads changes\n---\nYou review code.\n"
    (folder / "reviewer.md").write_text(text, encoding="utf-8")


def saved(page) -> None:
    """Until what was changed is written: the button is busy, then has nothing to do."""
    save = page.get_by_role("button", name="Save")
    save.click()
    expect(save).to_be_disabled()
    expect(save).not_to_have_attribute("aria-busy", "true")
    expect(page.get_by_text("Not saved yet")).to_have_count(0)


def config(told) -> str:
    return (told.home / "config.jsonc").read_text(encoding="utf-8")


def test_HK5_the_default_prompt_hides_everything_and_custom_shows_it_one_by_one(window, told):
    one = window(server=told)
    page = one.page
    one.open("settings/prompt")
    region = page.get_by_role("region", name="System prompt")
    expect(region).to_contain_text("There is nothing to take care of")
    expect(region.get_by_role("textbox")).to_have_count(0)
    expect(region.get_by_role("switch")).to_have_count(0)
    one.axe()
    region.get_by_text("Custom", exact=True).click()
    prompt = region.get_by_label("Prompt", exact=True)
    expect(prompt).to_be_visible()
    heat = region.get_by_role("group", name="Temperature")
    expect(heat.get_by_role("switch")).to_be_checked()
    prompt.fill("Answer like a pirate.")
    heat.get_by_role("switch").uncheck()
    heat.get_by_role("spinbutton").fill("0.25")
    saved(page)
    said = told.get("/api/system-prompt")["custom"]
    assert said["text"] == "Answer like a pirate."
    assert said["params"] == {"temperature": 0.25, "topP": None, "maxTokens": None}
    one.axe()
    region.get_by_role("button", name="Restore default").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore default").click()
    expect(region.get_by_role("textbox")).to_have_count(0)
    assert told.get("/api/system-prompt")["mode"] == "default"
    assert "Answer like a pirate." in config(told), "what was written is kept for the next time"


def test_SC9_the_two_sliders_of_a_family_know_each_other(window, told):
    one = window(server=told, theme="dark")
    page = one.page
    one.open("settings/strategy")
    expect(page.get_by_text("No family is configured")).to_be_visible()
    page.get_by_label("Name of the family").fill("ragdoll")
    page.get_by_role("button", name="Add a family").click()
    warn, act = page.get_by_role("slider", name="Warn at"), page.get_by_role("slider", name="Act at")
    expect(warn).to_have_value("0.85")
    warn.fill("0.95")
    assert float(act.input_value()) > float(warn.input_value()) >= 0.94
    act.fill("0.5")
    assert float(warn.input_value()) < float(act.input_value()) == 0.5
    page.get_by_label("Strategy", exact=True).select_option("handoff")
    one.axe()
    saved(page)
    family = told.get("/api/strategies")["families"][0]
    assert (family["strategy"], family["action"]) == ("handoff", 0.5)
    assert family["warn"] < 0.5
    expect(page.get_by_role("listitem").filter(has_text="Claude Code")).to_contain_text("Hand off")
    page.get_by_role("button", name="Remove family ragdoll").click()
    expect(page.get_by_text("No family is configured")).to_be_visible()


@pytest.mark.usefixtures("agents")
def test_UI1_models_agents_hosts_and_devices(window, told):
    one = window(server=told)
    page = one.page
    one.open("settings/models")
    expect(page.get_by_role("listitem").filter(has_text="Offline model")).to_contain_text("in use")
    page.get_by_role("button", name="Add a model").click()
    sheet = page.get_by_role("dialog")
    sheet.get_by_label("Name").fill("local.model-1")
    sheet.get_by_label("Address of the endpoint").fill("http://127.0.0.1:9/v1")
    sheet.get_by_label("Context window").fill("32000")
    one.axe()
    sheet.get_by_role("button", name="Save").click()
    row = page.get_by_role("listitem").filter(has_text="local.model-1")
    expect(row).to_contain_text("32,000 tokens window (set by you)")
    row.get_by_role("button", name=re.compile("Use: ")).click()
    expect(row).to_contain_text("in use")
    page.get_by_role("button", name="Use: Offline model").click()
    expect(page.get_by_role("listitem").filter(has_text="Offline model")).to_contain_text("in use")
    row.get_by_role("button", name=re.compile("Remove model")).click()
    expect(row).to_have_count(0)

    one.open("settings/agents")
    agent = page.get_by_role("listitem").filter(has_text="Reviewer <script>")
    expect(agent).to_contain_text("reads changes")
    assert page.locator("main script").count() == 0
    agent.get_by_role("button", name=re.compile("Use: ")).click()
    expect(agent).to_contain_text("in use")
    one.axe()
    page.get_by_role("button", name="Use: Default agent").click()
    expect(page.get_by_role("listitem").filter(has_text="Default agent")).to_contain_text("in use")

    one.open("settings/hosts")
    expect(page.get_by_text(re.compile("to look at|in order")).first).to_be_visible()
    for host in ("Claude Code", "Codex", "Gemini CLI", "OpenCode", "This machine and Holdfast itself"):
        expect(page.locator("summary", has_text=host)).to_be_visible()
    one.axe()
    one.open("settings/devices")
    mine = page.get_by_role("listitem").filter(has_text="this device")
    expect(mine).to_have_count(1)
    mine.get_by_role("button", name=re.compile("Rename")).click()
    page.get_by_role("dialog").get_by_label("Name of the device").fill("My <b>desk</b>")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(mine).to_contain_text("My <b>desk</b>")
    one.axe()


def test_UI1_notifications_appearance_and_every_setting(window, told):
    one = window(server=told)
    page = one.page
    one.open("settings/notifications")
    page.get_by_label("Webhook").fill("http://127.0.0.1:9/hook")
    saved(page)
    assert "http://127.0.0.1:9/hook" in config(told)
    page.get_by_label("Webhook").fill("")
    saved(page)
    one.axe()

    one.open("settings/all")
    page.get_by_label("Find a setting").fill("maxlines")
    page.get_by_role("button", name="Change truncation.maxLines").click()
    sheet = page.get_by_role("dialog", name="truncation.maxLines")
    sheet.get_by_role("spinbutton").fill("1234")
    one.axe()
    sheet.get_by_role("button", name="Save").click()
    row = page.get_by_role("listitem").filter(has_text="truncation.maxLines")
    expect(row).to_contain_text("1234")
    expect(row).to_contain_text("config.jsonc, line")
    one.axe()
    row.get_by_role("button", name="Use the default of truncation.maxLines").click()
    expect(row).to_contain_text("2000")

    one.open("settings/appearance")
    region = page.get_by_role("region", name="Appearance")
    region.get_by_text("Dark", exact=True).click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    region.get_by_text("中文", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="外观")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    one.axe()
    page.reload()
    expect(page.get_by_role("heading", level=1, name="外观")).to_be_visible()


@pytest.mark.usefixtures("agents")
def test_UI1_settings_on_a_phone_in_chinese(window, told):
    one = window(server=told, phone=True, language="zh", theme="dark")
    page = one.page
    one.open("settings")
    sections = page.get_by_role("navigation", name="设置的各部分").get_by_role("link")
    expect(sections).to_have_count(9)
    one.axe()
    for number in range(9):
        sections.nth(number).click()
        back = page.get_by_role("link", name="全部设置", exact=True)
        expect(back).to_be_visible()
        expect(page.get_by_role("status").filter(has_text="加载中")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0, (
            page.url
        )
        one.axe()
        back.click()
        expect(sections.first).to_be_visible()
