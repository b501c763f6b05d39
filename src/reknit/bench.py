"""Speed and memory of this installation, measured in fresh processes where memory counts."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reknit.base.progress import Progress, silent
from reknit.base.types import FloatArray, JsonDict
from reknit.network.emst import emst
from reknit.network.links import links, subnets
from reknit.swarm.generate import generate
from reknit.swarm.radio import DEFAULT_RANGE_M

_MEMORY_PROGRAM = """
import resource
from reknit.network.emst import emst
from reknit.network.links import links, subnets
from reknit.swarm.generate import generate
scenario = generate(100_000, 0.5, seed=1)
points, range_m = scenario.survivor_positions, scenario.radio_range_m
links(points, range_m), subnets(points, range_m), emst(points)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@dataclass(frozen=True)
class Measured:
    """Repeated measurements of one figure."""

    name: str
    unit: str
    values: tuple[float, ...]
    wanted: float

    def cells(self) -> tuple[str, str, str, str]:
        """Best, median, worst and wanted, fit to print."""
        figures = min(self.values), statistics.median(self.values), max(self.values)
        best, median, worst = (f"{figure:.3g} {self.unit}".strip() for figure in figures)
        return best, median, worst, f"<= {self.wanted:g} {self.unit}".strip()

    def as_dict(self) -> JsonDict:
        """Plain values, ready for JSON."""
        return {
            "name": self.name,
            "unit": self.unit,
            "values": list(self.values),
            "wanted": self.wanted,
        }


def run_benchmarks(repeats: int = 3, progress: Progress = silent) -> list[Measured]:
    """The figures the foundation must reach, each measured `repeats` times."""
    jobs: list[tuple[str, str, float, Callable[[], float]]] = [
        ("reknit --help", "s", 0.3, _help_s),
        ("generate and damage 10,000 UAVs", "s", 1.0, _generate_s),
        ("links, sub-nets and EMST of 50,000 survivors", "s", 2.0, lambda: _network_s(50_000)),
        ("the same, peak memory of the process", "MiB", 1024.0, _memory_mib),
        ("growth exponent of the same from 1,000 to 50,000", "", 1.2, _growth),
        ("center-fly at 1,000 UAVs, whole allowed time", "s", 3.0, _flight_s),
    ]
    measured = []
    for number, (name, unit, wanted, job) in enumerate(jobs):
        values = []
        for repeat in range(repeats):
            progress((number + repeat / repeats) / len(jobs), name)
            values.append(job())
        measured.append(Measured(name, unit, tuple(values), wanted))
    return measured


def seconds_of(job: Callable[[], object]) -> float:
    """How long one call takes, by the clock."""
    started = time.perf_counter()
    job()
    return time.perf_counter() - started


def survivors_m(count: int, dim: int = 2) -> FloatArray:
    """(count, dim) survivors of half damage at the paper's density; in 3-D, as many neighbours."""
    per_unit = 1e-4 if dim == 2 else 1e-4 * 3 / (4 * DEFAULT_RANGE_M)
    side_m = (count / per_unit) ** (1 / dim)
    return np.asarray(np.random.default_rng(count).random((count, dim)) * side_m)


def _generate_s() -> float:
    return seconds_of(lambda: generate(10_000, 0.5, 1))


def _help_s() -> float:
    command = [sys.executable, "-c", "from reknit.cli import main; main()", "--help"]
    return seconds_of(lambda: subprocess.run(command, check=True, capture_output=True))  # noqa: S603


def _network_s(survivors: int) -> float:
    points = survivors_m(survivors)
    return seconds_of(
        lambda: (links(points, DEFAULT_RANGE_M), subnets(points, DEFAULT_RANGE_M), emst(points))
    )


def _growth() -> float:
    """Slope between the two ends on a log-log scale, the best of five at either end."""
    small_s, large_s = (min(_network_s(count) for _ in range(5)) for count in (1_000, 50_000))
    return math.log(large_s / small_s) / math.log(50.0)


def _memory_mib() -> float:
    command = [sys.executable, "-c", _MEMORY_PROGRAM]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return float(done.stdout)


def _flight_s() -> float:
    from reknit.algorithms.steering.center_fly import CenterFly
    from reknit.base.context import Context
    from reknit.flight.simulator import fly

    scenario = generate(1_000, 0.5, seed=1, split=True)
    steer = CenterFly().controller(scenario, Context())
    return seconds_of(lambda: fly(scenario, steer, until="allowed"))
