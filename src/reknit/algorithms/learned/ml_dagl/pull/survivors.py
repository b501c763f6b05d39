"""What the net is told of a swarm: its survivors, and spanning trees to pull on.

Lengths are in units of d, the length a planned link may have, and positions about their mean,
so that nothing depends on where a swarm is or in which unit it was measured. Swarms in the plane
get a third coordinate, which stays 0: the net turns with what it is given, so one set of
weights serves the plane and space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from reknit.algorithms.learned.ml_dagl.attention import DamageHops
from reknit.algorithms.objective import needed_move_m
from reknit.algorithms.tree_starts import drawn_trees
from reknit.base.context import never
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.swarm.scenario import Scenario

SPACE = 3
"""Coordinates of every position the net sees."""

HOPS = (1, 2, 3, 4)
"""Dilation sizes k whose damage-attentive graphs (mDAG) are looked at."""

_NOISE = 0.2
"""Scale of the noise on lengths by which trees are drawn, as a share of how far UAVs must move."""

_LEAST_NEED = 0.01
"""Movements are measured in what is needed, but in no less than this share of d."""


@dataclass(frozen=True, eq=False)
class Survivors:
    """One swarm after the damage.

    Parameters
    ----------
    centre_m
        (dim,) the mean of the survivors' positions, metres.
    unit_m
        d in metres, the unit of everything else.
    start
        (n, 3) positions about the centre.
    trees
        (B, n - 1, 2) spanning trees of links they could have, the EMST first.
    need
        How far UAVs must move at least.
    delay
        (n,) how much longer a survivor flies a metre than the fastest one does.
    fixed
        (n,) anchors.
    damage
        (n, K, 4) for each dilation size k: log(1 + destroyed UAVs within k hops), and the mean
        way to them, which is what one B-GCO over the mDAG moves a survivor by, up to eps.
    """

    centre_m: FloatArray
    unit_m: float
    start: FloatArray
    trees: IntArray
    need: float
    delay: FloatArray
    fixed: BoolArray
    damage: FloatArray

    @staticmethod
    def of(
        scenario: Scenario,
        trees: int,
        rng: np.random.Generator,
        *,
        attention: bool,
        is_over: Callable[[], bool] = never,
    ) -> Survivors:
        """Look at a scenario.

        Parameters
        ----------
        scenario
            The swarm.
        trees
            How many spanning trees: the EMST and others drawn near it.
        rng
            What draws them.
        attention
            Whether to look for the damage; otherwise `damage` is all zeros.
        is_over
            Asked before every tree whether to draw no more.
        """
        positions, unit_m = scenario.survivor_positions, scenario.planning_range_m
        need_m = needed_move_m(scenario)
        drawn = drawn_trees(positions, unit_m, _NOISE * need_m, trees, rng, is_over)
        centre_m = positions.mean(axis=0)
        speeds_mps = scenario.max_speed_mps[scenario.survivors]
        return Survivors(
            centre_m,
            unit_m,
            _in_space((positions - centre_m) / unit_m),
            drawn,
            max(_LEAST_NEED, need_m / unit_m),
            speeds_mps.max() / speeds_mps,
            np.isin(scenario.survivors, scenario.anchors),
            _damage(scenario, unit_m) if attention else np.zeros((len(positions), len(HOPS), 4)),
        )

    def metres(self, output: Tensor) -> FloatArray:
        """(B, n, 3) outputs as targets in metres; anchors stay."""
        dim = len(self.centre_m)
        own = output.detach().double().numpy()
        own[:, self.fixed] = self.start[self.fixed]
        return np.asarray(own[:, :, :dim] * self.unit_m + self.centre_m)


@dataclass(frozen=True, eq=False)
class PullGraph:
    """Several swarms, or copies of one with a tree each, in one graph.

    Parameters
    ----------
    start
        (n, 3) positions.
    near, far
        (links,) both ends of each link of the trees in both directions: who is pulled, and
        towards whom.
    need, delay, moves, size
        (n,) the swarm's need, the survivor's delay, 0 for anchors and 1 for others, and log n.
    damage
        (n, K, 4), see `Survivors`.
    swarm, swarms
        (n,) which swarm a survivor belongs to, and how many there are.
    """

    start: Tensor
    near: Tensor
    far: Tensor
    need: Tensor
    delay: Tensor
    moves: Tensor
    size: Tensor
    damage: Tensor
    swarm: Tensor
    swarms: int

    @staticmethod
    def of(swarms: Sequence[Survivors], trees: Sequence[int]) -> PullGraph:
        """Put swarms side by side, each with the tree of the given number."""
        sizes = [len(swarm.start) for swarm in swarms]
        offsets = np.cumsum([0, *sizes[:-1]])
        edges = np.concatenate(
            [
                swarm.trees[tree] + offset
                for swarm, tree, offset in zip(swarms, trees, offsets, strict=True)
            ]
        )
        near, far = np.concatenate([edges, edges[:, ::-1]]).T
        return PullGraph(
            start=_floats([swarm.start for swarm in swarms]),
            near=torch.from_numpy(near.copy()),
            far=torch.from_numpy(far.copy()),
            need=_floats([np.full(len(swarm.start), swarm.need) for swarm in swarms]),
            delay=_floats([swarm.delay for swarm in swarms]),
            moves=_floats([~swarm.fixed for swarm in swarms]),
            size=_floats([np.full(count, np.log(count)) for count in sizes]),
            damage=_floats([swarm.damage for swarm in swarms]),
            swarm=torch.from_numpy(np.repeat(np.arange(len(swarms)), sizes)),
            swarms=len(swarms),
        )


def _damage(scenario: Scenario, unit_m: float) -> FloatArray:
    """See `Survivors.damage`."""
    positions, lost = scenario.survivor_positions, scenario.destroyed_positions
    nodes = len(positions)
    damage = np.zeros((nodes, len(HOPS), 1 + SPACE))
    hops = DamageHops.of(scenario, HOPS)
    for number, k in enumerate(HOPS):
        row, column = hops.pairs(k)
        count = np.bincount(row, minlength=nodes)
        damage[:, number, 0] = np.log1p(count)
        way = (lost[column] - positions[row]) / unit_m
        for axis in range(positions.shape[1]):
            total = np.bincount(row, way[:, axis], minlength=nodes)
            damage[:, number, 1 + axis] = total / np.maximum(count, 1)
    return damage


def _in_space(points: FloatArray) -> FloatArray:
    return np.pad(points, ((0, 0), (0, SPACE - points.shape[1])))


def _floats(parts: Sequence[FloatArray] | Sequence[BoolArray]) -> Tensor:
    return torch.from_numpy(np.concatenate(parts).astype(np.float32))
