"""Every error reknit raises on purpose; all are `ReknitError`."""

from __future__ import annotations

from reknit.base.errors import (
    ImpossibleDemands,
    InvalidInput,
    InvalidParameter,
    InvalidPlan,
    InvalidRadio,
    InvalidScenario,
    InvalidWeights,
    MissingExtra,
    NoPlan,
    NoSplitFound,
    NotConnectable,
    ReknitError,
    UnknownName,
    UnreadableFile,
    UnwritableOutput,
)

__all__ = [
    "ImpossibleDemands",
    "InvalidInput",
    "InvalidParameter",
    "InvalidPlan",
    "InvalidRadio",
    "InvalidScenario",
    "InvalidWeights",
    "MissingExtra",
    "NoPlan",
    "NoSplitFound",
    "NotConnectable",
    "ReknitError",
    "UnknownName",
    "UnreadableFile",
    "UnwritableOutput",
]
