"""The import contracts catch what they are there to catch: each is tried on a small package that breaks it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
LAYERS, *_ = [contract for contract in CONTRACTS["contracts"] if contract["type"] == "layers"]
ROOMS = {room.strip(" ()") for layer in LAYERS["layers"] for room in layer.split("|")} | {"testing"}

BREACHES = {
    "core imports a policy": ("core/x.py", "import holdfast.policies.one"),
    "a policy imports another": ("policies/two.py", "import holdfast.policies.one"),
    "a policy imports the store": ("policies/two.py", "import holdfast.store.x"),
    "the store imports a policy": ("store/x.py", "import holdfast.policies.one"),
    "a host imports the runtime": ("hosts/x.py", "import holdfast.runtime.x"),
    "the plane imports a door": ("plane/x.py", "import holdfast.doors.x"),
    "core reads the clock": ("core/x.py", "import time"),
    "core reads the disk": ("core/x.py", "import os"),
    "a policy uses the network": ("policies/one.py", "import httpx"),
    "the runtime uses the test tools": ("runtime/x.py", "import holdfast.testing.x"),
    "the test tools use a host": ("testing/x.py", "import holdfast.hosts.x"),
    "a module that no layer names": ("misc/x.py", ""),
}


def lint(folder: Path, breach: tuple[str, str] | None) -> subprocess.CompletedProcess[str]:
    for room in ROOMS:
        names = ("one", "two") if room == "policies" else ("x",)
        for name in ("__init__", *names):
            path = folder / "holdfast" / room / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
    (folder / "holdfast" / "__init__.py").write_text("")
    if breach:
        path = folder / "holdfast" / breach[0]
        path.parent.mkdir(exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(breach[1] + "\n")
    (folder / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    return subprocess.run(
        [*command, "--no-cache"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_package_without_a_breach_is_kept(tmp_path):
    run = lint(tmp_path, None)
    assert run.returncode == 0, run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("breach", BREACHES.values(), ids=BREACHES.keys())
def test_a_breach_is_seen(tmp_path, breach):
    run = lint(tmp_path, breach)
    assert run.returncode == 1, run.stdout
    assert "BROKEN" in run.stdout
