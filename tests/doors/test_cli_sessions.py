"""`holdfast sessions`, `transcript` and `continue` on a home with a few sessions."""

import json

import pytest
from click.testing import CliRunner

from chain.scene import Scene
from doors.cli_run import Ran
from holdfast.doors.cli import cli
from holdfast.store.interface import Approval, Change


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    yield made
    made.close()


@pytest.fixture
def holdfast(scene):
    def run(*arguments, stdin=None):
        before = ["--home", str(scene.control.home.root), "--vault", str(scene.vault)]
        result = CliRunner().invoke(cli, [*before, *arguments], input=stdin, prog_name="holdfast")
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def where(scene):
    where = scene.arrive("session-one").session.id
    scene.say(where, "fix the \x1b[31mlogin\x1b[0m", "run-1")
    scene.tool(where, "read", "code", path=str(scene.vault / "a.py"), invocation="run-1")
    scene.reply(where, "Fixed. Shall I push?", "run-1")
    return where


def test_SC5_list_shows_state_fill_and_title(holdfast, scene, where):
    elsewhere = scene.arrive("other", vault="/elsewhere").session
    ran = holdfast("sessions", "list")
    assert ran.code == 0, ran.err
    assert "session-one" in ran.out
    assert "other" not in ran.out
    data = holdfast("sessions", "list", "--all", "--json").data()
    assert {row["sessionId"] for row in data} == {"session-one", elsewhere.id.session}
    assert holdfast("sessions", "list", "--state", "sealed", "--json").data() == []
    assert holdfast("sessions", "list", "--host", "codex").out.startswith("no session here")


def test_list_without_a_store_makes_none(tmp_path):
    (tmp_path / "vault").mkdir()
    home = tmp_path / "home"
    ran = CliRunner().invoke(cli, ["--home", str(home), "--vault", str(tmp_path / "vault"), "sessions", "list"])
    assert (ran.exit_code, ran.output) == (0, "nothing recorded\n")
    assert not home.exists()


def test_SC7_show_prints_the_digest_and_checks_the_archive(holdfast, scene, where):
    shown = holdfast("sessions", "show", "session-o").out
    assert "> Fixed. Shall I push?" in shown
    assert "none yet" in shown
    assert "\x1b" not in shown, "what an agent said cannot steer the terminal"
    scene.seal(where)
    data = holdfast("sessions", "show", "session-one", "--json").data()
    assert data["archive"]["state"].startswith("verified")
    scene.chain.archive.path_of("session-one").write_text("touched")
    assert "damaged" in holdfast("sessions", "show", "session-one").out


def test_SC3_seal_unseal_and_seal_again(holdfast, scene, where):
    assert holdfast("sessions", "seal", "session-one").out == "Session session-one is sealed.\n"
    assert scene.row(where).state == "sealed"
    assert "active again" in holdfast("sessions", "unseal", "session-one").out
    assert scene.row(where).state == "active"
    assert holdfast("sessions", "seal", "session-one", "--json").data()["status"] == "sealed"
    again = holdfast("sessions", "unseal", "session-one")
    assert again.code == 0
    refused = holdfast("sessions", "unseal", "session-one")
    assert refused.code == 4
    assert "only a sealed one" in refused.err


def test_SC3_a_live_turn_is_not_cut_unless_it_is_known_to_be_over(holdfast, scene, where):
    scene.chain.turn_opened(where, "run-1")
    waiting = holdfast("sessions", "seal", "session-one")
    assert waiting.code == 1
    assert "sealed when it ends" in waiting.out
    assert holdfast("sessions", "seal", "session-one", "--over").code == 0


def test_SC3_handoff_prints_what_the_next_session_is_told(holdfast, scene, where):
    ran = holdfast("sessions", "handoff", "session-one")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("<holdfast-session>")
    assert f"holdfast continue {where.thread}" in ran.out
    assert scene.row(where).seal_reason == "handoff"
    data = holdfast("sessions", "handoff", "session-one", "--json").data()
    assert data["tokens"] <= 2000


def test_SC4_export_as_lines_and_as_markdown(holdfast, scene, where, tmp_path):
    lines = holdfast("sessions", "export", "session-one").out.splitlines()
    assert json.loads(lines[0])["kind"] == "holdfast-session"
    assert json.loads(lines[-1])["events"] == 4
    out = tmp_path / "one.md"
    assert holdfast("sessions", "export", "session-one", "--format", "markdown", "--out", str(out)).code == 0
    text = out.read_text()
    assert "## #1 " in text
    assert "Fixed. Shall I push?" in text
    assert out.stat().st_mode & 0o777 == 0o600
    folder = tmp_path / "all"
    scene.seal(where)
    scene.arrive("session-one", source=None)
    written = holdfast("sessions", "export", "--thread", where.thread, "--out", str(folder), "--json").data()
    assert [entry["events"] for entry in written] == [4, 0]
    assert len(list(folder.iterdir())) == 2


def test_SC4_delete_asks_and_leaves_a_tombstone(holdfast, scene, where):
    asked = holdfast("sessions", "delete", "session-one")
    assert asked.code == 2
    assert "--yes" in asked.err
    assert scene.row(where) is not None
    scene.store.commit(Change(where, approvals=(Approval("q", where, "c", 1.0, "bash", {}),)))
    refused = holdfast("sessions", "delete", "session-one", "--yes")
    assert refused.code == 4
    assert "open approval" in refused.err
    gone = holdfast("sessions", "delete", "session-one", "--yes", "--force", "--json").data()
    assert (gone[0]["events"], gone[0]["index"]) == (4, True)
    assert scene.row(where) is None
    assert list(scene.store.audit(session="session-one"))[-1]["what"] == "session_deleted"
    assert holdfast("search", "login").out.strip() in ("", "nothing found")


def test_SC4_a_deleted_session_is_not_found_by_search(holdfast, scene, where):
    assert "session-one" in holdfast("search", "Fixed").out
    holdfast("sessions", "delete", "session-one", "--yes")
    assert "session-one" not in holdfast("search", "Fixed").out


def test_names_that_fit_nothing_or_several_are_clear_errors(holdfast, scene, where):
    scene.arrive("session-two")
    none = holdfast("sessions", "show", "nope")
    assert (none.code, "no session begins with 'nope'" in none.err) == (2, True)
    many = holdfast("sessions", "show", "session-")
    assert many.code == 2
    assert "session-one, session-two" in many.err
    assert "name sessions by their ids" in holdfast("sessions", "export").err


# transcript


def test_SC5_transcript_in_three_views(holdfast, scene, where):
    chat = holdfast("transcript", "session-one").out
    assert "calls read" in chat
    assert "    Fixed. Shall I push?" in chat
    assert "\x1b" not in chat
    page = holdfast("transcript", "session-one", "--limit", "1", "--json").data()
    assert len(page["events"]) == 1
    rest = holdfast("transcript", "session-one", "--limit", "200", "--cursor", page["nextCursor"], "--json").data()
    assert [entry["eventNo"] for entry in rest["events"]] == [2, 3, 4]
    assert "run-1" in holdfast("transcript", "session-one", "--view", "handoff").out
    raw = holdfast("transcript", "session-one", "--view", "raw", "--json").data()
    assert raw["events"][0]["data"]["text"] == "fix the \x1b[31mlogin\x1b[0m"
    detail = holdfast("transcript", "session-one", "--invocation", "run-1", "--json").data()
    assert len(detail["events"]) == 4


def test_SC5_transcript_errors_are_clear(holdfast, scene, where):
    wrong = holdfast("transcript", "session-one", "--cursor", "1-abc")
    assert (wrong.code, "cursor '1-abc'" in wrong.err) == (2, True)
    none = holdfast("transcript", "session-one", "--invocation", "run-9")
    assert (none.code, "no invocation 'run-9'" in none.err) == (2, True)


@pytest.mark.slow
def test_SC4_transcript_follows_what_comes(holdfast, scene, where):
    import threading

    timer = threading.Timer(0.5, lambda: scene.reply(where, "and one more", "run-1"))
    timer.start()
    out = holdfast("transcript", "session-one", "--follow", "--seconds", "3").out
    timer.join()
    assert out.rstrip().endswith("and one more")


# continue


def test_SC1_continue_lists_offers_and_names_the_command(holdfast, scene, where):
    listed = holdfast("continue", "--json").data()
    assert [row["thread"] for row in listed] == [where.thread]
    scene.seal(where)
    offered = holdfast("continue", where.thread[:18], "--json").data()
    assert offered["offeredTo"] == "claude-code"
    opening = scene.arrive("brand-new").opening
    assert (opening.how, opening.session.id.key) == ("continued", where.key)
    handed = holdfast("continue", where.thread, "--host", "codex")
    assert "codex starts in" in handed.out
    own = holdfast("continue", where.thread, "--host", "holdfast")
    assert own.out == f"run: holdfast chat --thread {where.thread}\n"


def test_continue_without_a_thread_of_that_name(holdfast, scene, where):
    ran = holdfast("continue", "nope")
    assert (ran.code, "no thread begins with 'nope'" in ran.err) == (2, True)
