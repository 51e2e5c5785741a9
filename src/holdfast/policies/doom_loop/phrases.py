"""What the loop watch says."""

from __future__ import annotations

from holdfast.core.messages import Phrase

ATTEMPTS = Phrase(
    "doom_loop.attempts",
    "The same request to the model failed {count} times.",
    "对模型的同一请求已失败 {count} 次。",
)
TOO_MANY = Phrase("doom_loop.too_many", "This run has made {count} tool calls.", "本次运行已调用工具 {count} 次。")
SAME_CALL = Phrase(
    "doom_loop.same_call",
    "{tool} with the same arguments, {count} times in a row.",
    "{tool} 以相同参数连续调用 {count} 次。",
)
SAME_RESULT = Phrase(
    "doom_loop.same_result",
    "{tool} was called {count} times in a row with the same arguments and gave the same result each time.",
    "{tool} 以相同参数连续调用 {count} 次，每次结果都相同。",
)
CYCLE = Phrase(
    "doom_loop.cycle",
    "The same {period} calls repeat, {count} times in a row by now.",
    "同样的 {period} 个调用在循环，已连续 {count} 遍。",
)
SAME_ERROR = Phrase(
    "doom_loop.same_error", "The same error came {count} times in a row.", "同一错误已连续出现 {count} 次。"
)
STALE = Phrase(
    "doom_loop.no_news",
    "The last {count} calls brought nothing new: each had been made before in this run with the same result.",
    "最近 {count} 次调用没有任何新结果：每次都与本次运行中之前的调用及其结果相同。",
)
FAILS_AGAIN = Phrase(
    "doom_loop.fails_again",
    "{tool} failed {count} times in a row with the same arguments.",
    "{tool} 以相同参数连续失败 {count} 次。",
)
SAME_REPLY = Phrase(
    "doom_loop.same_reply",
    "The agent gave the same answer {count} times in a row.",
    "代理已连续 {count} 次给出相同回答。",
)

ASK = Phrase(
    "doom_loop.ask",
    "Let it go on once, always in this session, or stop it here.",
    "可放行一次、在本会话中始终放行，或在此停止。",
)
STOP = Phrase(
    "doom_loop.stop",
    "Stopped here. Do not repeat it: try another way, or tell the user what is in the way, so that they can change "
    "the instruction.",
    "已在此停止。请勿重复：换一种方式，或告诉用户受阻原因，以便调整指令。",
)
USER_STOPPED = Phrase(
    "doom_loop.user_stopped",
    "The user has stopped this. Do not repeat it: try another way, or tell the user what is in the way.",
    "用户已停止此循环。请勿重复：换一种方式，或告诉用户受阻原因。",
)
ALWAYS = Phrase(
    "doom_loop.always",
    "It goes on unasked: the user allowed loops in this session.",
    "未再询问即继续：用户已允许本会话中的循环。",
)
HINT = Phrase(
    "doom_loop.hint",
    "[holdfast] {why} Repeating it will not help: change the approach, or say what is in the way.",
    "[holdfast] {why} 重复无益：请改变做法，或说明受阻原因。",
)
