"""The cheap model that writes minutes of sealed sessions, as the configuration names it (SC7).

One plain request over HTTP, without the agent library: minutes are also written where that was never loaded.
"""

from __future__ import annotations

import time
from typing import Any

from holdfast.chain.minutes import MinutesModel
from holdfast.control import Control
from holdfast.model_endpoints import CONNECT_SECONDS, ModelChoice, choose, key_for
from holdfast.store.json_text import from_json

MOST_OUTPUT = 2000
MOST_BYTES = 1_000_000


class MinutesError(Exception):
    """The model gave no minutes; the message says why."""


def minutes_model(control: Control) -> MinutesModel | None:
    """None when no model is configured (`digest.model`)."""
    settings = control.settings.runtime.digest
    if not settings.model:
        return None

    def ask(name: str, instructions: str, text: str, seconds: float) -> str:
        choice = choose(control.settings.runtime, name)
        if choice.offline:
            raise MinutesError("the offline model writes no minutes")
        key = key_for(choice, control.home)
        if key is None and choice.needs_key:
            raise MinutesError(f"no key: set {choice.key_name} in the environment or in {control.home.credentials}")
        return _requested(choice, key or "none", instructions, text, seconds)

    return MinutesModel(settings.model, ask, settings.timeout_seconds)


def _requested(choice: ModelChoice, key: str, instructions: str, text: str, seconds: float) -> str:
    import httpx  # noqa: PLC0415 (costs more than all the rest of sealing)

    from holdfast.trust import system_trust  # noqa: PLC0415 (only who has a model write the minutes pays for loading it)

    said = [{"role": "system", "content": instructions}, {"role": "user", "content": text}]
    if choice.api == "responses":
        path, body = "responses", {"model": choice.name, "input": said, "max_output_tokens": MOST_OUTPUT}
    else:
        path, body = "chat/completions", {"model": choice.name, "messages": said, "max_tokens": MOST_OUTPUT}
    timeout = httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
    end = time.monotonic() + seconds
    with httpx.stream(
        "POST",
        f"{choice.base_url.rstrip('/')}/{path}",
        json=body,
        headers={"authorization": f"Bearer {key}"},
        timeout=timeout,
        verify=system_trust(),
    ) as answer:
        if answer.status_code != 200:
            raise MinutesError(f"{choice.name} answered {answer.status_code}")
        read = bytearray()
        for piece in answer.iter_bytes():
            read += piece
            # The client's own limit is for each piece: one that drips would never meet it.
            if time.monotonic() > end or len(read) > MOST_BYTES:
                raise MinutesError(f"{choice.name} did not come to an end within {seconds:g} s and {MOST_BYTES} bytes")
    return _text(from_json(bytes(read)))


def _text(answer: Any) -> str:
    if "choices" in answer:
        return str(answer["choices"][0]["message"].get("content") or "")
    parts = [
        block.get("text", "")
        for item in answer.get("output", ())
        if item.get("type") == "message"
        for block in item.get("content", ())
    ]
    return "".join(parts)
