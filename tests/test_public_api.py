"""The contract: the names that other work relies on."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import subprocess
import sys
import typing
from dataclasses import is_dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

import reknit

MODULES = ("errors", "testing")
PUBLIC_MODULES = (
    "reknit.knowledge.policies.protocols",
    "reknit.knowledge.channels.protocols",
    "reknit.knowledge.reknit_v0",
)
"""Policies and channels of one's own are made of what these name; an environment is made by one."""


def test_every_public_name_loads() -> None:
    """What __all__ promises is there."""
    for name in reknit.__all__:
        assert getattr(reknit, name) is not None
    assert set(reknit.__all__) <= set(dir(reknit))
    with pytest.raises(AttributeError, match="nothing_like_it"):
        reknit.nothing_like_it  # noqa: B018


ANY_ORDER = """
import importlib, sys
import numpy, scipy.spatial, scipy.sparse.csgraph
for name in {names}:
    for module in [module for module in sys.modules if module.split(".")[0] == "reknit"]:
        del sys.modules[module]
    reknit = importlib.import_module("reknit")
    first = getattr(reknit, name)
    import reknit.recovery.runs, reknit.cli.app
    assert getattr(reknit, name) is first, name
    assert callable(reknit.plan) and callable(reknit.planners), name
"""


def test_names_load_in_any_order() -> None:
    """Each name can be the first one touched; functions are never shadowed by modules."""
    program = ANY_ORDER.format(names=list(reknit.__all__))
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_contract_of_the_design() -> None:
    """The example of the design runs and has the shapes it says."""
    scenario = reknit.generate(uavs=60, destroyed=30, seed=7, split=True)
    plan = reknit.plan(scenario, "contraction", seed=0, budget_s=None)
    survivors = len(scenario.survivors)
    assert plan.targets.shape == (survivors, 2)
    assert str(plan.status) == "feasible"
    assert plan.gap == plan.recovery_time_s / plan.lower_bound_s - 1
    plan.verify(scenario)
    run = reknit.recover(scenario, "sidr", seed=0)
    assert run.plan is None
    flight = run.flight
    assert flight.times_s[0] == 0.0
    assert flight.positions.shape == (len(flight.times_s), survivors, 2)
    assert flight.subnets.shape == flight.times_s.shape
    assert flight.reconnected_at_s == flight.times_s[-1]
    assert np.array_equal(flight.positions[0], scenario.survivor_positions)
    assert reknit.lower_bound(scenario).bound_s == plan.lower_bound_s
    assert reknit.lower_bound(scenario) is reknit.lower_bound(scenario)
    assert {"center-fly", "hero", "sidr", "contraction"} <= set(reknit.planners())


NAMED = {name: getattr(reknit, name) for name in reknit.__all__ if name not in MODULES}
for path in PUBLIC_MODULES:
    module = import_module(path)
    NAMED |= {f"{path}.{name}": getattr(module, name) for name in module.__all__}
CLASSES = {name: item for name, item in NAMED.items() if inspect.isclass(item)}
FUNCTIONS = {name: item for name, item in NAMED.items() if inspect.isfunction(item)}


def methods(owner: type) -> dict[str, Any]:
    """The public methods that a class defines; fields that hold a function are none, nor is what
    pydantic adds.
    """
    fields = {item.name for item in dataclasses.fields(owner)} if is_dataclass(owner) else set()
    found = {}
    for name, item in vars(owner).items():
        function = item.__func__ if isinstance(item, (staticmethod, classmethod)) else item
        is_own = not (name.startswith("_") or name in fields or hasattr(BaseModel, name))
        if is_own and inspect.isfunction(function):
            found[name] = function
    return found


def test_what_the_public_gives_is_public() -> None:
    """Every class of reknit that a public function or method returns, or that a public class has
    in a field or property, has a name in `reknit` or in a public module of it.
    """
    given = {name: returned(item) for name, item in FUNCTIONS.items()}
    for name, owner in CLASSES.items():
        for method, item in methods(owner).items():
            given[f"{name}.{method}"] = returned(item)
        for attribute, item in vars(owner).items():
            if isinstance(item, (property, cached_property)):
                getter = item.func if isinstance(item, cached_property) else item.fget
                given[f"{name}.{attribute}"] = returned(getter)
        # What gymnasium imports for type checkers alone.
        known = {**NAMED, "EnvSpec": object}
        for attribute, hint in typing.get_type_hints(owner, localns=known).items():
            if not attribute.startswith("_"):
                given[f"{name}.{attribute}"] = classes(hint)
    public = {*CLASSES.values(), *(getattr(reknit.errors, name) for name in reknit.errors.__all__)}
    hidden = {
        where: kind
        for where, kinds in given.items()
        for kind in kinds
        if kind.__module__.startswith("reknit.")
        if kind not in public
    }
    assert hidden == {}


def test_every_error_is_public() -> None:
    """Each class of the sources that is a `ReknitError` has its name in `reknit.errors`."""
    bases = {
        item.name: {base.id for base in item.bases if isinstance(base, ast.Name)}
        for path in Path(reknit.__file__).parent.rglob("*.py")
        for item in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(item, ast.ClassDef)
    }
    known = {"ReknitError"}
    while grown := {name for name in bases if bases[name] & known} - known:
        known |= grown
    assert known == set(reknit.errors.__all__)


def returned(function: Any) -> list[type]:
    """The classes in the return type of a function."""
    return classes(typing.get_type_hints(function, localns=NAMED).get("return"))


def classes(hint: Any) -> list[type]:
    """The classes in a type."""
    if inspect.isclass(hint) and not typing.get_args(hint):
        return [hint]
    return [kind for part in typing.get_args(hint) for kind in classes(part)]


@pytest.mark.parametrize("name", sorted({**FUNCTIONS, **CLASSES}))
def test_docstrings_are_complete(name: str) -> None:
    """Every parameter of a public function or method and every field of a public dataclass is
    explained, and what is returned.
    """
    item = NAMED[name]
    if name in FUNCTIONS:
        assert missing(item) == []
        return
    if isinstance(item, type) and issubclass(item, BaseModel):
        known = documented(item, "Parameters")
        assert [field for field in item.model_fields if field not in known] == []
    elif is_dataclass(item) and name != "Metrics":  # its fields are declared with their meaning
        known = documented(item, "Parameters") + documented(item, "Attributes")
        fields = [field.name for field in dataclasses.fields(item)]
        assert [field for field in fields if not (field.startswith("_") or field in known)] == []
    faults = {f"{name}.{method}": missing(found) for method, found in methods(item).items()}
    told = {where: fault for where, fault in faults.items() if fault}
    assert told == {}


def missing(function: Any) -> list[str]:
    """Parameters that a docstring leaves out, and Returns. What a method without parameters
    returns stands in its first sentence.
    """
    signature = inspect.signature(function)
    asked = [name for name in signature.parameters if name not in ("self", "cls")]
    if not asked and "." in function.__qualname__:
        return []
    known = documented(function, "Parameters")
    found = [name for name in asked if name not in known]
    is_answer = signature.return_annotation not in (None, "None", inspect.Signature.empty)
    if is_answer and not (documented(function, "Returns") or documented(function, "Yields")):
        found.append("Returns")
    return found


def documented(item: Any, section: str) -> list[str]:
    """What a section of a numpydoc docstring names; empty without the section."""
    text = inspect.cleandoc(item.__doc__ or "")
    section_body = rf"^{section}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)"
    body = re.search(section_body, text, re.DOTALL | re.MULTILINE)
    heads = [] if body is None else re.findall(r"^\S.*$", body[1], re.MULTILINE)
    return [name.strip().lstrip("*") for head in heads for name in head.split(":")[0].split(",")]


def test_the_citation_has_the_version() -> None:
    """CITATION.cff is of this version."""
    text = (Path(__file__).parents[1] / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", text, re.MULTILINE) == [reknit.__version__]
