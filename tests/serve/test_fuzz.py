"""No body makes the service fail: cases made from its own description, and random bytes."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.serve.running import Running, until

KIND = {"content-type": "application/json"}
PATHS = ("plans", "recoveries", "comparisons", "bounds", "verifications", "scenarios")
_OTHERS = f"^/v1/(?!({'|'.join(PATHS)})$)"


def _schemathesis(
    service: Running, cases: int, phases: str, folder: Path, paths: str = "^/v1/"
) -> None:
    """Run schemathesis as its command, so many cases for every operation on those paths; it
    exits with 1 when a check fails.
    """
    command = [
        str(Path(sys.executable).parent / "schemathesis"),
        "run",
        f"{service.url}v1/openapi.json",
        "--checks",
        "status_code_conformance,content_type_conformance,"
        "response_schema_conformance,response_headers_conformance",
        "--include-path-regex",
        paths,
        "--max-examples",
        str(cases),
        "--phases",
        phases,
        "--mode",
        "all",
        "--seed",
        "7",
        "--request-timeout",
        "100",
        "--no-color",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def _random_bodies(http: httpx.Client, count: int, seed: int) -> None:
    """Bodies that were right before one to three places in them were spoiled."""
    rng = random.Random(seed)
    good: dict[str, Any] = {
        "scenario": {
            "positions_m": [[0.0, 0.0], [90.0, 10.0], [180.0, 0.0], [270.0, 10.0]],
            "destroyed": [2],
            "radio_range_m": 120.0,
            "max_speed_mps": 10.0,
        },
        "planner": "certified",
        "seed": 1,
        "budget_s": 0.05,
        "parameters": {"effort": 3},
    }
    odd = (
        "null",
        "-1",
        "1e999",
        "NaN",
        '"x"',
        "[]",
        "{}",
        "1e-320",
        "9" * 400,
        "true",
        '"\\ud800"',
    )
    for _ in range(count):
        text = json.dumps(good)
        for _ in range(rng.randint(1, 3)):
            begin = rng.randrange(len(text))
            end = min(len(text), begin + rng.randint(0, 8))
            filling = rng.choice(odd) if rng.random() < 0.5 else chr(rng.randrange(32, 0x250))
            text = text[:begin] + filling + text[end:]
        path = f"/v1/{rng.choice(PATHS[:4])}"
        answer = http.post(path, content=text.encode(), headers=KIND)
        assert answer.status_code in (200, 400, 413, 422, 504), (answer.status_code, path, text)
        json.loads(answer.content)


def _settled(service: Running, http: httpx.Client) -> None:
    """No answer was a 500, and nothing is left over: no job, and exactly the wanted workers."""
    assert 'status="500"' not in http.get("/v1/metrics").text
    until(lambda: http.get("/v1/health").json()["busy"] == 0)
    until(lambda: http.get("/v1/health").json()["workers_ready"] == 2)
    until(lambda: len(service.worker_pids()) == 2)


def test_described_cases(service: Running, http: httpx.Client, tmp_path: Path) -> None:
    """A few hundred cases of schemathesis: every answer is as described, none is a 500."""
    _schemathesis(service, 18, "examples,fuzzing", tmp_path)
    _settled(service, http)


def test_random_bodies(service: Running, http: httpx.Client) -> None:
    """Spoiled bodies get a result or a problem that says why not."""
    _random_bodies(http, 200, seed=1)
    _settled(service, http)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("paths", [*(f"^/v1/{name}$" for name in PATHS), _OTHERS])
def test_ten_thousand_described_cases(
    service: Running, http: httpx.Client, tmp_path: Path, paths: str
) -> None:
    """10^4 cases of schemathesis, 900 an operation: no 500, no worker too few or too many."""
    _schemathesis(service, 900, "examples,coverage,fuzzing", tmp_path, paths)
    _settled(service, http)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_ten_thousand_random_bodies(service: Running, http: httpx.Client) -> None:
    """10^4 spoiled bodies: no 500, no worker too few or too many."""
    _random_bodies(http, 10_000, seed=2)
    _settled(service, http)
