"""core, shell and policies decide from their arguments alone: one event, one verdict, today and when replayed.

import-linter holds the import graph; this reads the source for what it cannot see: single functions, built-ins and
submodules that touch the world, and third-party packages it was not told of.
"""

import ast
import sys
from pathlib import Path

import pytest

import holdfast

PACKAGE = Path(holdfast.__file__).parent
PURE_ROOMS = ("core", "shell", "policies")
THIRD_PARTY = {"core": set(), "shell": {"tree_sitter", "tree_sitter_bash"}, "policies": set()}

# Standard library modules that reach the clock, the disk, the network, other processes or chance.
# (`posixpath` and `ntpath` are pure.)
# fmt: off
WORLDLY_MODULES = {
    "asyncio", "concurrent", "contextvars", "ctypes", "dbm", "fcntl", "fileinput", "getpass", "glob", "http",
    "io", "locale", "logging", "mmap", "multiprocessing", "os", "pathlib", "pickle", "platform", "queue",
    "random", "resource", "sched", "secrets", "select", "selectors", "shelve", "shutil", "signal", "smtplib",
    "socket", "socketserver", "sqlite3", "ssl", "subprocess", "tempfile", "threading", "time", "urllib.request",
    "uuid", "webbrowser", "zoneinfo",
}
# fmt: on
WORLDLY_BUILTINS = {"__import__", "breakpoint", "compile", "eval", "exec", "input", "open", "print"}
CLOCK_METHODS = {"now", "utcnow", "today"}


def imported_modules(tree: ast.AST) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            # `from urllib import request` imports a module as well as a name
            found += [(node.lineno, module), *((node.lineno, f"{module}.{alias.name}") for alias in node.names)]
    return found


def is_worldly(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in WORLDLY_MODULES)


def worldly_uses(source: str, room: str) -> list[str]:
    """What in `source` a pure module may not do, as `line: what`."""
    tree = ast.parse(source)
    found = []
    for line, module in imported_modules(tree):
        top = module.partition(".")[0]
        if is_worldly(module):
            found.append(f"{line}: imports {module}")
        elif top and top != "holdfast" and top not in sys.stdlib_module_names | THIRD_PARTY[room]:
            found.append(f"{line}: imports {module}, which is not of the standard library")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORLDLY_BUILTINS:
            found.append(f"{node.lineno}: calls {node.func.id}()")
        if isinstance(node, ast.Attribute) and node.attr in CLOCK_METHODS:
            owner = ast.unparse(node.value).rpartition(".")[2]
            if owner in ("date", "datetime"):
                found.append(f"{node.lineno}: reads the clock by {owner}.{node.attr}")
    return found


def pure_files() -> list[Path]:
    return [path for room in PURE_ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]


@pytest.mark.parametrize("path", pure_files(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_pure_module_does_not_touch_the_world(path):
    room = path.relative_to(PACKAGE).parts[0]
    assert worldly_uses(path.read_text(encoding="utf-8"), room) == []


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "import os.path",
        "from os import environ",
        "from urllib import request",
        "import urllib.request",
        "def f():\n    import socket",
        "text = open('x').read()",
        "from datetime import datetime\nnow = datetime.now()",
        "import datetime\nnow = datetime.datetime.utcnow()",
        "from datetime import date\nday = date.today",
        "import orjson",
        "import tree_sitter",
    ],
)
def test_the_reader_sees_what_a_core_module_may_not_do(source):
    assert worldly_uses(source, "core")


@pytest.mark.parametrize(
    ("source", "room"),
    [
        ("import json, re, posixpath\nfrom urllib.parse import urlsplit\nfrom datetime import datetime", "core"),
        ("from holdfast.core.keys import SessionKey", "policies"),
        ("from tree_sitter import Parser", "shell"),
    ],
)
def test_the_reader_lets_pure_modules_be(source, room):
    assert worldly_uses(source, room) == []
