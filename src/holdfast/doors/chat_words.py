"""What the terminal says by itself, in English and Chinese."""

from __future__ import annotations

from holdfast.core.messages import Phrase

WELCOME = Phrase(
    "chat.welcome",
    "Holdfast {version} in {vault}\nmodel {model} · /help lists the commands, Ctrl-D ends",
    "Holdfast {version}，目录 {vault}\n模型 {model} · /help 查看命令，Ctrl-D 结束",
)
NOTHING_SAID = Phrase(
    "chat.nothing_said",
    "Nothing was said: this is no terminal, and no line came in. Start it at a terminal to talk, or pipe messages in, "
    "one a line.",
    "没有收到消息：这里不是终端，输入也为空。请在终端中启动以进行对话，或通过管道逐行输入消息。",
)
LOADING = Phrase("chat.loading", "loading the libraries ...", "正在加载组件……")
CONFIRM_FULL = Phrase(
    "chat.confirm_full",
    "Full access lets the agent read, change and run without asking, everywhere your rules do not forbid it. "
    "Everything is recorded. Switch this session to full access?",
    "完全访问权限允许智能体在你的规则未禁止之处不经询问地读取、修改和运行。一切均有记录。将本会话切换为完全访问权限？",
)
CONFIRM_MODE = Phrase("chat.confirm_mode", "full access needs your approval", "完全访问权限需要你的批准")
YES_NO = Phrase("chat.yes_no", "[y]es  [n]o", "[y] 是  [n] 否")
KEYS = Phrase("chat.keys", "[o]nce  {more}[d]eny", "[o] 仅此一次  {more}[d] 拒绝")
KEY_ALWAYS = Phrase("chat.key_always", "[a]lways  ", "[a] 始终允许  ")
KEY_WHILE = Phrase("chat.key_while", "[w]hile (30 min)  ", "[w] 30 分钟内  ")
DENY_WHY = Phrase("chat.deny_why", "A word to the agent (Enter: none): ", "给智能体的话（回车跳过）：")
DECIDED_ELSEWHERE = Phrase(
    "chat.decided_elsewhere", "decided elsewhere: {status} by {by}", "已在别处决定：{status}（{by}）"
)
STOPPING = Phrase("chat.stopping", "stopping; Ctrl-C again quits", "正在停止；再按 Ctrl-C 退出")
STOPPED = Phrase("chat.stopped", "stopped", "已停止")
AGAIN_TO_QUIT = Phrase("chat.again_to_quit", "Ctrl-C again, or Ctrl-D, quits", "再按 Ctrl-C 或 Ctrl-D 退出")
UNFINISHED = Phrase(
    "chat.unfinished",
    "The last run of this thread was cut off. /resume takes it up; a new message goes on from there.",
    "本线程的上一次运行被中断。/resume 可继续；也可直接发送新消息。",
)
BYE = Phrase(
    "chat.bye",
    "Thread {thread} is kept: holdfast chat --thread {thread}",
    "线程 {thread} 已保存：holdfast chat --thread {thread}",
)
NO_SUCH_COMMAND = Phrase(
    "chat.no_such_command", "no command {name}; /help lists them", "没有命令 {name}；/help 查看全部"
)
NOTHING_TO_RESUME = Phrase("chat.nothing_to_resume", "nothing to resume in this thread", "本线程没有可继续的运行")
NOTHING_TO_UNDO = Phrase("chat.nothing_to_undo", "nothing to undo in this thread", "本线程没有可撤销的更改")
UNDONE = Phrase("chat.undone", "{what}", "已撤销：{what}")
MODEL_NOW = Phrase(
    "chat.model_now",
    "model: {name} at {url}, window {window}, key {key}",
    "模型：{name}（{url}），上下文 {window}，密钥{key}",
)
KEY_FROM: dict[str, Phrase] = {
    "environment": Phrase("chat.key.environment", "{name} of the environment", "来自环境变量 {name}"),
    "keyring": Phrase("chat.key.keyring", "{name} of the keyring", "来自系统密钥环中的 {name}"),
    "credentials": Phrase("chat.key.credentials", "{name} of the credentials file", "来自凭据文件中的 {name}"),
    "missing": Phrase("chat.key.missing", "{name}: not found anywhere", "{name}：未找到"),
    "none": Phrase("chat.key.none", "not needed", "不需要"),
}
MODEL_HOW = Phrase(
    "chat.model_how",
    'Another one for this conversation: /model NAME. For good: set "model" and, under "models", its "baseUrl" and '
    '"keyEnv" in {config}. docs/how-to/models.md has examples for each provider.',
    '本次对话换模型：/model 名称。长期设置：在 {config} 中设置 "model"，并在 "models" 下写明 "baseUrl" 与 "keyEnv"。'
    "各提供商示例见 docs/how-to/models.md。",
)
NO_AGENTS = Phrase(
    "chat.no_agents",
    "agent: default; you have written none yet: put NAME.md with a prompt into {folder}",
    "智能体：默认；你还没有编写自己的：把含提示词的 名称.md 放入 {folder}",
)
AGENT_NOW = Phrase("chat.agent_now", "agent: {name}; there are: {names}", "智能体：{name}；可选：{names}")
MODE_NOW = Phrase(
    "chat.mode_now", "mode: {mode}; /mode agent or /mode full", "模式：{mode}；可用 /mode agent 或 /mode full"
)
PROPOSED = Phrase("chat.proposed", "proposed for the memory bank: {path}", "提议写入 memory-bank：{path}")
PROPOSAL_HOW = Phrase(
    "chat.proposal_how",
    "Your next message decides: mb:write (or yes, ok) writes it, mb:no (or no, skip) leaves it. Later: "
    "holdfast memory apply {id}",
    "由你的下一条消息决定：mb:write（或 好、写、确认）写入，mb:no（或 不用、跳过）放弃。"
    "之后可用：holdfast memory apply {id}",
)
TRUNCATED = Phrase("chat.truncated", "truncated; whole output: {path}", "已截断；完整输出：{path}")
DENIED = Phrase("chat.denied", "not allowed", "未允许")
WAITS = Phrase("chat.waits", "{tool} needs your approval", "{tool} 需要你的批准")
RETRYING = Phrase(
    "chat.retrying",
    "{why} Trying again in {seconds} s (attempt {attempt}).",
    "{why} {seconds} 秒后重试（第 {attempt} 次）。",
)
COMPACTING = Phrase("chat.compacting", "making the history smaller ...", "正在压缩历史……")
WOULD_WRITE = Phrase("chat.would_write", "always writes", "始终允许将写入")
YOUR_WORD = Phrase("chat.your_word", "your word", "你的答复")
WHY = Phrase("chat.why", "why", "原因")
BY_RULE = Phrase("chat.by_rule", "rule", "规则")
TOUCHES = Phrase("chat.touches", "touches", "涉及")
FROM = Phrase("chat.from", "asked by", "来自")
THIS_SESSION = Phrase("chat.this_session", "for this session only", "仅限本会话")
HELP: tuple[tuple[str, Phrase], ...] = (
    ("/help", Phrase("chat.help.help", "this list", "本列表")),
    ("/compact", Phrase("chat.help.compact", "make the history smaller now", "立即压缩历史")),
    ("/mode [agent|full]", Phrase("chat.help.mode", "show or switch the mode", "查看或切换模式")),
    ("/model [NAME]", Phrase("chat.help.model", "show or switch the model", "查看或切换模型")),
    ("/agent [ID]", Phrase("chat.help.agent", "show or switch the agent (agents/*.md)", "查看或切换智能体")),
    ("/undo", Phrase("chat.help.undo", "take back the agent's last change to a file", "撤销对文件的上一次更改")),
    ("/resume [THREAD]", Phrase("chat.help.resume", "take up a run that was cut off", "继续被中断的运行或另一线程")),
    ("/sessions", Phrase("chat.help.sessions", "threads in this directory", "本目录的线程")),
    ("/new", Phrase("chat.help.new", "start a new thread", "开启新线程")),
    ("/quit", Phrase("chat.help.quit", "end; the thread is kept", "结束；线程会保存")),
)
