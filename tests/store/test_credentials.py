"""Keys come from the environment or from a file that nobody else can read; no message ever shows one."""

import pytest

from holdfast.store.credentials import CredentialsError, find_key, read_credentials


def write(folder, text, mode=0o600):
    path = folder / "credentials"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_lines_are_read_with_comments_quotes_and_export(tmp_path):
    path = write(tmp_path, "# keys\n\nA_KEY=abc=\nexport B='d e'\n")
    assert read_credentials(path) == {"A_KEY": "abc=", "B": "d e"}


def test_no_file_means_no_keys(tmp_path):
    assert read_credentials(tmp_path / "credentials") == {}


def test_the_environment_comes_first(tmp_path):
    path = write(tmp_path, "A=file\n")
    assert find_key("A", path, {"A": "environment"}) == "environment"
    assert find_key("A", path, {}) == "file"
    assert find_key("B", path, {}) is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_file_that_others_may_read_is_refused_with_its_fix(tmp_path, mode):
    with pytest.raises(CredentialsError, match="chmod 600"):
        read_credentials(write(tmp_path, "A=secret\n", mode))


def test_a_broken_line_is_named_without_what_it_holds(tmp_path):
    with pytest.raises(CredentialsError) as caught:
        read_credentials(write(tmp_path, "A=b\nsk-secret\n"))
    assert ":2: expected NAME=key" in str(caught.value)
    assert "secret" not in str(caught.value).replace(str(tmp_path), "")
