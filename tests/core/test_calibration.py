"""CO2: what providers count corrects the estimates, and nonsense does not."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.calibration import (
    HIGHEST_RATIO,
    LOWEST_RATIO,
    MODELS_KEPT,
    MOST_OVERHEAD,
    SAMPLES_PER_MODEL,
    Calibration,
)


def observed(*samples, model="m"):
    calibration = Calibration()
    for estimated, counted in samples:
        calibration = calibration.observe(model, estimated, counted)
    return calibration


def test_CO2_without_reports_the_estimate_stands():
    assert Calibration().apply("m", 1234) == 1234


def test_CO2_ratio_and_overhead_are_told_apart():
    calibration = observed(*((n, round(1.3 * n + 9000)) for n in (1_000, 5_000, 20_000, 60_000)))
    assert abs(calibration.apply("m", 100_000) - 139_000) < 200


def test_CO2_a_few_wrong_reports_do_not_move_it():
    right = [(n * 1000, round(1.2 * n * 1000 + 4000)) for n in range(1, 10)]
    wrong = [*right[:3], (4_000, 900_000), *right[4:6], (7_000, 10), *right[7:]]
    assert abs(observed(*wrong).apply("m", 50_000) - 64_000) < 3_000


def test_CO2_each_model_has_its_own_line():
    calibration = observed((10_000, 20_000), model="a").observe("b", 10_000, 10_000)
    assert calibration.apply("a", 10_000) == 20_000
    assert calibration.apply("b", 10_000) == 10_000


def test_CO2_nothing_sent_or_counted_is_no_report():
    assert observed((0, 10), (10, 0), (-5, 10)) == Calibration()


def test_CO2_only_the_latest_reports_are_kept():
    calibration = Calibration()
    for number in range(100):
        calibration = calibration.observe(f"model-{number % 20}", 1000 + number, 2000)
    assert len(calibration.samples) == MODELS_KEPT
    calibration = observed(*((1000 + n, 2000) for n in range(50)))
    assert len(calibration.samples["m"]) == SAMPLES_PER_MODEL


counts = st.integers(-10, 3_000_000)


@given(st.lists(st.tuples(counts, counts), max_size=30), st.integers(0, 2_000_000))
def test_CO2_whatever_is_reported_the_correction_stays_in_bounds(samples, estimated):
    calibration = observed(*samples)
    found = calibration.apply("m", estimated)
    assert LOWEST_RATIO * estimated - 1 <= found <= HIGHEST_RATIO * estimated + MOST_OVERHEAD + 1
    assert Calibration.from_json(json.loads(json.dumps(calibration.to_json()))) == calibration


@given(
    st.none()
    | st.integers()
    | st.text()
    | st.lists(st.integers())
    | st.dictionaries(st.text(), st.lists(st.lists(counts)))
)
def test_CO2_a_broken_state_is_an_empty_calibration(data):
    assert Calibration.from_json(data).apply("m-unknown", 100) == 100
