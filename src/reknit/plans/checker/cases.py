"""The walk through a certificate's tree of cases, in time near-linear in its rows.

At every end the walk knows the links in use and the links ruled out. An end by a clash needs all
its links in use. An end by a cut needs the candidates that are not ruled out to fail to connect;
all cuts are tested together: a link is absent from an interval of the ends (in the order of the
rows) and present elsewhere, so the ends are halved again and again, and each link is added once to
every part of the ends over which it is present throughout.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.spatial import cKDTree

from reknit.base.errors import InvalidProof
from reknit.base.types import IntArray
from reknit.plans.certificate import CANDIDATE_HAIR, CUT
from reknit.plans.checker.pieces import LinkRule, links_of, merge, pieces
from reknit.plans.checker.survivors import Survivors

MOST_ROWS = 200_000
"""A certificate with more rows is refused unread."""

_MOST_LOOKUPS = 10_000_000
"""Links of clashes looked up over all ends; honest proofs need a fraction of it."""


class Walk:
    """The ends of a tree of cases.

    Attributes
    ----------
    clashes
        Numbers of the clashes that ends refer to.
    cuts
        How many ends are cuts.
    absent
        For each link (its key) the intervals ``[first, last)`` of cuts from which it is ruled out.
    losses
        For each cut the row of the survivor that it supposes lost besides, -1 for none.
    """

    def __init__(self, cases: IntArray, swarm: Survivors, links: list[IntArray]) -> None:
        if len(cases) > MOST_ROWS:
            raise InvalidProof(f"the certificate has {len(cases)} rows; allowed: {MOST_ROWS}")
        questions = cases[cases[:, 0] >= 0]
        swarm.check_links(questions)
        ends = cases[cases[:, 0] < 0]
        least = CUT - swarm.count if swarm.may_lose_one else CUT
        wrong = (ends[:, 0] != -1) | (ends[:, 1] < least) | (ends[:, 1] >= len(links))
        if wrong.any():
            number = int(ends[np.flatnonzero(wrong)[0], 1])
            raise InvalidProof(f"the certificate refers to clash {number}, which it does not have")
        self.losses: list[int] = (CUT - 1 - ends[ends[:, 1] <= CUT, 1]).tolist()
        self._count = swarm.count
        self._held = [frozenset(self._keys(rows)) for rows in links]
        self.asked = np.unique(self._key_array(questions))
        self.clashes: set[int] = set()
        self.cuts = 0
        self.absent: dict[int, list[tuple[int, int]]] = defaultdict(list)
        keys = self._key_array(cases)
        # Numbers of ends begin at -1 - n, so that these are all below 0 and keys are not.
        self._go(np.where(cases[:, 0] >= 0, keys, -2 - self._count - cases[:, 1]).tolist())

    def _key_array(self, rows: IntArray) -> IntArray:
        return np.asarray(rows[:, 0] * self._count + rows[:, 1])

    def _keys(self, rows: IntArray) -> list[int]:
        keys: list[int] = self._key_array(rows).tolist()
        return keys

    def _go(self, rows: list[int]) -> None:
        """One pass over the rows: keys of questions, or -2 - n less the number that an end has."""
        path: list[tuple[int, bool]] = []
        used: set[int] = set()
        since: dict[int, int] = {}  # of the links ruled out, the first cut without them
        lookups = 0
        complete = False
        for row in rows:
            if complete:
                raise InvalidProof("the certificate's cases go on after the last one")
            if row >= 0:
                if row in used or row in since:
                    raise InvalidProof("the certificate asks about a link that is decided")
                path.append((row, True))
                used.add(row)
                continue
            number = -2 - self._count - row
            if number <= CUT:
                self.cuts += 1
            else:
                held = self._held[number]
                lookups += len(held)
                if lookups > _MOST_LOOKUPS:
                    raise InvalidProof("the certificate is too large to be checked")
                if not held <= used:
                    raise InvalidProof(
                        f"the certificate uses clash {number} where it does not hold"
                    )
                self.clashes.add(number)
            while path and not path[-1][1]:
                key = path.pop()[0]
                self.absent[key].append((since.pop(key), self.cuts))
            if path:
                key = path.pop()[0]
                used.discard(key)
                since[key] = self.cuts
                path.append((key, False))
            else:
                complete = True
        if not complete:
            raise InvalidProof("the certificate's cases stop before all are covered")


class Candidates:
    """The candidate links at a trial time; those that no case asks about are merged once."""

    def __init__(self, swarm: Survivors, asked: IntArray, trial_s: float) -> None:
        count = swarm.count
        rule = LinkRule(swarm.start, swarm.range_m, swarm.speeds, trial_s, CANDIDATE_HAIR)
        special = np.unique(np.concatenate([asked // count, asked % count]))
        special = special[swarm.present[special]]
        plain = np.setdiff1d(np.flatnonzero(swarm.present), special)
        label = np.arange(count) + count
        label[plain] = pieces(rule, plain)
        present = np.flatnonzero(swarm.present)
        links: dict[int, tuple[int, int]] = {}
        if len(special):
            tree = cKDTree(swarm.start[present])
            for left, right in links_of(rule, tree, present, special):
                key = np.minimum(left, right) * count + np.maximum(left, right)
                is_asked = np.isin(key, asked)
                label = merge(label, left[~is_asked], right[~is_asked])
                for name in np.unique(key[is_asked]).tolist():
                    links[name] = (name // count, name % count)
        names, label = np.unique(label[present], return_inverse=True)
        row = np.full(count, -1, dtype=np.int64)
        row[present] = label.reshape(-1)
        self.count = len(names)
        self.links = {key: (int(row[i]), int(row[j])) for key, (i, j) in links.items()}


def check_cuts(walk: Walk, swarm: Survivors, trial_s: float) -> None:
    """Refuse the certificate if the candidates connect the survivors at any of its cuts, those
    with the same supposed loss together.
    """
    losses = np.asarray(walk.losses, dtype=np.int64)
    for lost in np.unique(losses).tolist():
        supposed = swarm if lost < 0 else swarm.without(lost)
        _check_cuts(walk, np.flatnonzero(losses == lost), Candidates(supposed, walk.asked, trial_s))


def _check_cuts(walk: Walk, cuts: IntArray, candidates: Candidates) -> None:
    """The same for the cuts with the given numbers."""
    total = len(cuts)
    levels: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for key, ends in candidates.links.items():
        if ends[0] == ends[1]:
            continue
        start = 0
        for interval in walk.absent.get(key, ()):
            first, last = np.searchsorted(cuts, interval).tolist()
            _spread(levels, start, first, 0, total, ends)
            start = last
        _spread(levels, start, total, 0, total, ends)
    forest = _Forest(candidates.count)
    _descend(levels, forest, 0, total)


def _spread(
    levels: dict[tuple[int, int], list[tuple[int, int]]],
    first: int,
    last: int,
    low: int,
    high: int,
    ends: tuple[int, int],
) -> None:
    """Put a link that is present in [first, last) on the largest parts of [low, high) in it."""
    if first >= last or last <= low or high <= first:
        return
    if first <= low and high <= last:
        levels[low, high].append(ends)
        return
    middle = (low + high) // 2
    _spread(levels, first, last, low, middle, ends)
    _spread(levels, first, last, middle, high, ends)


def _descend(
    levels: dict[tuple[int, int], list[tuple[int, int]]], forest: _Forest, low: int, high: int
) -> None:
    mark = len(forest.joined)
    for a, b in levels.get((low, high), ()):
        forest.join(a, b)
    if forest.trees == 1:
        raise InvalidProof("the certificate claims a cut where the candidates connect")
    if high - low > 1:
        middle = (low + high) // 2
        _descend(levels, forest, low, middle)
        _descend(levels, forest, middle, high)
    forest.undo(mark)


class _Forest:
    """Union-find by size that can take back its last joins."""

    def __init__(self, count: int) -> None:
        self.trees = count
        self.joined: list[int] = []
        self._parent = list(range(count))
        self._size = [1] * count

    def join(self, a: int, b: int) -> None:
        parent, size = self._parent, self._size
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        if a == b:
            return
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        self.joined.append(b)
        self.trees -= 1

    def undo(self, mark: int) -> None:
        while len(self.joined) > mark:
            b = self.joined.pop()
            self._size[self._parent[b]] -= self._size[b]
            self._parent[b] = b
            self.trees += 1
