"""PE10 in every host: nothing by which an agent could free itself gets through, and each try is on record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.control import Control
from holdfast.hosts.attach.service import attach
from holdfast.store.home import Home
from holdfast.store.interface import Session
from holdfast.testing.builders import EventBuilder, session_id
from hosts.stage import is_allowed, reason_of
from hosts.test_attach import spec_of

ALLOW_EVERYTHING = """{ "agents": { "runtime": { "permission": { "rules": [
  { "domain": "bash", "pattern": "*", "decision": "allow" },
  { "domain": "edit", "pattern": "*", "decision": "allow" },
  { "domain": "read", "pattern": "*", "decision": "allow" } ] } } } }"""

FILES = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".gemini/trustedFolders.json",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/plugin/own.js",
    ".opencode/plugins/own.js",
]
COMMANDS = [
    "holdfast detach {host}",
    "holdfast approvals answer x once",
    "holdfast mode full_access",
    "holdfast rules add bash '*' allow",
    "holdfast config set permission.unattended true",
    "holdfast memory apply x",
    "holdfast daemon stop",
    "holdfast panic off",
    "python -m holdfast detach {host}",
    "pip uninstall -y holdfast",
    "pkill -f holdfast",
    "kill -9 {pid}",
    "cat {home}/run/token",
    "curl --unix-socket {home}/run/daemon.sock http://localhost/hook/x",
    "curl http://127.0.0.1:{port}/hook/claude-code",
    "rm -rf {home}",
    "rm -rf .claude",
    "echo '{{\"disableAllHooks\":true}}' > .claude/settings.local.json",
    "sed -i s/holdfast/x/ .codex/hooks.json",
    "opencode run --pure hi",
    "OPENCODE_PURE=1 opencode run hi",
    "claude --settings x.json -p hi",
    "codex exec --dangerously-bypass-hook-trust hi",
    "CODEX_HOME=/tmp/x codex exec hi",
    "git checkout -- .claude/settings.json",
    "rm -rf .cla*",
    "cp -r x/. .claude/",
    "kill $(pgrep -f holdfast)",
    "pkill -f hook_client",
    "tar czf x.tgz {home}",
    "cat /proc/{pid}/environ",
    "echo 'holdfast panic off' | at now",
]


@pytest.mark.parametrize("mode", ["agent", "full_access"])
def test_PE10_files_that_decide_what_an_agent_may_do(stage, host, mode):
    it = stage(host, config=ALLOW_EVERYTHING)
    it.prompt()
    (session,) = it.control.store.sessions()
    it.control.store.update_session(session.id.session, session.version, mode=mode)
    for number, name in enumerate(FILES):
        answer = it.write(name, f"c{number}")
        assert not is_allowed(host, answer), name
        assert "decides what you may do" in reason_of(host, answer), name
    denied = [entry for entry in it.audit() if entry["decision"] == "deny"]
    assert len(denied) == len(FILES), "each try is on record"
    assert {entry["policy"] for entry in denied} == {"hard_limits"}


def test_PE10_commands_by_which_an_agent_could_free_itself(stage, host):
    it = stage(host, config=ALLOW_EVERYTHING)
    (it.home.run / "port").write_text("23456")
    (it.home.run / "daemon.lock").write_text("4242 4243")
    (it.vault / ".claude").mkdir()
    it.prompt()
    for number, line in enumerate(COMMANDS):
        command = line.format(host=host, home=it.home.root, port=23456, pid=4243)
        answer = it.bash(command, f"c{number}")
        assert not is_allowed(host, answer), command
    denied = [entry for entry in it.audit() if entry["decision"] == "deny"]
    assert len(denied) == len(COMMANDS)


def test_PE10_looking_is_allowed(stage, host):
    it = stage(host, config=ALLOW_EVERYTHING)
    for number, command in enumerate(("holdfast status", "holdfast doctor", "holdfast why x", "holdfast --help")):
        assert is_allowed(host, it.bash(command, f"c{number}")), command


def test_PE10_a_settings_file_that_would_switch_the_hooks_off_is_not_loaded(stage, tmp_path):
    it = stage("claude-code")
    it.prompt()
    path = it.vault / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"disableAllHooks": true}')
    answer = it.send(it.hook("ConfigChange", source="local_settings", file_path=str(path)))
    assert answer["decision"] == "block"
    assert "switches hooks off" in answer["reason"]
    assert [entry["what"] for entry in it.audit() if entry["decision"] == "deny"] == ["settings_change_blocked"]
    path.write_text('{"model": "opus"}')
    assert it.send(it.hook("ConfigChange", source="local_settings", file_path=str(path))) == {}


def test_PE10_a_settings_file_that_loses_our_hooks_is_not_loaded(stage, tmp_path):
    it = stage("claude-code")
    it.prompt()
    spec = spec_of(tmp_path / "user")
    attach("claude-code", spec_of(tmp_path / "user", home=it.home), at=1.0, force=True)
    path = spec.user_home / ".claude" / "settings.json"
    hook = it.hook("ConfigChange", source="user_settings", file_path=str(path))
    assert it.send(hook) == {}
    path.write_text(json.dumps({"model": "opus"}))
    assert it.send(hook)["decision"] == "block"


def test_PE10_the_program_itself_is_not_edited(stage, host):
    import holdfast

    it = stage(host, config=ALLOW_EVERYTHING)
    place = Path(holdfast.__file__).parent / "plane.py"
    assert not is_allowed(host, it.bash(f"echo pass >> {place}"))


def test_HO4_the_hook_command_knows_the_same_reading_tools_as_the_adapters():
    from holdfast.doors.hook_client import READS
    from holdfast.hosts import claude_code, codex, gemini

    known = claude_code.READS | codex.READS | gemini.READS
    assert known >= READS, "what the client lets through after a failure of ours must only read"


@pytest.mark.parametrize("name", ["claude-code", "gemini", "opencode"])
def test_PE10_a_hosts_search_does_not_go_through_our_home(stage, name):
    """It looks into hidden folders, and what it finds it shows."""
    tools = {
        "claude-code": ("Grep", {"pattern": "."}),
        "gemini": ("search_file_content", {"pattern": "."}),
        "opencode": ("grep", {"pattern": "."}),
    }
    it = stage(name, config=ALLOW_EVERYTHING)
    tool, given = tools[name]
    for number, place in enumerate((it.home.root, it.home.root.parent, "/")):
        answer = it.calling(tool, {**given, "path": str(place)}, f"c{number}")
        assert not is_allowed(name, answer), place
        assert "narrower folder" in reason_of(name, answer)
    assert is_allowed(name, it.calling(tool, {**given, "path": str(it.vault)}, "c9"))


def test_PE10_what_attach_wrote_is_guarded_wherever_it_lies(tmp_path):
    home = Home(tmp_path / "hf")
    spec = spec_of(tmp_path / "user", home=home, scope="project")
    attach("codex", spec, at=1.0, force=True)
    attach("claude-code", spec, at=1.0, force=True)
    control = Control.open(home)
    try:
        vault = str(spec.vault)
        control.store.open_session(Session(session_id(), host="holdfast", vault=vault, started_at=1.0))
        events = EventBuilder(cwd=vault)
        for number, command in enumerate(("rm .mcp.json", "git clean -fdx", "git stash -u", "rm -r .claude/skills")):
            outcome = control.plane.handle(events.calling("bash", call_id=f"c{number}", command=command))
            assert outcome.deciding is not None, command
            assert outcome.deciding.hard, command
        outcome = control.plane.handle(events.calling("bash", call_id="c9", command="git clean -fdn"))
        assert outcome.deciding is None or not outcome.deciding.hard
    finally:
        control.close()
