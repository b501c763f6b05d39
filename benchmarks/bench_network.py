"""How the network's parts grow from 1,000 to 50,000 survivors, and against plain alternatives.

Run: python -m benchmarks.bench_network [repeats]
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.spatial import Delaunay

from reknit.base.types import FloatArray
from reknit.network.emst import _boruvka, emst
from reknit.network.links import links, subnets

SIZES = (1_000, 5_000, 10_000, 50_000)


def swarm(count: int, dim: int) -> FloatArray:
    """Survivors of half damage at the paper's density (in 3-D: with as many neighbours)."""
    per_unit = 1e-4 if dim == 2 else 1e-4 * 3 / (4 * 120.0)
    side_m = (count / per_unit) ** (1 / dim)
    return np.asarray(np.random.default_rng(count).random((count, dim)) * side_m)


def spread(job: Callable[[], object], repeats: int) -> tuple[float, float, float]:
    """Best, median and worst time of a job."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        job()
        times.append(time.perf_counter() - started)
    return min(times), statistics.median(times), max(times)


def main(repeats: int) -> None:
    """Print one line per part and size, with the growth exponent between the ends."""
    parts: dict[str, tuple[int, Callable[[FloatArray], object]]] = {
        "links, 2-D": (2, lambda points: links(points, 120.0)),
        "sub-nets, 2-D": (2, lambda points: subnets(points, 120.0)),
        "EMST, 2-D": (2, emst),
        "EMST, 2-D, k-d tree instead of triangulation": (2, _boruvka),
        "EMST, 3-D": (3, emst),
        "Delaunay triangulation alone, 3-D": (3, Delaunay),
    }
    for name, (dim, job) in parts.items():
        best = {}
        for count in SIZES:
            points = swarm(count, dim)
            low, median, high = spread(partial(job, points), repeats)
            best[count] = low
            print(f"{name:46s} {count:7d}  {low:8.4f} s  ({median:.4f}, {high:.4f})")
        growth = math.log(best[SIZES[-1]] / best[SIZES[0]]) / math.log(SIZES[-1] / SIZES[0])
        print(f"{name:46s} grows as N^{growth:.2f}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
