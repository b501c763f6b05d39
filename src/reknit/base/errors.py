"""Every error reknit raises on purpose.

All are `ReknitError`, so one `except` catches them; the command line prints the text in
one line and exits with code 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class ReknitError(Exception):
    """Base of all errors that are about what the caller gave or asked for."""


class InvalidInput(ReknitError, ValueError):
    """A field holds a value that is not allowed; names the field, the value and what is allowed."""

    def __init__(self, field: str, value: object, allowed: str) -> None:
        self.field = field
        self.value = value
        self.allowed = allowed
        super().__init__(f"{field} is {_shorten(value)}; allowed: {allowed}")


class InvalidScenario(InvalidInput):
    """A scenario cannot be built from these values."""


class InvalidRadio(InvalidInput):
    """A radio model cannot be built from these values."""


class InvalidParameter(InvalidInput):
    """A planner, the simulator or the generator was given a parameter it does not take."""


class InvalidStudy(ReknitError, ValueError):
    """A study cannot be built from these values; names the place, the value and what is allowed."""


class NoSplitFound(ReknitError):
    """Damage that splits the network was asked for, and none was found."""


class NotConnectable(ReknitError):
    """No connected swarm of the wanted size and density could be drawn."""


class InvalidPlan(ReknitError):
    """The checker found a claim of a plan that does not hold."""


class InvalidProof(InvalidPlan):
    """A certificate does not prove the lower bound that is claimed for a plan."""


class ImpossibleDemands(ReknitError):
    """No plan can meet a scenario's demands: infeasible (proved). Names the demands at odds."""

    def __init__(self, demands: Iterable[str], reason: str) -> None:
        self.demands = tuple(demands)
        self.reason = reason
        super().__init__(f"infeasible (proved): {' and '.join(self.demands)}: {reason}")


class NoPlan(ReknitError):
    """A plan was asked of a planner that steers step by step and makes none."""


class UnknownName(ReknitError):
    """A name is not among the known ones; suggests the nearest."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        # A caller of the API may give anything, and only text resembles a name.
        near = nearest(name, self.known) if isinstance(name, str) else None
        hint = f"did you mean {near!r}? " if near is not None else ""
        super().__init__(f"{kind} is {_shorten(name)}; {hint}allowed: {', '.join(self.known)}")


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that resembles a name most, or the one of which it is a whole word."""
    for close in get_close_matches(name, known, n=3):
        # Short words share half of their letters by chance, as radius and radio do.
        if len(close) > _SHORT or get_close_matches(name, [close], cutoff=_OF_SHORT):
            return close
    parts = [item for item in known if name in re.split(r"[-_+]", item)]
    return parts[-1] if parts else None


_SHORT, _OF_SHORT = 6, 0.75
"""Letters of a short word, and the share of them that a name must have to resemble it."""


class UnreadableFile(ReknitError):
    """A file cannot be read as what it should be."""


class UnwritableOutput(ReknitError):
    """An output file or folder cannot be written."""


class StoreRefused(ReknitError):
    """A results file belongs to something else, or somebody else has it open."""


class NoCluster(ReknitError):
    """A Ray cluster cannot be reached, or does not let us in."""


class ChangedInstance(ReknitError):
    """An instance does not come out as it was frozen; results on it could not be compared."""


class InvalidWeights(ReknitError):
    """A file of trained weights is missing, damaged, or made for another net."""


class MissingExtra(ReknitError):
    """A feature needs an optional part of the package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{feature} needs more packages: pip install 'reknit[{extra}]'")


class BrokenPlanner(ReknitError):
    """A planner does not do what planners do: a fault of its own, not of its user.

    It cannot be imported or made, or it answers with something that is no proposal or velocities.
    """

    def __init__(self, planner: str, fault: str) -> None:
        self.planner = planner
        super().__init__(f"planner {planner!r} {fault}")

    @classmethod
    def unusable(cls, planner: str, package: str, reason: BaseException) -> BrokenPlanner:
        """The error for a planner of a package that raised something."""
        words = " ".join(str(reason).split()) or "no reason given"
        return cls(planner, f"from {package} cannot be used: {type(reason).__name__}: {words}")


class TooLarge(ReknitError):
    """A swarm is beyond what a planner can do; names its limit and what to use instead."""

    def __init__(self, planner: str, size: str, limit: str, instead: str) -> None:
        self.planner = planner
        self.instead = instead
        super().__init__(
            f"planner {planner!r} was given {size}; its limit is {limit}; use {instead} instead"
        )


class ServiceError(ReknitError):
    """A service cannot be reached, refuses, or answers with something that is no answer."""

    def __init__(self, detail: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(detail)


def _shorten(value: object, limit: int = 80) -> str:
    try:
        text = " ".join(repr(value).split())
    except Exception:  # somebody's own class, or a number of more digits than Python writes
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= limit else text[: limit - 3] + "..."
