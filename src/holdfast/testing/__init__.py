"""Fakes that we test with and that our users may: scripted model servers, a fixed clock, scripted ids."""

from holdfast.testing.anthropic_server import AnthropicServer
from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.fixed_clock import FixedClock
from holdfast.testing.gemini_server import GeminiServer
from holdfast.testing.model_request import Message, ModelRequest, ToolUse
from holdfast.testing.responses_server import ResponsesServer
from holdfast.testing.script import ContextOverflow, Failure, Script, ScriptError, Turn, Usage
from holdfast.testing.scripted_ids import ScriptedIds

__all__ = [
    "AnthropicServer",
    "ChatCompletionsServer",
    "ContextOverflow",
    "Failure",
    "FixedClock",
    "GeminiServer",
    "Message",
    "ModelRequest",
    "ResponsesServer",
    "Script",
    "ScriptError",
    "ScriptedIds",
    "ToolUse",
    "Turn",
    "Usage",
]
