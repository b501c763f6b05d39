"""`mixed`: some UAVs have the link to the station; the others hear its news over the radio."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.knowledge.belief import Mind, merged
from reknit.knowledge.channels.protocols import World, notice_split
from reknit.knowledge.channels.radio import RadioChannel, RadioSession
from reknit.knowledge.channels.station import Desk, Station


@dataclass(frozen=True)
class Mixed:
    """Radio for all, and a station for some.

    Parameters
    ----------
    radio, station
        The two channels.
    uplinks
        Share of the UAVs that have the link to the station (spread evenly over the ids), or
        their ids.
    """

    radio: RadioChannel = field(default_factory=RadioChannel)
    station: Station = field(default_factory=Station)
    uplinks: float | tuple[int, ...] = 0.1

    def __post_init__(self) -> None:
        if isinstance(self.uplinks, tuple):
            return
        if isinstance(self.uplinks, bool) or not 0.0 <= self.uplinks <= 1.0:
            raise InvalidParameter("channel.uplinks", self.uplinks, "a share from 0 to 1, or ids")

    @property
    def noise_m(self) -> float:
        """Sigma of the navigation errors: the radio's."""
        return self.radio.noise_m

    def open(self, world: World, seed: int) -> MixedSession:
        """Begin."""
        return MixedSession(self, world, seed)

    def alarm_delay_s(self, uavs: int, step_s: float) -> float:
        """Who was last heard of over the radio is missed by it, and who by the station's news by
        the news that do not come.
        """
        ways = self.radio, self.station
        return max(way.alarm_delay_s(uavs, step_s) for way in ways)


class MixedSession:
    """Radio and station at work."""

    def __init__(self, channel: Mixed, world: World, seed: int) -> None:
        self._desk = Desk(channel.station, world, seed)
        self._radio = RadioSession(channel.radio, world, seed, self._desk.patience_s)
        self._radio_floods = channel.radio.hop_delay_s == 0.0
        uavs = len(world.alive)
        if isinstance(channel.uplinks, tuple):
            ids = np.asarray(channel.uplinks, dtype=np.int64)
            if len(ids) and not (ids.min() >= 0 and ids.max() < uavs):
                allowed = f"ids from 0 to {uavs - 1}"
                raise InvalidParameter("channel.uplinks", channel.uplinks, allowed)
            self._uplinks = np.unique(ids)
        else:
            count = round(channel.uplinks * uavs)
            self._uplinks = np.unique(np.linspace(0, uavs - 1, count).round().astype(np.int64))
        self.period_s = self._radio.period_s
        self.patience = self._radio.patience
        self.is_continuous = self.tells_at_once = False
        self.bytes_sent = 0

    def exchange(self, minds: list[Mind], world: World) -> list[Mind]:
        """First the radio, then reports and broadcasts of those with the link."""
        minds = self._radio.exchange(minds, world)
        able = [mind for mind in minds if np.isin(mind.members, self._uplinks).any()]
        reported = self._desk.take_reports(world, self._uplinks, [mind.belief for mind in able])
        for _, table in self._desk.broadcasts(world.time_s):
            for mind in able:
                mind.belief = merged([mind.belief, table])
                notice_split(mind, world)
        self.bytes_sent = self._radio.bytes_sent + reported
        return minds

    def whole_at_s(self, mind: Mind) -> float | None:
        """As over the radio; with a delay per hop nobody can tell the two ways apart."""
        return self._radio.whole_at_s(mind) if self._radio_floods else None
