"""Truncated output (TR6): says so, shows the path and totals, and opens in the page at any size."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import SECONDS, until
from e2e.page.served import Hosts

LONG = "needle " + "x" * 300


def spilled(hosts, text):
    """A call whose output was cut, in a conversation of a host; its thread, call id and the file of the whole."""
    where = hosts.begin("claude-code")
    hosts.say(where, "print a lot")
    call = hosts.done(where, "bash", text, command="cat log.txt")
    for event in hosts.control.store.events(where.session, kinds=("tool_called",)):
        kept = event.data.get("spilled") or {}
        if kept.get("path"):
            return where, call, Path(kept["path"])
    raise AssertionError("the output was not spilled")


def numbered(count, needles):
    return "\n".join(f"line {at} {LONG if at in needles else ''}" for at in range(count))


def open_viewer(one, where, words="View full output"):
    one.open(f"chat/{where.key.thread}")
    card = one.page.locator("[data-tool-state]")
    card.get_by_role("button").first.click()
    card.get_by_role("button", name=words).click()
    return one.page.get_by_role("dialog")


def test_TR6_truncated_output_opens_with_find_wrap_and_download(window, hosts):
    where, _, path = spilled(hosts, numbered(30_000, {5, 22_222}))
    one = window()
    dialog = open_viewer(one, where)
    card = one.page.locator("[data-tool-state]")
    expect(card).to_contain_text("truncated")
    expect(card).to_contain_text("30000 lines")
    expect(card).to_contain_text(str(path))
    expect(dialog.locator('[data-output="ok"]')).to_be_visible(timeout=SECONDS)
    expect(dialog).to_contain_text("30,000 lines")
    expect(dialog).to_contain_text(str(path))
    expect(dialog.get_by_text("line 0 ", exact=False).first).to_be_visible()
    assert dialog.locator(".line").count() < 200  # a window onto the file, not the file
    one.axe()
    find = dialog.get_by_label("Find", exact=True)
    find.fill("needle")
    expect(dialog.get_by_text("1 of 2")).to_be_visible()
    expect(dialog.locator("mark")).to_have_text("needle")
    find.press("Enter")
    expect(dialog.get_by_text("2 of 2")).to_be_visible()
    expect(dialog.locator(".line.on .no")).to_have_text("22223")
    narrow = dialog.locator(".line.on").bounding_box()["height"]
    dialog.get_by_role("button", name="Wrap lines").click()
    dialog.get_by_role("button", name="Next match").click()
    expect(dialog.locator(".line.on")).to_be_visible()
    assert dialog.locator(".line.on").bounding_box()["height"] >= narrow
    find.fill("not in there")
    expect(dialog.get_by_text("Nothing found")).to_be_visible()
    with one.page.expect_download() as download:
        dialog.get_by_role("button", name="Download").click()
    assert Path(download.value.path()).read_bytes() == path.read_bytes()
    # The end is reached by scrolling, too.
    dialog.get_by_role("button", name="Wrap lines").click()
    one.page.evaluate("document.querySelector('dialog .box').scrollTop = 1e9")
    expect(dialog.get_by_text("line 29999", exact=False)).to_be_visible()


def test_TR6_on_a_phone_in_chinese_and_dark(window, hosts):
    where, _, _ = spilled(hosts, numbered(5_000, {4_000}))
    one = window(phone=True, language="zh", theme="dark")
    dialog = open_viewer(one, where, "查看完整输出")
    expect(one.page.locator("[data-tool-state]")).to_contain_text("已截断")
    expect(dialog.locator('[data-output="ok"]')).to_be_visible(timeout=SECONDS)
    dialog.get_by_label("查找", exact=True).fill("needle")
    expect(dialog.get_by_text("第 1 处，共 1 处")).to_be_visible()
    expect(dialog.locator(".line.on .no")).to_have_text("4001")
    one.axe()


def test_TR6_an_expired_and_an_unreadable_output_say_so(window, hosts):
    gone, _, path = spilled(hosts, numbered(3_000, set()))
    path.unlink()
    one = window()
    dialog = open_viewer(one, gone)
    expect(dialog.locator('[data-output="expired"]')).to_contain_text("expired")
    one.axe()
    broken, _, path = spilled(hosts, numbered(3_000, set()))
    path.unlink()
    path.mkdir()
    one.page.keyboard.press("Escape")
    dialog = open_viewer(one, broken)
    expect(dialog.locator('[data-output="unreadable"]')).to_contain_text("cannot be read")
    expect(dialog).to_contain_text(str(path))
    one.axe()


def test_TR6_while_it_loads_it_says_so(window, hosts):
    where, call, _ = spilled(hosts, numbered(3_000, set()))
    one = window()
    held = []

    def hold(route):
        held.append(route)

    one.page.route(re.compile(rf"/api/outputs/[^/]+/{call}$"), hold)
    dialog = open_viewer(one, where)
    expect(dialog.locator('[data-output="loading"]')).to_contain_text("Loading the output")
    one.axe()
    until(one.page, lambda: held)
    held[0].continue_()
    expect(dialog.locator('[data-output="ok"]')).to_be_visible(timeout=SECONDS)


def test_TR6_on_a_desktop_it_opens_in_the_systems_own_program(window, own_server, tmp_path):
    """By a program that only notes what it was given; on a machine that says it has a screen."""
    programs, noted = tmp_path / "bin", tmp_path / "opened"
    programs.mkdir()
    for name in ("xdg-open", "open"):
        (programs / name).write_text(f'#!/bin/sh\nprintf %s "$1" > "{noted}"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    server = own_server(PATH=f"{programs}:{os.environ['PATH']}", DISPLAY=":0", SSH_CONNECTION="")
    hosts = Hosts(server)
    try:
        where, _, path = spilled(hosts, numbered(3_000, {7}))
    finally:
        hosts.close()
    one = window(server=server)
    dialog = open_viewer(one, where)
    dialog.get_by_role("button", name="Open in the system").click()
    expect(one.page.get_by_text("Opened.")).to_be_visible()
    assert noted.read_text(encoding="utf-8") == str(path)
    one.axe()
    # A program that fails says so, and the page shows it still.
    (programs / "xdg-open").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    (programs / "open").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    dialog.get_by_role("button", name="Open in the system").click()
    expect(one.page.locator(".toast.bad")).to_be_visible()
    expect(dialog.locator('[data-output="ok"]')).to_be_visible()


def test_TR6_a_machine_without_a_screen_offers_no_program(window, own_server):
    server = own_server(DISPLAY="", WAYLAND_DISPLAY="", SSH_CONNECTION="192.0.2.7 50000 192.0.2.8 22")
    hosts = Hosts(server)
    try:
        where, _, _ = spilled(hosts, numbered(3_000, set()))
    finally:
        hosts.close()
    one = window(server=server)
    dialog = open_viewer(one, where)
    expect(dialog.locator('[data-output="ok"]')).to_be_visible(timeout=SECONDS)
    expect(dialog.get_by_role("button", name="Download")).to_be_visible()
    expect(dialog.get_by_role("button", name="Open in the system")).to_have_count(0)


@pytest.mark.full
def test_TR6_a_hundred_megabytes_open_and_are_searched(window, hosts):
    line = "the quick brown fox jumps over the lazy dog and then some, again and again\n"
    text = line * (100_000_000 // len(line) + 1) + "at the very end: needle\n"
    where, _, path = spilled(hosts, text)
    assert path.stat().st_size >= 100_000_000
    one = window()
    dialog = open_viewer(one, where)
    expect(dialog.locator('[data-output="ok"], [data-output="partial"]')).to_be_visible(timeout=SECONDS)
    expect(dialog.get_by_text("quick brown fox").first).to_be_visible()
    expect(dialog.locator('[data-output="ok"]')).to_be_visible(timeout=60_000)
    dialog.get_by_label("Find", exact=True).fill("needle")
    expect(dialog.locator(".line.on")).to_contain_text("at the very end: needle", timeout=60_000)
    one.page.evaluate("document.querySelector('dialog .box').scrollTop = 4_000_000")
    expect(dialog.get_by_text("quick brown fox").first).to_be_visible(timeout=SECONDS)
