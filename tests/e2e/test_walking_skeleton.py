"""One call allowed and one denied by a rule, through the real hosts, as a user reads it: `holdfast audit show`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from e2e.attached import config
from e2e.installed_clis import requires_cli

pytestmark = pytest.mark.e2e

DENY_SECRET = '{ "domain": "edit", "pattern": "vault:/secret/**", "decision": "deny" }'


def audit_show(home, *arguments: str) -> str:
    command = [sys.executable, "-m", "holdfast", "--home", str(home), "audit", "show", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


@pytest.mark.parametrize("name", [pytest.param(n, marks=requires_cli(n)) for n in ("claude-code", "opencode")])
def test_an_allowed_and_a_denied_call_are_in_audit_show(attached, holdfast, name):
    kit = attached(name, config(DENY_SECRET))
    # One home serves every test of a file, so each host has files of its own name.
    allowed, denied = f"{name}.txt", f"secret/{name}.txt"
    kit.play(kit.write(allowed, denied), "done")
    kit.run("write both")
    assert (kit.workspace / allowed).exists()
    assert not (kit.workspace / denied).exists()

    entries = [entry for entry in json.loads(audit_show(holdfast.home.root, "--json")) if name in str(entry["targets"])]
    decided = {target: entry["decision"] for entry in entries for target in entry["targets"]}
    assert decided == {f"vault:/{allowed}": "allow", f"vault:/{denied}": "deny"}
    (line,) = (line for line in audit_show(holdfast.home.root).splitlines() if f"vault:/{denied}" in line)
    assert " deny " in line
    assert "vault:/secret/**" in line
