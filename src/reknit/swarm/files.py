"""Scenarios in files: JSON holds everything, CSV the UAVs (`uav_id,x_m,y_m[,z_m],alive`)."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reknit.base.errors import InvalidScenario, ReknitError, UnreadableFile
from reknit.base.files import plain_error, read_text, write_text
from reknit.swarm.radio import Radio
from reknit.swarm.scenario import Scenario

_FIELDS = {2: ["uav_id", "x_m", "y_m", "alive"], 3: ["uav_id", "x_m", "y_m", "z_m", "alive"]}
_ALIVE = {"1": True, "true": True, "0": False, "false": False}


class _RadioFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    transmit_power_w: float
    transmit_gain: float
    receive_gain: float
    wavelength_m: float
    sensitivity_w: float
    fading_shape: float


class ScenarioFile(BaseModel):
    """The JSON form of a scenario, version 1."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["reknit-scenario"] = "reknit-scenario"
    version: Literal[1] = 1
    positions_m: list[Annotated[list[float], Field(min_length=2, max_length=3)]]
    destroyed: list[int] = []
    radio_range_m: float | None = None
    radio: _RadioFile | None = None
    max_speed_mps: float | list[float] = 10.0
    allowed_time_s: float | None = None
    link_margin: float = 0.0
    link_reliability: float | None = None
    min_separation_m: float = 0.0
    anchors: list[int] = []
    connectivity: int = 1


def load_scenario(path: str | Path, **fields: Any) -> Scenario:
    """Read a scenario from a .json or .csv file.

    A CSV file holds only the UAVs; range, speed and demands are given as `fields`, with the
    defaults of `Scenario`. For JSON they replace what the file says.
    """
    path = Path(path)
    text = read_text(path)
    kind = path.suffix.lower()
    if kind not in (".json", ".csv"):
        raise UnreadableFile(f"{path}: its name must end in .json or .csv")
    given = _from_json(path, text) if kind == ".json" else _from_csv(path, text)
    if "radio_range_m" in fields:
        given.pop("radio", None)
    if "radio" in fields:
        given.pop("radio_range_m", None)
    try:
        return Scenario(**{**given, **fields})
    except ReknitError as error:
        raise UnreadableFile(f"{path}: {error}") from error
    except TypeError:
        raise InvalidScenario("fields", sorted(fields), "fields of Scenario") from None


def save_scenario(scenario: Scenario, path: str | Path) -> None:
    """Write a scenario as .json (everything) or .csv (positions and who is alive)."""
    path = Path(path)
    kind = path.suffix.lower()
    if kind == ".json":
        write_text(path, scenario_file(scenario).model_dump_json(indent=1) + "\n")
    elif kind == ".csv":
        write_text(path, _to_csv(scenario))
    else:
        raise InvalidScenario("path", str(path), "a name that ends in .json or .csv")


def scenario_file(scenario: Scenario) -> ScenarioFile:
    """The JSON form of a scenario."""
    radio = scenario.radio
    speeds = scenario.max_speed_mps
    return ScenarioFile(
        positions_m=scenario.positions.tolist(),
        destroyed=scenario.destroyed.tolist(),
        radio_range_m=scenario.radio_range_m if radio is None else None,
        radio=None if radio is None else _RadioFile(**vars(radio)),
        max_speed_mps=float(speeds[0]) if (speeds == speeds[0]).all() else speeds.tolist(),
        allowed_time_s=scenario.allowed_time_s,
        link_margin=scenario.link_margin,
        link_reliability=scenario.link_reliability,
        min_separation_m=scenario.min_separation_m,
        anchors=scenario.anchors.tolist(),
        connectivity=scenario.connectivity,
    )


def _from_json(path: Path, text: str) -> dict[str, Any]:
    try:
        model = ScenarioFile.model_validate_json(text)
    except ValidationError as error:
        raise UnreadableFile(f"{path}: {plain_error(error)}") from None
    try:
        return _given(model)
    except ReknitError as error:
        raise UnreadableFile(f"{path}: {error}") from error


def scenario_of(model: ScenarioFile) -> Scenario:
    """The scenario that a JSON form describes; `InvalidScenario` if there is none."""
    return Scenario(**_given(model))


def _given(model: ScenarioFile) -> dict[str, Any]:
    """The arguments of `Scenario`."""
    given = model.model_dump(exclude={"format", "version", "positions_m", "radio"})
    if given["radio_range_m"] is None:
        del given["radio_range_m"]
    lengths = {len(row) for row in model.positions_m}
    if len(lengths) != 1:
        raise InvalidScenario("positions_m", "of 2-D and 3-D rows", "one of them")
    given["positions"] = model.positions_m
    if model.radio is not None:
        given["radio"] = Radio(**model.radio.model_dump())
    return given


def _to_csv(scenario: Scenario) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_FIELDS[scenario.dim])
    alive = scenario.alive.astype(int).tolist()
    for uav_id, point in enumerate(scenario.positions.tolist()):
        writer.writerow([uav_id, *map(repr, point), alive[uav_id]])
    return out.getvalue()


def _from_csv(path: Path, text: str) -> dict[str, Any]:
    rows = list(csv.reader(io.StringIO(text)))
    header = [name.strip() for name in rows[0]] if rows else []
    if header not in _FIELDS.values():
        raise UnreadableFile(
            f"{path}: line 1 is {','.join(header)[:80]!r}; allowed: uav_id,x_m,y_m[,z_m],alive"
        )
    dim = len(header) - 2
    filled = [(number, row) for number, row in enumerate(rows[1:], start=2) if row]
    points = np.full((len(filled), dim), np.nan)
    alive = np.ones(len(filled), dtype=bool)
    seen: set[int] = set()
    for number, row in filled:
        if len(row) != len(header):
            raise UnreadableFile(f"{path}: line {number} has {len(row)} fields, not {len(header)}")
        try:
            uav_id = int(row[0])
            point = [float(value) for value in row[1:-1]]
        except ValueError:
            raise UnreadableFile(
                f"{path}: line {number} is {','.join(row)[:80]!r}; allowed: "
                "a whole number, then numbers"
            ) from None
        state = _ALIVE.get(row[-1].strip().lower())
        if state is None:
            raise UnreadableFile(
                f"{path}: line {number}: alive is {row[-1]!r}; allowed: 1, 0, true, false"
            )
        if uav_id in seen or not 0 <= uav_id < len(filled):
            raise UnreadableFile(
                f"{path}: line {number}: uav_id is {uav_id}; allowed: each of 0 to "
                f"{len(filled) - 1} once"
            )
        seen.add(uav_id)
        points[uav_id], alive[uav_id] = point, state
    return {"positions": points, "destroyed": np.flatnonzero(~alive).tolist()}
