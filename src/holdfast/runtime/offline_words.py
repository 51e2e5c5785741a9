"""What the offline model says, in English and Chinese."""

from __future__ import annotations

from holdfast.core.messages import Phrase

HELP = Phrase(
    "offline.help",
    """\
I am Holdfast's offline model: no network, no key, no intelligence. I know a few plain requests and carry them out \
with the real tools, under the same permissions as any model. Try:

- `read README.md`, `list files`, `find files matching *.py`, `search for hello in src`
- `write a file notes.txt with some text`, `replace old with new in notes.txt`, `rename a.txt to b.txt`, `delete a.txt`
- run `git status`, `run the tests`, `fetch https://example.com`
- `summarise this folder`, `make a plan to ...`, `ask a sub-agent to read README.md`
- `remember that the parser is done` (a proposal for the memory bank, which you confirm with `mb:write`)
- several at once: `read a.txt then list files`

For a real model set `model` in your configuration; `/model` shows how.""",
    """\
我是 Holdfast 的离线模型：不联网、不需要密钥，也没有智能。
我只认识一些简单的请求，并用真实的工具执行，权限与任何模型相同。试试：

- `读取 README.md`、`列出文件`、`查找匹配 *.py 的文件`、`在 src 里搜索 你好`
- `创建文件 notes.txt 内容为 一些文字`、`把 notes.txt 里的 旧 改成 新`、`把 a.txt 重命名为 b.txt`、`删除 a.txt`
- 运行 `git status`、`运行测试`、`抓取 https://example.com`
- `总结这个文件夹`、`制定一个计划`、`让子代理读取 README.md`
- `记住 解析器已完成`（向 memory-bank 提议，由你以 `mb:write` 确认）
- 一次多件：`读取 a.txt，然后列出文件`

要用真正的模型，请在配置中设置 `model`；`/model` 会告诉你怎么做。""",
)
UNKNOWN = Phrase(
    "offline.unknown",
    "I am Holdfast's offline model and do not understand that. I only know plain requests such as `read README.md`, "
    "`search for hello`, run `git status` or `summarise this folder`; `help` lists them. `/model` shows how to use a "
    "real model.",
    "我是 Holdfast 的离线模型，没有听懂。我只认识简单的请求，例如 `读取 README.md`、`搜索 你好`、运行 `git status`、"
    "`总结这个文件夹`；输入 `帮助` 查看全部。`/model` 会告诉你如何使用真正的模型。",
)
REMEMBERED = Phrase(
    "offline.remembered",
    "I proposed that for the memory bank. `mb:write` writes it, `mb:no` leaves it.",
    "已向 memory-bank 提议。`mb:write` 写入，`mb:no` 放弃。",
)
BECAUSE_ASKED = Phrase("offline.because_asked", "The user asked to remember it.", "用户要求记住。")
SETTLED = Phrase("offline.settled", "All right.", "好的。")
WELCOME = Phrase("offline.welcome", "You are welcome.", "不客气。")
NO_TOOL = Phrase(
    "offline.no_tool",
    "I would need the tool `{tool}` for that, and it is not available here.",
    "这需要工具 `{tool}`，而此处没有它。",
)
REFUSED = Phrase("offline.refused", "I was not allowed to do that ({what}). {why}", "此操作未被允许（{what}）。{why}")
FAILED = Phrase("offline.failed", "That did not work ({what}). {why}", "未能完成（{what}）。{why}")
READ = Phrase(
    "offline.read",
    "`{path}` has {lines} lines. It begins:\n\n{excerpt}",
    "`{path}` 共 {lines} 行，开头是：\n\n{excerpt}",
)
READ_ONE = Phrase("offline.read_one", "`{path}` has one line:\n\n{excerpt}", "`{path}` 只有一行：\n\n{excerpt}")
EMPTY_FILE = Phrase("offline.empty_file", "`{path}` is empty.", "`{path}` 是空的。")
LISTED = Phrase("offline.listed", "{count} entries in {where}:\n\n{excerpt}", "{where} 中有 {count} 项：\n\n{excerpt}")
LISTED_ONE = Phrase("offline.listed_one", "One entry in {where}:\n\n{excerpt}", "{where} 中有 1 项：\n\n{excerpt}")
FOUND = Phrase(
    "offline.found", "Lines with `{text}`: {count}.\n\n{excerpt}", "`{text}`：找到 {count} 行。\n\n{excerpt}"
)
NOT_FOUND = Phrase("offline.not_found", "`{text}` was not found.", "没有找到 `{text}`。")
WROTE = Phrase("offline.wrote", "Wrote `{path}`.", "已写入 `{path}`。")
CHANGED = Phrase("offline.changed", "Changed `{path}`.", "已修改 `{path}`。")
MOVED = Phrase("offline.moved", "Moved `{path}` to `{to}`.", "已把 `{path}` 移到 `{to}`。")
DELETED = Phrase(
    "offline.deleted",
    "Deleted `{path}`; it lies in the trash and can be brought back.",
    "已删除 `{path}`；它在回收区，可以恢复。",
)
RAN = Phrase("offline.ran", "`{command}` ended. Its output:\n\n{excerpt}", "`{command}` 已结束，输出：\n\n{excerpt}")
RAN_SILENTLY = Phrase("offline.ran_silently", "`{command}` ended without output.", "`{command}` 已结束，没有输出。")
NO_TESTS = Phrase(
    "offline.no_tests",
    "I see no tests here that I know how to start (Makefile, pyproject.toml, package.json, Cargo.toml, go.mod).",
    "这里没有我知道如何启动的测试（Makefile、pyproject.toml、package.json、Cargo.toml、go.mod）。",
)
FETCHED = Phrase("offline.fetched", "`{url}` says:\n\n{excerpt}", "`{url}` 的内容：\n\n{excerpt}")
SUMMARY = Phrase(
    "offline.summary",
    "In {where}: {count} entries, {names}.\n\n{parts}\n\nThis is an extract, not a judgement: I am the offline model.",
    "{where} 有 {count} 项：{names}。\n\n{parts}\n\n这只是摘录，不是判断：我是离线模型。",
)
SUMMARY_ONE = Phrase(
    "offline.summary_one",
    "In {where}: one entry, {names}.\n\n{parts}\n\nThis is an extract, not a judgement: I am the offline model.",
    "{where} 有 1 项：{names}。\n\n{parts}\n\n这只是摘录，不是判断：我是离线模型。",
)
PLAN = Phrase("offline.plan", "A plan{about}:\n\n{steps}", "计划{about}：\n\n{steps}")
PLAN_STEPS = Phrase(
    "offline.plan_steps",
    "Look at what is there\nDecide what has to change\nMake the change in small steps\n"
    "Run the tests\nSay what was done",
    "查看现状\n确定要改什么\n小步修改\n运行测试\n说明做了什么",
)
DELEGATED = Phrase("offline.delegated", "The sub-agent answered:\n\n{excerpt}", "子代理的回答：\n\n{excerpt}")
WATCHED = Phrase("offline.watched", "`{path}` now holds `{text}`.", "`{path}` 中已出现 `{text}`。")
GAVE_UP = Phrase(
    "offline.gave_up",
    "I read `{path}` {count} times and it did not change, so I stopped.",
    "读取 `{path}` {count} 次都没有变化，已停止。",
)
STOPPED_WATCHING = Phrase("offline.stopped_watching", "I stopped reading `{path}`. {why}", "已停止读取 `{path}`。{why}")
THIS_FOLDER = Phrase("offline.this_folder", "this folder", "当前文件夹")
MORE = Phrase("offline.more", "... and {count} more lines", "……另有 {count} 行")
MORE_ONE = Phrase("offline.more_one", "... and one more line", "……另有 1 行")
