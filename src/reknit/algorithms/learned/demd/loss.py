"""DEMD's loss: displacement and the centroid's distance from the middle, balanced by GradNorm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from reknit.algorithms.learned.common.case import Case
from reknit.algorithms.learned.common.gradnorm import GradNorm, gradient_norms
from reknit.algorithms.learned.common.loss import Judged, judge
from reknit.algorithms.learned.demd.network import DemdNetwork
from reknit.base.types import FloatArray, IntArray
from reknit.network.links import degrees

if TYPE_CHECKING:
    from reknit.algorithms.learned.demd.planner import Demd


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
                _output_shares(targets, case) if self._shares is None else self._shares[branch]
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


def _output_shares(targets: FloatArray, case: Case) -> FloatArray:
    """Share of each UAV in the centroid."""
    return degree_shares(degrees(targets, case.scenario.radio_range_m))


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
