"""`global`: the paper's model. Every UAV reports to a station, which broadcasts to all."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.types import BoolArray, IntArray
from reknit.knowledge.belief import SNAPSHOT, STATION, Belief, Mind, Patience, merged
from reknit.knowledge.channels.loss import Loss, NoLoss
from reknit.knowledge.channels.protocols import (
    CERTAINTY,
    World,
    check_noise,
    check_time,
    misses_allowed,
    notice,
    notice_split,
)
from reknit.knowledge.channels.radio import RECORD_BYTES
from reknit.network.links import count_subnets


@dataclass(frozen=True)
class Station:
    """A satellite or ground station that hears and tells everybody.

    Parameters
    ----------
    report_period_s
        T_report, time between two reports of a UAV; 0 reports at every step.
    latency_s
        Time from the reports to the broadcast's arrival.
    missed_reports
        A UAV is off-line after so many missed reports in a row.
    loss
        Which reports are lost. Broadcasts arrive.
    noise_m
        Sigma of the navigation errors.
    """

    report_period_s: float = 0.0
    latency_s: float = 0.0
    missed_reports: int = 1
    loss: Loss = field(default_factory=NoLoss)
    noise_m: float = 0.0

    def __post_init__(self) -> None:
        check_time("channel.report_period_s", self.report_period_s)
        check_time("channel.latency_s", self.latency_s)
        check_noise("channel.noise_m", self.noise_m)
        missed = self.missed_reports
        if isinstance(missed, bool) or not isinstance(missed, int) or missed < 1:
            allowed = "a whole number of at least 1"
            raise InvalidParameter("channel.missed_reports", missed, allowed)

    def open(self, world: World, seed: int) -> StationSession:
        """Begin."""
        return StationSession(self, world, seed)

    def alarm_delay_s(self, uavs: int, step_s: float) -> float:
        """The reports that must be missed, the broadcast, and a step."""
        period_s = max(self.report_period_s, step_s)
        return self.missed_reports * period_s + self.latency_s + step_s


class Desk:
    """The station's table: who reported when and where."""

    def __init__(self, channel: Station, world: World, seed: int) -> None:
        self.period_s = max(channel.report_period_s, world.step_s)
        self._every_step = channel.report_period_s <= world.step_s
        self._latency_s = channel.latency_s
        self._missed = channel.missed_reports
        self._loss = channel.loss.begin(seed + 1)
        self._proofs = misses_allowed(channel.loss.repeat, CERTAINTY)
        self._due_s = world.time_s
        self._number = 0
        self._on_air: deque[tuple[float, float, Belief]] = deque()
        self.patience_s = (
            self.period_s * self._missed + self._latency_s + world.step_s / 2.0
            if self._latency_s or self._missed > 1
            else self.period_s - world.step_s / 2.0
        )
        self.table = Belief.of_snapshot(world.reported, self.period_s)

    def take_reports(self, world: World, reporters: IntArray, news: list[Belief]) -> int:
        """Receive what is due; the number of bytes received.

        Parameters
        ----------
        reporters
            Ids that have the link and should report, alive or not.
        news
            What the living reporters know beyond their own position.
        """
        if not self._every_step and world.time_s < self._due_s - 1e-9:
            return 0
        self._due_s += self.period_s
        lost = self._loss.lost(reporters, self._number)
        self._number += 1
        arrived = reporters[world.alive[reporters] & ~lost]
        if news:
            self.table = merged([self.table, *news])
            is_told = self.table.source != SNAPSHOT
            self.table.source[is_told] = STATION  # for whoever hears of it by the broadcast
        table = self.table
        source = np.full(len(arrived), STATION)
        table.hear(arrived, world.reported[arrived], source, world.time_s)
        missing = np.setdiff1d(reporters, arrived)
        table.misses[missing] += 1
        missing = missing[np.isinf(table.dead_s[missing])]
        off_line = missing[table.misses[missing] >= self._missed]
        proved = table.misses[off_line] > self._proofs
        table.dead_s[off_line[proved]] = world.time_s
        table.presumed_s[off_line[~proved]] = world.time_s
        self._on_air.append((world.time_s + self._latency_s, world.time_s, table.copy()))
        records = len(arrived) * (1 + len(news) * table.uavs)
        return RECORD_BYTES * records

    def broadcasts(self, now_s: float) -> list[tuple[float, Belief]]:
        """Tables that arrive by now, with the time of their reports."""
        arrived = []
        while self._on_air and self._on_air[0][0] <= now_s + 1e-9:
            _, reported_s, table = self._on_air.popleft()
            arrived.append((reported_s, table))
        return arrived


class StationSession:
    """The station at work: everybody alive has the same table, so there is one mind."""

    def __init__(self, channel: Station, world: World, seed: int) -> None:
        self._desk = Desk(channel, world, seed)
        self._range_m = world.range_m - 2.0 * world.error_bound_m
        self.period_s = self._desk.period_s
        self.patience = Patience(self._desk.patience_s, self._desk.patience_s)
        self._reported_s = -np.inf
        self.is_continuous = channel.report_period_s == 0.0
        is_prompt = channel.latency_s == 0.0 and channel.missed_reports == 1
        self.tells_at_once = self.is_continuous and is_prompt and channel.loss.repeat == 0.0
        self.bytes_sent = 0

    def exchange(self, minds: list[Mind], world: World) -> list[Mind]:
        """Reports up, broadcast down."""
        everybody = np.arange(len(world.alive))
        self.bytes_sent += self._desk.take_reports(world, everybody, [])
        mind = minds[0]
        mind.members = np.flatnonzero(world.alive)
        for reported_s, table in self._desk.broadcasts(world.time_s):
            table.targets, table.announced_s = (
                mind.belief.targets,
                mind.belief.announced_s,
            )
            table.alarm_s = mind.belief.alarm_s
            mind.belief, self._reported_s = table, reported_s
        notice(mind, world.time_s, self.patience)
        notice_split(mind, world)
        return [mind]

    def whole_at_s(self, mind: Mind) -> float | None:
        """Every UAV that is not dead reported at the same time, from places that are connected."""
        belief = mind.belief
        living: BoolArray = np.isinf(belief.dead_s)
        if np.isinf(self._reported_s) or not (belief.heard_s[living] >= self._reported_s).all():
            return None
        if count_subnets(belief.positions[living], self._range_m) > 1:
            return None
        return self._reported_s
