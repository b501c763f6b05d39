"""No body makes the service fail: cases made from its own description, and random bodies."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from benchmarks.serving.service import Served, post

OPERATIONS = ("plans", "recoveries", "comparisons", "bounds", "verifications", "scenarios")
OTHER_PATHS = f"^/v1/(?!({'|'.join(OPERATIONS)})$)"
AT_ONCE = 6
"""Requests that are under way at the same time."""
_ROUNDS = 4
_DESCRIBED_OPERATIONS = 10
"""About as many as do not run out of different cases."""
ANSWERS = (200, 400, 413, 422, 504)
"""What a body may be answered, whatever is in it."""
_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
)
_SCENARIO: dict[str, Any] = {
    "positions_m": [[0.0, 0.0], [90.0, 10.0], [180.0, 0.0], [270.0, 10.0]],
    "destroyed": [2],
    "radio_range_m": 120.0,
    "max_speed_mps": 10.0,
}
_ODD = (
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


class Failed(Exception):
    """An answer that must not be."""


def described_cases(
    url: str, cases: int, phases: str, paths: str = "^/v1/", *, seed: int = 7, at_once: int = 1
) -> int:
    """Run schemathesis on the service's own description, up to so many cases for every operation
    on those paths; how many it made. `Failed` if a check fails.
    """
    command = [
        str(Path(sys.executable).parent / "schemathesis"),
        "run",
        f"{url}v1/openapi.json",
        *("--checks", ",".join(_CHECKS)),
        *("--include-path-regex", paths),
        *("--max-examples", str(cases)),
        *("--phases", phases),
        *("--mode", "all"),
        *("--seed", str(seed)),
        *("--workers", str(at_once)),
        *("--request-timeout", "100"),
        "--no-color",
    ]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(done.stdout[-6000:] + done.stderr[-2000:])
    made = re.search(r"([\d,]+) generated", done.stdout)
    if made is None:
        raise Failed(f"schemathesis does not say how many cases it made: {done.stdout[-2000:]}")
    return int(made.group(1).replace(",", ""))


def random_bodies(http: httpx.Client, count: int, seed: int) -> Counter[int]:
    """Send bodies that are random bytes, or were right before one to three places in them were
    spoiled; how many got which status. `Failed` at an answer that is none of `ANSWERS`.
    """
    rng = random.Random(seed)
    good = {name: json.dumps(body) for name, body in _good_bodies().items()}
    statuses: Counter[int] = Counter()
    for _ in range(count):
        name = rng.choice(OPERATIONS)
        if rng.random() < 0.1:
            body = rng.randbytes(rng.randrange(200))
        else:
            body = _spoiled(good[name], rng).encode()
        answer = post(http, f"/v1/{name}", body)
        if answer.status_code not in ANSWERS:
            raise Failed(f"{answer.status_code} from /v1/{name} for {body!r}: {answer.text}")
        json.loads(answer.content)
        statuses[answer.status_code] += 1
    return statuses


def _spoiled(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 3)):
        begin = rng.randrange(len(text))
        end = min(len(text), begin + rng.randint(0, 8))
        filling = rng.choice(_ODD) if rng.random() < 0.5 else chr(rng.randrange(32, 0x250))
        text = text[:begin] + filling + text[end:]
    return text


def _good_bodies() -> dict[str, dict[str, Any]]:
    """A right body for every operation."""
    import reknit
    from reknit.plans.files import plan_file
    from reknit.swarm.files import ScenarioFile, scenario_of

    work = {"planner": "certified", "seed": 1, "budget_s": 0.05, "parameters": {"effort": 3}}
    plan = reknit.plan(scenario_of(ScenarioFile(**_SCENARIO)), "certified")
    return {
        "plans": {"scenario": _SCENARIO, **work},
        "recoveries": {"scenario": _SCENARIO, **work, "frames": 5},
        "comparisons": {
            "scenario": _SCENARIO,
            "planners": ["certified", "hero"],
            "budget_s": 0.05,
            "frames": 5,
        },
        "bounds": {"scenario": _SCENARIO, "budget_s": 0.05},
        "verifications": {
            "scenario": _SCENARIO,
            "plan": plan_file(plan).model_dump(mode="json"),
        },
        "scenarios": {"uavs": 20, "destroyed": 0.5, "seed": 3, "dim": 2, "radio_range_m": 120.0},
    }


def measure_described(service: Served, cases: int) -> dict[str, Any]:
    """At least so many described cases, in rounds of other random numbers each, and what is left
    of them.
    """
    made = rounds = 0
    while made < cases:
        share = max(1, cases // (_ROUNDS * _DESCRIBED_OPERATIONS))
        seed = 7 + rounds
        # Schemathesis makes the cases of `coverage` by deep recursion, for which its further
        # threads have no room in Python 3.11.
        made += described_cases(service.url, share, "coverage", seed=seed)
        phases = "examples,fuzzing"
        made += described_cases(service.url, share, phases, seed=seed, at_once=AT_ONCE)
        rounds += 1
        print(f"{made} described cases", file=sys.stderr, flush=True)
    return {"cases": made, **_left(service)}


def measure_bodies(service: Served, bodies: int) -> dict[str, Any]:
    """At least so many random bodies, and what is left of them."""

    def send(number: int) -> Counter[int]:
        with httpx.Client(base_url=service.url, timeout=600) as http:
            return random_bodies(http, -(-bodies // AT_ONCE), seed=2 + number)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        statuses = sum(threads.map(send, range(AT_ONCE)), Counter[int]())
    return {
        "bodies": sum(statuses.values()),
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
        **_left(service),
    }


def _left(service: Served) -> dict[str, Any]:
    """How many answers were a 500, and whether all is as it was before."""
    metrics = httpx.get(f"{service.url}v1/metrics", timeout=60).text
    faults = sum(
        int(line.split()[-1])
        for line in metrics.splitlines()
        if line.startswith("reknit_requests_total") and 'status="500"' in line
    )
    return {"faults": faults, "settled": service.settled(), "workers": service.workers}


def described_text(row: dict[str, Any]) -> str:
    """The sentence on the described cases."""
    return (
        f"**Described cases**: {row['cases']:,} that schemathesis made from the service's own "
        f"description, every answer as described. {_left_text(row)}"
    )


def bodies_text(row: dict[str, Any]) -> str:
    """The sentence on the random bodies."""
    statuses = ", ".join(f"{count} `{status}`" for status, count in row["statuses"].items())
    return f"**Random bodies**: {row['bodies']:,}, answered {statuses}. {_left_text(row)}"


def _left_text(row: dict[str, Any]) -> str:
    end = "exactly the wanted workers were there" if row["settled"] else "NOT SETTLED"
    return (
        f"{row['faults']} of status 500, and at the end no job was left and {end} "
        f"({row['workers']})."
    )
