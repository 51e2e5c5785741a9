"""Small clients for the four protocols: what a server was told to say, read back from the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from holdfast.testing import AnthropicServer, ChatCompletionsServer, GeminiServer, ResponsesServer


@dataclass
class Heard:
    """One reply as a client understood it."""

    text: str = ""
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    prompt_tokens: int = 0
    output_tokens: int = 0


def local_client(seconds: float = 20) -> httpx.Client:
    """For plain HTTP on this machine: no proxy, and no list of authorities, which takes longer to read than to ask."""
    return httpx.Client(trust_env=False, verify=False, timeout=seconds)


def post(url: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> httpx.Response:
    with local_client() as client:
        return client.post(url, json=body, headers=headers)


def sse_data(response: httpx.Response) -> Iterator[dict[str, Any]]:
    assert response.headers["content-type"] == "text/event-stream"
    for block in response.text.split("\n\n"):
        data = [line[len("data: ") :] for line in block.split("\n") if line.startswith("data: ")]
        if data and data[0] != "[DONE]":
            yield json.loads(data[0])


def ask_anthropic(server: AnthropicServer, prompt: str, *, stream: bool, **extra: Any) -> Heard:
    body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": prompt}], **extra}
    response = post(f"{server.url}/v1/messages?beta=true", body)
    response.raise_for_status()
    heard = Heard()
    if not stream:
        return _anthropic_whole(response.json())
    raw: dict[int, str] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in sse_data(response):
        match event["type"]:
            case "content_block_start":
                blocks[event["index"]] = event["content_block"]
                raw[event["index"]] = ""
            case "content_block_delta":
                delta = event["delta"]
                raw[event["index"]] += delta.get("text", delta.get("partial_json", ""))
            case "content_block_stop":
                block, said = blocks[event["index"]], raw[event["index"]]
                if block["type"] == "text":
                    heard.text += said
                else:
                    heard.calls.append((block["id"], block["name"], json.loads(said)))
            case "message_delta":
                usage = event["usage"]
                heard.output_tokens = usage["output_tokens"]
                heard.prompt_tokens = sum(v for k, v in usage.items() if k != "output_tokens")
    return heard


def _anthropic_whole(body: dict[str, Any]) -> Heard:
    usage = body["usage"]
    return Heard(
        "".join(block["text"] for block in body["content"] if block["type"] == "text"),
        [(b["id"], b["name"], b["input"]) for b in body["content"] if b["type"] == "tool_use"],
        sum(v for k, v in usage.items() if k != "output_tokens"),
        usage["output_tokens"],
    )


def ask_chat(server: ChatCompletionsServer, prompt: str, *, stream: bool, **extra: Any) -> Heard:
    body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": prompt}], **extra}
    if stream:
        body["stream_options"] = {"include_usage": True}
    response = post(f"{server.base_url}/chat/completions", body)
    response.raise_for_status()
    if stream:
        return _chat_stream(response)
    whole = response.json()
    message = whole["choices"][0]["message"]
    calls = [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls", ())
    ]
    usage = whole["usage"]
    return Heard(message["content"] or "", calls, usage["prompt_tokens"], usage["completion_tokens"])


def _chat_stream(response: httpx.Response) -> Heard:
    heard = Heard()
    calls: dict[int, list[str]] = {}
    for chunk in sse_data(response):
        if usage := chunk.get("usage"):
            heard.prompt_tokens, heard.output_tokens = usage["prompt_tokens"], usage["completion_tokens"]
        for choice in chunk["choices"]:
            heard.text += choice["delta"].get("content") or ""
            for piece in choice["delta"].get("tool_calls", ()):
                if "id" in piece:
                    calls[piece["index"]] = [piece["id"], piece["function"]["name"], ""]
                calls[piece["index"]][2] += piece["function"]["arguments"]
    heard.calls = [(call_id, name, json.loads(raw)) for call_id, name, raw in calls.values()]
    return heard


def ask_responses(server: ResponsesServer, prompt: str, *, stream: bool, **extra: Any) -> Heard:
    body = {"model": "m", "stream": stream, "input": prompt, **extra}
    response = post(f"{server.base_url}/responses", body)
    response.raise_for_status()
    if not stream:
        return _responses_whole(response.json())
    events = list(sse_data(response))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    streamed = "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta")
    heard = _responses_whole(events[-1]["response"])
    assert events[-1]["type"] == "response.completed"
    assert heard.text == streamed
    return heard


def _responses_whole(body: dict[str, Any]) -> Heard:
    items = body["output"]
    return Heard(
        "".join(part["text"] for item in items if item["type"] == "message" for part in item["content"]),
        [
            (item["call_id"], item["name"], json.loads(item["arguments"]))
            for item in items
            if item["type"] == "function_call"
        ],
        body["usage"]["input_tokens"],
        body["usage"]["output_tokens"],
    )


def ask_gemini(server: GeminiServer, prompt: str, *, stream: bool, **extra: Any) -> Heard:
    verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
    body = {"contents": [{"role": "user", "parts": [{"text": prompt}]}], **extra}
    response = post(f"{server.url}/v1beta/models/m:{verb}", body)
    response.raise_for_status()
    heard = Heard()
    for answer in sse_data(response) if stream else [response.json()]:
        for part in answer["candidates"][0]["content"]["parts"]:
            heard.text += part.get("text", "")
            if call := part.get("functionCall"):
                heard.calls.append((call["id"], call["name"], call["args"]))
        if usage := answer.get("usageMetadata"):
            heard.prompt_tokens, heard.output_tokens = usage["promptTokenCount"], usage["candidatesTokenCount"]
    return heard


ASK = {
    AnthropicServer: ask_anthropic,
    ChatCompletionsServer: ask_chat,
    ResponsesServer: ask_responses,
    GeminiServer: ask_gemini,
}
