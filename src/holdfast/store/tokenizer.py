"""A real tokenizer for those who chose one (CO2): o200k of rs-bpe, which carries its vocabulary along.

It costs 48 MB of memory and about four times the time of the built-in estimate, so it is an extra, loaded on demand.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from holdfast.core.tokens import Estimator


@cache
def load() -> Estimator:
    """Counts tokens exactly as o200k does; an ImportError names the extra that brings it."""
    try:
        module = import_module("rs_bpe.bpe")
    except ImportError as error:
        raise ImportError(
            "agents.runtime.compaction.estimator is 'tokenizer', which needs the package rs-bpe; "
            "install it with `pip install 'holdfast[tokenizer]'`, or set the estimator to 'bytes'"
        ) from error
    encode = module.openai.o200k_base().encode
    return lambda text: len(encode(text))


def count(text: str) -> int:
    """Tokens of a text; the library is loaded at the first one, so that merely choosing it costs nothing."""
    return load()(text)
