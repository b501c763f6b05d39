"""The walk through a certificate's tree of cases, in time near-linear in its rows.

At every end the walk knows the links in use and the links ruled out: by an answer, by a clash all
of whose other links are in use, or by a lemma all of whose other suppositions are met. An end by a
clash needs all its links in use. An end by a lemma needs the links that the lemma supposes used in
use, and those it supposes unused ruled out; each lemma is walked through before it is referred to,
its suppositions in force from its first row to its last. An end by a cut needs the candidates that
are not ruled out to fail to connect; all cuts are tested together: a link is absent from intervals
of the ends (in the order of the rows) and present elsewhere, so the ends are halved again and
again, and each link is added once to every part of the ends over which it is present throughout.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from reknit.base.errors import InvalidProof
from reknit.base.types import IntArray
from reknit.plans.certificate import BY_LEMMA, CANDIDATE_HAIR, CUT, FOLLOWS, RULED_OUT, Lemma
from reknit.plans.checker.chains import Chains, Statements, chained
from reknit.plans.checker.pieces import LinkRule, links_of, merge, pieces
from reknit.plans.checker.survivors import Survivors, whole_numbers

MOST_ROWS = 500_000
"""A certificate with more rows is refused unread."""

_MOST_LOOKUPS = 10_000_000
"""Links of clashes looked up over all ends, and candidates and their absences over all supposed
losses; honest proofs need a fraction of it."""

_LOOKS_AT_ONCE = 2_000
"""Ends between two questions whether to give up: some ten milliseconds."""

_MOST_PAIRS = 5_000_000
"""Candidates with an end that some case asks about; those of honest proofs are thousands."""


class Walk:
    """The ends of a tree of cases.

    Attributes
    ----------
    clashes
        Numbers of the clashes that ends refer to or that rule a link out.
    cuts
        How many ends are cuts.
    absent
        For each link (its key) the intervals ``[first, last)`` of cuts from which it is ruled out.
    is_over
        Asked now and then whether to give up.
    losses
        For each cut the row of the survivor that it supposes lost besides, -1 for none.
    """

    def __init__(
        self,
        cases: IntArray,
        swarm: Survivors,
        links: list[IntArray],
        lemmas: tuple[Lemma, ...] = (),
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        lines = _lines(cases, lemmas)
        self._count = swarm.count
        self._swarm = swarm
        self.is_over = is_over
        used = self._key_arrays([supposed for supposed, _, _ in lines])
        unused = self._key_arrays([supposed for _, supposed, _ in lines])
        self._held = self._key_arrays(links)
        self._supposed = list(zip(used, unused, strict=True))
        self.cuts = 0
        self.losses = self._check_rows([rows for _, _, rows in lines], len(links))
        self.absent: dict[int, list[tuple[int, int]]] = defaultdict(list)
        asked = np.concatenate([part for line in lines for part in line])
        asked = asked[asked[:, 0] >= 0]
        swarm.check_links(asked)
        statements = Statements(used[:-1], unused[:-1], self._held)
        statements.refuse_contradictions()
        at_once = chained([rows for _, _, rows in lines])
        chains = Chains(statements, at_once, [lines[number][2] for number in at_once])
        self.clashes = chains.clashes
        self._lookups, self._looks = chains.lookups, 0
        self._look_up(0)
        chains.check(is_over)
        for number in np.setdiff1d(np.arange(len(lines)), at_once).tolist():
            self._go(*self._proved(number), lines[number][2])
        ruled_out = np.asarray(list(self.absent), dtype=np.int64)  # also by a clash alone
        self.asked = np.unique(np.concatenate([self._key_array(asked), ruled_out]))

    def _proved(self, lemma: int) -> tuple[frozenset[int], frozenset[int]]:
        """What a lemma supposes used and unused; the whole, after all lemmas, supposes nothing."""
        used, unused = self._supposed[lemma]
        return frozenset(used.tolist()), frozenset(unused.tolist())

    def _clash(self, number: int) -> frozenset[int]:
        """The links of a clash, which has a part in the proof now."""
        self.clashes.add(number)
        return frozenset(self._held[number].tolist())

    def _check_rows(self, lists: list[IntArray], clashes: int) -> list[int]:
        """Refuse rows that refer to what is not there; of every cut the survivor supposed lost."""
        rows = np.concatenate(lists)
        first, number = rows.T
        lemmas = np.repeat(np.arange(len(lists)), [len(part) for part in lists])  # proved by then
        by_lemma = np.isin(first, (BY_LEMMA, FOLLOWS))
        is_end, barring = first == -1, first == RULED_OUT
        least = CUT - self._count if self._swarm.may_lose_one else CUT
        wrong = (first < 0) & ~(by_lemma | is_end | barring)
        wrong |= (is_end & (number < least)) | (barring & (number < 0))
        wrong |= (is_end | barring) & (number >= clashes)
        if wrong.any():
            name = int(number[wrong][0])
            raise InvalidProof(f"the certificate refers to clash {name}, which it does not have")
        wrong = by_lemma & ((number < 0) | (number >= lemmas))
        if wrong.any():
            name = int(number[wrong][0])
            raise InvalidProof(f"the certificate refers to lemma {name} before it is proved")
        losses: list[int] = (CUT - 1 - number[is_end & (number <= CUT)]).tolist()
        return losses

    def _key_array(self, rows: IntArray) -> IntArray:
        return np.asarray(rows[:, 0] * self._count + rows[:, 1])

    def _key_arrays(self, lists: list[IntArray]) -> list[IntArray]:
        """The keys of many short lists."""
        keys = self._key_array(np.concatenate([np.zeros((0, 2), dtype=np.int64), *lists]))
        ends = np.cumsum([len(rows) for rows in lists], dtype=np.int64).tolist()
        return [keys[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]

    def _keys(self, rows: IntArray) -> list[int]:
        keys: list[int] = self._key_array(rows).tolist()
        return keys

    def _go(self, supposed: frozenset[int], excluded: frozenset[int], rows: IntArray) -> None:
        """One pass over the rows of one tree, with some links in use and some ruled out."""
        path: list[tuple[int, bool]] = []
        used = set(supposed)
        since = dict.fromkeys(excluded, self.cuts)  # of links ruled out, the first cut without
        complete = False
        keys = self._keys(rows)
        for (first, number), key in zip(rows.tolist(), keys, strict=True):
            if complete:
                raise InvalidProof("the certificate's cases go on after the last one")
            if first >= 0:
                if key in used or key in since:
                    raise InvalidProof("the certificate asks about a link that is decided")
                path.append((key, True))
                used.add(key)
                continue
            if first in (RULED_OUT, FOLLOWS):
                key, is_used = self._decided(first, number, used, since)
                if key in used or key in since:
                    raise InvalidProof("the certificate decides a link that is decided")
                path.append((key, False))
                if is_used:
                    used.add(key)
                else:
                    since[key] = self.cuts
                continue
            self._end(first, number, used, since)
            while path and not path[-1][1]:
                key = path.pop()[0]
                if key in since:
                    self._present_again(key, since.pop(key))
                else:
                    used.discard(key)
            if path:
                key = path.pop()[0]
                used.discard(key)
                since[key] = self.cuts
                path.append((key, False))
            else:
                complete = True
        if not complete:
            raise InvalidProof("the certificate's cases stop before all are covered")
        for key in excluded:
            self._present_again(key, since[key])

    def _present_again(self, key: int, since: int) -> None:
        """A link that was ruled out from some cut on is no longer; no cut may lie between."""
        if since < self.cuts:
            self.absent[key].append((since, self.cuts))

    def _decided(
        self, first: int, number: int, used: set[int], since: dict[int, int]
    ) -> tuple[int, bool]:
        """The only link of a clash that is not in use, or the only one of a lemma's that is not
        decided as it supposes; and whether that link is therefore used.
        """
        if first == RULED_OUT:
            needs, lacks, kind = self._clash(number), frozenset[int](), "clash"
        else:
            needs, lacks = self._proved(number)
            kind = "lemma"
        self._look_up(len(needs) + len(lacks))
        open_needs, open_lacks = needs.difference(used), lacks.difference(since)
        if len(open_needs) + len(open_lacks) != 1:
            raise InvalidProof(f"the certificate uses {kind} {number} where it does not hold")
        return (next(iter(open_needs)), False) if open_needs else (next(iter(open_lacks)), True)

    def _end(self, first: int, number: int, used: set[int], since: dict[int, int]) -> None:
        """Refuse an end that does not follow from what is decided."""
        if first == BY_LEMMA:
            needs, lacks = self._proved(number)
            self._look_up(len(needs) + len(lacks))
            if not (needs <= used and lacks <= since.keys()):
                raise InvalidProof(f"the certificate uses lemma {number} where it does not hold")
        elif number <= CUT:
            self.cuts += 1
        else:
            self._look_up(len(self._held[number]))
            if not self._clash(number) <= used:
                raise InvalidProof(f"the certificate uses clash {number} where it does not hold")

    def _look_up(self, links: int) -> None:
        self._lookups += links
        self._looks += 1
        if self._looks % _LOOKS_AT_ONCE == 0 and self.is_over():
            raise InvalidProof("the check was given up")
        if self._lookups > _MOST_LOOKUPS:
            raise InvalidProof("the certificate is too large to be checked")


def _lines(cases: IntArray, lemmas: tuple[Lemma, ...]) -> list[tuple[IntArray, IntArray, IntArray]]:
    """Suppositions and rows of every lemma and of the whole, their form checked."""
    if not isinstance(lemmas, tuple) or len(lemmas) > MOST_ROWS:
        raise InvalidProof(f"the certificate's lemmas are not a tuple of at most {MOST_ROWS}")
    lines = []
    for lemma in lemmas:
        if not isinstance(lemma, Lemma):
            raise InvalidProof("the certificate has a lemma that is none")
        lines.append(
            (
                whole_numbers("lemmas", lemma.used, 2),
                whole_numbers("lemmas", lemma.unused, 2),
                whole_numbers("lemmas", lemma.cases, 2),
            )
        )
    nothing = np.empty((0, 2), dtype=np.int64)
    lines.append((nothing, nothing, cases))
    total = sum(len(rows) for _, _, rows in lines)
    if total > MOST_ROWS:
        raise InvalidProof(f"the certificate has {total} rows; allowed: {MOST_ROWS}")
    supposed = sum(len(used) + len(unused) for used, unused, _ in lines)
    if supposed > _MOST_LOOKUPS:
        raise InvalidProof("the certificate is too large to be checked")
    return lines


class Candidates:
    """The candidate links at a trial time, for every supposed loss.

    Survivors that no case asks about and nobody supposes lost are merged once into pieces; so a
    loss takes one point out of a small network.

    Parameters
    ----------
    swarm
        Everybody.
    asked
        Keys of the links that cases ask about.
    losses
        (k,) rows of survivors whose loss some cut supposes; negative ones mean nobody.
    trial_s
        The time by which a candidate can be a link, seconds.
    """

    def __init__(self, swarm: Survivors, asked: IntArray, losses: IntArray, trial_s: float) -> None:
        count = swarm.count
        rule = LinkRule(swarm.start, swarm.range_m, swarm.speeds, trial_s, CANDIDATE_HAIR)
        present = np.flatnonzero(swarm.present)
        special = np.unique(np.concatenate([asked // count, asked % count, losses[losses >= 0]]))
        special = special[swarm.present[special]]
        plain = np.setdiff1d(present, special)
        self._node = np.full(count, -1, dtype=np.int64)
        self._node[special] = np.arange(len(special))
        _, piece = np.unique(pieces(rule, plain), return_inverse=True)
        self._node[plain] = len(special) + piece.reshape(-1)
        self.count = int(self._node.max(initial=-1)) + 1
        self._count = count
        free, there = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        tree = cKDTree(swarm.start[present])
        for left, right in links_of(rule, tree, present, special, _MOST_PAIRS):
            key = np.minimum(left, right) * count + np.maximum(left, right)
            is_asked = np.isin(key, asked)
            there.append(_once(key[is_asked]))
            ends = self._node[np.stack([left, right])[:, ~is_asked]]
            free.append(_once(ends.min(axis=0) * self.count + ends.max(axis=0)))
        self._asked = _once(np.concatenate(there))
        self._free = np.stack(np.divmod(_once(np.concatenate(free)), max(self.count, 1)))

    @property
    def size(self) -> int:
        """How much there is to go through for one supposed loss."""
        return self.count + int(self._free.shape[1]) + len(self._asked)

    def without(self, lost: int) -> tuple[int, IntArray, IntArray]:
        """How many pieces the links that no case asks about leave when a survivor is lost (-1:
        none is); of the asked links that are left the keys, and the (k, 2) pieces at their ends.
        """
        gone = self._node[lost] if lost >= 0 else -1
        left, right = self._free[:, (self._free != gone).all(axis=0)]
        label = merge(np.arange(self.count), left, right)
        label = label[np.arange(self.count) != gone] if gone >= 0 else label
        names, number = np.unique(label, return_inverse=True)
        piece = np.insert(number.reshape(-1), gone, -1) if gone >= 0 else number.reshape(-1)
        ends = np.stack(np.divmod(self._asked, self._count), axis=1)
        kept = (ends != lost).all(axis=1)
        return len(names), self._asked[kept], piece[self._node[ends[kept]]]


def _once(keys: IntArray) -> IntArray:
    """The keys, ascending and each once; of millions faster than numpy's own."""
    keys = np.sort(keys)
    return np.asarray(keys[np.diff(keys, prepend=-1) != 0])


def check_cuts(walk: Walk, swarm: Survivors, trial_s: float) -> None:
    """Refuse the certificate if the candidates connect the survivors at any of its cuts, those
    with the same supposed loss together.
    """
    losses = np.asarray(walk.losses, dtype=np.int64)
    supposed = np.unique(losses)
    if len(supposed) == 0:
        return
    absences = sum(map(len, walk.absent.values()))
    _refuse_many(supposed, absences)
    candidates = Candidates(swarm, walk.asked, supposed, trial_s)
    _refuse_many(supposed, absences + candidates.size)
    for lost in supposed.tolist():
        _check_cuts(walk, np.flatnonzero(losses == lost), *candidates.without(lost))


def _refuse_many(losses: IntArray, size: int) -> None:
    """Raise if so many losses, with so much to go through for each, would take too long."""
    if len(losses) * size > _MOST_LOOKUPS:
        raise InvalidProof(
            f"the certificate supposes {len(losses)} different losses, "
            f"too many with {size} links and pieces to look at for each"
        )


def _check_cuts(walk: Walk, cuts: IntArray, count: int, keys: IntArray, pieces: IntArray) -> None:
    """The same for the cuts with the given numbers, and the candidates that are left there."""
    total = len(cuts)
    levels: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for key, (piece, other) in zip(keys.tolist(), pieces.tolist(), strict=True):
        if piece == other:
            continue
        if walk.is_over():
            raise InvalidProof("the check was given up")
        start = 0
        for interval in walk.absent.get(key, ()):
            first, last = np.searchsorted(cuts, interval).tolist()
            _spread(levels, start, first, 0, total, (piece, other))
            start = last
        _spread(levels, start, total, 0, total, (piece, other))
    _descend(levels, _Forest(count), 0, total)


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
