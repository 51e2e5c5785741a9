"""The page's source: its types hold, its unit tests pass, and the committed build is the one it gives."""

import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WEB, BUILT = ROOT / "web", ROOT / "src" / "holdfast" / "doors" / "web" / "static"
FIRST_LOAD_LIMIT = 120_000
SECONDS = 240


def run(*command: str, **environment: str) -> None:
    if shutil.which("node") is None:
        pytest.skip("installable: Node (tools/install_node.sh)")
    if not (WEB / "node_modules" / "vite").exists():
        pytest.skip("installable: web/node_modules (npm ci)")
    done = subprocess.run(
        command,
        cwd=WEB,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}"


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.e2e
def test_the_committed_build_is_what_the_source_gives(tmp_path):
    run("node", "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn", HOLDFAST_PAGE_OUT=str(tmp_path / "out"))
    fresh, committed = files_of(tmp_path / "out"), files_of(BUILT)
    stale = sorted(name for name in fresh.keys() | committed.keys() if fresh.get(name) != committed.get(name))
    assert stale == [], "run `make web` and commit src/holdfast/doors/web/static with the source"


@pytest.mark.e2e
def test_types_and_templates_are_without_errors_or_warnings():
    run("node", "node_modules/svelte-check/bin/svelte-check", "--tsconfig", "./tsconfig.json", "--fail-on-warnings")


@pytest.mark.e2e
def test_the_unit_tests_of_the_page_pass():
    run("node", "test/run.mjs")


def test_the_first_load_is_small():
    """All that a browser fetches before the chat can be used, compressed as the server compresses it."""
    wanted, seen = ["index.html"], set()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        text = (BUILT / name).read_text(encoding="utf-8")
        here = Path(name).parent
        links = re.findall(r'(?:src|href)="\./([^"]+\.(?:js|css))"', text) if name.endswith(".html") else []
        imported = re.findall(r'(?:^|[;}\s])(?:import|export)[^"\'()]*?["\'](\./[^"\']+\.js)["\']', text)
        wanted += [*links, *[os.path.normpath(here / one) for one in imported]]
    size = sum(len(gzip.compress((BUILT / name).read_bytes(), 6)) for name in seen)
    assert any(name.endswith("index.js") for name in seen)
    assert size < FIRST_LOAD_LIMIT, f"{size} bytes compressed in {sorted(seen)}"


def test_nothing_in_the_build_points_outside():
    """No script, style, font, picture or address of another machine is fetched by the page itself."""
    for name, body in files_of(BUILT).items():
        if name.endswith((".html", ".css", ".webmanifest")):
            found = re.findall(rb'(?:src|href|url)\s*[=(:]\s*["\']?(?:https?:)?//[^"\')\s]+', body)
            assert found == [], name


def test_the_page_lock_names_no_registry_and_pins_every_package():
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: about for name, about in lock["packages"].items() if name}
    assert [name for name, about in packages.items() if "resolved" in about] == []
    assert [name for name, about in packages.items() if not about.get("integrity")] == []
    wanted = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    loose = [
        f"{name}@{version}"
        for part in ("dependencies", "devDependencies")
        for name, version in wanted[part].items()
        if not re.fullmatch(r"\d+\.\d+\.\d+", version)
    ]
    assert loose == []
