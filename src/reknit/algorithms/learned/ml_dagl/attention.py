"""MBDA, the multi-branch damage attention (Section IV-B), and the kernels made of its graphs.

Branch k links a survivor with a destroyed UAV when they were at most k hops apart before the
damage. Such a graph (mDAG) is bipartite, so its adjacency matrix

    A_dag^k = A_in^k o M_da = [[0, B_k], [B_k^T, 0]]

is kept as the block B_k of N_R survivors x N_D destroyed UAVs, and no matrix of KN x KN exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from reknit.base.errors import InvalidParameter
from reknit.base.types import IntArray
from reknit.network.hops import UNREACHED, hop_matrix
from reknit.network.links import adjacency, components
from reknit.swarm.scenario import Scenario

NEAR_BOUND = 0.99
"""Share of the bound 1 / ||A||_inf that eps takes under the rule "norm"; Prop. 1 asks for less
than all of it."""

EPSILON_RULES = ("uavs", "norm")

_SPARSE_BELOW = 0.25
"""Blocks with at most this share of links are quicker to multiply with row by row."""


@dataclass(frozen=True, eq=False)
class DamageHops:
    """Hop counts that matter for the mDAGs, of the swarm before the damage.

    between     (N_R, N_D) hops from each survivor to each destroyed UAV, -1 without a path.
    diameter    H_max, the largest hop count of any pair.
    """

    between: NDArray[np.int16]
    diameter: int

    @staticmethod
    def of(scenario: Scenario) -> DamageHops:
        """Count the hops in the network of all N UAVs at t_0."""
        hops = hop_matrix(adjacency(scenario.links, scenario.uavs))
        between = hops[np.ix_(scenario.survivors, scenario.destroyed)]
        return DamageHops(between, int(hops.max()))

    @property
    def branch_count(self) -> int:
        """K = floor((H_max + 1) / 2), eq. (K); at least one."""
        return max(1, (self.diameter + 1) // 2)


def choose_hops(found: DamageHops, branches: Sequence[int] | None) -> tuple[int, ...]:
    """The dilation sizes k: the chosen ones, or 1 to K by eq. (K)."""
    if branches is None:
        return tuple(range(1, found.branch_count + 1))
    return tuple(branches)


def mdag_blocks(found: DamageHops, hops: Sequence[int]) -> NDArray[np.bool_]:
    """B_k for each k: (K, N_R, N_D), true where 1 <= H_ij <= k."""
    between = found.between[None]
    return np.asarray((between != UNREACHED) & (between <= np.asarray(hops)[:, None, None]))


def is_connected(block: NDArray[np.bool_]) -> bool:
    """Whether one mDAG, destroyed UAVs included, is in one piece."""
    rows, columns = np.nonzero(block)
    nodes = sum(block.shape)
    pairs: IntArray = np.stack([rows, columns + block.shape[0]], axis=1)
    return bool(components(pairs, nodes).max() == 0)


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A matrix by the nonzero entries of its rows.

    first       (rows + 1,) where each row begins in the other two, and the end of the last.
    column      (entries,) column of each entry.
    value       (entries,) the entries.
    """

    first: Tensor
    column: Tensor
    value: Tensor

    def __matmul__(self, features: Tensor) -> Tensor:
        """The product with (columns, d) features, without a record for gradients.

        Every row of it is a weighted sum of a few rows of the features: what torch calls a bag
        of embeddings, and does in half the time of its sparse matrices or less.
        """
        return functional.embedding_bag(
            self.column,
            features,
            self.first,
            mode="sum",
            per_sample_weights=self.value,
            include_last_offset=True,
        )


@dataclass(frozen=True, eq=False)
class Kernel:
    """The convolution kernel of every branch, S = [[diag(own), C], [C^T, diag(own)]], symmetric.

    own         (K, N, 1) weight of a node's own features, survivors first.
    coupling    (K, N_R, N_D) weight between a survivor and a destroyed UAV.
    """

    own: Tensor
    coupling: Tensor

    @property
    def survivors(self) -> int:
        """N_R."""
        return int(self.coupling.shape[1])

    @cached_property
    def sparse(self) -> tuple[SparseRows | None, ...]:
        """S of every branch with few links as sparse rows; None for the others."""
        return tuple(map(_sparse, self.own[:, :, 0], self.coupling))

    def of_branches(self, which: Sequence[int]) -> Kernel:
        """The kernels of some of the branches."""
        index = list(which)
        return Kernel(self.own[index].contiguous(), self.coupling[index].contiguous())


def _sparse(own: Tensor, coupling: Tensor) -> SparseRows | None:
    if not coupling.numel() or coupling.count_nonzero() > _SPARSE_BELOW * coupling.numel():
        return None
    survivors = coupling.shape[0]
    row, column = coupling.nonzero(as_tuple=True)
    node = torch.arange(len(own))
    rows = torch.cat([node, row, column + survivors])
    columns = torch.cat([node, column + survivors, row])
    links = coupling[row, column]
    order = torch.argsort(rows * len(own) + columns)
    first = torch.zeros(len(own) + 1, dtype=torch.int64)
    first[1:] = torch.bincount(rows, minlength=len(own)).cumsum(0)
    return SparseRows(first, columns[order], torch.cat([own, links, links])[order])


def bipartite_kernel(
    blocks: NDArray[np.bool_], epsilon: str | float = "uavs", share: float = NEAR_BOUND
) -> Kernel:
    """B-GCO: S = I - eps L_dag^k.

    epsilon     "uavs": 1 / N, the paper's. "norm": `share` of the bound 1 / ||A_dag^k||_inf of
                Prop. 1, branch by branch. Or a number for all branches.
    """
    branches, survivors, lost = blocks.shape
    block = torch.from_numpy(np.ascontiguousarray(blocks)).float()
    degree = torch.cat([block.sum(dim=2), block.sum(dim=1)], dim=1)
    if epsilon == "uavs":
        eps = torch.full((branches,), 1.0 / (survivors + lost))
    elif epsilon == "norm":
        eps = share / degree.amax(dim=1).clamp(min=1.0)
    elif isinstance(epsilon, str):
        raise InvalidParameter("epsilon", epsilon, f"a number above 0 or {EPSILON_RULES}")
    else:
        eps = torch.full((branches,), float(epsilon))
    return Kernel(
        own=(1.0 - eps[:, None] * degree)[:, :, None].contiguous(),
        coupling=block * eps[:, None, None],
    )


def ordinary_kernel(blocks: NDArray[np.bool_]) -> Kernel:
    """The ordinary GCO, for the ablation: S = D~^(-1/2) (A_dag^k + I) D~^(-1/2)."""
    block = torch.from_numpy(np.ascontiguousarray(blocks)).float()
    survivor = (block.sum(dim=2) + 1.0).rsqrt()
    lost = (block.sum(dim=1) + 1.0).rsqrt()
    own = torch.cat([survivor, lost], dim=1).square()
    return Kernel(own[:, :, None].contiguous(), survivor[:, :, None] * block * lost[:, None, :])
