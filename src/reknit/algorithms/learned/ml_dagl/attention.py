"""MBDA, the multi-branch damage attention (Section IV-B): which pairs each branch links.

Branch k links a survivor with a destroyed UAV when they were at most k hops apart before the
damage. Such a graph (mDAG) is bipartite, so its adjacency matrix

    A_dag^k = A_in^k o M_da = [[0, B_k], [B_k^T, 0]]

is known from the pairs of B_k, the block of N_R survivors x N_D destroyed UAVs. They are listed
once for all branches, with their hop counts: no matrix of N x N or KN x KN exists.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from reknit.base.types import IntArray
from reknit.network.hops import hop_diameter, hops_within
from reknit.network.links import adjacency, components
from reknit.swarm.scenario import Scenario

RULE_UP_TO = 2_000
"""UAVs up to which eq. (K) decides the number of branches."""

MOST_LINKS = 500_000
"""Links that the largest branch of a swarm beyond `RULE_UP_TO` may have, by estimate."""


@dataclass(frozen=True, eq=False)
class DamageHops:
    """The survivor-destroyed pairs of every branch, by their hop count before the damage.

    Attributes
    ----------
    chosen : tuple of int
        Dilation size k of each branch.
    survivors, lost : int
        N_R and N_D.
    row, column : (pairs,) int64
        Survivor and destroyed UAV of each pair, numbered from 0 in their own order; by rows.
    hops : (pairs,) int16
        H_ij of each pair, from 1 to the largest k.
    """

    chosen: tuple[int, ...]
    survivors: int
    lost: int
    row: IntArray
    column: IntArray
    hops: NDArray[np.int16]

    @staticmethod
    def of(
        scenario: Scenario, branches: Sequence[int] | None = None, *, few: bool = False
    ) -> DamageHops:
        """Count the hops in the network of all N UAVs at t_0.

        Parameters
        ----------
        scenario : Scenario
            Where the UAVs were, and which are destroyed.
        branches : sequence of int, optional
            The dilation sizes k; None: 1 to K by eq. (K).
        few : bool
            Whether a swarm beyond `RULE_UP_TO` gets fewer branches than eq. (K) says.

        Returns
        -------
        DamageHops
            The pairs at most the largest k hops apart.
        """
        links = adjacency(scenario.links, scenario.uavs)
        if branches is None:
            chosen = tuple(range(1, _branch_count(scenario, links, few) + 1))
        else:
            chosen = tuple(branches)
        near = hops_within(links, max(chosen))[scenario.survivors][:, scenario.destroyed].tocoo()
        row, column = near.coords
        order = np.lexsort((column, row))
        return DamageHops(
            chosen,
            len(scenario.survivors),
            len(scenario.destroyed),
            row[order].astype(np.int64),
            column[order].astype(np.int64),
            # `hops_within` stores H_ij + 1; no survivor is a destroyed UAV, so none is at 0.
            (near.data[order] - 1).astype(np.int16),
        )

    def pairs(self, k: int) -> tuple[IntArray, IntArray]:
        """B_k as the survivor and the destroyed UAV of each of its links, by rows."""
        within = self.hops <= k
        return self.row[within], self.column[within]

    def is_connected(self, k: int) -> bool:
        """Whether the mDAG of branch k, destroyed UAVs included, is in one piece."""
        row, column = self.pairs(k)
        links: IntArray = np.stack([row, column + self.survivors], axis=1)
        return bool(components(links, self.survivors + self.lost).max() == 0)


def branch_count(diameter: int) -> int:
    """K = floor((H_max + 1) / 2), eq. (K), of a swarm with hop diameter H_max; at least one."""
    return max(1, (diameter + 1) // 2)


def _branch_count(scenario: Scenario, links: csr_array, few: bool) -> int:
    """K by the rule; for large swarms, if `few`, no more than keep the largest mDAG sparse.

    The links of a swarm spread over an area grow with the area within k hops, as k^2.
    """
    if not few or scenario.uavs <= RULE_UP_TO:
        return branch_count(hop_diameter(links))
    lost = np.isin(np.arange(scenario.uavs), scenario.destroyed)
    across = int((lost[scenario.links[:, 0]] != lost[scenario.links[:, 1]]).sum())
    most = max(1, math.isqrt(MOST_LINKS // max(1, across)))
    if branch_count(_diameter_at_least(links)) >= most:
        return most
    return min(most, branch_count(hop_diameter(links)))


def _diameter_at_least(links: csr_array) -> int:
    """Hops to the UAV farthest from the one that is farthest from UAV 0: H_max or a little less."""
    source = 0
    for _ in range(2):
        hops = shortest_path(links, unweighted=True, indices=source)
        hops[np.isinf(hops)] = 0
        source = int(hops.argmax())
    return int(hops.max())
