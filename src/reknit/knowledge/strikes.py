"""What strikes do to a swarm, and which are allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.types import FloatArray, IntArray
from reknit.base.values import is_number
from reknit.recovery.repeated import Strike
from reknit.swarm.scenario import Scenario

LONGEST_S = 10_000.0
"""No flight is longer: every step of it is kept."""


@dataclass(frozen=True, eq=False)
class Damage:
    """What a strike left: when, (N, dim) where everybody was, and who is lost by then."""

    time_s: float
    positions: FloatArray
    destroyed: IntArray


def struck_swarm(
    swarm: Scenario, positions: FloatArray, destroyed: IntArray, left_s: float
) -> Scenario:
    """The same swarm and demands, as it is now."""
    return replace(
        swarm,
        positions=positions,
        destroyed=destroyed,
        anchors=np.setdiff1d(swarm.anchors, destroyed),
        allowed_time_s=max(0.0, left_s),
    )


def in_order(strikes: Sequence[Strike]) -> list[Strike]:
    """Strikes by their time; raises `InvalidParameter` for anything else."""
    is_list = isinstance(strikes, Sequence) and not isinstance(strikes, str)
    if not is_list or not all(isinstance(strike, Strike) for strike in strikes):
        raise InvalidParameter("strikes", strikes, "a list of reknit.Strike")
    return sorted(strikes, key=lambda strike: strike.time_s)


def check_length(strikes: Sequence[Strike], end_s: float | None) -> None:
    """Refuse a flight that is too long to be kept."""
    times_s = {"strike.time_s": [strike.time_s for strike in in_order(strikes)]}
    times_s["end_s"] = [] if end_s is None else [end_s]
    for name, values in times_s.items():
        for time_s in values:
            if is_number(time_s) and time_s > LONGEST_S:
                raise InvalidParameter(name, time_s, f"at most {LONGEST_S:g} s")
