"""DEMD's net and its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn
from torch.nn import functional

from reknit.algorithms.learned.common.layers import (
    ConvolutionStack,
    contracting_kernel,
    drop,
    fill,
    layer_sizes,
    without_values,
)
from reknit.base.types import IntArray
from reknit.network.hops import hops_within
from reknit.network.links import adjacency
from reknit.swarm.scenario import Scenario

if TYPE_CHECKING:
    from reknit.algorithms.learned.demd.planner import Demd


class DemdNet(nn.Module):
    """The damage embedding's weights, then a stack of convolutions."""

    def __init__(self, planner: Demd, dim: int) -> None:
        super().__init__()
        self.dropout = planner.dropout
        first, *rest = layer_sizes(dim, planner.layers, planner.hidden)
        self.embed = nn.Linear(*first)
        self.stack = ConvolutionStack(rest, planner.dropout)

    @staticmethod
    def make(planner: Demd, dim: int, generator: torch.Generator) -> DemdNet:
        """A net with the generator's next weights."""
        net = without_values(lambda: DemdNet(planner, dim))
        fill(net, generator)
        assert isinstance(net, DemdNet)
        return net

    @property
    def last_weight(self) -> Tensor:
        """W of the last layer, which both losses share."""
        return self.stack.linear_layers[-1].weight

    def forward(
        self, embedding: Tensor, kernel: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        """Survivors' rows of ``S_0 X_all`` (n, dim) to targets (n, dim) in (-1, 1)."""
        features = drop(functional.relu(self.embed(embedding)), self.dropout, generator)
        output: Tensor = self.stack(features, kernel, generator)
        return output


def embedding_kernel(scenario: Scenario) -> csr_array:
    """S_0: the survivors' rows, the columns in the order survivors, destroyed."""
    kernel = contracting_kernel(scenario.links, scenario.uavs)
    order = np.concatenate([scenario.survivors, scenario.destroyed])
    return csr_array(kernel[scenario.survivors][:, order])


def hop_kernels(scenario: Scenario, hops: Sequence[int]) -> list[csr_array]:
    """S_k of each k, on the survivors."""
    within = hops_within(adjacency(scenario.links, scenario.uavs), max(hops))
    near = within[scenario.survivors][:, scenario.survivors].tocoo()
    upper = near.row < near.col
    pairs: IntArray = np.stack([near.row[upper], near.col[upper]], axis=1).astype(np.int64)
    count = near.data[upper] - 1
    return [contracting_kernel(pairs[count <= k], len(scenario.survivors)) for k in hops]
