"""`Scenario`: one damaged swarm and what is demanded of its recovery."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reknit.base.errors import InvalidScenario
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.network.links import links, subnets
from reknit.swarm.radio import Radio


@dataclass(frozen=True, eq=False)
class Scenario:
    """A swarm at the instant t_0 of its damage. Validated on creation; its arrays are read-only.

    positions           (N, 2) or (N, 3), metres: p_i(t_0) of all N UAVs; a UAV's id is its row.
    destroyed           ids of the N_D lost UAVs; may be empty, may not be all.
    radio_range_m       d_tr. Two UAVs are linked when they are at most this far apart.
    max_speed_mps       v_max, one for all or one per UAV.
    radio               a `Radio` instead of a range: d_tr is then its `range_m`.

    Demands, which the checker holds every plan against:

    allowed_time_s      T_max; by default the longest side of the swarm's bounding box / (2 v_max).
    link_margin         planned links are at most (1 - link_margin) d_tr long.
    link_reliability    planned links hold with this probability under the radio's fading.
    min_separation_m    no two UAVs end closer than this.
    anchors             ids of UAVs that must not move.
    connectivity        1: connected; 2: stays connected when any one further UAV is lost.
    """

    positions: FloatArray
    destroyed: IntArray
    radio_range_m: float
    max_speed_mps: FloatArray
    allowed_time_s: float
    link_margin: float
    link_reliability: float | None
    min_separation_m: float
    anchors: IntArray
    connectivity: int
    radio: Radio | None
    _memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __init__(
        self,
        positions: ArrayLike,
        destroyed: Iterable[int] = (),
        radio_range_m: float | None = None,
        max_speed_mps: float | Sequence[float] | FloatArray = 10.0,
        *,
        radio: Radio | None = None,
        allowed_time_s: float | None = None,
        link_margin: float = 0.0,
        link_reliability: float | None = None,
        min_separation_m: float = 0.0,
        anchors: Iterable[int] = (),
        connectivity: int = 1,
    ) -> None:
        points = _positions(positions)
        uavs = len(points)
        lost = _ids("destroyed", destroyed, uavs)
        if len(lost) == uavs:
            raise InvalidScenario("destroyed", f"all {uavs} UAVs", "at least one survivor")
        speeds = _speeds(max_speed_mps, uavs)
        put = object.__setattr__
        put(self, "positions", points)
        put(self, "destroyed", lost)
        put(self, "radio_range_m", _range(radio_range_m, radio))
        put(self, "radio", radio)
        put(self, "max_speed_mps", speeds)
        put(self, "link_margin", _number("link_margin", link_margin, 0.0, below=1.0))
        put(self, "link_reliability", _reliability(link_reliability, radio))
        put(self, "min_separation_m", _number("min_separation_m", min_separation_m, 0.0))
        put(self, "anchors", _ids("anchors", anchors, uavs))
        if isinstance(connectivity, bool) or connectivity not in (1, 2):
            raise InvalidScenario("connectivity", connectivity, "1 or 2")
        put(self, "connectivity", int(connectivity))
        if allowed_time_s is None:
            allowed_time_s = float(np.ptp(points, axis=0).max()) / (2.0 * float(speeds.max()))
        put(self, "allowed_time_s", _number("allowed_time_s", allowed_time_s, 0.0))
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
        return _frozen(alive)

    @cached_property
    def survivors(self) -> IntArray:
        """Ids of the N_R survivors, ascending; the order of a plan's targets."""
        return _frozen(np.flatnonzero(self.alive))

    @cached_property
    def survivor_positions(self) -> FloatArray:
        """(N_R, dim) positions of the survivors at t_0."""
        return _frozen(self.positions[self.survivors])

    @cached_property
    def destroyed_positions(self) -> FloatArray:
        """(N_D, dim) positions of the destroyed UAVs at t_0."""
        return _frozen(self.positions[self.destroyed])

    @cached_property
    def survivor_speeds_mps(self) -> FloatArray:
        """(N_R,) v_max of each survivor; 0 for anchors, which do not move."""
        speeds = self.max_speed_mps.copy()
        speeds[self.anchors] = 0.0
        return _frozen(speeds[self.survivors])

    @property
    def planning_range_m(self) -> float:
        """The length a planned link may have: d_tr less the demanded margin and reliability."""
        limit = self.radio_range_m * (1.0 - self.link_margin)
        if self.link_reliability is not None and self.radio is not None:
            limit = min(limit, self.radio.range_at_reliability_m(self.link_reliability))
        return limit

    @property
    def has_demands(self) -> bool:
        """Whether more is asked than links of at most d_tr and one speed limit."""
        return bool(
            self.planning_range_m < self.radio_range_m
            or self.min_separation_m > 0
            or len(self.anchors)
            or self.connectivity > 1
        )

    @cached_property
    def links(self) -> IntArray:
        """Links of the whole swarm before the damage, as pairs of ids ``i < j``."""
        return _frozen(links(self.positions, self.radio_range_m))

    @cached_property
    def subnets(self) -> IntArray:
        """(N_R,) sub-net of each survivor right after the damage, numbered from 0."""
        return _frozen(subnets(self.survivor_positions, self.radio_range_m))

    @property
    def subnet_count(self) -> int:
        """N_s(t_0)."""
        return int(self.subnets.max()) + 1

    @property
    def is_split(self) -> bool:
        """Whether the survivors' network is in more than one piece."""
        return self.subnet_count > 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            if isinstance(getattr(self, name), np.ndarray)
            else getattr(self, name) == getattr(other, name)
            for name in self.__dataclass_fields__
            if name != "_memo"
        )

    def __hash__(self) -> int:
        return hash((self.positions.tobytes(), self.destroyed.tobytes(), self.radio_range_m))

    def __repr__(self) -> str:
        return (
            f"Scenario(uavs={self.uavs}, destroyed={len(self.destroyed)}, dim={self.dim}, "
            f"radio_range_m={self.radio_range_m:g}, subnets={self.subnet_count})"
        )


_Array = TypeVar("_Array", bound=NDArray[Any])


def _frozen(array: _Array) -> _Array:
    array.setflags(write=False)
    return array


def _positions(value: ArrayLike) -> FloatArray:
    try:
        points = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InvalidScenario("positions", value, "numbers, shape (N, 2) or (N, 3)") from None
    if points.ndim != 2 or points.shape[1] not in (2, 3) or len(points) == 0:
        raise InvalidScenario("positions", f"of shape {points.shape}", "shape (N, 2) or (N, 3)")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        row = int(bad[0])
        raise InvalidScenario(f"positions[{row}]", points[row].tolist(), "finite numbers")
    if np.abs(points).max() > 1e9:
        row = int(np.abs(points).max(axis=1).argmax())
        raise InvalidScenario(
            f"positions[{row}]", points[row].tolist(), "metres, at most 1e9 from the origin"
        )
    return _frozen(points)


def _ids(name: str, value: Iterable[int], uavs: int) -> IntArray:
    try:
        raw = np.array(list(value))
    except (TypeError, ValueError):
        raise InvalidScenario(name, value, "a list of UAV ids") from None
    if raw.size == 0:
        return _frozen(np.empty(0, dtype=np.int64))
    if raw.ndim != 1 or not np.issubdtype(raw.dtype, np.integer):
        raise InvalidScenario(name, value, f"a list of whole numbers from 0 to {uavs - 1}")
    outside = raw[(raw < 0) | (raw >= uavs)]
    if len(outside):
        raise InvalidScenario(name, int(outside[0]), f"UAV ids from 0 to {uavs - 1}")
    ids, counts = np.unique(raw, return_counts=True)
    if (counts > 1).any():
        raise InvalidScenario(name, f"{int(ids[counts > 1][0])} twice", "each id once")
    return _frozen(ids.astype(np.int64))


def _number(name: str, value: float, least: float, below: float = math.inf) -> float:
    ok = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not ok or not (math.isfinite(value) and least <= value < below):
        limit = f" and below {below:g}" if math.isfinite(below) else ""
        raise InvalidScenario(name, value, f"a finite number of at least {least:g}{limit}")
    return float(value)


def _above_zero(name: str, value: float) -> float:
    ok = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not ok or not (math.isfinite(value) and value > 0):
        raise InvalidScenario(name, value, "a finite number above 0")
    return float(value)


def _range(range_m: float | None, radio: Radio | None) -> float:
    if radio is not None and not isinstance(radio, Radio):
        raise InvalidScenario("radio", radio, "a reknit.Radio")
    if radio is None:
        return _above_zero("radio_range_m", 120.0 if range_m is None else range_m)
    if range_m is not None:
        raise InvalidScenario("radio_range_m", range_m, "either a range or a radio, not both")
    return radio.range_m


def _reliability(value: float | None, radio: Radio | None) -> float | None:
    if value is None:
        return None
    if radio is None:
        raise InvalidScenario("link_reliability", value, "only together with a radio")
    number = _number("link_reliability", value, 0.0, below=1.0)
    if number == 0.0:
        raise InvalidScenario("link_reliability", value, "a probability between 0 and 1")
    return number


def _speeds(value: float | Sequence[float] | FloatArray, uavs: int) -> FloatArray:
    if isinstance(value, (str, bytes, bool)) or value is None:
        raise InvalidScenario("max_speed_mps", value, "a number above 0, or one per UAV")
    try:
        speeds = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidScenario("max_speed_mps", value, "a number above 0, or one per UAV") from None
    if speeds.ndim == 0:
        speeds = np.full(uavs, speeds)
    if speeds.shape != (uavs,):
        raise InvalidScenario("max_speed_mps", f"of shape {speeds.shape}", f"one or {uavs} numbers")
    bad = np.flatnonzero(~(np.isfinite(speeds) & (speeds > 0)))
    if len(bad):
        one = float(speeds[bad[0]])
        raise InvalidScenario("max_speed_mps", one, "finite numbers above 0")
    return _frozen(speeds)
