"""One scenario as a net sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from reknit.algorithms.objective import needed_move_m
from reknit.base.types import BoolArray, FloatArray
from reknit.swarm.objective import planned_time_s
from reknit.swarm.scenario import Scenario

_AREA_INPUT_M = 500.0
_LEAST_M = 1.0
"""Half the side of the area of UAVs that are all in one place."""


@dataclass(frozen=True, eq=False)
class Scale:
    """``X_norm = (X - p_c) / (D + 1)`` and its inverse.

    Parameters
    ----------
    centre
        p_c, the mean position of all N UAVs at t_0.
    size_m
        D + 1, with D the largest distance of a UAV from p_c.
    input_m
        What positions are divided by on their way in, if not by `size_m`.
    """

    centre: FloatArray
    size_m: float
    input_m: float | None = None

    @staticmethod
    def of(scenario: Scenario) -> Scale:
        """The paper's normalisation of one swarm, destroyed UAVs included."""
        centre = scenario.positions.mean(axis=0)
        distance = np.sqrt(((scenario.positions - centre) ** 2).sum(axis=1))
        return Scale(centre, float(distance.max()) + 1.0)

    @staticmethod
    def of_area(scenario: Scenario) -> Scale:
        """About the centre of the area: 500 m are one on the way in, half its side on the way out.

        The area is the smallest upright square around all N UAVs.
        """
        low, high = scenario.positions.min(axis=0), scenario.positions.max(axis=0)
        half_side_m = max(float((high - low).max()) / 2.0, _LEAST_M)
        return Scale((low + high) / 2.0, half_side_m, _AREA_INPUT_M)

    def to_unit(self, positions_m: FloatArray) -> Tensor:
        """Metres to the float32 numbers of the net's input."""
        size_m = self.size_m if self.input_m is None else self.input_m
        return torch.from_numpy(((positions_m - self.centre) / size_m).astype(np.float32))

    def to_metres(self, unit: Tensor) -> FloatArray:
        """A net's output in metres, ``(D + 1) X + p_c``, in float64."""
        values = unit.detach().double().numpy()
        return np.asarray(values * self.size_m + self.centre)


@dataclass(frozen=True, eq=False)
class ScaledScenario:
    """A scenario in a net's units.

    Parameters
    ----------
    unit
        (N, dim) normalised positions, survivors before destroyed UAVs (X_in); at the end the
        virtual node, if there is one.
    start
        (N_R, dim) the survivors' rows of it.
    delay
        (N_R,) how much longer a survivor flies a metre than the fastest one does.
    fixed
        (N_R,) anchors; their targets are where they are.
    """

    scenario: Scenario
    scale: Scale
    unit: Tensor
    start: Tensor
    delay: FloatArray
    fixed: BoolArray

    @staticmethod
    def of(
        scenario: Scenario, scale: Scale | None = None, *, virtual_node: bool = False
    ) -> ScaledScenario:
        """Normalise one scenario.

        Parameters
        ----------
        scale
            By default the paper's.
        virtual_node
            Whether a node at the centre follows the UAVs.
        """
        scale = Scale.of(scenario) if scale is None else scale
        ordered = [scenario.survivor_positions, scenario.destroyed_positions]
        if virtual_node:
            ordered.append(scale.centre[None])
        unit = scale.to_unit(np.concatenate(ordered))
        speeds = scenario.max_speed_mps[scenario.survivors]
        delay = speeds.max() / speeds
        fixed = np.isin(scenario.survivors, scenario.anchors)
        return ScaledScenario(scenario, scale, unit, unit[: len(speeds)], delay, fixed)

    @cached_property
    def need(self) -> float:
        """How far UAVs must move at least, in the net's units; see `needed_move_m`."""
        return needed_move_m(self.scenario) / self.scale.size_m

    def hold(self, output: Tensor) -> Tensor:
        """The outputs with anchors put back to where they are, so that no gradient moves them."""
        if not self.fixed.any():
            return output
        return torch.where(torch.from_numpy(self.fixed)[:, None], self.start, output)

    def time_s(self, targets: FloatArray) -> float:
        """Planned T_rc of one set of targets."""
        return planned_time_s(self.scenario, targets)

    def targets(self, output: Tensor) -> FloatArray:
        """(B, N_R, dim) outputs as targets in metres; anchors stay."""
        targets = self.scale.to_metres(output)
        if self.fixed.any():
            targets[:, self.fixed] = self.scenario.survivor_positions[self.fixed]
        return targets
