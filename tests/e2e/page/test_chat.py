"""Chat: streaming, tool cards in all states, Stop, queue, edit, mentions, files, mode, compaction, context health."""

import re

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import SECONDS


def message_box(one):
    return one.page.get_by_label("Message", exact=True)


def tool(one, state):
    return one.page.locator(f'[data-tool-state="{state}"]')


def allow(one):
    one.page.get_by_role("button", name="Allow once").click()


@pytest.mark.parametrize(
    ("phone", "language", "theme"), [(False, "en", "light"), (True, "zh", "dark"), (False, "zh", "dark")]
)
def test_UI1_a_conversation_from_the_first_word(window, served, phone, language, theme):
    (served.vault / "app.py").write_text("def main():\n    print('hi')\n", encoding="utf-8")
    one = window(phone=phone, language=language, theme=theme)
    english = language == "en"
    one.open("chat/new")
    one.axe()
    box = one.page.get_by_label("Message" if english else "消息", exact=True)
    box.fill("read app.py" if english else "读取 app.py")
    one.page.get_by_role("button", name="Send" if english else "发送", exact=True).click()
    expect(one.page).to_have_url(re.compile(r"#/chat/\w+"))
    expect(tool(one, "done")).to_have_count(1, timeout=SECONDS)
    expect(one.page.locator(".markdown").first).to_be_visible()
    tool(one, "done").get_by_role("button").first.click()
    expect(tool(one, "done")).to_contain_text("print('hi')")
    expect(one.page.locator("[data-health]")).to_contain_text(re.compile(r"~?\d+%"))
    one.axe()
    if phone:
        one.page.get_by_role("button", name="全部对话").click()
        expect(one.page.get_by_role("link", name=re.compile("app.py")).first).to_be_visible()
        one.axe()
    # The conversation is still there after a reload, and goes on.
    one.page.reload()
    expect(one.page.get_by_text(re.compile("read app.py|读取 app.py")).first).to_be_visible()


def test_UI1_live_output_stop_and_an_interrupted_call(window, served):
    one = window()
    thread = served.thread("run `for i in 1 2 3 4 5 6 7 8 9; do echo step $i; sleep 5; done`")
    one.open(f"chat/{thread}")
    expect(tool(one, "waiting")).to_have_count(1, timeout=SECONDS)
    stop = one.page.get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    allow(one)
    expect(tool(one, "running")).to_contain_text("step 1", timeout=SECONDS)
    expect(stop).to_be_visible()
    one.axe()
    stop.click()
    expect(tool(one, "interrupted")).to_have_count(1, timeout=SECONDS)
    expect(stop).to_have_count(0)
    served.until_idle(thread)
    expect(one.page.get_by_text("step 9")).to_have_count(0)


def test_UI1_a_failed_and_a_denied_call(window, served):
    one = window()
    thread = served.thread("run `ls /nowhere-at-all`")
    one.open(f"chat/{thread}")
    once = one.page.get_by_role("button", name="Allow once")
    expect(once.or_(tool(one, "failed")).first).to_be_visible(timeout=SECONDS)
    if once.count():  # whether listing asks is the rules' affair, not this test's
        once.click()
    expect(tool(one, "failed")).to_contain_text("nowhere-at-all", timeout=SECONDS)
    expect(tool(one, "failed")).to_contain_text("exit 2")
    served.until_idle(thread)
    message_box(one).fill("run `sudo rm -rf /`")
    message_box(one).press("Enter")
    denied = tool(one, "denied").or_(tool(one, "waiting"))
    expect(denied.first).to_be_visible(timeout=SECONDS)
    if tool(one, "waiting").count():
        one.page.get_by_role("button", name="Deny").click()
        one.page.locator("form").get_by_role("button", name="Deny", exact=True).click()
    expect(tool(one, "denied")).to_have_count(1, timeout=SECONDS)
    one.axe()
    served.until_idle(thread)


def test_UI1_what_is_written_while_it_works_is_queued_and_can_be_taken_back(window, served):
    one = window()
    thread = served.thread("run `touch queue.txt`")
    one.open(f"chat/{thread}")
    expect(tool(one, "waiting")).to_have_count(1, timeout=SECONDS)
    for text in ("read queue-one.txt", "read queue-two.txt"):
        message_box(one).fill(text)
        message_box(one).press("Enter")
        expect(one.page.get_by_role("region", name="Waiting until the agent is done")).to_contain_text(text)
    one.axe()
    one.page.get_by_role("button", name="Remove from the queue: read queue-one.txt").click()
    expect(one.page.get_by_text("read queue-one.txt")).to_have_count(0, timeout=SECONDS)
    allow(one)
    expect(one.page.locator('[data-row="item"]', has_text="read queue-two.txt").first).to_be_visible(timeout=SECONDS)
    served.until_idle(thread)
    texts = [item["text"] for item in served.get(f"/api/threads/{thread}/messages")["items"] if item["kind"] == "user"]
    assert texts == ["run `touch queue.txt`", "read queue-two.txt"]


def test_UI1_a_message_is_edited_and_sent_again(window, served):
    (served.vault / "right.txt").write_text("the right one", encoding="utf-8")
    one = window()
    thread = served.thread("read wrong.txt")
    served.until_idle(thread)
    one.open(f"chat/{thread}")
    bubble = one.page.get_by_text("read wrong.txt", exact=True).last
    bubble.hover()
    one.page.get_by_role("button", name="Edit and send again").click()
    field = one.page.get_by_role("textbox", name="Edit and send again")
    expect(field).to_be_focused()
    one.axe()
    field.fill("read right.txt")
    field.press("Enter")
    folded = one.page.get_by_role("button", name=re.compile("replaced by an edit"))
    expect(folded).to_be_visible(timeout=SECONDS)
    expect(tool(one, "done")).to_have_count(1, timeout=SECONDS)
    folded.click()
    expect(one.page.locator(".replaced")).to_contain_text("read wrong.txt")
    served.until_idle(thread)


def test_UI1_files_are_mentioned_by_completion_and_brought_in(window, served, tmp_path):
    (served.vault / "notes").mkdir(exist_ok=True)
    (served.vault / "notes" / "mention-me.md").write_text("found it", encoding="utf-8")
    one = window()
    thread = served.thread()
    one.open(f"chat/{thread}")
    message_box(one).press_sequentially("read @mention")
    option = one.page.get_by_role("option", name="notes/mention-me.md")
    expect(option).to_be_visible()
    one.axe()
    message_box(one).press("Enter")
    expect(message_box(one)).to_have_value("read @notes/mention-me.md ")
    message_box(one).press("Escape")
    message_box(one).fill("")
    brought = tmp_path / "brought in.txt"
    brought.write_text("from outside", encoding="utf-8")
    one.page.locator('input[type="file"]').set_input_files(brought)
    expect(message_box(one)).to_have_value(re.compile(r"@\S*brought\S*"))
    path = message_box(one).input_value().strip().removeprefix("@")
    assert (served.vault / path).read_text(encoding="utf-8") == "from outside"
    # Dragged in: the same, after a sign where to drop.
    give = "() => { const data = new DataTransfer(); data.items.add(new File(['dragged'], 'drag.txt')); return data }"
    given = one.page.evaluate_handle(give)
    one.page.dispatch_event("body", "dragenter", {"dataTransfer": given})
    expect(one.page.get_by_text("Drop files here")).to_be_visible()
    one.page.dispatch_event("body", "drop", {"dataTransfer": given})
    expect(message_box(one)).to_have_value(re.compile("drag"))
    expect(one.page.get_by_text("Drop files here")).to_have_count(0)


def test_UI1_files_are_named_and_brought_in_before_the_first_message(window, served, tmp_path):
    (served.vault / "before-the-first.md").write_text("read me", encoding="utf-8")
    one = window()
    one.open("chat/new")
    message_box(one).press_sequentially("read @before-the")
    expect(one.page.get_by_role("option", name="before-the-first.md")).to_be_visible()
    message_box(one).press("Enter")
    expect(message_box(one)).to_have_value("read @before-the-first.md ")
    expect(one.page.get_by_role("button", name="Add files")).to_be_visible()
    chosen = tmp_path / "chosen.txt"
    chosen.write_text("chosen", encoding="utf-8")
    one.page.locator('input[type="file"]').set_input_files(chosen)
    expect(message_box(one)).to_have_value(re.compile(r"@\S*chosen\S*"))
    give = "() => { const data = new DataTransfer(); data.items.add(new File(['dragged'], 'early.txt')); return data }"
    given = one.page.evaluate_handle(give)
    one.page.dispatch_event("body", "dragenter", {"dataTransfer": given})
    expect(one.page.get_by_text("Drop files here")).to_be_visible()
    one.page.dispatch_event("body", "drop", {"dataTransfer": given})
    expect(message_box(one)).to_have_value(re.compile(r"@\S*early\S*"))
    one.axe()
    paths = re.findall(r"@(\S+)", message_box(one).input_value())
    assert [(served.vault / path).read_text(encoding="utf-8") for path in paths] == ["read me", "chosen", "dragged"]
    message_box(one).press("Enter")
    expect(one.page).to_have_url(re.compile(r"#/chat/(?!new)\w+"))
    expect(one.page.locator('[data-row="item"]').first).to_contain_text("before-the-first.md")
    served.until_idle(one.page.url.rpartition("/")[2])


@pytest.mark.parametrize(("phone", "language"), [(False, "en"), (True, "zh")])
def test_MO1_full_access_is_confirmed_once_and_a_banner_stands(window, served, phone, language):
    one = window(phone=phone, language=language)
    english = language == "en"
    thread = served.thread("help" if english else "帮助")
    served.until_idle(thread)
    one.open(f"chat/{thread}")
    switch = one.page.get_by_role("button", name="Mode: Agent" if english else "模式: Agent")
    composer = one.page.get_by_label("Message" if english else "消息", exact=True)
    assert switch.bounding_box()["x"] < composer.bounding_box()["x"]
    switch.click()
    full = one.page.get_by_role("button", name=re.compile("^Full access|^完全访问权限"))
    full.click()
    confirm = one.page.get_by_role("dialog").get_by_role("button", name=re.compile("Switch to full|切换到完全"))
    expect(confirm).to_be_visible()
    one.axe()
    one.page.get_by_role("button", name=re.compile("^Cancel$|^取消$")).click()
    assert served.get(f"/api/threads/{thread}")["mode"] == "agent"
    switch.click()
    full.click()
    confirm.click()
    banner = one.page.get_by_text(re.compile("Full access: nothing is asked|完全访问权限：本会话不再询问"))
    expect(banner).to_be_visible()
    one.axe()
    composer.fill("run `touch unasked.txt`" if english else "运行 `touch unasked.txt`")
    one.page.get_by_role("button", name="Send" if english else "发送", exact=True).click()
    expect(tool(one, "done")).to_have_count(1, timeout=SECONDS)
    served.until_idle(thread)
    one.page.get_by_role("button", name=re.compile("Back to Agent|切回 Agent")).click()
    expect(banner).to_have_count(0)
    assert served.get(f"/api/threads/{thread}")["mode"] == "agent"


def test_SC2_context_health_and_compaction_with_before_and_after(window, hosts):
    where = hosts.begin("claude-code")
    hosts.say(where, "a long day")
    hosts.reply(where, "indeed")
    hosts.measure(where, 90_000, reserve=20_000)
    one = window()
    one.open(f"chat/{where.key.thread}")
    meter = one.page.locator("[data-health]")
    expect(meter).to_have_attribute("data-health", "good")
    expect(meter).to_contain_text("50%")
    hosts.compact(where, before=160_000, after=24_000, summary="We **tidied** the house.")
    divider = one.page.locator("[data-compaction]")
    expect(divider).to_contain_text("160k → 24k tokens", timeout=SECONDS)
    divider.locator("summary").click()
    expect(divider.locator("strong")).to_have_text("tidied")
    hosts.measure(where, 165_000, reserve=20_000, exact=False, compressions=1)
    expect(meter).to_have_attribute("data-health", "bad", timeout=SECONDS)
    expect(meter).to_contain_text("~92%")
    meter.click()
    sheet = one.page.get_by_role("dialog")
    for words in ("~92%", "warns at", "estimated", "measured", "Made smaller 1", "200,000", "20,000"):
        expect(sheet).to_contain_text(words)
    one.axe()
    phone = window(phone=True, language="zh", theme="dark")
    phone.open(f"chat/{where.key.thread}")
    expect(phone.page.locator("[data-compaction]")).to_contain_text("160k → 24k")
    phone.axe()
    expect(phone.page.get_by_text("此对话在 Claude Code 中运行")).to_be_visible()
