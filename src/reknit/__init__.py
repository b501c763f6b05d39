"""reknit puts a broken UAV swarm back in touch.

>>> import reknit
>>> scenario = reknit.generate(uavs=200, destroyed=100, seed=7)
>>> run = reknit.recover(scenario, "center-fly")

Everything public is named here and loaded on first use, so that importing the package (and
``reknit --help``) costs next to nothing.
"""

from __future__ import annotations

from reknit.base.display import drawn_by
from reknit.base.version import VERSION

TYPE_CHECKING = False  # what `typing` says too; loading that takes longer than all the rest here
if TYPE_CHECKING:
    from typing import Any

    from reknit import errors, testing
    from reknit.algorithms.protocols import Polisher, Proposal, SteeringPlanner, TargetPlanner
    from reknit.algorithms.registry import planners
    from reknit.base.budget import Budget
    from reknit.base.context import Context
    from reknit.base.display import Drawing
    from reknit.exact.proof.bounds import lower_bound
    from reknit.flight.controller import Controller
    from reknit.flight.flight import Flight
    from reknit.flight.metrics import Metrics
    from reknit.flight.simulator import fly
    from reknit.knowledge.channels.protocols import Channel
    from reknit.knowledge.mission import Mission
    from reknit.knowledge.operation import Observation, Operation
    from reknit.knowledge.policies.protocols import Policy
    from reknit.knowledge.repeated import recover_repeatedly
    from reknit.knowledge.simulator import operate
    from reknit.plans.certificate import (
        Bundle,
        Certificate,
        Clash,
        Lemma,
        Parting,
        Winding,
    )
    from reknit.plans.plan import Plan
    from reknit.plans.status import Status
    from reknit.plans.verification import Verification
    from reknit.recovery.planning import plan
    from reknit.recovery.repeated import RepeatedRun, Strike
    from reknit.recovery.runs import Run, recover
    from reknit.serve.client import Client
    from reknit.study.report.write import write_report
    from reknit.study.run.runner import Summary, run_study
    from reknit.study.spec.cases import CaseSpec
    from reknit.study.spec.profiles import FewerSpec, PlannerSpec, ProfileSpec
    from reknit.study.spec.study import Study, load_study
    from reknit.study.spec.task import Task
    from reknit.study.spec.views import ViewSpec
    from reknit.swarm.files import load_scenario, save_scenario
    from reknit.swarm.generate import generate
    from reknit.swarm.radio import Radio
    from reknit.swarm.scenario import Scenario


__version__ = VERSION

_HOME = {
    "Budget": "reknit.base.budget",
    "Bundle": "reknit.plans.certificate",
    "CaseSpec": "reknit.study.spec.cases",
    "Certificate": "reknit.plans.certificate",
    "Channel": "reknit.knowledge.channels.protocols",
    "Clash": "reknit.plans.certificate",
    "Client": "reknit.serve.client",
    "Context": "reknit.base.context",
    "Controller": "reknit.flight.controller",
    "FewerSpec": "reknit.study.spec.profiles",
    "Flight": "reknit.flight.flight",
    "Lemma": "reknit.plans.certificate",
    "Metrics": "reknit.flight.metrics",
    "Mission": "reknit.knowledge.mission",
    "Observation": "reknit.knowledge.operation",
    "Operation": "reknit.knowledge.operation",
    "Parting": "reknit.plans.certificate",
    "Plan": "reknit.plans.plan",
    "PlannerSpec": "reknit.study.spec.profiles",
    "Policy": "reknit.knowledge.policies.protocols",
    "Polisher": "reknit.algorithms.protocols",
    "ProfileSpec": "reknit.study.spec.profiles",
    "Proposal": "reknit.algorithms.protocols",
    "Radio": "reknit.swarm.radio",
    "RepeatedRun": "reknit.recovery.repeated",
    "Run": "reknit.recovery.runs",
    "Scenario": "reknit.swarm.scenario",
    "Status": "reknit.plans.status",
    "SteeringPlanner": "reknit.algorithms.protocols",
    "Strike": "reknit.recovery.repeated",
    "Study": "reknit.study.spec.study",
    "Summary": "reknit.study.run.runner",
    "TargetPlanner": "reknit.algorithms.protocols",
    "Task": "reknit.study.spec.task",
    "Verification": "reknit.plans.verification",
    "Winding": "reknit.plans.certificate",
    "ViewSpec": "reknit.study.spec.views",
    "fly": "reknit.flight.simulator",
    "generate": "reknit.swarm.generate",
    "load_scenario": "reknit.swarm.files",
    "load_study": "reknit.study.spec.study",
    "lower_bound": "reknit.exact.proof.bounds",
    "operate": "reknit.knowledge.simulator",
    "plan": "reknit.recovery.planning",
    "planners": "reknit.algorithms.registry",
    "recover": "reknit.recovery.runs",
    "recover_repeatedly": "reknit.knowledge.repeated",
    "run_study": "reknit.study.run.runner",
    "save_scenario": "reknit.swarm.files",
    "write_report": "reknit.study.report.write",
}

__all__ = [
    "Budget",
    "Bundle",
    "CaseSpec",
    "Certificate",
    "Channel",
    "Clash",
    "Client",
    "Context",
    "Controller",
    "FewerSpec",
    "Flight",
    "Lemma",
    "Metrics",
    "Mission",
    "Observation",
    "Operation",
    "Parting",
    "Plan",
    "PlannerSpec",
    "Policy",
    "Polisher",
    "ProfileSpec",
    "Proposal",
    "Radio",
    "RepeatedRun",
    "Run",
    "Scenario",
    "Status",
    "SteeringPlanner",
    "Strike",
    "Study",
    "Summary",
    "TargetPlanner",
    "Task",
    "Verification",
    "ViewSpec",
    "Winding",
    "fly",
    "generate",
    "load_scenario",
    "load_study",
    "lower_bound",
    "operate",
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


def _drawing() -> Drawing:
    from reknit.viz import notebook

    return notebook


drawn_by(_drawing)


def __getattr__(name: str) -> Any:
    # Here, since a command answers an interrupt once this package and `reknit.cli` are loaded.
    from importlib import import_module

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
