"""The approval card, in the conversation and in the inbox: every state, both languages, phone and desktop (UI2)."""

import re
import time

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import SECONDS, until

PUSH = "git push --force origin main"


@pytest.fixture
def waiting(served):
    """A conversation of the own agent that waits for an answer to a command; whatever is left open is stopped."""
    threads = []

    def make(command="touch made.txt"):
        thread = served.thread(f"run `{command}`")
        threads.append(thread)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = served.get(f"/api/threads/{thread}")["approvals"]
            if found:
                return thread, found[0]["id"]
            time.sleep(0.05)
        raise AssertionError(f"{command} was not asked about: {served.log()}")

    yield make
    for thread in threads:
        served.post(f"/api/threads/{thread}/stop")


def card(window, approval):
    return window.page.locator(f'[data-approval="{approval}"]')


def status(window, approval, wanted):
    expect(card(window, approval)).to_have_attribute("data-status", wanted, timeout=SECONDS)


@pytest.mark.parametrize(
    ("phone", "language", "theme"),
    [(False, "en", "light"), (True, "zh", "dark"), (False, "zh", "dark"), (True, "en", "light")],
)
def test_UI2_the_card_says_what_why_which_rule_and_who(window, waiting, phone, language, theme):
    thread, approval = waiting(PUSH)
    one = window(phone=phone, language=language, theme=theme)
    one.open(f"inbox/{approval}")
    shown = card(one, approval)
    expect(shown).to_contain_text(PUSH)
    english = language == "en"
    expect(shown).to_contain_text("Dangerous" if english else "危险")
    expect(shown).to_contain_text("Changes outside this machine" if english else "改变本机以外的状态")
    expect(shown).to_contain_text("Why you are asked" if english else "为什么询问你")
    expect(shown).to_contain_text("shell:*")
    expect(shown).to_contain_text("from built-in" if english else "来自 内置")
    expect(shown.get_by_role("link").first).to_have_attribute("href", f"#/chat/{thread}")
    shown.locator("summary").click()
    expect(shown).to_contain_text("Holdfast")
    expect(shown).to_contain_text(str(one.served.vault))
    expect(one.page).to_have_title(re.compile(r"^\(\d+\) "))
    for button in shown.get_by_role("button").all():
        if phone and button.is_visible():
            assert button.bounding_box()["height"] >= 44, button.inner_text()
    one.axe()


def test_UI2_once_decided_here_and_elsewhere_while_another_device_watches(window, served, waiting):
    """Approve on the phone; the desktop, in the conversation, sees it and the command runs."""
    thread, approval = waiting("touch by-phone.txt")
    desktop, phone = window(), window(phone=True)
    desktop.open(f"chat/{thread}")
    status(desktop, approval, "pending")
    desktop.axe()
    phone.open(f"inbox/{approval}")
    card(phone, approval).get_by_role("button", name="Allow once").click()
    expect(card(phone, approval)).to_contain_text("You allowed it once.")
    expect(desktop.page.locator('[data-tool-state="done"]')).to_have_count(1, timeout=SECONDS)
    served.until_idle(thread)
    assert (served.vault / "by-phone.txt").exists()
    desktop.open("inbox")
    desktop.page.get_by_text("Decided", exact=True).click()
    expect(card(desktop, approval)).to_contain_text("decided elsewhere")
    phone.axe()


def test_UI2_two_tabs_answer_at_once_and_one_answer_counts(window, served, waiting):
    thread, approval = waiting("touch one-counts.txt")
    first, second = window(), window()
    for one in (first, second):
        one.open(f"inbox/{approval}")
        status(one, approval, "pending")
    held = []
    first.page.route("**/answer", lambda route: held.append(route))  # noqa: PLW0108 (Playwright looks at functions)
    card(first, approval).get_by_role("button", name="Deny").click()
    card(first, approval).locator("form").get_by_role("button", name="Deny", exact=True).click()
    expect(card(first, approval).locator("[aria-busy]")).to_have_count(1)
    card(second, approval).get_by_role("button", name="Allow once").click()
    until(first.page, lambda: held)
    held[0].continue_()
    for one in (first, second):
        expect(card(one, approval).locator(".outcome")).to_be_visible(timeout=SECONDS)
    kept = served.get(f"/api/approvals/{approval}")
    texts = [card(one, approval).inner_text() for one in (first, second)]
    here = [text for text in texts if re.search("You (allowed|denied) it", text)]
    elsewhere = [text for text in texts if "decided elsewhere" in text]
    assert len(here) == len(elsewhere) == 1, texts
    assert ("You denied" in here[0]) == (kept["answer"] == "deny")
    served.until_idle(thread)
    assert (served.vault / "one-counts.txt").exists() == (kept["answer"] == "once")


def test_UI2_deny_with_a_message_reaches_the_agent(window, served, waiting):
    thread, approval = waiting("rm -rf important")
    one = window()
    one.open(f"chat/{thread}")
    card(one, approval).get_by_role("button", name="Deny").click()
    field = card(one, approval).get_by_role("textbox")
    expect(field).to_be_focused()
    one.axe()
    field.fill("Use the trash instead <b>please</b>")
    field.press("Enter")
    expect(one.page.locator('[data-tool-state="denied"]')).to_have_count(1, timeout=SECONDS)
    expect(card(one, approval)).to_contain_text("Use the trash instead <b>please</b>")
    served.until_idle(thread)
    items = served.get(f"/api/threads/{thread}/messages")["items"]
    assert any("Use the trash instead" in str(item) for item in items if item["kind"] == "tool")


def test_UI2_always_shows_the_exact_rule_lets_it_be_edited_and_refuses_nonsense(window, served, waiting):
    thread, approval = waiting("npm run build")
    one = window()
    one.open(f"inbox/{approval}")
    card(one, approval).get_by_role("button", name="Always").click()
    field = card(one, approval).get_by_role("textbox").first
    proposed = field.input_value()
    assert "npm run build" in proposed
    one.axe()
    field.fill("   ")
    card(one, approval).get_by_role("button", name="Write the rule and allow").click()
    expect(card(one, approval).get_by_role("alert")).to_be_visible()
    field.fill("shell:npm run build --if-present")
    card(one, approval).get_by_role("button", name="Write the rule and allow").click()
    status(one, approval, "answered")
    expect(card(one, approval)).to_contain_text("You always allow this.")
    expect(card(one, approval)).to_contain_text("shell:npm run build --if-present")
    assert "npm run build --if-present" in (served.home / "config.jsonc").read_text(encoding="utf-8")
    served.until_idle(thread)


def test_UI2_keys_answer_the_marked_card_and_never_while_one_writes(window, served, waiting):
    thread, approval = waiting("touch keys.txt")
    one = window()
    one.open(f"chat/{thread}")
    status(one, approval, "pending")
    box = one.page.get_by_label("Message", exact=True)
    box.fill("odw")
    box.press("o")
    status(one, approval, "pending")
    box.fill("")
    one.page.locator("header h1").last.click()
    one.page.keyboard.press("d")
    expect(card(one, approval).get_by_role("textbox")).to_be_focused()
    one.page.keyboard.press("Escape")
    expect(card(one, approval).get_by_role("textbox")).to_have_count(0)
    one.page.locator("header h1").last.click()
    one.page.keyboard.press("w")
    expect(one.page.locator('[data-tool-state="done"]')).to_have_count(1, timeout=SECONDS)
    assert served.get(f"/api/approvals/{approval}")["answer"] == "for_a_while"
    served.until_idle(thread)


def test_UI2_cancelled_when_the_run_is_stopped(window, served, waiting):
    thread, approval = waiting("touch never.txt")
    one = window()
    one.open(f"inbox/{approval}")
    status(one, approval, "pending")
    served.post(f"/api/threads/{thread}/stop")
    status(one, approval, "cancelled")
    expect(card(one, approval)).to_contain_text("Cancelled")
    assert not (served.vault / "never.txt").exists()


def test_UI2_approvals_of_every_host_stand_in_one_inbox_with_a_deadline(window, hosts):
    asked = {}
    for host in ("claude-code", "codex"):
        where = hosts.begin(host)
        hosts.say(where, f"work of {host}")
        asked[host] = hosts.ask(where, "bash", command=PUSH)
    one = window()
    one.open("inbox")
    for host, approval in asked.items():
        expect(card(one, approval.id)).to_contain_text(host)
        expect(card(one, approval.id)).to_contain_text(f"work of {host}")
    expect(card(one, asked["codex"].id).locator(".time")).to_contain_text("left")
    one.axe()
    hosts.control.approvals.expire(asked["codex"].id)
    status(one, asked["codex"].id, "expired")
    expect(card(one, asked["codex"].id)).to_contain_text("Expired")
    card(one, asked["claude-code"].id).get_by_role("button", name="Allow once").click()
    status(one, asked["claude-code"].id, "answered")
    assert hosts.control.approvals.get(asked["claude-code"].id).answer == "once"


def test_UI2_a_change_of_a_file_is_shown_as_a_diff_beside_or_below_each_other(window, hosts, served):
    target = served.vault / "guarded" / "settings.py"
    target.parent.mkdir(exist_ok=True)
    target.write_text("DEBUG = True\nPORT = 80\nNAME = 'x'\n", encoding="utf-8")
    where = hosts.begin("claude-code")
    hosts.say(where, "turn debugging off")
    asked = hosts.ask(
        where, "edit", path=str(target), old_string="DEBUG = True\nPORT = 80", new_string="DEBUG = False\nPORT = 8080"
    )
    desktop, phone = window(), window(phone=True)
    desktop.open(f"inbox/{asked.id}")
    shown = card(desktop, asked.id)
    expect(shown).to_contain_text("vault:/guarded/**")
    expect(shown).to_contain_text("config.jsonc · line 3")
    expect(shown.locator("table.split")).to_have_count(1)
    expect(shown.locator("mark").first).to_be_visible()
    shown.get_by_text("Unified", exact=True).click()
    expect(shown.locator("table.split")).to_have_count(0)
    expect(shown.locator("tr.add")).to_have_count(2)
    desktop.axe()
    shown.get_by_text("Side by side", exact=True).click()
    phone.open(f"inbox/{asked.id}")
    expect(card(phone, asked.id).locator("tr.remove")).to_have_count(2)
    phone.axe()
    card(phone, asked.id).get_by_role("button", name="Allow once").click()
    status(desktop, asked.id, "answered")
