"""Collects the frames of an operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from reknit.base.types import BoolArray, FloatArray
from reknit.flight.motion import Leg
from reknit.knowledge.belief import Knowledge, Mind, Patience
from reknit.knowledge.channels.protocols import World
from reknit.knowledge.operation import Observation, Operation
from reknit.network.links import subnets
from reknit.swarm.scenario import Scenario


class Recorder:
    """Writes down the truth and what was believed of it."""

    def __init__(self, struck: Scenario, observer: int, patience: Patience) -> None:
        self._observer = observer
        self._patience = patience
        self._times: list[float] = []
        self._positions: list[FloatArray] = []
        self._alive: list[BoolArray] = []
        self._subnets: list[int] = []
        self._false_alive: list[float] = []
        self._false_dead: list[float] = []
        self._status: list[Any] = []
        self._believed: list[FloatArray] = []
        self._paths_m = np.zeros(struck.uavs)
        self._first_contact_s: float | None = None
        self.struck(struck)

    def struck(self, scenario: Scenario) -> None:
        """From now on contact means contact between the sub-nets of this scenario."""
        self._apart = np.full(scenario.uavs, -1, dtype=np.int64)
        self._apart[scenario.survivors] = scenario.subnets
        self._first_contact_s = None

    def frame(self, now_s: float, world: World, minds: list[Mind], count: int) -> None:
        """Note the instant."""
        self._times.append(now_s)
        self._positions.append(world.positions.copy())
        self._alive.append(world.alive.copy())
        self._subnets.append(count)
        if self._first_contact_s is None and self._is_contact(world):
            self._first_contact_s = now_s
        lost = ~world.alive
        false_alive = false_dead = 0
        for mind in minds:
            status = mind.belief.status(now_s, self._patience)
            dead = status >= Knowledge.PRESUMED_DEAD
            false_alive += len(mind.members) * int((lost & ~dead).sum())
            false_dead += len(mind.members) * int((world.alive & dead).sum())
            if self._observer in mind.members:
                self._status.append(status.astype(np.int8))
                self._believed.append(mind.belief.positions.copy())
        if len(self._status) < len(self._times):  # the observer is lost: its last belief stays
            self._status.append(self._status[-1])
            self._believed.append(self._believed[-1])
        survivors = max(1, int(world.alive.sum()))
        self._false_alive.append(false_alive / survivors)
        self._false_dead.append(false_dead / survivors)

    def flown(self, leg: Leg, alive: BoolArray) -> None:
        """Add up the ways."""
        self._paths_m[alive] += leg.path_lengths_m

    def was_whole(self, time_s: float) -> bool:
        """Whether the network was whole at a frame."""
        at = int(np.searchsorted(self._times, time_s, side="right")) - 1
        return self._subnets[at] == 1

    def operation(self, **facts: Any) -> Operation:
        """Everything, read-only."""
        arrays: dict[str, Any] = {
            "times_s": np.asarray(self._times),
            "positions": np.stack(self._positions),
            "alive": np.stack(self._alive),
            "subnets": np.asarray(self._subnets, dtype=np.int64),
            "false_alive": np.asarray(self._false_alive),
            "false_dead": np.asarray(self._false_dead),
            "path_lengths_m": self._paths_m,
        }
        for array in arrays.values():
            array.setflags(write=False)
        seen = Observation(self._observer, np.stack(self._status), np.stack(self._believed))
        return Operation(**arrays, first_contact_s=self._first_contact_s, observation=seen, **facts)

    def _is_contact(self, world: World) -> bool:
        ids = np.flatnonzero(world.alive)
        now = subnets(world.positions[ids], world.range_m)
        pairs = np.unique(np.stack([now, self._apart[ids]], axis=1), axis=0)
        return len(pairs) > int(now.max()) + 1
