"""What a channel is, and the world that it, and no policy, can see."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.base.values import is_finite
from reknit.knowledge.belief import STATION, Mind, Patience
from reknit.network.links import count_subnets, subnets
from reknit.swarm.validation import MAX_COORDINATE_M

__all__ = ["Channel", "Mind", "Patience", "Session", "World"]
"""What channels of one's own are made of; all else here may change."""

CERTAINTY = 1e-9
"""Silence counts as proof when a live UAV would be silent with at most this probability."""

DOUBT = 0.05
"""A UAV is out of touch, and a former neighbour presumed dead, when losses alone explain its
silence with at most this probability. Newer news takes both back, so that an error costs a moment,
while every exchange that is waited for costs its time."""

ALARM = 1e-6
"""A formation on its way ends its mission only when losses explain a silence with at most this."""

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
    range_m
        d_tr: who is so near is heard.
    speeds_mps
        (N,) v_max; 0 for anchors.
    error_bound_m
        No UAV's navigation is wrong by more.
    step_s
        Time between two instants at which positions change.
    time_s
        Now.
    is_under_way
        Whether a mission moves the formation until somebody falls silent.
    """

    positions: FloatArray
    errors: FloatArray
    alive: BoolArray
    range_m: float
    speeds_mps: FloatArray
    error_bound_m: float
    step_s: float
    time_s: float = 0.0
    is_under_way: bool = False

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
    patience
        Somebody not heard of for longer than this is out of touch.
    is_continuous
        Whether news travels at every instant, so that what is lost was last heard of when it
        was lost.
    tells_at_once
        Whether besides everybody knows of every loss at the instant at which it happens.
    bytes_sent
        By all UAVs so far.
    """

    period_s: float
    patience: Patience
    is_continuous: bool
    tells_at_once: bool
    bytes_sent: int

    def exchange(self, minds: list[Mind], world: World) -> list[Mind]:
        """Let the news travel.

        Parameters
        ----------
        minds
            Those before it.
        world
            The truth at this instant.

        Returns
        -------
        list of Mind
            Those after it, each with the UAVs that now know the same.
        """
        ...

    def whole_at_s(self, mind: Mind) -> float | None:
        """The instant at which, as the mind's belief proves, the network was whole.

        Parameters
        ----------
        mind
            Whose belief it is.

        Returns
        -------
        float or None
            Seconds since the start; None: it proves none.
        """
        ...


class Channel(Protocol):
    """How news travels."""

    @property
    def noise_m(self) -> float:
        """Sigma of every UAV's navigation error along each axis, metres."""
        ...

    def open(self, world: World, seed: int) -> Session:
        """Begin.

        Parameters
        ----------
        world
            The swarm as it is at time 0.
        seed
            Of what the channel draws: losses, errors.

        Returns
        -------
        Session
            The channel at work.
        """
        ...

    def alarm_delay_s(self, uavs: int, step_s: float) -> float:
        """Within this time of a loss that splits the swarm everybody alive has noticed it.

        Parameters
        ----------
        uavs
            N, the size of the swarm.
        step_s
            Time between two instants at which positions change.

        Returns
        -------
        float
            Seconds.
        """
        ...


def misses_allowed(repeat: float, level: float) -> int:
    """How many silent exchanges in a row a live UAV in range exceeds with at most `level`."""
    if repeat <= 0.0:
        return 0
    return max(0, math.ceil(math.log(level) / math.log(repeat)) - 1)


def check_time(name: str, value: float) -> None:
    """Refuse times that are negative or not finite."""
    if not is_finite(value) or value < 0.0:
        raise InvalidParameter(name, value, "a finite number of at least 0")


def check_noise(name: str, value: float) -> None:
    """Refuse a sigma of positions, metres, that is negative or takes them out of all bounds."""
    if not is_finite(value) or not 0.0 <= value <= _MOST_NOISE_M:
        allowed = f"a finite number of at least 0 and at most {_MOST_NOISE_M:g}"
        raise InvalidParameter(name, value, allowed)


_MOST_NOISE_M = MAX_COORDINATE_M / 1e3


@dataclass(frozen=True)
class Silence:
    """What silence proves over links that lose messages.

    Attributes
    ----------
    proof
        So many links that must have carried the news of a UAV, and did not, prove it dead.
    doubt
        So many make it presumed dead.
    patience
        Who was not heard of for longer than this is out of touch in any case.
    alarm
        Who was not heard of for longer than this ends the mission; None: anybody out of touch.
    """

    proof: int
    doubt: int
    patience: Patience
    alarm: Patience | None

    @staticmethod
    def over(repeat: float, patience: Patience, alarm: Patience | None) -> Silence:
        """For links that lose a message with at most this probability, whatever was before."""
        proof = misses_allowed(repeat, CERTAINTY) + 1
        return Silence(proof, misses_allowed(repeat, DOUBT) + 1, patience, alarm)

    def weigh(self, mind: Mind, world: World) -> None:
        """Draw the conclusions of an exchange: certain death, presumption, parting, alarm.

        A UAV j that was at p_j at time t_j has member m in range whatever it did since if
        ``|p_j - p_m| + v_j (t - t_j) <= r``, less twice the bound on navigation errors and the
        tolerance. Were it alive, each such link would have lost its message.
        """
        belief, now_s = mind.belief, world.time_s
        silent = np.flatnonzero((belief.heard_s < now_s) & ~np.isfinite(belief.dead_s))
        if len(silent) == 0:
            return
        links_cut = _hearers(mind, world, silent, 2.0 * world.error_bound_m)
        belief.misses[silent] += links_cut
        if world.error_bound_m:
            links_cut = _hearers(mind, world, silent, world.error_bound_m)
        belief.silences[silent] += links_cut / self.doubt
        belief.dead_s[silent[belief.misses[silent] >= self.proof]] = now_s
        belief.presumed_s[silent[belief.silences[silent] >= 1.0]] = now_s
        _part(mind, world, self.patience)
        if self.alarm is None:
            notice(mind, now_s, self.patience)
        else:
            _notice_surely(mind, now_s, self.alarm)


def notice(mind: Mind, now_s: float, patience: Patience) -> None:
    """Raise the alarm as soon as somebody is not in touch."""
    belief = mind.belief
    if np.isinf(belief.alarm_s) and not belief.in_touch(now_s, patience).all():
        belief.alarm_s = now_s


def _notice_surely(mind: Mind, now_s: float, patience: Patience) -> None:
    """Raise the alarm when somebody is proved dead, or silent for longer than the patience."""
    belief = mind.belief
    is_missed = belief.heard_s < now_s - patience.of(belief.source) - 1e-9
    if np.isinf(belief.alarm_s) and (is_missed | np.isfinite(belief.dead_s)).any():
        belief.alarm_s = now_s


def notice_split(mind: Mind, world: World) -> None:
    """Raise the alarm where a station tells of UAVs that no link can join."""
    belief = mind.belief
    if np.isinf(belief.alarm_s) and count_subnets(belief.positions, world.range_m) > 1:
        belief.alarm_s = world.time_s


def _hearers(mind: Mind, world: World, silent: IntArray, slack_m: float) -> IntArray:
    """How many members have each of the silent in range, were it alive."""
    from scipy.spatial import cKDTree

    belief = mind.belief
    moved_m = world.speeds_mps[silent] * (world.time_s - belief.position_s[silent])
    reach_m = world.range_m - TOLERANCE_M - slack_m - moved_m
    count = np.zeros(len(silent), dtype=np.int64)
    near = np.flatnonzero(reach_m > 0.0)
    if len(near):
        tree = cKDTree(belief.positions[mind.members])
        places, radii = belief.position_m[silent[near]], reach_m[near]
        count[near] = tree.query_ball_point(places, radii, return_length=True)
    return count


def _part(mind: Mind, world: World, patience: Patience) -> None:
    """Who was in touch a moment ago is out of reach once all in between are gone.

    A link between two UAVs heard of that long ago may be as long as the range, plus what both
    may have flown since, plus the errors. Of whom a station tells needs nobody in between.
    """
    belief, now_s = mind.belief, world.time_s
    crew = belief.in_touch(now_s, patience)
    crew[mind.members] = True
    ids = np.flatnonzero(crew)
    if len(ids) == len(mind.members):
        return
    age_s = now_s - float(belief.heard_s[ids].min())
    reach_m = world.range_m + world.error_bound_m + 2.0 * float(world.speeds_mps.max()) * age_s
    label = subnets(belief.positions[ids], reach_m)
    ours = np.unique(label[np.searchsorted(ids, mind.members)])
    is_parted = ~np.isin(label, ours) & (belief.source[ids] != STATION)
    belief.parted_s[ids[is_parted]] = now_s
