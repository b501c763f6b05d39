"""By how much plans overrun a budget, and how long they take to end once they are cancelled.

Run: python -m benchmarks.bench_limits [budgets] [cancel] [--planners certified,gcn] [--cases 3]

Both are measured in seconds of the processor, which do not depend on what else the machine does,
and by the clock; for the former the budget goes by the processor's time too.
Allowed: 30 ms or 5 % over the budget, and 50 ms after the cancel, at N <= 1000.
"""

from __future__ import annotations

import argparse
import gc
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import reknit
from benchmarks.families import RANGE_M, SPEED_MPS
from reknit.algorithms.learned.common.threads import THREAD_NAME
from reknit.base import budget as budget_module
from reknit.base.errors import ReknitError

BUDGETS_S = (0.0, 0.01, 0.05, 0.2, 1.0)
CANCEL_AFTER_S = (0.0, 0.02, 0.1, 0.3, 1.0)
STEERING = ("center-fly", "hero", "sidr", "mdsg-apf")
COMBINED = ("gcn+contraction", "ml-dagl+certified")

Make = Callable[[int], reknit.Scenario]


def _damaged(uavs: int, share: float, **demands: Any) -> Make:
    return lambda seed: reknit.generate(uavs, round(uavs * share), seed, split=True, **demands)


def _sparse(seed: int) -> reknit.Scenario:
    points = np.random.default_rng(seed).uniform(0.0, 6_000.0, (1_000, 2))
    return reknit.Scenario(points, (), RANGE_M, SPEED_MPS)


def _anchored(anchors: int) -> Make:
    def make(seed: int) -> reknit.Scenario:
        scenario = _damaged(1_000, 0.5)(seed)
        return replace(scenario, anchors=scenario.survivors[:anchors])

    return make


KINDS: dict[str, Make] = {
    "N=200, half lost": _damaged(200, 0.5),
    "N=200, 90 % lost": _damaged(200, 0.9),
    "N=1000, half lost": _damaged(1_000, 0.5),
    "N=1000, 90 % lost": _damaged(1_000, 0.9),
    "1000 survivors, sparse": _sparse,
    "N=1000, separation": _damaged(1_000, 0.5, min_separation_m=5.0),
    "N=1000, k=2": _damaged(1_000, 0.5, connectivity=2),
    "N=1000, k=3": _damaged(1_000, 0.5, connectivity=3),
    "N=1000, k=10": _damaged(1_000, 0.1, connectivity=10),
    "N=1000, k=3, separation": _damaged(1_000, 0.5, connectivity=3, min_separation_m=60.0),
    "N=1000, an anchor": _anchored(1),
    "N=1000, 8 anchors": _anchored(8),
}


def _names() -> list[str]:
    return [*(name for name in reknit.planners() if name not in STEERING), *COMBINED]


def scenarios(cases: int) -> Iterator[tuple[str, reknit.Scenario]]:
    """Every kind, `cases` times, with nothing computed about it yet."""
    for kind, make in KINDS.items():
        for seed in range(cases):
            yield kind, make(500 + seed)


class ProcessorClock:
    """The processor's time of this process, which notes when a limit was first seen to be over.

    A planner that works on a thread of its own is left to end by itself; what it still computes
    while its caller puts the plan together is not the caller's time.
    """

    def __init__(self, limit_s: float) -> None:
        self._until_s = time.process_time() + limit_s
        self._seen: tuple[float, float] | None = None

    def __call__(self) -> float:
        now_s = time.process_time()
        if now_s >= self._until_s and self._seen is None:
            self._seen = now_s - self._until_s, time.thread_time()
        return now_s

    @property
    def over_s(self) -> float | None:
        """Seconds beyond the limit until now; None if it was not seen to be over."""
        return None if self._seen is None else self._seen[0] + time.thread_time() - self._seen[1]


def overrun_s(
    scenario: reknit.Scenario, planner: str, budget_s: float
) -> tuple[float, reknit.Plan]:
    """The processor's seconds beyond a budget that goes by them too, and the plan."""
    clock = ProcessorClock(budget_s)
    setattr(budget_module, "time", SimpleNamespace(perf_counter=clock))  # noqa: B010
    plan = reknit.plan(replace(scenario), planner, budget_s=budget_s)
    processor_s = clock.over_s
    setattr(budget_module, "time", time)  # noqa: B010
    wait_for_planners()
    return 0.0 if processor_s is None else processor_s, plan


def overruns_s(scenario: reknit.Scenario, planner: str, budget_s: float) -> tuple[float, float]:
    """The processor's and the clock's seconds beyond a budget."""
    processor_s, _ = overrun_s(scenario, planner, budget_s)
    started_s = time.perf_counter()
    reknit.plan(replace(scenario), planner, budget_s=budget_s)
    clock_s = time.perf_counter() - started_s - budget_s
    wait_for_planners()
    return processor_s, max(0.0, clock_s)


def cancel_s(scenario: reknit.Scenario, planner: str, after_s: float) -> tuple[float, float] | None:
    """The processor's and the clock's seconds from the wish to stop until the return; None if
    the planner was done before.
    """
    clock = ProcessorClock(after_s)
    asked: list[float] = []

    def cancel() -> bool:
        clock()
        if clock.over_s is None:
            return False
        asked.append(time.perf_counter())
        return True

    if planner in STEERING:
        reknit.recover(scenario, planner, cancel=cancel)
    else:
        reknit.plan(scenario, planner, cancel=cancel)
    ended_s, over_s = time.perf_counter(), clock.over_s
    wait_for_planners()
    return None if over_s is None else (over_s, ended_s - asked[0])


def wait_for_planners() -> None:
    """Let the threads end that planners left behind, so that they do not count for the next."""
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            thread.join()


def line(name: str, values_s: list[float], allowed_s: float) -> str:
    """Median, 99th percentile and worst in milliseconds."""
    if not values_s:
        return f"  {name:30s} nothing was cut short"
    p50, p99 = np.quantile(values_s, [0.5, 0.99])
    worst = max(values_s)
    verdict = "" if worst <= allowed_s else f"   more than the allowed {1e3 * allowed_s:.0f} ms"
    return (
        f"  {name:30s} p50 {1e3 * p50:7.1f}  p99 {1e3 * p99:7.1f}  worst {1e3 * worst:7.1f} ms"
        f"  of {len(values_s)}{verdict}"
    )


def print_lines(
    name: str,
    allowed_s: float,
    measure: Callable[[reknit.Scenario], tuple[float, float] | None],
    cases: int,
) -> None:
    """Both figures of one planner over all scenarios, and where the processor's was worst."""
    pairs = []
    worst = (0.0, "")
    for kind, scenario in scenarios(cases):
        try:
            seconds = measure(scenario)
        except ReknitError as error:
            print(f"  {name}: {error}")
            continue
        if seconds is not None:
            pairs.append(seconds)
            worst = max(worst, (seconds[0], kind))
    processor_s, clock_s = ([pair[row] for pair in pairs] for row in (0, 1))
    print(line(f"{name} (processor)", processor_s, allowed_s), f"  {worst[1]}")
    print(line(f"{name} (clock)", clock_s, allowed_s), flush=True)


def main() -> None:
    """Print a line for every planner and limit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=["budgets", "cancel"])
    parser.add_argument("--planners", type=lambda text: text.split(","))
    parser.add_argument("--cases", type=int, default=3)
    chosen = parser.parse_args()
    names = chosen.planners or _names()
    warm = reknit.generate(60, 30, 1, split=True)
    for name in names:  # weights are read, libraries loaded
        reknit.recover(warm, name)
    gc.freeze()  # else a full collection of what torch holds, 0.1 s, falls into some call
    if "budgets" in chosen.parts:
        for budget_s in BUDGETS_S:
            print(f"budget of {budget_s:g} s: beyond it")
            for name in (name for name in names if name not in STEERING):
                print_lines(
                    name,
                    max(0.03, 0.05 * budget_s),
                    partial(overruns_s, planner=name, budget_s=budget_s),
                    chosen.cases,
                )
    if "cancel" in chosen.parts:
        for after_s in CANCEL_AFTER_S:
            print(f"cancelled after {after_s:g} s: until the return")
            for name in [*names, *(STEERING if chosen.planners is None else ())]:
                measure = partial(cancel_s, planner=name, after_s=after_s)
                print_lines(name, 0.05, measure, chosen.cases)


if __name__ == "__main__":
    main()
