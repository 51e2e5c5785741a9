"""Sealing as a person and a strategy see it: when it happens, what stands in its way, and what follows (SC3, SC9)."""

import threading
import time

import pytest

from holdfast.chain.breaker import Breaker
from holdfast.chain.chain import Chain
from holdfast.chain.minutes import MinutesModel
from holdfast.chain.reaper import Reaper
from holdfast.chain.sealer import FINALISE_SECONDS, SILENT_TURN_SECONDS, Sealer
from holdfast.chain.unsealing import UnsealError
from holdfast.core.events import ContextMeasured
from holdfast.core.verdict import Seal
from holdfast.store.interface import Approval, Change, SealedError


def measure(scene, where, used, window=10_000, invocation="run-1"):
    event = ContextMeasured(**scene.header(where, invocation), used=used, window=window, host="codex")
    return scene.tell(event)


def ask(scene, where, name="q"):
    scene.store.commit(Change(where, approvals=(Approval(name, where, "c", scene.clock(), "bash", {}),)))


def test_SC3_a_full_session_is_sealed_when_the_turn_ends_and_not_before(scene):
    where = scene.chain.begin_turn(scene.arrival("h1", host="codex"), "run-1").session.id
    scene.say(where, "go")
    assert measure(scene, where, 9_900).seal == Seal("budget", pytest.approx(9_900 / 8_000))
    assert scene.tool(where, "bash", "done", command="make").allowed, "the turn goes on"
    assert scene.chain.sealer.try_seal(where).status == "waits"
    assert scene.row(where).state == "active"
    sealing = scene.chain.end_turn(where, "run-1")
    assert sealing.status == "sealed"
    row = scene.row(where)
    assert (row.state, row.seal_reason, row.seal_mark, row.ended_at) == ("sealed", "budget", "", scene.clock())
    assert (row.used, row.window, row.exact) == (9_900, 10_000, True)
    assert "turns" not in row.extra
    with pytest.raises(SealedError):
        scene.store.commit(Change(where, approvals=(Approval("late", where, "c", 1.0, "bash", {}),)))


def test_SC3_without_a_wish_the_end_of_a_turn_seals_nothing(scene):
    where = scene.chain.begin_turn(scene.arrival("h1"), "run-1").session.id
    assert scene.chain.end_turn(where, "run-1") is None
    assert scene.row(where).state == "active"


def test_SC3_an_open_approval_holds_the_seal_until_it_is_answered(scene):
    where = scene.arrive("h1").session.id
    ask(scene, where)
    waiting = scene.seal(where)
    assert waiting.status == "waits"
    assert "approval" in waiting.message.text()
    assert scene.row(where).state == "active"
    scene.control.approvals.cancel(where=where)
    scene.chain.sealer.follow_up()
    assert scene.row(where).state == "sealed"
    assert scene.row(where).seal_reason == "manual"


def test_SC3_a_question_that_comes_up_while_finalising_opens_the_session_again(scene):
    where = scene.arrive("h1").session.id

    def slow(model, prompt, text, seconds):
        ask(scene, where)
        return "minutes"

    chain = Chain(scene.control, minutes=MinutesModel("cheap", slow))
    assert chain.sealer.seal_now(where, by="ada").status == "waits"
    assert scene.row(where).state == "active"
    scene.control.approvals.cancel(where=where)
    assert scene.chain.sealer.try_seal(where).status == "sealed"


def test_SC3_finalising_that_takes_too_long_is_cut_off_with_a_mark(scene):
    where = scene.arrive("h1").session.id
    stuck = threading.Event()
    model = MinutesModel("cheap", lambda *_: str(stuck.wait(20)))
    chain = Chain(scene.control, minutes=model, finalise_seconds=0.2)
    began = time.monotonic()
    assert chain.sealer.seal_now(where, by="ada").status == "sealed"
    assert time.monotonic() - began < 18, "it waited for the model"
    stuck.set()
    assert "did not end within 0.2 s" in scene.row(where).seal_mark
    assert scene.chain.digests.of(scene.row(where)).number == 1, (
        "the digest by rules was made before the model was asked"
    )
    assert scene.chain.archive.verify(where).events == 0


def test_SC3_the_deadline_is_thirty_seconds():
    assert FINALISE_SECONDS == 30


def test_SC3_the_reaper_seals_what_a_dead_process_left_half_sealed(scene):
    where = scene.arrive("h1").session.id
    scene.say(where, "go")
    scene.chain.sealer.want(where, "threshold")
    row = scene.row(where)
    scene.store.update_session(where.session, row.version, state="sealing", sealing_since=scene.clock())
    scene.chain.sealer.follow_up()
    assert scene.row(where).state == "sealing", "somebody may still be at it"
    scene.clock.advance(FINALISE_SECONDS + 1)
    reaper = Reaper(scene.chain.sealer, interval=0.05)
    reaper.start()
    for _ in range(1500):
        if scene.row(where).state == "sealed":
            break
        time.sleep(0.02)
    reaper.stop()
    assert scene.row(where).state == "sealed"
    assert "cut off" in scene.row(where).seal_mark
    assert scene.chain.archive.verify(where).events == 1


def test_SC3_the_reaper_comes_at_start_and_every_five_minutes(scene):
    came = threading.Event()

    class Watched(Sealer):
        def follow_up(self):
            came.set()

    reaper = scene.chain.reaper()
    assert reaper.interval == 300.0
    reaper = Reaper(Watched(scene.store, None, clock=scene.clock, new_id=scene.ids), interval=3600.0)
    reaper.start()
    assert came.wait(30), "it does not wait for the first interval to pass"
    reaper.stop()


def test_SC3_the_reaper_outlives_a_store_that_is_away(scene):
    problems = []

    class Broken(Sealer):
        def follow_up(self):
            raise OSError("away")

    sealer = Broken(scene.store, None, clock=scene.clock, new_id=scene.ids)
    reaper = Reaper(sealer, interval=0.01, on_error=problems.append)
    reaper.start()
    for _ in range(1500):
        if len(problems) > 2:
            break
        time.sleep(0.02)
    reaper.stop()
    assert len(problems) > 2


def test_SC3_an_archive_that_could_not_be_written_is_written_later(scene):
    where = scene.arrive("h1").session.id
    scene.say(where, "go")
    folder = scene.control.home.archive
    folder.rmdir()
    folder.write_text("a file where the folder should be")
    assert scene.seal(where).status == "sealed"
    folder.unlink()
    assert scene.chain.archive.archived("h1") is None
    scene.chain.sealer.follow_up()
    assert scene.chain.archive.verify(where).events == 1
    assert not scene.store.notes("seal:")


def test_SC3_three_failures_in_a_row_open_the_breaker_with_a_message(scene):
    folder = scene.control.home.archive
    folder.rmdir()
    folder.write_text("")
    where = scene.arrive("h1").session.id
    for number in range(3):
        scene.chain.sealer.want(where, "threshold")
        sealing = scene.chain.sealer.try_seal(where)
        assert sealing.status == "sealed"
        assert (sealing.warning is not None) is (number == 2)
        where = scene.arrive("h1", source=None).session.id
    assert "3 times in a row" in sealing.warning.text()
    assert "封存失败" in sealing.warning.text("zh")
    refused = scene.chain.sealer.want(where, "threshold")
    assert f"holdfast sessions seal {where.session}" in refused.text()
    assert scene.row(where).extra.get("seal_wanted") is None
    folder.unlink()
    assert scene.seal(where).status == "sealed", "a person's own word closes the breaker"
    assert not Breaker(scene.store, where.key).failures().open


def test_SC3_sessions_that_are_full_at_birth_do_not_seal_one_another_for_ever(scene):
    arrival = scene.arrival("h1", host="codex")
    warnings = []
    for number in range(6):
        where = scene.chain.begin_turn(arrival, f"run-{number}").session.id
        scene.say(where, "go", f"run-{number}")
        event = ContextMeasured(**scene.header(where, f"run-{number}"), used=9_900, window=10_000, host="codex")
        warnings += scene.chain.heed(event, scene.control.plane.handle(event))
        scene.chain.end_turn(where, f"run-{number}")
    assert len(scene.store.chain(where.key)) == 4
    assert "window set too small" in warnings[-1].text()


def test_SC3_a_turn_that_a_dead_process_left_open_ends_with_the_next_message(scene):
    arrival = scene.arrival("h1")
    first = scene.chain.begin_turn(arrival, "run-1").session
    scene.chain.sealer.want(first.id, "threshold")
    assert scene.chain.sealer.try_seal(first.id).status == "waits"
    # The host is gone without a word; its next message says that the old turn is over.
    second = scene.chain.begin_turn(arrival, "run-2").session
    assert second.id == first.id, "a turn that may be alive is not cut"
    assert list(scene.row(first.id).extra["turns"]) == ["run-2"]
    assert scene.chain.end_turn(first.id, "run-2").status == "sealed"


def test_SC3_a_turn_that_a_dead_process_left_open_does_not_hold_a_seal_for_ever(scene):
    where = scene.chain.begin_turn(scene.arrival("h1"), "run-1").session.id
    scene.say(where, "go")
    scene.chain.sealer.want(where, "threshold")
    scene.clock.advance(SILENT_TURN_SECONDS - 10)
    scene.chain.sealer.follow_up()
    assert scene.row(where).state == "active", "it may be alive"
    scene.tool(where, "bash", "a build of many hours", command="make world")
    scene.clock.advance(SILENT_TURN_SECONDS - 10)
    scene.chain.sealer.follow_up()
    assert scene.row(where).state == "active", "something was heard of it since"
    scene.clock.advance(20)
    scene.chain.sealer.follow_up()
    assert scene.row(where).state == "sealed"


def test_SC3_a_silent_turn_without_a_wish_and_one_with_a_question_stay(scene):
    idle = scene.chain.begin_turn(scene.arrival("h1"), "run-1").session.id
    asked = scene.chain.begin_turn(scene.arrival("h2"), "run-1").session.id
    ask(scene, asked)
    scene.chain.sealer.want(asked, "threshold")
    scene.clock.advance(SILENT_TURN_SECONDS * 3)
    scene.chain.sealer.follow_up()
    assert [scene.row(where).state for where in (idle, asked)] == ["active", "active"]
    assert list(scene.row(idle).extra["turns"]) == ["run-1"]


def test_SC3_who_was_overtaken_does_not_close_the_seal_of_another(scene):
    """The first finaliser is still at work when a question opens the session again and a second seal begins."""
    where = scene.arrive("h1").session.id
    second_began, first_ended = threading.Event(), threading.Event()
    others = []

    def while_the_second_finalises(*_):
        second_began.set()
        assert first_ended.wait(20)
        return "second"

    def while_the_first_finalises(*_):
        ask(scene, where)
        assert scene.chain.sealer.hurry(where).status == "waits"
        scene.control.approvals.cancel(where=where)
        chain = Chain(scene.control, minutes=MinutesModel("cheap", while_the_second_finalises))
        others.append(threading.Thread(target=lambda: chain.sealer.try_seal(where), daemon=True))
        others[0].start()
        assert second_began.wait(20)
        return "first"

    chain = Chain(scene.control, minutes=MinutesModel("cheap", while_the_first_finalises))
    assert chain.sealer.seal_now(where, by="ada").status == "sealing"
    assert scene.row(where).state == "sealing", "the second seal is not the first one's to end"
    first_ended.set()
    others[0].join(20)
    assert scene.row(where).state == "sealed"


def test_SC3_a_wish_whose_turn_has_ended_is_carried_out_before_the_next_message(scene):
    arrival = scene.arrival("h1")
    first = scene.chain.begin_turn(arrival, "run-1").session
    ask(scene, first.id)
    scene.chain.sealer.want(first.id, "threshold")
    assert scene.chain.end_turn(first.id, "run-1").status == "waits"
    scene.control.approvals.cancel(where=first.id)
    second = scene.chain.begin_turn(arrival, "run-2").session
    assert (second.number, second.id.key) == (2, first.id.key)


def test_SC3_a_person_can_say_that_the_turn_is_over(scene):
    where = scene.chain.begin_turn(scene.arrival("h1"), "run-1").session.id
    assert scene.seal(where).status == "waits"
    assert scene.seal(where, turn_is_over=True).status == "sealed"


def test_SC3_two_turns_of_one_session_both_hold_the_seal(scene):
    where = scene.arrive("h1").session.id
    scene.chain.turn_opened(where, "a")
    scene.chain.turn_opened(where, "b")
    scene.chain.sealer.want(where, "threshold")
    assert scene.chain.end_turn(where, "a").status == "waits"
    assert scene.chain.end_turn(where, "b").status == "sealed"
    assert scene.chain.end_turn(where, "b").status == "sealed", "told twice, done once"


def test_SC3_unseal_goes_on_in_the_last_session(scene):
    where = scene.arrive("h1").session.id
    scene.say(where, "go")
    scene.seal(where)
    file = scene.chain.archive.path_of("h1")
    assert file.exists()
    row = scene.chain.unseal(where, by="ada")
    assert (row.state, row.ended_at, row.seal_reason) == ("active", None, "")
    assert not file.exists(), "an archive of an open session would be outdated"
    scene.say(where, "go on")
    assert scene.arrive("h1", source=None).session.id == where
    assert scene.seal(where).status == "sealed"
    assert scene.chain.archive.verify(where).events == 2
    assert [e["what"] for e in scene.store.audit(session="h1") if "what" in e] == [
        "session_seal_asked",
        "session_unsealed",
        "session_seal_asked",
    ]
    assert {e["decidedBy"] for e in scene.store.audit(session="h1") if e.get("what", "").startswith("session")} == {
        "ada"
    }


def test_SC3_only_the_last_sealed_session_can_be_unsealed(scene):
    first = scene.arrive("h1").session.id
    with pytest.raises(UnsealError, match="only a sealed one"):
        scene.chain.unseal(first, by="ada")
    scene.seal(first)
    second = scene.arrive("h1", source=None).session.id
    with pytest.raises(UnsealError, match="not the last"):
        scene.chain.unseal(first, by="ada")
    scene.seal(second)
    with pytest.raises(UnsealError, match="not the last"):
        scene.chain.unseal(first, by="ada")
    scene.chain.unseal(second, by="ada")
    assert scene.row(second).state == "active"


def test_SC3_hand_off_shows_what_the_next_session_will_be_told(scene):
    where = scene.arrive("h1").session.id
    scene.say(where, "build the bridge")
    assert scene.chain.hand_off(where, by="ada").status == "sealed"
    assert scene.row(where).seal_reason == "handoff"
    told = scene.chain.preview(scene.row(where))
    assert "build the bridge" in told.text
    assert "session 2" in told.text


def test_SC3_a_session_in_its_sealing_is_hurried_by_whoever_waits_for_the_next(scene):
    where = scene.arrive("h1").session.id
    scene.say(where, "go")
    scene.chain.sealer.want(where, "threshold")
    row = scene.row(where)
    scene.store.update_session(where.session, row.version, state="sealing", sealing_since=scene.clock())
    second = scene.chain.begin_turn(scene.arrival("h1"), "run-2").session
    assert second.number == 2
    assert "did not wait" in scene.row(where).seal_mark
