"""How many plans a second come over HTTP, and how long many clients wait."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import httpx

import reknit
from benchmarks.serving.service import Served, body_of, post

CLIENTS = 32


def plan_in_process(seed: int) -> tuple[float, float]:
    """Wall and processor time of one plan as a program makes it.

    The scenario is fresh, so nothing is remembered.
    """
    scenario = reknit.generate(200, 0.5, seed=seed, split=True)
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    reknit.plan(scenario, "certified")
    return time.perf_counter() - began_s, time.process_time() - began_cpu_s


def measure_rate(service: Served, plans: int, rounds: int) -> dict[str, Any]:
    """The rate over HTTP against that of the same plans in as many processes, in turns.

    The processor time beside it counts the service and its workers, and not the client.
    """
    workers = service.workers
    bodies = [body_of(seed) for seed in range(plans)]
    rounds_measured: list[tuple[float, float, float, float]] = []
    with (
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as processes,
        ThreadPoolExecutor(2 * workers) as threads,
        httpx.Client(base_url=service.url, timeout=600) as http,
    ):
        list(processes.map(plan_in_process, range(2 * workers)))
        list(threads.map(lambda body: post(http, "/v1/plans", body), bodies[: 2 * workers]))
        for _ in range(rounds):
            own = list(processes.map(plan_in_process, range(plans)))
            own_s = sum(wall for wall, _ in own) / workers
            own_cpu_s = sum(cpu for _, cpu in own)
            began_s, began_cpu_s = time.perf_counter(), service.cpu_s()
            answers = list(threads.map(lambda body: post(http, "/v1/plans", body), bodies))
            http_s = time.perf_counter() - began_s
            http_cpu_s = service.cpu_s() - began_cpu_s
            assert all(answer.status_code == 200 for answer in answers)
            rounds_measured.append((own_s, http_s, own_cpu_s, http_cpu_s))
    ratios = [own_s / http_s for own_s, http_s, _, _ in rounds_measured]
    own_s, http_s, own_cpu_s, http_cpu_s = (
        statistics.median(column) / plans for column in zip(*rounds_measured, strict=True)
    )
    return {
        "workers": workers,
        "plans": plans,
        "rounds": rounds,
        "own_per_s": 1.0 / own_s,
        "http_per_s": 1.0 / http_s,
        "ratio": statistics.median(ratios),
        "ratio_least": min(ratios),
        "ratio_most": max(ratios),
        "own_cpu_ms": own_cpu_s * 1e3,
        "http_cpu_ms": http_cpu_s * 1e3,
    }


def rate_text(row: dict[str, Any]) -> str:
    """The sentence on the rate."""
    return (
        f"**Rate** of certified plans of 200 UAVs on {row['workers']} workers: "
        f"{row['http_per_s']:.1f} a second over HTTP against {row['own_per_s']:.1f} in "
        f"{row['workers']} processes, measured in turns: {row['ratio']:.2f} of it in the median "
        f"({row['ratio_least']:.2f} to {row['ratio_most']:.2f} in {row['rounds']} rounds of "
        f"{row['plans']} plans; at least 0.60 is wanted). Processor time of a plan "
        f"{row['own_cpu_ms']:.1f} ms in process, {row['http_cpu_ms']:.1f} ms in the service and "
        "its workers together."
    )


def measure_latency(service: Served, requests: int) -> dict[str, Any]:
    """How long each of many clients at once waits for its plans."""
    bodies = [body_of(seed) for seed in range(20)]
    waits_s: list[float] = []

    def client(number: int) -> None:
        with httpx.Client(base_url=service.url, timeout=600) as http:
            for k in range(requests // CLIENTS):
                began_s = time.perf_counter()
                answer = post(http, "/v1/plans", bodies[(number + k) % len(bodies)])
                waits_s.append(time.perf_counter() - began_s)
                assert answer.status_code == 200

    with ThreadPoolExecutor(CLIENTS) as threads:
        list(threads.map(client, range(CLIENTS)))
    waits_s.sort()
    return {
        "clients": CLIENTS,
        "plans": len(waits_s),
        "median_s": waits_s[len(waits_s) // 2],
        "p99_s": waits_s[int(0.99 * len(waits_s))],
    }


def latency_text(row: dict[str, Any]) -> str:
    """The sentence on the latency."""
    return (
        f"**Latency** with {row['clients']} clients at once, {row['plans']} plans: median "
        f"{row['median_s'] * 1e3:.0f} ms, 99th percentile {row['p99_s'] * 1e3:.0f} ms, "
        f"{row['p99_s'] / row['median_s']:.1f} times the median (below 10 is wanted)."
    )
