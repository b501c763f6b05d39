"""The policies by name: ``hedge``, ``believe:PLANNER`` ..., and any of them ``+deadline``."""

from __future__ import annotations

import dataclasses
from typing import Any

from reknit.algorithms.registry import build
from reknit.base.errors import InvalidParameter, UnknownName
from reknit.knowledge.policies.believe import Believe
from reknit.knowledge.policies.deadline import Deadline
from reknit.knowledge.policies.hedge import Hedge
from reknit.knowledge.policies.protocols import Briefing, Pilot, Policy
from reknit.knowledge.policies.rendezvous import Rendezvous

DEFAULT_POLICY = "hedge+deadline"
_POLICIES = {"hedge": Hedge, "rendezvous": Rendezvous}
_BELIEVE = "believe:"
_DEADLINE = "+deadline"


def policies() -> dict[str, str]:
    """Every policy's name and what it does."""
    return {
        "hedge": "looks for everybody who may live, in all directions at once",
        "rendezvous": "everybody to a meeting place fixed in advance; needs no word",
        "believe:PLANNER": "any planner on the belief; unknown counts as alive",
        "POLICY+deadline": "any of these, and in time to the rendezvous: a promise",
    }


def build_policy(name: str, **parameters: Any) -> Policy:
    """The policy of this name. Parameters are the policy's, or of the planner that it
    believes in.
    """
    if not isinstance(name, str):
        raise InvalidParameter("policy", name, "a name")
    if name.endswith(_DEADLINE):
        return Deadline(build_policy(name.removesuffix(_DEADLINE), **parameters))
    if name.startswith(_BELIEVE):
        return Believe(build(name.removeprefix(_BELIEVE), parameters))
    if name in _POLICIES:
        factory: Any = _POLICIES[name]
        allowed = [item.name for item in dataclasses.fields(factory)]
        for key, value in parameters.items():
            if key not in allowed:
                raise InvalidParameter(f"{name}.{key}", value, ", ".join(allowed) or "none")
        built: Policy = factory(**parameters)
        return built
    raise UnknownName("policy", name, [*policies(), "believe:certified"])


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
