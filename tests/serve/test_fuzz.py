"""No body makes the service fail: cases made from its own description, and random bytes."""

from __future__ import annotations

import httpx
import pytest
from benchmarks.serving.fuzz import OPERATIONS, OTHER_PATHS, described_cases, random_bodies

from tests.serve.running import Running, until


def _settled(service: Running, http: httpx.Client) -> None:
    """No answer was a 500, and nothing is left over: no job, and exactly the wanted workers."""
    assert 'status="500"' not in http.get("/v1/metrics").text
    until(lambda: http.get("/v1/health").json()["busy"] == 0)
    until(lambda: http.get("/v1/health").json()["workers_ready"] == 2)
    until(lambda: len(service.worker_pids()) == 2)


def test_described_cases(service: Running, http: httpx.Client) -> None:
    """A few hundred cases of schemathesis: every answer is as described, none is a 500."""
    assert described_cases(service.url, 18, "examples,fuzzing") > 100
    _settled(service, http)


def test_random_bodies(service: Running, http: httpx.Client) -> None:
    """Spoiled bodies get a result or a problem that says why not."""
    statuses = random_bodies(http, 200, seed=1)
    assert {200, 400, 422} <= statuses.keys()
    _settled(service, http)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("paths", [*(f"^/v1/{name}$" for name in OPERATIONS), OTHER_PATHS])
def test_ten_thousand_described_cases(service: Running, http: httpx.Client, paths: str) -> None:
    """10^4 cases of schemathesis, 900 an operation: no 500, no worker too few or too many."""
    described_cases(service.url, 900, "examples,coverage,fuzzing", paths)
    _settled(service, http)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_ten_thousand_random_bodies(service: Running, http: httpx.Client) -> None:
    """10^4 spoiled bodies: no 500, no worker too few or too many."""
    random_bodies(http, 10_000, seed=2)
    _settled(service, http)
