"""The fingerprint of a scenario: two that differ in anything a plan depends on differ in it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from reknit.swarm.scenario import Scenario

_NANOMETRES_PER_M = 1e9


def scenario_hash(scenario: Scenario) -> str:
    """SHA-256 over every field of a scenario, names included.

    Positions count to the nearest nanometre, so that the last bit of a square root does not.
    The fields are those of the class: one that is added is hashed without a word here.
    """
    digest = hashlib.sha256()
    for name, value in sorted(scenario.values().items()):
        digest.update(name.encode() + b"=")
        if name == "positions":
            digest.update(np.round(value * _NANOMETRES_PER_M).astype(np.int64).tobytes())
        else:
            digest.update(json.dumps(_plain(value), sort_keys=True).encode())
        digest.update(b";")
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value
