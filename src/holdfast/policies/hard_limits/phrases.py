"""What an agent is told when a call would loosen the guard itself (PE10): what, why, and what to do instead."""

from __future__ import annotations

from holdfast.core.messages import Phrase

CHANGES_GUARD = Phrase(
    "hard_limits.changes_guard",
    "{path} decides what you may do, so no call may change it. Tell the user what should be different and why.",
    "{path} 决定了你能做什么，任何调用都不得更改。请告诉用户需要怎样调整以及原因。",
)
READS_SECRET = Phrase(
    "hard_limits.reads_secret",
    "{path} belongs to Holdfast itself (its token, keys or records) or holds what lets a browser into its page; no "
    "call may read it.",
    "{path} 属于 Holdfast 自身（令牌、密钥或记录），或保存着浏览器进入其页面的凭据，任何调用都不得读取。",
)
RUNS_GUARD = Phrase(
    "hard_limits.runs_guard",
    "`{what}` is for people: an agent may not answer approvals or change modes, rules, configuration, hooks or the "
    "daemon. Ask the user to run it.",
    "`{what}` 仅供人使用：智能体不得答复审批，也不得更改模式、规则、配置、钩子或守护进程。请让用户来运行。",
)
REMOVES_GUARD = Phrase(
    "hard_limits.removes_guard",
    "`{what}` would remove or replace Holdfast. Only a person may do that.",
    "`{what}` 会卸载或替换 Holdfast，只有人可以这样做。",
)
ENDS_GUARD = Phrase(
    "hard_limits.ends_guard",
    "`{what}` would end Holdfast's own process. Only a person may do that (`holdfast daemon stop`).",
    "`{what}` 会终止 Holdfast 自身的进程，只有人可以这样做（`holdfast daemon stop`）。",
)
CALLS_API = Phrase(
    "hard_limits.calls_api",
    "`{what}` would talk to Holdfast's own API, which is for people. Use the tools you were given.",
    "`{what}` 会访问 Holdfast 自身的 API，该接口仅供人使用。请使用提供给你的工具。",
)
UNGUARDED_AGENT = Phrase(
    "hard_limits.unguarded_agent",
    "`{what}` would start an agent with {how}, out of Holdfast's sight. Start it without that.",
    "`{what}` 会以 {how} 启动一个不受 Holdfast 监管的智能体。请去掉该选项。",
)
SWEEPS_SECRET = Phrase(
    "hard_limits.sweeps_secret",
    "`{what}` would go through all of {path}, where {secret} lies, which no call may read. Name a narrower folder, or "
    "leave that one out.",
    "`{what}` 会遍历整个 {path}，其中的 {secret} 任何调用都不得读取。请指定更小的目录，或将其排除。",
)
TOUCHES_PROCESS = Phrase(
    "hard_limits.touches_process",
    "`{what}` would reach into Holdfast's own process. Only a person may do that.",
    "`{what}` 会介入 Holdfast 自身的进程，只有人可以这样做。",
)
CUTS_OFF = Phrase(
    "hard_limits.cuts_off",
    "`{what}` would cut Holdfast off from the hosts it watches, or listen to what they say to it. Only a person may do "
    "that.",
    "`{what}` 会切断 Holdfast 与其监管的宿主之间的连接，或窃听二者的通信，只有人可以这样做。",
)
STARTS_LATER = Phrase(
    "hard_limits.starts_later",
    "`{what}` would take effect later, where nobody judges it, and it names {how}. Tell the user what you want to set "
    "up and why.",
    "`{what}` 会在稍后无人裁决时生效，并且涉及 {how}。请告诉用户你想设置什么以及原因。",
)
CHANGES_HOST = Phrase(
    "hard_limits.changes_host",
    "`{what}` changes what the coding agent loads, and with it what it may do. Tell the user what should be different.",
    "`{what}` 会更改编码智能体所加载的内容，从而改变其权限。请告诉用户需要怎样调整。",
)
