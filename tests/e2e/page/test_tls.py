"""Served beyond loopback with a certificate: the code in the QR lets a phone in, by a cookie that only TLS carries."""

import re

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import DESKTOP, PHONE, SECONDS
from e2e.test_serve import free_port, make_certificate

SECURE = "window.isSecureContext"


@pytest.fixture
def device(browser):
    """A browser that takes the certificate, as a phone does that trusts its authority."""
    contexts = []

    def make(**options):
        context = browser.new_context(**options, ignore_https_errors=True, reduced_motion="reduce")
        context.set_default_timeout(SECONDS)
        contexts.append(context)
        return context.new_page()

    yield make
    for context in contexts:
        context.close()


def test_UI1_a_phone_enters_over_tls_by_the_code_of_the_qr(own_server, device, tmp_path):
    certificate, key = make_certificate(tmp_path)
    server = own_server(
        "--listen", "0.0.0.0", "--port", str(free_port()), "--tls", str(certificate), str(key)
    )  # fmt: skip
    assert server.url.startswith("https://")
    desk = device(**DESKTOP)
    desk.goto(server.link())
    desk.locator("nav").first.wait_for()
    desk.get_by_role("button", name="Open on your phone").click()
    dialog = desk.get_by_role("dialog")
    expect(dialog.get_by_role("img", name=re.compile("QR code"))).to_be_visible()
    # What the QR holds, as the page tells it beside the picture; reached here by loopback.
    said = re.search(r"https://\S+:(\d+)", dialog.inner_text())
    assert said is not None
    assert int(said[1]) == server.port
    code = dialog.locator(".code").inner_text()

    phone = device(**PHONE)
    phone.goto(f"{server.url}/#enter={code}")
    expect(phone.locator("nav").first).to_be_visible()
    assert "enter=" not in phone.url
    [cookie] = phone.context.cookies(server.url)
    assert cookie["secure"], cookie
    assert cookie["httpOnly"], cookie
    assert cookie["sameSite"] == "Strict"
    # The desktop sees who came in, and a second phone with the same code does not.
    expect(dialog.get_by_text("this device")).to_have_count(1)
    late = device(**PHONE)
    late.goto(f"{server.url}/#enter={code}")
    expect(late.get_by_role("alert")).to_contain_text("used already")
    # A browser shows notifications in such a place, and the page offers them.
    assert phone.evaluate(SECURE) is True
    phone.context.grant_permissions(["notifications"], origin=server.url)
    phone.goto(f"{server.url}/#/more")
    expect(phone.get_by_role("switch", name=re.compile("Browser notification"))).to_be_enabled()
    expect(phone.get_by_text("Browsers show notifications only on https")).to_have_count(0)


def test_UI1_without_tls_the_page_says_why_there_are_no_notifications(device, own_server):
    """A name of the network without TLS is no secure context: the browser would show nothing, and the page says so."""
    port = free_port()
    place = f"http://holdfast.example.org:{port}"
    server = own_server("--port", str(port), "--behind-proxy", place)
    page = device(**PHONE)
    page.goto(f"{place}/#enter={server.code()}")
    expect(page.locator("nav").first).to_be_visible()
    assert page.evaluate(SECURE) is False
    page.goto(f"{place}/#/more")
    expect(page.get_by_text("Browsers show notifications only on https")).to_be_visible()
    expect(page.get_by_role("switch", name=re.compile("Browser notification"))).to_be_disabled()
