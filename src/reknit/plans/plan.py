"""`Plan`: where every survivor flies, what it claims, and how it came about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from reknit.base.display import Displayed
from reknit.base.errors import InvalidParameter
from reknit.base.types import FloatArray, JsonDict
from reknit.base.values import is_whole
from reknit.plans.certificate import Certificate
from reknit.plans.status import Status
from reknit.plans.verification import Verification
from reknit.swarm.scenario import Scenario, check_scenario


@dataclass(frozen=True, eq=False)
class Plan(Displayed):
    """Targets for the survivors of one scenario. Frozen; `targets` is read-only.

    Parameters
    ----------
    targets
        (N_R, dim), metres, in the order of ``scenario.survivors``.
    status
        What is known of the plan.
    recovery_time_s
        Planned T_rc of (P1): the largest displacement / v_max.
    certificate
        Proves `lower_bound_s`.
    uavs
        What the survivors are called, in the order of the targets.
    planner, seed, parameters, versions, details
        How the plan came about. This and the times below cannot be checked, so plan files do not
        hold it: a plan that was read has none.
    compute_s
        Time the planner took; the bound's is not part of it. Not a number if it is not known.
    timings_s
        What loading, the bound, the planner and the check took.
    """

    targets: FloatArray
    status: Status
    recovery_time_s: float
    certificate: Certificate
    uavs: tuple[int | str, ...] = ()
    planner: str = ""
    seed: int | None = None
    parameters: JsonDict = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    details: JsonDict = field(default_factory=dict)
    compute_s: float = math.nan
    timings_s: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        is_masked = isinstance(self.targets, np.ma.MaskedArray)
        if not isinstance(self.targets, np.ndarray) or is_masked:
            raise InvalidParameter("plan.targets", self.targets, "an array, a row per survivor")
        if not isinstance(self.certificate, Certificate):
            raise InvalidParameter("plan.certificate", self.certificate, "a reknit.Certificate")
        object.__setattr__(self, "uavs", _labels(self.uavs))

    @property
    def lower_bound_s(self) -> float:
        """No plan for this scenario is faster."""
        return self.certificate.bound_s

    @property
    def gap(self) -> float:
        """``recovery_time_s / lower_bound_s - 1``; infinite where nothing is proved."""
        if not self.status.is_connected:
            return math.inf
        if self.recovery_time_s == self.lower_bound_s:
            return 0.0
        if self.lower_bound_s == 0.0:
            return math.inf
        return max(0.0, self.recovery_time_s / self.lower_bound_s - 1.0)

    def verify(self, scenario: Scenario) -> Verification:
        """Recompute every claim from raw data, with a checker that no planner uses.

        Parameters
        ----------
        scenario
            What the plan is for.

        Returns
        -------
        Verification
            What was checked, and how large the proof of the bound is.

        Raises
        ------
        InvalidPlan
            Names the first claim that does not hold.
        """
        from reknit.plans.checker.claims import check_plan

        check_scenario(scenario)
        return check_plan(self, scenario)

    def save(self, path: str | Path) -> None:
        """Write what the plan claims as JSON. How it came about is not part of that, nor that its
        time was over: it is feasible.

        Parameters
        ----------
        path
            The file; nothing is left behind if it cannot be written.
        """
        from reknit.plans.files import save_plan

        save_plan(self, path)

    @staticmethod
    def load(path: str | Path, scenario: Scenario | None = None) -> Plan:
        """Read a plan that `save` wrote.

        Parameters
        ----------
        path
            The JSON file.
        scenario
            If given, the plan is verified against it.

        Returns
        -------
        Plan
            As good as its file, unless it was verified.
        """
        from reknit.plans.files import load_plan

        plan = load_plan(path)
        if scenario is not None:
            plan.verify(scenario)
        return plan

    def __repr__(self) -> str:
        planner = f"planner={self.planner!r}, " if self.planner else ""
        return (
            f"Plan({planner}status={str(self.status)!r}, "
            f"recovery_time_s={self.recovery_time_s:.4g}, lower_bound_s={self.lower_bound_s:.4g})"
        )


def _labels(value: Any) -> tuple[int | str, ...]:
    """Ids or names; whole numbers of numpy become Python's, as files and names have them."""
    labels = value.tolist() if isinstance(value, np.ndarray) else value
    is_list = isinstance(labels, Sequence) and not isinstance(labels, (str, bytes))
    if not is_list or not all(isinstance(label, str) or is_whole(label) for label in labels):
        raise InvalidParameter("plan.uavs", value, "a list of ids (whole numbers) or names")
    return tuple(label if isinstance(label, str) else int(label) for label in labels)
