"""Clashes that searches learn: links that cannot all hold before some time, found again by link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.plans.certificate import Clash

Link = tuple[int, int]
"""Two rows of survivors, the smaller first."""

_CARRIES = 1e-4
"""A link belongs to a clash when its dual vector is at least this part of the largest."""


_MOST = 4_000


class Learned(NamedTuple):
    """A clash and the time in seconds that its dual vectors prove."""

    clash: Clash
    time_s: float
    links: frozenset[Link]


class LearnedClashes:
    """What searches on one problem have learned, in the order in which they did."""

    def __init__(self) -> None:
        self._all: list[Learned] = []
        self._by_link: dict[Link, list[Learned]] = {}

    def copy(self) -> LearnedClashes:
        """The same clashes, to be added to without changing these."""
        copied = LearnedClashes()
        copied._all = list(self._all)
        copied._by_link = {link: list(clashes) for link, clashes in self._by_link.items()}
        return copied

    def __iter__(self) -> Iterator[Learned]:
        return iter(self._all)

    def add(self, clash: Clash, time_s: float) -> None:
        """Keep a clash that proves so much time."""
        if len(self._all) >= _MOST:
            self._forget()
        learned = Learned(clash, time_s, link_set(clash.links))
        self._all.append(learned)
        for link in learned.links:
            self._by_link.setdefault(link, []).append(learned)

    def _forget(self) -> None:
        """Let the older half go, so that going through them stays quick."""
        recent = self._all[len(self._all) // 2 :]
        self._all, self._by_link = [], {}
        for learned in recent:
            self.add(learned.clash, learned.time_s)

    def refute(self, links: set[Link], link: Link, time_s: float) -> bool:
        """Whether links that have just been joined by one more cannot all hold before a time."""
        return any(
            learned.time_s >= time_s and learned.links <= links
            for learned in self._by_link.get(link, ())
        )


def link_set(links: IntArray) -> frozenset[Link]:
    """Links as a set of pairs of numbers."""
    return frozenset((i, j) for i, j in links.tolist())


def heavy_clash(links: IntArray, forces: FloatArray) -> Clash:
    """The links whose dual vectors matter."""
    size = np.sqrt((forces**2).sum(axis=1))
    heavy = size > _CARRIES * size.max()
    return Clash(links[heavy], forces[heavy])
