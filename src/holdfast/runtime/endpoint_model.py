"""A model behind an endpoint, as openai-agents drives it, with what the library drops put back: why an answer ended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
from agents.models.interface import Model
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.models.openai_responses import OpenAIResponsesModel
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from holdfast.runtime.models import CONNECT_SECONDS, SILENCE_SECONDS, ModelChoice
from holdfast.runtime.trouble import Endpoint, key_missing
from holdfast.store.home import Home
from holdfast.trust import system_trust


def endpoint_of(choice: ModelChoice, home: Home) -> Endpoint:
    return Endpoint(choice.name, choice.base_url, choice.key_name, str(home.credentials))


def endpoint_model(choice: ModelChoice, home: Home, *, key: str | None) -> Model:
    if key is None and choice.needs_key:
        raise key_missing(endpoint_of(choice, home))
    timeout = httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
    client = AsyncOpenAI(
        api_key=key or "none",
        base_url=choice.base_url,
        max_retries=0,  # we retry ourselves, where the user can see it
        timeout=timeout,
        http_client=DefaultAsyncHttpxClient(timeout=timeout, verify=system_trust()),
    )
    if choice.api == "responses":
        return ClosingResponses(model=choice.name, openai_client=client)
    return WatchedChatCompletions(model=choice.name, openai_client=client)


class ClosingResponses(OpenAIResponsesModel):
    """The library leaves the client, which it was given, to us."""

    async def close(self) -> None:
        await super().close()
        await self._client.close()


class WatchedChatCompletions(OpenAIChatCompletionsModel):
    """Remembers the finish reason of the last answer: the library keeps only whether there were tool calls."""

    finish_reason: str | None = None

    async def close(self) -> None:
        await super().close()
        await self._client.close()

    async def _fetch_response(self, *args: Any, **kwargs: Any) -> Any:
        self.finish_reason = None
        fetched = await super()._fetch_response(*args, **kwargs)
        if isinstance(fetched, tuple):
            response, stream = fetched
            return response, _Watched(stream, self)
        return fetched


class _Watched:
    """The stream of chunks, passed on as it comes."""

    def __init__(self, stream: Any, owner: WatchedChatCompletions) -> None:
        self._stream = stream
        self._owner = owner

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for chunk in self._stream:
            for choice in getattr(chunk, "choices", None) or ():
                if choice.finish_reason:
                    self._owner.finish_reason = choice.finish_reason
            yield chunk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
