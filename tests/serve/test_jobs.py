"""Jobs: progress, cancelling, limits, lost workers, shutting down."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidParameter
from reknit.serve.jobs import Job, JobStore
from reknit.serve.settings import ServeSettings
from tests.serve.running import Running, body_of, busy_body, running, slow_body, until, value_of

LATER = {"prefer": "respond-async"}


def _busy(http: httpx.Client) -> int:
    return int(http.get("/v1/health").json()["busy"])


def _events(http: httpx.Client, place: str) -> list[tuple[str, dict[str, Any]]]:
    rows: list[tuple[str, dict[str, Any]]] = []
    with http.stream("GET", f"{place}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in stream.iter_lines():
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                rows.append((name, json.loads(line[6:])))
    return rows


def test_a_job_reports_and_ends_with_its_result(http: httpx.Client) -> None:
    """202 with a place, rising progress as events, an end, and then the result is kept."""
    scenario = reknit.generate(1_000, 0.5, seed=2)
    body = body_of(scenario, planners=["contraction", "certified"], frames=2)
    accepted = http.post("/v1/comparisons", json=body, headers=LATER)
    assert accepted.status_code == 202
    place = accepted.headers["location"]
    events = _events(http, place)
    assert [name for name, _ in events[:-1]] == ["progress"] * (len(events) - 1)
    assert events[-1][0] == "end"
    assert events[-1][1]["state"] == "done"
    fractions = [status["fraction"] for _, status in events]
    assert fractions == sorted(fractions)
    assert any(0.0 < fraction < 1.0 for fraction in fractions)
    result = http.get(f"{place}/result")
    assert result.status_code == 200
    assert [row["planner"] for row in result.json()["rows"]] == body["planners"]


def _previews(
    http: httpx.Client, scenario: reknit.Scenario, planner: str, **parameters: Any
) -> list[dict[str, Any]]:
    body = body_of(scenario, planner=planner, parameters=parameters, frames=2)
    place = http.post("/v1/recoveries", json=body, headers=LATER).headers["location"]
    return [status["preview"] for _, status in _events(http, place) if status["preview"]]


def test_learning_is_streamed(http: httpx.Client) -> None:
    """While ML-DAGL iterates, its targets arrive one after the other and its best time falls."""
    scenario = reknit.generate(120, 0.5, seed=3, split=True)
    previews = _previews(http, scenario, "ml-dagl", preset="paper", iterations=20)
    assert len(previews) >= 3
    places = [np.asarray(preview["targets_m"]) for preview in previews]
    assert all(place.shape == scenario.survivor_positions.shape for place in places)
    assert not np.array_equal(places[0], places[-1])
    best = [preview["recovery_time_s"] for preview in previews if preview["recovery_time_s"]]
    assert best == sorted(best, reverse=True)


def test_the_proof_is_streamed(http: httpx.Client) -> None:
    """While `certified` searches, its plan gets faster, its bound rises, and neither crosses."""
    scenario = reknit.generate(1_000, 0.95, seed=3, split=True)
    previews = _previews(http, scenario, "certified")
    times_s = [preview["recovery_time_s"] for preview in previews]
    bounds_s = [preview["lower_bound_s"] for preview in previews]
    assert len(set(times_s)) > 2
    assert len(set(bounds_s)) > 1
    assert times_s == sorted(times_s, reverse=True)
    assert bounds_s == sorted(bounds_s)
    assert bounds_s[-1] <= times_s[-1]
    assert len(previews[0]["targets_m"]) == len(scenario.survivors)


def test_a_deadline_ends_the_search_and_not_the_flight() -> None:
    """A plan that the deadline cut short is still flown to the reconnection; a bound is what is
    proved by then.
    """
    scenario = reknit.generate(1_000, 0.95, seed=3, split=True)
    with running("--workers", "1", "--max-budget", "0.3") as service, service.http() as http:
        run = http.post(
            "/v1/recoveries", json=body_of(scenario, planner="certified", frames=2)
        ).json()
        assert run["plan"]["status"] == "feasible"
        assert run["provenance"]["cut_short"] is True
        assert run["flight"]["reconnected_at_s"] is not None
        bound = http.post("/v1/bounds", json=body_of(scenario, budget_s=0.0)).json()
        assert 0.0 < bound["bound_s"] <= run["plan"]["recovery_time_s"]


def test_a_cancelled_job_frees_its_worker(service: Running, http: httpx.Client) -> None:
    """DELETE ends a running job; the other worker never notices, and both are there again."""
    before = set(service.worker_pids())
    place = http.post("/v1/comparisons", json=slow_body(), headers=LATER).headers["location"]
    until(lambda: http.get(place).json()["state"] == "running")
    assert http.get(f"{place}/result").status_code == 425
    answer = http.delete(place)
    assert answer.json()["state"] == "cancelled"
    assert http.get(place).status_code == 404
    assert _busy(http) == 0
    until(lambda: http.get("/v1/health").json()["workers_ready"] == 2)
    assert len(before & set(service.worker_pids())) >= 1


def test_a_client_that_hangs_up_frees_its_worker(service: Running, http: httpx.Client) -> None:
    """A connection closed in the middle of a job cancels it."""
    host, port = service.url.removeprefix("http://").rstrip("/").split(":")
    body = json.dumps(slow_body()).encode()
    head = (
        f"POST /v1/comparisons HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((host, int(port))) as raw:
        raw.sendall(head.encode() + body)
        until(lambda: _busy(http) == 1)
    until(lambda: _busy(http) == 0)


def test_a_killed_worker_is_replaced_and_its_job_done(service: Running, http: httpx.Client) -> None:
    """Kill -9 under a job: another worker begins it again, and the answer is right."""
    retried = value_of(http.get("/v1/metrics").text, "reknit_jobs_retried_total")
    with ThreadPoolExecutor(1) as threads, service.http() as other:
        answer = threads.submit(other.post, "/v1/comparisons", json=busy_body())
        until(lambda: _busy(http) == 1)
        for pid in service.worker_pids():
            os.kill(pid, signal.SIGKILL)
        response = answer.result()
    assert response.status_code == 200
    assert response.json()["rows"][0]["recovery"]["plan"]["status"] in ("optimal", "feasible")
    assert value_of(http.get("/v1/metrics").text, "reknit_jobs_retried_total") > retried
    until(lambda: http.get("/v1/health").json()["workers_ready"] == 2)
    until(lambda: len(service.worker_pids()) == 2)


def test_a_job_that_loses_every_worker_ends_in_a_clear_error(
    service: Running, http: httpx.Client
) -> None:
    """After three lost workers a job ends in 503 with Retry-After; the service goes on."""
    stop = threading.Event()

    def keep_killing() -> None:
        while not stop.is_set():
            if _busy(killer) == 1:
                for pid in service.worker_pids():
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    with service.http() as killer:
        thread = threading.Thread(target=keep_killing)
        thread.start()
        response = http.post("/v1/comparisons", json=slow_body())
        stop.set()
        thread.join()
    assert response.status_code == 503
    assert response.headers["retry-after"] == "5"
    assert response.json()["type"] == "urn:reknit:WorkerLost"
    until(lambda: http.get("/v1/health").json()["workers_ready"] == 2)
    assert http.post("/v1/scenarios", json={"uavs": 5}).status_code == 200


def test_a_full_queue_says_when_to_come_again() -> None:
    """With one worker and one place in the queue the third job is refused by 429; then the
    service is told to end: the running and the waiting job are handed back, no worker stays.
    """
    options = ("--workers", "1", "--queue", "1", "--drain", "1")
    with running(*options) as service, service.http() as http:
        body = slow_body()
        first = http.post("/v1/comparisons", json=body, headers=LATER)
        until(lambda: _busy(http) == 1)
        second = http.post("/v1/comparisons", json=body, headers=LATER)
        third = http.post("/v1/comparisons", json=body, headers=LATER)
        assert [one.status_code for one in (first, second, third)] == [202, 202, 429]
        assert int(third.headers["retry-after"]) >= 1
        assert http.delete(second.headers["location"]).json()["state"] == "cancelled"
        assert http.post("/v1/comparisons", json=body, headers=LATER).status_code == 202
        pids = service.worker_pids()
        service.process.send_signal(signal.SIGTERM)
        events = _events(http, first.headers["location"])
        assert events[-1][0] == "end"
        ended = events[-1][1]
        assert ended["state"] == "done" or ended["problem"]["type"] == "urn:reknit:ShuttingDown"
        assert service.process.wait(60) == 0
        assert not any(_is_alive(pid) for pid in pids)


def test_shutting_down_finishes_what_was_accepted() -> None:
    """A request that is being worked on when SIGTERM comes gets its answer."""
    with running("--workers", "1") as service, service.http() as http:
        with ThreadPoolExecutor(1) as threads, service.http() as other:
            answer = threads.submit(other.post, "/v1/comparisons", json=busy_body())
            until(lambda: _busy(http) == 1)
            service.process.send_signal(signal.SIGTERM)
            assert answer.result().status_code == 200
        assert service.process.wait(60) == 0


def test_a_result_can_be_fetched_while_the_service_ends() -> None:
    """A job that ends after SIGTERM: no new work is taken, but its client comes anew, fetches the
    result, and only then the service is gone.
    """
    with running("--workers", "1") as service, service.http() as http:
        place = http.post("/v1/comparisons", json=busy_body(), headers=LATER).headers["location"]
        until(lambda: _busy(http) == 1)
        service.process.send_signal(signal.SIGTERM)
        until(lambda: http.get("/v1/health").json()["status"] == "draining")
        refused = http.post("/v1/scenarios", json={"uavs": 5})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert _events(http, place)[-1][1]["state"] == "done"
        with service.http() as anew:
            assert anew.get(f"{place}/result").status_code == 200
        assert service.process.wait(60) == 0


def test_a_result_from_just_before_the_signal_can_be_fetched() -> None:
    """A job that had ended when SIGTERM came, but whose client had not yet come for its result."""
    with running("--workers", "1") as service, service.http() as http:
        body = body_of(reknit.generate(20, 0.5, seed=4))
        place = http.post("/v1/bounds", json=body, headers=LATER).headers["location"]
        until(lambda: http.get(place).json()["state"] == "done")
        service.process.send_signal(signal.SIGTERM)
        until(lambda: http.get("/v1/health").json()["status"] == "draining")
        time.sleep(0.5)  # longer than a service takes that waits for nobody
        with service.http() as anew:
            assert anew.get(f"{place}/result").status_code == 200
        assert service.process.wait(60) == 0


def test_a_service_that_dies_leaves_no_worker() -> None:
    """Workers end when the service is killed, even those that are idle."""
    with running("--workers", "2") as service:
        with service.http() as http:
            until(lambda: http.get("/v1/health").json()["workers_ready"] == 2)
        pids = service.worker_pids()
        assert len(pids) == 2
        service.process.kill()
        until(lambda: not any(_is_alive(pid) for pid in pids))


def test_a_worker_has_no_more_memory_than_it_may() -> None:
    """A swarm of 20 million links does not fit into 256 MiB: a clear error, and work goes on."""
    places = [[float(number % 80), float(number // 80)] for number in range(6_400)]
    swarm = {"positions_m": places, "destroyed": [0], "radio_range_m": 1e6}
    with running("--workers", "1", "--worker-memory", "256") as service, service.http() as http:
        answer = http.post("/v1/recoveries", json={"scenario": swarm, "planner": "hero"})
        assert answer.status_code == 422
        assert answer.json()["type"] == "urn:reknit:OutOfMemory"
        assert http.post("/v1/scenarios", json={"uavs": 50}).status_code == 200


def test_the_browser_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--open` hands the address to the browser, and a browser that stays does not hold up the
    service.
    """
    told = tmp_path / "told"
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\necho $1 > {told}\nsleep 3\n")
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with running("--workers", "1", "--open") as service:
        until(told.exists)
        until(lambda: told.read_text().strip() == service.url)


def test_off_loopback_a_token_is_asked_for() -> None:
    """Without the token the data is closed, with it open; the page itself has no secrets."""
    token = "a-token-of-enough-letters"
    with running("--workers", "1", "--host", "0.0.0.0", token=token) as service:
        with service.http() as http:
            assert http.get("/v1/planners").status_code == 401
            wrong = {"authorization": f"Bearer {token}x"}
            assert http.get("/v1/planners", headers=wrong).status_code == 401
            assert http.get("/").status_code == 200
        with reknit.Client(service.url, token=token) as client:
            assert "certified" in client.planners()


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"host": "0.0.0.0"}, "host"),
        ({"host": "example.org"}, "host"),
        ({"token": "short"}, "token"),
        ({"port": 70_000}, "port"),
        ({"workers": 0}, "workers"),
        ({"max_budget_s": float("nan")}, "max_budget_s"),
    ],
)
def test_settings_are_checked(fields: dict[str, Any], name: str) -> None:
    """A service that would be open or without limits cannot be set up."""
    with pytest.raises(InvalidParameter) as caught:
        ServeSettings(**fields)
    assert caught.value.field == name


def test_results_expire_and_are_limited() -> None:
    """Old results go, then the oldest beyond the number or the bytes; jobs at work stay."""
    store = JobStore(ttl_s=1e9, most=2, most_bytes=25)
    at_work = Job("plans", b"", None)
    store.add(at_work)
    jobs = [Job("plans", b"", None) for _ in range(3)]
    for job in jobs:
        store.add(job)
        job.finish(b"x" * 10)
    assert store.get(jobs[0].id) is None
    assert store.get(jobs[2].id) is jobs[2]
    jobs[2].result = b"x" * 20
    assert store.get(jobs[1].id) is None
    assert store.get(at_work.id) is at_work
    expired = JobStore(ttl_s=0.0, most=9, most_bytes=99)
    expired.add(jobs[0])
    assert expired.get(jobs[0].id) is None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
