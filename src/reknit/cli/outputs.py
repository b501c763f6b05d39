"""What `--out` writes: the scenario, the plan, the flight, the figures and the pictures."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from reknit.base.errors import ReknitError
from reknit.base.files import output_folder, remove_files, replacing, write_text
from reknit.base.progress import Progress, silent
from reknit.base.types import FloatArray, JsonDict
from reknit.flight.flight import Flight
from reknit.plans.plan import Plan
from reknit.recovery.runs import Run
from reknit.swarm.files import load_scenario, save_scenario
from reknit.swarm.scenario import Scenario

_OF_SOME_RUNS = ("plan.json", "recovery.gif", "flight.parquet", "flight.csv")
"""Files that `save_run` writes for some runs and not for others."""

RUN_FILES = ("scenario.json", "metrics.json", "recovery.png", "index.html", *_OF_SOME_RUNS)
"""All that `save_run` may write."""

_COMPARISON_FILES = ("scenario.json", "comparison.json", "comparison.png", "index.html")


def phase_files(strikes: int) -> list[str]:
    """All that `save_phases` may write of a run with so many strikes."""
    return [f"{_phase(number)}/{name}" for number in range(strikes + 1) for name in RUN_FILES]


def comparison_files(planners: Iterable[str]) -> list[str]:
    """All that `save_comparison` may write of these planners."""
    return [*_COMPARISON_FILES, *map(_plan_file, planners)]


def _phase(number: int | str) -> str:
    return f"phase-{number}"


def _plan_file(planner: str) -> str:
    return f"plan-{planner}.json"


def run_summary(run: Run) -> JsonDict:
    """One run as plain values."""
    plan = run.plan
    return {
        "planner": run.planner,
        "compute_s": run.compute_s,
        "plan": None if plan is None else plan_summary(plan),
        "metrics": run.metrics.as_dict(),
        "warnings": list(run.warnings),
    }


def run_result(run: Run) -> JsonDict:
    """What `reknit recover --json` prints: the summary and where everyone ends, by UAV id.

    ``targets_m`` is planned (absent for planners that steer), ``final_positions_m`` is flown.
    """
    result = {"scenario": scenario_summary(run.scenario), **run_summary(run)}
    if run.plan is not None:
        result["targets_m"] = by_uav(run.scenario, run.plan.targets)
    result["final_positions_m"] = by_uav(run.scenario, run.flight.positions[-1])
    return result


def by_uav(scenario: Scenario, rows: FloatArray) -> dict[str, list[float]]:
    """One row per survivor under the id of its UAV, in the order of ``scenario.survivors``."""
    return dict(zip(map(str, scenario.survivor_labels), rows.tolist(), strict=True))


def plan_summary(plan: Plan) -> JsonDict:
    """A plan's claims, without its targets, and how it came about, as plain values."""
    return {
        "status": plan.status.value,
        "recovery_time_s": plan.recovery_time_s if plan.status.is_plan else None,
        "lower_bound_s": plan.lower_bound_s,
        "gap": plan.gap if np.isfinite(plan.gap) else None,
        "seed": plan.seed,
        "parameters": plan.parameters,
        "versions": plan.versions,
        "details": plan.details,
        "timings_s": plan.timings_s,
    }


def scenario_summary(scenario: Scenario) -> JsonDict:
    """What a scenario is, in a few plain values."""
    return {
        "uavs": scenario.uavs,
        "destroyed": len(scenario.destroyed),
        "survivors": len(scenario.survivors),
        "dim": scenario.dim,
        "subnets": scenario.subnet_count,
        "radio_range_m": scenario.radio_range_m,
        "allowed_time_s": scenario.allowed_time_s,
    }


def save_run(
    run: Run, folder: Path, *, animate: bool = True, progress: Progress = silent
) -> list[Path]:
    """Write everything about one run; returns the files in the order they were written."""
    from reknit.serve.studio import write_player
    from reknit.viz.animation import frame_count, save_animation
    from reknit.viz.picture import recovery_figure, save_figure

    output_folder(folder)
    _remove_earlier(folder, phases=0)
    if _is_of_another(folder, run.scenario):
        remove_files(folder, _COMPARISON_FILES)
        _remove_plans(folder)
    written = [folder / "scenario.json"]
    save_scenario(run.scenario, written[0])
    if run.plan is not None:
        written.append(folder / "plan.json")
        run.plan.save(written[-1])
    written.append(save_flight(run.scenario, run.flight, folder))
    written.append(folder / "metrics.json")
    write_text(written[-1], json.dumps(run_summary(run), indent=1) + "\n")
    progress(0.0, "drawing the picture")
    written.append(folder / "recovery.png")
    save_figure(recovery_figure(run), written[-1])
    if animate and frame_count(run.scenario.uavs):
        written.append(folder / "recovery.gif")
        save_animation(run.scenario, run.flight, written[-1], progress)
    written.append(write_player(run, folder))
    return written


def save_phases(phases: Sequence[Run], folder: Path, progress: Progress = silent) -> list[Path]:
    """Write everything about a run with strikes, but no animation: one folder of files a phase."""
    output_folder(folder)
    if (folder / "metrics.json").is_file():  # of a run without strikes; its scenario may be ours
        remove_files(folder, [name for name in RUN_FILES if name != "scenario.json"])
    _remove_earlier(folder, phases=len(phases))
    files: list[Path] = []
    for number, run in enumerate(phases):
        files += save_run(run, folder / _phase(number), animate=False, progress=progress)
    return files


def _remove_earlier(folder: Path, phases: int) -> None:
    """Remove what an earlier run left that this one, of so many phases, would not write over.

    It would pass for this one's. Only what `save_run` itself wrote goes, by its names.
    """
    if phases == 0:
        remove_files(folder, _OF_SOME_RUNS)
    for phase in folder.glob(_phase("*")):
        number = phase.name.rpartition("-")[2]
        is_ours = number.isdecimal() and (phase / "metrics.json").is_file()
        if is_ours and int(number) >= phases:
            remove_files(phase, RUN_FILES)
            with suppress(OSError):  # it holds something else too
                phase.rmdir()


def save_comparison(
    runs: Sequence[Run], failures: Mapping[str, str], lower_bound_s: float, folder: Path
) -> list[Path]:
    """Write the scenario, all figures, every plan, the picture and the player of a comparison."""
    from reknit.serve.studio import write_player
    from reknit.viz.comparison import comparison_figure
    from reknit.viz.picture import save_figure

    output_folder(folder)
    _remove_plans(folder)
    if _is_of_another(folder, runs[0].scenario):
        remove_files(folder, RUN_FILES)
    scenario, table, picture = (folder / name for name in _COMPARISON_FILES[:3])
    save_scenario(runs[0].scenario, scenario)
    rows = [run_summary(run) for run in runs]
    rows += [{"planner": name, "failed": reason} for name, reason in failures.items()]
    write_text(table, json.dumps(rows, indent=1) + "\n")
    save_figure(comparison_figure(runs, lower_bound_s), picture)
    written = [scenario, table, picture]
    for run in runs:
        if run.plan is not None:
            written.append(folder / _plan_file(run.planner))
            run.plan.save(written[-1])
    written.append(write_player(runs, folder))
    return written


def _is_of_another(folder: Path, scenario: Scenario) -> bool:
    """Whether the files in a folder are of another swarm, and would pass for this one's."""
    path = folder / "scenario.json"
    if not path.is_file():
        return False
    try:
        return load_scenario(path) != scenario
    except ReknitError:
        return True


def _remove_plans(folder: Path) -> None:
    """Remove the plans of an earlier comparison; a file not called after a planner is not ours."""
    from reknit.algorithms.registry import registered

    known = set(registered())
    for path in folder.glob(_plan_file("*")):
        if set(path.stem.removeprefix("plan-").split("+")) <= known:
            remove_files(folder, [path.name])


def save_flight(scenario: Scenario, flight: Flight, folder: Path) -> Path:
    """The flight as a long table (time_s, uav_id, x_m, y_m[, z_m]).

    Parquet where pyarrow is installed (the `study` extra), otherwise CSV.
    """
    names = ["time_s", "uav_id", "x_m", "y_m", "z_m"][: 2 + scenario.dim]
    columns = _long_columns(scenario, flight)
    if find_spec("pyarrow") is not None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = folder / "flight.parquet"
        with replacing(path) as temporary:
            pq.write_table(pa.table(dict(zip(names, columns, strict=True))), temporary)
        return path
    path = folder / "flight.csv"
    with replacing(path) as temporary, temporary.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
    return path


def _long_columns(scenario: Scenario, flight: Flight) -> list[np.ndarray[Any, Any]]:
    frames, survivors, dim = flight.positions.shape
    return [
        np.repeat(flight.times_s, survivors),
        np.tile(np.asarray(scenario.survivor_labels), frames),
        *(np.ascontiguousarray(flight.positions[:, :, axis]).ravel() for axis in range(dim)),
    ]
