"""Runs pytest on small files of its own: a skip passes locally, and fails under CI=true unless nothing removes it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent

SAMPLES = {
    "test_tests.py": """
import pytest

def test_installable(): pytest.skip("installable: no bwrap here")
def test_without_a_word(): pytest.skip("not today")
@pytest.mark.skipif(True, reason="installable: by mark")
def test_by_mark(): pass
def test_corpus(): pytest.skip("corpus: ../shared/data is not there")
def test_platform(): pytest.skip("platform: needs macOS")
@pytest.mark.xfail(strict=True)
def test_expected_failure(): assert False
def test_plain(): pass
""",
    "test_module.py": "import pytest\npytest.skip('installable: the module', allow_module_level=True)\n",
    "test_import.py": "import pytest\npytest.importorskip('no_such_module_at_all')\n",
}


def outcomes(folder: Path, *options: str, ci: bool) -> dict[str, str]:
    """The outcome of each sample, by the short name that pytest's summary gives it."""
    for name, source in SAMPLES.items():
        (folder / name).write_text(source, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "PYTEST"))}
    environment |= {"PYTHONPATH": str(HERE), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | ({"CI": "true"} if ci else {})
    command = [sys.executable, "-m", "pytest", "-p", "skip_policy", "--continue-on-collection-errors", "-rA"]
    run = subprocess.run(
        [*command, "--no-fold-skipped", *options, "--rootdir", str(folder), str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
        cwd=folder,
    )
    lines = re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL) (?:\[1\] )?(\S+)", run.stdout, re.MULTILINE)
    return {name.split("::")[-1].rstrip(":"): outcome for outcome, name in lines}


@pytest.fixture(scope="module", params=[(), ("-p", "xdist", "-n", "1")], ids=["alone", "with workers"])
def in_ci(request, tmp_path_factory):
    return outcomes(tmp_path_factory.mktemp("ci"), *request.param, ci=True)


def test_a_skip_for_want_of_something_installable_fails_in_ci(in_ci):
    assert in_ci["test_installable"] == "FAILED"
    assert in_ci["test_by_mark"] in ("ERROR", "FAILED")
    assert in_ci["test_module.py"] == "ERROR"
    assert in_ci["test_import.py"] == "ERROR"


def test_a_skip_that_does_not_say_its_kind_fails_in_ci(in_ci):
    assert in_ci["test_without_a_word"] == "FAILED"


def test_what_nothing_installable_removes_may_be_skipped_in_ci(in_ci):
    assert in_ci["test_corpus"] == "SKIPPED"
    assert in_ci["test_platform"] == "SKIPPED"
    assert in_ci["test_expected_failure"] == "XFAIL"
    assert in_ci["test_plain"] == "PASSED"


def test_outside_ci_every_skip_is_a_skip(tmp_path):
    local = outcomes(tmp_path, ci=False)
    assert {"FAILED", "ERROR"}.isdisjoint(local.values())
    assert local["test_installable"] == local["test_module.py"] == "SKIPPED"
