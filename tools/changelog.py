"""Changelog fragments: one small file per change, gathered into CHANGELOG.md at a release.

A fragment is `changelog.d/<what>.<kind>.md`, one paragraph that states the outcome for the user.
  python tools/changelog.py check                      every fragment has a known kind and a text
  python tools/changelog.py draft                      print the section as it stands
  python tools/changelog.py release 0.2.0 2026-12-01   put it on top of CHANGELOG.md and remove the fragments
"""

import sys
from pathlib import Path

KINDS = {"security": "Security", "removed": "Removed", "changed": "Changed", "added": "Added", "fixed": "Fixed"}
TITLE = "# Changelog\n"


class FragmentError(Exception):
    """A fragment that cannot go into the changelog."""


def read_fragments(folder: Path) -> dict[str, list[str]]:
    """The texts by kind, in the order of the file names."""
    texts: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for path in sorted(folder.glob("*.md")):
        if path.name == "README.md":
            continue
        kind = path.stem.rpartition(".")[2]
        if kind not in KINDS or "." not in path.stem:
            raise FragmentError(f"{path}: name it <what>.<kind>.md with kind one of {', '.join(sorted(KINDS))}")
        text = " ".join(path.read_text(encoding="utf-8").split())
        if not text:
            raise FragmentError(f"{path}: is empty; write one paragraph on what changes for the user")
        texts[kind].append(text)
    return texts


def render(fragments: dict[str, list[str]], heading: str) -> str:
    parts = [f"## {heading}\n"]
    for kind, title in KINDS.items():
        if fragments[kind]:
            parts.append(f"### {title}\n\n" + "".join(f"- {text}\n" for text in fragments[kind]))
    return "\n".join(parts)


def release(folder: Path, changelog: Path, version: str, date: str) -> None:
    fragments = read_fragments(folder)
    if not any(fragments.values()):
        raise FragmentError(f"{folder}: holds no fragment, so there is nothing to release")
    before = changelog.read_text(encoding="utf-8") if changelog.exists() else TITLE
    section = render(fragments, f"{version} ({date})")
    changelog.write_text(f"{TITLE}\n{section}{before.removeprefix(TITLE)}", encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.name != "README.md":
            path.unlink()


def main(arguments: list[str], root: Path) -> int:
    folder = root / "changelog.d"
    try:
        match arguments:
            case ["check"]:
                read_fragments(folder)
            case ["draft"]:
                print(render(read_fragments(folder), "Unreleased"), end="")
            case ["release", version, date]:
                release(folder, root / "CHANGELOG.md", version, date)
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except FragmentError as error:
        print(f"changelog: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(__file__).resolve().parent.parent))
