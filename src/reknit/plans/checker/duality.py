"""What the vectors of a clash prove, evaluated so that it is a proof.

For any vectors y_e on links that all hold at a time t, with z_i their signed sum at survivor i,

    t >= (sum_e y_e . (p_i - p_j) - d |y_e|) / sum_i v_i |z_i|.

First in float64 for all clashes at once, with a bound on every rounding error on the safe side.
Where that falls short of the claim, and only there, in whole numbers, whose only rounding is that
of square roots, upwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reknit.base.errors import InvalidProof
from reknit.base.types import FloatArray, IntArray
from reknit.plans.certificate import Clash
from reknit.plans.checker.rounding import (
    ABSOLUTE_M,
    RELATIVE,
    RELATIVE_BITS,
    lengthened,
    quotient_down,
    root_up,
    whole,
)
from reknit.plans.checker.survivors import Survivors, finite_numbers, whole_numbers

_EPSILON = 2.0**-52


class Clashes:
    """The clashes of a certificate, their form checked, and the time that each proves."""

    def __init__(self, swarm: Survivors, clashes: Sequence[Clash]) -> None:
        self._swarm = swarm
        self.links: list[IntArray] = []
        self._forces: list[FloatArray] = []
        for clash in clashes:
            links = whole_numbers("links of a clash", clash.links, 2)
            if len(links) == 0:
                raise InvalidProof("a clash of the certificate has no links")
            shape = (len(links), swarm.start.shape[1])
            self._forces.append(finite_numbers("forces of a clash", clash.forces, shape))
            self.links.append(links)
        self._times_s = np.zeros(0)
        self.exact = 0
        if self.links:
            self._owner = np.repeat(np.arange(len(self.links)), [len(x) for x in self.links])
            self._pairs = np.concatenate(self.links)
            swarm.check_links(self._pairs)
            self._check_distinct()
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                self._times_s = self._times()

    def __len__(self) -> int:
        return len(self.links)

    def _check_distinct(self) -> None:
        order = np.lexsort((self._pairs[:, 1], self._pairs[:, 0], self._owner))
        rows = np.column_stack([self._owner, self._pairs])[order]
        if (rows[1:] == rows[:-1]).all(axis=1).any():
            raise InvalidProof("a clash of the certificate names a link twice")

    def time_s(self, number: int, claim_s: float) -> float:
        """A time that a clash surely proves: at least the claim, if the clash proves that."""
        quick_s = float(self._times_s[number])
        if quick_s >= claim_s:
            return quick_s
        self.exact += 1
        return exact_time_s(self._swarm, self.links[number], self._forces[number])

    def _times(self) -> FloatArray:
        """In float64, all at once. Forces are scaled by powers of two, which is exact, so that
        the largest component of a clash lies between 1/2 and 1.
        """
        swarm, owner, left, right = self._swarm, self._owner, self._pairs[:, 0], self._pairs[:, 1]
        count = len(self.links)
        forces = np.concatenate(self._forces)
        top = np.zeros(count)
        np.maximum.at(top, owner, np.abs(forces).max(axis=1))
        forces = np.ldexp(forces, -np.frexp(top)[1][owner][:, None])
        size = _norm(forces)
        delta = swarm.start[left] - swarm.start[right]
        # A sum of n terms, each with a few roundings, is off by at most n + 16 times 2^-53.
        links = np.bincount(owner, minlength=count)
        error = (links + 32.0) * _EPSILON
        along = np.bincount(owner, (forces * delta).sum(axis=1), count)
        sizes = np.bincount(owner, size, count)
        scale = np.bincount(owner, size * (_norm(delta) + swarm.range_m), count)
        pull = along - swarm.range_m * (1.0 + RELATIVE) * sizes - error * scale
        give, fastest = self._give(forces)
        give = give * (1.0 + 64.0 * _EPSILON) + error * fastest * sizes
        times_s = np.zeros(count)
        good = np.isfinite(pull) & np.isfinite(give) & (pull > 0.0) & (give > 0.0)
        times_s[good] = pull[good] / give[good] * (1.0 - 8.0 * _EPSILON)
        return times_s

    def _give(self, forces: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``sum_i v_i |z_i|`` of each clash, and its fastest survivor's speed."""
        count, dim = len(self.links), forces.shape[1]
        node = np.concatenate([self._pairs[:, 0], self._pairs[:, 1]])
        owner = np.concatenate([self._owner, self._owner])
        both = np.concatenate([forces, -forces])
        order = np.lexsort((node, owner))
        node, owner, both = node[order], owner[order], both[order]
        fresh = np.ones(len(node), dtype=bool)
        fresh[1:] = (node[1:] != node[:-1]) | (owner[1:] != owner[:-1])
        group = np.cumsum(fresh) - 1
        balance = np.zeros((int(group[-1]) + 1, dim))
        for axis in range(dim):
            balance[:, axis] = np.bincount(group, both[:, axis])
        speeds, owner = self._swarm.speeds[node[fresh]], owner[fresh]
        fastest = np.zeros(count)
        np.maximum.at(fastest, owner, speeds)
        give = np.zeros(count)
        np.add.at(give, owner, speeds * _norm(balance))
        return give, fastest


def _norm(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=1)))


def exact_time_s(swarm: Survivors, links: IntArray, forces: FloatArray) -> float:
    """The largest float64 below what the vectors prove, in whole numbers.

    Parameters
    ----------
    swarm
        The survivors whose rows the links name.
    links
        (k, 2) rows of survivors.
    forces
        (k, dim) vectors y_e, finite.

    Returns
    -------
    float
        Seconds; 0 where nothing is proved.
    """
    dim = swarm.start.shape[1]
    places = {row: [whole(x) for x in swarm.start[row]] for row in np.unique(links).tolist()}
    balance = {row: [0] * dim for row in places}
    pull = sizes = 0
    for (i, j), force in zip(links.tolist(), forces.tolist(), strict=True):
        y = [whole(x) for x in force]
        sizes += root_up(sum(x * x for x in y))
        for axis in range(dim):
            pull += y[axis] * (places[i][axis] - places[j][axis])
            balance[i][axis] += y[axis]
            balance[j][axis] -= y[axis]
    pull -= lengthened(whole(swarm.range_m)) * sizes
    give = 0
    for row, z in balance.items():
        speed = whole(swarm.speeds[row])
        if speed:
            size = root_up(sum(x * x for x in z))
            give += speed * size
            pull -= ABSOLUTE_M * size
    return quotient_down(pull, give + (give >> RELATIVE_BITS) + (give > 0))
