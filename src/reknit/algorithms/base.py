"""What a planner is: the two protocols, what they are given and what they give back.

A planner is a frozen dataclass whose fields are its parameters. It either proposes targets once
(`TargetPlanner`) or steers at every step (`SteeringPlanner`); a `Polisher` improves targets that
another planner proposed and is what stands after the plus sign in ``"gcn+contraction"``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from reknit.errors import InvalidParameter
from reknit.plans.certificate import Certificate
from reknit.plans.status import Status
from reknit.scenario.scenario import Scenario
from reknit.types import FloatArray, JsonDict

Progress = Callable[[float, str], None]
"""Told how much is done (0 to 1) and what is being done."""


def silent(fraction: float, message: str) -> None:
    """A `Progress` that nobody looks at."""


@dataclass(frozen=True)
class Budget:
    """A limit on computing time, from the moment it is made. None: no limit."""

    seconds: float | None = None
    _started_s: float = field(default_factory=time.perf_counter, repr=False)

    def __post_init__(self) -> None:
        if self.seconds is not None and not (np.isfinite(self.seconds) and self.seconds >= 0):
            raise InvalidParameter("budget_s", self.seconds, "None or a number of at least 0")

    @property
    def elapsed_s(self) -> float:
        """Time since the budget was made."""
        return time.perf_counter() - self._started_s

    @property
    def left_s(self) -> float:
        """Time left, infinite without a limit; negative once it is over."""
        return np.inf if self.seconds is None else self.seconds - self.elapsed_s

    @property
    def is_over(self) -> bool:
        """Whether the limit has passed."""
        return self.left_s <= 0


@dataclass(frozen=True)
class Context:
    """What a planner is given beside the scenario."""

    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    progress: Progress = silent

    @property
    def rng(self) -> np.random.Generator:
        """A generator that starts from the seed; the only source of randomness."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True, eq=False)
class Proposal:
    """Targets from a planner, before anybody checked them.

    targets      (N_R, dim) in the order of ``scenario.survivors``.
    status       only what cannot be seen from the targets: DEADLINE when the budget cut the
                 work short, NOT_FOUND or INFEASIBLE when no targets meet the demands.
    certificate  a bound better than the scenario's own, if the planner proved one.
    details      JSON-ready facts worth keeping, such as the number of iterations.
    """

    targets: FloatArray
    status: Status | None = None
    certificate: Certificate | None = None
    details: JsonDict = field(default_factory=dict)


@runtime_checkable
class TargetPlanner(Protocol):
    """Computes targets once; every survivor then flies straight to its own."""

    def propose(self, scenario: Scenario, context: Context) -> Proposal:
        """Targets for a scenario that is not connected yet."""
        ...


class Controller(Protocol):
    """Steers a flight: called once per step."""

    def __call__(self, positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
        """(N_R, dim) velocities for the next step; none above the UAV's speed limit."""
        ...


@runtime_checkable
class SteeringPlanner(Protocol):
    """Makes no plan; steers every survivor at every step."""

    def controller(self, scenario: Scenario, context: Context) -> Controller:
        """A fresh controller for one flight."""
        ...


@runtime_checkable
class Polisher(Protocol):
    """Improves what another planner proposed."""

    def polish(self, scenario: Scenario, proposal: Proposal, context: Context) -> Proposal:
        """A proposal at least as good."""
        ...
