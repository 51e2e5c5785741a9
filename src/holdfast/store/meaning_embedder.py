"""Who turns texts into vectors, as the store sees him, and how to get them from one who refuses some texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.core.messages import TellableError

_FEW_CHARACTERS = 400
"""Of a text that the endpoint refused at full length."""
_BATCH_SECONDS = 60.0


class EmbeddingError(TellableError):
    """The endpoint gave no vectors; the message says why."""


class TextRefused(EmbeddingError):
    """It answered, but refused these texts; others may do."""


@dataclass(frozen=True, slots=True)
class Embedder:
    """An endpoint that makes vectors."""

    identity: str
    """Vectors of another identity cannot be compared with its own."""
    embed: Callable[[Sequence[str], float], list[list[float]]]
    """Texts and a number of seconds; one vector a text, all of one length. Raises `EmbeddingError`."""
    query_seconds: float = 3.0


Source = Callable[[], Embedder | None]
"""Looked at with each use, because settings change; None: search by meaning is off. Raises `EmbeddingError`."""


def nobody() -> None:
    """The source of those who search by words only."""
    return


def embedded(embedder: Embedder, texts: Sequence[str]) -> list[list[float] | None]:
    """None for a text that the endpoint refuses also by itself and shortened; unless it refuses every one."""
    if not texts:
        return []
    try:
        return list(embedder.embed(texts, _BATCH_SECONDS))
    except TextRefused as error:
        refusal = error
    vectors: list[list[float] | None] = []
    for text in texts:
        try:
            vectors.append(_alone(embedder, text))
        except TextRefused:
            vectors.append(None)
    if all(vector is None for vector in vectors):
        raise refusal
    return vectors


def _alone(embedder: Embedder, text: str) -> list[float]:
    try:
        return embedder.embed([text], _BATCH_SECONDS)[0]
    except TextRefused:
        if len(text) <= _FEW_CHARACTERS:
            raise
        return embedder.embed([text[:_FEW_CHARACTERS]], _BATCH_SECONDS)[0]
