"""Proof by cases for 2-connected results: candidates must connect whoever of the survivors is lost.

The search is `CaseSearch` with one more way to end a case: without one survivor, the candidates
that are left do not connect the others. So a link that is alone across a cut of what is left when
some survivor is lost must be used, and a solution is a plan only if no single loss splits it.
"""

from __future__ import annotations

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.cone import Cones
from reknit.exact.search.bits import labels, lowest, members, tree_sides
from reknit.exact.search.case_search import CaseSearch
from reknit.exact.search.proof_tree import LOSS_CUT, Proof, Region, Work
from reknit.network.cuts import cut_nodes_and_bridges


class RedundantSearch(CaseSearch):
    """Looks for a 2-connected plan faster than the trial time, or proves that there is none.

    Parameters
    ----------
    cones, region, pairs, time_s, work
        As for `CaseSearch`.
    """

    def __init__(
        self, cones: Cones, region: Region, pairs: IntArray, time_s: float, work: Work
    ) -> None:
        super().__init__(cones, region, pairs, time_s, work)
        number = np.bincount(region.node, minlength=region.size)
        row = np.full(region.size, -1, dtype=np.int64)
        row[region.node] = np.arange(len(region.node))
        self._row: list[int] = row.tolist()
        self._losses: list[int] = np.flatnonzero(number == 1).tolist()
        if region.size < 3:
            self._losses = []

    def _bridges(self, barred: int, used: int) -> tuple[list[tuple[int, Proof]], Proof | None]:
        """Links that are alone across a cut of what is left, for any one loss or none; or the
        proof that it is cut.
        """
        adjacent = [0] * self.size
        between: dict[int, int] = {}
        for link in members(self._all & ~barred):
            first, second = self._ends[link]
            adjacent[first] |= self._two[link]
            adjacent[second] |= self._one[link]
            key = self._one[link] | self._two[link]
            between[key] = -1 if key in between else link
        self.work.add(0.002 * self.size * len(self._losses))
        bridges: dict[int, Proof] = {}
        decided = used | self._free
        for lost in [-1, *self._losses]:
            end = self._without(lost, adjacent, between, barred, decided, bridges)
            if end is not None:
                return [], end
        return list(bridges.items()), None

    def _without(
        self,
        lost: int,
        adjacent: list[int],
        between: dict[int, int],
        barred: int,
        decided: int,
        bridges: dict[int, Proof],
    ) -> Proof | None:
        """Add the bridges when one node is lost (-1: none); the proof if what is left is cut."""
        present = (1 << self.size) - 1
        if lost >= 0:
            present &= ~(1 << lost)
        start = lowest(present)
        parent = {start: -1}
        order = [start]
        seen = 1 << start
        for node in order:
            new = adjacent[node] & present & ~seen
            seen |= new
            while new:
                low = new & -new
                new ^= low
                other = low.bit_length() - 1
                parent[other] = node
                order.append(other)
        if seen != present:
            return self._loss_end(seen, barred, lost)
        below = {node: 1 << node for node in order}
        reach = {node: adjacent[node] & present for node in order}
        for node in reversed(order[1:]):
            above = parent[node]
            below[above] |= below[node]
            reach[above] |= reach[node]
        for node in order[1:]:
            above = 1 << parent[node]
            if reach[node] & ~below[node] != above:
                continue
            inner = adjacent[parent[node]] & below[node]
            if inner & (inner - 1):
                continue
            link = between[above | inner]
            if link >= 0 and not decided >> link & 1 and link not in bridges:
                bridges[link] = self._loss_end(below[node], barred | 1 << link, lost)
        return None

    def _loss_end(self, side: int, barred: int, lost: int) -> Proof:
        """The end for a cut: it lacks the barred links across, less those of the lost node."""
        lacks = 0
        gone = 1 << lost if lost >= 0 else 0
        for link in members(barred):
            first, second = self._one[link], self._two[link]
            if bool(first & side) != bool(second & side) and not (first | second) & gone:
                lacks |= 1 << link
        return Proof(-1, -1 if lost < 0 else LOSS_CUT - self._row[lost], None, 0, lacks)

    def _choose(self, length: FloatArray, holds: int, barred: int) -> int:
        """The shortest link across the open cut with the fewest links; -1 if no cut is open,
        whoever is lost.
        """
        link = super()._choose(length, holds, barred)
        if link >= 0:
            return link
        there = members(holds & ~barred)
        ends = np.asarray([self._ends[link] for link in there], dtype=np.int64).reshape(-1, 2)
        singles = set(self._losses)
        best: tuple[int, float, int] | None = None
        for lost in cut_nodes_and_bridges(np.unique(ends, axis=0), self.size)[0].tolist():
            if lost in singles:
                choice = self._across(lost, there, length, barred)
                if choice is not None and (best is None or choice < best):
                    best = choice
        return -1 if best is None else best[2]

    def _across(
        self, lost: int, there: list[int], length: FloatArray, barred: int
    ) -> tuple[int, float, int] | None:
        """Of the open cuts when a node is lost the one with the fewest links: their number, the
        length of the shortest (longer ones first) and that link.
        """
        kept = [link for link in there if lost not in self._ends[link]]
        label = labels(self._ends, kept, self.size)
        ends = label[self.ends]
        is_open = (self.ends != lost).all(axis=1) & (ends[:, 0] != ends[:, 1])
        is_open[members(barred)] = False
        index = np.flatnonzero(is_open)
        if len(index) == 0:
            return None
        index = index[np.argsort(length[index], kind="stable")]
        sides = tree_sides(ends[index], int(label.max()) + 1)
        crosses = sides[:, ends[index, 0]] != sides[:, ends[index, 1]]
        number = crosses.sum(axis=1)
        number[number == 0] = len(index) + 1  # the lost node by itself
        shortest = crosses.argmax(axis=1)
        row = np.lexsort((-length[index[shortest]], number))[0]
        link = int(index[shortest[row]])
        return int(number[row]), -float(length[link]), link
