"""The interface that the policies build on."""

from __future__ import annotations

import dataclasses
import json

import pytest

from holdfast.shell import CommandReading, read_command


def read(command: str, cwd: str | None = "/w") -> CommandReading:
    return read_command(command, cwd=cwd, home="/home/dev")


def effects(command: str, kind: str, cwd: str | None = "/w") -> list[str]:
    return [effect.target for effect in read(command, cwd).effects if effect.kind == kind]


def test_PE5_each_simple_command_is_seen_after_its_wrappers() -> None:
    reading = read("FOO=1 sudo -u bob env X=2 timeout 5 git -C sub status -s && ls | xargs rm")
    assert [c.name for c in reading.simple_commands] == ["git", "ls", "rm"]
    assert reading.simple_commands[0].via == ("sudo", "env", "timeout")
    assert reading.simple_commands[2].via == ("xargs",)
    assert reading.simple_commands[2].dynamic
    assert reading.compound


def test_PE5_text_is_as_one_writes_it_in_a_rule() -> None:
    reading = read("/usr/bin/git   'status'  -s")
    assert reading.simple_commands[0].text == "git status -s"
    assert reading.simple_commands[0].argv == ("/usr/bin/git", "status", "-s")
    assert not reading.compound


def test_PE5_the_span_points_into_the_text() -> None:
    command = "ls; rm x"
    reading = read(command)
    assert [command[slice(*c.span)] for c in reading.simple_commands] == ["ls", "rm x"]


def test_MB4_paths_are_absolute_and_follow_cd() -> None:
    assert effects("cd sub && echo x > ../y", "writes") == ["/w/y"]
    assert effects("(cd sub; touch a); touch b", "writes") == ["/w/sub/a", "/w/b"]
    assert effects("touch ~/x", "writes") == ["/home/dev/x"]
    assert effects("touch x", "writes", cwd=None) == ["x"]


def test_MB4_a_cd_that_may_fail_makes_paths_uncertain() -> None:
    sure = read("cd a && touch x")
    unsure = read("cd a; touch x")
    assert [e.certain for e in sure.effects if e.kind == "writes"] == [True]
    assert [e.certain for e in unsure.effects if e.kind == "writes"] == [False]


def test_MB4_an_unknown_variable_is_not_certain() -> None:
    (effect,) = [e for e in read('touch "$X/y"').effects if e.kind == "writes"]
    assert not effect.certain
    assert effect.target == "$X/y"


@pytest.mark.parametrize(
    ("command", "whole"),
    [("cat f", True), ("nl f", True), ("head f", False), ("grep x f", False), ("sed -n 1p f", False), ("less f", True)],
)
def test_MB2_printing_the_whole_file_is_told_apart(command: str, whole: bool) -> None:
    (effect,) = [e for e in read(command).effects if e.kind == "reads"]
    assert effect.target == "/w/f"
    assert effect.whole is whole
    assert effect.path


@pytest.mark.parametrize(
    ("command", "detail"),
    [
        ("git push origin main", "git push"),
        ("gh pr merge 3", "merge"),
        ("npm publish", "publish"),
        ("docker push x", "publish"),
        ("kubectl apply -f x.yml", "kubernetes"),
        ("terraform apply", "cloud"),
        ("psql -c 'update t set a=1 where b=2'", "database"),
        ("docker rm x", "container"),
        ("fly deploy", "deploy"),
    ],
)
def test_MB3_state_outside_the_vault_is_an_effect_of_its_own(command: str, detail: str) -> None:
    assert detail in [e.detail for e in read(command).effects if e.kind == "external_state"]


def test_PE5_a_list_of_places_for_find_is_read_too() -> None:
    assert effects("find -files0-from /etc/shadow -print", "reads") == ["/w", "/etc/shadow"]


def test_PE5_other_effects_have_their_kinds() -> None:
    assert effects("chmod +x a", "changes_permissions") == ["/w/a"]
    assert "requests" in effects("pip install requests", "installs")
    assert effects("curl https://example.com/x", "network") == ["https://example.com/x"]
    assert [e.kind for e in read("git commit -m x").effects] == ["git_history"]
    assert effects("./build.sh", "runs") == ["/w/build.sh"]


@pytest.mark.parametrize(
    "command",
    [
        "./script.sh",
        "bash x.sh",
        "$CMD",
        "$(cat f)",
        'eval "$X"',
        "some-tool --x",
        "source env.sh",
        "python x.py",
        "make",
        "find -files0-from places -delete",
    ],
)
def test_PE5_unknown_is_never_safe(command: str) -> None:
    reading = read(command)
    assert reading.unknown
    assert reading.unknown_why
    assert reading.risk != "safe"
    assert not reading.read_only


def test_PE5_a_script_written_here_is_read_through() -> None:
    reading = read("echo 'rm -rf /' > go.sh; bash go.sh")
    assert "/" in [e.target for e in reading.effects if e.kind == "deletes"]
    assert reading.risk == "dangerous"


def test_PE5_a_remote_command_is_not_on_our_paths() -> None:
    (effect,) = [e for e in read("ssh web 'rm /srv/x'").effects if e.kind == "deletes"]
    assert effect.target == "ssh:web:/srv/x"
    assert not effect.path


def test_PE5_broken_text_is_unknown_and_still_looked_through() -> None:
    reading = read("rm -rf / 'unclosed")
    assert reading.has_error
    assert reading.unknown
    assert reading.risk == "dangerous"


def test_PE5_nothing_runs() -> None:
    for command in ("", "   ", "# only a comment", "\n\n"):
        reading = read(command)
        assert (reading.risk, reading.simple_commands, reading.effects) == ("safe", (), ())


def test_PE5_the_reading_is_data() -> None:
    reading = read("cat a > b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        reading.risk = "safe"  # type: ignore[misc]
    line = json.loads(json.dumps(reading.to_dict()))
    assert {"command", "risk", "read_only", "unknown", "effects", "reason"} <= set(line)
    assert line["effects"][0]["kind"] in ("reads", "writes")


def test_PE5_the_reason_has_a_code_to_translate_by() -> None:
    reading = read("rm -rf src")
    assert reading.reason_code == "deletes_tree"
    assert reading.reason_params == {"target": "/w/src"}
    assert "/w/src" in reading.reason


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("rm -rf /tmp/build", "caution"),
        ("rm -rf /tmp/../etc", "dangerous"),
        ("rm -rf ./build", "dangerous"),
        ("rm file", "caution"),
        ("rm -f /etc/passwd", "dangerous"),
        ("cd /tmp/x && rm -rf *", "caution"),
        ("cd /tmp/x; rm -rf *", "dangerous"),
        ("git checkout main", "caution"),
        ("git checkout -- .", "dangerous"),
        ("git restore f", "dangerous"),
        ("git restore --staged f", "caution"),
        ("git push --force-with-lease", "caution"),
        ("git push origin +main", "dangerous"),
        ("git push origin :main", "dangerous"),
        ("find . -name '*.pyc' -delete", "caution"),
        ("find . -delete", "dangerous"),
        ("echo x >> ~/.bashrc", "dangerous"),
        ("echo x > notes.txt", "caution"),
        ("chmod 777 f", "caution"),
        ("chmod -R 777 .", "dangerous"),
        ("curl -X DELETE http://h/x", "dangerous"),
        ("curl http://h/x", "caution"),
        ("terraform plan", "safe"),
        ("terraform destroy", "dangerous"),
        ("kubectl get pods", "safe"),
        ("kubectl delete pod x", "dangerous"),
        ("docker system prune -af", "dangerous"),
        ("psql -c 'DROP TABLE x'", "dangerous"),
        ("psql -c 'DELETE FROM x WHERE id = 1'", "caution"),
        ("psql -c 'DELETE FROM x'", "dangerous"),
        ("git commit -m 'DROP TABLE; rm -rf /'", "caution"),
        ("echo 'DROP TABLE x'", "safe"),
    ],
)
def test_PE5_risk_by_what_is_lost(command: str, risk: str) -> None:
    assert read(command).risk == risk


@pytest.mark.parametrize(
    "command", ["cat f > /dev/null", "cat f | grep x", "x=$(cat f)", "cat f > g", "{ cat f; } > g", "cat f | head -1"]
)
def test_MB2_what_is_not_shown_is_not_read_whole(command: str) -> None:
    assert [e.whole for e in read(command).effects if e.kind == "reads" and e.target == "/w/f"] == [False]
