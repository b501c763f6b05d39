"""`Belief`: what one UAV, or a sub-net whose members agree, knows of the whole swarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Any

import numpy as np

from reknit.base.types import BoolArray, FloatArray, IntArray

SNAPSHOT = -1
"""Source of what was known to everybody before the damage."""

STATION = -2
"""Source of what the ground station broadcast."""


@dataclass(frozen=True)
class Patience:
    """How long somebody may be silent and still counts as in touch.

    Parameters
    ----------
    radio_s
        If it was last heard of over the radio, seconds.
    station_s
        If a station told of it last.
    """

    radio_s: float
    station_s: float

    @property
    def as_by_radio(self) -> Patience:
        """The radio's patience, wherever news come from."""
        return Patience(self.radio_s, self.radio_s)

    def of(self, source: IntArray) -> FloatArray:
        """The patience with news from these sources.

        Parameters
        ----------
        source
            (n,) ids of UAVs, or `SNAPSHOT` or `STATION`.

        Returns
        -------
        array
            (n,) seconds.
        """
        return np.where(source == STATION, self.station_s, self.radio_s)


class Knowledge(IntEnum):
    """What a belief holds of one UAV."""

    ALIVE = 0
    UNKNOWN = 1
    PRESUMED_DEAD = 2
    CERTAINLY_DEAD = 3


@dataclass(eq=False)
class Belief:
    """What is known of all N UAVs. Positions are as reported, times count from the start.

    Attributes
    ----------
    positions
        (N, dim) last known positions, metres.
    heard_s
        (N,) when each was last known to be alive, at that position.
    source
        (N,) id of the UAV that heard it first hand, or `SNAPSHOT` or `STATION`.
    dead_s
        (N,) when it was proved dead; infinite where it was not.
    presumed_s
        (N,) when it last missed an appointment; minus infinity where it never did. Newer news
        of its being alive takes the presumption back.
    targets, announced_s
        (N, dim) where it announced to fly to, NaN where it did not, and when.
    position_m, position_s
        (N, dim) and (N,): if alive, it was there at that time. The same as `positions` and
        `heard_s` unless a policy proves a later place, such as a kept rendezvous.
    misses
        (N,) how many links must have carried its news since it was last heard, were it alive,
        and did not: links of members that have it in range whatever it did since.
    silences
        (N,) the same for links that carry its news unless navigation errors are large, as a
        share of how many it takes to presume it dead.
    parted_s
        (N,) when it was last out of reach, because nobody is left in between; newer news takes
        that back.
    alarm_s
        When the first silence was noticed; infinite before.
    """

    positions: FloatArray
    heard_s: FloatArray
    source: IntArray
    dead_s: FloatArray
    presumed_s: FloatArray
    targets: FloatArray
    announced_s: FloatArray
    position_m: FloatArray
    position_s: FloatArray
    misses: IntArray
    silences: FloatArray
    parted_s: FloatArray
    alarm_s: float = np.inf

    @staticmethod
    def of_snapshot(positions: FloatArray, age_s: float) -> Belief:
        """What everybody knows at time 0, when the damage is done.

        Nobody had a reason to leave its place since the last exchange, so whoever lives is there at
        time 0.

        Parameters
        ----------
        positions
            (N, dim) metres, as reported.
        age_s
            How long before the damage the last exchange was, seconds.

        Returns
        -------
        Belief
        """
        uavs = len(positions)
        return Belief(
            positions=positions.copy(),
            heard_s=np.full(uavs, -age_s),
            source=np.full(uavs, SNAPSHOT, dtype=np.int64),
            dead_s=np.full(uavs, np.inf),
            presumed_s=np.full(uavs, -np.inf),
            targets=np.full_like(positions, np.nan),
            announced_s=np.full(uavs, -np.inf),
            position_m=positions.copy(),
            position_s=np.zeros(uavs),
            misses=np.zeros(uavs, dtype=np.int64),
            silences=np.zeros(uavs),
            parted_s=np.full(uavs, -np.inf),
        )

    @property
    def uavs(self) -> int:
        """N."""
        return len(self.positions)

    def copy(self) -> Belief:
        """An independent copy."""
        values: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                values[name] = value.copy()
        return Belief(**values)

    def status(self, now_s: float, patience: Patience) -> IntArray:
        """What is held of every UAV; alive is who was heard of within the patience.

        Parameters
        ----------
        now_s
            The instant, seconds.
        patience
            Who was not heard of for longer is not held to be alive.

        Returns
        -------
        array of int
            (N,) `Knowledge`.
        """
        return np.where(
            np.isfinite(self.dead_s),
            Knowledge.CERTAINLY_DEAD,
            np.where(
                self.in_touch(now_s, patience),
                Knowledge.ALIVE,
                np.where(
                    self.presumed_s > self.heard_s,
                    Knowledge.PRESUMED_DEAD,
                    Knowledge.UNKNOWN,
                ),
            ),
        )

    def in_touch(self, now_s: float, patience: Patience) -> BoolArray:
        """Who was heard of within the patience, and since then neither proved dead, nor presumed
        dead, nor out of reach.

        Parameters
        ----------
        now_s
            The instant, seconds.
        patience
            Who was not heard of for longer is not in touch.

        Returns
        -------
        array of bool
            (N,).
        """
        is_recent = self.heard_s >= now_s - patience.of(self.source) - 1e-9
        is_refuted = (self.presumed_s > self.heard_s) | (self.parted_s > self.heard_s)
        return np.asarray(is_recent & ~is_refuted & ~np.isfinite(self.dead_s))

    def hear(self, ids: IntArray, positions: FloatArray, source: IntArray, now_s: float) -> None:
        """First-hand news: these UAVs are alive at these positions now.

        Parameters
        ----------
        ids
            (n,) who is heard.
        positions
            (n, dim) metres, as reported.
        source
            (n,) ids of those who hear them.
        now_s
            The instant, seconds.
        """
        self.positions[ids] = positions
        self.heard_s[ids] = now_s
        self.source[ids] = source
        self.position_m[ids] = positions
        self.position_s[ids] = now_s
        self.misses[ids] = 0
        self.silences[ids] = 0.0

    def expected(self, speeds_mps: FloatArray, now_s: float) -> FloatArray:
        """Where each would be now had it flown straight to its announced target.

        Parameters
        ----------
        speeds_mps
            (N,) v_max.
        now_s
            The instant, seconds.

        Returns
        -------
        array
            (N, dim) metres.
        """
        away = self.targets - self.positions
        distance = np.sqrt((away * away).sum(axis=1))
        flown = np.maximum(now_s - self.heard_s, 0.0) * speeds_mps
        going = np.isfinite(distance) & (distance > 0.0)
        share = np.zeros_like(distance)
        np.divide(flown, distance, out=share, where=going)
        step = np.where(going[:, None], away, 0.0) * np.minimum(share, 1.0)[:, None]
        return np.asarray(self.positions + step)


def merged(beliefs: Sequence[Belief]) -> Belief:
    """What several know together: of every fact the newest.

    Ties go to the belief that stands first, so the order of the beliefs must not depend on
    anything but the UAVs that hold them.
    """
    if len(beliefs) == 1:
        return beliefs[0].copy()
    every = np.arange(beliefs[0].uavs)

    def newest(times: str, *names: str) -> list[Any]:
        stacked = np.stack([getattr(belief, times) for belief in beliefs])
        pick = stacked.argmax(axis=0)
        return [stacked[pick, every]] + [
            np.stack([getattr(belief, name) for belief in beliefs])[pick, every] for name in names
        ]

    heard_s, positions, source = newest("heard_s", "positions", "source")
    announced_s, targets = newest("announced_s", "targets")
    position_s, position_m = newest("position_s", "position_m")
    since = [
        belief.position_s == position_s for belief in beliefs
    ]  # evidence since its latest place
    return Belief(
        positions=positions,
        heard_s=heard_s,
        source=source,
        dead_s=np.min([belief.dead_s for belief in beliefs], axis=0),
        presumed_s=np.max([belief.presumed_s for belief in beliefs], axis=0),
        targets=targets,
        announced_s=announced_s,
        position_m=position_m,
        position_s=position_s,
        misses=np.max([b.misses * mask for b, mask in zip(beliefs, since, strict=True)], axis=0),
        silences=np.max(
            [b.silences * mask for b, mask in zip(beliefs, since, strict=True)], axis=0
        ),
        parted_s=np.max([belief.parted_s for belief in beliefs], axis=0),
        alarm_s=min(belief.alarm_s for belief in beliefs),
    )


@dataclass(eq=False)
class Mind:
    """One belief and the UAVs that share it; the policy's own memory of its history.

    Attributes
    ----------
    members
        Ids, ascending.
    belief
        What they hold of all UAVs.
    memory
        Whatever the policy wants to remember. Members that lose touch take copies along; when
        minds meet, the memory of the one with the smallest id stays.
    """

    members: IntArray
    belief: Belief
    memory: dict[str, Any] = field(default_factory=dict)

    def split(self, members: IntArray) -> Mind:
        """An independent copy for some of the members.

        Parameters
        ----------
        members
            Their ids, ascending.

        Returns
        -------
        Mind
        """
        return Mind(members, self.belief.copy(), dict(self.memory))


def meeting(minds: Sequence[Mind], members: IntArray) -> Mind:
    """The mind of UAVs that come from several minds and now know the same."""
    order = sorted(minds, key=lambda mind: int(mind.members[0]))
    return Mind(members, merged([mind.belief for mind in order]), dict(order[0].memory))
