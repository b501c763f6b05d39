"""The client believes nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import reknit
from reknit.base.context import never
from reknit.base.progress import silent
from reknit.serve.tasks import Call, plan_task
from reknit.swarm.files import scenario_file
from tests.serve.running import Running


@contextmanager
def _answering(status: int, body: bytes) -> Iterator[str]:
    """A server that gives everybody this answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def scenario() -> reknit.Scenario:
    return reknit.generate(50, 0.5, seed=1, split=True)


def test_the_client_returns_the_same_plan(service: Running, scenario: reknit.Scenario) -> None:
    """Client.plan gives what reknit.plan gives, and names and scenarios travel too."""
    with reknit.Client(service.url) as client:
        plan = client.plan(scenario, "certified", seed=3, effort=50)
        own = reknit.plan(scenario, "certified", seed=3, effort=50)
        assert np.array_equal(plan.targets, own.targets)
        for name in ("planner", "seed", "parameters", "details"):
            assert getattr(plan, name) == getattr(own, name)
        assert plan.compute_s > 0.0
        assert set(client.planners()) <= set(reknit.planners())
        assert client.generate(uavs=30, destroyed=10, seed=2) == reknit.generate(30, 10, seed=2)


def test_errors_arrive_as_they_left(service: Running, scenario: reknit.Scenario) -> None:
    """The service's typed errors are raised again on this side."""
    with reknit.Client(service.url) as client:
        with pytest.raises(reknit.errors.InvalidParameter, match=r"effort is -1; allowed: a whole"):
            client.plan(scenario, "certified", effort=-1)
        with pytest.raises(reknit.errors.NoPlan):
            client.plan(scenario, "hero")
        with pytest.raises(reknit.errors.ServiceError, match="no-such"):
            client.plan(scenario, "no-such-planner")


def test_a_lying_service_is_found_out(scenario: reknit.Scenario) -> None:
    """A plan whose claim does not hold raises, whatever the service says of it."""
    body = {"scenario": scenario_file(scenario).model_dump(mode="json"), "planner": "certified"}
    lie = json.loads(plan_task(json.dumps(body).encode(), Call(None, silent, never, never)))
    lie["plan"]["targets_m"] = scenario.survivor_positions.tolist()
    with (
        _answering(200, json.dumps(lie).encode()) as url,
        reknit.Client(url) as client,
        pytest.raises(reknit.errors.InvalidPlan),
    ):
        client.plan(scenario, "certified")


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b'{"targets_m": 3}'])
def test_an_answer_that_is_none(scenario: reknit.Scenario, body: bytes) -> None:
    """Whatever a server sends, the client ends in one typed error."""
    for status in (200, 404, 500):
        with (
            _answering(status, body) as url,
            reknit.Client(url) as client,
            pytest.raises(reknit.errors.ServiceError),
        ):
            client.plan(scenario)


def test_a_service_that_is_not_there(scenario: reknit.Scenario) -> None:
    """Nobody listening and an address that is none are typed errors."""
    with reknit.Client("http://127.0.0.1:9") as client, pytest.raises(reknit.errors.ServiceError):
        client.plan(scenario)
    for url in ("nonsense", "ftp://127.0.0.1", "http://[::1"):
        with pytest.raises(reknit.errors.InvalidParameter):
            reknit.Client(url)
