"""Edited rules against the past: started, watched, cancelled, within a deadline."""

import threading
import time

import pytest

from holdfast.doors.web.jobs import MOST_KEPT, Job, Jobs
from holdfast.doors.web.routes import ApiError

PATIENCE = 60.0


@pytest.fixture
def past(life):
    where = life.thread()
    for number in range(30):
        life.tool(where, "bash", "ok", command=f"make part{number % 3} n{number // 10}")
    (life.vault / "a.py").write_text("x")
    life.tool(where, "read", "x", path="a.py")
    return where


def finished(client, job):
    end = time.monotonic() + PATIENCE
    while job["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.02)
        job = client.get(f"/api/rules/simulate/{job['id']}").json()
    return job


def simulated(client, **body):
    answer = client.post("/api/rules/simulate", body)
    assert answer.status_code == 200, answer.text
    return finished(client, answer.json())


def test_AU3_edited_rules_are_held_against_every_past_decision(client, past):
    job = simulated(client, add=[{"domain": "bash", "pattern": "make part0 *", "decision": "deny"}])
    result = job["result"]
    assert (job["state"], job["total"], result["replayed"]) == ("done", 31, 31)
    denied = [group for group in result["groups"] if group["change"]["after"] == "deny"]
    assert {group["change"]["target"] for group in denied} == {f"shell:make part0 n{number}" for number in range(3)}
    assert sum(group["count"] for group in denied) == 10
    assert result["changed"] == sum(total["count"] for total in result["totals"])
    assert result["groups"] == sorted(result["groups"], key=lambda group: -group["count"])


def test_AU3_rules_can_be_left_out_and_replaced_as_a_whole(client, past, home):
    home.config.write_text('{"agents": {"runtime": {"permission": {"rules": ['
                           '{"domain": "bash", "pattern": "make *", "decision": "allow"},'
                           '{"domain": "bash", "pattern": "make part1 *", "decision": "deny"}]}}}}')  # fmt: skip
    as_it_is = simulated(client)["result"]
    assert {group["change"]["ruleAfter"] for group in as_it_is["groups"]} == {"make part1 *"}
    assert simulated(client, remove=[1])["result"]["changed"] == 0
    whole = simulated(client, rules=[{"domain": "bash", "pattern": "make *", "decision": "deny"}])["result"]
    assert whole["changed"] == 30
    none_at_all = simulated(client, rules=[])["result"]
    assert {group["change"]["after"] for group in none_at_all["groups"]} == {"ask"}
    assert client.get("/api/rules").json()["rules"][-1]["pattern"] == "make part1 *", "nothing was written"


def test_PE7_a_rule_to_be_added_is_tried_where_it_would_be_written(client, past, home):
    home.config.write_text('{"agents": {"runtime": {"permission": {"rules": ['
                           '{"domain": "bash", "pattern": "make *", "decision": "deny"}]}}}}')  # fmt: skip
    allow = {"domain": "bash", "pattern": "make part0 *", "decision": "allow"}
    tried = simulated(client, add=[allow])["result"]
    assert {group["change"]["after"] for group in tried["groups"]} == {"deny"}, "an allow goes above the denies"
    client.post("/api/rules", allow)
    assert simulated(client)["result"] == tried


def test_AU3_only_a_session_or_only_the_latest(client, past, life):
    deny = [{"domain": "bash", "pattern": "*", "decision": "deny"}]
    assert simulated(client, add=deny, session=past.session)["result"]["changed"] == 30
    assert simulated(client, add=deny, since=life.clock() + 1)["result"]["replayed"] == 0


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"add": [{"domain": "bash", "pattern": "regex:(", "decision": "deny"}]}, 422),
        ({"add": [{"domain": "bash", "pattern": "x", "decision": "perhaps"}]}, 422),
        ({"rules": [], "remove": [0]}, 422),
        ({"remove": [5]}, 404),
        ({"templates": ["nothing"]}, 404),
        ({"session": "nothing"}, 404),
        ({"since": "yesterday"}, 422),
    ],
)
def test_AU3_what_cannot_be_tried_is_refused(client, body, status):
    assert client.post("/api/rules/simulate", body).status_code == status


def test_AU3_an_unknown_job_is_a_404(client):
    assert client.get("/api/rules/simulate/nothing").status_code == 404
    assert client.delete("/api/rules/simulate/nothing").status_code == 404


# the jobs themselves


def endless(begun: threading.Event):
    def work(job):
        begun.set()
        while True:
            job.step(job.done + 1)
            time.sleep(0.001)

    return work


def wait_for(job, state):
    end = time.monotonic() + PATIENCE
    while job.state != state:
        assert time.monotonic() < end, job
        time.sleep(0.01)


def test_AU3_a_job_is_cancelled_between_two_steps():
    jobs, begun = Jobs(), threading.Event()
    job = jobs.start(Job(PATIENCE), endless(begun))
    assert begun.wait(PATIENCE)
    jobs.cancel(job.id)
    wait_for(job, "cancelled")
    assert job.result is None
    jobs.close()


def test_AU3_a_job_ends_at_its_deadline_and_a_failure_is_told():
    jobs = Jobs()
    late = jobs.start(Job(0.05), endless(threading.Event()))
    wait_for(late, "timed_out")

    def fails(job):
        raise ValueError("no such luck")

    failed = jobs.start(Job(PATIENCE), fails)
    wait_for(failed, "failed")
    assert "no such luck" in failed.problem.text()
    jobs.close()


def test_AU3_no_more_than_two_jobs_run_and_old_ones_are_forgotten():
    jobs = Jobs()
    running = [jobs.start(Job(PATIENCE), endless(threading.Event())) for _ in range(2)]
    with pytest.raises(ApiError) as refused:
        jobs.start(Job(PATIENCE), endless(threading.Event()))
    assert (refused.value.status, refused.value.code) == (429, "busy")
    jobs.cancel(running[0].id)
    wait_for(running[0], "cancelled")
    for _ in range(MOST_KEPT + 5):
        wait_for(jobs.start(Job(PATIENCE), lambda job: "done"), "done")
    with pytest.raises(ApiError):
        jobs.get(running[0].id)
    assert jobs.get(running[1].id).state == "running"
    jobs.close()
    wait_for(running[1], "cancelled")
