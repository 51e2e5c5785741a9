"""Which of the pinned host CLIs are installed, and the skip for a test whose CLI is not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLIS = ROOT / ".tools" / "clis"
VERSIONS = ROOT / "tools" / "cli_versions.txt"
CLEAN_PATH = "/usr/bin:/bin"


def pinned_packages() -> dict[str, str]:
    """`package@version` of each CLI, by our name for it."""
    lines = (line.split("#")[0].split() for line in VERSIONS.read_text().splitlines())
    return {fields[0]: f"{fields[1]}@{fields[2]}" for fields in lines if fields}


def missing_for(name: str, clis: Path = CLIS) -> str | None:
    """What has to be installed before this CLI can be driven; None when all is there."""
    package = pinned_packages()[name]
    stamp = clis / name / "installed"
    if not stamp.exists() or stamp.read_text().strip() != package:
        return f"{package} is not in .tools/clis; run: tools/install_clis.sh {name}"
    if name == "opencode" and shutil.which("rg", path=CLEAN_PATH) is None:
        return "OpenCode needs ripgrep (rg) in /usr/bin; run: apt-get install ripgrep"
    if name == "gemini" and find_node() is None:
        return "Gemini CLI needs Node 20; run: tools/install_node.sh"
    return None


def requires_cli(*names: str, clis: Path = CLIS) -> pytest.MarkDecorator:
    """Skips a test whose CLI is not there; CI fails on a reason that begins `installable:`."""
    missing = [reason for name in names if (reason := missing_for(name, clis))]
    return pytest.mark.skipif(bool(missing), reason=f"installable: {'; '.join(missing)}")


def find_node() -> str | None:
    """The Node that runs Gemini CLI: that of tools/install_node.sh, which is there where the system's is too old."""
    return shutil.which("node", path=f"{ROOT / '.tools' / 'bin'}:{os.environ.get('PATH', CLEAN_PATH)}")
