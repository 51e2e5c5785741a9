"""Figures for the plots."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.doors.web.stats import thinned


def test_SC2_tokens_and_compactions_of_a_session_over_time(client, life):
    where = life.thread()
    for used in (10_000, 90_000, 160_000):
        life.measure(where, used, output=500)
    life.compact(where, before=160_000, after=30_000, trigger="auto", record={"method": "host"})
    life.measure(where, 35_000, exact=False)
    told = client.get(f"/api/stats/sessions/{where.session}").json()
    assert [point["used"] for point in told["points"]] == [10_000, 90_000, 160_000, 35_000]
    assert told["points"][2]["ratio"] == pytest.approx(160 / 180, abs=0.001)
    assert [point["exact"] for point in told["points"]] == [True, True, True, False]
    (compaction,) = told["compactions"]
    assert (compaction["before"], compaction["after"], compaction["method"]) == (160_000, 30_000, "host")
    assert told["marks"]["warn"] < told["marks"]["action"]
    assert told["tokens"] == {"input": 295_000, "output": 1500}
    assert told["thinned"] is False


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=300), st.integers(4, 60))
def test_UI1_thinning_keeps_the_ends_the_peaks_and_the_order(values, most):
    points = [{"eventNo": no, "used": used} for no, used in enumerate(values)]
    kept = thinned(points, most)
    assert len(kept) <= max(most, 1)
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert [point["eventNo"] for point in kept] == sorted({point["eventNo"] for point in kept})
    assert max(values) == max(point["used"] for point in kept)
    assert min(values) == min(point["used"] for point in kept)


def _offset(zone):
    return datetime.fromtimestamp(0, zone).isoformat()[19:]


def test_UI1_decisions_by_day_in_the_pages_own_time_zone(client, life, server):
    now = server.control.clock()
    where = life.thread()
    (life.vault / "a.py").write_text("x")
    life.clock.advance(now - life.clock() - 10)
    life.tool(where, "read", "x", path="a.py")
    life.tool(where, "write", "", path="/etc/passwd", content="x")
    told = client.get("/api/stats/decisions", days=3).json()
    assert len(told["days"]) == 3
    assert sum(day["deny"] for day in told["days"]) == 1
    assert told["total"] == sum(day["allow"] + day["ask"] + day["deny"] for day in told["days"])
    for offset in (0, 14 * 60, -11 * 60):
        before = server.control.clock()
        today = client.get("/api/stats/decisions", days=3, offset=offset).json()["days"][-1]
        assert today["at"] <= server.control.clock()
        assert before < today["at"] + 86_400
        zone = timezone(timedelta(minutes=offset))
        assert datetime.fromtimestamp(today["at"], zone).isoformat() == f"{today['day']}T00:00:00{_offset(zone)}"
    assert len(client.get("/api/stats/decisions", days=10_000).json()["days"]) == 366
