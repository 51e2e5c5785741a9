"""What stays at its place: notices after a reload, an event of an earlier session behind a link, who answered what."""

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import SECONDS

BUDGET = '{"agents": {"runtime": {"budget": {"maxTokens": 1}}}}'


def test_UI1_what_a_run_said_is_there_again_after_a_reload_in_the_page_s_language(window, own_server):
    server = own_server(config=BUDGET)
    thread = server.thread("help")
    server.until_idle(thread)
    one = window(server=server)
    one.open(f"chat/{thread}")
    one.page.get_by_label("Message", exact=True).fill("help again")
    one.page.get_by_label("Message", exact=True).press("Enter")
    said = one.page.locator(".note.problem")
    expect(said.last).to_contain_text("Raise the budget, or start a new thread.", timeout=SECONDS)
    server.until_idle(thread)
    before = said.count()
    one.page.reload()
    expect(said).to_have_count(before)
    expect(said.last).to_contain_text("Raise the budget, or start a new thread.")
    one.axe()
    chinese = window(server=server, language="zh", phone=True, theme="dark")
    chinese.open(f"chat/{thread}")
    expect(chinese.page.locator(".note.problem").last).to_contain_text("请提高预算")
    chinese.axe()


@pytest.mark.parametrize("phone", [False, True])
def test_UI1_a_link_to_an_event_of_an_earlier_session_opens_it_there(window, told, phone):
    one, scenes = window(server=told, phone=phone), told.scenes
    one.open(f"chat/{scenes.thread}?session={scenes.first}&event=3")
    expect(one.page).to_have_url(f"{told.url}/#/sessions/{scenes.first}/transcript/3")
    expect(one.page.locator(".entry.target")).to_be_visible()
    one.open(f"chat/{scenes.thread}?session={scenes.second}&event=1")
    expect(one.page.get_by_role("log")).to_be_visible()
    expect(one.page).to_have_url(f"{told.url}/#/chat/{scenes.thread}?session={scenes.second}&event=1")


def test_UI2_a_card_says_why_only_once_and_who_denied(window, hosts):
    where = hosts.begin()
    approval = hosts.ask(where, "bash", command="make all && make install")
    one = window()
    one.open(f"inbox/{approval.id}")
    card = one.page.locator(f'[data-approval="{approval.id}"]')
    expect(card).to_contain_text("2 commands are joined (make all, make install), and a rule stands for one.")
    hosts.control.approvals.answer(approval.id, "deny", by="local")
    expect(card).to_contain_text("Denied, decided elsewhere. · in a terminal")
    other = hosts.ask(where.of_subagent("explorer#1a2b3c4d"), "bash", command="sudo make install")
    chinese = window(language="zh")
    chinese.open(f"inbox/{other.id}")
    card = chinese.page.locator(f'[data-approval="{other.id}"]')
    expect(card).to_contain_text("它经由 sudo 运行")
    expect(card).to_contain_text("explorer")
    expect(card).not_to_contain_text("1a2b3c4d")
    hosts.control.approvals.answer(other.id, "deny", by="local (Chromium on Linux)", message="later")
    expect(card).to_contain_text("Chromium on Linux")
