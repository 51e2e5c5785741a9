"""`manage_plan`: a plan is kept, shown and corrected."""

import pytest

from holdfast.runtime.tools.manage_plan import plan_of


def test_a_plan_is_kept_for_the_session(bench):
    assert "no plan yet" in bench.text("manage_plan")
    steps = [{"title": "look", "status": "done"}, {"title": " change\n it ", "status": "in_progress"}, "test"]
    text = bench.text("manage_plan", steps=steps, explanation="as asked")
    assert text == "Plan, 1 of 3 done:\n[x] look\n[>] change it\n[ ] test"
    assert bench.text("manage_plan") == text
    assert [step["status"] for step in plan_of(bench.memory)] == ["done", "in_progress", "pending"]


@pytest.mark.parametrize(
    "steps",
    [
        "x",
        [{"status": "done"}],
        [{"title": "a", "status": "started"}],
        [{"title": "a", "status": "in_progress"}, {"title": "b", "status": "in_progress"}],
        ["step"] * 101,
    ],
)
def test_a_plan_that_is_none_is_explained_and_the_old_one_stays(bench, steps):
    bench.call("manage_plan", steps=["keep me"])
    assert bench.failure("manage_plan", steps=steps)
    assert plan_of(bench.memory) == [{"title": "keep me", "status": "pending"}]
