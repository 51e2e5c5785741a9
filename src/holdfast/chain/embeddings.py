"""The endpoint that turns texts into vectors, as `search.semantic` names it, and the search that uses it.

Only the home's own configuration file can name it: neither the environment nor `--set`, by which an agent that may
search could have everything that was ever said sent to a place of its choice.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.core.messages import Phrase
from holdfast.core.settings import SemanticSettings
from holdfast.model_endpoints import CONNECT_SECONDS, DEFAULT_KEY, ModelChoice, is_local, key_for
from holdfast.store.config_file import ConfigError, Inline
from holdfast.store.config_watch import ConfigWatcher
from holdfast.store.home import Home
from holdfast.store.interface import Store
from holdfast.store.meaning_embedder import Embedder, EmbeddingError, Source, TextRefused
from holdfast.store.search import Search

_BAD_CONFIG = Phrase(
    "embeddings.bad_config",
    "{path} has an error; `holdfast config validate` tells it",
    "{path} 有错误；`holdfast config validate` 会说明",
)
_NO_KEY = Phrase(
    "embeddings.no_key",
    "no key: set {name} in the environment or in {path}",
    "没有密钥：请在环境变量或 {path} 中设置 {name}",
)
_SILENT = Phrase("embeddings.silent", "{url} did not answer within {seconds} seconds", "{url} 未在 {seconds} 秒内应答")
_TOO_MUCH = Phrase("embeddings.too_much", "{url} answered more than {most} bytes", "{url} 的应答超过 {most} 字节")
_UNREACHABLE = Phrase("embeddings.unreachable", "{url} cannot be reached: {error}", "无法连接 {url}：{error}")
_ANSWERED = Phrase("embeddings.answered", "{url} answered {status}", "{url} 应答 {status}")
_NO_JSON = Phrase("embeddings.no_json", "{url} answered no JSON", "{url} 的应答不是 JSON")
_NO_EMBEDDINGS = Phrase(
    "embeddings.no_embeddings", "{url} answered something other than embeddings", "{url} 的应答不是向量"
)
_WRONG_COUNT = Phrase(
    "embeddings.wrong_count",
    "{url} gave {found} vectors for {wanted} texts",
    "{url} 为 {wanted} 段文本给出了 {found} 个向量",
)
_WRONG_LENGTH = Phrase(
    "embeddings.wrong_length",
    "{url} gave vectors of {found} numbers, expected {wanted}",
    "{url} 给出 {found} 维向量，应为 {wanted} 维",
)
_NOT_FINITE = Phrase(
    "embeddings.not_finite", "{url} gave vectors with numbers that are not finite", "{url} 给出的向量含有非有限的数字"
)

MOST_BYTES = 64_000_000
_ABOUT_THE_TEXTS = frozenset({400, 413, 422, 500})
"""Answers that may be due to the texts themselves: too long, too many. Every other failure concerns the endpoint."""


def search_of(store: Store, home: Home, *, clock: Callable[[], float] = time.time) -> Search:
    """The search of a home, by meaning too when its configuration says so."""
    return Search(store, home.data / "search", clock=clock, meaning=configured(home))


def configured(home: Home) -> Source:
    """Looks at the configuration file with each call; a broken edit leaves what was in force."""
    lock = threading.Lock()
    watcher: ConfigWatcher | None = None

    def source() -> Embedder | None:
        nonlocal watcher
        try:
            with lock:
                if watcher is None:
                    watcher = ConfigWatcher(home.config, Inline(environ={}))
            settings = watcher.current().settings.runtime.search.semantic
        except ConfigError as error:
            raise EmbeddingError(_BAD_CONFIG(path=home.config)) from error
        return embedder_of(settings, home) if settings.enabled else None

    return source


def embedder_of(settings: SemanticSettings, home: Home) -> Embedder:
    local = is_local(settings.base_url)
    choice = ModelChoice(
        settings.model,
        base_url=settings.base_url,
        key_name=settings.key_env or ("" if local else DEFAULT_KEY),
        needs_key=bool(settings.key_env) or not local,
    )

    def embed(texts: Sequence[str], seconds: float) -> list[list[float]]:
        key = key_for(choice, home)
        if key is None and choice.needs_key:
            raise EmbeddingError(_NO_KEY(name=choice.key_name, path=home.credentials))
        body: dict[str, Any] = {"model": settings.model, "input": list(texts)}
        if settings.dimensions is not None:
            body["dimensions"] = settings.dimensions
        answer = _posted(f"{settings.base_url.rstrip('/')}/embeddings", body, key or "none", seconds, local)
        return _vectors(answer, len(texts), settings)

    return Embedder(f"{settings.model} {settings.dimensions or ''}".strip(), embed, settings.timeout_seconds)


def _posted(url: str, body: dict[str, Any], key: str, seconds: float, local: bool) -> Any:
    """The answer, read within the deadline however slowly it drips, and not beyond a size."""
    import httpx  # noqa: PLC0415 (costs more than a search)

    from holdfast.trust import system_trust  # noqa: PLC0415 (only who searches by meaning pays for loading it)

    end = time.monotonic() + seconds
    timeout = httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
    data = bytearray()
    try:
        # A proxy of the environment has no business between us and a server on this machine.
        with (
            httpx.Client(timeout=timeout, trust_env=not local, verify=system_trust()) as client,
            client.stream("POST", url, json=body, headers={"authorization": f"Bearer {key}"}) as answer,
        ):
            for piece in answer.iter_bytes():
                data += piece
                if time.monotonic() > end:
                    raise EmbeddingError(_SILENT(url=url, seconds=f"{seconds:g}"))
                if len(data) > MOST_BYTES:
                    raise EmbeddingError(_TOO_MUCH(url=url, most=MOST_BYTES))
            status = answer.status_code
    except httpx.TimeoutException:
        raise EmbeddingError(_SILENT(url=url, seconds=f"{seconds:g}")) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise EmbeddingError(_UNREACHABLE(url=url, error=str(error) or type(error).__name__)) from None
    if status != 200:
        kind = TextRefused if status in _ABOUT_THE_TEXTS else EmbeddingError
        raise kind(_ANSWERED(url=url, status=status))
    try:
        return json.loads(data)
    except ValueError:
        raise EmbeddingError(_NO_JSON(url=url)) from None


def _vectors(answer: Any, count: int, settings: SemanticSettings) -> list[list[float]]:
    """In the order of the texts; whatever does not look so is an error, never a vector."""
    try:
        entries = sorted(answer["data"], key=lambda entry: int(entry["index"]))
        vectors = [[float(number) for number in entry["embedding"]] for entry in entries]
        numbers = [int(entry["index"]) for entry in entries]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise EmbeddingError(_NO_EMBEDDINGS(url=settings.base_url)) from None
    if numbers != list(range(count)):
        raise EmbeddingError(_WRONG_COUNT(url=settings.base_url, found=len(vectors), wanted=count))
    lengths = {len(vector) for vector in vectors}
    wanted = settings.dimensions or max(lengths)
    if lengths != {wanted} or not wanted:
        found = ", ".join(map(str, sorted(lengths)))
        raise EmbeddingError(_WRONG_LENGTH(url=settings.base_url, found=found, wanted=wanted))
    if not all(math.isfinite(number) for vector in vectors for number in vector):
        raise EmbeddingError(_NOT_FINITE(url=settings.base_url))
    return vectors
