"""DEMD: damage embedding and multi-hop convolution, balanced by GradNorm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn
from torch.nn import functional

from reknit.algorithms.learned.common.baseline import Baseline, Model
from reknit.algorithms.learned.common.case import Case
from reknit.algorithms.learned.common.gradnorm import GradNorm, gradient_norms
from reknit.algorithms.learned.common.layers import (
    ConvolutionStack,
    as_tensor,
    contracting_kernel,
    drop,
    dropout_generator,
    fill,
    layer_sizes,
    without_values,
)
from reknit.algorithms.learned.common.loss import Judged, judge
from reknit.algorithms.learned.common.online import OnlineRule
from reknit.algorithms.parameters import Hops, Iterations, LearningRate, Range, Share
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter
from reknit.base.types import FloatArray, IntArray
from reknit.network.hops import hops_within
from reknit.network.links import adjacency, degrees
from reknit.swarm.scenario import Scenario

DEFAULT_HOPS = (4, 5, 6, 7, 8)


@dataclass(frozen=True)
class Demd(Baseline):
    """Destroyed neighbours are embedded in the survivors' features; then k-hop convolutions.

        X^1     = survivors' rows of ReLU(S_0 X_all W^0 + b^0),  S_0 on the original links
        X^(l+1) = ReLU(S_k X^l W^l + b^l),  S_k on survivors at most k original hops apart
        S       = I - (0.99 / ||A||_inf) L  for either graph

    with tanh at the end, scaled to the mission area. The description names no kernel for the
    first layer; it has the same one as the others.

    Loss in metres: ``w_1 max displacement + w_2 |c - b| + penalty (N_s - 1)``, with c the
    centroid of the output weighted by the degrees in its own radio network (equal weights
    where nobody has a link), b the centre of the survivors' bounding box, and w balanced by
    GradNorm over the last layer's weights.

    The other parameters are those of `Baseline`.

    Parameters
    ----------
    hops
        The k to try. Each has a network and a GradNorm of its own; the fastest connected
        output of all is kept.
    keep
        (From which iteration, how many of them go on), lowest loss first.
    gradnorm_alpha
        How strongly GradNorm evens out the pace of the two losses.
    gradnorm_rate
        Step of GradNorm's weights.
    centroid_degrees
        Whose degrees weigh the centroid: those in the radio network of the "output", or those
        in the graph of `hops` on which the network convolves.
    """

    name: ClassVar[str] = "demd"
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {**Baseline.PRESETS["paper"], "learning_rate": 1e-4, "centroid_degrees": "hops"}
    }

    learning_rate: LearningRate = 1e-3
    iterations: Iterations = 50
    hops: tuple[Hops, ...] = DEFAULT_HOPS
    keep: tuple[tuple[Iterations, Annotated[int, Range(least=1)]], ...] = ()
    gradnorm_alpha: Annotated[float, Range(least=0.0, most=100.0)] = 0.12
    gradnorm_rate: Share = 0.025
    centroid_degrees: Literal["output", "hops"] = "output"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < len(self.hops) == len(set(self.hops)):
            raise InvalidParameter("hops", self.hops, "different whole numbers of at least 1")

    @property
    def online(self) -> OnlineRule:
        """The online iterations."""
        return replace(super().online, keep=tuple(self.keep))

    def model(self, case: Case, context: Context) -> Model:
        """One network per k."""
        scenario = case.scenario
        context.progress(0.0, "counting hops")
        embedding = as_tensor(embedding_kernel(scenario)) @ self.features(case)
        graphs = hop_kernels(scenario, self.hops)
        kernels = [as_tensor(kernel) for kernel in graphs]
        generator = torch.Generator().manual_seed(context.seed)
        networks = [DemdNetwork.make(self, scenario.dim, generator) for _ in self.hops]
        dropout = dropout_generator(self.dropout, context.seed)
        by_hops = self.centroid_degrees == "hops"
        shares = [_shares(_degrees(graph)) for graph in graphs] if by_hops else None
        objective = Balanced(self, networks, case, shares)

        def forward(active: Sequence[int]) -> Tensor:
            outputs = [networks[k](embedding, kernels[k], dropout) for k in active]
            return torch.stack(outputs)

        parameters = [one for network in networks for one in network.parameters()]
        details = {"branches": [int(k) for k in self.hops]}
        return Model(forward, parameters, objective, details, branches=len(networks))


class DemdNetwork(nn.Module):
    """The damage embedding's weights, then a stack of convolutions."""

    def __init__(self, planner: Demd, dim: int) -> None:
        super().__init__()
        self.dropout = planner.dropout
        first, *rest = layer_sizes(dim, planner.layers, planner.hidden)
        self.embed = nn.Linear(*first)
        self.stack = ConvolutionStack(rest, planner.dropout)

    @staticmethod
    def make(planner: Demd, dim: int, generator: torch.Generator) -> DemdNetwork:
        """A network with the generator's next weights."""
        network = without_values(lambda: DemdNetwork(planner, dim))
        fill(network, generator)
        assert isinstance(network, DemdNetwork)
        return network

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


class Balanced:
    """DEMD's loss, with the state of each network's GradNorm.

    Parameters
    ----------
    planner
        Its weights and rates.
    networks
        One per k.
    case
        The scenario.
    shares
        (N_R,) each UAV's share in the centroid, per k; None: by the degrees of the output.
    """

    def __init__(
        self,
        planner: Demd,
        networks: Sequence[DemdNetwork],
        case: Case,
        shares: Sequence[FloatArray] | None = None,
    ) -> None:
        self._shares = shares
        self._rule = planner.loss
        self._networks = networks
        rate, alpha = planner.gradnorm_rate, planner.gradnorm_alpha
        self._balance = [GradNorm(2, alpha, rate) for _ in networks]
        start = case.scenario.survivor_positions
        middle = (start.min(axis=0) + start.max(axis=0)) / 2.0
        self._middle = case.scale.to_unit(middle)

    def __call__(self, output: Tensor, case: Case, branches: Sequence[int]) -> Judged:
        judged = judge(output, case, self._rule)
        size_m = case.scale.size_m
        held = case.hold(output)
        delay = torch.from_numpy(case.delay).float()
        moved_m = ((held - case.start).norm(dim=2) * delay).amax(dim=1) * size_m
        weights = np.stack(
            [
                _degree_weights(targets, case) if self._shares is None else self._shares[branch]
                for targets, branch in zip(judged.targets, branches, strict=True)
            ]
        )
        centroid = (held * torch.from_numpy(weights)[:, :, None]).sum(dim=1)
        off_m = (centroid - self._middle).norm(dim=1) * size_m
        extra = []
        for row, branch in enumerate(branches):
            parts = [moved_m[row], off_m[row]]
            balance = self._balance[branch]
            if output.requires_grad:
                norms = gradient_norms(parts, self._networks[branch].last_weight)
                balance.update(np.asarray([float(one.detach()) for one in parts]), norms)
            own, off = balance.weights
            # `judge` has counted the displacement once already.
            extra.append((own - 1.0) * parts[0] + off * parts[1])
        return replace(judged, loss=judged.loss + torch.stack(extra))


def _degree_weights(targets: FloatArray, case: Case) -> FloatArray:
    """Share of each UAV in the centroid."""
    return _shares(degrees(targets, case.scenario.radio_range_m))


def _degrees(kernel: csr_array) -> IntArray:
    """Neighbours of every node of the graph behind a kernel."""
    entries = kernel.tocoo()
    linked = entries.row[(entries.row != entries.col) & (entries.data > 0.0)]
    return np.bincount(linked, minlength=kernel.shape[0])


def _shares(degree: IntArray) -> FloatArray:
    """Degrees scaled to sum one; equal where nobody has a link."""
    share = degree.astype(np.float32)
    if share.sum() == 0:
        share += 1.0
    return np.asarray(share / share.sum())


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
