"""GCN (Kipf & Welling, 2017), trained online on the survivors' own network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from reknit.algorithms.learned.common.baseline import Baseline, Model
from reknit.algorithms.learned.common.case import Case
from reknit.algorithms.learned.common.geometric import GCNConv
from reknit.algorithms.learned.common.layers import (
    drop,
    dropout_generator,
    fill,
    layer_sizes,
    without_values,
)
from reknit.base.context import Context
from reknit.base.types import IntArray
from reknit.network.links import links


@dataclass(frozen=True)
class Gcn(Baseline):
    """Graph convolution on the remaining graph, one network per case.

        X^(l+1) = ReLU(S X^l W^l + b^l),   S = D^(-1/2) (A + I) D^(-1/2),
        targets = p_c + (D + 1) tanh(S X^(Q-1) W^(Q-1) + b^(Q-1))

    A are the survivors' radio links at t_0 and D its degrees plus one; the layers are
    torch_geometric's `GCNConv`. Loss: ``penalty (N_s - 1) + max displacement`` in metres.

    Sub-nets share weights but no features, so what holds the output together is only that all
    outputs start close to one point; training draws them apart until it breaks, and the best
    connected output is kept.

    8 layers of 500 features; the other parameters are those of `Baseline`.
    """

    name: ClassVar[str] = "gcn"

    def model(self, case: Case, context: Context) -> Model:
        """The network on the survivors' links."""
        scenario = case.scenario
        edges = both_ways(links(scenario.survivor_positions, scenario.radio_range_m))
        network = GcnNetwork.make(self, scenario.dim, context.seed)
        features = self.features(case)[: len(case.start)]
        dropout = dropout_generator(self.dropout, context.seed)

        def forward(active: Sequence[int]) -> Tensor:
            output: Tensor = network(features, edges, dropout)
            return output[None]

        return Model(forward, list(network.parameters()))


class GcnNetwork(nn.Module):
    """The network of `Gcn` for one graph, whose normalisation it remembers."""

    def __init__(self, dim: int, layers: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        sizes = layer_sizes(dim, layers, hidden)
        self.layers = nn.ModuleList(GCNConv(i, o, cached=True) for i, o in sizes)

    @staticmethod
    def make(planner: Gcn, dim: int, seed: int) -> nn.Module:
        """A network with the first weights of a seed."""
        network = without_values(
            lambda: GcnNetwork(dim, planner.layers, planner.hidden, planner.dropout)
        )
        fill(network, torch.Generator().manual_seed(seed))
        return network

    def forward(self, features: Tensor, edges: Tensor, generator: torch.Generator | None) -> Tensor:
        """(n, dim) positions to (n, dim) in (-1, 1)."""
        *inner, last = self.layers
        for layer in inner:
            features = drop(functional.relu(layer(features, edges)), self.dropout, generator)
        return torch.tanh(last(features, edges))


def both_ways(pairs: IntArray) -> Tensor:
    """Links as torch_geometric wants them: (2, 2 links), each from both ends."""
    return torch.from_numpy(np.concatenate([pairs, pairs[:, ::-1]]).T.copy())
