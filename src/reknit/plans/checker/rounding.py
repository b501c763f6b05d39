"""Exact arithmetic on float64 numbers, and what rounding lets a plan get away with.

A plan is judged in float64: its links by a rounded distance, its time by a rounded quotient. A
bound on real numbers is a bound on such plans if it is proved for links and flights that are
longer by as much as rounding may hide: a distance of three coordinates is computed with less than
``4 u`` relative error (u = 2^-53) and, where squares underflow, 2^-536 m absolute; the quotient
adds ``u`` and, for speeds of at most 2^400, 2^-675 m. `RELATIVE` and `ABSOLUTE_M` are larger.
"""

from __future__ import annotations

import math
from fractions import Fraction

RELATIVE_BITS = 50
RELATIVE = 2.0**-RELATIVE_BITS
"""How much longer than computed a link or a flight may be, relative."""

_ABSOLUTE_BITS = 530

SHIFT = 1074
"""Every finite float64 is a whole number of 2^-1074."""

ABSOLUTE_M = 1 << (SHIFT - _ABSOLUTE_BITS)
"""The absolute part, 2^-530 m, in units of 2^-1074."""


def whole(value: float) -> int:
    """A float64 as a whole number of 2^-1074."""
    numerator, denominator = float(value).as_integer_ratio()
    return numerator << (SHIFT + 1 - denominator.bit_length())


def root_up(square: int) -> int:
    """The least whole number that is at least the square root; 0 for 0."""
    root = math.isqrt(square)
    return root if root * root == square else root + 1


def lengthened(length: int) -> int:
    """A length with what rounding may hide, rounded up; units of 2^-1074."""
    return length + (length >> RELATIVE_BITS) + 1 + ABSOLUTE_M


def quotient_down(numerator: int, denominator: int) -> float:
    """The largest float64 that is at most a quotient of whole numbers; 0 if that is negative and
    the largest finite number if there is no limit.
    """
    largest = math.nextafter(math.inf, 0.0)
    if numerator <= 0:
        return 0.0
    if denominator <= 0:
        return largest
    quotient = Fraction(numerator, denominator)
    if quotient >= Fraction(largest):
        return largest
    value = float(quotient)
    return value if Fraction(value) <= quotient else math.nextafter(value, 0.0)
