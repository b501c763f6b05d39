"""Which messages are lost. Draws depend on the link and the exchange alone.

A draw is a hash of (seed, link, number of the exchange), not the next number of a stream: what
happens to one link never depends on which other links there are, so nothing leaks across a gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reknit.base.errors import InvalidParameter
from reknit.base.types import BoolArray, FloatArray, IntArray

_MASK = (1 << 64) - 1


class Loss(Protocol):
    """A model of lost messages.

    `repeat` is the largest probability, whatever happened before, that the next message over a
    link is lost too: m silent exchanges of a link in range have at most probability repeat^m.
    """

    @property
    def repeat(self) -> float: ...

    def begin(self, seed: int) -> LossSession:
        """A fresh course of events."""
        ...


class LossSession(Protocol):
    """One course of events of a loss model."""

    def lost(self, links: IntArray, number: int) -> BoolArray:
        """Which links (each a number of its own) lose their message in this exchange."""
        ...


@dataclass(frozen=True)
class NoLoss:
    """Every message arrives."""

    @property
    def repeat(self) -> float:
        return 0.0

    def begin(self, seed: int) -> LossSession:
        return _NeverLost()


class _NeverLost:
    def lost(self, links: IntArray, number: int) -> BoolArray:
        return np.zeros(len(links), dtype=bool)


@dataclass(frozen=True)
class Bernoulli:
    """Each message is lost with the same probability, whatever else happens.

    Parameters
    ----------
    probability
        Of losing a message, from 0 up, below 1.
    """

    probability: float

    def __post_init__(self) -> None:
        _check_probability(self.probability)

    @property
    def repeat(self) -> float:
        return float(self.probability)

    def begin(self, seed: int) -> LossSession:
        return _Independent(self.probability, seed)


@dataclass(frozen=True)
class _Independent:
    probability: float
    seed: int

    def lost(self, links: IntArray, number: int) -> BoolArray:
        return np.asarray(uniform(self.seed, links, number) < self.probability)


@dataclass(frozen=True)
class GilbertElliott:
    """Losses in bursts: a link is good (loses nothing) or bad (loses everything).

    Parameters
    ----------
    probability
        Share of the time in the bad state, and so of lost messages.
    burst
        Mean length of a bad spell, in exchanges; a bad link recovers with probability 1 / burst,
        a good one turns bad with probability / (1 - probability) / burst.
    """

    probability: float
    burst: float = 5.0

    def __post_init__(self) -> None:
        _check_probability(self.probability)
        shortest = max(1.0, self.probability / (1.0 - self.probability))
        if not (math.isfinite(self.burst) and self.burst >= shortest):
            raise InvalidParameter("loss.burst", self.burst, f"at least {shortest:g} exchanges")

    @property
    def repeat(self) -> float:
        return max(0.0 if self.probability == 0.0 else 1.0 - 1.0 / self.burst, self._turns)

    @property
    def _turns(self) -> float:
        """Probability that a good link turns bad."""
        return self.probability / (1.0 - self.probability) / self.burst

    def begin(self, seed: int) -> LossSession:
        return _Bursts(self, seed)


class _Bursts:
    """Remembers the state of every link that took part in the exchange before."""

    def __init__(self, model: GilbertElliott, seed: int) -> None:
        self._model = model
        self._seed = seed
        self._links = np.empty(0, dtype=np.int64)
        self._bad = np.empty(0, dtype=bool)
        self._number = -2

    def lost(self, links: IntArray, number: int) -> BoolArray:
        model = self._model
        draw = uniform(self._seed, links, number)
        bad = draw < model.probability
        if number == self._number + 1 and len(self._links):
            at = np.searchsorted(self._links, links).clip(max=len(self._links) - 1)
            known = self._links[at] == links
            was_bad = self._bad[at]
            stays = np.where(was_bad, draw < 1.0 - 1.0 / model.burst, draw < model._turns)
            bad = np.where(known, stays, bad)
        order = np.argsort(links)
        self._links, self._bad, self._number = links[order], bad[order], number
        return np.asarray(bad)


def uniform(seed: int, links: IntArray, number: int) -> FloatArray:
    """Uniform draws in [0, 1), one per link: splitmix64 of seed, exchange and link."""
    start = _mix_one(_mix_one(seed & _MASK) ^ (number & _MASK))
    mixed = _mix(links.astype(np.uint64) ^ np.uint64(start))
    return np.asarray((mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _mix(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(value ^ (value >> np.uint64(31)))


def _mix_one(value: int) -> int:
    return int(_mix(np.array([value], dtype=np.uint64))[0])


def _check_probability(value: float) -> None:
    ok = isinstance(value, (int, float, np.floating)) and not isinstance(value, bool)
    if not ok or not 0.0 <= value < 1.0:
        raise InvalidParameter("loss", value, "a probability from 0 up, below 1")
