"""Whose session it is: joined by name, by a person's word or by the one claim, never by chance (SC1, SC10)."""

import threading
from dataclasses import replace

import pytest

from holdfast.chain.arrivals import Arrival
from holdfast.chain.bootstrap import bootstrap_packet
from holdfast.chain.late_events import keep_late
from holdfast.chain.threads import CLAIM_SECONDS, OFFER_SECONDS
from holdfast.core.events import AssistantReplied
from holdfast.core.keys import SessionId, SessionKey, WrongThreadError
from holdfast.store.interface import IMPORTED, SealedError, Session


def test_SC1_each_session_of_a_host_opens_a_thread_of_its_own(scene):
    one, two = scene.arrive("h1"), scene.arrive("h2")
    assert one.session.id.key != two.session.id.key
    assert one.session.id == SessionId(SessionKey("local", "claude-code", "claude-code-h1"), "h1")


def test_SC1_resume_and_compaction_stay_in_the_thread(scene):
    first = scene.arrive("h1").session
    for source in ("resume", "compact", None):
        again = scene.arrive("h1", source=source)
        assert again.session.id == first.id
        assert not again.opening.begins


def test_SC1_fork_opens_a_new_thread_also_after_a_seal(scene):
    first = scene.arrive("h1").session
    scene.seal(first.id)
    assert scene.arrive("h2", source="fork").session.id.key != first.id.key


# The lesson's three drifts: something stateful without an owner ends up in whichever thread is active.


def test_SC1_drift_1_a_session_is_not_resumed_in_another_thread(scene):
    tea = scene.arrive("tea", thread="tea-party").session
    scene.arrive("work", thread="phase-5")
    with pytest.raises(WrongThreadError, match="'tea-party'"):
        scene.arrive("tea", source="resume", thread="phase-5")
    assert scene.row(tea.id).id.thread == "tea-party"
    with pytest.raises(WrongThreadError):
        scene.store.open_session(replace(tea, id=SessionId(replace(tea.id.key, thread="phase-5"), tea.id.session)))


def test_SC1_drift_2_a_timer_of_one_thread_does_nothing_in_another(scene):
    mine, other = scene.arrive("h1").session, scene.arrive("h2").session
    scene.chain.turn_opened(other.id, "run-1")
    stray = SessionId(mine.id.key, other.id.session)
    for timer in (
        lambda: scene.chain.end_turn(stray, "run-1"),
        lambda: scene.chain.sealer.want(stray, "threshold"),
        lambda: scene.chain.sealer.hurry(stray),
        lambda: scene.seal(stray),
        lambda: scene.chain.unseal(stray, by="ada"),
        lambda: scene.chain.turn_opened(stray, "run-2"),
    ):
        with pytest.raises(WrongThreadError):
            timer()
    assert scene.row(other.id).extra["turns"] == {"run-1": scene.clock()}
    assert scene.row(other.id).state == "active"


def test_SC1_drift_3_a_digest_of_one_thread_is_not_shown_in_another(scene):
    mine, other = scene.arrive("h1").session, scene.arrive("h2").session
    scene.say(other.id, "the secret of the other thread")
    digest = scene.chain.digests.of(scene.row(other.id))
    with pytest.raises(WrongThreadError):
        bootstrap_packet(scene.row(mine.id), [], digest)
    with pytest.raises(WrongThreadError):
        bootstrap_packet(scene.row(mine.id), [scene.row(other.id)], None)
    scene.store.note(f"digest:{mine.id.session}", digest.to_dict())
    with pytest.raises(WrongThreadError):
        scene.chain.digests.of(scene.row(mine.id))


def test_SC1_a_late_report_reaches_its_own_thread_only(scene):
    mine, other = scene.arrive("h1").session, scene.arrive("h2").session
    scene.seal(mine.id)
    late = AssistantReplied(**scene.header(mine.id), text="late")
    assert scene.tell(late).decision == "deny"
    scene.seal(other.id)
    elsewhere = scene.arrive("h2", source=None).session
    assert list(scene.store.events(elsewhere.id.session)) == []
    own = scene.arrive("h1", source=None).session
    (found,) = scene.store.events(own.id.session)
    assert (found.text, found.data["late_from"]) == ("late", "h1")


def test_SC3_a_question_that_comes_after_the_seal_is_refused_not_kept(scene):
    mine = scene.arrive("h1").session
    scene.seal(mine.id)
    assert scene.tool(mine.id, "bash", command="ls").decision == "deny"
    assert not scene.store.notes("late:")
    assert keep_late(scene.store, AssistantReplied(**scene.header(mine.id), text="x"))
    assert len(scene.store.notes("late:")) == 1


# After a seal.


def test_SC10_after_a_seal_the_hosts_session_goes_on_in_the_next_one(scene):
    first = scene.arrive("h1").session
    scene.say(first.id, "begin")
    scene.seal(first.id)
    with pytest.raises(SealedError):
        scene.chain.turn_opened(first.id, "run-2")
    begun = scene.chain.begin_turn(scene.arrival("h1"), "run-2")
    assert (begun.session.number, begun.session.id.key) == (2, first.id.key)
    assert begun.session.extra["turns"] == {"run-2": scene.clock()}
    assert "begin" in begun.packet.text
    assert scene.arrive("h1", source="resume").session.id == begun.session.id


def test_SC10_the_packet_is_told_until_the_session_has_begun(scene):
    first = scene.arrive("h1").session
    scene.seal(first.id)
    second = scene.arrive("h1", source=None)
    assert second.packet is not None
    scene.begin(second.session.id)
    assert scene.arrive("h1", source=None).packet is None
    assert scene.chain.packet(scene.row(second.session.id)) == second.packet


def test_SC10_a_new_session_claims_the_one_that_was_sealed(scene):
    first = scene.arrive("h1").session
    scene.seal(first.id)
    opening = scene.arrive("h2").opening
    assert opening.how == "claimed"
    assert opening.session.id == SessionId(first.id.key, "h2")
    assert "session 2" in opening.hint.text()
    assert scene.arrive("h3").opening.how == "new", "a claim is good for one"


def test_SC10_clear_goes_on_with_the_sealed_thread_and_opens_a_new_one_otherwise(scene):
    first = scene.arrive("h1").session
    assert scene.arrive("h2", source="clear").session.id.key != first.id.key
    scene.seal(first.id)
    assert scene.arrive("h3", source="clear").session.id.key == first.id.key


def test_SC1_several_candidates_open_a_new_thread_with_a_hint(scene):
    for session in [scene.arrive(name).session for name in ("h1", "h2")]:
        scene.seal(session.id)
    opening = scene.arrive("h3").opening
    assert opening.how == "new"
    assert "claude-code-h1, claude-code-h2" in opening.hint.text()
    assert "holdfast continue" in opening.hint.text()
    assert "holdfast continue" in opening.hint.text("zh")


@pytest.mark.parametrize("case", ["another vault", "another host", "another user", "not sealed", "imported", "old"])
def test_SC1_never_by_directory_alone(scene, tmp_path, case):
    if case == "imported":
        where = SessionId(SessionKey("local", "claude-code", "x"), "x")
        scene.store.open_session(
            Session(
                where,
                "claude-code",
                str(scene.vault),
                1.0,
                state="sealed",
                seal_reason=IMPORTED,
                ended_at=scene.clock(),
            )
        )
    else:
        first = scene.arrive("h1").session
        if case != "not sealed":
            scene.seal(first.id)
    if case == "old":
        scene.clock.advance(CLAIM_SECONDS + 1)
    if case == "another user":
        from chain.scene import Scene

        stranger = Scene(tmp_path, user="bob")
        assert stranger.arrive("h2").opening.how == "new"
        stranger.close()
        return
    more = {"another vault": {"vault": tmp_path}, "another host": {"host": "codex"}}.get(case, {})
    assert scene.arrive("h2", **more).opening.how == "new"


def test_SC1_only_one_of_many_claims_a_sealed_session(scene):
    first = scene.arrive("h1").session
    scene.seal(first.id)
    openings, barrier = [], threading.Barrier(8)

    def arrive(number):
        barrier.wait(10)
        openings.append(scene.arrive(f"n{number}").opening)

    threads = [threading.Thread(target=arrive, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(openings) == 8
    assert [opening.how for opening in openings].count("claimed") == 1
    assert len({opening.session.id for opening in openings}) == 8


def test_SC1_whoever_was_sealed_and_overtaken_gets_a_thread_of_its_own(scene):
    first = scene.arrive("h1").session
    scene.seal(first.id)
    claimed = scene.arrive("h2").session
    opening = scene.arrive("h1", source=None).opening
    assert opening.session.id.key not in (first.id.key, claimed.id.key)
    assert "h2" in opening.hint.text()
    assert scene.arrive("h1", source=None).session.id == opening.session.id


# By name and by a person's word.


def test_SC1_a_named_thread_is_opened_or_joined(scene):
    first = scene.arrive("h1", thread="mine").session
    assert first.id.thread == "mine"
    joined = scene.arrive("h2", thread="mine")
    assert (joined.session.id.key, joined.session.number) == (first.id.key, 2)
    assert scene.row(first.id).state == "sealed", "one context at a time: the idle one was sealed for it"
    assert scene.row(first.id).seal_reason == "handoff"
    assert joined.packet is not None


def test_SC1_a_thread_with_a_live_turn_is_not_joined(scene):
    first = scene.arrive("h1", thread="mine").session
    scene.chain.turn_opened(first.id, "run-1")
    opening = scene.arrive("h2", thread="mine").opening
    assert opening.session.id.key != first.id.key
    assert "turn under way" in opening.hint.text()
    assert scene.row(first.id).state == "active"
    again = scene.arrive("h2", source=None, thread="mine")
    assert again.session.id == opening.session.id, "it is not asked about at every event"


def test_SC1_continue_offers_a_thread_to_the_next_session_of_one_host_once(scene):
    first = scene.arrive("h1").session
    scene.seal(first.id)
    scene.clock.advance(CLAIM_SECONDS + 1)
    scene.chain.threads.offer(scene.row(first.id), host="claude-code", vault=str(scene.vault), by="ada")
    assert scene.arrive("c1", host="codex").opening.how == "new", "offered to another host"
    opening = scene.arrive("h2").opening
    assert (opening.how, opening.session.id.key) == ("continued", first.id.key)
    assert scene.arrive("h3").opening.how == "new"


def test_SC1_an_offer_expires(scene):
    first = scene.arrive("h1").session
    scene.seal(first.id)
    scene.chain.threads.offer(scene.row(first.id), host="claude-code", vault=str(scene.vault), by="ada")
    scene.clock.advance(max(OFFER_SECONDS, CLAIM_SECONDS) + 1)
    assert scene.arrive("h2").opening.how == "new"


def test_SC1_a_thread_can_be_handed_to_another_agent_by_a_person(scene):
    first = scene.arrive("h1").session
    scene.say(first.id, "port the parser")
    scene.seal(first.id)
    scene.chain.threads.offer(scene.row(first.id), host="codex", vault=str(scene.vault), by="ada")
    begun = scene.arrive("c1", host="codex")
    assert begun.session.id.key == replace(first.id.key, agent="codex")
    assert "port the parser" in begun.packet.text
    scene.seal(begun.session.id)
    third = scene.arrive("c1", host="codex", source=None)
    assert "1, 1" in third.packet.text, "both agents' sessions are named"


def test_SC11_a_resumed_session_goes_on_with_what_was_imported_of_it(scene):
    where = SessionId(SessionKey("local", "claude-code", "claude-code-h1"), "h1")
    scene.store.open_session(Session(where, "claude-code", str(scene.vault), 1.0, state="sealed", seal_reason=IMPORTED))
    opened = scene.arrive("h1", source="resume").session
    assert (opened.id.key, opened.number) == (where.key, 2)


def test_SC1_every_host_session_is_asked_for_once_however_often_it_crashes(scene):
    """Opened, but its note was never written: the same session is found again."""
    first = scene.arrive("h1").session
    for name in list(scene.store.notes("host-session:")):
        scene.store.note(name, None)
    assert scene.arrive("h1").session.id == first.id


def test_an_arrival_belongs_to_its_host_unless_it_names_an_agent():
    assert Arrival("codex", "s", "/v").agent_id == "codex"
    assert Arrival("codex", "s", "/v", agent="reviewer").agent_id == "reviewer"
