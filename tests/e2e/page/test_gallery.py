"""Takes the pictures of docs/images/page: every screen, on a desktop in English, light; on a phone in Chinese, dark.

Without HOLDFAST_SCREENSHOTS it walks the same way and takes none: each screen, full of data, has no finding of axe and
fits its window.
"""

import re
import shutil
import socket
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import DESKTOP as DESKTOP_WINDOW
from e2e.page.conftest import PHONE as PHONE_WINDOW
from e2e.page.conftest import SECONDS, TAKE_PICTURES, Window
from e2e.page.demo import RELEASE, Demo
from e2e.page.gallery import DESKTOP, PAGE, PHONE, PICTURES, pictures, written

pytestmark = pytest.mark.full
WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
SAID = (
    "document.body.innerText + [...document.querySelectorAll('input, textarea')].map((one) => one.value).join('\\n')"
    " + [...document.querySelectorAll('dialog[open]')].map((one) => one.innerText).join('\\n')"
)
SETTLED = "() => !document.querySelector('main .skeleton, .toast') && document.fonts.status === 'loaded'"


@pytest.fixture(scope="module", params=[DESKTOP, PHONE])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def demo(kind, tmp_path_factory):
    """In the base folder itself: its paths stand in the pictures."""
    folder = tmp_path_factory.getbasetemp()
    made = [folder / name for name in (".holdfast", "harbour", "bin", ".config", ".claude", ".codex", ".claude.json")]
    for old in made:
        shutil.rmtree(old, ignore_errors=True)
    it = Demo(folder, "zh" if "zh" in kind else "en")
    try:
        yield it.start()
    finally:
        it.close()
        for old in made:
            shutil.rmtree(old, ignore_errors=True)


class Camera:
    """One window onto the demonstration. `t` chooses the words of its language."""

    def __init__(self, one: Window, kind: str) -> None:
        self.one, self.page, self.kind = one, one.page, kind
        self.phone, self.zh = kind == PHONE, "zh" in kind

    def t(self, english: str, chinese: str) -> str:
        return chinese if self.zh else english

    def button(self, english: str, chinese: str, within=None, *, exact: bool = False):
        return (within or self.page).get_by_role("button", name=self.t(english, chinese), exact=exact)

    def open(self, route: str) -> None:
        self.page.goto("about:blank")
        self.one.open(route)

    def take(self, name: str) -> None:
        picture = next(one for one in pictures() if one.name == name)
        assert self.kind in picture.kinds, f"{name} is not taken on {self.kind}"
        end = 0
        while not self.page.evaluate(f"({SETTLED})()"):
            end += 1
            assert end < SECONDS / 50, f"{name} does not come to rest"
            self.page.wait_for_timeout(50)
        self.page.mouse.move(0, 0)
        # A sheet gives its first button the focus; its ring would look like a choice.
        self.page.evaluate("document.activeElement?.matches('dialog button') && document.activeElement.blur()")
        assert not self.page.evaluate(WIDER), f"{name} is wider than the window"
        if not TAKE_PICTURES:
            self.one.axe()
        else:
            said = self.page.evaluate(SAID)
            strange = (socket.gethostname(), sys.prefix, str(Path.home()), "pytest-")
            assert [one for one in strange if one in said] == [], f"{name} tells of the machine: {said}"
        self.one.screenshot(f"{name}-{self.kind}")


@pytest.fixture(scope="module")
def camera(browser, demo, kind):
    context = browser.new_context(
        **({**PHONE_WINDOW} if kind == PHONE else DESKTOP_WINDOW),
        locale="zh-CN" if "zh" in kind else "en-GB",
        color_scheme="dark" if "dark" in kind else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(SECONDS)
    one = Window(context.new_page(), demo.served, kind)
    one.page.on("pageerror", lambda error: one.problems.append(f"page error: {error}"))
    one.page.goto(demo.served.link())
    one.page.locator("nav").first.wait_for()
    demo.name_devices()
    yield Camera(one, kind)
    context.close()


@pytest.fixture(autouse=True)
def no_complaint(camera):
    yield
    assert camera.one.problems == []


def test_UI1_pictures_of_chat(camera, demo):
    page = camera.page
    camera.open("chat/new")
    camera.take("chat-new")
    camera.open(f"chat/{demo.threads['ask_prices']}")
    expect(page.locator("[data-tool-state=done]")).to_have_count(2)
    camera.take("chat")
    camera.open(f"chat/{demo.threads['ask_tidy']}")
    expect(page.locator("[data-tool-state=denied]")).to_have_count(1)
    camera.take("chat-states")
    camera.open(f"chat/{demo.threads['ask_release']}")
    expect(page.locator("[data-tool-state=waiting]")).to_have_count(1)
    camera.take("chat-approval")
    box = page.get_by_label(camera.t("Message", "消息"), exact=True)
    for name in ("queued_one", "queued_two"):
        box.fill(demo.say(name))
        page.get_by_role("button", name=camera.t("Send", "发送"), exact=True).click()
        expect(page.get_by_text(demo.say(name))).to_be_visible()
    camera.take("chat-queue")
    camera.open("chat/new")
    box.press_sequentially(demo.say("mention"))
    expect(page.get_by_role("option").first).to_be_visible()
    camera.take("chat-mention")
    box.fill("")


def test_UI1_pictures_of_chat_at_work(camera, demo):
    page = camera.page
    stream = demo.own("ask_stream")
    camera.open(f"chat/{stream}")
    expect(page.get_by_text("src/holds.py")).to_be_visible()
    camera.take("chat-streaming")
    demo.served.post(f"/api/threads/{stream}/stop")
    running = demo.run_checks()
    camera.open(f"chat/{running}")
    expect(page.get_by_text("booking journey").first).to_be_visible()
    camera.take("chat-running")
    demo.served.post(f"/api/threads/{running}/stop")
    demo.served.until_idle(running)


def test_UI1_pictures_of_a_host_in_chat(camera, demo):
    page = camera.page
    camera.open(f"chat/{demo.threads['login']}")
    divider = page.locator("[data-compaction]").last
    expect(divider).to_be_visible()
    divider.locator("summary").click()
    page.get_by_text(demo.say("login_docs_done").split("*")[0]).last.scroll_into_view_if_needed()
    camera.take("chat-compaction")
    page.locator("[data-health]").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    camera.take("chat-health")
    camera.open(f"chat/{demo.threads['output']}")
    card = page.locator("[data-tool-state]").last
    card.get_by_role("button").first.click()
    camera.button("View full output", "查看完整输出", card).click()
    find = page.get_by_role("dialog").get_by_label(camera.t("Find", "查找"), exact=True)
    find.fill("WARN")
    expect(page.get_by_role("dialog").locator("mark").first).to_be_visible()
    camera.take("chat-output")


def test_MO1_pictures_of_the_mode(camera, demo):
    page = camera.page
    camera.open(f"chat/{demo.threads['ask_full']}")
    page.locator("button.mode").click()
    page.get_by_role("dialog").locator("button.full_access").click()
    confirm = camera.button("Switch to full access", "切换到完全访问权限", page.get_by_role("dialog"))
    expect(confirm).to_be_visible()
    camera.take("chat-full")
    confirm.click()
    expect(page.locator(".banner")).to_be_visible()
    camera.take("chat-banner")


def test_UI2_pictures_of_the_inbox(camera, demo):
    page = camera.page
    camera.open("inbox")
    expect(page.locator("[data-approval]")).to_have_count(3)
    camera.take("inbox")
    camera.open(f"inbox/{demo.approvals['payments']}")
    expect(page.locator(f'[data-approval="{demo.approvals["payments"]}"] table')).to_be_visible()
    camera.take("inbox-diff")
    camera.open(f"inbox/{demo.approvals['release']}")
    release = page.locator(f'[data-approval="{demo.approvals["release"]}"]')
    expect(release).to_contain_text(RELEASE)
    camera.take("inbox-command")
    publish = page.locator(f'[data-approval="{demo.approvals["publish"]}"]')
    camera.button("Always", "始终允许", publish).click()
    expect(publish.get_by_role("textbox").first).to_be_visible()
    publish.scroll_into_view_if_needed()
    camera.take("inbox-always")
    camera.open(f"inbox/{demo.approvals['release']}")
    camera.button("Deny", "拒绝", release).click()
    release.get_by_role("textbox").fill(demo.say("deny_tidy"))
    camera.take("inbox-deny")
    camera.open("inbox")
    page.get_by_text(camera.t("Decided", "已决定"), exact=True).click()
    expect(page.locator(".outcome").first).to_be_visible()
    camera.take("inbox-decided")


def test_UI1_pictures_of_sessions(camera, demo):
    page = camera.page
    camera.open(f"sessions/{demo.sessions['login']}")
    expect(page.get_by_role("meter").first).to_be_visible()
    camera.take("sessions")
    for face in ("digest", "transcript", "raw"):
        camera.open(f"sessions/{demo.sessions['login']}/{face}")
        expect(page.get_by_role("tabpanel").get_by_text(demo.say("login_title")).first).to_be_visible()
        camera.take(f"sessions-{face}")
    camera.open(f"sessions/{demo.sessions['login_now']}")
    expect(page.get_by_role("tabpanel")).to_contain_text("memory-bank/MEMORY.md")
    page.get_by_text("memory-bank/MEMORY.md").first.scroll_into_view_if_needed()
    camera.take("sessions-recovery")


def test_UI1_pictures_of_search_and_audit(camera, demo):
    page = camera.page
    camera.open(f"search?q={demo.say('search')}")
    expect(page.locator("main ol > li mark").first).to_be_visible()
    camera.take("search")
    camera.button("Filters", "筛选").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    camera.take("search-filters")
    camera.open("audit")
    expect(page.get_by_role("group", name=re.compile("Decisions over time|决定随时间"))).to_be_visible()
    camera.take("audit")
    camera.open(f"audit/{demo.denied}")
    expect(page.get_by_role("dialog")).to_contain_text("rm -rf /")
    camera.take("audit-why")


def test_PE7_pictures_of_rules(camera, demo):
    page = camera.page
    camera.open("rules")
    expect(page.get_by_role("tabpanel")).to_contain_text("vault:/config/**")
    camera.take("rules")
    camera.open("rules/test")
    page.get_by_label(camera.t("Command", "命令")).fill("git push --force && rm -rf build")
    camera.button("Test", "测试", page.get_by_role("tabpanel"), exact=True).click()
    expect(page.locator(".verdict")).to_be_visible()
    page.locator(".verdict").scroll_into_view_if_needed()
    camera.take("rules-test")
    camera.open("rules/templates")
    expect(page.get_by_role("switch").first).to_be_visible()
    camera.take("rules-templates")
    camera.open("rules/simulator")
    page.get_by_label(camera.t("Pattern", "模式")).first.fill("pip install *")
    camera.button("Simulate", "模拟").click()
    expect(page.get_by_role("link", name=re.compile("pip install")).first).to_be_visible()
    page.get_by_role("link", name=re.compile("pip install")).first.scroll_into_view_if_needed()
    camera.take("rules-simulator")


def test_UI1_pictures_of_memory_and_figures(camera, demo):
    page = camera.page
    camera.open("memory")
    expect(page.get_by_role("heading", name=demo.say("memory_goal"))).to_be_visible()
    camera.take("memory")
    page.get_by_role("link", name="memory-bank/MEMORY.md").click()
    expect(page.get_by_role("dialog")).to_contain_text("renewed")
    camera.take("memory-proposal")
    camera.open(f"plots?session={demo.sessions['login']}")
    expect(page.get_by_role("img", name=re.compile("Tokens|令牌"))).to_be_visible()
    camera.take("plots")


def test_UI1_pictures_of_settings(camera, demo):
    page = camera.page
    if camera.phone:
        camera.open("settings")
        expect(page.get_by_role("navigation").get_by_role("link").first).to_be_visible()
        camera.take("settings-list")
    demo.served.put(
        "/api/system-prompt", {"mode": "custom", "text": demo.say("prompt"), "params": {"temperature": 0.3}}
    )
    for section in ("appearance", "prompt", "models", "agents", "hosts", "notifications", "devices", "all"):
        camera.open(f"settings/{section}")
        if section == "hosts":
            expect(page.locator("summary", has_text="Claude Code")).to_be_visible()
            page.locator("summary", has_text="Claude Code").click()
        camera.take(f"settings-{section}")
    camera.open("settings/strategy")
    page.get_by_label(camera.t("Name of the family", "家族名称")).fill("claude-*")
    camera.button("Add a family", "添加家族").click()
    expect(page.get_by_role("slider").first).to_be_visible()
    camera.take("settings-strategy")


def test_UI1_pictures_of_the_frame(camera, demo, browser):
    page = camera.page
    if camera.phone:
        camera.open("more")
        camera.take("more")
    else:
        camera.open("chat/new")
    camera.button("Open on your phone", "在手机上打开").click()
    expect(page.get_by_role("dialog").get_by_role("img")).to_be_visible()
    camera.take("phone-dialog")
    strange = browser.new_context(
        **(PHONE_WINDOW if camera.phone else DESKTOP_WINDOW), locale="zh-CN" if camera.zh else "en-GB",
        color_scheme="dark" if "dark" in camera.kind else "light", reduced_motion="reduce",
    )  # fmt: skip
    outside = strange.new_page()
    outside.goto(demo.served.url)
    expect(outside.get_by_label(camera.t("Code", "代码"))).to_be_visible()
    Camera(Window(outside, demo.served, camera.kind), camera.kind).take("entry")
    strange.close()
    camera.open(f"chat/{demo.threads['ask_prices']}")
    expect(page.locator("[data-tool-state]").first).to_be_visible()
    demo.served.stop()
    expect(page.locator("p.lost")).to_be_visible()
    camera.take("lost")
    demo.served.start()
    camera.one.problems.clear()  # the browser notes that nobody was there


@pytest.fixture(scope="module", autouse=True)
def the_gallery():
    """Only what is taken now stays, and the page of the reference says it."""
    if TAKE_PICTURES:
        wanted = {file.name for one in pictures() for file in one.files()}
        for file in PICTURES.glob("*.png"):
            if file.name not in wanted:
                file.unlink()
        PAGE.write_text(written(), encoding="utf-8")
