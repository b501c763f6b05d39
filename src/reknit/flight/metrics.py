"""What the paper measures of a recovery, and what an operator asks besides."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from reknit.base.types import FloatArray, IntArray, JsonDict
from reknit.flight.flight import Flight
from reknit.flight.measures import measured, measures_of
from reknit.network.links import degrees, in_range_of
from reknit.plans.plan import Plan
from reknit.swarm.scenario import Scenario

_COVERAGE_POINTS = 40_000


@dataclass(frozen=True)
class FlightFacts:
    """What the measures of a flight are computed from."""

    scenario: Scenario
    flight: Flight
    plan: Plan | None

    @cached_property
    def end(self) -> FloatArray:
        """(N_R, dim) positions at the end of the flight, metres."""
        last: FloatArray = self.flight.positions[-1]
        return last

    @cached_property
    def degree(self) -> IntArray:
        """(N_R,) links of every survivor at the end."""
        return degrees(self.end, self.scenario.radio_range_m)

    @property
    def flown_time_s(self) -> float | None:
        """Flown T_rc in seconds, None if the swarm is not connected within the allowed time."""
        return self.flight.reconnected_at_s

    @property
    def charged_time_s(self) -> float:
        """Flown T_rc, or T_max where there is none, seconds."""
        flown_s = self.flown_time_s
        return self.scenario.allowed_time_s if flown_s is None else flown_s

    @property
    def separation_m(self) -> float | None:
        """Closest approach of two UAVs in metres, None if there is only one."""
        closest_m = self.flight.min_separation_m
        return closest_m if np.isfinite(closest_m) else None

    def share_in_largest(self, frame: int) -> float:
        """Share of the survivors in the largest sub-net at a frame of the flight."""
        return float(self.flight.largest_subnet[frame] / len(self.end))

    @property
    def degree_distribution(self) -> tuple[float, ...]:
        """P_d for d = 0, 1, ..."""
        return tuple((np.cumsum(np.bincount(self.degree)) / len(self.end)).tolist())


@dataclass(frozen=True)
class Metrics:
    """Figures of one flight; averages over runs of the same name are the paper's.

    This is the table of measures: a line declares the value, its column in a study's results
    file, its column in tables, its axis in figures and its line in the documentation. Each
    function is given the `FlightFacts`. The figures of a run that are not of its flight, and those
    made of others, are in `reknit.study.measures`.
    """

    converged: bool = measured(
        lambda run: run.flown_time_s is not None,
        "whether the flown time exists and is within T_max; its mean is R_c",
        axis="convergent ratio $R_c$",
        heading="R_c",
        form="{:.2f}",
    )
    charged_time_s: float = measured(
        lambda run: run.charged_time_s,
        "flown T_rc, or the allowed time if not converged: what the paper averages",
        axis="mean recovery time $T_{rc}$",
        heading="mean T_rc (s)",
        summary="interval",
    )
    flown_time_s: float | None = measured(
        lambda run: run.flown_time_s,
        "T_rc as flown: the exact first connected instant",
        axis="flown time $T_{rc}$",
        heading="T_rc if converged (s)",
        summary="interval",
    )
    planned_time_s: float | None = measured(
        lambda run: run.plan.recovery_time_s if run.plan and run.plan.status.is_plan else None,
        "T_rc as (P1) minimises it; none for planners that steer or found nothing",
        axis="mean planned time",
    )
    step_time_s: float | None = measured(
        lambda run: run.flight.reconnected_at_step_s,
        "T_rc as the paper's simulator sees it, which looks once a step",
        axis="stepped time $T_{rc}$",
    )
    mean_degree: float = measured(
        lambda run: float(run.degree.mean()),
        "E(d), mean number of links of a UAV at the end of the flight",
        axis="mean degree $E(d)$",
        heading="E(d)",
        form="{:.2f}",
    )
    max_degree: int = measured(
        lambda run: int(run.degree.max()),
        "max(d), most links of a UAV at the end of the flight",
        axis="greatest degree $\\max(d)$",
        heading="max(d)",
        form="{:.0f}",
        summary="greatest",
    )
    degree_distribution: tuple[float, ...] = measured(
        lambda run: run.degree_distribution,
        "P_d: share of UAVs whose degree is at most d, for d = 0, 1, ...",
    )
    path_length_m: float = measured(
        lambda run: float(run.flight.path_lengths_m.sum()),
        "metres flown by all UAVs together",
        axis="path of all UAVs",
    )
    longest_path_m: float = measured(
        lambda run: float(run.flight.path_lengths_m.max()),
        "metres flown by the UAV that flew most",
        axis="longest path of a UAV",
    )
    coverage_before: float = measured(
        lambda run: coverage(run.scenario, run.flight.positions[0]),
        "share of the swarm's bounding box within d_tr of a survivor, at the damage",
        axis="coverage before",
    )
    coverage_after: float = measured(
        lambda run: coverage(run.scenario, run.end),
        "the same at the end of the flight",
        axis="coverage after",
    )
    min_separation_m: float | None = measured(
        lambda run: run.separation_m, "how close two UAVs ever came", axis="closest approach"
    )
    subnets_before: int = measured(
        lambda run: int(run.flight.subnets[0]), "N_s right after the damage", axis="sub-nets before"
    )
    subnets_after: int = measured(
        lambda run: int(run.flight.subnets[-1]),
        "N_s at the end of the flight",
        axis="sub-nets after",
    )
    largest_subnet_share_before: float = measured(
        lambda run: run.share_in_largest(0),
        "share of the survivors in the largest sub-net, at the damage",
        axis="share in the largest sub-net, before",
    )
    largest_subnet_share_after: float = measured(
        lambda run: run.share_in_largest(-1),
        "the same at the end of the flight",
        axis="share in the largest sub-net, after",
        heading="in largest sub-net",
        form="{:.2f}",
    )

    def as_dict(self) -> JsonDict:
        """Plain values, ready for JSON."""
        return asdict(self)


FLIGHT_MEASURES = measures_of(Metrics)
"""The lines of the table, with the names and types of their fields."""


def measure(scenario: Scenario, flight: Flight, plan: Plan | None = None) -> Metrics:
    """All figures of one run.

    Parameters
    ----------
    scenario
        The damaged swarm.
    flight
        What was flown from it.
    plan
        What was planned; None for planners that steer.
    """
    facts = FlightFacts(scenario, flight, plan)
    return Metrics(**{line.name: line.of(facts) for line in FLIGHT_MEASURES})


def coverage(scenario: Scenario, positions: FloatArray) -> float:
    """Share of the bounding box of all N UAVs that lies within d_tr of a position.

    Counted on a regular lattice of about 40,000 points, so that it is the same every time.

    Parameters
    ----------
    positions
        (N_R, dim) metres.
    scenario
        The swarm whose area it is.
    """
    low, high = scenario.positions.min(axis=0), scenario.positions.max(axis=0)
    sides = [max(2, round(_COVERAGE_POINTS ** (1.0 / scenario.dim)))] * scenario.dim
    axes = [
        low[k] + (np.arange(count) + 0.5) / count * (high[k] - low[k])
        for k, count in enumerate(sides)
    ]
    lattice = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    return float(in_range_of(lattice, positions, scenario.radio_range_m).mean())
