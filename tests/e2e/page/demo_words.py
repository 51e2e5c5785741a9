"""What is said in the demonstration that the pictures of the page show: a small ferry company and its ticket shop.

Each text in English and in Chinese, so that a picture of the page in one language shows work in that language.
"""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # the own agent
    "ask_prices": (
        "How are ticket prices rounded? I was charged a cent too much.",
        "票价是怎么取整的？我被多收了一分钱。",
    ),
    "look_prices": ("I'll look at where prices are made.", "我先看看价格是在哪里计算的。"),
    "tell_prices": (
        "Prices are rounded **twice**: once per passenger, and once more for the whole booking.\n\n"
        "| passengers | exact | charged |\n|---|---|---|\n| 1 | 12.495 | 12.50 |\n| 3 | 37.485 | **37.50** |\n\n"
        "Round the sum only:\n\n"
        "```python\ntotal = sum(fare(p) for p in passengers)\nreturn total.quantize(CENT)\n```\n\n"
        "Shall I change `src/prices.py` and add a test?",
        "价格被取整了**两次**：先按每位乘客，再按整个订单。\n\n"
        "| 乘客 | 精确值 | 实收 |\n|---|---|---|\n| 1 | 12.495 | 12.50 |\n| 3 | 37.485 | **37.50** |\n\n"
        "只对总和取整即可：\n\n"
        "```python\ntotal = sum(fare(p) for p in passengers)\nreturn total.quantize(CENT)\n```\n\n"
        "要我修改 `src/prices.py` 并补一个测试吗？",
    ),
    "ask_run": ("Yes. Then run the checks.", "好的，改完后运行检查。"),
    "say_run": ("Changed. Now the checks:", "已修改，现在运行检查："),
    "ask_release": ("Put the fix on the release branch.", "把修复放到发布分支上。"),
    "say_release": (
        "The release branch has an older commit on top, so it has to be overwritten.",
        "发布分支上有一个较旧的提交，需要覆盖它。",
    ),
    "queued_one": ("then write the release note", "然后写发布说明"),
    "queued_two": ("and tell me which tickets are affected", "再告诉我哪些船票受影响"),
    "ask_tidy": ("Tidy up the old exports.", "清理旧的导出文件。"),
    "deny_tidy": ("Move them to archive/ instead.", "请改为移到 archive/ 目录。"),
    "tell_tidy": (
        "Understood: nothing was deleted. I'll move them to `archive/` next.",
        "明白：没有删除任何文件。接下来我会把它们移到 `archive/`。",
    ),
    "ask_stream": ("Explain how a seat is reserved.", "解释一下座位是怎样预订的。"),
    "tell_stream": (
        "A seat goes through **four steps**:\n\n1. The customer picks it; the shop *holds* it for ten minutes.\n"
        "2. The payment provider confirms the amount.\n3. The hold becomes a ticket, and the seat is taken.\n"
        "4. A mail with the code goes out.\n\nIf step 2 fails, the hold simply runs out: nobody has to clean up. "
        "The hold lives in `src/holds.py`, in a table with a unique key on sailing and seat, so two customers can "
        "never hold the same seat, whatever the order in which their requests arrive",
        "座位要经过**四个步骤**：\n\n1. 顾客选座，商店为其*保留*十分钟。\n2. 支付方确认金额。\n"
        "3. 保留变成船票，座位被占用。\n4. 发送带有票码的邮件。\n\n如果第 2 步失败，保留会自然到期，无需任何清理。"
        "保留逻辑在 `src/holds.py` 中，数据表对航班和座位有唯一约束，"
        "因此无论请求以什么顺序到达，两位顾客都不可能保留同一个座位",
    ),
    "ask_full": ("Translate the timetable for the website.", "把时刻表翻译到网站上。"),
    "tell_full": (
        "The timetable is in `timetable.csv`. I can start as soon as you say which languages are wanted.",
        "时刻表在 `timetable.csv` 里。告诉我需要哪些语言，我就可以开始。",
    ),
    "mention": ("Compare @pri", "比较 @pri"),
    # attached hosts
    "login_title": (
        "The login test fails now and then. Find out why and fix it.",
        "登录测试时好时坏，请找出原因并修好。",
    ),
    "login_plan": (
        "I'll read the test first, then run it a few times:\n\n- `tests/test_login.py`\n- the session code",
        "我先读测试，再多运行几次：\n\n- `tests/test_login.py`\n- 会话相关代码",
    ),
    "login_found": (
        "Found it: the session is renewed **twice** when the clock passes a full minute. I replaced the sleep by a "
        "wait for the renewed session.",
        "找到了：时钟跨过整分时，会话会被续期**两次**。我把固定等待改成了等待会话续期完成。",
    ),
    "login_sso": ("Does it also happen with single sign-on?", "单点登录也会这样吗？"),
    "login_answer": (
        "No. Only with a password: single sign-on brings its own session, which is renewed once.",
        "不会，只有密码登录才会：单点登录自带会话，只续期一次。",
    ),
    "login_summary": (
        "The login test failed because a session is renewed twice at a full minute. **Fixed** in `src/session.py`; "
        "20 runs are green. Open: the same question for single sign-on, and a note for the handbook.",
        "登录测试失败的原因是会话在整分时被续期两次，已在 `src/session.py` 中**修复**，连续 20 次通过。"
        "尚未完成：确认单点登录的情况，并在手册中补充说明。",
    ),
    "login_docs": ("Now write it down in the handbook.", "请把它写进手册。"),
    "login_docs_done": (
        "The handbook has a section *Sessions and clocks* now.",
        "手册里已有“会话与时钟”一节。",
    ),
    "login_style": ("Short sentences, please. And name the files.", "句子请短一些，并写明文件名。"),
    "import_title": (
        "Add a trial run to the timetable importer.",
        "给时刻表导入程序加一个试运行选项。",
    ),
    "import_done": (
        "Done: with `--dry-run` the importer prints what it would change, and changes nothing.",
        "完成：使用 `--dry-run` 时，导入程序只打印将要做的更改，不做任何修改。",
    ),
    "payments_title": ("Switch payments to the new provider.", "把支付切换到新的服务商。"),
    "publish_title": ("Publish the booking widget.", "发布订票组件。"),
    "output_title": ("Show me last night's import log.", "给我看看昨晚的导入日志。"),
    "seats_title": ("Draw the seat map of the new ferry.", "绘制新渡轮的座位图。"),
    "mail_title": ("Why do some mails arrive twice?", "为什么有些邮件会收到两次？"),
    # memory bank
    "memory_goal": ("sell the summer timetable without a wrong price", "卖好夏季时刻表，价格不出错"),
    "memory_note": ("prices are rounded once, for the whole booking", "价格只在整个订单上取整一次"),
    "memory_pattern": ("wait for a state, never for a time", "等待状态，而不是等待时间"),
    "memory_line": (
        "- a session is renewed twice at a full minute; wait for `renewed`",
        "- 会话在整分时会续期两次；应等待 `renewed`",
    ),
    "memory_line_two": ("- tests never sleep", "- 测试中不使用固定等待"),
    "memory_title": ("Note what we learned about sessions.", "把我们对会话的发现记下来。"),
    "memory_why": ("Cost two hours to find; the next one should not.", "花了两小时才找到，下次不该再花。"),
    "memory_why_two": ("The same mistake stood in three tests.", "同样的错误出现在三个测试里。"),
    # settings
    "prompt": (
        "You work for a small ferry company.\n\n"
        "- Prices are decimals, never floats.\n- Ask before you touch payments.\n"
        "- Answer in short sentences.",
        "你为一家小型渡轮公司工作。\n\n- 价格使用十进制数，不用浮点数。\n- 涉及支付时先询问。\n- 回答要简短。",
    ),
    "agent_review": ("Reviewer", "审阅者"),
    "agent_review_about": ("reads a change and says what could go wrong", "阅读改动并指出可能的问题"),
    "agent_write": ("Handbook writer", "手册撰写者"),
    "agent_write_about": ("writes for people who were not there", "为不在场的人写文档"),
    "device_desk": ("Ann's desk", "小安的电脑"),
    "device_other": ("Laptop on the ferry", "小安的手机"),
    "search": ("session renewed", "会话 续期"),
}


def words(language: str):
    """The texts of one language, by their names."""
    at = ("en", "zh").index(language)
    return lambda name: WORDS[name][at]
