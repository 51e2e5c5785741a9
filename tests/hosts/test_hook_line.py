"""The line by which Codex and Gemini CLI call us before a tool runs: whatever becomes of it, silence is no yes."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import pytest

from holdfast.hosts.attach.service import INSTALLERS
from hosts.test_attach import spec_of


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        ("exit 0", 0, False),
        ("echo why >&2; exit 2", 2, False),
        ("exit 1", 2, True),
        ("kill -9 $$", 2, True),
        (None, 2, True),
    ],
)
def test_HO4_a_hook_that_did_not_answer_blocks_whatever_became_of_it(tmp_path, program, code, said):
    """Codex and Gemini CLI know exit code 2 only; with any other the call would run."""
    python = tmp_path / "py thon"
    if program is not None:
        python.write_text(f"#!/bin/sh\n{program}\n")
        python.chmod(0o755)
    line = replace(spec_of(tmp_path), python=str(python)).closed_line("codex")
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert ("holdfast doctor codex" in done.stderr) is said
    for host, event in (("codex", "PreToolUse"), ("gemini", "BeforeTool")):
        wanted = INSTALLERS[host].files(spec_of(tmp_path))[0]
        (group,) = json.loads(wanted.applied(None))["hooks"][event]
        assert group["hooks"][0]["command"].endswith("exit 2; }")
