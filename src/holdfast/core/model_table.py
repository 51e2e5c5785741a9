"""Context windows and output limits of well-known models, so that nothing has to be asked of a network.

The first pattern that fits wins, so the narrow ones stand above the wide ones. Names are compared in lower case and
without the provider's prefix (`openai/`, `models/`). For open models the window is what their makers trained them for;
a local server is often started with less, which only the user can know (`customContext`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

K = 1024


@dataclass(frozen=True, slots=True)
class KnownModel:
    pattern: str
    """A glob over the model's name."""
    window: int
    output: int
    managed: bool = False
    """The window is fixed by whoever serves the model: customContext does not count (CO1)."""


def _many(*rows: tuple[str, int, int]) -> tuple[KnownModel, ...]:
    return tuple(KnownModel(pattern, window, output) for pattern, window, output in rows)


MODELS: tuple[KnownModel, ...] = (
    KnownModel("offline*", 32 * K, 4 * K, managed=True),
    *_many(
        # OpenAI
        ("gpt-5-chat*", 128_000, 16_384),
        ("gpt-5*", 400_000, 128_000),
        ("codex-mini*", 200_000, 100_000),
        ("gpt-4.1*", 1_047_576, 32_768),
        ("gpt-4.5*", 128_000, 16_384),
        ("gpt-4o*", 128_000, 16_384),
        ("chatgpt-4o*", 128_000, 16_384),
        ("gpt-4-turbo*", 128_000, 4_096),
        ("gpt-4-*preview", 128_000, 4_096),
        ("gpt-4-32k*", 32_768, 8_192),
        ("gpt-4*", 8_192, 8_192),
        ("gpt-3.5-turbo-instruct*", 4_096, 4_096),
        ("gpt-3.5*", 16_385, 4_096),
        ("gpt-oss*", 131_072, 32_768),
        ("o1-mini*", 128_000, 65_536),
        ("o1-preview*", 128_000, 32_768),
        ("o1*", 200_000, 100_000),
        ("o3*", 200_000, 100_000),
        ("o4*", 200_000, 100_000),
        # Anthropic
        ("claude*[[]1m[]]", 1_000_000, 64_000),
        ("claude-opus-4-1*", 200_000, 32_000),
        ("claude-opus-4-0*", 200_000, 32_000),
        ("claude-opus-4-2*", 200_000, 32_000),
        ("claude-opus-4*", 200_000, 64_000),
        ("claude-sonnet-4*", 200_000, 64_000),
        ("claude-haiku-4*", 200_000, 64_000),
        ("claude-3-7*", 200_000, 64_000),
        ("claude-3.7*", 200_000, 64_000),
        ("claude-3-5*", 200_000, 8_192),
        ("claude-3.5*", 200_000, 8_192),
        ("claude-3*", 200_000, 4_096),
        ("claude-2.0*", 100_000, 4_096),
        ("claude-2*", 200_000, 4_096),
        ("claude-instant*", 100_000, 4_096),
        ("claude*", 200_000, 64_000),
        # Google
        ("gemini-1.0*", 32_768, 8_192),
        ("gemini-1.5-pro*", 2_097_152, 8_192),
        ("gemini-1.5*", 1_048_576, 8_192),
        ("gemini-2.0*", 1_048_576, 8_192),
        ("gemini*", 1_048_576, 65_536),
        ("gemma-3-1b*", 32_768, 8_192),
        ("gemma-3*", 131_072, 8_192),
        ("gemma3*", 131_072, 8_192),
        ("gemma*", 8_192, 8_192),
        # xAI
        ("grok-4-fast*", 2_000_000, 30_000),
        ("grok-4*", 256_000, 64_000),
        ("grok-code*", 256_000, 10_000),
        ("grok*", 131_072, 8_192),
        # DeepSeek
        ("deepseek-reasoner*", 128_000, 64_000),
        ("deepseek-chat*", 128_000, 8_192),
        ("deepseek-r1*", 128_000, 32_768),
        ("deepseek-v3*", 128_000, 8_192),
        ("deepseek-coder-v2*", 128_000, 8_192),
        ("deepseek-coder*", 16_384, 4_096),
        # Alibaba
        ("qwen3-coder*", 262_144, 65_536),
        ("qwen3-max*", 262_144, 65_536),
        ("qwen3*", 131_072, 16_384),
        ("qwen2.5-coder*", 131_072, 8_192),
        ("qwen2.5*", 131_072, 8_192),
        ("qwen2*", 32_768, 8_192),
        ("qwen-max*", 32_768, 8_192),
        ("qwen-plus*", 131_072, 16_384),
        ("qwen-turbo*", 1_000_000, 16_384),
        ("qwq*", 131_072, 8_192),
        # Meta
        ("llama-4-scout*", 10_000_000, 8_192),
        ("llama-4*", 1_048_576, 8_192),
        ("llama4*", 1_048_576, 8_192),
        ("llama-3.[123]*", 131_072, 8_192),
        ("llama3.[123]*", 131_072, 8_192),
        ("meta-llama-3.[123]*", 131_072, 8_192),
        ("llama-3*", 8_192, 8_192),
        ("llama3*", 8_192, 8_192),
        ("meta-llama-3*", 8_192, 8_192),
        ("llama-2*", 4_096, 4_096),
        ("llama2*", 4_096, 4_096),
        ("codellama*", 16_384, 4_096),
        # Mistral
        ("codestral-mamba*", 256_000, 8_192),
        ("codestral*", 256_000, 8_192),
        ("devstral*", 131_072, 8_192),
        ("magistral*", 40_000, 40_000),
        ("ministral*", 131_072, 8_192),
        ("mistral-large*", 131_072, 8_192),
        ("mistral-medium*", 131_072, 8_192),
        ("mistral-small*", 131_072, 8_192),
        ("mistral-nemo*", 131_072, 8_192),
        ("open-mixtral-8x22b*", 65_536, 8_192),
        ("mixtral-8x22b*", 65_536, 8_192),
        ("*mixtral*", 32_768, 8_192),
        ("mistral*", 32_768, 8_192),
        # others
        ("kimi-k2-0711*", 131_072, 16_384),
        ("kimi*", 262_144, 32_768),
        ("moonshot-v1-8k*", 8_192, 4_096),
        ("moonshot-v1-32k*", 32_768, 8_192),
        ("moonshot-v1-128k*", 131_072, 8_192),
        ("glm-4.6*", 200_000, 128_000),
        ("glm-4.5v*", 65_536, 16_384),
        ("glm-4*", 131_072, 98_304),
        ("minimax-m1*", 1_000_000, 40_000),
        ("minimax-m2*", 204_800, 131_072),
        ("command-a*", 256_000, 8_192),
        ("command-r*", 128_000, 4_096),
        ("phi-4-mini*", 131_072, 8_192),
        ("phi-4*", 16_384, 8_192),
        ("phi4-mini*", 131_072, 8_192),
        ("phi4*", 16_384, 8_192),
        ("phi-3*", 131_072, 4_096),
        ("nova-micro*", 128_000, 5_120),
        ("nova-premier*", 1_000_000, 10_240),
        ("nova-*", 300_000, 5_120),
    ),
)


@lru_cache(maxsize=256)
def find_model(name: str, table: tuple[KnownModel, ...] = MODELS) -> KnownModel | None:
    """The entry for a model, however its provider spells it; None when it is not known."""
    plain = name.strip().lower()
    spellings = dict.fromkeys((plain, plain.rpartition("/")[2], plain.rpartition("/")[2].rpartition("anthropic.")[2]))
    for spelling in spellings:
        for entry in table:
            if spelling and fnmatchcase(spelling, entry.pattern):
                return entry
    return None
