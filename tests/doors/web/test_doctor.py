"""Hosts and machine on the page, as `holdfast doctor` sees them."""

import json

from click.testing import CliRunner

from holdfast.doors.cli import cli


def test_UI1_the_doctors_findings_by_host_are_those_of_the_command(client, home, vault):
    told = client.get("/api/doctor").json()
    assert {one["host"] for one in told["hosts"]} == {"claude-code", "codex", "gemini", "opencode"}
    assert told["complete"] is True
    assert not any(one["attached"] for one in told["hosts"])
    asked = ["--home", str(home.root), "--vault", str(vault), "doctor", "--json"]
    ran = json.loads(CliRunner().invoke(cli, asked, prog_name="holdfast").stdout)
    here = {(f["check"], f["level"]) for one in told["hosts"] for f in one["findings"]}
    here |= {(f["check"], f["level"]) for f in told["findings"]}
    there = {(f["check"], f["level"]) for f in ran["findings"]}
    # What a busy machine may tell differently from one moment to the next.
    assert {one for one in here ^ there if one[0] not in ("sandbox", "disk")} == set()


def test_UI1_a_problem_has_its_fix(client, home):
    home.config.write_text("{ nonsense")
    told = client.get("/api/doctor", check="config").json()
    assert (told["healthy"], told["hosts"]) == (False, [])
    (problem,) = [finding for finding in told["findings"] if finding["level"] == "problem"]
    assert str(home.config) in problem["what"]["en"]
    assert problem["fix"]["zh"] != problem["fix"]["en"]


def test_UI1_one_host_alone_and_an_unknown_check(client):
    told = client.get("/api/doctor", check="codex").json()
    assert [one["host"] for one in told["hosts"]] == ["codex"]
    assert told["findings"] == []
    assert client.get("/api/doctor", check="nothing").status_code == 404
