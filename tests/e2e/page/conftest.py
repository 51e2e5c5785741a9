"""The page in a real Chromium against a real server. Tests make their own threads, so that all can share one server.

`make screenshots` sets HOLDFAST_SCREENSHOTS: only then does test_gallery.py write the pictures of docs/images/page.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from e2e.page.record_scenes import told
from e2e.page.served import Hosts, Served

__all__ = ["told"]

ROOT = Path(__file__).resolve().parents[3]
PICTURES = ROOT / "docs" / "images" / "page"
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
# Read when this file is, before the suite takes every HOLDFAST_ variable out of its environment.
TAKE_PICTURES = bool(os.environ.get("HOLDFAST_SCREENSHOTS"))
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
SECONDS = 30_000
# Refusals that are part of the conversation between page and server; browsers note every one of them.
HANDLED = re.compile(r"status of (409|410|422) |net::ERR_CONNECTION_REFUSED|net::ERR_INCOMPLETE_CHUNKED")
# A rule of the user's own, so that a card can say which line of which file asked.
CONFIG = """{
  "agents": { "runtime": { "permission": { "rules": [
    { "domain": "edit", "pattern": "vault:/guarded/**", "decision": "ask" },
  ] } } },
}
"""


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """One server for all tests of this worker."""
    server = Served(tmp_path_factory.mktemp("page"))
    (server.home / "config.jsonc").write_text(CONFIG, encoding="utf-8")
    try:
        yield server.start()
    finally:
        server.close()


@pytest.fixture
def own_server(tmp_path):
    """Starts a server of the test's own, for tests that stop it or change its configuration."""
    made: list[Served] = []

    def start(*options: str, config: str = "", **environment: str) -> Served:
        server = Served(tmp_path / f"own-{len(made)}", *options, **environment)
        made.append(server)
        if config:
            (server.home / "config.jsonc").write_text(config, encoding="utf-8")
        return server.start()

    yield start
    for server in made:
        server.close()


@pytest.fixture(scope="module")
def browser():
    """A browser per file: the library's event loop may not outlive the tests that use it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("installable: chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=SECONDS)  # a machine may be busy; what never comes fails all the same

    with sync_playwright() as playwright:
        # Every name leads here: nothing may be fetched from elsewhere, and a test can give the server another name.
        names = "--host-resolver-rules=MAP * 127.0.0.1, EXCLUDE localhost"
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu", names])
        yield started
        started.close()


@dataclass
class Window:
    """One browser that has entered: `page` is Playwright's, `problems` what its console and the page complained of."""

    page: object
    served: Served
    name: str
    problems: list[str] = field(default_factory=list)

    def complain(self, said) -> None:
        where = said.location.get("url", "")
        if not HANDLED.search(said.text) and not ("status of 404" in said.text and "/api/" in where):
            self.problems.append(f"console: {said.text} {where}")

    def open(self, route: str = "chat") -> None:
        self.page.goto(f"{self.served.url}/#/{route}")
        self.page.locator("nav").first.wait_for()

    def screenshot(self, name: str, **more) -> None:
        if TAKE_PICTURES:
            PICTURES.mkdir(parents=True, exist_ok=True)
            self.page.wait_for_timeout(350)
            self.page.screenshot(path=PICTURES / f"{name}.png", animations="disabled", caret="hide", **more)
            _shrink(PICTURES / f"{name}.png")

    def axe(self) -> None:
        """No finding of axe, of any rule."""
        if not AXE.exists():
            pytest.skip("installable: web/node_modules (npm ci)")
        self.page.wait_for_timeout(300)  # colours in the middle of a transition are nobody's design
        if not self.page.evaluate("typeof window.axe === 'object'"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
        told = [
            f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]} "
            f"{[node['failureSummary'][:300] for node in one['nodes'][:1]]}"
            for one in found
        ]
        assert told == [], f"{self.name}: " + "\n".join(told)


def until(page, found) -> None:
    """Let the browser go on until `found()`; a list that a handler fills, say."""
    end = time.monotonic() + SECONDS / 1000
    while not found():
        assert time.monotonic() < end, "it did not come"
        page.wait_for_timeout(20)


def _shrink(path: Path) -> None:
    """Pictures live in git: as few bytes as they can have without looking worse."""
    if shutil.which("pngquant"):
        subprocess.run(["pngquant", "--force", "--output", path, "--quality", "70-95", path], check=False, timeout=60)


@pytest.fixture
def window(browser, served):
    """Opens a browser window that has entered: `window(phone=True, language="zh", theme="dark")`."""
    made: list[Window] = []
    contexts = []

    @contextmanager
    def nothing_wrong():
        yield
        for one in made:
            assert one.problems == [], f"{one.name}: {one.problems}"

    def make(
        *, phone: bool = False, language: str = "en", theme: str = "light", server: Served | None = None
    ) -> Window:
        at = server or served
        context = browser.new_context(
            **(PHONE if phone else DESKTOP),
            locale="zh-CN" if language == "zh" else "en-GB",
            color_scheme=theme,
            reduced_motion="reduce",
        )
        context.set_default_timeout(SECONDS)
        contexts.append(context)
        page = context.new_page()
        one = Window(page, at, f"{'phone' if phone else 'desktop'} {language} {theme}")
        page.on("pageerror", lambda error: one.problems.append(f"page error: {error}"))
        page.on("console", lambda said: said.type == "error" and one.complain(said))
        page.goto(at.link())
        page.locator("nav").first.wait_for()
        made.append(one)
        return one

    with nothing_wrong():
        yield make
    for context in contexts:
        context.close()
    served.forget_browsers()


@pytest.fixture
def hosts(served):
    found = Hosts(served)
    yield found
    found.close()
