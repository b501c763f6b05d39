"""The two layers taken from torch_geometric, whose import warns of its own deprecations, and its
form of a graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from reknit.algorithms.learned.common.baseline import Baseline, OnlineNet
from reknit.algorithms.learned.common.layers import dropout_generator
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.base.types import IntArray
from reknit.network.links import links

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric.nn import GATv2Conv, GCNConv  # type: ignore[import-untyped]

__all__ = ["GATv2Conv", "GCNConv", "both_ways", "net_on_links"]


def both_ways(pairs: IntArray) -> Tensor:
    """Links as torch_geometric wants them: (2, 2 links), each from both ends."""
    return torch.from_numpy(np.concatenate([pairs, pairs[:, ::-1]]).T.copy())


def net_on_links(planner: Baseline, net: nn.Module, scaled: ScaledScenario, seed: int) -> OnlineNet:
    """A net of torch_geometric's layers on the survivors' links.

    Parameters
    ----------
    planner
        Says what the net is given, and its dropout.
    net
        Called with features, both directions of every link, and the generator of its dropout.
    scaled
        The scenario in the net's units.
    seed
        Of the dropout.
    """
    scenario = scaled.scenario
    edges = both_ways(links(scenario.survivor_positions, scenario.radio_range_m))
    features = planner.features(scaled)[: len(scaled.start)]
    dropout = dropout_generator(planner.dropout, seed)

    def forward(active: Sequence[int]) -> Tensor:
        output: Tensor = net(features, edges, dropout)
        return output[None]

    return OnlineNet(forward, list(net.parameters()))
