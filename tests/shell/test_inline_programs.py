"""Programs inside commands: python -c, node -e, perl -e, awk, sed, SQL."""

from __future__ import annotations

import pytest

from holdfast.shell import read_command
from holdfast.shell.handlers.awk import awk_actions
from holdfast.shell.handlers.sed import sed_actions


@pytest.mark.parametrize(
    ("script", "actions"),
    [
        ("s/a/b/", []),
        ("s|a|b|g;p", []),
        ("/x/,/y/d", []),
        ("s/a/b/w out", [("w", "out")]),
        ("/re/w out", [("w", "out")]),
        ("r in", [("r", "in")]),
        ("1e date", [("e", "date")]),
        ("s/a/b/e", [("e", "b"), ("e", "")]),
        ("s/[/]w x/b/", []),
        ("$!N;P;D", []),
        ("a\\\nw not a file", []),
        ("y/abc/xyz/", []),
        (":a;s/x/y/;ta", []),
        ("\\,x,d", []),
        ("# w comment", []),
        ("{p;w out\n}", [("w", "out")]),
        ("@", [("?", "")]),
    ],
)
def test_MB4_sed(script: str, actions: list[tuple[str, str]]) -> None:
    assert sed_actions(script) == actions


@pytest.mark.parametrize(
    ("program", "actions"),
    [
        ("{print $1}", []),
        ("$1 > 3", []),
        ("{if ($1 > 3) print}", []),
        ("{print ($1 > 3)}", []),
        ('{print > "o"}', [("writes", "o")]),
        ('{print $1 >> "o"}', [("writes", "o")]),
        ('{print > $1".txt"}', [("writes", None)]),
        ('{print | "sort"}', [("runs", "sort")]),
        ('BEGIN{system("ls")}', [("runs", "ls")]),
        ("{system($1)}", [("runs", None)]),
        ('BEGIN{"date" | getline d}', [("runs", "date")]),
        ('BEGIN{while((getline l < "f") > 0) print l}', [("reads", "f")]),
        ("/a>b/ {print}", []),
        ('{print "a > b"}', []),
        ("# print > x\n{print}", []),
        ("{print -$1 / 2 > 1}", [("writes", None)]),
    ],
)
def test_MB4_awk(program: str, actions: list[tuple[str, str | None]]) -> None:
    assert awk_actions(program, {}) == actions


@pytest.mark.parametrize(
    "code",
    [
        "print(1)",
        "import sys; print(sys.argv)",
        "import json,sys; print(json.load(sys.stdin)['a'])",
        "print(open('f').read())",
        "import os; print(os.listdir('.'))",
        "import os.path; print(os.path.exists('x'))",
        "from pathlib import Path; print(Path('x').read_text())",
        "import re; print(re.sub('a','b','c'))",
        "print(sum(int(x) for x in '1 2'.split()))",
        "import datetime; print(datetime.datetime.now().isoformat())",
        "[print(x) for x in range(3)]",
        "def f(x): return x+1\nprint(f(1))",
    ],
)
def test_PE8_python_that_only_reads_is_proven(code: str) -> None:
    import shlex

    assert read_command(f"python3 -c {shlex.quote(code)}", cwd="/w").read_only


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("open('f','w')", "writes"),
        ("open('f', mode='a')", "writes"),
        ("from pathlib import Path; Path('f').write_text('x')", "writes"),
        ("import shutil; shutil.copy('a','f')", "writes"),
        ("import os; os.remove('f')", "deletes"),
        ("from os import remove as r; r('f')", "deletes"),
        ("import os as o; getattr(o, 'remo'+'ve')('f')", "deletes"),
        ("__import__('os').unlink('f')", "deletes"),
        ("p='f'; import os; os.remove(p)", "deletes"),
        ("from pathlib import Path; (Path('.')/'f').unlink()", "deletes"),
        ("import urllib.request; urllib.request.urlopen('http://h')", "network"),
        ("import socket; socket.create_connection(('h',1))", "network"),
        ("import subprocess; subprocess.run(['touch','f'])", "writes"),
        ("import os; os.system('touch f')", "writes"),
        ("exec('import os; os.remove(\"f\")')", "deletes"),
        ("import os; os.chmod('f', 0o777)", "changes_permissions"),
    ],
)
def test_MB4_python_effects(code: str, kind: str) -> None:
    import shlex

    reading = read_command(f"python3 -c {shlex.quote(code)}", cwd="/w")
    assert kind in [e.kind for e in reading.effects]
    assert not reading.read_only


@pytest.mark.parametrize("code", ["import mymodule", "exec(input())", "f()", "import ctypes", "x.foo()", "def broken("])
def test_PE8_python_that_is_not_understood_is_unknown(code: str) -> None:
    import shlex

    reading = read_command(f"python3 -c {shlex.quote(code)}", cwd="/w")
    assert reading.unknown
    assert reading.risk == "caution"


@pytest.mark.parametrize(
    ("command", "read_only"),
    [
        ("node -e 'console.log(require(\"os\").cpus().length)'", True),
        ('node -e \'require("fs").writeFileSync("x","y")\'', False),
        ("node -e 'fetch(\"http://h\")'", False),
        ("node -e 'require(\"left-pad\")'", False),
        ("perl -ne 'print if /x/' f", True),
        ("perl -e 'unlink \"x\"'", False),
        ("ruby -e 'puts [1,2].sum'", True),
        ("ruby -e 'File.write(\"x\",1)'", False),
        ("php -r 'echo strlen(\"x\");'", True),
        ("php -r 'unlink(\"x\");'", False),
        ("lua -e 'print(1)'", True),
        ("lua -e 'os.remove(\"x\")'", False),
        ("sqlite3 d 'select 1'", True),
        ("sqlite3 d 'select load_extension(\"x\")'", False),
        ("sqlite3 d '.shell touch x'", False),
        ("psql -c '\\! touch x'", False),
        ("psql -c 'copy t to program $$touch x$$'", False),
    ],
)
def test_PE8_other_languages(command: str, read_only: bool) -> None:
    assert read_command(command, cwd="/w").read_only is read_only
