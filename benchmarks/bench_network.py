"""How the network's parts grow from 1,000 to 50,000 survivors, and against plain alternatives.

Run: python -m benchmarks.bench_network [repeats]
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable
from functools import partial

from scipy.spatial import Delaunay

from reknit.base.types import FloatArray
from reknit.bench import seconds_of, survivors_m
from reknit.network.emst import _boruvka, emst
from reknit.network.links import links, subnets
from reknit.swarm.radio import DEFAULT_RANGE_M as RANGE_M

SIZES = (1_000, 5_000, 10_000, 50_000)


def spread(job: Callable[[], object], repeats: int) -> tuple[float, float, float]:
    """Best, median and worst time of a job."""
    times = [seconds_of(job) for _ in range(repeats)]
    return min(times), statistics.median(times), max(times)


def main(repeats: int) -> None:
    """Print one line per part and size, with the growth exponent between the ends."""
    parts: dict[str, tuple[int, Callable[[FloatArray], object]]] = {
        "links, 2-D": (2, lambda points: links(points, RANGE_M)),
        "sub-nets, 2-D": (2, lambda points: subnets(points, RANGE_M)),
        "EMST, 2-D": (2, emst),
        "EMST, 2-D, k-d tree instead of triangulation": (2, _boruvka),
        "EMST, 3-D": (3, emst),
        "Delaunay triangulation alone, 3-D": (3, Delaunay),
    }
    for name, (dim, job) in parts.items():
        best = {}
        for count in SIZES:
            points = survivors_m(count, dim)
            low, median, high = spread(partial(job, points), repeats)
            best[count] = low
            print(f"{name:46s} {count:7d}  {low:8.4f} s  ({median:.4f}, {high:.4f})")
        growth = math.log(best[SIZES[-1]] / best[SIZES[0]]) / math.log(SIZES[-1] / SIZES[0])
        print(f"{name:46s} grows as N^{growth:.2f}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
