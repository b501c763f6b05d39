"""The kernels of the graph convolutions, made of the mDAGs: B-GCO and, for the ablation, GCO.

A kernel is symmetric and has the form ``S = [[diag, C], [C^T, diag]]``. A branch with few links
is held as sparse rows, one with many as the dense block C, which multiplies faster. A virtual node,
linked to every UAV, may follow as the last one; its links have all the same weight and are held as
that alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor
from torch.nn import functional

from reknit.algorithms.learned.ml_dagl.attention import DamageHops
from reknit.base.errors import InvalidParameter

NEAR_BOUND = 0.99
"""Share of the bound 1 / ||A||_inf that eps takes under the rule "norm"; Prop. 1 asks for less
than all of it."""

EpsilonRule = Literal["uavs", "norm"]
EPSILON_RULES = get_args(EpsilonRule)

_SPARSE_BELOW = 0.25
"""Blocks with at most this share of links are quicker to multiply with row by row."""


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A matrix by the nonzero entries of its rows.

    Attributes
    ----------
    first : (rows + 1,) int64
        Where each row begins in the other two, and the end of the last.
    column : (entries,) int64
        Column of each entry.
    value : (entries,) float
        The entries.
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
    """The convolution kernel S of every branch.

    Attributes
    ----------
    own : (K, N, 1) float
        Weight of a node's own features, survivors first; (K, N + 1, 1) with a virtual node.
    branches : tuple of Tensor or SparseRows
        For each branch its block C (N_R, N_D), or the whole of S as sparse rows, without the
        links of the virtual node.
    survivors : int
        N_R.
    virtual : (K, 1, 1) float or None
        Weight of the links of the virtual node; None: there is none.
    """

    own: Tensor
    branches: tuple[Tensor | SparseRows, ...]
    survivors: int
    virtual: Tensor | None = None

    @staticmethod
    def without_links(nodes: int) -> Kernel:
        """One branch in which every node, all of them survivors, is on its own: S = I."""
        return Kernel(torch.ones(1, nodes, 1), (torch.zeros(nodes, 0),), nodes)

    def of_branches(self, which: Sequence[int]) -> Kernel:
        """The kernels of some of the branches."""
        own = self.own[list(which)].contiguous()
        virtual = None if self.virtual is None else self.virtual[list(which)]
        branches = tuple(self.branches[branch] for branch in which)
        return Kernel(own, branches, self.survivors, virtual)


def bipartite_kernel(
    hops: DamageHops,
    branches: Sequence[int],
    epsilon: str | float = "uavs",
    share: float = NEAR_BOUND,
    *,
    virtual_node: bool = False,
) -> Kernel:
    """B-GCO: ``S = I - eps L_dag^k``.

    Parameters
    ----------
    hops : DamageHops
        The pairs of the mDAGs.
    branches : sequence of int
        Dilation sizes k, one branch each.
    epsilon : str or float
        "uavs": 1 / N, the paper's. "norm": `share` of the bound 1 / ||A_dag^k||_inf of Prop. 1,
        branch by branch. Or a number for all branches.
    share : float
        See `epsilon`.
    virtual_node : bool
        Whether a node follows that is linked to every UAV; its N links count in ||A_dag^k||_inf.

    Returns
    -------
    Kernel
        S of every branch.
    """
    own, rows, steps = [], [], []
    sizes = hops.survivors, hops.lost
    uavs = sum(sizes)
    for k in branches:
        row, column, degree = _links(hops, k)
        if virtual_node:
            degree = torch.cat([degree + 1.0, torch.tensor([float(uavs)])])
        if epsilon == "uavs":
            eps = torch.tensor(1.0 / uavs)
        elif epsilon == "norm":
            eps = share / degree.amax().clamp(min=1.0)
        elif isinstance(epsilon, str):
            raise InvalidParameter("epsilon", epsilon, f"a number above 0 or {EPSILON_RULES}")
        else:
            eps = torch.tensor(float(epsilon))
        diagonal = 1.0 - eps * degree
        own.append(diagonal)
        steps.append(eps)
        rows.append(_branch(diagonal, row, column, eps.expand(len(row)), sizes))
    virtual = torch.stack(steps)[:, None, None] if virtual_node else None
    whole = torch.stack(own)[:, :, None].contiguous()
    return Kernel(whole, tuple(rows), hops.survivors, virtual)


def ordinary_kernel(hops: DamageHops, branches: Sequence[int]) -> Kernel:
    """The ordinary GCO, for the ablation: ``S = D~^(-1/2) (A_dag^k + I) D~^(-1/2)``."""
    own, rows = [], []
    sizes = hops.survivors, hops.lost
    for k in branches:
        row, column, degree = _links(hops, k)
        root = (degree + 1.0).rsqrt()
        diagonal = root.square()
        own.append(diagonal)
        weight = root[row] * root[column + hops.survivors]
        rows.append(_branch(diagonal, row, column, weight, sizes))
    return Kernel(torch.stack(own)[:, :, None].contiguous(), tuple(rows), hops.survivors)


def _links(hops: DamageHops, k: int) -> tuple[Tensor, Tensor, Tensor]:
    """Survivor and destroyed UAV of each link of an mDAG, and the degree of each of the N nodes."""
    row, column = (torch.from_numpy(index) for index in hops.pairs(k))
    ends = torch.cat([row, column + hops.survivors])
    return row, column, torch.bincount(ends, minlength=hops.survivors + hops.lost).float()


def _branch(
    own: Tensor, row: Tensor, column: Tensor, weight: Tensor, sizes: tuple[int, int]
) -> Tensor | SparseRows:
    """S of one branch in the form that multiplies faster; `sizes` are N_R and N_D."""
    nodes, (survivors, lost) = len(own), sizes
    size = survivors * lost
    if not size or len(row) > _SPARSE_BELOW * size:
        block = own.new_zeros(survivors, lost)
        block[row, column] = weight
        return block
    node = torch.arange(nodes)
    rows = torch.cat([node, row, column + survivors])
    columns = torch.cat([node, column + survivors, row])
    order = torch.argsort(rows * nodes + columns)
    first = torch.zeros(nodes + 1, dtype=torch.int64)
    first[1:] = torch.bincount(rows, minlength=nodes).cumsum(0)
    return SparseRows(first, columns[order], torch.cat([own, weight, weight])[order])
