"""Every screen of the page stands in the documents in pictures, and no picture lies about unused."""

import re
import struct

from e2e.page.gallery import KINDS, PAGE, PHONE, PICTURES, ROOT, pictures, written

MOST_BYTES = 6_000_000
SECTIONS = {
    "rules": (ROOT / "web/src/screens/rules/Rules.svelte", r"const FACES = \[(.*?)\]", r"'(\w+)'"),
    "settings": (ROOT / "web/src/screens/settings/Settings.svelte", r"const SECTIONS(.*?)\n  \]", r"name: '(\w+)'"),
    "sessions": (ROOT / "web/src/screens/sessions/SessionPanel.svelte", r"type Face =(.*?)\n", r"'(\w+)'"),
}
FIRST_FACES = {"rules-rules": "rules", "sessions-overview": "sessions"}


def names_of_the_router() -> set[str]:
    """Each screen, and each section of those that have some, as they are named in the page's source."""
    source = (ROOT / "web" / "src" / "shell" / "screens.ts").read_text(encoding="utf-8")
    found = re.search(r"type ScreenName = (.*)", source)
    assert found is not None
    names = set(re.findall(r"'(\w+)'", found[1]))
    assert {"chat", "inbox", "settings"} <= names
    for screen, (file, list_of, one) in SECTIONS.items():
        part = re.search(list_of, file.read_text(encoding="utf-8"), re.S)
        assert part is not None, f"{file} says its sections otherwise now"
        sections = {f"{screen}-{name}" for name in re.findall(one, part[1])}
        assert len(sections) > 3, screen
        names |= {FIRST_FACES.get(name, name) for name in sections}
    return names - {"settings"}  # it opens with its first section


def test_UI1_every_screen_has_its_pictures_in_the_documents():
    shown = {one.name: one for one in pictures()}
    assert names_of_the_router() - set(shown) == set()
    for name in names_of_the_router():
        assert shown[name].kinds == ((PHONE,) if name == "more" else KINDS), name
    missing = [file.name for one in pictures() for file in one.files() if not file.exists()]
    assert missing == [], "`make screenshots` takes them"


def test_UI1_the_gallery_says_what_there_is():
    assert PAGE.read_text(encoding="utf-8") == written(), "`make screenshots` writes it"


def test_UI1_every_picture_is_shown_somewhere_and_all_are_small():
    text = "".join(
        path.read_text(encoding="utf-8") for path in [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("README*.md")]
    )
    files = sorted(PICTURES.glob("*"))
    assert [file.name for file in files if f"images/page/{file.name}" not in text] == []
    assert sum(file.stat().st_size for file in files) < MOST_BYTES
    for file in files:
        head = file.read_bytes()[:24]
        assert head.startswith(b"\x89PNG"), file.name
        wide, _ = struct.unpack(">II", head[16:24])
        assert wide == (780 if PHONE in file.name else 1280), file.name


def test_UI1_the_gallery_can_be_found():
    for name in ("README.md", "README.zh.md", "docs/index.md", "docs/reference/README.md", "docs/how-to/page.md"):
        assert re.search(r"\]\([\w./]*screens\.md\)", (ROOT / name).read_text(encoding="utf-8")), name
