"""What went wrong between us and a model, in words, with the one next step; and whether asking again can help.

Providers disagree about codes and agree about little else, so an error is known by its status, its code and, last, by
what its message says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import httpx2
import openai
from agents.exceptions import AgentsException, ModelBehaviorError

from holdfast.core.messages import Message, Phrase

TroubleCode = Literal[
    "key_missing", "key_refused", "model_unknown", "rate_limit", "quota", "overflow", "unreachable", "timeout",
    "server", "cut_off", "refused", "malformed", "budget", "attempts", "sealed", "own",
]  # fmt: skip

KEY_MISSING = Phrase(
    "model.key_missing",
    "No key for the model {model}: {name} is set neither in the environment, nor in the keyring, nor in {file}.",
    "模型 {model} 缺少密钥：{name} 既不在环境变量中，也不在系统钥匙串或 {file} 中。",
)
KEY_REFUSED = Phrase(
    "model.key_refused",
    "{endpoint} refused the key for {model}: {detail}",
    "{endpoint} 拒绝了模型 {model} 的密钥：{detail}",
)
MODEL_UNKNOWN = Phrase(
    "model.unknown", "{endpoint} does not know the model {model}: {detail}", "{endpoint} 没有模型 {model}：{detail}"
)
RATE_LIMIT = Phrase("model.rate_limit", "{endpoint} asks to slow down: {detail}", "{endpoint} 要求放慢速度：{detail}")
QUOTA = Phrase("model.quota", "The quota at {endpoint} is used up: {detail}", "{endpoint} 的额度已用完：{detail}")
OVERFLOW = Phrase(
    "model.overflow",
    "The conversation is longer than {model} takes: {detail}",
    "对话超出了模型 {model} 的上下文长度：{detail}",
)
UNREACHABLE = Phrase("model.unreachable", "{endpoint} cannot be reached: {detail}", "无法连接 {endpoint}：{detail}")
TIMEOUT = Phrase("model.timeout", "{endpoint} did not answer in time.", "{endpoint} 未在期限内答复。")
SERVER = Phrase("model.server", "{endpoint} failed: {detail}", "{endpoint} 出错：{detail}")
CUT_OFF = Phrase("model.cut_off", "The answer of {model} broke off: {detail}", "模型 {model} 的回答中断：{detail}")
REFUSED = Phrase("model.refused", "{endpoint} refused the request: {detail}", "{endpoint} 拒绝了请求：{detail}")
MALFORMED = Phrase(
    "model.malformed", "{model} gave no usable answer: {detail}", "模型 {model} 未给出可用的回答：{detail}"
)

SET_KEY = Phrase(
    "model.set_key",
    "Set {name}, or add a line {name}=... to {file} (chmod 600), then send the message again.",
    "请设置 {name}，或在 {file}（chmod 600）中加一行 {name}=...，然后重新发送。",
)
CHECK_KEY = Phrase(
    "model.check_key", "Check the key in {name}, then send the message again.", "请检查 {name} 中的密钥后重新发送。"
)
CHECK_MODEL = Phrase(
    "model.check_model",
    "Check the name by `/model`, and baseUrl under agents.runtime.models in the configuration.",
    "请用 `/model` 核对名称，并检查配置 agents.runtime.models 中的 baseUrl。",
)
CHECK_ENDPOINT = Phrase(
    "model.check_endpoint",
    "See whether the server runs and whether baseUrl is right; then send the message again. Nothing is lost.",
    "请确认服务器在运行、baseUrl 正确，然后重新发送。没有任何内容丢失。",
)
SEND_AGAIN = Phrase(
    "model.send_again",
    "Nothing is lost: send the message again, or `/resume`.",
    "没有任何内容丢失：请重新发送，或使用 `/resume`。",
)
COMPACT = Phrase("model.compact", "Use `/compact`, or start a new thread.", "请使用 `/compact`，或开启新的线程。")
TOP_UP = Phrase(
    "model.top_up", "Top the account up, or choose another model by `/model`.", "请充值，或用 `/model` 换一个模型。"
)

_OVERFLOW_WORDS = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|too many (?:input )?tokens|prompt is too long"
    r"|input is too long|exceeds? the (?:available )?context|token limit|n_ctx|reduce the length",
    re.IGNORECASE,
)
_QUOTA_WORDS = re.compile(r"insufficient_quota|billing|credit balance|exceeded your current quota", re.IGNORECASE)
_LONGEST_DETAIL = 300
RETRYABLE: frozenset[TroubleCode] = frozenset(("rate_limit", "unreachable", "timeout", "server", "cut_off"))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who is asked; never holds a key."""

    model: str
    url: str = ""
    key_name: str = ""
    credentials: str = ""

    def __str__(self) -> str:
        return self.url or "the provider"


class Trouble(Exception):
    """The model could not answer."""

    def __init__(self, code: TroubleCode, why: Message, next_step: Message, *, wait: float | None = None) -> None:
        super().__init__(why.text())
        self.code = code
        self.why = why
        self.next_step = next_step
        self.wait = wait
        """Seconds that the provider asks for."""

    @property
    def retryable(self) -> bool:
        return self.code in RETRYABLE


def key_missing(endpoint: Endpoint) -> Trouble:
    name, file = endpoint.key_name, endpoint.credentials
    why = KEY_MISSING(model=endpoint.model, name=name, file=file)
    return Trouble("key_missing", why, SET_KEY(name=name, file=file))


def trouble_of(error: Exception, endpoint: Endpoint) -> Trouble:
    """Any error that came out of asking a model, as one of ours."""
    if isinstance(error, Trouble):
        return error
    about: dict[str, Any] = {"endpoint": endpoint, "model": endpoint.model, "detail": _detail(error)}
    if isinstance(error, openai.APIStatusError):
        return _by_status(error, endpoint, about)
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException | TimeoutError):
        return Trouble("timeout", TIMEOUT(**about), SEND_AGAIN())
    if isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError):
        return Trouble("cut_off", CUT_OFF(**about), SEND_AGAIN())
    if isinstance(error, openai.APIConnectionError | httpx2.TransportError | OSError):
        return Trouble("unreachable", UNREACHABLE(**about), CHECK_ENDPOINT())
    text = str(error)
    if _OVERFLOW_WORDS.search(text):
        return Trouble("overflow", OVERFLOW(**about), COMPACT())
    if isinstance(error, openai.APIError):  # an error event inside a stream
        return Trouble("server", SERVER(**about), SEND_AGAIN())
    if isinstance(error, ModelBehaviorError):
        broke = "ended before" in text or "final response" in text
        return Trouble("cut_off" if broke else "malformed", (CUT_OFF if broke else MALFORMED)(**about), SEND_AGAIN())
    if isinstance(error, AgentsException | ValueError):
        return Trouble("malformed", MALFORMED(**about), SEND_AGAIN())
    raise error


def _by_status(error: openai.APIStatusError, endpoint: Endpoint, about: dict[str, Any]) -> Trouble:
    status = error.status_code
    code = str(error.code or "")
    text = f"{code} {error.message}"
    if _OVERFLOW_WORDS.search(text) and status in (400, 413, 422, 500):
        return Trouble("overflow", OVERFLOW(**about), COMPACT())
    if status == 401 or (status == 403 and "key" in text.lower()):
        return Trouble("key_refused", KEY_REFUSED(**about), CHECK_KEY(name=endpoint.key_name or "the key"))
    if status == 404:
        return Trouble("model_unknown", MODEL_UNKNOWN(**about), CHECK_MODEL())
    if status in (402, 429):
        if status == 402 or _QUOTA_WORDS.search(text):
            return Trouble("quota", QUOTA(**about), TOP_UP())
        return Trouble("rate_limit", RATE_LIMIT(**about), SEND_AGAIN(), wait=_retry_after(error))
    if status in (408, 409, 425) or status >= 500:
        return Trouble("server", SERVER(**about), SEND_AGAIN(), wait=_retry_after(error))
    if status == 400 and re.search(
        r"model.{0,60}(?:not (?:found|exist|supported)|unknown|invalid)", text, re.IGNORECASE
    ):
        return Trouble("model_unknown", MODEL_UNKNOWN(**about), CHECK_MODEL())
    return Trouble("refused", REFUSED(**about), CHECK_MODEL())


def _retry_after(error: openai.APIStatusError) -> float | None:
    given = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(given))
    except ValueError:
        return None


def _detail(error: Exception) -> str:
    cause = error.__cause__
    text = str(error).strip() or (str(cause).strip() if cause else "") or type(error).__name__
    if isinstance(error, openai.APIConnectionError) and cause is not None and str(cause).strip():
        text = str(cause).strip()
    first = " ".join(text.split())
    return first if len(first) <= _LONGEST_DETAIL else first[: _LONGEST_DETAIL - 1] + "…"


def backoff(attempt: int, wait: float | None, *, longest: float = 60.0) -> float:
    """Seconds before try number `attempt` + 1: what the provider asks for, else twice as long each time."""
    if wait is not None:
        return min(wait, longest)
    return float(min(longest, 2.0 ** (attempt - 1)))
