"""What the graph nets of the baselines are made of: kernels, dropout, first weights.

Nothing here draws from torch's global generator: nets are built without values and filled
from a generator that is passed in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from threading import Lock

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn
from torch.nn import functional

from reknit.base.types import IntArray
from reknit.network.links import adjacency

NEAR_BOUND = 0.99
"""Share of 1 / ||A||_inf that the contracting kernel's step takes."""

_SPARSE_FROM = 1_000
_SPARSE_BELOW = 0.1
"""Kernels of at least so many rows, and of at most this share of nonzero entries, stay sparse."""


_BUILDING = Lock()


def contracting_kernel(pairs: IntArray, nodes: int) -> csr_array:
    """``S = I - eps L`` with ``L = D - A`` and ``eps = 0.99 / ||A||_inf``.

    ||A||_inf is the largest degree, so the rows of S are non-negative and sum to one: every
    product with S moves features towards those of the neighbours and never apart.
    """
    links = adjacency(pairs, nodes).astype(np.float64)
    degree = np.asarray(links.sum(axis=1))
    step = NEAR_BOUND / max(1.0, float(degree.max(initial=0.0)))
    diagonal = csr_array((1.0 - step * degree, (np.arange(nodes), np.arange(nodes))))
    return csr_array(diagonal + step * links)


def as_tensor(kernel: csr_array) -> Tensor:
    """A kernel for torch: dense while that is quicker, sparse for large swarms."""
    rows, columns = kernel.shape
    if rows < _SPARSE_FROM or kernel.nnz > _SPARSE_BELOW * rows * columns:
        return torch.from_numpy(kernel.toarray().astype(np.float32))
    entries = kernel.tocoo()
    index = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
    values = torch.from_numpy(entries.data.astype(np.float32))
    return torch.sparse_coo_tensor(index, values, kernel.shape, check_invariants=False).coalesce()


def drop(features: Tensor, rate: float, generator: torch.Generator | None) -> Tensor:
    """Dropout from a generator of its own; none without a generator."""
    if generator is None or rate == 0.0:
        return features
    return features * dropout_mask(features.shape, rate, generator)


def dropout_mask(shape: Sequence[int], rate: float, generator: torch.Generator) -> Tensor:
    """What dropout multiplies features with: zero, or what makes up for the zeros."""
    return torch.empty(*shape).bernoulli_(1.0 - rate, generator=generator).div_(1.0 - rate)


def dropout_generator(rate: float, seed: int) -> torch.Generator | None:
    """The generator of a planner's dropout; None where there is none."""
    return torch.Generator().manual_seed(seed) if rate > 0.0 else None


def without_values(build: Callable[[], nn.Module]) -> nn.Module:
    """A module whose weights are memory without values yet; `fill` gives them some.

    Torch keeps the device of this block in a variable of the process, so that two threads must
    not be inside at once.
    """
    with _BUILDING, torch.device("meta"):
        module = build()
    return module.to_empty(device="cpu")


@torch.no_grad()
def fill(module: nn.Module, generator: torch.Generator) -> None:
    """First weights: Glorot uniform for matrices, zero for biases, one for norms' gains.

    Glorot is what GCN and GATv2 were published with; eight such layers with ReLU give outputs
    close to one point, so that training starts from a connected swarm.
    """
    for name, parameter in module.named_parameters():
        if parameter.dim() >= 2:
            limit = math.sqrt(6.0 / (parameter.shape[-2] + parameter.shape[-1]))
            parameter.uniform_(-limit, limit, generator=generator)
        elif name.endswith("weight"):
            parameter.fill_(1.0)
        else:
            parameter.zero_()


def layer_sizes(dim: int, layers: int, hidden: int) -> tuple[tuple[int, int], ...]:
    """(d_in, d_out) of every layer, from positions through hidden features to positions."""
    widths = [dim, *[hidden] * (layers - 1), dim]
    return tuple(pairwise(widths))


class ConvolutionStack(nn.Module):
    """``X <- ReLU(S X W + b)`` with dropout, layer after layer; ``tanh`` in place of the last ReLU.

    S is any kernel, given at every call, so the weights serve any number of nodes.
    """

    def __init__(self, sizes: Sequence[tuple[int, int]], dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in sizes)

    @property
    def linear_layers(self) -> list[nn.Linear]:
        """Every layer's W and b."""
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]

    def forward(
        self, features: Tensor, kernel: Tensor, generator: torch.Generator | None = None
    ) -> Tensor:
        """(n, d) features and an (n, n) kernel to (n, dim) in (-1, 1)."""
        *inner, last = self.linear_layers
        for layer in inner:
            features = functional.relu(convolve(features, kernel, layer))
            features = drop(features, self.dropout, generator)
        return torch.tanh(convolve(features, kernel, last))


def convolve(features: Tensor, kernel: Tensor, layer: nn.Linear) -> Tensor:
    """``S X W + b``; the product with S is taken on the narrower side of W."""
    if layer.in_features <= layer.out_features:
        result: Tensor = layer(kernel @ features)
        return result
    return kernel @ functional.linear(features, layer.weight) + layer.bias


class BareLinear(nn.Linear):
    """A layer whose weights nobody has drawn yet: torch would take them from its global state."""

    def reset_parameters(self) -> None:
        """Leave them."""
