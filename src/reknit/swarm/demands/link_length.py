"""How long a planned link may be: a margin, a reliability under fading, uncertain positions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from reknit.base.context import Cancel
from reknit.base.errors import InvalidScenario
from reknit.base.types import FloatArray
from reknit.network.links import subnets
from reknit.swarm.demands.demand import Demand, asked, named
from reknit.swarm.validation import number

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario

SIGMAS = 3.0
"""Deviations of a link's length that a planned link leaves room for."""


def _margin(value: Any, scenario: Scenario) -> float:
    return number("link_margin", value, at_least=0.0, below=1.0)


def _reliability(value: Any, scenario: Scenario) -> float | None:
    if value is None:
        return None
    if scenario.radio is None:
        raise InvalidScenario("link_reliability", value, "only together with a radio")
    return number("link_reliability", value, above=0.0, below=1.0)


def _sigma(value: Any, scenario: Scenario) -> float:
    sigma_m = number("position_sigma_m", value, at_least=0.0)
    most_m = scenario.radio_range_m / (SIGMAS * math.sqrt(2.0))
    if sigma_m >= most_m:
        raise InvalidScenario(
            "position_sigma_m",
            value,
            f"below {most_m:.4g} at a range of {scenario.radio_range_m:g} m: "
            f"{SIGMAS:g} deviations of a link's length must leave some range",
        )
    return sigma_m


class Given(TypedDict, total=False):
    """As a caller writes it."""

    link_margin: float
    link_reliability: float | None
    position_sigma_m: float


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkLength:
    """Planned links are shorter than d_tr by what is asked for."""

    link_margin: float = asked(
        0.0, "share of the range that planned links keep in reserve", float, _margin
    )
    link_reliability: float | None = asked(
        None,
        "probability with which a planned link holds under the radio's fading",
        float | None,
        _reliability,
    )
    position_sigma_m: float = asked(
        0.0,
        "deviation of each coordinate of a position, metres; planned links keep "
        f"{SIGMAS:g} deviations of their length in reserve",
        float,
        _sigma,
    )


def planning_range_m(scenario: Scenario) -> float:
    """The length a planned link may have, metres.

    ``d = min(d_tr (1 - margin), d_rel) - 3 sqrt(2) sigma``: the length of a link between two
    positions that are each off by sigma deviates by sqrt(2) sigma.
    """
    limit_m = scenario.radio_range_m * (1.0 - scenario.link_margin)
    if scenario.link_reliability is not None and scenario.radio is not None:
        limit_m = min(limit_m, scenario.radio.range_at_reliability_m(scenario.link_reliability))
    return limit_m - SIGMAS * math.sqrt(2.0) * scenario.position_sigma_m


def check_planning_range(scenario: Scenario) -> None:
    """Raise `InvalidScenario` where the demands together leave no length for a link."""
    left_m = planning_range_m(scenario)
    if not left_m > 0.0:
        raise InvalidScenario(
            "link_margin, link_reliability and position_sigma_m",
            f"links of {left_m:.4g} m",
            "demands that together leave links longer than 0",
        )


def _unmet(scenario: Scenario, targets: FloatArray, _is_over: Cancel) -> str | None:
    limit_m = planning_range_m(scenario)
    label = subnets(targets, limit_m)
    sizes = np.bincount(label)
    if len(sizes) == 1:
        return None
    apart = named(scenario, np.flatnonzero(label != sizes.argmax()))
    return f"{len(sizes)} sub-nets at a range of {limit_m:g} m; not in the largest: {apart}"


DEMAND = Demand(
    "link length",
    LinkLength,
    _unmet,
    lambda scenario: planning_range_m(scenario) < scenario.radio_range_m,
)
