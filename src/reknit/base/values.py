"""What a single value is, asked wherever a caller of the Python interface may give anything."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from reknit.base.errors import InvalidParameter, UnknownName
from reknit.base.types import FloatArray

_NO_NUMBERS = (bool, np.bool_, str, bytes, complex, np.complexfloating)
"""What numpy would make numbers of without a word."""


def is_number(value: object) -> bool:
    """Whether a value is a single real number (a bool is none)."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether a value is a whole number (a bool is none)."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Whether a value is a single finite real number that float64 can hold."""
    if not is_number(value):
        return False
    try:
        return math.isfinite(float(value))
    except Exception:  # hundreds of digits, or somebody's own number that refuses to be one
        return False


def real_numbers(value: Any) -> FloatArray | None:
    """A new float64 array of what holds real numbers and nothing else; None for all else.

    Texts, truth values, complex numbers and masked entries are no real numbers, also where numpy
    would make some of them; nor is what raises when it is asked for its numbers.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        return None
    try:
        raw = np.asarray(value)
        if raw.dtype.kind not in "fiuO":
            return None
        if raw.dtype.kind == "O" or isinstance(value, (list, tuple)):
            kinds = set(map(type, np.asarray(value, dtype=object).flat))
            if any(issubclass(kind, _NO_NUMBERS) for kind in kinds):
                return None
        return np.array(raw, dtype=np.float64, order="C")
    except Exception:  # a list of uneven rows, or whatever somebody's own class raises
        return None


def finite_numbers(value: Any, shape: tuple[int, ...]) -> FloatArray:
    """The `real_numbers` of a value; ValueError says why it is no finite array of the shape."""
    numbers = real_numbers(value)
    if numbers is None:
        fault = "that are no numbers"
    elif numbers.shape != shape:
        fault = f"of shape {numbers.shape}"
    elif not np.isfinite(numbers).all():
        fault = "that are not all finite"
    else:
        return numbers
    raise ValueError(fault)


def check_seed(seed: object, name: str = "seed") -> None:
    """Raise `InvalidParameter` unless it is a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InvalidParameter(name, seed, "a whole number of at least 0")


def check_callable(**functions: object) -> None:
    """Raise `InvalidParameter` for the first that cannot be called, by the name it is given under.

    Parameters
    ----------
    functions
        What a call was given, such as ``progress=progress``.
    """
    for name, value in functions.items():
        if not callable(value):
            raise InvalidParameter(name, value, "something that can be called")


def check_known(kind: str, name: object, known: Collection[str]) -> None:
    """Raise `UnknownName` unless it is one of the known texts; an array is none of them."""
    if not isinstance(name, str) or name not in known:
        raise UnknownName(kind, name, known)
