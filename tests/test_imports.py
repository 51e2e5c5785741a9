"""What importing a part of Holdfast drags in: a hook runs before every tool call, so its start is what people feel."""

import subprocess
import sys

import pytest

# Each costs hundreds of milliseconds; only the part that needs one imports it, when it is used.
HEAVY = (
    "agents",
    "anyio",
    "httpx",
    "mcp",
    "openai",
    "prompt_toolkit",
    "pydantic",
    "rich",
    "starlette",
    "tantivy",
    "uvicorn",
)


def modules_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after `statement`, beyond those it starts with."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("room", ["core", "policies", "testing"])
def test_rooms_without_heavy_libraries(room):
    tops = {name.partition(".")[0] for name in modules_after(f"import holdfast.{room}")}
    assert tops.isdisjoint(HEAVY)
