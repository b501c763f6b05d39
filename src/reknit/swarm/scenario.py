"""`Scenario`: one damaged swarm and what is demanded of its recovery."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from reknit.base.display import Displayed
from reknit.base.errors import InvalidParameter, InvalidScenario
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.network.links import links, subnets
from reknit.swarm.demands import DEMANDS, Demands, GivenDemands, demand_fields, rule
from reknit.swarm.demands.link_length import check_planning_range, planning_range_m
from reknit.swarm.radio import DEFAULT_RANGE_M, Radio
from reknit.swarm.validation import frozen, number, positions_m, rows, speeds_mps, uav_names

DEFAULT_SPEED_MPS = 10.0
"""The paper's d_tr and v_max."""

_MAX_RANGE_M = 1e9


@dataclass(frozen=True, eq=False, init=False)
class Scenario(Demands, Displayed):
    """A swarm at the instant t_0 of its damage. Validated on creation; its arrays are read-only.

    Parameters
    ----------
    positions
        (N, 2) or (N, 3), metres: p_i(t_0) of all N UAVs; a UAV's id is its row.
    destroyed
        Ids of the N_D lost UAVs; may be empty, may not be all.
    radio_range_m
        d_tr. Two UAVs are linked when they are at most this far apart.
    max_speed_mps
        v_max, one for all or one per UAV.
    radio
        A `Radio` instead of a range: d_tr is then its `range_m`.
    names
        A name for every UAV, used wherever UAVs are told to a person or written to a file;
        `destroyed` and `anchors` may then list names.
    allowed_time_s
        T_max: a flight counts as reconnected only within it. By default the longest side of the
        swarm's bounding box / (2 v_max); `generate` gives that of the area it draws the swarm in.
    link_margin, link_reliability, position_sigma_m, min_separation_m, anchors, connectivity
        Demands on where the survivors end, which the checker holds every plan against; see
        `reknit.swarm.demands`.
    """

    positions: FloatArray
    destroyed: IntArray
    radio_range_m: float
    max_speed_mps: FloatArray
    radio: Radio | None
    names: tuple[str, ...] | None
    _memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __init__(
        self,
        positions: ArrayLike,
        destroyed: Iterable[int] | Iterable[str] = (),
        radio_range_m: float | None = None,
        max_speed_mps: float | Sequence[float] | FloatArray = DEFAULT_SPEED_MPS,
        *,
        radio: Radio | None = None,
        names: Sequence[str] | None = None,
        **demands: Unpack[GivenDemands],
    ) -> None:
        put = object.__setattr__
        points = positions_m(positions)
        uavs = len(points)
        put(self, "positions", points)
        put(self, "names", uav_names(names, uavs))
        lost = rows("destroyed", destroyed, uavs, self.names)
        if len(lost) == uavs:
            raise InvalidScenario("destroyed", f"all {uavs} UAVs", "at least one survivor")
        put(self, "destroyed", lost)
        put(self, "radio_range_m", _range_m(radio_range_m, radio))
        put(self, "radio", radio)
        put(self, "max_speed_mps", speeds_mps(max_speed_mps, uavs))
        known = demand_fields()
        for name in demands:
            if name not in known:
                raise InvalidScenario(name, demands[name], "a field of Scenario")  # type: ignore[literal-required]
        for name, item in known.items():
            put(self, name, rule(name).check(demands.get(name, item.default), self))
        check_planning_range(self)
        put(self, "_memo", {})

    @property
    def uavs(self) -> int:
        """N, the size of the swarm before the damage."""
        return len(self.positions)

    @property
    def dim(self) -> int:
        """2 or 3."""
        return int(self.positions.shape[1])

    @cached_property
    def alive(self) -> BoolArray:
        """(N,) which UAVs survived."""
        alive = np.ones(self.uavs, dtype=bool)
        alive[self.destroyed] = False
        return frozen(alive)

    @cached_property
    def survivors(self) -> IntArray:
        """Ids of the N_R survivors, ascending; the order of a plan's targets."""
        return frozen(np.flatnonzero(self.alive))

    @cached_property
    def survivor_positions(self) -> FloatArray:
        """(N_R, dim) positions of the survivors at t_0."""
        return frozen(self.positions[self.survivors])

    @cached_property
    def destroyed_positions(self) -> FloatArray:
        """(N_D, dim) positions of the destroyed UAVs at t_0."""
        return frozen(self.positions[self.destroyed])

    @cached_property
    def survivor_speeds_mps(self) -> FloatArray:
        """(N_R,) v_max of each survivor; 0 for anchors, which do not move."""
        speeds = self.max_speed_mps.copy()
        speeds[self.anchors] = 0.0
        return frozen(speeds[self.survivors])

    @property
    def planning_range_m(self) -> float:
        """The length a planned link may have: d_tr less what is demanded of links."""
        return planning_range_m(self)

    @property
    def has_demands(self) -> bool:
        """Whether more is asked than links of at most d_tr."""
        return any(demand.is_asked(self) for demand in DEMANDS)

    def label(self, row: int) -> int | str:
        """What the UAV in a row is called.

        Parameters
        ----------
        row
            Of `positions`; the UAV's id.

        Returns
        -------
        int or str
            Its name, or the row itself where the UAVs have no names.
        """
        return row if self.names is None else self.names[row]

    @property
    def survivor_labels(self) -> list[int | str]:
        """What the survivors are called, in the order of a plan's targets."""
        rows: list[int | str] = self.survivors.tolist()
        return rows if self.names is None else [self.names[int(row)] for row in rows]

    @cached_property
    def links(self) -> IntArray:
        """Links of the whole swarm before the damage, as pairs of ids ``i < j``."""
        return frozen(links(self.positions, self.radio_range_m))

    @cached_property
    def subnets(self) -> IntArray:
        """(N_R,) sub-net of each survivor right after the damage, numbered from 0."""
        return frozen(subnets(self.survivor_positions, self.radio_range_m))

    @property
    def subnet_count(self) -> int:
        """N_s(t_0)."""
        return int(self.subnets.max()) + 1

    @property
    def is_split(self) -> bool:
        """Whether the survivors' network is in more than one piece."""
        return self.subnet_count > 1

    def values(self) -> dict[str, Any]:
        """Every field by name; ``Scenario(**scenario.values())`` is the same scenario."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.init}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return all(
            np.array_equal(mine, getattr(other, name))
            if isinstance(mine, np.ndarray)
            else mine == getattr(other, name)
            for name, mine in self.values().items()
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is made anew from the fields: what was computed and kept with a scenario may hold
        # what no other process can take, and arrays that come out of a pickle can be written to.
        return _made_of, (self.values(),)

    def __hash__(self) -> int:
        return hash((self.positions.tobytes(), self.destroyed.tobytes(), self.radio_range_m))

    def __repr__(self) -> str:
        return (
            f"Scenario(uavs={self.uavs}, destroyed={len(self.destroyed)}, dim={self.dim}, "
            f"radio_range_m={self.radio_range_m:g}, subnets={self.subnet_count})"
        )


def _made_of(values: dict[str, Any]) -> Scenario:
    return Scenario(**values)


def check_scenario(value: object) -> None:
    """Raise `InvalidParameter` unless it is a `Scenario`, as positions alone are none."""
    if not isinstance(value, Scenario):
        raise InvalidParameter("scenario", value, "a reknit.Scenario")


def check_scenarios(value: object) -> None:
    """Raise `InvalidParameter` unless it is a mapping of names to scenarios."""
    if not isinstance(value, Mapping) or not all(
        isinstance(scenario, Scenario) for scenario in value.values()
    ):
        raise InvalidParameter("scenarios", value, "a dict of reknit.Scenario by name")


def _range_m(range_m: float | None, radio: Radio | None) -> float:
    if radio is not None and not isinstance(radio, Radio):
        raise InvalidScenario("radio", radio, "a reknit.Radio")
    if radio is None:
        value = DEFAULT_RANGE_M if range_m is None else range_m
        return number("radio_range_m", value, above=0.0, at_most=_MAX_RANGE_M)
    if range_m is not None and range_m != radio.range_m:
        raise InvalidScenario(
            "radio_range_m", range_m, "None beside a radio, which has a range of its own"
        )
    return number("radio.range_m", radio.range_m, above=0.0, at_most=_MAX_RANGE_M)
