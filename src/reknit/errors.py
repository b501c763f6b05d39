"""Every error reknit raises on purpose; all are `ReknitError`."""

from __future__ import annotations

from reknit.base.errors import (
    BrokenPlanner,
    ImpossibleDemands,
    InvalidInput,
    InvalidParameter,
    InvalidPlan,
    InvalidProof,
    InvalidRadio,
    InvalidScenario,
    InvalidStudy,
    InvalidWeights,
    MissingExtra,
    NoPlan,
    NoSplitFound,
    NotConnectable,
    ReknitError,
    ServiceError,
    TooLarge,
    UnknownName,
    UnreadableFile,
    UnwritableOutput,
)

__all__ = [
    "BrokenPlanner",
    "ImpossibleDemands",
    "InvalidInput",
    "InvalidParameter",
    "InvalidPlan",
    "InvalidProof",
    "InvalidRadio",
    "InvalidScenario",
    "InvalidStudy",
    "InvalidWeights",
    "MissingExtra",
    "NoPlan",
    "NoSplitFound",
    "NotConnectable",
    "ReknitError",
    "ServiceError",
    "TooLarge",
    "UnknownName",
    "UnreadableFile",
    "UnwritableOutput",
]
