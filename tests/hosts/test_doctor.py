"""What the doctor finds in a host that is attached, and that each finding says how to mend it (HO2)."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from holdfast.doors.doctor_daemon import check_daemon, check_orders
from holdfast.hosts.attach.service import INSTALLERS, attach
from holdfast.hosts.doctor import examine
from holdfast.hosts.registry import HOSTS
from holdfast.hosts.seen import Seen
from holdfast.store.config_file import Inline
from holdfast.store.health import Patient
from holdfast.store.orders import Orders
from holdfast.store.sqlite import SqliteStore
from hosts.test_attach import SETTINGS, spec_of


class Attached:
    """A host in a home of its own, with a program that only tells its version."""

    def __init__(self, folder, host, *, version=None, **changes):
        self.host = host
        self.folder = folder
        self.installer = INSTALLERS[host]
        tools = folder / "bin"
        tools.mkdir(parents=True)
        program = tools / self.installer.program
        program.write_text(f"#!/bin/sh\necho '{self.installer.program} {version or self.installer.tested}'\n")
        program.chmod(0o755)
        self.environ = {"PATH": f"{tools}:/usr/bin:/bin"}
        self.spec = replace(spec_of(folder), environ=self.environ, names_home=False, **changes)
        (self.spec.home.run / "token").write_text(self.spec.token)
        (self.spec.home.run / "port").write_text(str(self.spec.port))
        attach(host, self.spec, at=changes.get("at", time.time()), force=True)

    def settings(self, path):
        return self.folder / path

    def findings(self, *levels):
        patient = Patient(self.spec.home, Inline(environ={}), self.spec.vault)
        found = list(examine(self.installer, patient, self.environ, self.folder))
        assert all(finding.fix for finding in found if finding.level != "ok")
        return [finding for finding in found if not levels or finding.level in levels]

    def problems(self):
        return " | ".join(finding.what.text() for finding in self.findings("problem"))


def test_HO2_a_host_that_is_well_attached_has_no_problem(tmp_path, host):
    it = Attached(tmp_path, host)
    assert it.problems() == ""
    said = " | ".join(finding.what.text() for finding in it.findings("ok"))
    assert "the version that was tested" in said
    for note in HOSTS[host].capabilities.notes:
        assert note.en in said, "the holes that cannot be closed are named"
    assert any(finding.check == f"{host} sandbox" for finding in it.findings()), "PE12"


def test_HO2_a_host_that_is_not_attached_is_no_fault(tmp_path, host):
    patient = Patient(spec_of(tmp_path).home, Inline(environ={}))
    (finding,) = examine(INSTALLERS[host], patient, {"PATH": "/nowhere"}, tmp_path)
    assert finding.level == "ok"
    assert f"holdfast attach {host}" in finding.what.text()


@pytest.mark.parametrize(("version", "word"), [("99.0.0", "newer"), ("0.0.1", "older")])
def test_HO2_another_version_than_the_tested_one_is_a_warning(tmp_path, host, version, word):
    (finding,) = Attached(tmp_path, host, version=version).findings("warning")
    assert f"is {word} than" in finding.what.text()


def test_HO2_entries_that_were_taken_out_are_a_problem(tmp_path, host):
    it = Attached(tmp_path, host)
    path = it.folder / SETTINGS[host]
    if host == "opencode":
        path = path.with_suffix(".json")
    path.write_text("" if host == "codex" else "{}")
    assert "lacks entries of ours" in it.problems()


def test_HO2_a_file_that_is_gone_is_a_problem(tmp_path, host):
    it = Attached(tmp_path, host)
    next(path for path in it.folder.rglob("SKILL.md")).unlink()
    assert "is gone" in it.problems()


@pytest.mark.parametrize("place", [".claude/settings.json", "vault/.claude/settings.local.json"])
def test_HO2_hooks_that_are_switched_off_are_found(tmp_path, place):
    it = Attached(tmp_path, "claude-code")
    path = it.folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    data = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**data, "disableAllHooks": True}))
    assert "switches every hook off" in it.problems()


def test_HO2_gemini_hooks_that_are_switched_off_are_found(tmp_path):
    it = Attached(tmp_path, "gemini")
    path = it.folder / ".gemini" / "settings.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "hooksConfig": {"disabled": ["holdfast"]}}))
    assert "switches Holdfast's hooks off" in it.problems()
    path.write_text(json.dumps({**data, "hooksConfig": {"enabled": False}}))
    assert "switches hooks off" in it.problems()


def test_HO2_codex_trust_that_is_missing_is_found(tmp_path):
    it = Attached(tmp_path, "codex")
    path = it.folder / ".codex" / "config.toml"
    text = path.read_text()
    path.write_text(text.replace("sha256:", "sha256:0"))
    assert "not trusted" in it.problems()
    path.write_text(text.replace("unified_exec_tty = false", "unified_exec_tty = true"))
    assert "typed into" in it.problems()
    path.write_text(text.replace("[features]", "[features]\nhooks = false"))
    assert "switches hooks off" in it.problems()


def test_HO2_opencode_without_plugins_is_found(tmp_path):
    it = Attached(tmp_path, "opencode")
    it.environ["OPENCODE_PURE"] = "1"
    assert "no plugin is loaded" in it.problems()


@pytest.mark.parametrize(
    ("host", "place", "key"),
    [("claude-code", ".mcp.json", "mcpServers"), ("gemini", ".gemini/settings.json", "mcpServers"),
     ("opencode", "opencode.json", "mcp")],
)  # fmt: skip
def test_HO2_a_server_that_bears_our_name_is_found(tmp_path, host, place, key):
    it = Attached(tmp_path, host)
    path = it.spec.vault / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({key: {"holdfast": {"command": "evil"}}}))
    assert "brings an MCP server of its own" in it.problems()


def test_HO2_a_daemon_elsewhere_is_a_problem(tmp_path):
    it = Attached(tmp_path, "claude-code")
    (it.spec.home.run / "port").write_text("29999")
    assert "listens on 29999" in it.problems()


def test_HO2_a_longer_wait_than_the_host_was_told_is_a_warning(tmp_path, host):
    it = Attached(tmp_path, host)
    it.spec.home.config.write_text('{ "agents": { "runtime": { "permission": { "approvalTimeoutSeconds": 3000 } } } }')
    (finding,) = it.findings("warning")
    assert "questions may wait 3000 s" in finding.what.text()


def test_HO2_when_a_host_was_last_heard_of(tmp_path, host):
    it = Attached(tmp_path, host)
    assert any("not heard of yet" in finding.what.text() for finding in it.findings("ok"))
    store = SqliteStore(it.spec.home.database, audit_dir=it.spec.home.audit)
    Seen(store, time.time)(host)
    store.close()
    assert any("last heard of" in finding.what.text() for finding in it.findings("ok"))


def test_HO2_the_daemon_and_the_orders(tmp_path):
    patient = Patient(spec_of(tmp_path).home, Inline(environ={}))
    (finding,) = check_daemon(patient)
    assert finding.level == "ok"
    assert list(check_orders(patient)) == []
    Orders(patient.home).panic()
    Orders(patient.home).pause("codex", time.time() + 600)
    assert [finding.level for finding in check_orders(patient)] == ["warning", "warning"]


@pytest.mark.parametrize(
    ("host", "variable", "value"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "elsewhere"),
        ("codex", "CODEX_HOME", "elsewhere"),
        ("gemini", "GEMINI_CLI_HOME", "elsewhere"),
        ("opencode", "XDG_CONFIG_HOME", "elsewhere"),
    ],
)
def test_HO2_settings_that_a_variable_has_moved_are_a_problem(tmp_path, host, variable, value):
    it = Attached(tmp_path, host)
    it.environ[variable] = str(tmp_path / value)
    assert "where nothing of ours is" in it.problems()


def test_HO2_a_variable_that_switches_claude_codes_hooks_off_is_found(tmp_path):
    it = Attached(tmp_path, "claude-code")
    it.environ["CLAUDE_CODE_SIMPLE"] = "1"
    assert "no hook is called" in it.problems()


@pytest.mark.parametrize("by", ["variable", "settings"])
def test_HO2_geminis_container_has_no_hooks_in_it(tmp_path, by):
    it = Attached(tmp_path, "gemini")
    if by == "variable":
        it.environ["GEMINI_SANDBOX"] = "docker"
    else:
        path = it.settings(SETTINGS["gemini"])
        path.write_text(json.dumps({**json.loads(path.read_text()), "tools": {"sandbox": "podman"}}))
    assert "no call is judged there" in it.problems()
