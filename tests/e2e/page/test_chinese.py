"""The whole page as a Chinese reader sees it: no screen shows an English sentence, whatever went wrong (UI1).

Everything that people and models say in these scenes is Chinese and the server runs in English, so that each Latin
sentence on a screen is one that the page or the server should have said in Chinese. Code is of no language.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import SECONDS, until
from e2e.page.served import Hosts, Served
from holdfast.core.events import ToolCalling
from holdfast.core.proposals import Edit
from latin import english_in

# Texts and the words that stand in attributes, of everything that can be seen.
SEEN = """() => {
  const found = []
  const code = 'code, pre, kbd, samp, .mono, textarea, option, script, style, [translate=no]'
  const visible = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement
    if (parent && !parent.closest(code) && visible(parent)) found.push(walker.currentNode.data)
  }
  for (const element of document.querySelectorAll('[title], [aria-label], [placeholder], [alt]'))
    if (!element.closest(code) && visible(element))
      for (const name of ['title', 'aria-label', 'placeholder', 'alt']) found.push(element.getAttribute(name) ?? '')
  return found
}"""
CONFIG = """{
  "agents": { "runtime": {
    "memory": { "guardMode": "block" },
    "permission": { "rules": [
      { "domain": "edit", "pattern": "vault:/locked/**", "decision": "deny" },
      { "domain": "edit", "pattern": "vault:/guarded/**", "decision": "ask" },
    ] },
  } },
}
"""
HOSTS = ("claude-code", "codex", "gemini", "opencode")


class Eye:
    """Reads a window; what it finds is kept, so that one run tells everything."""

    def __init__(self, one) -> None:
        self.one = one
        self.page = one.page
        self.faults: list[str] = []

    def read(self, place: str) -> None:
        until(self.page, lambda: self.page.locator(".skeleton, [aria-busy=true]").count() == 0)
        for text in self.page.evaluate(SEEN):
            if said := english_in(" ".join(text.split())):
                self.faults.append(f"{place}: {said!r} in {text.strip()[:200]!r}")

    def visit(self, route: str) -> None:
        self.one.open(route)
        self.page.locator("main").first.wait_for()
        self.read(route)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A server with a full record in Chinese, four attached hosts and a home that is ill in several ways."""
    folder = tmp_path_factory.mktemp("chinese")
    user = folder / "user"
    user.mkdir()
    served = Served(folder / "served")
    (served.home / "config.jsonc").write_text(CONFIG, encoding="utf-8")
    agents = served.home / "agents"
    agents.mkdir(exist_ok=True)
    (agents / "broken.md").write_text("---\nid: nobody\n", encoding="utf-8")
    try:
        with pytest.MonkeyPatch.context() as patch:  # of the server's own process, and of what attaches the hosts
            patch.setenv("HOME", str(user))
            patch.setenv("LANG", "C.UTF-8")
            for host in HOSTS:
                attach(served, host)
            served.start()
        hosts = Hosts(served)
        try:
            served.scenes = scenes(hosts)
        finally:
            hosts.close()
        yield served
    finally:
        served.close()


def attach(served: Served, host: str) -> None:
    command = [sys.executable, "-m", "holdfast", "--home", str(served.home), "--vault", str(served.vault)]
    asked = [*command, "attach", host, "--user", "--force"]
    subprocess.run(asked, cwd=served.vault, check=True, capture_output=True, timeout=120)


def scenes(hosts: Hosts) -> dict[str, str]:
    bank = hosts.vault / "memory-bank"
    bank.mkdir()
    (bank / "MEMORY.md").write_text("# 项目记忆\n\n## 当前焦点\n\n- 目标：让登录测试稳定\n", encoding="utf-8")
    where = hosts.begin("claude-code")
    hosts.say(where, "登录测试不稳定，请查明原因。")
    hosts.reply(where, "我先看测试。")
    hosts.done(where, "bash", "3 passed", command="pytest -q")
    denied = hosts.begin("claude-code")
    for tool, given in (
        ("bash", {"command": "rm -rf /"}),
        ("write", {"path": "locked/a.txt", "content": "x"}),
        ("write", {"path": "/etc/passwd", "content": "x"}),
        ("bash", {"command": "holdfast detach claude-code"}),
        ("read", {"path": "~/.ssh/id_rsa"}),
    ):
        hosts.tell(ToolCalling, denied, call=hosts.call(tool, **given))
    for _ in range(8):
        hosts.done(where, "bash", "没有变化", command="git status --short")
    hosts.measure(where, 150_000)
    hosts.compact(where, summary="登录测试的原因已查明。", before=150_000, after=30_000)
    hosts.tell(ToolCalling, where, call=hosts.call("write", path="src/after.py", content="x"))
    hosts.control.memory_bank.propose(
        where, str(hosts.vault), path="MEMORY.md", edit=Edit(append="- 不要等待固定时间\n"), why="修复时学到的"
    )
    asked = hosts.ask(hosts.begin("codex"), "write", path="guarded/b.txt", content="你好")
    long = hosts.begin("claude-code")
    hosts.say(long, "打印很多行")
    hosts.done(long, "bash", "\n".join(f"第 {n} 行" for n in range(30_000)), command="cat log.txt")
    (kept,) = [
        event.data["spilled"]["path"]
        for event in hosts.control.store.events(long.session, kinds=("tool_called",))
        if event.data.get("spilled")
    ]
    Path(kept).unlink()
    sealed = hosts.begin("claude-code")
    hosts.say(sealed, "请总结")
    hosts.reply(sealed, "已总结。")
    hosts.chain.sealer.seal_now(sealed, by="ann", turn_is_over=True)
    return {
        "thread": where.key.thread, "session": where.session, "asked": asked.id, "long": long.key.thread,
        "sealed": sealed.session,
        "denied": denied.key.thread,
    }  # fmt: skip


def test_UI1_no_screen_shows_an_english_sentence_to_a_chinese_reader(window, world):
    eye = Eye(window(server=world, language="zh"))
    known = world.scenes
    for route in (
        "chat", f"chat/{known['thread']}", f"chat/{known['long']}", "chat/nowhere", "inbox", f"inbox/{known['asked']}",
        "sessions", f"sessions/{known['session']}", f"sessions/{known['session']}/digest",
        f"sessions/{known['session']}/transcript", f"sessions/{known['session']}/raw", f"sessions/{known['sealed']}",
        "sessions/nowhere", "search?q=登录", "search?q=***", "audit", "rules", "rules/test", "rules/templates",
        "rules/simulator", "memory", "memory/nowhere", "plots", "settings/appearance", "settings/prompt",
        "settings/models", "settings/agents", "settings/strategy", "settings/hosts", "settings/notifications",
        "settings/devices", "settings/all", "more", "nowhere",
    ):  # fmt: skip
        eye.visit(route)
    proposal = world.get("/api/memory/proposals")["proposals"][0]["id"]
    eye.visit(f"memory/{proposal}")
    # The doctor's findings of every host, opened one by one.
    eye.one.open("settings/hosts")
    page = eye.page
    expect(page.locator("details")).to_have_count(len(HOSTS) + 1)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    expect(page.get_by_text("已接入").first).to_be_visible()
    eye.read("settings/hosts, opened")
    eye.one.problems.clear()  # browsers note each answer that says no
    assert eye.faults == []


def test_UI1_every_denial_is_explained_in_chinese(window, world):
    entries = world.get("/api/audit", limit=200)["entries"]
    denied = {entry["policy"]: entry["eventId"] for entry in entries if entry["decision"] == "deny" and entry["policy"]}
    assert {"hard_limits", "permission", "recovery_gate"} <= denied.keys(), denied
    eye = Eye(window(server=world, language="zh"))
    page = eye.page
    for policy, event in denied.items():
        eye.one.open(f"audit/{event}")
        expect(page.get_by_role("dialog")).to_contain_text("为何如此决定")
        eye.read(f"the denial by {policy}")
    eye.one.open(f"chat/{world.scenes['denied']}")
    cards = page.locator('[data-tool-state="denied"]')
    until(page, lambda: cards.count() > 2)
    for at in range(cards.count()):
        button = cards.nth(at).get_by_role("button").first
        if button.get_attribute("aria-expanded") == "false":
            button.click()
    expect(cards.last).to_contain_text("原因")
    eye.read("the cards of denied calls")
    assert eye.faults == []


def test_UI1_what_goes_wrong_is_told_in_chinese(window, world):
    eye = Eye(window(server=world, language="zh"))
    page = eye.page
    # an output that is gone
    eye.one.open(f"chat/{world.scenes['long']}")
    card = page.locator("[data-tool-state]").last
    card.get_by_role("button").first.click()
    card.get_by_role("button", name="查看完整输出").click()
    expect(page.get_by_role("dialog").locator('[data-output="expired"]')).to_be_visible()
    eye.read("an expired output")
    # rules that cannot be
    for pattern in ("regex:(?=x)", "regex:[", "url:https://example.org"):
        eye.one.open("rules")
        page.get_by_label("模式", exact=True).fill(pattern)
        page.get_by_role("button", name="添加", exact=True).click()
        expect(page.get_by_text("没有写入").first).to_be_visible()
        eye.read(f"the rule {pattern}")
    # a setting that cannot be
    eye.one.open("settings/all")
    page.get_by_label("查找设置项").fill("truncation.maxLines")
    page.get_by_role("button", name="更改 truncation.maxLines").click()
    page.get_by_role("spinbutton").last.fill("-5")
    page.get_by_role("button", name="保存").last.click()
    eye.read("a setting that cannot be")
    # a record that was tampered with
    file = max((world.home / "logs" / "agent-audit").glob("*.jsonl"), key=lambda path: path.stat().st_size)
    whole = file.read_bytes()
    lines = whole.decode().splitlines(keepends=True)
    file.write_text("".join([lines[1], lines[0], json.dumps({"a": 1}) + "\n", *lines[3:-2]]), encoding="utf-8")
    (file.parent / "stranger.jsonl").write_text("{}\n", encoding="utf-8")
    eye.one.open("audit")
    page.get_by_role("button", name="校验").click()
    expect(page.get_by_role("dialog")).to_contain_text("个问题", timeout=SECONDS)
    eye.read("a record that was tampered with")
    # a configuration that was broken outside
    config = world.home / "config.jsonc"
    before = config.read_text(encoding="utf-8")
    config.write_text(before.replace('"block"', '"sometimes"'), encoding="utf-8")
    for route in ("settings/all", "rules", "settings/hosts"):
        eye.visit(route)
    expect(page.get_by_text("应为").first).to_be_visible()
    config.write_text(before, encoding="utf-8")
    eye.one.problems.clear()
    assert eye.faults == []
