"""The policies by name: ``hedge``, ``believe:PLANNER`` ..., and any of them ``+deadline``."""

from __future__ import annotations

import dataclasses
from difflib import get_close_matches
from typing import Any

from reknit.algorithms.parameters import Parameter, checked, listed
from reknit.algorithms.registry import build
from reknit.algorithms.registry import parameters as planner_parameters
from reknit.base.errors import InvalidParameter, UnknownName
from reknit.knowledge.policies.believe import Believe
from reknit.knowledge.policies.deadline import Deadline
from reknit.knowledge.policies.hedge import Hedge
from reknit.knowledge.policies.protocols import Briefing, Pilot, Policy
from reknit.knowledge.policies.rendezvous import Rendezvous

DEFAULT_POLICY = "hedge+deadline"
_POLICIES: dict[str, tuple[type[Any], str]] = {
    "hedge": (Hedge, "looks for everybody who may live, in all directions at once"),
    "rendezvous": (Rendezvous, "everybody to a meeting place fixed in advance; needs no word"),
}
_BELIEVE = "believe:"
_DEADLINE = "+deadline"
_DEADLINE_FIELDS = ("patience",)
_EXAMPLES = ("believe:certified", "believe:certified+deadline")


def policies() -> dict[str, str]:
    """Every policy's name and what it does."""
    return {
        **{name: meaning for name, (_, meaning) in _POLICIES.items()},
        "believe:PLANNER": "any planner on the belief; unknown counts as alive",
        "POLICY+deadline": "any of these, and in time to the rendezvous: a promise",
    }


def build_policy(name: str, **parameters: Any) -> Policy:
    """The policy of this name.

    Parameters
    ----------
    name
        A name as listed by `policies`.
    parameters
        Of the policy, or of the planner that it believes in; with ``+deadline`` also its
        `patience`.
    """
    if not isinstance(name, str):
        raise InvalidParameter("policy", name, "a name")
    front, is_in_time = _parts(name)
    if is_in_time:
        own = {key: parameters.pop(key) for key in _DEADLINE_FIELDS if key in parameters}
        return Deadline(build_policy(front, **parameters), **checked("deadline", Deadline, own))
    if name.startswith(_BELIEVE):
        return Believe(build(name.removeprefix(_BELIEVE), parameters))
    factory, _ = _POLICIES[name]
    built: Policy = factory(**checked(name, factory, parameters))
    return built


def policy_parameters(name: str) -> list[Parameter]:
    """The parameters that `build_policy` takes for this name."""
    front, is_in_time = _parts(name)
    more = [item for item in listed(Deadline) if item.name in _DEADLINE_FIELDS]
    if front.startswith(_BELIEVE):
        own = planner_parameters(front.removeprefix(_BELIEVE).split("+")[0])
    else:
        own = listed(_POLICIES[front][0])
    return own + more * is_in_time


def _parts(name: str) -> tuple[str, bool]:
    """The policy in front, and whether it keeps a deadline; raises `UnknownName`."""
    is_in_time = name.endswith(_DEADLINE)
    front = name.removesuffix(_DEADLINE)
    known = [*_POLICIES, *policies(), *(f"{item}{_DEADLINE}" for item in _POLICIES)]
    if front.startswith(_BELIEVE):
        head, plus, tail = front.rpartition("+")
        if not plus or not get_close_matches(f"+{tail}", [_DEADLINE]):
            return front, is_in_time
        known = [f"{head}{_DEADLINE}"]
    elif front in _POLICIES:
        return front, is_in_time
    raise UnknownName("policy", name, dict.fromkeys([*known, *_EXAMPLES]))


@dataclasses.dataclass(frozen=True)
class NamedPolicy:
    """A policy with the name it was asked for by."""

    name: str
    policy: Policy

    @staticmethod
    def of(name: str, **parameters: Any) -> NamedPolicy:
        """The policy of this name and these parameters."""
        return NamedPolicy(name, build_policy(name, **parameters))

    def brief(self, briefing: Briefing) -> Pilot:
        """Begin."""
        return self.policy.brief(briefing)

    def promised_s(self, briefing: Briefing) -> float | None:
        """The policy's promise."""
        return self.policy.promised_s(briefing)


def policy_of(value: Any) -> tuple[str, Policy]:
    """The policy of this name, or the object given, with its name; None: the default."""
    if value is None:
        value = DEFAULT_POLICY
    if isinstance(value, str):
        return value, build_policy(value)
    if not isinstance(value, Policy):
        raise InvalidParameter("policy", value, "a name, or an object with brief()")
    return getattr(value, "name", type(value).__name__), value
