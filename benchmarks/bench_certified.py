"""How near to its bound the certified planner comes, and how long it takes.

Run: python -m benchmarks.bench_certified [--cases 20] [--large-cases 2] [--first-seed 0]
"""

from __future__ import annotations

import argparse
import math
import resource
import statistics
import time
from dataclasses import dataclass
from itertools import pairwise

import reknit

SMALL = (
    (20, 10),
    (50, 25),
    (100, 50),
    (200, 50),
    (200, 100),
    (200, 150),
    (200, 180),
    (200, 190),
    (500, 250),
    (1_000, 500),
)
LARGE = ((10_000, 5_000), (50_000, 25_000))


@dataclass(frozen=True)
class Row:
    """One case: the time over the bound, over the scenario's own bound, and the seconds taken."""

    ratio: float
    quick_ratio: float
    compute_s: float
    bound_s: float
    verify_s: float
    length: int


def measure(uavs: int, destroyed: int, seed: int) -> Row:
    """Plan and check one split swarm at the paper's density."""
    scenario = reknit.generate(uavs=uavs, destroyed=destroyed, seed=seed, split=True)
    started = time.perf_counter()
    bound = reknit.lower_bound(scenario)
    bound_s = time.perf_counter() - started
    plan = reknit.plan(scenario, "certified")
    started = time.perf_counter()
    plan.verify(scenario)
    verify_s = time.perf_counter() - started
    return Row(
        ratio=1.0 + plan.gap,
        quick_ratio=plan.recovery_time_s / bound.bound_s,
        compute_s=plan.compute_s,
        bound_s=bound_s,
        verify_s=verify_s,
        length=len(plan.certificate.cases),
    )


def report(uavs: int, destroyed: int, cases: int, first_seed: int) -> float:
    """Print one line of the table; the best compute time."""
    rows = [measure(uavs, destroyed, first_seed + k) for k in range(cases)]
    proved = sum(row.ratio <= 1.01 for row in rows) / cases
    compute = sorted(row.compute_s for row in rows)
    memory_gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{uavs:6d} {destroyed:6d} {cases:5d}   "
        f"{statistics.fmean(row.ratio for row in rows):8.5f}  {proved:6.1%}  "
        f"{statistics.fmean(row.quick_ratio for row in rows):9.4f}   "
        f"{compute[0]:7.3f} {statistics.median(compute):7.3f} "
        f"{statistics.fmean(compute):7.3f} {compute[-1]:7.3f}   "
        f"{statistics.median(row.bound_s for row in rows):7.3f} "
        f"{max(row.verify_s for row in rows):7.3f}  "
        f"{max(row.length for row in rows):6d}  {memory_gib:5.2f}",
        flush=True,
    )
    return compute[0]


def main() -> None:
    """Print the table and the growth with N at half damage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--large-cases", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=0)
    chosen = parser.parse_args()
    print(
        "                      time / bound  within  over quick  compute, s: best, median, mean,"
        " worst  bound, s  check  longest  memory\n"
        "     N    N_D cases   (mean)        1 %     bound                             "
        "                (median) (worst) proof   GiB (so far)"
    )
    best = {}
    for uavs, destroyed in SMALL:
        if chosen.cases:
            best[uavs, destroyed] = report(uavs, destroyed, chosen.cases, chosen.first_seed)
    for uavs, destroyed in LARGE:
        if chosen.large_cases:
            best[uavs, destroyed] = report(uavs, destroyed, chosen.large_cases, chosen.first_seed)
    sizes = [key for key in best if key[0] == 2 * key[1] and key[0] >= 1_000]
    for small, large in pairwise(sizes):
        growth = math.log(best[large] / best[small]) / math.log(large[0] / small[0])
        print(f"best time from N = {small[0]} to {large[0]} grows as N^{growth:.2f}")


if __name__ == "__main__":
    main()
