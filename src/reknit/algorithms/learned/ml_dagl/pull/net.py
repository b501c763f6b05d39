"""A net whose layers pull survivors along links; no online training.

Every survivor i has a place x_i, which begins at its position p_i, a last move v_i and features
h_i. A layer looks at each of its links in a spanning tree, to j, with the unit vector u_ij
towards it:

    a_ij = MLP(h_i, h_j, lengths now and before, how far each has moved and along the link)
    h_i <- h_i + MLP(h_i, sum_j a_ij, how far i and the farthest have moved)
    v_i <- sum_j tanh(c . a_ij) (0.3 + e_ij) s u_ij + beta_i v_i - gamma_i (x_i - p_i)
    x_i <- x_i + v_i

e_ij is what the link lacks and s how far UAVs must move at least. The
first sum, written as ``x - eps L_a x`` with the Laplacian of the learned weights, is the paper's
graph convolution with links between survivors and weights that depend on where they are. A
survivor is told lengths and products of vectors alone, so the outputs turn, shift and permute
with the inputs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import silu

from reknit.algorithms.learned.common.layers import BareLinear
from reknit.algorithms.learned.ml_dagl.pull.survivors import HOPS, PullGraph
from reknit.base.errors import InvalidParameter

AIM = 0.99
"""Links of a tree are aimed this share of d long."""

_IDLE = 0.3
"""Strength of a pull along a link that lacks nothing, beside what a link lacks."""

_MOST_LACK, _MOST_MOVE, _MOST_ALONG = 4.0, 8.0, 5.0
"""Features are cut off here, in units of the need."""

_SOFT = 1e-3
"""Added to squared lengths before they divide: UAVs at one place have no direction."""

_TINY = 1e-12
_LINK_FEATURES, _NODE_FEATURES, _FIRST_FEATURES = 8, 4, 5


@dataclass(frozen=True)
class PullShape:
    """What decides the names and shapes of the weights, and what the net looks at.

    Parameters
    ----------
    hidden
        Features of a survivor.
    blocks
        Layers with weights of their own.
    repeats
        How often each is applied in a row.
    attention
        Whether the damage is looked at (MBDA): every dilation size at once, with learned weights.
    links
        Whether survivors tell each other anything; without, each sees itself alone.
    """

    hidden: int = 32
    blocks: int = 6
    repeats: int = 4
    attention: bool = False
    links: bool = True

    def __post_init__(self) -> None:
        for name in ("hidden", "blocks", "repeats"):
            if getattr(self, name) < 1:
                raise InvalidParameter(name, getattr(self, name), "a whole number of at least 1")

    @property
    def layers(self) -> int:
        """How many layers are applied."""
        return self.blocks * self.repeats


@dataclass(frozen=True, eq=False)
class PullState:
    """Where a pass is: (n, 3) places and last moves, (n, hidden) features."""

    positions: Tensor
    move: Tensor
    features: Tensor

    def of_copies(self, chosen: Tensor, copies: int) -> PullState:
        """The state of some of several copies of one swarm."""

        def rows(values: Tensor) -> Tensor:
            return values.view(copies, -1, values.shape[1])[chosen].flatten(0, 1)

        return PullState(rows(self.positions), rows(self.move), rows(self.features))


class PullNet(nn.Module):
    """The net; see the module's text."""

    def __init__(self, shape: PullShape, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.shape = shape
        hidden = shape.hidden
        seen = 2 * len(HOPS) if shape.attention else 0
        self.first = _Mlp(_FIRST_FEATURES + seen, hidden, generator)
        self.layers = nn.ModuleList(_Layer(hidden, generator) for _ in range(shape.blocks))
        if shape.attention:
            self.attend = _linear(hidden, len(HOPS), generator)

    def begin(self, graph: PullGraph) -> PullState:
        """Nobody has moved yet."""
        count = len(graph.start)
        known = [
            torch.zeros(count).index_add(0, graph.near, torch.ones(len(graph.near))) / 3.0,
            graph.need.log(),
            graph.size / 5.0,
            graph.delay.log(),
            graph.moves,
        ]
        rows = torch.stack(known, dim=1)
        move = torch.zeros_like(graph.start)
        if not self.shape.attention:
            return PullState(graph.start, move, self.first(rows))
        way = graph.damage[:, :, 1:]
        rows = torch.cat([rows, graph.damage[:, :, 0], way.norm(dim=2)], dim=1)
        features: Tensor = self.first(rows)
        weight = torch.tanh(self.attend(features))
        move = (weight[:, :, None] * way).sum(dim=1) * graph.need[:, None]
        return PullState(graph.start, move * graph.moves[:, None], features)

    def advance(self, graph: PullGraph, state: PullState, number: int) -> PullState:
        """The state after the layer of that number, counted from 0."""
        layer = self.layers[number // self.shape.repeats]
        assert isinstance(layer, _Layer)
        return layer.advance(graph, state, self.shape.links)

    def forward(self, graph: PullGraph) -> list[Tensor]:
        """The survivors' places after every layer, (n, 3) each."""
        places = []
        state = self.begin(graph)
        for number in range(self.shape.layers):
            state = self.advance(graph, state, number)
            places.append(state.positions)
        return places


class _Layer(nn.Module):
    def __init__(self, hidden: int, generator: torch.Generator | None) -> None:
        super().__init__()
        self.own = _linear(hidden, hidden, generator)
        self.other = _linear(hidden, hidden, generator, bias=False)
        self.link = _linear(_LINK_FEATURES, hidden, generator, bias=False)
        self.message = _linear(hidden, hidden, generator)
        self.pull = _linear(hidden, 1, generator, scale=0.1)
        self.node = _Mlp(2 * hidden + _NODE_FEATURES, hidden, generator)
        self.hold = _linear(hidden, 2, generator, scale=0.1)

    def advance(self, graph: PullGraph, state: PullState, links: bool) -> PullState:
        near, far = graph.near, graph.far
        positions, features = state.positions, state.features
        way = positions[far] - positions[near]
        length = (way.square().sum(dim=1) + _SOFT).sqrt()
        towards = way / length[:, None]
        gone = positions - graph.start
        moved = (gone.square().sum(dim=1) + _TINY).sqrt() * graph.delay / graph.need
        moved = moved.clamp(max=_MOST_MOVE)
        need = graph.need[near]
        lack = (torch.relu(length - AIM) / need).clamp(max=_MOST_LACK)
        before = (graph.start[far] - graph.start[near]).norm(dim=1)
        facts = torch.stack(
            [
                length,
                before,
                ((length - 1.0) / need * 0.1).clamp(-1.0, 1.0),
                torch.log1p(lack),
                _along(gone[near], towards, need),
                _along(gone[far], towards, need),
                moved[near],
                moved[far],
            ],
            dim=1,
        )
        messages = silu(self.own(features)[near] + self.other(features)[far] + self.link(facts))
        messages = silu(self.message(messages))
        if not links:
            messages = torch.zeros_like(messages)
        received = torch.zeros_like(features).index_add(0, near, messages) * 0.5
        # The maximum is only told, not learned through.
        most = torch.zeros(graph.swarms).scatter_reduce(0, graph.swarm, moved.detach(), "amax")
        farthest = most[graph.swarm]
        known = torch.stack([moved, farthest, farthest - moved, graph.size / 5.0], dim=1)
        features = features + self.node(torch.cat([features, received, known], dim=1))
        hold = torch.sigmoid(self.hold(features) - 1.0)
        strength = torch.tanh(self.pull(messages)) * ((lack + _IDLE) * need)[:, None]
        if not links:
            strength = torch.zeros_like(strength)
        move = torch.zeros_like(positions).index_add(0, near, strength * towards)
        move = move + hold[:, :1] * state.move - hold[:, 1:] * gone
        move = move * graph.moves[:, None]
        return PullState(positions + move, move, features)


class _Mlp(nn.Module):
    def __init__(self, inputs: int, outputs: int, generator: torch.Generator | None) -> None:
        super().__init__()
        self.inner = _linear(inputs, outputs, generator)
        self.outer = _linear(outputs, outputs, generator)

    def forward(self, rows: Tensor) -> Tensor:
        result: Tensor = self.outer(silu(self.inner(rows)))
        return result


def _linear(
    inputs: int,
    outputs: int,
    generator: torch.Generator | None,
    *,
    bias: bool = True,
    scale: float = 1.0,
) -> nn.Linear:
    """A layer with weights drawn within ``1 / sqrt(inputs)``, times `scale`."""
    layer = BareLinear(inputs, outputs, bias)
    limit = scale / inputs**0.5
    with torch.no_grad():
        layer.weight.uniform_(-limit, limit, generator=generator)
        if bias:
            layer.bias.uniform_(-limit, limit, generator=generator)
            layer.bias.mul_(0.0 if scale < 1.0 else 1.0)
    return layer


def _along(gone: Tensor, towards: Tensor, need: Tensor) -> Tensor:
    """How far somebody has moved along a link, in units of the need."""
    return ((gone * towards).sum(dim=1) / need).clamp(-_MOST_ALONG, _MOST_ALONG)


def tensor_shapes(shape: PullShape) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight, as they must stand in a weight file."""
    return {name: tuple(tensor.shape) for name, tensor in PullNet(shape).state_dict().items()}


def pull_weight_name(shape: PullShape) -> str:
    """Name of a weight file; it tells what the net differs by from the shipped one."""
    usual = PullShape()
    switches = [
        (f"-{'with' if on else 'without'}-{name}")
        for name, on, is_usual in (
            ("attention", shape.attention, usual.attention),
            ("links", shape.links, usual.links),
        )
        if on != is_usual
    ]
    return "".join(["default", *switches, ".safetensors"])
