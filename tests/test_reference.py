"""The reference pages say what the code says."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("generate_reference", ROOT / "tools" / "generate_reference.py")
reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference)


def test_the_pages_are_up_to_date():
    assert reference.main(["--check"]) == 0, "run: python tools/generate_reference.py"


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
