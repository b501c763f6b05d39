"""`radio`: news travels over live links alone, hop by hop."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.types import IntArray
from reknit.flight.simulator import STEP_S
from reknit.knowledge.belief import Belief, Mind, Patience, meeting, merged
from reknit.knowledge.channels.loss import Loss, NoLoss
from reknit.knowledge.channels.protocols import (
    ALARM,
    DOUBT,
    Silence,
    World,
    check_noise,
    check_time,
    misses_allowed,
)
from reknit.network.links import components, links

RECORD_BYTES = 32
"""Of one UAV's news on the air: id, time, position, target, status."""


@dataclass(frozen=True)
class RadioChannel:
    """Every period each UAV sends what it knows to those in range, and they pass it on.

    Parameters
    ----------
    period_s
        Time between two exchanges.
    hop_delay_s
        Time for one hop, at most the period. In one exchange news travels ``period / hop delay``
        hops; without a delay it floods the sub-net.
    loss
        Which links lose their messages in an exchange.
    noise_m
        Sigma of the navigation errors.
    """

    period_s: float = 0.1
    hop_delay_s: float = 0.0
    loss: Loss = field(default_factory=NoLoss)
    noise_m: float = 0.0

    def __post_init__(self) -> None:
        check_time("channel.period_s", self.period_s)
        check_time("channel.hop_delay_s", self.hop_delay_s)
        check_noise("channel.noise_m", self.noise_m)
        if self.hop_delay_s > max(self.period_s, STEP_S):
            allowed = f"at most the period, {max(self.period_s, STEP_S):g} s: a hop an exchange"
            raise InvalidParameter("channel.hop_delay_s", self.hop_delay_s, allowed)

    def open(self, world: World, seed: int) -> RadioSession:
        """Begin."""
        return RadioSession(self, world, seed)

    def alarm_delay_s(self, uavs: int, step_s: float) -> float:
        """A period for the silence, as many more as losses may explain, and the way of the news."""
        return max(self.period_s, step_s) * (1 + self.silent_periods(uavs, step_s, ALARM))

    def hops(self, step_s: float) -> int | None:
        """How far news travels in one exchange; None: as far as the sub-net."""
        if self.hop_delay_s == 0.0:
            return None
        return int(max(self.period_s, step_s) / self.hop_delay_s + 1e-9)

    def silent_periods(self, uavs: int, step_s: float, level: float) -> int:
        """Periods without news of a live member that losses explain with this probability or
        more, and hops.

        News crosses a swarm of N in about sqrt(N) hops; twice that is allowed for.
        """
        hops = self.hops(step_s)
        way = 0 if hops is None else int(2.0 * np.sqrt(uavs) / hops) + 1
        return misses_allowed(self.loss.repeat, level) + way


class RadioSession:
    """The radio at work.

    Parameters
    ----------
    station_patience_s
        How long somebody of whom a station tells, beside the radio, counts as in touch.
    """

    def __init__(
        self, channel: RadioChannel, world: World, seed: int, station_patience_s: float = 0.0
    ) -> None:
        self.period_s = max(channel.period_s, world.step_s)
        self._loss = channel.loss.begin(seed)
        self._hops = channel.hops(world.step_s)
        waits_s = [
            self.period_s * (1 + channel.silent_periods(len(world.alive), world.step_s, level))
            - world.step_s / 2.0
            for level in (DOUBT, ALARM)
        ]
        self.patience, alarm = (Patience(wait_s, station_patience_s) for wait_s in waits_s)
        under_way = alarm if world.is_under_way else None  # who hovers has no mission to end
        self._silence = Silence.over(channel.loss.repeat, self.patience, under_way)
        self._every_step = channel.period_s <= world.step_s
        self._due_s = world.time_s
        self._number = 0
        self._exchanged_s = -np.inf
        self.is_continuous = self.tells_at_once = False
        self.bytes_sent = 0

    def exchange(self, minds: list[Mind], world: World) -> list[Mind]:
        """Merge what the UAVs of each working component know, if an exchange is due."""
        if not self._every_step and world.time_s < self._due_s - 1e-9:
            return _living(minds, world)
        self._due_s += self.period_s
        self._exchanged_s = world.time_s
        ids = np.flatnonzero(world.alive)
        pairs = ids[links(world.positions[ids], world.range_m)].reshape(-1, 2)
        kept = pairs[~self._loss.lost(pairs[:, 0] * len(world.alive) + pairs[:, 1], self._number)]
        self._number += 1
        label = components(np.searchsorted(ids, kept), len(ids))
        if self._hops is None:
            minds = self._flood(minds, ids, label)
        else:
            minds = self._relay(minds, ids, kept, world)
        reported = world.reported
        for mind in minds:
            mind.belief.hear(mind.members, reported[mind.members], mind.members, world.time_s)
            self._silence.weigh(mind, world)
        return minds

    def whole_at_s(self, mind: Mind) -> float | None:
        """Everybody who is not certainly dead took part in the last exchange of this mind."""
        belief = mind.belief
        is_met = belief.heard_s >= self._exchanged_s
        if self._hops is None:  # the members are a component of the working links
            is_met = np.zeros(belief.uavs, dtype=bool)
            is_met[mind.members] = True
        if (np.isfinite(belief.dead_s) | is_met).all():
            return self._exchanged_s
        return None

    def _flood(self, minds: list[Mind], ids: IntArray, label: IntArray) -> list[Mind]:
        owner = owners(minds)
        order = np.argsort(label, kind="stable")
        after = []
        for members in np.split(ids[order], np.flatnonzero(np.diff(label[order])) + 1):
            parts = [minds[k] for k in np.unique(owner[members]).tolist()]
            if len(parts) > 1:
                after.append(meeting(parts, members))
                self.bytes_sent += RECORD_BYTES * len(members) * len(owner)
            elif len(parts[0].members) == len(members):
                after.append(parts[0])
            else:
                after.append(parts[0].split(members))
            # A flood: every member passes every member's record on once.
            self.bytes_sent += RECORD_BYTES * len(members) * len(members)
        return after

    def _relay(self, minds: list[Mind], ids: IntArray, pairs: IntArray, world: World) -> list[Mind]:
        """News travels a few hops: every UAV has a mind of its own."""
        owner = owners(minds)
        single = {int(uav): minds[owner[uav]].split(np.array([uav])) for uav in ids}
        for uav, mind in single.items():
            here = world.reported[[uav]]
            mind.belief.hear(mind.members, here, mind.members, world.time_s)
        neighbours: dict[int, list[int]] = {uav: [uav] for uav in single}
        for left, right in pairs.tolist():
            neighbours[left].append(right)
            neighbours[right].append(left)
        for _ in range(self._hops or 1):
            before: dict[int, Belief] = {uav: mind.belief for uav, mind in single.items()}
            for uav, near in neighbours.items():
                single[uav].belief = merged([before[other] for other in near])
            self.bytes_sent += RECORD_BYTES * len(ids) * len(owner)
        return list(single.values())


def owners(minds: list[Mind]) -> IntArray:
    """(N,) which mind each UAV shares; -1 for nobody's."""
    owner = np.full(minds[0].belief.uavs, -1, dtype=np.int64)
    for number, mind in enumerate(minds):
        owner[mind.members] = number
    return owner


def _living(minds: list[Mind], world: World) -> list[Mind]:
    """The minds without the members that died since the last exchange."""
    after = []
    for mind in minds:
        alive = mind.members[world.alive[mind.members]]
        if len(alive) == len(mind.members):
            after.append(mind)
        elif len(alive):
            mind.members = alive
            after.append(mind)
    return after
