"""The repository itself: nothing of the machine it was written on, no unfinished code, honest documents."""

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FILE = 450
# A file may be longer when it is a table rather than logic: path under src/holdfast -> why.
LONG_FILES: dict[str, str] = {}

# Written in pieces, so that this file does not hold what it looks for.
REGISTRY_HOSTS = [".".join(parts) for parts in (
    ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("deb", "debian", "org"),
    ("npmmirror", "com"),
)]  # fmt: skip
MACHINE_PATHS = ["/".join(("", *parts)) for parts in (
    ("work", "main"), ("work", "shared"), ("work", "."), ("root", ".pyenv"), ("root", ".cache"), ("opt", "wheels"),
    ("opt", "pypi"), ("tmp", "bash_jobs"),
)]  # fmt: skip


def tracked_files() -> list[Path]:
    """What git tracks, or would track once added; in an unpacked archive without git, there is nothing to hold."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return [path for name in sorted(set(listing.stdout.split("\0"))) if name and (path := ROOT / name).is_file()]


def places(pattern: str, files: list[Path]) -> list[str]:
    """`file:line: text` of every match."""
    found = []
    for path in files:
        text = path.read_bytes().decode("utf-8", errors="replace")
        for match in re.finditer(pattern, text):
            found.append(f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}")
    return found


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("platform: not a git checkout")
    return tracked_files()


@pytest.fixture(scope="module")
def sources() -> list[Path]:
    return sorted((ROOT / "src" / "holdfast").rglob("*.py"))


def documents() -> list[Path]:
    return [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), *(ROOT / "changelog.d").glob("*.md")]


def test_no_path_of_a_machine_is_in_a_tracked_file(tracked):
    assert places("|".join(map(re.escape, MACHINE_PATHS)), tracked) == []


def test_no_registry_host_is_in_a_tracked_file(tracked):
    assert places("|".join(map(re.escape, REGISTRY_HOSTS)), tracked) == []


def test_every_script_of_tools_can_be_run(tracked):
    with_shebang = [path for path in tracked if path.read_bytes().startswith(b"#!")]
    assert [str(path) for path in with_shebang if not os.access(path, os.X_OK)] == []


def test_no_unfinished_code_in_the_package(sources):
    assert places(r"\b(?:TODO|FIXME|XXX|HACK)\b|raise NotImplementedError", sources) == []


def test_no_file_of_the_package_is_too_long(sources):
    too_long = {}
    for path in sources:
        name = path.relative_to(ROOT / "src" / "holdfast").as_posix()
        length = len(path.read_text(encoding="utf-8").splitlines())
        if length > LONGEST_FILE and name not in LONG_FILES:
            too_long[name] = length
    assert too_long == {}, "split it, or give the reason in LONG_FILES"


def test_every_allowance_for_a_long_file_is_still_needed():
    lengths = {
        name: len((ROOT / "src/holdfast" / name).read_text(encoding="utf-8").splitlines()) for name in LONG_FILES
    }
    assert {name for name, length in lengths.items() if length <= LONGEST_FILE} == set()


def test_every_make_command_in_the_documents_exists():
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        (path.relative_to(ROOT).as_posix(), target)
        for path in documents()
        for code in re.findall(r"```.*?```|`[^`\n]+`", path.read_text(encoding="utf-8"), re.DOTALL)
        for target in re.findall(r"\bmake ([a-z][a-z-]*)", code)
    }
    assert {document for document, _ in named} >= {"README.md", "README.zh.md", "CONTRIBUTING.md"}
    assert {(document, target) for document, target in named if target not in targets} == set()


def test_both_readmes_name_the_same_commands():
    commands = [set(re.findall(r"^(?:make|holdfast) [^#\n]*", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))
                for name in ("README.md", "README.zh.md")]  # fmt: skip
    assert {command.strip() for command in commands[0]} == {command.strip() for command in commands[1]} != set()


def test_every_relative_link_in_the_documents_leads_somewhere():
    broken = []
    for path in documents():
        for link in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            if "://" not in link and not (path.parent / link).exists():
                broken.append(f"{path.relative_to(ROOT)}: {link}")
    assert broken == []


def test_every_decision_has_a_number_of_its_own_and_the_parts_of_the_template():
    folder = ROOT / "docs" / "decisions"
    records = [path for path in sorted(folder.glob("*.md")) if path.name not in ("README.md", "template.md")]
    assert [path.name for path in records if not re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", path.name)] == []
    assert [number for number, count in Counter(path.name[:4] for path in records).items() if count > 1] == []
    headings = re.findall(r"^## .*$", (folder / "template.md").read_text(encoding="utf-8"), re.MULTILINE)
    for path in records:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {path.name[:4]} "), path.name
        assert [heading for heading in headings if f"\n{heading}\n" not in text] == [], path.name


def test_the_locks_pin_every_package_by_hash():
    for lock in sorted((ROOT / "requirements").glob("*.txt")):
        entries = re.split(r"\n(?=[a-z0-9])", lock.read_text(encoding="utf-8"))
        assert [entry.splitlines()[0] for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []
