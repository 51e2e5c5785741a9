"""The reference pages say what the code says."""

import importlib.util
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("generate_reference", ROOT / "tools" / "generate_reference.py")
reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference)


def test_the_pages_are_up_to_date():
    """In a fresh interpreter, as people run it: what other tests did to the command line's objects is not the code."""
    command = [sys.executable, str(ROOT / "tools" / "generate_reference.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_that_drifted_is_named_and_made_anew(tmp_path, capsys):
    assert reference.main([], tmp_path) == 0
    assert reference.main(["--check"], tmp_path) == 0
    (tmp_path / "cli.md").write_text("old")
    capsys.readouterr()
    assert reference.main(["--check"], tmp_path) == 1
    assert "docs/reference/cli.md is not what the code says" in capsys.readouterr().out


def test_every_setting_has_a_line():
    text = reference.configuration()
    for key in ("truncation.maxLines", "permission.rules[].pattern", "models.NAME.customContext", "breeds[].id"):
        assert f"| `{key}` |" in text
    assert "| `permission.rules[].pattern` | a string | must be given |" in text
