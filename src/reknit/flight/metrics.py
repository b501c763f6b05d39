"""What the paper measures of a recovery, and what an operator asks besides."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from reknit.base.types import FloatArray, JsonDict
from reknit.flight.flight import Flight
from reknit.network.links import degrees, in_range_of
from reknit.plans.plan import Plan
from reknit.swarm.scenario import Scenario

_COVERAGE_POINTS = 40_000


@dataclass(frozen=True)
class Metrics:
    """Figures of one run. Averages over runs of the same name are the paper's.

    converged               the run's share of R_c: flown time exists and is within T_max.
    planned_time_s          T_rc as (P1) minimises it; None for planners that steer.
    flown_time_s            T_rc as flown: the exact first connected instant; None if none.
    step_time_s             T_rc as the paper's simulator sees it, once per step.
    charged_time_s          flown time, or the allowed time if the run did not converge: what the
                            paper averages.
    mean_degree, max_degree E(d) and max(d) at the end of the flight.
    degree_distribution     P_d: share of UAVs whose degree is at most d, for d = 0, 1, ...
    path_length_m           metres flown by all UAVs together, and by the one that flew most.
    coverage                share of the swarm's bounding box within d_tr of a survivor.
    min_separation_m        how close two UAVs ever came.
    largest_subnet_share    share of survivors in the largest sub-net, at the start and end.
    """

    converged: bool
    planned_time_s: float | None
    flown_time_s: float | None
    step_time_s: float | None
    charged_time_s: float
    mean_degree: float
    max_degree: int
    degree_distribution: tuple[float, ...]
    path_length_m: float
    longest_path_m: float
    coverage_before: float
    coverage_after: float
    min_separation_m: float | None
    subnets_before: int
    subnets_after: int
    largest_subnet_share_before: float
    largest_subnet_share_after: float

    def as_dict(self) -> JsonDict:
        """Plain values, ready for JSON."""
        return asdict(self)


def measure(scenario: Scenario, flight: Flight, plan: Plan | None = None) -> Metrics:
    """All figures of one run."""
    end = flight.positions[-1]
    degree = degrees(end, scenario.radio_range_m)
    survivors = len(end)
    flown_s = flight.reconnected_at_s
    separation_m = flight.min_separation_m
    return Metrics(
        converged=flown_s is not None,
        planned_time_s=None if plan is None else plan.recovery_time_s,
        flown_time_s=flown_s,
        step_time_s=flight.reconnected_at_step_s,
        charged_time_s=scenario.allowed_time_s if flown_s is None else flown_s,
        mean_degree=float(degree.mean()),
        max_degree=int(degree.max()),
        degree_distribution=tuple((np.cumsum(np.bincount(degree)) / survivors).tolist()),
        path_length_m=float(flight.path_lengths_m.sum()),
        longest_path_m=float(flight.path_lengths_m.max()),
        coverage_before=coverage(scenario, flight.positions[0]),
        coverage_after=coverage(scenario, end),
        min_separation_m=separation_m if np.isfinite(separation_m) else None,
        subnets_before=int(flight.subnets[0]),
        subnets_after=int(flight.subnets[-1]),
        largest_subnet_share_before=float(flight.largest_subnet[0] / survivors),
        largest_subnet_share_after=float(flight.largest_subnet[-1] / survivors),
    )


def coverage(scenario: Scenario, positions: FloatArray) -> float:
    """Share of the bounding box of all N UAVs that lies within d_tr of a position.

    Counted on a regular lattice of about 40,000 points, so that it is the same every time.
    """
    low, high = scenario.positions.min(axis=0), scenario.positions.max(axis=0)
    sides = [max(2, round(_COVERAGE_POINTS ** (1.0 / scenario.dim)))] * scenario.dim
    axes = [
        low[k] + (np.arange(count) + 0.5) / count * (high[k] - low[k])
        for k, count in enumerate(sides)
    ]
    lattice = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    return float(in_range_of(lattice, positions, scenario.radio_range_m).mean())
