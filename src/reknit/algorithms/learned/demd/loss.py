"""DEMD's loss: displacement and the centroid's distance from the middle, balanced by GradNorm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from reknit.algorithms.learned.common.gradnorm import GradNorm, gradient_norms
from reknit.algorithms.learned.common.loss import Judged, judge
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.demd.net import DemdNet
from reknit.base.types import FloatArray, IntArray
from reknit.network.links import degrees

if TYPE_CHECKING:
    from reknit.algorithms.learned.demd.planner import Demd


class Balanced:
    """DEMD's loss, with the state of each net's GradNorm.

    Parameters
    ----------
    planner
        Its weights and rates.
    nets
        The nets, one per k.
    scaled
        The scenario in the nets' units.
    shares
        (N_R,) each UAV's share in the centroid, per k; None: by the degrees of the output.
    """

    def __init__(
        self,
        planner: Demd,
        nets: Sequence[DemdNet],
        scaled: ScaledScenario,
        shares: Sequence[FloatArray] | None = None,
    ) -> None:
        self._shares = shares
        self._rule = planner.loss
        self._nets = nets
        rate, alpha = planner.gradnorm_rate, planner.gradnorm_alpha
        self._balance = [GradNorm(2, alpha, rate) for _ in nets]
        start = scaled.scenario.survivor_positions
        middle = (start.min(axis=0) + start.max(axis=0)) / 2.0
        self._middle = scaled.scale.to_unit(middle)

    def __call__(self, output: Tensor, scaled: ScaledScenario, branches: Sequence[int]) -> Judged:
        judged = judge(output, scaled, self._rule)
        size_m = scaled.scale.size_m
        held = scaled.hold(output)
        delay = torch.from_numpy(scaled.delay).float()
        moved_m = ((held - scaled.start).norm(dim=2) * delay).amax(dim=1) * size_m
        weights = np.stack(
            [
                _output_shares(targets, scaled) if self._shares is None else self._shares[branch]
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
                norms = gradient_norms(parts, self._nets[branch].last_weight)
                balance.update(np.asarray([float(part.detach()) for part in parts]), norms)
            own, off = balance.weights
            # `judge` has counted the displacement once already.
            extra.append((own - 1.0) * parts[0] + off * parts[1])
        return replace(judged, loss=judged.loss + torch.stack(extra))


def _output_shares(targets: FloatArray, scaled: ScaledScenario) -> FloatArray:
    """Share of each UAV in the centroid."""
    return degree_shares(degrees(targets, scaled.scenario.radio_range_m))


def graph_degrees(kernel: csr_array) -> IntArray:
    """Neighbours of every node of the graph behind a kernel."""
    entries = kernel.tocoo()
    linked = entries.row[(entries.row != entries.col) & (entries.data > 0.0)]
    return np.bincount(linked, minlength=kernel.shape[0])


def degree_shares(degree: IntArray) -> FloatArray:
    """Degrees scaled to sum one; equal where nobody has a link."""
    share = degree.astype(np.float32)
    if share.sum() == 0:
        share += 1.0
    return np.asarray(share / share.sum())
