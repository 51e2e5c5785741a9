"""The Home is the user's alone; the Vault is found without running git, and some places are refused."""

import stat
from pathlib import Path

import pytest

from holdfast.store.home import Home, HomeError, VaultError, find_home, find_vault


def test_the_home_is_found_by_option_then_variable_then_home(tmp_path):
    environ = {"HOME": str(tmp_path), "HOLDFAST_HOME": str(tmp_path / "b")}
    assert find_home(tmp_path / "a", environ).root == tmp_path / "a"
    assert find_home(None, environ).root == tmp_path / "b"
    assert find_home(None, {"HOME": str(tmp_path)}).root == tmp_path / ".holdfast"


def test_the_home_and_its_rooms_are_for_the_user_alone(tmp_path):
    home = Home(tmp_path / "deep" / "home")
    made = home.create()
    assert set(made) == set(home.folders())
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in home.folders()} == {0o700}
    assert home.create() == ()
    assert home.open_to_others() is None
    home.root.chmod(0o755)
    assert home.open_to_others() == "0755"


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "data").write_text("")
    with pytest.raises(HomeError, match="data is a file where a folder is needed"):
        Home(tmp_path / "h").create()


def test_a_file_above_the_home_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeError, match="file is a file where a folder is needed"):
        Home(tmp_path / "file" / "home").create()


def test_the_vault_is_the_git_top_level_whether_git_is_a_folder_or_a_file(tmp_path):
    for kind in ("folder", "file"):
        top = tmp_path / kind
        (top / "a" / "b").mkdir(parents=True)
        (top / ".git").mkdir() if kind == "folder" else (top / ".git").write_text("gitdir: elsewhere")
        assert find_vault(None, top / "a" / "b") == top
        assert find_vault(top / "a") == top / "a"


def test_without_git_the_vault_is_the_starting_directory(tmp_path):
    assert find_vault(None, tmp_path, environ={}) == tmp_path


def test_the_vault_is_a_real_path(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert find_vault(tmp_path / "link") == tmp_path / "real"


def test_home_and_root_are_refused(tmp_path):
    environ = {"HOME": str(tmp_path)}
    (tmp_path / ".git").mkdir()
    (tmp_path / "work").mkdir()
    with pytest.raises(VaultError, match="everything lies in it"):
        find_vault("/", environ=environ)
    with pytest.raises(VaultError, match="is your home directory"):
        find_vault(tmp_path, environ=environ)
    with pytest.raises(VaultError, match="the git top level of"):
        find_vault(None, tmp_path / "work", environ=environ)
    assert find_vault(tmp_path / "work", environ=environ) == tmp_path / "work"


def test_a_link_to_home_is_refused_too(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "home")
    with pytest.raises(VaultError):
        find_vault(tmp_path / "link", environ={"HOME": str(tmp_path / "home")})
    with pytest.raises(VaultError):
        find_vault(tmp_path / "home", environ={"HOME": str(tmp_path / "link")})


def test_a_vault_inside_holdfasts_own_home_is_refused(tmp_path):
    home = Home(tmp_path / ".holdfast")
    home.create()
    for folder in (home.root, home.tools):
        with pytest.raises(VaultError, match="belongs to Holdfast itself"):
            find_vault(folder, home=home, environ={})


def test_a_missing_vault_is_named(tmp_path):
    with pytest.raises(VaultError, match="is not a directory"):
        find_vault(tmp_path / "gone")


def test_a_home_that_cannot_be_made_is_a_clear_error_with_a_way_out():
    # nobody, not even root, makes folders there
    with pytest.raises(HomeError, match=r"cannot be made: .*; give another home by --home"):
        Home(Path("/proc/holdfast-home")).create()
