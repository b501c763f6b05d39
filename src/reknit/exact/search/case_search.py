"""Proof by cases: is there a plan that takes less than a trial time T?

Such a plan uses only candidate links, ``|p_i - p_j| <= d + (v_i + v_j) T``. Every candidate is
either used or not, and a line of cases ends when

* the links known to be used take T or more (a *clash*: dual vectors prove it), or
* the candidates that are left do not connect the survivors (a *cut*).

The search decides links one at a time, takes up what follows at once (the last link across a
cut must be used; the last link of a known clash cannot), relaxes the rest to the cone program on
the links known to be used, and branches across the smallest cut that its solution leaves open.
A solution that leaves none open is a faster plan. Proofs are put together from their ends by
resolution, so that a decision that the proof does not need leaves no trace in it. What every closed
case relied on is kept (`lessons`) and used wherever the same decisions come together again.

Sets of nodes and of links are Python integers used as bit sets: regions have some tens of nodes.
"""

from __future__ import annotations

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.cone import Cones, Solution
from reknit.exact.model.learned import link_set
from reknit.exact.search.bits import as_rows, bits, grow, lowest, members, parts, tree_cuts
from reknit.exact.search.conflicts import clashing_pairs
from reknit.exact.search.lessons import Lessons
from reknit.exact.search.minimal_clash import minimal_clash
from reknit.exact.search.proof_tree import NO_LINKS, Faster, Outcome, Proof, Region, Work, join
from reknit.network.links import components, lengths
from reknit.plans.certificate import Clash

_LINKED = 1.0 + 1e-9
"""Rounding of the cone solver; what it finds is made exact before anybody believes it."""


_CASE, _CASE_LINK = 0.6, 0.0025
"""Work of one case, and more for every candidate."""

_DOUBT = 1e-4
"""How far a dual may stay behind its cone program's value and still end a case."""


_FIRST_RUN, _LONGER = 100, 1.5
"""Cases until the search begins anew with what it has learned, and how these grow."""

_FAVOUR = 4.0
"""How much smaller a cut counts whose links take part in all that was learned lately."""


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
        held: IntArray = NO_LINKS,
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
        self._at = [0] * self.size
        for link, (a, b) in enumerate(self._ends):
            self._at[a] |= 1 << link
            self._at[b] |= 1 << link
        self._run = float(_FIRST_RUN)
        self._lessons = Lessons(len(self.pairs))
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
        self._cases_left = _FIRST_RUN
        while True:
            outcome = self._case(0, 0, 0)
            if outcome is not None or self.work.is_done or self._cases_left > 0:
                return outcome
            self._run *= _LONGER
            self._cases_left = int(self._run)

    # One case: `used` and `barred` are bit sets of links.

    def _case(self, used: int, barred: int, fresh: int) -> Outcome:
        self.work.add(_CASE + _CASE_LINK * len(self.pairs))
        self._cases_left -= 1
        if self.work.is_done or self._cases_left <= 0:
            return None
        steps: list[tuple[int, Proof, bool]] = []  # link, the proof of its other side, is used
        while True:
            barred, end = self._bar(used, barred, fresh, steps)
            if end is not None:
                break
            fresh, barred, end = self._follow_lessons(used, barred, steps)
            if end is not None:
                break
            used |= fresh
            if fresh:
                continue
            bridges, end = self._bridges(barred, used)
            if end is not None:
                break
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
            other = self._case(used | 1 << relaxed, barred, 1 << relaxed)
            if not isinstance(other, Proof):
                return other
            if not other.needs >> relaxed & 1:
                end = other
                break
            steps.append((relaxed, other, False))
            barred |= 1 << relaxed
        for link, other_side, is_used in reversed(steps):
            end = join(link, end, other_side) if is_used else join(link, other_side, end)
        if end.link >= 0:
            self._lessons.add(end)
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

    def _follow_lessons(
        self, used: int, barred: int, steps: list[tuple[int, Proof, bool]]
    ) -> tuple[int, int, Proof | None]:
        """Links to use by what was learned, links barred with it, and the lesson that ends the
        case, if one does.
        """
        fresh = 0
        for lesson in self._lessons.near(used, barred):
            needed, lacking = lesson.needs & ~(used | fresh), lesson.lacks & ~barred
            if not needed and not lacking:
                return fresh, barred, lesson
            if not lacking and not needed & (needed - 1) and not needed & barred:
                steps.append((needed.bit_length() - 1, lesson, False))
                barred |= needed
            elif not needed and not lacking & (lacking - 1) and not lacking & (used | fresh):
                steps.append((lacking.bit_length() - 1, lesson, True))
                fresh |= lacking
        return fresh, barred, None

    def _bridges(self, barred: int, used: int) -> tuple[list[tuple[int, Proof]], Proof | None]:
        """Links that are alone across a cut of what is left; or the proof that it is cut."""
        left = self._all & ~barred
        order, parent, side = grow(self._at, self._ends, left)
        if len(order) < self.size:
            return [], Proof(-1, -1, None, 0, side & barred)
        across = list(self._at)  # links with one end in the subtree below a node
        decided = used | self._free
        bridges = []
        for node in reversed(order[1:]):
            cut = across[node]
            across[parent[node]] ^= cut
            alone = cut & left
            if alone & (alone - 1) == 0 and not alone & decided:
                bridges.append(
                    (alone.bit_length() - 1, Proof(-1, -1, None, 0, cut & (barred | alone)))
                )
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
        """The shortest link across the open cut with the fewest links, fewer where they are part
        of what was learned; -1 if no cut is open.
        """
        pieces = parts(self._at, self._ends, holds & ~barred)
        if len(pieces) == 1:
            return -1
        label = [0] * self.size
        for number, nodes in enumerate(pieces):
            for node in nodes:
                label[node] = number
        left = self._all & ~barred
        links = [k for k in np.argsort(length, kind="stable").tolist() if left >> k & 1]
        cuts = tree_cuts(self._ends, self._at, label, links)
        crosses = as_rows([cut & left for cut in cuts], len(self.pairs))
        number = crosses.sum(axis=1)
        shortest = np.where(crosses, length, np.inf).argmin(axis=1)
        activity = self._lessons.activity / max(self._lessons.activity.max(), 1e-300)
        favour = 1.0 + _FAVOUR * (crosses @ activity) / number
        best = np.lexsort((-length[shortest], number / favour))[0]
        return int(shortest[best])

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
