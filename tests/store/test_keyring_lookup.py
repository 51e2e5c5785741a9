"""Keys from a keyring of the test's own; nothing it does may hold anybody up, and no key is ever said."""

import os
import stat
import sys
import time
from pathlib import Path

import pytest

from holdfast.core.settings import RuntimeSettings
from holdfast.model_endpoints import choose, key_for, key_source
from holdfast.store.home import Home
from holdfast.store.keyring_lookup import from_keyring

KEY = "sk-kept-in-the-keyring"
LIBRARY = """
class Backend:
    def get_password(self, service, name):
        {body}

def get_keyring():
    return Backend()
"""
PROGRAM = """#!{python}
import sys, time
assert sys.argv[1:] == ["search", "service", "holdfast", "username", "MY_KEY"], sys.argv
{body}
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """The package `keyring`, as somebody could have installed it."""

    def installed(body):
        (tmp_path / "keyring.py").write_text(LIBRARY.format(body=body))
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    yield installed
    sys.modules.pop("keyring", None)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """The program `secret-tool`, where the package is not there."""
    if sys.platform == "darwin":
        pytest.skip("platform: macOS has `security` instead")

    def installed(body):
        path = Path(tmp_path, "secret-tool")
        path.write_text(PROGRAM.format(python=sys.executable, body=body))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return installed


def test_UI3_a_key_is_found_under_its_name_by_the_library(library):
    library(f"return {KEY!r} if (service, name) == ('holdfast', 'MY_KEY') else None")
    assert from_keyring("MY_KEY") == KEY
    assert from_keyring("OTHER_KEY") is None
    assert from_keyring("") is None


def test_UI3_a_key_is_found_by_the_systems_own_program(program):
    program(f"print('[/org/1]\\nlabel = mine\\nsecret = {KEY}\\nattribute.service = holdfast')")
    assert from_keyring("MY_KEY") == KEY


@pytest.mark.parametrize(
    "body", ["raise RuntimeError('locked')", "return None", "return 7", "input('password: ')", "import os; os._exit(3)"]
)
def test_UI3_a_keyring_that_does_not_answer_is_no_keyring(library, body):
    library(body)
    assert from_keyring("MY_KEY") is None


@pytest.mark.parametrize("body", ["sys.exit(1)", "print('secret = ')", "sys.stdout.buffer.write(bytes([255, 254]))"])
def test_UI3_a_program_that_has_nothing_to_say_is_no_keyring(program, body):
    program(body)
    assert from_keyring("MY_KEY") is None


def test_UI3_a_keyring_that_hangs_is_left(library):
    library("import time; time.sleep(600)")
    started = time.monotonic()
    assert from_keyring("MY_KEY", deadline=1.0) is None
    assert time.monotonic() - started < 60


def test_UI3_the_place_of_a_key_is_said_and_never_the_key(library, tmp_path):
    library(f"return {KEY!r}")
    home = Home(tmp_path / "home")
    home.create()
    choice = choose(RuntimeSettings(model="gpt-5.1"), "")
    assert choice.key_name == "OPENAI_API_KEY"
    assert key_source(choice, home, {"OPENAI_API_KEY": "sk-of-the-environment"}) == "environment"
    assert key_for(choice, home, {}) == KEY
    assert key_source(choice, home, {}) == "keyring"
    library("return None")
    assert key_source(choice, home, {}) is None
    home.credentials.write_text("OPENAI_API_KEY=sk-of-the-file\n")
    home.credentials.chmod(0o600)
    assert key_source(choice, home, {}) == "credentials"
