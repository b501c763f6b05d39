"""The smallest separation: no two UAVs end closer than this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from reknit.base.context import Cancel
from reknit.base.types import FloatArray
from reknit.network.links import closest_pair, lengths
from reknit.swarm.demands.demand import Demand, asked
from reknit.swarm.validation import number

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario


def _check(value: Any, scenario: Scenario) -> float:
    return number("min_separation_m", value, at_least=0.0)


class Given(TypedDict, total=False):
    """As a caller writes it."""

    min_separation_m: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Separation:
    """The demand is on where UAVs end; what a flight keeps on the way is measured."""

    min_separation_m: float = asked(
        0.0, "smallest distance between two UAVs at the end, metres", float, _check
    )


def _unmet(scenario: Scenario, targets: FloatArray, _is_over: Cancel) -> str | None:
    gap_m = scenario.min_separation_m
    pair = closest_pair(targets) if gap_m > 0.0 else None
    if pair is None:
        return None
    length_m = float(lengths(targets, pair[None])[0])
    if length_m >= gap_m:
        return None
    first, second = (scenario.label(int(scenario.survivors[row])) for row in pair)
    return f"UAVs {first} and {second} end {length_m:g} m apart, not {gap_m:g} m"


DEMAND = Demand("separation", Separation, _unmet, lambda scenario: scenario.min_separation_m > 0.0)
