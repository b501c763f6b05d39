"""Scenarios in files: JSON holds everything, CSV the UAVs
(`uav_id,x_m,y_m[,z_m][,alive][,age_s]`).
"""

from __future__ import annotations

import csv
import io
import math
import re
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from reknit.base.errors import (
    InvalidInput,
    InvalidParameter,
    InvalidScenario,
    ReknitError,
    UnreadableFile,
)
from reknit.base.faults import plain_error
from reknit.base.files import checked_path, parse_json, read_text, write_text
from reknit.swarm.demands import demand_fields, rule
from reknit.swarm.radio import Radio
from reknit.swarm.scenario import DEFAULT_SPEED_MPS, Scenario, check_scenario
from reknit.swarm.validation import MAX_UAVS, number, read_number

_FIELDS = {2: ["uav_id", "x_m", "y_m"], 3: ["uav_id", "x_m", "y_m", "z_m"]}
_STATES = (["alive"], ["alive", "age_s"], ["age_s"])
_HEADERS = "uav_id,x_m,y_m[,z_m],alive[,age_s], or age_s instead of alive"
_MAX_DEGREES = np.asarray([180.0, 180.0])
_ALIVE = {"1": True, "true": True, "0": False, "false": False}


class RadioFile(BaseModel):
    """The JSON form of a `Radio`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    transmit_power_w: float = Radio.transmit_power_w
    transmit_gain: float = Radio.transmit_gain
    receive_gain: float = Radio.receive_gain
    wavelength_m: float = Radio.wavelength_m
    sensitivity_w: float = Radio.sensitivity_w
    fading_shape: float = Radio.fading_shape


class _Swarm(BaseModel):
    """What a scenario file holds beside the demands."""

    model_config = ConfigDict(extra="forbid", strict=True, title="Scenario")

    format: Literal["reknit-scenario"] = "reknit-scenario"
    version: Literal[1] = 1
    positions_m: list[Annotated[list[float], Field(min_length=2, max_length=3)]] = Field(
        min_length=1,
        max_length=MAX_UAVS,
        description="Position of every UAV at the instant of the damage, metres.",
    )
    names: list[str] | None = Field(None, description="A name for every UAV.")
    destroyed: list[int | str] = Field([], description="Ids (rows or names) of the lost UAVs.")
    radio_range_m: float | None = Field(None, description="Longest link, metres: d_tr.")
    radio: RadioFile | None = Field(None, description="A radio instead of a range.")
    max_speed_mps: float | list[float] = Field(
        DEFAULT_SPEED_MPS, description="Speed limit, m/s: one for all or one per UAV."
    )


def _demand_models() -> dict[str, Any]:
    """Name to (type, default) of every demand, as pydantic wants them."""
    models: dict[str, Any] = {}
    for name, item in demand_fields().items():
        meaning = rule(name).meaning
        default = list(item.default) if isinstance(item.default, tuple) else item.default
        models[name] = (rule(name).json, Field(default, description=meaning))
    return models


ScenarioFile = create_model("ScenarioFile", __base__=_Swarm, **_demand_models())
"""The JSON form of a scenario, version 1; its demands are those of `reknit.swarm.demands`."""


def load_scenario(
    path: str | Path, *, lost_after_s: float | None = None, **fields: Any
) -> Scenario:
    """Read a scenario from a .json or .csv file.

    Parameters
    ----------
    path
        JSON holds everything; CSV holds only the UAVs, with one row each.
    lost_after_s
        UAVs of a CSV file whose last report (column ``age_s``, seconds ago; empty: none yet) is
        older count as destroyed, besides those that the file says are.
    fields
        Fields of `Scenario` that replace what the file says (or, for CSV, the defaults).

    Returns
    -------
    Scenario
        Validated; a fault in the file is an `UnreadableFile` that says where, one in `fields` an
        `InvalidScenario`.
    """
    path = checked_path("path", path)
    text = read_text(path)
    kind = path.suffix.lower()
    if kind not in (".json", ".csv"):
        raise UnreadableFile(f"{path}: its name must end in .json or .csv")
    if lost_after_s is not None:
        lost_after_s = number("lost_after_s", lost_after_s, at_least=0.0)
        if kind != ".csv":
            raise InvalidParameter("lost_after_s", lost_after_s, "only for a .csv file with age_s")
    given = _from_json(path, text) if kind == ".json" else _from_csv(path, text, lost_after_s)
    if "radio_range_m" in fields:
        given.pop("radio", None)
    if "radio" in fields:
        given.pop("radio_range_m", None)
    try:
        scenario = Scenario(**{**given, **fields})
    except ReknitError as error:
        if isinstance(error, InvalidInput) and re.split(r"[.\[]", error.field)[0] in fields:
            raise  # it is the caller's value and not the file's
        raise UnreadableFile(f"{path}: {error}") from error
    if _looks_like_degrees(scenario):
        warnings.warn(
            f"{path}: the coordinates look like degrees of latitude and longitude; "
            "they are read as metres",
            stacklevel=2,
        )
    return scenario


def _looks_like_degrees(scenario: Scenario) -> bool:
    """Whether a swarm of two or more lies within a degree or so, far from the origin."""
    flat = scenario.positions[:, :2]
    extent = float(np.ptp(flat, axis=0).max())
    within = bool((np.abs(flat) <= _MAX_DEGREES).all())
    centre = float(np.abs(flat.mean(axis=0)).max())
    return scenario.uavs > 1 and within and 0.0 < extent < 1.0 and centre > 2.0 * extent


def scenario_of(model: BaseModel) -> Scenario:
    """The scenario that a `ScenarioFile` describes; `InvalidScenario` if there is none."""
    return Scenario(**_given(model))


def _given(model: BaseModel) -> dict[str, Any]:
    """The arguments of `Scenario` that a `ScenarioFile` holds."""
    given = model.model_dump(exclude={"format", "version", "positions_m", "radio"})
    positions = getattr(model, "positions_m")  # noqa: B009
    if len({len(row) for row in positions}) != 1:
        raise InvalidScenario("positions_m", "2-D and 3-D rows", "rows of one length")
    radio = getattr(model, "radio")  # noqa: B009
    given["positions"] = positions
    if given["radio_range_m"] is None:
        del given["radio_range_m"]
    if radio is not None:
        given["radio"] = Radio(**radio.model_dump())
    return given


def scenario_file(scenario: Scenario) -> BaseModel:
    """The JSON form of a scenario, a `ScenarioFile`."""
    radio = scenario.radio
    speeds = scenario.max_speed_mps
    demands = {name: rule(name).to_json(getattr(scenario, name)) for name in demand_fields()}
    return ScenarioFile(
        positions_m=scenario.positions.tolist(),
        names=None if scenario.names is None else list(scenario.names),
        destroyed=scenario.destroyed.tolist(),
        radio_range_m=scenario.radio_range_m if radio is None else None,
        radio=None if radio is None else RadioFile(**asdict(radio)),
        max_speed_mps=float(speeds[0]) if (speeds == speeds[0]).all() else speeds.tolist(),
        **demands,
    )


def save_scenario(scenario: Scenario, path: str | Path) -> None:
    """Write a scenario as .json (everything) or .csv (positions and who is alive).

    Parameters
    ----------
    scenario
        What to write.
    path
        The file; its ending says the format. Nothing is left behind if it cannot be written.
    """
    check_scenario(scenario)
    path = checked_path("path", path)
    kind = path.suffix.lower()
    if kind == ".json":
        write_text(path, _to_json(scenario))
    elif kind == ".csv":
        write_text(path, _to_csv(scenario))
        left_out = _not_in_csv(scenario)
        if left_out:
            warnings.warn(
                f"{path}: a .csv file holds positions and who is alive; it does not tell "
                f"{', '.join(left_out)}",
                stacklevel=2,
            )
    else:
        raise InvalidScenario("path", str(path), "a name that ends in .json or .csv")


def _not_in_csv(scenario: Scenario) -> list[str]:
    """Fields by which the scenario differs from that which a CSV file of it would give, but for the
    allowed time, which is made anew.
    """
    plain = Scenario(scenario.positions, scenario.destroyed, names=scenario.names)
    theirs = plain.values()
    return [
        name
        for name, mine in scenario.values().items()
        if name != "allowed_time_s" and not np.array_equal(mine, theirs[name])
    ]


def _to_json(scenario: Scenario) -> str:
    return scenario_file(scenario).model_dump_json(indent=1) + "\n"


def _from_json(path: Path, text: str) -> dict[str, Any]:
    try:
        return _given(ScenarioFile.model_validate(parse_json(path, text)))
    except ValidationError as error:
        raise UnreadableFile(f"{path}: {plain_error(error, ScenarioFile)}") from None
    except InvalidInput as error:
        raise UnreadableFile(f"{path}: {error}") from error


def _to_csv(scenario: Scenario) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_FIELDS[scenario.dim], "alive"])
    alive = scenario.alive.astype(int).tolist()
    for row, point in enumerate(scenario.positions.tolist()):
        writer.writerow([scenario.label(row), *map(repr, point), alive[row]])
    return out.getvalue()


def _from_csv(path: Path, text: str, lost_after_s: float | None) -> dict[str, Any]:
    """Positions, who is destroyed, and names unless the ids are just 0, 1, 2, ..."""
    lines = _csv_lines(path, text)
    header = [name.strip() for name in lines[0][1]] if lines else []
    dim = _columns(path, header, lost_after_s)
    filled = [(line_number, line) for line_number, line in lines[1:] if line]
    labels: dict[str, int] = {}
    points: list[list[float]] = []
    destroyed: list[int] = []
    for line_number, line in filled:
        where = f"{path}: line {line_number}"
        if len(line) != len(header):
            raise UnreadableFile(f"{where} has {len(line)} fields, not {len(header)}")
        label, states = line[0].strip(), dict(zip(header, line, strict=True))
        try:
            points.append([read_number(value) for value in line[1 : dim + 1]])
            if not all(map(math.isfinite, points[-1])):
                raise ValueError
        except ValueError:
            shown = _as_written(line)[:80]
            allowed = f"an id, finite numbers, then {','.join(header[dim + 1 :])}"
            raise UnreadableFile(f"{where} is {shown!r}; allowed: {allowed}") from None
        if not label or label in labels:
            raise UnreadableFile(
                f"{where}: uav_id is {label[:80]!r}; allowed: a different id for each UAV"
            )
        # Every cell is read before any decides, so that a wrong one is never passed over.
        is_alive, age_s = _alive(where, states), _age_s(where, states)
        if not is_alive or (lost_after_s is not None and age_s > lost_after_s):
            destroyed.append(len(labels))
        labels[label] = len(labels)
    return _in_order(list(labels), points, destroyed)


def _as_written(cells: list[str]) -> str:
    """A row of a CSV file, with quotes about cells that have commas."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()


def _csv_lines(path: Path, text: str) -> list[tuple[int, list[str]]]:
    """The rows of a CSV text, each with the line it begins in: a quoted cell may have several."""
    reader = csv.reader(io.StringIO(text), strict=True)
    lines: list[tuple[int, list[str]]] = []
    begin = 1
    try:
        for row in reader:
            lines.append((begin, row))
            if len(lines) > MAX_UAVS + 1:  # the first is the header
                raise UnreadableFile(f"{path}: too many lines; allowed: at most {MAX_UAVS:,} UAVs")
            begin = reader.line_num + 1
    except csv.Error as error:
        raise UnreadableFile(f"{path}: not CSV ({error})") from None
    return lines


def _columns(path: Path, header: list[str], lost_after_s: float | None) -> int:
    """2 or 3, by the header of a CSV file; a typed error if it is none."""
    known = {(*fields, *states): dim for dim, fields in _FIELDS.items() for states in _STATES}
    if tuple(header) not in known:
        shown = ",".join(header)[:80]
        raise UnreadableFile(f"{path}: line 1 is {shown!r}; allowed: {_HEADERS}")
    if "age_s" not in header and lost_after_s is not None:
        raise UnreadableFile(f"{path}: it has no column age_s, which --lost-after needs")
    if "alive" not in header and lost_after_s is None:
        raise UnreadableFile(
            f"{path}: it has no column alive; allowed: only where a limit of age_s is given, as "
            "lost_after_s to load_scenario or by --lost-after to recover, compare and operate"
        )
    return known[tuple(header)]


def _alive(where: str, states: dict[str, str]) -> bool:
    text = states.get("alive", "1")
    state = _ALIVE.get(text.strip().lower())
    if state is None:
        raise UnreadableFile(f"{where}: alive is {text[:80]!r}; allowed: 1, 0, true, false")
    return state


def _age_s(where: str, states: dict[str, str]) -> float:
    """Seconds since the last report; endless where there was none."""
    text = states.get("age_s", "0").strip()
    try:
        age_s = read_number(text) if text else math.inf
    except ValueError:
        age_s = math.nan
    if not age_s >= 0.0:
        raise UnreadableFile(
            f"{where}: age_s is {text[:80]!r}; allowed: seconds, at least 0, or nothing"
        )
    return age_s


def _in_order(labels: list[str], points: list[list[float]], destroyed: list[int]) -> dict[str, Any]:
    """Rows in the order of the ids where these are 0 to N - 1; else names, in the file's order."""
    if set(labels) == {str(row) for row in range(len(labels))}:
        order = np.argsort(np.asarray(labels, dtype=np.int64))
        lost = set(destroyed)
        return {
            "positions": [points[row] for row in order],
            "destroyed": [number for number, row in enumerate(order) if int(row) in lost],
        }
    return {"positions": points, "destroyed": destroyed, "names": labels}
