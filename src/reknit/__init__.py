"""reknit puts a broken UAV swarm back in touch.

>>> import reknit
>>> scenario = reknit.generate(uavs=200, destroyed=100, seed=7)
>>> run = reknit.recover(scenario, "center-fly")

Everything public is named here and loaded on first use, so that importing the package (and
``reknit --help``) costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reknit import errors, testing
    from reknit.algorithms.base import (
        Budget,
        Context,
        Controller,
        Polisher,
        Proposal,
        SteeringPlanner,
        TargetPlanner,
    )
    from reknit.algorithms.certified.bounds import lower_bound
    from reknit.algorithms.registry import planners
    from reknit.flight.flight import Flight
    from reknit.flight.simulator import fly
    from reknit.metrics import Metrics
    from reknit.plans.certificate import Certificate
    from reknit.plans.plan import Plan
    from reknit.plans.status import Status
    from reknit.recovery import Run, plan, recover
    from reknit.repeated import Strike, recover_repeatedly
    from reknit.scenario.files import load_scenario, save_scenario
    from reknit.scenario.generate import generate
    from reknit.scenario.radio import Radio
    from reknit.scenario.scenario import Scenario
    from reknit.study.report import write_report
    from reknit.study.runner import run_study
    from reknit.study.spec import Study, load_study

__version__ = "0.1.0"

_HOME = {
    "Budget": "reknit.algorithms.base",
    "Certificate": "reknit.plans.certificate",
    "Context": "reknit.algorithms.base",
    "Controller": "reknit.algorithms.base",
    "Flight": "reknit.flight.flight",
    "Metrics": "reknit.metrics",
    "Plan": "reknit.plans.plan",
    "Polisher": "reknit.algorithms.base",
    "Proposal": "reknit.algorithms.base",
    "Radio": "reknit.scenario.radio",
    "Run": "reknit.recovery",
    "Scenario": "reknit.scenario.scenario",
    "Status": "reknit.plans.status",
    "SteeringPlanner": "reknit.algorithms.base",
    "Strike": "reknit.repeated",
    "Study": "reknit.study.spec",
    "TargetPlanner": "reknit.algorithms.base",
    "fly": "reknit.flight.simulator",
    "generate": "reknit.scenario.generate",
    "load_scenario": "reknit.scenario.files",
    "load_study": "reknit.study.spec",
    "lower_bound": "reknit.algorithms.certified.bounds",
    "plan": "reknit.recovery",
    "planners": "reknit.algorithms.registry",
    "recover": "reknit.recovery",
    "recover_repeatedly": "reknit.repeated",
    "run_study": "reknit.study.runner",
    "save_scenario": "reknit.scenario.files",
    "write_report": "reknit.study.report",
}

__all__ = [
    "Budget",
    "Certificate",
    "Context",
    "Controller",
    "Flight",
    "Metrics",
    "Plan",
    "Polisher",
    "Proposal",
    "Radio",
    "Run",
    "Scenario",
    "Status",
    "SteeringPlanner",
    "Strike",
    "Study",
    "TargetPlanner",
    "fly",
    "generate",
    "load_scenario",
    "load_study",
    "lower_bound",
    "plan",
    "planners",
    "recover",
    "recover_repeatedly",
    "run_study",
    "save_scenario",
    "write_report",
    "errors",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in ("errors", "testing"):
        value = import_module(f"reknit.{name}")
    else:
        raise AttributeError(f"module 'reknit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
