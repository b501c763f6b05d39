"""One page that shows a run without any service, script or font from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from reknit.base.files import write_text
from reknit.base.types import FloatArray, JsonDict
from reknit.flight.flight import Flight
from reknit.flight.metrics import measure
from reknit.knowledge.operation import Operation
from reknit.network.links import subnets
from reknit.recovery.runs import Run
from reknit.serve.tasks import recovery_model
from reknit.swarm.files import scenario_file
from reknit.swarm.scenario import Scenario

PAGE = Path(__file__).parent / "page"
PLAYER_FILE = "index.html"
_MOST_NUMBERS = 600_000
"""Coordinates that one page holds; longer flights are thinned."""
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)


def write_player(runs: Run | Sequence[Run], folder: Path) -> Path:
    """Write `index.html`, which plays the runs in any browser, also from a disk.

    Parameters
    ----------
    runs
        One run, or several of one scenario, shown side by side.
    folder
        An existing folder.

    Returns
    -------
    Path
        Of the page.
    """
    shown = [runs] if isinstance(runs, Run) else list(runs)
    scenario = shown[0].scenario
    frames = _frames(len(scenario.survivors) * scenario.dim * len(shown))
    recoveries = [recovery_model(run, frames).model_dump(mode="json") for run in shown]
    return _write(scenario, recoveries, folder)


def write_operation_player(operation: Operation, folder: Path) -> Path:
    """Write `index.html` for an operation: its flight since the last strike, and for every UAV
    under the pointer what the observer believed of it.

    Parameters
    ----------
    operation
        What was flown with partial knowledge.
    folder
        An existing folder.

    Returns
    -------
    Path
        Of the page.
    """
    scenario, seen = operation.struck, operation.observation
    first = int(np.searchsorted(operation.times_s, operation.struck_at_s))
    steps = len(operation.times_s) - first
    frames = min(steps, _frames((scenario.uavs + len(scenario.survivors)) * scenario.dim))
    chosen = first + np.unique(np.linspace(0, steps - 1, frames).round().astype(np.int64))
    positions = operation.positions[chosen]
    flown = positions[:, scenario.survivors]
    flight = Flight(
        times_s=operation.times_s[chosen] - operation.struck_at_s,
        positions=flown,
        subnets=operation.subnets[chosen],
        largest_subnet=np.asarray([_largest(points, scenario.radio_range_m) for points in flown]),
        reconnected_at_s=operation.recovery_time_s,
        reconnected_at_step_s=operation.recovery_time_s,
        min_separation_m=np.inf,  # an operation does not record it
        path_lengths_m=operation.path_lengths_m[scenario.survivors],
    )
    metrics = measure(scenario, flight, None)
    run = Run(scenario, operation.policy, None, flight, metrics, operation.compute_s)
    recovery = recovery_model(run, None).model_dump(mode="json")
    away = seen.positions[chosen] - positions
    recovery["belief"] = {
        "observer": seen.uav,
        "status": ["".join(map(str, row.tolist())) for row in seen.status[chosen]],
        "apart_m": np.sqrt((away * away).sum(axis=2)).round(1).tolist(),
    }
    return _write(scenario, [recovery], folder)


def _largest(points: FloatArray, range_m: float) -> int:
    return int(np.bincount(subnets(points, range_m)).max())


def _frames(numbers: int) -> int:
    """How many instants of so many coordinates one page holds."""
    return max(2, min(400, _MOST_NUMBERS // numbers))


def _write(scenario: Scenario, recoveries: list[JsonDict], folder: Path) -> Path:
    model = scenario_file(scenario).model_dump(mode="json")
    model["destroyed"] = scenario.destroyed.tolist()  # by row, also where UAVs have names
    model["anchors"] = [int(row) for row in scenario.anchors]
    model["radio_range_m"] = scenario.radio_range_m  # also where a radio decides it
    title = ", ".join(recovery["planner"] for recovery in recoveries)
    path = folder / PLAYER_FILE
    data = {"scenario": model, "recoveries": recoveries}
    write_text(path, _page(title, json.dumps(data)))
    return path


def _page(title: str, data: str) -> str:
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    script = bundle("player.js")
    # "</script>" inside the data would end it; as an escape it is the same JSON.
    safe = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": html.escape(title),
        "style": style,
        "data": safe,
        "script": script,
    }
    page = (PAGE / "player.html").read_text(encoding="utf-8")
    return re.sub(r"\{(\w+)\}", lambda match: parts[match.group(1)], page)


@cache
def bundle(entry: str) -> str:
    """The module and all it imports as one module, each before those that need it."""
    order: list[str] = []
    _visit(entry, order)
    texts = []
    for name in order:
        text = _IMPORT.sub("", (PAGE / name).read_text(encoding="utf-8"))
        texts.append(re.sub(r"^export (?!\{)", "", text, flags=re.MULTILINE))
    return "\n".join(texts).replace("</", "<\\/")


def _visit(name: str, order: list[str]) -> None:
    if name in order:
        return
    for needed in _IMPORT.findall((PAGE / name).read_text(encoding="utf-8")):
        _visit(needed, order)
    order.append(name)


def _digest(text: str) -> str:
    value = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{value}"
