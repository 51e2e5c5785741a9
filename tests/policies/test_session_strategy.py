"""SC2 and SC9: how full a session is, whose strategy holds, and when it is sealed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.context_health import Health
from holdfast.core.decode import decode
from holdfast.core.events import ContextMeasured
from holdfast.core.settings import (
    DEFAULTS,
    Breed,
    BreedFeatures,
    BreedMatch,
    HybridSettings,
    SessionStrategy,
    Settings,
    Thresholds,
)
from holdfast.core.strategy import SIGNALS, Effective, Who, action_for, effective
from holdfast.policies.session_strategy import SessionStrategyPolicy
from holdfast.testing.builders import EventBuilder, session_id

LESSON = {
    "breeds": [
        {
            "id": "ragdoll",
            "features": {
                "sessionChain": True,
                "sessionStrategy": {
                    "strategy": "hybrid",
                    "thresholds": {"warn": 0.80, "action": 0.88},
                    "hybrid": {"maxCompressions": 1},
                },
            },
        },
        {
            "id": "maine-coon",
            "features": {
                "sessionChain": True,
                "sessionStrategy": {"strategy": "compress", "thresholds": {"warn": 0.75, "action": 0.90}},
            },
        },
    ]
}


def health(ratio, window=100_000, reserve=0, used=None):
    return Health(used if used is not None else round(ratio * (window - reserve)), window, reserve, True, 0.0)


def rule(strategy="handoff", warn=0.85, action=0.90, most=1, reserve=0, chain=True):
    return Effective(strategy, warn, action, most, reserve, chain, "config")


# --- actions


@pytest.mark.parametrize(
    ("strategy", "ratio", "compressions", "action"),
    [
        ("handoff", 0.84, 0, "none"),
        ("handoff", 0.85, 0, "warn"),
        ("handoff", 0.89, 0, "warn"),
        ("handoff", 0.90, 0, "seal"),
        ("compress", 0.84, 9, "none"),
        ("compress", 0.85, 9, "warn"),
        ("compress", 0.90, 0, "allow_compress"),
        ("compress", 0.99, 99, "allow_compress"),
        ("hybrid", 0.89, 0, "warn"),
        ("hybrid", 0.90, 0, "allow_compress"),
        ("hybrid", 0.90, 1, "seal_after_compress"),
        ("hybrid", 0.95, 2, "seal_after_compress"),
        ("hybrid", 0.50, 5, "none"),
    ],
)
def test_SC9_what_each_strategy_asks_for(strategy, ratio, compressions, action):
    assert action_for(health(ratio), rule(strategy), compressions) == action


@pytest.mark.parametrize(
    ("strategy", "remaining", "action"),
    [
        ("handoff", 20_001, "none"),
        ("handoff", 20_000, "warn"),
        ("handoff", 19_999, "seal"),
        ("hybrid", 20_000, "warn"),
        ("hybrid", 19_999, "seal"),
        ("compress", 20_000, "warn"),
        ("compress", 19_999, "allow_compress"),
    ],
)
def test_SC9_the_budget_guard_comes_first(strategy, remaining, action):
    """Below the reserve it seals, whatever the ratio says; exactly at it, it warns; compress never seals."""
    assert action_for(health(0, used=100_000 - remaining), rule(strategy, reserve=20_000), 0) == action


def test_SC9_without_a_reserve_of_the_users_the_answers_room_is_guarded():
    full = Health(96_000, 100_000, 4_096, True, 0.0)
    assert action_for(full, rule("hybrid", reserve=None), 0) == "seal"


def test_SC9_an_unknown_window_is_never_sealed_by_ratio():
    unknown = Health(10_000_000, None, None, False, 0.0)
    for strategy in ("handoff", "compress", "hybrid"):
        assert action_for(unknown, rule(strategy, reserve=5_000), 9) == "none"


@given(
    st.sampled_from(["handoff", "compress", "hybrid"]),
    st.integers(0, 300_000),
    st.none() | st.integers(1, 200_000),
    st.integers(0, 5),
    st.integers(0, 50_000),
    st.booleans(),
)
def test_SC9_what_must_never_happen(strategy, used, window, compressions, reserve, chain):
    measured = Health(used, window, 0, True, 0.0)
    action = action_for(measured, rule(strategy, reserve=reserve, chain=chain), compressions)
    seals = action in ("seal", "seal_after_compress")
    assert not (seals and (strategy == "compress" or not chain or window is None))
    assert not (action == "allow_compress" and strategy == "handoff")
    if chain and window is not None and window - used < reserve and strategy != "compress":
        assert action == "seal"


# --- whose strategy holds


@pytest.mark.parametrize(
    ("host", "strategy", "source"),
    [
        ("holdfast", "hybrid", "provider"),
        ("claude-code", "hybrid", "provider"),
        ("codex", "handoff", "provider"),
        ("opencode", "handoff", "provider"),
        ("gemini", "compress", "provider"),
        ("something-new", "handoff", "global"),
    ],
)
def test_SC9_the_defaults_of_each_host(host, strategy, source):
    found = effective(DEFAULTS, Who(host))
    assert (found.strategy, found.source, found.max_compressions) == (strategy, source, 1)
    assert (found.warn, found.action) == (0.85, 0.90)


def test_SC9_the_lessons_example_loads_unchanged():
    settings, problems = decode(Settings, LESSON)
    assert problems == []
    claude = effective(settings, Who("claude-code"))
    assert (claude.strategy, claude.warn, claude.action, claude.source) == ("hybrid", 0.80, 0.88, "family")
    codex = effective(settings, Who("codex"))
    assert (codex.strategy, codex.warn, codex.family) == ("compress", 0.75, "maine-coon")
    assert effective(settings, Who("gemini")).source == "provider"


def breed(name, strategy=None, match=None, chain=True, **fields):
    return Breed(name, match, BreedFeatures(chain, SessionStrategy(strategy, **fields)))


def test_SC9_override_over_config_over_family_over_provider_over_global():
    family = breed("ragdoll", "compress")
    by_host = breed("any", "handoff", BreedMatch(host="claude-*"))
    by_model = breed("large", "hybrid", BreedMatch(host="claude-code", model="claude-opus*"))
    who = Who("claude-code", "writer", "claude-opus-4-5")
    ladder = [
        (Settings(), None, "hybrid", "provider"),
        (Settings(breeds=(family,)), None, "compress", "family"),
        (Settings(breeds=(by_host, family)), None, "handoff", "config"),
        (Settings(breeds=(by_model, by_host, family)), None, "hybrid", "config"),
        (Settings(breeds=(by_model, by_host, family)), SessionStrategy("compress"), "compress", "override"),
    ]
    for settings, override, strategy, source in ladder:
        found = effective(settings, who, override=override)
        assert (found.strategy, found.source) == (strategy, source)


def test_SC9_of_two_that_fit_alike_the_later_one_holds():
    settings = Settings(
        breeds=(breed("a", "handoff", BreedMatch(agent="*")), breed("b", "compress", BreedMatch(model="*")))
    )
    assert effective(settings, Who("codex", "x", "m")).family == "b"


def test_SC9_an_empty_match_fits_nobody():
    settings = Settings(breeds=(breed("nobody", "compress", BreedMatch()),))
    assert effective(settings, Who("codex")).family == ""


def test_SC9_a_family_named_like_a_host_or_an_agent_is_theirs():
    settings = Settings(breeds=(breed("opencode", "compress"), breed("writer", "hybrid")))
    assert effective(settings, Who("opencode")).strategy == "compress"
    assert effective(settings, Who("codex", "writer")).strategy == "hybrid"


def test_SC9_a_family_without_strategy_takes_its_hosts():
    settings = Settings(breeds=(breed("ragdoll", thresholds=Thresholds(0.5, 0.6)),))
    found = effective(settings, Who("claude-code"))
    assert (found.strategy, found.warn, found.action) == ("hybrid", 0.5, 0.6)


def test_SC9_warn_must_be_below_action():
    broken = {"breeds": [{"id": "x", "features": {"sessionStrategy": {"thresholds": {"warn": 0.9, "action": 0.9}}}}]}
    _, problems = decode(Settings, broken)
    assert "warn (0.9) must be below action (0.9)" in str(problems[0])


# --- what a host can do


def test_SC9_hybrid_without_a_signal_falls_back_to_handoff_aloud():
    found = effective(DEFAULTS, Who("new-host"), override=SessionStrategy("hybrid"))
    assert found.strategy == "handoff"
    assert [note.code for note in found.notes] == ["strategy.no_signal"]
    assert "handoff" in found.notes[0].text("zh")


def test_SC9_hybrid_with_an_inferred_signal_is_approximate():
    found = effective(DEFAULTS, Who("gemini"), override=SessionStrategy("hybrid"))
    assert (found.strategy, found.approximate) == ("hybrid", True)


def test_SC9_signals_are_data():
    assert {host for host, signal in SIGNALS.items() if signal == "yes"} == {
        "holdfast",
        "claude-code",
        "codex",
        "opencode",
    }
    with_signal = effective(DEFAULTS, Who("new-host"), override=SessionStrategy("hybrid"), signals={"new-host": "yes"})
    assert with_signal.strategy == "hybrid"


@pytest.mark.parametrize(
    ("host", "window", "reserve", "lowered"),
    [
        ("claude-code", 200_000, None, True),
        ("claude-code", 200_000, 20_000, False),
        ("codex", 272_000, None, False),
        ("opencode", 200_000, 32_000, False),
        ("opencode", 200_000, None, True),
        ("holdfast", 200_000, None, False),
        ("claude-code", None, None, False),
    ],
)
def test_SC9_thresholds_are_lowered_below_the_hosts_own_compaction_aloud(host, window, reserve, lowered):
    found = effective(DEFAULTS, Who(host), window, reserve, SessionStrategy("handoff"))
    assert (found.action < 0.90) is lowered
    assert found.warn < found.action
    assert [note.code for note in found.notes] == (["strategy.lowered"] if lowered else [])
    if lowered:
        at = {"claude-code": window - 33_000, "opencode": window - 32_000}[host]
        assert found.action * (window - 4_096) < at


def test_SC9_compress_leaves_the_hosts_point_alone():
    found = effective(DEFAULTS, Who("gemini"), 1_048_576)
    assert (found.action, found.notes) == (0.90, ())


# --- the policy


class Session:
    def __init__(self, settings=DEFAULTS, host="holdfast", **options):
        self.judge = SessionStrategyPolicy(settings, **options)
        self.host = host
        self.state = {}
        self.build = EventBuilder(session_id(agent="writer"))
        self.tell(self.build.started(host=host))

    def tell(self, event):
        verdict, self.state = self.judge.decide(event, self.state)
        json.dumps(self.state)
        return verdict

    def measured(self, used, window=100_000, **over):
        fields = {"id": "m", "at": 50.0, "where": self.build.where, "host": self.host, "reserve": 0, **over}
        return self.tell(ContextMeasured(used=used, window=window, **fields))


def codes(verdict):
    return [message.code for message in verdict.warnings]


def test_SC9_handoff_warns_once_and_seals():
    session = Session(override=SessionStrategy("handoff"))
    assert codes(session.measured(50_000)) == []
    assert codes(session.measured(86_000)) == ["strategy.warn"]
    assert codes(session.measured(87_000)) == []
    verdict = session.measured(91_000)
    assert codes(verdict) == ["strategy.seal"]
    assert (verdict.seal.reason, verdict.seal.ratio) == ("threshold", 0.91)
    assert session.measured(92_000).seal is not None


def test_SC9_hybrid_allows_one_compaction_then_seals():
    session = Session()
    assert session.measured(91_000).seal is None
    assert session.state["action"] == "allow_compress"
    session.tell(session.build.compacted(summary="short"))
    assert session.measured(30_000).seal is None
    verdict = session.measured(91_000)
    assert verdict.seal.reason == "compressions"
    assert session.state["action"] == "seal_after_compress"


def test_SC9_a_host_that_compacts_once_too_often_is_sealed_at_once():
    session = Session(host="claude-code")
    assert session.tell(session.build.compacted()).seal is None
    verdict = session.tell(session.build.compacted())
    assert verdict.seal.reason == "compressions"
    assert codes(verdict) == ["strategy.seal_after_compress"]


def test_SC9_our_own_pruning_is_no_compression():
    session = Session()
    session.measured(10_000)
    for _ in range(3):
        assert session.tell(session.build.compacted(summary="")).seal is None
    assert session.state["compressions"] == 0


def test_SC9_hybrid_with_an_unknown_window_seals_when_only_pruning_is_left():
    """No ratio will ever say that it is full again; that compaction could only prune does."""
    session = Session()
    session.measured(30_000, window=None, reserve=None)
    assert session.tell(session.build.compacted(summary="short")).seal is None
    assert session.tell(session.build.compacted(summary="")).seal.reason == "compressions"


def test_SC9_the_count_of_the_measure_is_taken_when_it_is_higher():
    session = Session()
    assert session.measured(91_000, compressions=1).seal.reason == "compressions"


def test_SC9_the_budget_seals_with_its_own_reason():
    session = Session(override=SessionStrategy("handoff", budget_reserve=30_000))
    verdict = session.measured(75_000)
    assert verdict.seal.reason == "budget"
    assert codes(verdict) == ["strategy.budget"]


def test_SC9_a_switched_off_chain_measures_but_never_seals():
    settings = Settings(breeds=(breed("writer", "handoff", chain=False, hybrid=HybridSettings(0)),))
    session = Session(settings)
    verdict = session.measured(99_000)
    assert verdict.seal is None
    assert (session.state["used"], session.state["action"]) == (99_000, "warn")
    assert session.tell(session.build.compacted(summary="x")).seal is None


def test_SC9_a_full_sub_agent_does_not_seal_the_session():
    session = Session(override=SessionStrategy("hybrid"))
    session.build.where = session.build.where.of_subagent("reader")
    assert session.measured(99_999, compressions=5).seal is None
    assert [session.tell(session.build.compacted(summary="x")).seal for _ in range(4)] == [None] * 4


def test_SC9_notes_on_the_strategy_are_told_once():
    session = Session(host="new-host", override=SessionStrategy("hybrid"))
    assert codes(session.measured(10_000)) == ["strategy.no_signal"]
    assert codes(session.measured(10_000)) == []


def test_SC9_messages_are_in_both_languages():
    session = Session(override=SessionStrategy("handoff"))
    for used in (86_000, 91_000):
        for message in session.measured(used).warnings:
            assert "%" in message.text("en")
            assert message.text("zh") != message.text("en")
            assert "{" not in message.text("en") + message.text("zh")


# --- SC2


def test_SC2_health_is_recorded_with_its_time_and_how_exact_it_is():
    session = Session()
    session.measured(48_000, reserve=4_000, exact=True)
    assert {key: session.state[key] for key in ("used", "window", "reserve", "ratio", "exact", "at")} == {
        "used": 48_000,
        "window": 100_000,
        "reserve": 4_000,
        "ratio": 0.5,
        "exact": True,
        "at": 50.0,
    }
    session.measured(48_000, window=None, reserve=None)
    assert (session.state["ratio"], session.state["exact"], session.state["approximate"]) == (None, False, True)


def test_SC2_the_hosts_reserve_comes_before_ours():
    event = ContextMeasured(id="m", at=0.0, where=session_id(), used=90_000, window=200_000)
    assert Health.of(event).reserve == 4_096
    own = ContextMeasured(id="m", at=0.0, where=session_id(), used=90_000, window=200_000, reserve=20_000)
    assert Health.of(own).ratio == 0.5


def test_SC2_an_old_figure_is_stale():
    found = Health(1, 100, 10, True, 1_000.0)
    assert found.age(1_060.0) == 60.0
    assert not found.is_stale(1_300.0)
    assert found.is_stale(1_301.0)
    assert found.age(900.0) == 0.0


def test_SC2_a_figure_that_the_session_has_outgrown_is_stale_at_once():
    """As in the lesson: 82 % was shown, and meanwhile the conversation had gone on to 95 %."""
    found = Health(1, 100, 10, True, 1_000.0)
    assert not found.is_stale(1_100.0, 1_060.0)
    assert found.is_stale(1_100.0, 1_061.0)
    assert found.is_stale(1_301.0, 1_000.0)
