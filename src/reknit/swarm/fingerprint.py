"""The fingerprint of a scenario: two that differ in anything a plan depends on differ in it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from reknit.swarm.demands import demand_fields
from reknit.swarm.scenario import Scenario

_NANOMETRES_PER_M = 1e9


def scenario_hash(scenario: Scenario) -> str:
    """SHA-256 over every field of a scenario, names included.

    Positions count to the nearest nanometre, so that the last bit of a square root does not.
    The fields are those of the class: one that is added is hashed without a word here. A demand
    that asks for its default does not count, so that a scenario keeps its fingerprint when a
    later release brings a demand that the scenario does not make.
    """
    digest = hashlib.sha256()
    demands = demand_fields()
    for name, value in sorted(scenario.values().items()):
        content = _content(name, value)
        if name in demands:
            default = demands[name].metadata["rule"].check(demands[name].default, scenario)
            if content == _content(name, default):
                continue
        digest.update(name.encode() + b"=" + content + b";")
    return digest.hexdigest()


def _content(name: str, value: Any) -> bytes:
    if name == "positions":
        return bytes(np.round(value * _NANOMETRES_PER_M).astype(np.int64).data)
    return json.dumps(_plain(value), sort_keys=True).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value
