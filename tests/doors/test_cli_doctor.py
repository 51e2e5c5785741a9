"""`holdfast doctor`: each finding with its fix, and an exit code that a script can use."""

import sqlite3

import pytest

from holdfast.core.health import Health
from holdfast.doors.cli_doctor import all_checks, examine
from holdfast.doors.doctor_machine import check_sandbox
from holdfast.runtime.sandbox import detect
from holdfast.store.config_file import Inline
from holdfast.store.health import Check, Patient
from holdfast.store.home import Home
from holdfast.store.interface import Change, Session
from holdfast.store.sqlite import SqliteStore
from holdfast.testing.builders import session_id
from latin import english_in, is_chinese

OWN = ("python", "home", "config", "store", "audit")


def findings(holdfast, *names):
    ran = holdfast("doctor", *(names or OWN), "--json")
    data = ran.data()
    assert ran.code == (0 if data["healthy"] else 1)
    for finding in data["findings"]:
        assert finding["level"] == "ok" or finding["fix"]
    return {(finding["check"], finding["level"]): finding for finding in data["findings"]}


def test_a_fresh_home_is_healthy(holdfast):
    assert ("home", "warning") in findings(holdfast)
    holdfast("init")
    assert {level for _, level in findings(holdfast)} == {"ok"}


def test_HO2_an_open_home_is_a_problem_with_its_fix(holdfast):
    holdfast("init")
    holdfast.home.chmod(0o755)
    assert findings(holdfast)["home", "problem"]["fix"] == f"run: chmod 700 {holdfast.home}"


def test_HO2_a_broken_configuration_names_its_place(holdfast):
    holdfast("init")
    holdfast.config.write_text("{")
    assert f"{holdfast.config}:1:2" in findings(holdfast)["config", "problem"]["what"]


def test_HO2_a_configuration_that_others_can_write_is_a_problem(holdfast):
    holdfast("init")
    holdfast.config.chmod(0o666)
    assert findings(holdfast)["config", "problem"]["fix"] == f"run: chmod go-w {holdfast.config}"


def test_HO2_broken_agents_and_open_credentials_are_found(holdfast):
    holdfast("init")
    (holdfast.home / "agents" / "x.md").write_text("---\n{\n---\n")
    (holdfast.home / "credentials").write_text("KEY=secret-value\n")
    (holdfast.home / "credentials").chmod(0o644)
    found = findings(holdfast)
    assert ("agents", "problem") in found
    assert "secret-value" not in str(found["credentials", "problem"])


@pytest.fixture
def database(holdfast):
    holdfast("init")
    path = holdfast.home / "data" / "holdfast.db"
    store = SqliteStore(path, audit_dir=holdfast.home / "logs" / "agent-audit")
    where = session_id()
    store.open_session(Session(where, "claude-code", "/v", 1.0))
    store.commit(Change(where, audit=({"eventId": "e1", "sessionId": "s1", "decision": "deny"},)))
    store.close()
    return path


def test_HO2_a_sound_store_and_audit(holdfast, database):
    found = findings(holdfast)
    assert found["audit", "ok"]["what"] == "1 entries in 1 files, all as they were written"
    assert ("store", "ok") in found


def test_HO2_a_store_of_a_newer_program_is_a_problem(holdfast, database):
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert "newer Holdfast" in findings(holdfast)["store", "problem"]["what"]


def test_HO2_a_damaged_store_is_a_problem(holdfast, database):
    for path in database.parent.glob("holdfast.db*"):
        path.unlink()
    database.write_bytes(b"not a database, by no means one at all" * 100)
    assert "cannot be read" in findings(holdfast)["store", "problem"]["what"]


def test_AU2_a_touched_audit_is_a_problem(holdfast, database):
    (file,) = (holdfast.home / "logs" / "agent-audit").glob("*.jsonl")
    file.write_text("")
    assert ("audit", "problem") in findings(holdfast)


@pytest.fixture
def other_path():
    """Sets PATH for one look at the machine; what was found under it is forgotten again."""
    with pytest.MonkeyPatch.context() as patch:
        yield lambda path: patch.setenv("PATH", path)
    detect(again=True)


def test_PE12_without_the_best_sandbox_the_doctor_says_so(tmp_path, other_path):
    other_path(str(tmp_path))
    (finding,) = check_sandbox(Patient(Home(tmp_path), Inline({})))
    assert finding.level == "warning"
    assert "not installed" in finding.what.text()
    assert finding.fix


def test_PE12_a_sandbox_that_does_not_work_is_a_warning(tmp_path, other_path):
    for name in ("bwrap", "sandbox-exec"):
        (tmp_path / name).write_text("#!/bin/sh\necho no namespaces here >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    other_path(f"{tmp_path}:/bin:/usr/bin")
    (finding,) = check_sandbox(Patient(Home(tmp_path), Inline({})))
    assert finding.level == "warning"
    assert "no namespaces here" in finding.what.text()


def test_a_check_that_fails_is_a_finding_and_not_the_end(tmp_path):
    def broken(patient):
        raise RuntimeError("no luck")

    fine = Check("fine", lambda patient: [Health("fine", "ok", "yes")])
    found = list(examine([Check("broken", broken), fine], Patient(Home(tmp_path), Inline({}))))
    assert [(finding.check, finding.level) for finding in found] == [("broken", "problem"), ("fine", "ok")]


def test_an_unknown_check_is_refused_with_the_list(holdfast):
    ran = holdfast("doctor", "nope")
    assert ran.code == 2
    assert "there are: python, sandbox, home, config, store, audit" in ran.err


def test_checks_have_different_names():
    names = [check.name for check in all_checks()]
    assert len(set(names)) == len(names)


def test_a_finding_without_a_fix_cannot_be_made():
    with pytest.raises(ValueError, match="needs a fix"):
        Health("x", "problem", "bad")


def test_the_doctor_speaks_the_language_of_the_settings(holdfast):
    holdfast("init")
    holdfast.home.chmod(0o755)
    english = holdfast("doctor", "home")
    assert "PROBLEM  home:" in english.out
    assert "is open to others" in english.out
    chinese = holdfast("--set", "language=zh", "doctor", "home")
    assert f"问题     home: {holdfast.home} 对他人开放" in chinese.out
    assert f"运行：`chmod 700 {holdfast.home}`" in chinese.out
    assert not [line for line in chinese.out.splitlines() if english_in(line)]


def test_a_broken_configuration_is_told_in_the_language_of_the_environment(holdfast):
    holdfast("init")
    holdfast.config.write_text('{ "agents": { "runtime": { "language": "french" } } }')
    assert "expected one of 'auto', 'en', 'zh', got 'french'" in holdfast("doctor", "config").out


def test_json_holds_texts_in_english_and_messages_with_their_codes(holdfast):
    holdfast("init")
    holdfast.home.chmod(0o755)
    found = findings(holdfast, "home")["home", "problem"]
    assert found["what"] == found["said"]["en"]
    assert (found["said"]["code"], found["said"]["params"]["path"]) == ("doctor.open_home", str(holdfast.home))
    assert (found["next"]["code"], found["next"]["en"]) == ("doctor.run", found["fix"])
    assert is_chinese(found["said"]["zh"])
