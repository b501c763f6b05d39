"""What bundles of links prove about every tree at once: there are not enough links to go round.

A tree that connects n survivors has n - 1 links, all of them candidates at the trial time. Of the
links among k survivors it has at most k - 1, since it has no cycle; of the k links of a clash at
most k - 1; and of links every two of which clash at most one. Give such bundles weights. If every
candidate lies in bundles of a total weight of at least W, the links of a tree weigh at least
``W (n - 1)``, but no more than the sum of weight times most over all bundles. Where the latter is
smaller there is no tree. All of it is arithmetic of whole numbers.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from reknit.base.errors import InvalidProof
from reknit.base.types import IntArray
from reknit.plans.certificate import CANDIDATE_HAIR, Bundle
from reknit.plans.checker.duality import Clashes
from reknit.plans.checker.pieces import LinkRule, links_of
from reknit.plans.checker.survivors import Survivors

_MOST_SURVIVORS = 2_000
_MOST_BUNDLES = 20_000
_MOST_MEMBERS = 1_000_000
_MOST_TESTS = 400_000_000
"""Bundles of survivors times candidates; honest proofs need a hundredth of it."""

_HEAVIEST = 2**40


class Bundles:
    """The bundles of a certificate, their form checked.

    Attributes
    ----------
    price
        The sum of weight times most over all bundles.
    clashes
        Numbers of the clashes that the bundles rest on.
    """

    def __init__(self, swarm: Survivors, bundles: object, clashes: Clashes) -> None:
        if not 2 <= swarm.count <= _MOST_SURVIVORS:
            raise InvalidProof(
                f"the certificate has bundles for {swarm.count} survivors; "
                f"allowed: 2 to {_MOST_SURVIVORS}"
            )
        if not isinstance(bundles, tuple) or len(bundles) > _MOST_BUNDLES:
            raise InvalidProof(
                f"the certificate's bundles are not a tuple of at most {_MOST_BUNDLES}"
            )
        self._swarm = swarm
        self._by_links = {self._keys(rows): k for k, rows in enumerate(clashes.links)}
        self.price = 0
        self.clashes: set[int] = set()
        self._nodes: list[tuple[int, IntArray]] = []
        self._links: list[tuple[int, frozenset[int]]] = []
        members = 0
        for bundle in bundles:
            if not isinstance(bundle, Bundle):
                raise InvalidProof("the certificate has a bundle that is none")
            weight = bundle.weight
            if isinstance(weight, bool) or not isinstance(weight, int):
                raise InvalidProof(f"a bundle's weight is {weight!r}; allowed: a whole number")
            if not 0 < weight <= _HEAVIEST:
                raise InvalidProof(f"a bundle's weight is {weight}; allowed: 1 to {_HEAVIEST}")
            self.price += weight * self._most(bundle)
            members += len(bundle.nodes) + len(bundle.links) ** 2
            if members > _MOST_MEMBERS:
                raise InvalidProof("the certificate's bundles are too large to be checked")

    def _keys(self, rows: IntArray) -> frozenset[int]:
        return frozenset((rows[:, 0] * self._swarm.count + rows[:, 1]).tolist())

    def _most(self, bundle: Bundle) -> int:
        """How many links of a bundle a tree can have."""
        nodes, links = bundle.nodes, bundle.links
        for part, dimensions in ((nodes, 1), (links, 2)):
            if type(part) is not np.ndarray or part.dtype != np.int64 or part.ndim != dimensions:
                raise InvalidProof("a bundle of the certificate is not made of int64 numbers")
        if len(nodes):
            is_sorted = bool((np.diff(nodes) > 0).all())
            if len(links) or not is_sorted or nodes[0] < 0 or nodes[-1] >= self._swarm.count:
                raise InvalidProof("a bundle of the certificate is no set of survivors")
            self._nodes.append((bundle.weight, nodes))
            return len(nodes) - 1
        if len(links) < 2 or links.shape[1] != 2:
            raise InvalidProof("a bundle of the certificate is no set of links")
        self._swarm.check_links(links)
        names = self._keys(links)
        if len(names) < len(links):
            raise InvalidProof("a bundle of the certificate names a link twice")
        self._links.append((bundle.weight, names))
        whole = self._by_links.get(names)
        if whole is not None:
            self.clashes.add(whole)
            return len(links) - 1
        ordered = sorted(names)
        for k, first in enumerate(ordered):
            for second in ordered[k + 1 :]:
                pair = self._by_links.get(frozenset((first, second)))
                if pair is None:
                    raise InvalidProof("links of a bundle are not said to clash")
                self.clashes.add(pair)
        return 1

    def check(self, trial_s: float) -> None:
        """Refuse bundles that leave room for a tree of the candidates at a trial time."""
        swarm = self._swarm
        rule = LinkRule(swarm.start, swarm.range_m, swarm.speeds, trial_s, CANDIDATE_HAIR)
        everyone = np.arange(swarm.count)
        blocks = links_of(rule, cKDTree(swarm.start), everyone, everyone, _MOST_SURVIVORS**2)
        pairs = [np.minimum(a, b) * swarm.count + np.maximum(a, b) for a, b in blocks]
        candidates = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *pairs]))
        if len(self._nodes) * len(candidates) > _MOST_TESTS:
            raise InvalidProof("the certificate's bundles are too large to be checked")
        lower, upper = candidates // swarm.count, candidates % swarm.count
        paid = np.zeros(len(candidates), dtype=np.int64)  # at most 2^40 for each of 2^15 bundles
        inside = np.zeros(swarm.count, dtype=bool)
        for weight, nodes in self._nodes:
            inside[nodes] = True
            paid[inside[lower] & inside[upper]] += weight
            inside[nodes] = False
        for weight, names in self._links:
            keys = np.asarray(sorted(names), dtype=np.int64)
            rows = np.searchsorted(candidates, keys)
            rows, keys = rows[rows < len(candidates)], keys[rows < len(candidates)]
            paid[rows[candidates[rows] == keys]] += weight
        if len(paid) == 0 or not self.price < int(paid.min()) * (swarm.count - 1):
            raise InvalidProof("the certificate's bundles leave room for a tree")
