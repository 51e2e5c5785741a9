"""What attach writes into a host's settings, that it keeps what is there, and that detach takes all of it back."""

from __future__ import annotations

import json
import stat
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.core.events import ToolCall
from holdfast.hosts.attach.codex import trusted_hash
from holdfast.hosts.attach.json_file import AttachError, JsonFile, ListItem, Server
from holdfast.hosts.attach.service import INSTALLERS, attach, attached, detach
from holdfast.hosts.attach.spec import Spec
from holdfast.store.attached import manifests
from holdfast.store.home import Home
from holdfast.store.json5_tree import parse
from jsonc_texts import newlines, values, written

SETTINGS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.jsonc",
}
THEIRS = {
    "claude-code": """{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine.sh"}]}
    ],
    "Notification": []
  }
}
""",
    "codex": '# mine\nmodel = "x"\n\n[features]  # mine\nplugins = false\n\n[mcp_servers.other]\ncommand = "y"\n',
    "gemini": '{"theme":"dark","hooks":{"BeforeTool":[{"hooks":[{"type":"command","name":"m","command":"mine"}]}]}}',
    "opencode": '{\r\n\t// mine\r\n\t"plugin": ["mine"], /* more */\r\n\t"mcp": {"other": {"type": "local"}},\r\n}\r\n',
}


def spec_of(folder: Path, **changes) -> Spec:
    (folder / "vault").mkdir(parents=True, exist_ok=True)
    home = Home(folder / ".holdfast")
    home.create()
    spec = Spec(
        home=home,
        scope="user",
        vault=folder / "vault",
        user_home=folder,
        deadline=310,
        port=23456,
        token="s3cret",
        environ={"PATH": "/nowhere"},
    )
    return replace(spec, **changes)


def put(folder: Path, host: str, text: str | None = None) -> Path:
    path = folder / SETTINGS[host]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((THEIRS[host] if text is None else text).encode())
    return path


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, apart from Holdfast's own."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".holdfast" not in path.parts
    }


def folders(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_dir() and ".holdfast" not in path.parts
    }


@pytest.mark.parametrize("scope", ["user", "project"])
def test_HO1_detach_restores_every_byte(tmp_path, host, scope):
    spec = spec_of(tmp_path, scope=scope)
    put(tmp_path, host)
    before, folders_before = tree(tmp_path), folders(tmp_path)
    attach(host, spec, at=1.0)
    assert tree(tmp_path) != before
    detach(host, spec)
    assert tree(tmp_path) == before
    assert folders(tmp_path) == folders_before
    assert list(manifests(spec.home)) == []


def test_HO1_where_there_was_nothing_nothing_is_left(tmp_path, host):
    spec = spec_of(tmp_path)
    attach(host, spec, at=1.0, force=True)
    assert tree(tmp_path)
    detach(host, spec)
    assert tree(tmp_path) == {}
    assert folders(tmp_path) == {"vault"}


def test_HO1_a_second_attach_changes_nothing(tmp_path, host):
    spec = spec_of(tmp_path)
    put(tmp_path, host)
    attach(host, spec, at=1.0)
    after = tree(tmp_path)
    assert not attach(host, spec, at=2.0).changed
    assert tree(tmp_path) == after


def test_HO1_a_dry_run_changes_nothing_and_shows_the_difference(tmp_path, host):
    spec = spec_of(tmp_path)
    put(tmp_path, host)
    before = tree(tmp_path)
    done = attach(host, spec, at=1.0, dry_run=True)
    assert tree(tmp_path) == before
    assert list(manifests(spec.home)) == []
    diff = "".join(change.diff() for change in done.changes)
    assert "+" in diff
    assert "hook_client.py" in diff or "opencode_plugin.js" in diff
    removed = [line for line in diff.splitlines() if line.startswith("-") and not line.startswith("---")]
    kept = [line[1:].rstrip(",") for line in removed]
    added = [line[1:].rstrip(",") for line in diff.splitlines() if line.startswith("+")]
    if host in ("claude-code", "codex"):  # the other examples are changed within a line
        assert all(line in added for line in kept), "a line may get a comma; nothing else of the user's changes"


def test_HO1_what_the_user_had_is_still_there(tmp_path):
    spec = spec_of(tmp_path)
    for host in SETTINGS:
        put(tmp_path, host)
        attach(host, spec, at=1.0)
    claude = json.loads((tmp_path / SETTINGS["claude-code"]).read_text())
    assert claude["model"] == "opus"
    assert claude["hooks"]["PreToolUse"][0]["hooks"][0]["command"] == "mine.sh"
    assert len(claude["hooks"]["PreToolUse"]) == 3
    gemini = json.loads((tmp_path / SETTINGS["gemini"]).read_text())
    assert [group["hooks"][0]["name"] for group in gemini["hooks"]["BeforeTool"]] == ["m", "holdfast"]
    codex = tomllib.loads((tmp_path / SETTINGS["codex"]).read_text())
    assert codex["features"] == {"plugins": False, "unified_exec_tty": False}
    assert set(codex["mcp_servers"]) == {"other", "holdfast"}
    opencode = (tmp_path / SETTINGS["opencode"]).read_text()
    assert "// mine" in opencode
    assert "/* more */" in opencode


def test_HO1_a_file_changed_since_loses_only_our_entries(tmp_path):
    spec = spec_of(tmp_path)
    for host in SETTINGS:
        path = put(tmp_path, host)
        attach(host, spec, at=1.0)
        text = path.read_bytes().decode()
        match host:
            case "codex":
                changed = text.replace('model = "x"', 'model = "changed"') + '\n[extra]\nkey = "later"\n'
                wanted = THEIRS[host].replace('model = "x"', 'model = "changed"') + '\n[extra]\nkey = "later"\n'
            case "claude-code":
                changed = text.replace("opus", "changed")
                wanted = THEIRS[host].replace("opus", "changed")
            case _:
                changed = text.replace("mine", "changed")
                wanted = THEIRS[host].replace("mine", "changed")
        path.write_bytes(changed.encode())
        detach(host, spec)
        left = path.read_bytes().decode()
        assert left == wanted, host


def test_HO1_a_hook_that_the_user_put_beside_ours_stays(tmp_path):
    spec = spec_of(tmp_path)
    path = put(tmp_path, "claude-code", "{}\n")
    attach("claude-code", spec, at=1.0)
    data = json.loads(path.read_text())
    data["hooks"]["Stop"][0]["hooks"].insert(0, {"type": "command", "command": "theirs"})
    path.write_text(json.dumps(data, indent=1))
    detach("claude-code", spec)
    assert json.loads(path.read_text()) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}


def test_HO1_an_agent_that_the_user_has_changed_stays(tmp_path):
    spec = spec_of(tmp_path)
    attach("claude-code", spec, at=1.0, force=True)
    agent = tmp_path / ".claude" / "agents" / "memory-reader.md"
    mine = agent.read_text().replace("You change nothing.", "You sing.")
    agent.write_text(mine)
    notes = {change.path.name: change.note for change in detach("claude-code", spec, dry_run=True).changes}
    assert "stays" in notes["memory-reader.md"]
    assert not attach("claude-code", spec, at=2.0).changed, "an attach does not take it back either"
    detach("claude-code", spec)
    assert agent.read_text() == mine
    assert not (tmp_path / ".claude" / "agents" / "memory-bank-writer.md").exists()


def test_a_moved_port_is_written_anew_and_the_way_back_stays_the_first(tmp_path):
    put(tmp_path, "claude-code")
    before = tree(tmp_path)
    attach("claude-code", spec_of(tmp_path), at=1.0)
    moved = spec_of(tmp_path, port=23999)
    assert attach("claude-code", moved, at=2.0).changed
    text = (tmp_path / SETTINGS["claude-code"]).read_text()
    assert "23999" in text
    assert "23456" not in text
    assert "mine.sh" in text
    detach("claude-code", moved)
    assert tree(tmp_path) == before


def test_a_file_with_our_token_is_private_while_it_holds_it(tmp_path):
    spec = spec_of(tmp_path)
    path = put(tmp_path, "claude-code")
    path.chmod(0o644)
    attach("claude-code", spec, at=1.0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    detach("claude-code", spec)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_HO1_a_linked_settings_file_stays_a_link_and_the_token_in_it_is_mentioned(tmp_path):
    spec = spec_of(tmp_path)
    path = put(tmp_path, "claude-code")
    shared = tmp_path / "dotfiles" / "claude.json"
    shared.parent.mkdir()
    path.rename(shared)
    path.symlink_to(shared)
    done = attach("claude-code", spec, at=1.0)
    assert path.is_symlink()
    assert any(str(shared) in remark for remark in done.remarks)
    detach("claude-code", spec)
    assert path.is_symlink()
    assert shared.read_text() == THEIRS["claude-code"]


def test_PE10_no_agent_may_read_or_change_a_file_with_our_token(tmp_path):
    from holdfast.control import Control
    from holdfast.policies.hard_limits import HardLimitsPolicy

    spec = spec_of(tmp_path, scope="project")
    control = Control.open(spec.home)
    try:
        path = spec.vault / ".claude" / "settings.local.json"
        attach("claude-code", spec, at=1.0, force=True)
        limits = next(policy for policy in control.in_force().policies if isinstance(policy, HardLimitsPolicy))
        for tool, arguments in (("read", {"path": str(path)}), ("bash", {"command": f"cat {path}"})):
            call = control.examine(ToolCall("1", tool, arguments, cwd=str(spec.vault)), str(spec.vault))
            assert list(limits._self_protection.judge(call)), tool
    finally:
        control.close()


def test_HO1_a_name_that_is_taken_is_said_and_nothing_is_changed(tmp_path):
    spec = spec_of(tmp_path)
    put(tmp_path, "gemini", '{"mcpServers": {"holdfast": {"command": "something else"}}}')
    before = tree(tmp_path)
    with pytest.raises(AttachError, match=r"mcpServers\.holdfast is used for something else"):
        attach("gemini", spec, at=1.0)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("text", ["{", "[1]", '{"hooks": 7}', '{"hooks": {"BeforeTool": {}}}'])
def test_HO1_settings_that_cannot_be_read_are_left_alone(tmp_path, text):
    put(tmp_path, "gemini", text)
    before = tree(tmp_path)
    with pytest.raises(AttachError, match=r"settings\.json"):
        attach("gemini", spec_of(tmp_path), at=1.0)
    assert tree(tmp_path) == before


def test_HO1_a_read_only_file_changes_nothing_at_all(tmp_path):
    spec = spec_of(tmp_path)
    path = put(tmp_path, "claude-code")
    other = tmp_path / ".claude.json"
    other.write_text("{}")
    other.chmod(0o400)
    before = tree(tmp_path)
    with pytest.raises(AttachError, match="nothing was changed"):
        attach("claude-code", spec, at=1.0)
    assert tree(tmp_path) == before
    assert list(manifests(spec.home)) == []
    assert path.exists()


def test_a_host_that_is_not_there_is_said(tmp_path, host):
    with pytest.raises(AttachError, match="not in PATH"):
        attach(host, spec_of(tmp_path), at=1.0)


def test_a_dry_run_shows_what_would_be_written_though_the_host_is_not_there(tmp_path, host):
    spec = spec_of(tmp_path)
    shown = attach(host, spec, at=1.0, dry_run=True)
    assert shown.changed
    assert any("not in PATH" in remark for remark in shown.remarks)
    assert not [change for change in shown.changes if change.path.exists()]


def test_detach_of_what_is_not_attached_says_so(tmp_path, host):
    with pytest.raises(AttachError, match="is not attached"):
        detach(host, spec_of(tmp_path))


def test_the_list_names_every_host(tmp_path):
    spec = spec_of(tmp_path)
    attach("codex", spec, at=1.0, force=True)
    assert {host: found is not None for host, found in attached(spec)} == {host: host == "codex" for host in INSTALLERS}


def test_codex_trust_is_computed_as_codex_does_it():
    """Two hashes that `hooks/list` of Codex 0.166.0 reported."""
    plain = {"type": "command", "command": "/bin/true", "timeout": 10}
    assert trusted_hash("pre_tool_use", None, plain) == (
        "sha256:c087ff0e50465a7ec5c7d7a19dfc18c0253a9c3526e6bf9a52a52018e8ba53b4"
    )
    assert trusted_hash("session_start", "x", {"type": "command", "command": "/bin/true a"}) == (
        "sha256:9072f1f3c9f22fd606a8433eab761a6df224ef133580fdd08bcbb71f70d8ce41"
    )


def test_codex_trust_counts_the_users_own_hooks(tmp_path):
    spec = spec_of(tmp_path)
    put(tmp_path, "codex", "")
    mine = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "mine"}]}]}}
    (tmp_path / ".codex" / "hooks.json").write_text(json.dumps(mine))
    attach("codex", spec, at=1.0)
    states = tomllib.loads((tmp_path / ".codex" / "config.toml").read_text())["hooks"]["state"]
    names = [key.removeprefix(str(tmp_path / ".codex" / "hooks.json")) for key in states]
    assert ":pre_tool_use:1:0" in names
    assert ":pre_tool_use:0:0" not in names, "what is not ours is the user's to trust"


FEATURES = [
    "[features]\nplugins = false\n",
    "[features]",
    "features.plugins = false\n",
    "[features]\nunified_exec_tty = true\nplugins = false\n",
    "features.unified_exec_tty = true\n",
    "[features]\nunified_exec_tty = true # (I like it)\nplugins = false\n",
    "[features]\nunified_exec_tty = false\n",
    "",
    "model = 'x'",
]


@pytest.mark.parametrize("text", FEATURES)
def test_one_key_of_a_table_is_set_and_taken_back(tmp_path, text):
    spec = spec_of(tmp_path)
    path = put(tmp_path, "codex", text)
    attach("codex", spec, at=1.0)
    assert tomllib.loads(path.read_text())["features"]["unified_exec_tty"] is False
    with path.open("a") as file:
        file.write("\n# touched\n")
    detach("codex", spec)
    assert path.read_text().replace("\n# touched\n", "").rstrip("\n") == text.rstrip("\n")


def test_HO1_attaching_again_without_the_server_takes_it_out(tmp_path, host):
    spec = spec_of(tmp_path)
    put(tmp_path, host)
    (tmp_path / ".claude.json").write_text('{"mine": 1}')
    before = tree(tmp_path)
    attach(host, spec, at=1.0, force=True)
    assert any(b'"mcp"' in data for data in tree(tmp_path).values()), "the command of our server"
    done = attach(host, replace(spec, with_server=False), at=2.0)
    assert done.changed
    assert not any(b'"mcp"]' in data.replace(b" ", b"") for data in tree(tmp_path).values())
    assert not attach(host, replace(spec, with_server=False), at=3.0).changed
    detach(host, spec)
    assert tree(tmp_path) == before


MOVED = {
    "claude-code": "CLAUDE_CONFIG_DIR",
    "codex": "CODEX_HOME",
    "gemini": "GEMINI_CLI_HOME",
    "opencode": "XDG_CONFIG_HOME",
}


@pytest.mark.parametrize("touched", [False, True])
def test_HO1_detach_finds_our_entries_where_the_settings_lay_before(tmp_path, host, touched):
    """Attached, then again where a variable has moved the settings: one detach takes out both."""
    spec = spec_of(tmp_path)
    path = put(tmp_path, host)
    before = tree(tmp_path)
    attach(host, spec, at=1.0, force=True)
    if touched:
        path.write_bytes(path.read_bytes() + b"\n")
    elsewhere = {**spec.environ, MOVED[host]: str(tmp_path / "moved")}
    attach(host, replace(spec, environ=elsewhere), at=2.0, force=True)
    assert any(name.startswith("moved") for name in tree(tmp_path))
    detach(host, replace(spec, environ=elsewhere))
    left = {name: data.rstrip() for name, data in tree(tmp_path).items()}
    assert left == {name: data.rstrip() for name, data in before.items()}


@st.composite
def users_settings(draw):
    """Settings as a user may have written them, with or without the places where our entries go."""
    value = draw(st.dictionaries(st.sampled_from(["a", "键", "x y"]), values, max_size=2))
    if draw(st.booleans()):
        value["plugin"] = draw(st.lists(st.sampled_from(["mine", "other"]), max_size=2))
    if draw(st.booleans()):
        value["mcp"] = draw(st.dictionaries(st.sampled_from(["s1", "s2"]), st.just({"type": "local"}), max_size=2))
    members = draw(st.permutations(list(value.items())))
    return draw(written(dict(members), draw(newlines)))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=users_settings())
def test_HO1_any_settings_of_a_user_come_back(text):
    """Whatever stands there: attach keeps it, and detach gives it back, also after the user has touched the file."""
    wanted = JsonFile(
        Path("opencode.json"),
        (
            ListItem(("plugin",), ["file:///holdfast/hosts/opencode_plugin.js", {"socket": "s"}]),
            Server(("mcp", "holdfast"), {"type": "local", "command": ["p", "-m", "holdfast", "mcp"]}),
        ),
    )
    theirs = parse(text).value
    after = wanted.applied(text)
    data = parse(after).value
    assert data["plugin"][:-1] == theirs.get("plugin", [])
    assert {name: server for name, server in data["mcp"].items() if name != "holdfast"} == theirs.get("mcp", {})
    assert {key: part for key, part in data.items() if key not in ("plugin", "mcp")} == {
        key: part for key, part in theirs.items() if key not in ("plugin", "mcp")
    }
    assert wanted.applied(after) == after
    touched = "// touched\n" + after.lstrip("\ufeff")
    assert parse(wanted.stripped(touched, text)).value == theirs
