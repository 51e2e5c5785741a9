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

from holdfast.core.settings import SemanticSettings
from holdfast.model_endpoints import CONNECT_SECONDS, DEFAULT_KEY, ModelChoice, is_local, key_for
from holdfast.store.config_file import ConfigError, Inline
from holdfast.store.config_watch import ConfigWatcher
from holdfast.store.home import Home
from holdfast.store.interface import Store
from holdfast.store.meaning_embedder import Embedder, EmbeddingError, Source, TextRefused
from holdfast.store.search import Search

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
            raise EmbeddingError(f"{home.config} has an error; `holdfast config validate` tells it") from error
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
            raise EmbeddingError(f"no key: set {choice.key_name} in the environment or in {home.credentials}")
        body: dict[str, Any] = {"model": settings.model, "input": list(texts)}
        if settings.dimensions is not None:
            body["dimensions"] = settings.dimensions
        answer = _posted(f"{settings.base_url.rstrip('/')}/embeddings", body, key or "none", seconds, local)
        return _vectors(answer, len(texts), settings)

    return Embedder(f"{settings.model} {settings.dimensions or ''}".strip(), embed, settings.timeout_seconds)


def _posted(url: str, body: dict[str, Any], key: str, seconds: float, local: bool) -> Any:
    """The answer, read within the deadline however slowly it drips, and not beyond a size."""
    import httpx  # noqa: PLC0415 (costs more than a search)

    end = time.monotonic() + seconds
    timeout = httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
    data = bytearray()
    try:
        # A proxy of the environment has no business between us and a server on this machine.
        with (
            httpx.Client(timeout=timeout, trust_env=not local) as client,
            client.stream("POST", url, json=body, headers={"authorization": f"Bearer {key}"}) as answer,
        ):
            for piece in answer.iter_bytes():
                data += piece
                if time.monotonic() > end:
                    raise EmbeddingError(f"{url} did not answer within {seconds:g} seconds")
                if len(data) > MOST_BYTES:
                    raise EmbeddingError(f"{url} answered more than {MOST_BYTES} bytes")
            status = answer.status_code
    except httpx.TimeoutException:
        raise EmbeddingError(f"{url} did not answer within {seconds:g} seconds") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise EmbeddingError(f"{url} cannot be reached: {error or type(error).__name__}") from None
    if status != 200:
        kind = TextRefused if status in _ABOUT_THE_TEXTS else EmbeddingError
        raise kind(f"{url} answered {status}")
    try:
        return json.loads(data)
    except ValueError:
        raise EmbeddingError(f"{url} answered no JSON") from None


def _vectors(answer: Any, count: int, settings: SemanticSettings) -> list[list[float]]:
    """In the order of the texts; whatever does not look so is an error, never a vector."""
    try:
        entries = sorted(answer["data"], key=lambda entry: int(entry["index"]))
        vectors = [[float(number) for number in entry["embedding"]] for entry in entries]
        numbers = [int(entry["index"]) for entry in entries]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise EmbeddingError(f"{settings.base_url} answered something other than embeddings") from None
    if numbers != list(range(count)):
        raise EmbeddingError(f"{settings.base_url} gave {len(vectors)} vectors for {count} texts")
    lengths = {len(vector) for vector in vectors}
    wanted = settings.dimensions or max(lengths)
    if lengths != {wanted} or not wanted:
        found = ", ".join(map(str, sorted(lengths)))
        raise EmbeddingError(f"{settings.base_url} gave vectors of {found} numbers, expected {wanted}")
    if not all(math.isfinite(number) for vector in vectors for number in vector):
        raise EmbeddingError(f"{settings.base_url} gave vectors with numbers that are not finite")
    return vectors
