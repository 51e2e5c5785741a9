"""tools/changelog.py on folders of its own, and on the fragments of this repository."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("changelog", ROOT / "tools" / "changelog.py")
changelog = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(changelog)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d" / "README.md").write_text("how to write one")
    return tmp_path


def add(root, name, text):
    (root / "changelog.d" / name).write_text(text, encoding="utf-8")


def test_the_fragments_of_this_repository_are_sound():
    assert changelog.main(["check"], ROOT) == 0


def test_draft_groups_by_kind_and_joins_lines(root, capsys):
    add(root, "b.fixed.md", "No more\nlost events.\n")
    add(root, "a.added.md", "审批卡片。")
    assert changelog.main(["draft"], root) == 0
    assert capsys.readouterr().out == (
        "## Unreleased\n\n### Added\n\n- 审批卡片。\n\n### Fixed\n\n- No more lost events.\n"
    )


def test_release_puts_the_newest_on_top_and_removes_the_fragments(root):
    add(root, "a.added.md", "First.")
    assert changelog.main(["release", "0.1.0", "2026-11-15"], root) == 0
    add(root, "b.changed.md", "Second.")
    assert changelog.main(["release", "0.2.0", "2026-12-01"], root) == 0
    assert (root / "CHANGELOG.md").read_text() == (
        "# Changelog\n"
        "\n## 0.2.0 (2026-12-01)\n\n### Changed\n\n- Second.\n"
        "\n## 0.1.0 (2026-11-15)\n\n### Added\n\n- First.\n"
    )
    assert [path.name for path in (root / "changelog.d").iterdir()] == ["README.md"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [("a.improved.md", "x", "kind"), ("added.md", "x", "kind"), ("a.added.md", " \n", "empty")],
)
def test_a_bad_fragment_is_named(root, capsys, name, text, message):
    add(root, name, text)
    assert changelog.main(["check"], root) == 1
    error = capsys.readouterr().err
    assert name in error
    assert message in error


def test_release_without_fragments_is_refused(root, capsys):
    assert changelog.main(["release", "0.1.0", "2026-11-15"], root) == 1
    assert not (root / "CHANGELOG.md").exists()


def test_unknown_arguments_print_the_usage(root, capsys):
    assert changelog.main(["publish"], root) == 2
    assert "release 0.2.0" in capsys.readouterr().err
