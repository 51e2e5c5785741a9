"""The models in use, each opened once; the configuration may change while a conversation goes on."""

from __future__ import annotations

import asyncio
import threading

from agents.models.interface import Model

from holdfast.control import Control
from holdfast.runtime.models import ModelChoice, build, choose


class ModelShelf:
    """`shelf("")` is the working model, `shelf("name")` another one; raises `Trouble` when a key is missing."""

    def __init__(self, control: Control, name: str = "") -> None:
        self._control = control
        self.name = name
        """What the user chose for this conversation; empty: what the configuration says."""
        self._opened: dict[ModelChoice, Model] = {}
        self._opening = threading.Lock()

    def choice(self, name: str = "") -> ModelChoice:
        return choose(self._control.settings.runtime, name or self.name)

    def __call__(self, name: str = "") -> tuple[ModelChoice, Model]:
        choice = self.choice(name)
        with self._opening:  # sub-agents ask at once, each from a thread: a second one would never be closed
            model = self._opened.get(choice)
            if model is None:
                model = self._opened[choice] = build(choice, self._control.home)
        return choice, model

    async def open(self, name: str = "") -> tuple[ModelChoice, Model]:
        """The same, without holding anything up: looking for a key may take seconds where a keyring does not answer."""
        return self(name) if self.choice(name) in self._opened else await asyncio.to_thread(self, name)

    async def close(self) -> None:
        for model in self._opened.values():
            await model.close()
        self._opened.clear()
