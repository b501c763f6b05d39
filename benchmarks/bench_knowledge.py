"""Computing time of `operate`, and steps per second of the environment for learners.

Run: python -m benchmarks.bench_knowledge [--uavs 200 1000] [--flight-s 60] [--out FILE]

Times are of the processor (one core), so other work on the machine does not count. `--out` writes
the table as Markdown.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import reknit
from reknit.base.files import write_text
from reknit.knowledge import reknit_v0

POLICIES = ("believe:certified+deadline", "hedge+deadline")
WANTED_S = {200: 20.0, 1000: 300.0}
DECISIONS = {20: 200, 50: 100, 200: 40}


def flown(uavs: int, policy: str, flight_s: float) -> str:
    """One flight of half a swarm over a clean radio: a row of the table."""
    scenario = reknit.generate(uavs, 0.5, seed=7, split=True)
    begun_s = time.process_time()
    operation = reknit.operate(scenario, policy, seed=7, until="end", end_s=flight_s)
    used_s = time.process_time() - begun_s
    wanted = f"{WANTED_S[uavs]:g} s" if uavs in WANTED_S else "-"
    what = f"{flight_s:g} s of flight, N = {uavs}, `{policy}`"
    return f"| {what} | {used_s:.1f} s | {wanted} | {operation.replans} plans |"


def stepped(uavs: int) -> str:
    """Random actions, resets included: a row of the table."""
    environment = reknit_v0.vector_env(uavs=uavs)
    environment.reset(seed=1)
    rng = np.random.default_rng(1)
    begun_s = time.process_time()
    for _ in range(DECISIONS[uavs]):
        environment.step(rng.normal(size=(uavs, 2)))
    rate = DECISIONS[uavs] / (time.process_time() - begun_s)
    agents = f"{rate * uavs:.0f} agent steps/s, 5 steps of the simulator each"
    return f"| environment, N = {uavs} | {rate:.0f} steps/s | - | {agents} |"


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--uavs", type=int, nargs="*", default=[200, 1000])
    options.add_argument("--flight-s", type=float, default=60.0)
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    lines = ["| what | processor | wanted | |", "| --- | --- | --- | --- |"]
    sys.stdout.write("\n".join(lines) + "\n")
    jobs = [(uavs, policy) for uavs in given.uavs for policy in POLICIES]
    for number in range(len(jobs) + len(DECISIONS)):
        if number < len(jobs):
            row = flown(*jobs[number], given.flight_s)
        else:
            row = stepped(list(DECISIONS)[number - len(jobs)])
        lines.append(row)
        sys.stdout.write(row + "\n")
        sys.stdout.flush()
        if given.out is not None:
            write_text(given.out, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
