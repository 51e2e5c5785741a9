"""Every state of a tool's card, one after the other, and every state of an approval's card: in Chinese, on a phone."""

import json

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import SECONDS, until
from holdfast.testing import ChatCompletionsServer, Script, ToolUse, Turn

WAITS = "echo begun; while [ ! -e go ]; do sleep 0.1; done; echo gone"
# Long, so that a card is seen while its call is still being written.
LONG = f": {'x' * 900}; {WAITS}"
SLOW = 0.5


@pytest.fixture
def slow_model(own_server):
    """A server whose model writes its first call slowly, and then makes three more."""

    def call(request):
        done = sum(1 for message in request.messages if message.role == "assistant")
        commands = (LONG, "cat nothing-there", "touch never", "touch not-this-either")
        if done >= len(commands):
            return Script("好了。")
        use = ToolUse("bash", {"command": commands[done]}, f"call-{done}")
        return Script(Turn("", (use,), piece_delay=SLOW if done == 0 else 0.0))

    with ChatCompletionsServer(call) as model:
        runtime = {"model": "slow", "models": {"slow": {"baseUrl": model.base_url}}}
        yield own_server(config=json.dumps({"agents": {"runtime": runtime}}))


def test_UI1_a_call_is_shown_in_every_state(window, slow_model):
    one = window(phone=True, language="zh", theme="dark", server=slow_model)
    page = one.page
    one.open("chat/new")
    page.get_by_label("消息", exact=True).fill("做几件事")
    page.get_by_role("button", name="发送", exact=True).click()

    def card(number, state, words):
        shown = page.locator(f'[data-call="call-{number}"]')
        expect(shown).to_have_attribute("data-tool-state", state, timeout=SECONDS)
        expect(shown).to_contain_text(words) if words != "完成" else expect(shown.get_by_label(words)).to_be_visible()
        return shown

    card(0, "preparing", "准备中")
    card(0, "waiting", "等待你").get_by_role("button", name="允许一次").click()
    expect(card(0, "running", "运行中")).to_contain_text("begun")
    one.axe()
    (slow_model.vault / "go").touch()
    card(0, "done", "完成")
    card(1, "waiting", "等待你").get_by_role("button", name="允许一次").click()
    expect(card(1, "failed", "失败")).to_contain_text("nothing-there")
    waiting = card(2, "waiting", "等待你")
    waiting.get_by_role("button", name="拒绝").click()
    waiting.locator("form").get_by_role("button", name="拒绝", exact=True).click()
    expect(card(2, "denied", "已拒绝")).to_contain_text("你已拒绝")
    card(3, "waiting", "等待你")
    page.get_by_role("button", name="停止").click()
    card(3, "interrupted", "已中断")
    one.axe()
    assert not (slow_model.vault / "never").exists()


def test_UI2_a_question_is_shown_in_every_state(window, hosts):
    one = window(phone=True, language="zh", theme="dark")
    page = one.page
    where = hosts.begin("codex")
    hosts.say(where, "发布新版本")
    asked = [hosts.ask(where, "bash", command=f"git push origin part-{number}").id for number in range(4)]
    one.open("inbox")

    def card(number, status, words):
        shown = page.locator(f'[data-approval="{asked[number]}"]')
        expect(shown).to_have_attribute("data-status", status, timeout=SECONDS)
        expect(shown).to_contain_text(words)
        return shown

    for number in range(4):
        card(number, "pending", "Codex 想运行一条命令")
    held = []
    page.route("**/answer", lambda route: held.append(route))  # noqa: PLW0108 (Playwright looks at functions)
    here = card(0, "pending", "为什么询问你")
    here.get_by_role("button", name="允许一次").click()
    expect(here.get_by_role("button", name="正在发送…")).to_have_attribute("aria-busy", "true")
    expect(here.get_by_role("button", name="拒绝")).to_be_disabled()
    until(page, lambda: held)
    held[0].continue_()
    card(0, "answered", "你已允许一次。")
    hosts.control.approvals.answer(asked[1], "deny", by="小安", message="先跑测试")
    expect(card(1, "answered", "已在别处决定：拒绝。")).to_contain_text("先跑测试")
    hosts.control.approvals.expire(asked[2])
    card(2, "expired", "已过期：无人及时回答，因此已拒绝。")
    hosts.control.approvals.cancel(approval_id=asked[3])
    card(3, "cancelled", "已取消")
    one.axe()
