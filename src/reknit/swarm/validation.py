"""Checks of single values, each answered by one typed error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reknit.base.errors import InvalidScenario
from reknit.base.types import FloatArray, IntArray
from reknit.base.values import is_finite, is_whole, real_numbers

MAX_UAVS = 1_000_000
"""Of a generated swarm or one in a file: all is linear in it, and ten seconds go into reading."""

MAX_COORDINATE_M = 1e9
MIN_SPEED_MPS = 1e-9
MAX_SPEED_MPS = 1e6
MAX_TIME_S = 1e12
"""Limits within which float64 arithmetic on metres and seconds neither overflows nor loses a
link; anything beyond them is a slip of the unit."""

_Array = TypeVar("_Array", bound=NDArray[Any])


def frozen(array: _Array) -> _Array:
    """The same array, read-only."""
    array.setflags(write=False)
    return array


def read_number(text: str) -> float:
    """The number that a text writes in plain digits; `ValueError` if it is none.

    Python's own reading takes ``1_000`` and the digits of other scripts as well, which in a table
    or a list are a slip.
    """
    return float(_plain(text))


def read_whole(text: str) -> int:
    """The whole number that a text writes in plain digits; `ValueError` if it is none."""
    return int(_plain(text))


def _plain(text: str) -> str:
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return text


def number(
    name: str,
    value: Any,
    *,
    at_least: float | None = None,
    above: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> float:
    """A finite number within limits; raises `InvalidScenario` that names the limits."""
    ok = (
        is_finite(value)
        and (at_least is None or value >= at_least)
        and (above is None or value > above)
        and (below is None or value < below)
        and (at_most is None or value <= at_most)
    )
    if not ok:
        limits = [
            f"{word} {limit:g}"
            for word, limit in (
                ("at least", at_least),
                ("above", above),
                ("below", below),
                ("at most", at_most),
            )
            if limit is not None
        ]
        raise InvalidScenario(name, value, "a finite number " + " and ".join(limits))
    return float(value)


def positions_m(value: ArrayLike) -> FloatArray:
    """(N, 2) or (N, 3) finite coordinates in metres, copied and read-only."""
    points = _numbers("positions", value, "numbers, shape (N, 2) or (N, 3)")
    if points.size == 0:
        raise InvalidScenario("positions", "empty", "at least one UAV")
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise InvalidScenario("positions", f"of shape {points.shape}", "shape (N, 2) or (N, 3)")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        row = int(bad[0])
        raise InvalidScenario(f"positions[{row}]", points[row].tolist(), "finite numbers")
    if np.abs(points).max() > MAX_COORDINATE_M:
        row = int(np.abs(points).max(axis=1).argmax())
        raise InvalidScenario(
            f"positions[{row}]",
            points[row].tolist(),
            f"metres, at most {MAX_COORDINATE_M:g} from the origin",
        )
    return frozen(points)


def _numbers(field: str, value: ArrayLike, allowed: str) -> FloatArray:
    """A new array of the numbers that were given."""
    numbers = real_numbers(value)
    if numbers is None:
        if isinstance(value, np.ma.MaskedArray):
            raise InvalidScenario(field, "a masked array", allowed + ", without a mask")
        raise InvalidScenario(field, value, allowed)
    return numbers


def speeds_mps(value: float | Sequence[float] | FloatArray, uavs: int) -> FloatArray:
    """(N,) speed limits from one number or one per UAV."""
    speeds = _numbers("max_speed_mps", value, "a number above 0, or one per UAV")
    if speeds.ndim == 0:
        speeds = np.full(uavs, speeds)
    if speeds.shape != (uavs,):
        raise InvalidScenario("max_speed_mps", f"of shape {speeds.shape}", f"one or {uavs} numbers")
    bad = np.flatnonzero(~((speeds >= MIN_SPEED_MPS) & (speeds <= MAX_SPEED_MPS)))
    if len(bad):
        raise InvalidScenario(
            "max_speed_mps",
            float(speeds[bad[0]]),
            f"finite numbers of at least {MIN_SPEED_MPS:g} and at most {MAX_SPEED_MPS:g}",
        )
    return frozen(speeds)


def uav_names(value: Sequence[str] | None, uavs: int) -> tuple[str, ...] | None:
    """One different text per UAV, or None where rows are the ids."""
    if value is None:
        return None
    names = tuple(_listed("names", value, "a list of texts, one per UAV"))
    for name in names:
        is_text = isinstance(name, str) and name.strip() and len(name) <= MAX_NAME
        if not is_text or not name.isprintable():
            raise InvalidScenario("names", name, f"texts of 1 to {MAX_NAME} printable characters")
    if len(names) != uavs:
        raise InvalidScenario("names", f"{len(names)} texts", f"{uavs}, one per UAV")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidScenario("names", twice, "each name once")
    return names


MAX_NAME = 100


def _listed(field: str, value: Iterable[Any], allowed: str) -> list[Any]:
    """What was given, one by one; a text is one thing and not its letters."""
    try:
        if not isinstance(value, (str, bytes)):
            return list(value)
    except TypeError:  # also an array without a dimension, which claims that it can be listed
        pass
    raise InvalidScenario(field, value, allowed)


def rows(
    field: str, value: Iterable[int | str], uavs: int, names: tuple[str, ...] | None
) -> IntArray:
    """Sorted rows of the UAVs listed by row number or by name."""
    listed = _listed(field, value, "a list of UAV ids")
    if names is not None:
        index = {name: row for row, name in enumerate(names)}
        unknown = [item for item in listed if isinstance(item, str) and item not in index]
        if unknown:
            raise InvalidScenario(field, unknown[0], "names of UAVs in this swarm")
        listed = [index[item] if isinstance(item, str) else item for item in listed]
    if not listed:
        return frozen(np.empty(0, dtype=np.int64))
    if not all(is_whole(item) for item in listed):
        wrong = next(item for item in listed if not is_whole(item))
        raise InvalidScenario(field, wrong, f"a list of whole numbers from 0 to {uavs - 1}")
    outside = [item for item in listed if not 0 <= item < uavs]
    if outside:
        raise InvalidScenario(field, int(outside[0]), f"UAV ids from 0 to {uavs - 1}")
    ids, counts = np.unique(np.asarray(listed, dtype=np.int64), return_counts=True)
    if (counts > 1).any():
        row = int(ids[counts > 1][0])
        twice = row if names is None else names[row]
        raise InvalidScenario(field, twice, "each id once")
    return frozen(ids)
