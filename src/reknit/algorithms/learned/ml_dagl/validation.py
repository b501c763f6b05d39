"""The validation set of pre-training: cases that no training seed ever draws."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from reknit.algorithms.learned.common.online import Outcome, iterate
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.ml_dagl.dgcn import Dgcn
from reknit.algorithms.learned.ml_dagl.kernel import Kernel
from reknit.algorithms.learned.ml_dagl.recipe import PretrainConfig
from reknit.base.context import Context
from reknit.base.types import JsonDict
from reknit.exact.proof.bounds import emst_bound
from reknit.swarm.generate import generate

FIRST_SEED = 900_000
"""Training draws its seeds from 2^62, so meeting one of these is next to impossible."""


@dataclass(frozen=True, eq=False)
class Validation:
    """Fixed cases, each with the kernels of all its branches."""

    config: PretrainConfig
    swarms: tuple[tuple[str, ScaledScenario, Kernel], ...]

    @staticmethod
    def of(config: PretrainConfig) -> Validation:
        """Draw the swarms."""
        swarms = []
        settings = config.settings
        for uavs, lost in config.validation:
            for number in range(config.validation_cases):
                scenario = generate(
                    uavs, lost, FIRST_SEED + number, split=True, dim=config.shape.dim
                )
                hops = settings.hops(scenario)
                kernel = settings.kernel(hops, hops.chosen)
                swarms.append((f"{uavs}-{lost}", settings.scaled(scenario), kernel))
        return Validation(config, tuple(swarms))

    def look(self, net: Dgcn) -> JsonDict:
        """Share connected and mean planned time (of those) after 0, 5, ... online iterations."""
        figures: JsonDict = {}
        for iterations in self.config.validation_iterations:
            times_by_swarm: dict[str, list[float]] = {}
            for name, scaled, kernel in self.swarms:
                outcome = self._run(net, scaled, kernel, iterations)
                time_s = outcome.solutions[0].time_s if outcome.solutions else np.inf
                times_by_swarm.setdefault(name, []).append(time_s)
            figures[str(iterations)] = {
                name: _summary(times) for name, times in times_by_swarm.items()
            }
        return figures

    def _run(self, net: Dgcn, scaled: ScaledScenario, kernel: Kernel, iterations: int) -> Outcome:
        own = copy.deepcopy(net)
        settings = self.config.settings

        def forward(active: Sequence[int]) -> Tensor:
            output: Tensor = own(scaled.unit, kernel.of_branches(active))
            return output

        return iterate(
            forward,
            lambda _: own.parameters(),
            len(kernel.own),
            scaled,
            settings.loss,
            replace(settings.online, iterations=iterations),
            Context(),
            emst_bound(scaled.scenario).bound_s,
        )


def _summary(times_s: list[float]) -> JsonDict:
    connected = [time_s for time_s in times_s if np.isfinite(time_s)]
    return {
        "connected": round(len(connected) / len(times_s), 3),
        "planned_s": round(float(np.mean(connected)), 3) if connected else None,
    }
