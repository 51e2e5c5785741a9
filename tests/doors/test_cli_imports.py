"""A command imports what it uses and nothing else: its start is what people feel."""

import statistics
import subprocess
import sys
import time

import pytest

HEAVY = {
    "agents", "anyio", "asyncio", "httpx", "mcp", "openai", "prompt_toolkit", "pydantic", "rich", "sqlite3",
    "starlette", "tantivy", "tree_sitter", "tree_sitter_bash", "uvicorn",
}  # fmt: skip
NEVER_FOR_HELP = HEAVY | {"pyjson5", "re2", "yaml", "orjson", "json", "pathlib"}

BARE = "import click\ncli = click.Group(help='x')\ncli.add_command(click.Command('a', help='y'))\ncli(['--help'])\n"
OURS = "import sys\nfrom holdfast.doors.cli import main\nsys.argv = ['holdfast', '--help']\nmain()\n"


def modules_after(tmp_path, *arguments):
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "sys.argv[0] = 'holdfast'\n"
        "from holdfast.doors.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--home", str(tmp_path / "home"), *arguments],
        capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stderr.split()}, set(done.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_click_and_our_own_table(tmp_path, arguments):
    tops, names = modules_after(tmp_path, *arguments)
    assert tops.isdisjoint(NEVER_FOR_HELP)
    ours = {name for name in names if name.startswith("holdfast.")}
    assert ours == {
        "holdfast._version", "holdfast.doors", "holdfast.doors.cli", "holdfast.doors.context",
        "holdfast.doors.lazy_group",
    }  # fmt: skip


@pytest.mark.parametrize("arguments", [["config", "path"], ["config", "show"], ["init"], ["completion", "zsh"]])
def test_commands_that_need_no_store_import_none(tmp_path, arguments):
    tops, names = modules_after(tmp_path, *arguments)
    assert tops.isdisjoint(HEAVY)
    assert "holdfast.store.sqlite" not in names


def test_looking_at_an_empty_record_needs_no_database(tmp_path):
    tops, _ = modules_after(tmp_path, "audit", "show")
    assert "sqlite3" not in tops
    assert not (tmp_path / "home").exists()


@pytest.mark.full
def test_help_takes_at_most_half_as_long_again_as_a_bare_click_program():
    def seconds(code):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
        return time.perf_counter() - start

    seconds(OURS), seconds(BARE)
    pairs = [(seconds(OURS), seconds(BARE)) for _ in range(20)]
    ours, bare = (statistics.median(times) for times in zip(*pairs, strict=True))
    assert ours <= 1.5 * bare, f"{ours * 1000:.0f} ms against {bare * 1000:.0f} ms"
