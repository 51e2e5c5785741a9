"""Which model answers, at which endpoint, with which key.

Any endpoint that speaks OpenAI's chat completions or responses will do: OpenAI, the compatible doors of Anthropic and
Gemini, Ollama, vLLM, llama.cpp, LM Studio. A key comes from the environment, the system's keyring, or `credentials` in
the home; a server on this machine needs none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from holdfast.core.model_table import find_model
from holdfast.core.settings import ModelSettings, RuntimeSettings
from holdfast.core.tokens import window_for
from holdfast.store.credentials import find_key
from holdfast.store.home import Home
from holdfast.store.keyring_lookup import from_keyring

OFFLINE = "offline"
DEFAULT_KEY = "OPENAI_API_KEY"
CONNECT_SECONDS = 15.0
SILENCE_SECONDS = 600.0
"""The longest pause within an answer; a large local model may think for minutes before its first word."""

_WELL_KNOWN: tuple[tuple[str, str, str], ...] = (
    # model name begins with, endpoint, name of the key
    ("claude", "https://api.anthropic.com/v1/", "ANTHROPIC_API_KEY"),
    ("gemini", "https://generativelanguage.googleapis.com/v1beta/openai/", "GEMINI_API_KEY"),
    ("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    ("grok", "https://api.x.ai/v1", "XAI_API_KEY"),
    ("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    ("qwen", "https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    ("kimi", "https://api.moonshot.cn/v1", "MOONSHOT_API_KEY"),
    ("glm", "https://open.bigmodel.cn/api/paas/v4", "ZHIPUAI_API_KEY"),
)
_OPENAI = "https://api.openai.com/v1"
_LOCAL_HOSTS = ("localhost", "0.0.0.0", "host.docker.internal")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model and everything about it that does not need a network."""

    name: str
    base_url: str = ""
    api: str = "chat"
    key_name: str = ""
    needs_key: bool = True
    window: int | None = None
    managed: bool = False
    max_output: int | None = None
    input_price: float | None = None
    output_price: float | None = None

    @property
    def offline(self) -> bool:
        return self.name == OFFLINE

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """In the currency of the prices; None when they are not known."""
        if self.input_price is None or self.output_price is None:
            return 0.0 if self.offline else None
        return (input_tokens * self.input_price + output_tokens * self.output_price) / 1_000_000


def choose(runtime: RuntimeSettings, name: str = "") -> ModelChoice:
    """The named model, else the configured one, else the offline model."""
    chosen = name or runtime.model or OFFLINE
    own = runtime.models.get(chosen, ModelSettings())
    known = find_model(chosen)
    window = window_for(chosen, own.custom_context)
    if chosen == OFFLINE:
        return ModelChoice(chosen, needs_key=False, window=window, managed=bool(known and known.managed))
    base_url, key_name = _endpoint(chosen, own)
    return ModelChoice(
        chosen,
        base_url=base_url,
        api=own.api,
        key_name=key_name,
        needs_key=bool(own.key_env) or not is_local(base_url),
        window=window,
        managed=bool(known and known.managed),
        max_output=own.max_output,
        input_price=own.input_price,
        output_price=own.output_price,
    )


def _endpoint(name: str, own: ModelSettings) -> tuple[str, str]:
    if own.base_url:
        return own.base_url, own.key_env or DEFAULT_KEY
    plain = name.lower().rpartition("/")[2]
    for start, url, key in _WELL_KNOWN:
        if plain.startswith(start):
            return url, own.key_env or key
    return _OPENAI, own.key_env or DEFAULT_KEY


def is_local(url: str) -> bool:
    """Whether an address is this machine's own: by its name or its number, never by how a name begins."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback or host in _LOCAL_HOSTS
    except ValueError:
        return host in _LOCAL_HOSTS


KeySource = Literal["environment", "keyring", "credentials"]


def key_for(choice: ModelChoice, home: Home, environ: Mapping[str, str] | None = None) -> str | None:
    """The environment first, then the keyring, then the credentials file."""
    return next((key for _, key in _keys(choice.key_name, home, environ)), None)


def key_source(choice: ModelChoice, home: Home, environ: Mapping[str, str] | None = None) -> KeySource | None:
    """Where a key would be taken from; None when there is none."""
    return next((source for source, _ in _keys(choice.key_name, home, environ)), None)


def _keys(name: str, home: Home, environ: Mapping[str, str] | None) -> Iterator[tuple[KeySource, str]]:
    """Each place is only looked into when those before it had nothing."""
    if not name:
        return
    if key := (os.environ if environ is None else environ).get(name):
        yield "environment", key
    if key := from_keyring(name):
        yield "keyring", key
    if key := find_key(name, home.credentials, {}):
        yield "credentials", key
