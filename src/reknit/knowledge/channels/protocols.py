"""What a channel is, and the world that it, and no policy, can see."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.types import BoolArray, FloatArray
from reknit.knowledge.belief import Mind

CERTAINTY = 1e-9
"""Silence counts as proof when a live UAV would be silent with at most this probability."""

FLICKER = 1e-3
"""A UAV is out of touch when losses alone explain its silence with at most this probability."""

TOLERANCE_M = 1e-6
"""Planned links lie at exactly the range; silence proves nothing within this of it."""

NOISE_BOUND = 3.0
"""No UAV's navigation is wrong by more than this many sigma."""


@dataclass(eq=False)
class World:
    """The truth at one instant.

    Attributes
    ----------
    positions
        (N, dim) where the UAVs are, metres.
    errors
        (N, dim) navigation error of each: it takes itself for being at positions + errors.
    alive
        (N,) who lives.
    time_s
        Now.
    """

    positions: FloatArray
    errors: FloatArray
    alive: BoolArray
    range_m: float
    speeds_mps: FloatArray
    error_bound_m: float
    step_s: float
    time_s: float = 0.0

    @property
    def reported(self) -> FloatArray:
        """(N, dim) where each UAV takes itself for being."""
        return np.asarray(self.positions + self.errors)


class Session(Protocol):
    """A channel at work.

    Attributes
    ----------
    period_s
        Time between two exchanges.
    patience_s
        Somebody not heard of for longer than this is out of touch.
    is_continuous
        Whether news travels at every instant, so that what is lost was last heard of when it
        was lost.
    bytes_sent
        By all UAVs so far.
    """

    period_s: float
    patience_s: float
    is_continuous: bool
    bytes_sent: int

    def exchange(self, minds: list[Mind], world: World) -> list[Mind]:
        """Let the news travel; the minds after it, each with the UAVs that now know the same."""
        ...

    def whole_at_s(self, mind: Mind) -> float | None:
        """The instant at which, as the mind's belief proves, the network was whole."""
        ...


class Channel(Protocol):
    """How news travels."""

    @property
    def noise_m(self) -> float:
        """Sigma of every UAV's navigation error along each axis, metres."""
        ...

    def open(self, world: World, seed: int) -> Session:
        """Begin."""
        ...

    def alarm_delay_s(self, uavs: int, step_s: float) -> float:
        """Within this time of a loss that splits the swarm everybody alive has noticed it."""
        ...


def misses_allowed(repeat: float, level: float) -> int:
    """How many silent exchanges in a row a live UAV in range exceeds with at most `level`."""
    if repeat <= 0.0:
        return 0
    return max(0, math.ceil(math.log(level) / math.log(repeat)) - 1)


def check_time(name: str, value: float) -> None:
    """Refuse times that are negative or not finite."""
    ok = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not ok or not (math.isfinite(value) and value >= 0.0):
        raise InvalidParameter(name, value, "a finite number of at least 0")


def prove_silence(mind: Mind, world: World, proofs: int) -> None:
    """Apply the rule of certain death and notice alarms, after an exchange.

    A UAV j that was at p_j at time t_j and is silent now is dead if a member m of the mind must
    have it in range whatever it did since: ``|p_j - p_m| + v_j (t - t_j) <= r``, less twice the
    bound on navigation errors and the tolerance; in so many exchanges in a row that losses do
    not explain it.
    """
    belief, now_s = mind.belief, world.time_s
    silent = np.flatnonzero((belief.heard_s < now_s) & ~np.isfinite(belief.dead_s))
    if len(silent) == 0:
        return
    reach_m = (
        world.range_m
        - TOLERANCE_M
        - 2.0 * world.error_bound_m
        - world.speeds_mps[silent] * (now_s - belief.place_s[silent])
    )
    near = silent[reach_m > 0.0]
    must_hear = np.zeros(len(silent), dtype=bool)
    if len(near):
        from scipy.spatial import cKDTree

        tree = cKDTree(belief.positions[mind.members])
        distance, _ = tree.query(belief.place[near])
        must_hear[reach_m > 0.0] = distance <= reach_m[reach_m > 0.0]
    belief.misses[silent] = np.where(must_hear, belief.misses[silent] + 1, 0)
    proved = silent[must_hear & (belief.misses[silent] > proofs)]
    belief.dead_s[proved] = now_s
