"""Mixed load for a long time while workers are killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import statistics
import threading
import time
from collections import Counter
from typing import Any

import httpx

import reknit
from benchmarks.serving.service import JSON, Served, body_of, post
from reknit.plans.files import plan_file
from reknit.swarm.files import scenario_file

CLIENTS = 8
KILL_EVERY_S = 4.0
_SPOILED = 0.1
_IMPATIENT = httpx.Timeout(600, read=0.05)


def soak(service: Served, minutes: float, pause_s: float) -> dict[str, Any]:
    """Mixed load while workers are killed: every request must end in a result or a clear error.

    A client waits up to twice `pause_s` between two requests, so that the load is what a
    machine with other work can bear.
    """
    end_s = time.monotonic() + minutes * 60
    outcomes: Counter[str] = Counter()
    memory_mib: list[float] = []
    requests = _requests()

    def client(number: int) -> None:
        rng = random.Random(number)
        with httpx.Client(base_url=service.url, timeout=600) as http:
            while time.monotonic() < end_s:
                path, body = rng.choice(requests)
                if rng.random() < _SPOILED:
                    body = body[: rng.randrange(len(body))]
                try:
                    outcomes[_ask(http, rng, path, body)] += 1
                except httpx.HTTPError as error:
                    outcomes[f"LOST {type(error).__name__}"] += 1
                time.sleep(rng.uniform(0.0, 2 * pause_s))

    def killer() -> None:
        rng = random.Random(0)
        while time.monotonic() < end_s:
            time.sleep(KILL_EVERY_S * rng.uniform(0.5, 1.5))
            # One at least must have got ready since, or on a busy machine nobody ever works.
            if service.health()["workers_ready"]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rng.choice(service.worker_pids()), signal.SIGKILL)
                    outcomes["workers killed"] += 1

    def watch() -> None:
        while time.monotonic() < end_s:
            memory_mib.append(service.memory_mib())
            time.sleep(min(5.0, minutes * 6))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    threads += [threading.Thread(target=killer), threading.Thread(target=watch)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    third = max(1, len(memory_mib) // 3)
    killed = outcomes.pop("workers killed", 0)
    return {
        "minutes": minutes,
        "pause_s": pause_s,
        "requests": sum(outcomes.values()),
        "killed": killed,
        "outcomes": dict(sorted(outcomes.items())),
        "memory_first_mib": statistics.mean(memory_mib[:third]),
        "memory_last_mib": statistics.mean(memory_mib[-third:]),
        "memory_most_mib": max(memory_mib),
        "settled": service.settled(),
        "workers": service.workers,
    }


def soak_text(row: dict[str, Any]) -> str:
    """The sentence on the soak."""
    outcomes = ", ".join(f"{count} `{name}`" for name, count in row["outcomes"].items())
    lost = sum(n for name, n in row["outcomes"].items() if name.startswith(("LOST", "500")))
    end = "every worker was back and no job left" if row["settled"] else "NOT SETTLED"
    return (
        f"**Soak**, {row['minutes']:g} minutes of mixed requests by {CLIENTS} clients, waited for, "
        f"as jobs, cancelled and hung up; {row['killed']} workers were killed by SIGKILL, one "
        f"every {row['minutes'] * 60 / max(1, row['killed']):.1f} s. {row['requests']} requests "
        f"ended as {outcomes}; {lost} lost or of status 500. Memory of the service "
        f"{row['memory_first_mib']:.1f} MiB in the mean of the first third and "
        f"{row['memory_last_mib']:.1f} of the last, {row['memory_most_mib']:.1f} at most; at the "
        f"end {end}."
    )


def _requests() -> list[tuple[str, bytes]]:
    """Right requests of every kind."""
    requests: list[tuple[str, bytes]] = []
    for seed, uavs in enumerate((20, 60, 200, 200, 400)):
        body = body_of(seed, uavs)
        requests.append(("/v1/plans", body))
        requests.append(("/v1/recoveries", body))
        requests.append(("/v1/bounds", body.replace(b', "planner": "certified"', b"")))
        several = b'"planners": ["certified", "hero", "contraction"], "frames": 20'
        requests.append(("/v1/comparisons", body.replace(b'"planner": "certified"', several)))
        requests.append(("/v1/scenarios", json.dumps({"uavs": uavs}).encode()))
        scenario = reknit.generate(uavs, 0.5, seed=seed, split=True)
        plan = plan_file(reknit.plan(scenario, "contraction")).model_dump(mode="json")
        held = {"scenario": scenario_file(scenario).model_dump(mode="json"), "plan": plan}
        requests.append(("/v1/verifications", json.dumps(held).encode()))
    return requests


def _ask(http: httpx.Client, rng: random.Random, path: str, body: bytes) -> str:
    """One request in one of four ways (waited for, hung up, as a job, as a job that is
    cancelled), and how it ended.
    """
    way = rng.choice(("waited", "waited", "job", "cancelled", "hung up"))
    if way == "hung up":
        try:
            answer = http.post(path, content=body, headers=JSON, timeout=_IMPATIENT)
        except httpx.ReadTimeout:
            return "hung up by its client"
        return _kind(answer)
    if way == "waited":
        return _kind(post(http, path, body))
    answer = http.post(path, content=body, headers={**JSON, "prefer": "respond-async"})
    if answer.status_code != 202:
        return _kind(answer)
    place = answer.headers["location"]
    if way == "cancelled":
        time.sleep(rng.uniform(0.0, 0.2))
        return f"job {http.delete(place).json()['state']} when its client cancelled it"
    with http.stream("GET", f"{place}/events") as events:
        for _ in events.iter_lines():
            pass
    answer = http.get(f"{place}/result")
    http.delete(place)
    return _kind(answer)


def _kind(answer: httpx.Response) -> str:
    """Its status, and which problem it is, if one."""
    if answer.is_success:
        return f"{answer.status_code}"
    return f"{answer.status_code} {answer.json()['type'].rpartition(':')[2]}"
