"""The frame: entering, pairing, navigation, themes, languages, the connection, and every screen without a finding."""

import contextlib
import random
import re
import socket
import time

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import DESKTOP, PHONE, SECONDS
from e2e.page.served import Hosts

SCREENS = ("chat", "inbox", "sessions", "search", "audit", "rules", "memory", "plots", "settings", "more")
SETTINGS = ("prompt", "models", "agents", "strategy", "hosts", "notifications", "devices", "all")
SECTIONS = (*(f"settings/{name}" for name in SETTINGS), "rules/test", "rules/templates", "rules/simulator")


@pytest.fixture
def strange(browser, served):
    """A browser that has not entered."""
    contexts = []

    def make(**options):
        context = browser.new_context(**options, reduced_motion="reduce")
        context.set_default_timeout(SECONDS)
        contexts.append(context)
        return context.new_page()

    yield make
    for context in contexts:
        context.close()


def no_findings(page):
    from e2e.page.conftest import Window

    Window(page, None, "entry").axe()


def test_UI1_whoever_has_no_link_types_a_code_from_another_device(strange, served):
    page = strange(**PHONE, locale="zh-CN", color_scheme="dark")
    page.goto(served.url)
    expect(page.get_by_text("请先证明是你本人")).to_be_visible()
    no_findings(page)
    field = page.get_by_label("代码")
    field.fill("AAAA-AAAA")
    page.get_by_role("button", name="进入").click()
    expect(page.get_by_role("alert")).to_contain_text("代码不正确")
    no_findings(page)
    field.fill(served.code())
    page.get_by_role("button", name="进入").click()
    expect(page.locator("nav")).to_be_visible()


def test_UI1_a_link_that_was_used_lets_nobody_in_and_says_why(strange, served):
    link = served.link()
    first = strange(**DESKTOP)
    first.goto(link)
    expect(first.locator("nav")).to_be_visible()
    assert "enter=" not in first.url
    second = strange(**DESKTOP)
    second.goto(link)
    expect(second.get_by_role("alert")).to_contain_text("used already")
    expect(second.locator("nav")).to_have_count(0)


@pytest.mark.parametrize(
    ("phone", "language", "theme"),
    [(False, "en", "light"), (False, "zh", "dark"), (True, "en", "dark"), (True, "zh", "light")],
)
def test_UI1_every_screen_opens_without_a_finding(window, served, phone, language, theme):
    one = window(phone=phone, language=language, theme=theme)
    # Their sections on a desktop in light and on a phone in dark are looked at where they are used.
    for screen in (*SCREENS, *(SECTIONS if language == "zh" else ())):
        one.open(screen)
        expect(one.page.locator("main h1:visible").first).to_be_visible()
        expect(one.page.locator("main .skeleton")).to_have_count(0)
        one.axe()
        overflow = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not one.page.evaluate(overflow), f"{screen} is wider than the window"


def test_UI1_by_keyboard_alone(window):
    one = window()
    one.page.keyboard.press("Tab")
    expect(one.page.get_by_text("Skip to the content")).to_be_focused()
    one.page.keyboard.press("Enter")
    expect(one.page.locator("main")).to_be_focused()
    one.page.get_by_role("link", name="Inbox").focus()
    one.page.keyboard.press("Enter")
    expect(one.page.get_by_role("heading", name="Inbox", level=1)).to_be_visible()
    expect(one.page.get_by_role("link", name="Inbox")).to_have_attribute("aria-current", "page")


def test_UI1_theme_and_language_are_chosen_and_kept(window):
    one = window(phone=True)
    one.open("more")
    one.page.get_by_text("Dark", exact=True).click()
    expect(one.page.locator("html")).to_have_attribute("data-theme", "dark")
    one.page.get_by_text("中文", exact=True).click()
    expect(one.page.get_by_role("heading", name="更多")).to_be_visible()
    one.page.reload()
    expect(one.page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(one.page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(one.page.get_by_role("heading", name="更多")).to_be_visible()
    one.page.get_by_text("跟随系统", exact=True).click()
    expect(one.page.locator("html")).not_to_have_attribute("data-theme", re.compile("."))


def test_UI1_a_phone_is_shown_the_way_in(window):
    one = window()
    one.page.get_by_role("button", name="Open on your phone").click()
    dialog = one.page.get_by_role("dialog")
    # Served to this machine only, the page says how to let a phone in, instead of a code that cannot work.
    expect(dialog).to_contain_text("holdfast serve --listen")
    one.axe()


def test_UI1_a_phone_scans_a_code_that_works_once(window, strange, own_server):
    """Behind a proxy the address can be reached; the code in the QR opens a browser, once."""
    server = own_server("--behind-proxy", "http://holdfast.example.org")
    one = window(server=server)
    one.page.get_by_role("button", name="Open on your phone").click()
    dialog = one.page.get_by_role("dialog")
    expect(dialog.get_by_role("img", name=re.compile("QR code"))).to_be_visible()
    expect(dialog).to_contain_text("http://holdfast.example.org")
    code = dialog.locator(".code").inner_text()
    one.axe()
    page = strange(**PHONE)
    page.goto(f"{server.url}/#enter={code}")
    expect(page.locator("nav")).to_be_visible()
    # And whoever was let in can be sent out again.
    one.page.keyboard.press("Escape")
    one.page.get_by_role("button", name="Open on your phone").click()
    expect(dialog.get_by_text("this device")).to_be_visible()
    for _ in range(dialog.get_by_role("button", name="Sign out").count()):
        left = dialog.get_by_role("button", name="Sign out").count()
        dialog.get_by_role("button", name="Sign out").first.click()
        expect(dialog.get_by_role("button", name="Sign out")).to_have_count(left - 1)
    expect(page.get_by_role("alert")).to_contain_text("signed out", timeout=SECONDS)


def port_of_its_own() -> int:
    """One that no other server takes while this one is down: those look for theirs from the usual one upwards."""
    for port in random.sample(range(20_000, 30_000), 50):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("50 ports were taken")


def test_UI1_the_page_comes_back_after_the_server_was_restarted(window, own_server):
    server = own_server("--port", str(port_of_its_own()))
    one = window(server=server)
    thread = server.thread("help")
    server.until_idle(thread)
    one.open(f"chat/{thread}")
    expect(one.page.locator(".markdown").first).to_be_visible()
    server.stop()
    expect(one.page.get_by_text("Connection lost").first).to_be_visible(timeout=SECONDS)
    # What another program writes while no server runs is told from the record, once, and nothing is loaded anew.
    hosts = Hosts(server)
    try:
        row = hosts.control.store.sessions(thread=thread)[0]
        hosts.say(row.id, "Said while the server was away")
    finally:
        hosts.close()
    server.start()
    expect(one.page.get_by_text("Connected again. Nothing was missed.")).to_be_visible(timeout=60_000)
    expect(one.page.get_by_text("Connection lost")).to_have_count(0)
    expect(one.page.get_by_text("Said while the server was away")).to_have_count(1)
    one.page.get_by_label("Message", exact=True).fill("list files")
    one.page.get_by_label("Message", exact=True).press("Enter")
    expect(one.page.locator('[data-tool-state="done"]')).to_have_count(1, timeout=SECONDS)


def until(one, condition: str) -> None:
    """Playwright's own waiting compiles a string in the page, which its policy forbids."""
    end = time.monotonic() + SECONDS / 1000
    while not one.page.evaluate(condition):
        assert time.monotonic() < end, f"{condition} did not come true"
        one.page.wait_for_timeout(50)


def test_UI1_a_waiting_approval_sounds_counts_in_the_title_and_notifies(window, hosts, browser):
    one = window()
    one.page.context.grant_permissions(["notifications"])
    one.page.evaluate(
        """() => { window.notes = []; window.Notification = class { constructor(title, more) {
           window.notes.push([title, more.body]) } close() {} static permission = 'granted';
           static requestPermission = async () => 'granted' };
           Object.defineProperty(document, 'visibilityState', {get: () => 'hidden'}) }"""
    )
    one.open("more")
    one.page.get_by_role("switch", name="Browser notification when an approval waits").check()
    counted = "Number(/^\\((\\d+)\\)/.exec(document.title)?.[1] ?? 0)"
    before = one.page.evaluate(counted)
    where = hosts.begin("codex")
    hosts.say(where, "publish it")
    asked = hosts.ask(where, "bash", command="npm publish")
    until(one, f"{counted} > {before}")
    until(one, "window.notes.length > 0")
    assert one.page.evaluate("window.notes[0]") == ["Approval needed: bash", "npm publish"]
    hosts.control.approvals.cancel(approval_id=asked.id)
