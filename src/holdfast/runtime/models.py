"""The library's model for a choice; which model that is, and where it answers, `model_endpoints` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.model_endpoints import (
    _WELL_KNOWN,
    CONNECT_SECONDS,
    OFFLINE,
    SILENCE_SECONDS,
    ModelChoice,
    choose,
    is_local,
    key_for,
)
from holdfast.store.home import Home

if TYPE_CHECKING:
    from agents.models.interface import Model

__all__ = [
    "CONNECT_SECONDS",
    "OFFLINE",
    "SILENCE_SECONDS",
    "_WELL_KNOWN",
    "ModelChoice",
    "build",
    "choose",
    "is_local",
    "key_for",
]


def build(choice: ModelChoice, home: Home, *, key: Callable[[], str | None] | None = None) -> Model:
    """The library's model for a choice; raises `Trouble` when the key is missing. Loads the heavy libraries."""
    if choice.offline:
        from holdfast.runtime.offline_model import OfflineModel  # noqa: PLC0415 (loads openai-agents)

        return OfflineModel()
    from holdfast.runtime.endpoint_model import endpoint_model  # noqa: PLC0415 (loads openai-agents)

    return endpoint_model(choice, home, key=key() if key is not None else key_for(choice, home))
