"""The validation set of pre-training: cases that no training seed ever draws."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from reknit.algorithms.learned.common.case import Case
from reknit.algorithms.learned.common.online import Outcome, iterate
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
    cases: tuple[tuple[str, Case, Kernel], ...]

    @staticmethod
    def of(config: PretrainConfig) -> Validation:
        """Draw the cases."""
        cases = []
        settings = config.settings
        for uavs, lost in config.validation:
            for number in range(config.validation_cases):
                scenario = generate(
                    uavs, lost, FIRST_SEED + number, split=True, dim=config.shape.dim
                )
                hops = settings.hops(scenario)
                kernel = settings.kernel(hops, hops.chosen)
                cases.append((f"{uavs}-{lost}", Case.of(scenario), kernel))
        return Validation(config, tuple(cases))

    def look(self, network: Dgcn) -> JsonDict:
        """Share connected and mean planned time (of those) after 0, 5, ... online iterations."""
        figures: JsonDict = {}
        for iterations in self.config.validation_iterations:
            found: dict[str, list[float]] = {}
            for name, case, kernel in self.cases:
                outcome = self._run(network, case, kernel, iterations)
                time_s = outcome.solutions[0].time_s if outcome.solutions else np.inf
                found.setdefault(name, []).append(time_s)
            figures[str(iterations)] = {name: _summary(times) for name, times in found.items()}
        return figures

    def _run(self, network: Dgcn, case: Case, kernel: Kernel, iterations: int) -> Outcome:
        own = copy.deepcopy(network)
        settings = self.config.settings

        def forward(active: Sequence[int]) -> Tensor:
            output: Tensor = own(case.unit, kernel.of_branches(active))
            return output

        return iterate(
            forward,
            lambda _: own.parameters(),
            len(kernel.own),
            case,
            settings.loss,
            replace(settings.online, iterations=iterations),
            Context(),
            emst_bound(case.scenario).bound_s,
        )


def _summary(times_s: list[float]) -> JsonDict:
    connected = [one for one in times_s if np.isfinite(one)]
    return {
        "connected": round(len(connected) / len(times_s), 3),
        "planned_s": round(float(np.mean(connected)), 3) if connected else None,
    }
