"""Proof by cases: is there a plan that takes less than a trial time T?

Such a plan uses only candidate links, ``|p_i - p_j| <= d + (v_i + v_j) T``. Every candidate is
either used or not, and a line of cases ends when

* the links known to be used take T or more (a *clash*: dual vectors prove it), or
* the candidates that are left do not connect the survivors (a *cut*).

The search decides links one at a time, takes up what follows at once (the last link across a
cut must be used; the last link of a known clash cannot), relaxes the rest to the cone program on
the links known to be used, and branches across the smallest cut that its solution leaves open.
A solution that leaves none open is a faster plan. Proofs are put together from their ends by
resolution, so that a decision that the proof does not need leaves no trace in it.

Sets of nodes and of links are Python integers used as bit sets: regions have some tens of nodes.
"""

from __future__ import annotations

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.cone import Cones, Solution
from reknit.exact.model.learned import link_set
from reknit.exact.search.bits import bits, labels, lowest, members, tree_sides, walk
from reknit.exact.search.conflicts import clashing_pairs
from reknit.exact.search.minimal_clash import minimal_clash
from reknit.exact.search.proof_tree import Faster, Outcome, Proof, Region, Work, join
from reknit.network.links import components, lengths
from reknit.plans.certificate import Clash

_LINKED = 1.0 + 1e-9
"""Rounding of the cone solver; what it finds is made exact before anybody believes it."""


_LINKS_A_CASE = 150
"""With more candidates than this a case is more work than one cone program."""

_DOUBT = 1e-4
"""How far a dual may stay behind its cone program's value and still end a case."""


_NO_LINKS = np.empty((0, 2), dtype=np.int64)


class CaseSearch:
    """Looks for a plan faster than the trial time in a region, or proves that there is none.

    Parameters
    ----------
    cones
        Cone programs that earlier searches solved.
    region
        The survivors looked at.
    pairs
        (m, 2) the candidate links, all those with an end in the region.
    time_s
        The trial time.
    work
        What may be done.
    held
        (k, 2) links in use whatever the case, which the region takes as joined. A search with
        such links finds plans that have them; it proves nothing about others.
    """

    def __init__(
        self,
        cones: Cones,
        region: Region,
        pairs: IntArray,
        time_s: float,
        work: Work,
        held: IntArray = _NO_LINKS,
    ) -> None:
        problem = cones.problem
        self.held = held
        self._held_piece = components(held, problem.count) if len(held) else None
        self.problem, self.cones, self.time_s, self.work = problem, cones, time_s, work
        ends = region.node[pairs]
        keep = ends[:, 0] != ends[:, 1]
        self.pairs = pairs[keep]
        self.ends = ends[keep]
        self.size = region.size
        self.clashes: list[Clash] = []
        self._masks: list[int] = []
        self._known_masks: set[int] = set()
        self._one = [1 << int(a) for a in self.ends[:, 0]]
        self._two = [1 << int(b) for b in self.ends[:, 1]]
        self._ends = self.ends.tolist()
        self._pairs: list[list[int]] = self.pairs.tolist()
        length = lengths(problem.start, self.pairs)
        give = problem.speeds[self.pairs].sum(axis=1) * time_s
        self._always = length <= problem.range_m - give
        self._free = bits(np.flatnonzero(self._always))
        self._all = (1 << len(self.pairs)) - 1
        self._clash_with = [0] * len(self.pairs)
        self._pair_clash: dict[tuple[int, int], int] = {}
        contested = np.flatnonzero(~self._always)
        first, second = clashing_pairs(problem, self.pairs[contested], time_s, work.is_over)
        for e, f in zip(contested[first].tolist(), contested[second].tolist(), strict=True):
            self._clash_with[e] |= 1 << f
            self._clash_with[f] |= 1 << e
        self._recall()

    def _recall(self) -> None:
        """Take up the clashes that earlier searches learned, where they still are clashes."""
        number = {(int(i), int(j)): k for k, (i, j) in enumerate(self.pairs)}
        held = link_set(self.held)
        for clash, time_s, links in self.cones.clashes:
            if time_s < self.time_s:
                continue
            rows = [number.get(link, -1) for link in links if link not in held]
            if min(rows, default=0) >= 0:
                mask = sum(1 << row for row in rows)
                if mask not in self._known_masks:
                    self._known_masks.add(mask)
                    self.clashes.append(clash)
                    self._masks.append(mask)

    def run(self) -> Outcome:
        """The proof that no plan takes less than the trial time, a plan that does, or None when
        the work ran out first.
        """
        return self._case(0, 0)

    # One case: `used` and `barred` are bit sets of links.

    def _case(self, used: int, barred: int) -> Outcome:
        self.work.add(1 + len(self.pairs) // _LINKS_A_CASE)
        if self.work.is_done:
            return None
        steps: list[tuple[int, Proof, bool]] = []  # link, the proof of its other side, is used
        fresh = used
        while True:
            barred, end = self._bar(used, barred, fresh, steps)
            if end is not None:
                break
            bridges, end = self._bridges(barred, used)
            if end is not None:
                break
            fresh = 0
            for link, cut in bridges:
                steps.append((link, cut, True))
                used |= 1 << link
                fresh |= 1 << link
            if bridges:
                continue
            relaxed = self._relax(used, barred)
            if isinstance(relaxed, Proof):
                end = relaxed
                break
            if not isinstance(relaxed, int):
                return relaxed
            other = self._case(used | 1 << relaxed, barred)
            if not isinstance(other, Proof):
                return other
            if not other.needs >> relaxed & 1:
                end = other
                break
            steps.append((relaxed, other, False))
            barred |= 1 << relaxed
        for link, other_side, is_used in reversed(steps):
            end = join(link, end, other_side) if is_used else join(link, other_side, end)
        return end

    def _bar(
        self, used: int, barred: int, fresh: int, steps: list[tuple[int, Proof, bool]]
    ) -> tuple[int, Proof | None]:
        """Bar every link that would complete a known clash; `fresh` were used just now."""
        for link in members(fresh):
            both = self._clash_with[link] & used
            if both:
                return barred, self._pair_end(link, lowest(both))
            for other in members(self._clash_with[link] & ~barred):
                steps.append((other, self._pair_end(link, other), False))
                barred |= 1 << other
        for number, mask in enumerate(self._masks):
            left = mask & ~used
            if left == 0:
                return barred, self._clash_end(number)
            if left & (left - 1) == 0 and not left & barred:
                steps.append((left.bit_length() - 1, self._clash_end(number), False))
                barred |= left
        return barred, None

    def _bridges(self, barred: int, used: int) -> tuple[list[tuple[int, Proof]], Proof | None]:
        """Links that are alone across a cut of what is left; or the proof that it is cut."""
        adjacent = [0] * self.size
        between: dict[int, int] = {}
        for link in members(self._all & ~barred):
            a, b = self._ends[link]
            adjacent[a] |= self._two[link]
            adjacent[b] |= self._one[link]
            key = self._one[link] | self._two[link]
            between[key] = -1 if key in between else link
        order, parent = walk(adjacent)
        if len(order) < self.size:
            side = 0
            for node in order:
                side |= 1 << node
            return [], self._cut_end(side, barred)
        below = [1 << node for node in range(self.size)]
        reach = list(adjacent)
        for node in reversed(order[1:]):
            below[parent[node]] |= below[node]
            reach[parent[node]] |= reach[node]
        bridges = []
        for node in order[1:]:
            above = 1 << parent[node]
            if reach[node] & ~below[node] != above:
                continue
            inner = adjacent[parent[node]] & below[node]
            if inner & (inner - 1):
                continue
            link = between[above | inner]
            if link >= 0 and not (used | self._free) >> link & 1:
                cut = self._cut_end(below[node], barred | 1 << link)
                bridges.append((link, cut))
        return bridges, None

    def _relax(self, used: int, barred: int) -> int | Outcome:
        """The cone program on the links in use ends the case, or names the link to branch on."""
        moved = self.problem.start
        shifts: dict[int, FloatArray] = {}
        for piece, pairs in self._pieces(used):
            solution, is_new = self.cones.solve(pairs, limit_s=self.time_s)
            if is_new:
                self.work.add_program(len(pairs))
                if self.work.is_done:
                    return None
            if solution.time_s >= self.time_s or solution.proved_s >= self.time_s:
                if solution.proved_s < self.time_s * (1.0 - _DOUBT):
                    return None  # the solver failed here, so nothing can be claimed
                return self._learn(piece, pairs, solution)
            for row, shift in zip(solution.nodes.tolist(), solution.shift, strict=True):
                shifts[row] = shift
        if shifts:
            moved = moved.copy()
            moved[list(shifts)] += np.asarray(list(shifts.values()))
        length = lengths(moved, self.pairs)
        holds = (length <= self.problem.range_m * _LINKED) | self._always
        link = self._choose(length, bits(np.flatnonzero(holds)) | used, barred)
        return Faster(moved) if link < 0 else link

    def _choose(self, length: FloatArray, holds: int, barred: int) -> int:
        """The shortest link across the open cut with the fewest links; -1 if no cut is open."""
        label = labels(self._ends, members(holds & ~barred), self.size)
        ends = label[self.ends]
        open_links = np.ones(len(self.pairs), dtype=bool)
        open_links[members(barred)] = False
        open_links &= ends[:, 0] != ends[:, 1]
        index = np.flatnonzero(open_links)
        if len(index) == 0:
            return -1
        index = index[np.argsort(length[index], kind="stable")]
        sides = tree_sides(ends[index], int(label.max()) + 1)
        crosses = sides[:, ends[index, 0]] != sides[:, ends[index, 1]]
        number = crosses.sum(axis=1)
        shortest = crosses.argmax(axis=1)
        best = np.lexsort((-length[index[shortest]], number))[0]
        return int(index[shortest[best]])

    def _pieces(self, used: int) -> list[tuple[list[int], IntArray]]:
        """The links in use by connected piece of survivors: their numbers, and as pairs together
        with the held links of the piece.
        """
        links = members(used)
        held_piece = self._held_piece
        root: dict[int, int] = {}

        def find(node: int) -> int:
            while root.setdefault(node, node) != node:
                root[node] = root[root[node]]
                node = root[node]
            return node

        ends = self.pairs if held_piece is None else held_piece[self.pairs]
        joined = ends[links].tolist()
        for a, b in joined:
            root_a, root_b = find(a), find(b)
            if root_a != root_b:
                root[max(root_a, root_b)] = min(root_a, root_b)
        pieces: dict[int, list[int]] = {}
        for link, (a, _) in zip(links, joined, strict=True):
            pieces.setdefault(find(a), []).append(link)
        if held_piece is None:
            return [(piece, self.pairs[piece]) for piece in pieces.values()]
        owner = held_piece[self.held[:, 0]]
        home = np.asarray([find(int(k)) for k in owner.tolist()], dtype=np.int64)
        together = []
        for key in [*pieces, *sorted(set(home.tolist()) - set(pieces))]:
            piece = pieces.get(key, [])
            together.append((piece, np.concatenate([self.pairs[piece], self.held[home == key]])))
        return together

    # Ends of proofs.

    def _cut_end(self, side: int, barred: int) -> Proof:
        lacks = 0
        for link in members(barred):
            if bool(self._one[link] & side) != bool(self._two[link] & side):
                lacks |= 1 << link
        return Proof(-1, -1, None, 0, lacks)

    def _clash_end(self, number: int) -> Proof:
        return Proof(-1, number, None, self._masks[number], 0)

    def _pair_end(self, link: int, other: int) -> Proof:
        """The end for two clashing links; their dual vectors are computed when first needed."""
        key = (min(link, other), max(link, other))
        if key not in self._pair_clash:
            self._pair_clash[key] = -2 - len(self._pair_clash)
        return Proof(-1, self._pair_clash[key], None, 1 << link | 1 << other, 0)

    def _learn(self, piece: list[int], pairs: IntArray, solution: Solution) -> Proof:
        """Keep as few of the links as take the trial time as a clash."""
        clash, time_s = minimal_clash(self.cones, pairs, solution, self.time_s, self.work)
        self.cones.clashes.add(clash, time_s)
        self.clashes.append(clash)
        names = link_set(clash.links)
        rows = [row for row in piece if (self._pairs[row][0], self._pairs[row][1]) in names]
        self._masks.append(sum(1 << row for row in rows))
        return self._clash_end(len(self.clashes) - 1)

    def clash(self, number: int) -> Clash:
        """The clash that an end of a proof names."""
        if number >= 0:
            return self.clashes[number]
        key = next(key for key, value in self._pair_clash.items() if value == number)
        pairs = self.pairs[list(key)]
        solution, _ = self.cones.solve(pairs)
        return Clash(pairs, solution.forces)
