"""What the tour says, in English and Chinese."""

from __future__ import annotations

from holdfast.core.messages import Phrase

INTRO = Phrase(
    "tour.intro",
    "Everything here happens for real, in a throw-away directory ({vault}), with the offline model: no key, no "
    "network. It takes about three minutes, and the directory is removed at the end.",
    "这里的一切都真实发生，在一次性目录（{vault}）中，使用离线模型：无需密钥，不联网。大约三分钟，结束后目录会被删除。",
)
GO_ON = Phrase("tour.go_on", "[Enter] goes on", "[回车] 继续")
STEPS: tuple[tuple[str, Phrase, Phrase], ...] = (
    (
        "ask",
        Phrase("tour.ask", "1. Nothing risky runs unasked", "1. 有风险的操作必先询问"),
        Phrase(
            "tour.ask.text",
            "The agent wants to run a command. The card shows what it would run, why you are asked, and the exact rule "
            "that `always` would write. The question lies in the store: you could close this terminal and answer it "
            "tomorrow, or from another device.",
            "智能体想运行一条命令。卡片会显示将要运行什么、为何询问，以及“始终允许”会写入的确切规则。"
            "问题保存在存储中：你可以关掉终端，明天或在另一台设备上再答复。",
        ),
    ),
    (
        "cut",
        Phrase("tour.cut", "2. Long outputs are cut, and kept whole", "2. 长输出会被截断，但完整保留"),
        Phrase(
            "tour.cut.text",
            "The agent prints a log of 6,000 lines; a rule of this tour allows `cat`, so nobody is asked. The model "
            "gets the beginning and the end, and the path of the whole text; its context stays small.",
            "智能体打印一份 6000 行的日志；本导览有一条允许 `cat` 的规则，因此不再询问。"
            "模型只得到开头、结尾以及全文的路径；上下文因此保持精简。",
        ),
    ),
    (
        "loop",
        Phrase("tour.loop", "3. A loop is noticed and stopped", "3. 循环会被发现并停止"),
        Phrase(
            "tour.loop.text",
            "The agent is told to read a file until it says `done`, which it never will. After a few identical calls "
            "you are asked whether it should go on.",
            "智能体被要求反复读取一个文件直到出现 `done`，而它永远不会出现。几次相同的调用之后，会询问你是否继续。",
        ),
    ),
    (
        "compact",
        Phrase("tour.compact", "4. A long history is made smaller", "4. 长历史会被压缩"),
        Phrase(
            "tour.compact.text",
            "By itself this happens when the window is four fifths full; here it is done by hand, as `/compact` does. "
            "Older outputs give way to one line each, older turns to a summary; the record keeps everything.",
            "通常在窗口用到五分之四时自动发生；这里手动执行，与 `/compact` 相同。"
            "较早的输出各缩为一行，较早的轮次由摘要代替；记录则保留一切。",
        ),
    ),
    (
        "audit",
        Phrase("tour.audit", "5. Every decision is on the record", "5. 每个决定都有记录"),
        Phrase(
            "tour.audit.text",
            "What was allowed, asked and denied, by which rule and by whom; a chain of hashes shows any line that was "
            "changed or removed.",
            "允许、询问、拒绝了什么，依据哪条规则、由谁决定；哈希链能显示任何被改动或删除的行。",
        ),
    ),
)
VERIFIED = Phrase("tour.verified", "{count} entries, all as they were written.", "{count} 条记录，均与写入时一致。")
ALTERED = Phrase("tour.altered", "The audit does not verify: {problem}", "审计记录未通过校验：{problem}")
END = Phrase(
    "tour.end",
    "That was it. In your own project: `holdfast chat`. With a real model: docs/how-to/models.md.",
    "导览结束。在你自己的项目中运行 `holdfast chat`。使用真实模型请见 docs/how-to/models.md。",
)
TYPES = Phrase("tour.types", "you: {text}", "你：{text}")
ANSWERED = Phrase("tour.answered", "(answered for you: {answer})", "（已代你答复：{answer}）")
