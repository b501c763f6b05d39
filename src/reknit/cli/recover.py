"""`reknit recover`: one swarm, one planner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reknit.cli.codes import DONE, NOT_DONE
from reknit.cli.options import Budget, Json, ScenarioOptions, parse_strike, takes_a_scenario
from reknit.cli.values import output_path, prepared, print_files, print_json

if TYPE_CHECKING:
    from reknit.base.progress import Progress
    from reknit.recovery.runs import Run
    from reknit.swarm.scenario import Scenario


@takes_a_scenario
def recover(
    options: ScenarioOptions,
    planner: Annotated[
        str | None,
        typer.Option(
            help="See 'reknit planners'. Combine by a plus sign.", show_default="certified"
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A parameter of the planner, as name=value; may be repeated.",
            show_default="their defaults",
        ),
    ] = None,
    budget: Budget = None,
    acceleration: Annotated[
        float | None,
        typer.Option(help="Acceleration limit in m/s2.", show_default="inertia is neglected"),
    ] = None,
    strike: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME:WHO",
            help="A further loss during the flight, as 2.5:10 (ten at random), 2.5:uavs=3,8 or "
            "2.5:disc=X,Y,RADIUS; may be repeated.",
            show_default="none",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Folder for plan, flight and pictures.",
            show_default="nothing is written",
        ),
    ] = None,
    animate: Annotated[bool, typer.Option(help="Draw the animation too.")] = True,
    as_json: Json = False,
) -> int:
    """Break a swarm (or read a broken one), restore it, fly it and measure it."""
    from reknit.algorithms.registry import DEFAULT_PLANNER
    from reknit.cli import console
    from reknit.cli.outputs import RUN_FILES, phase_files, run_result, save_run
    from reknit.recovery.runs import recover as run_recovery

    name = DEFAULT_PLANNER if planner is None else planner
    folder = output_path(out, phase_files(len(strike)) if strike else RUN_FILES)
    scenario, warned = options.warned_scenario()
    settings = {
        "seed": options.seed,
        "budget_s": budget,
        "max_acceleration_mps2": acceleration,
        **prepared(name, param),
    }
    files: list[Path] = []
    with console.progress_bar(quiet=as_json) as progress:
        if strike:
            return _under_strikes(
                scenario, warned, name, strike, settings, folder, as_json, progress
            )
        run = run_recovery(scenario, name, progress=progress, **settings)
        if folder is not None:
            files = save_run(run, folder, animate=animate, progress=progress)
    if as_json:
        result = run_result(run)
        print_json({**result, "warnings": [*warned, *result["warnings"]]}, files)
    else:
        console.out.print(console.scenario_line(scenario))
        console.out.print(console.run_table(run, acceleration is not None))
        print_files(files)
        if files and animate:
            from reknit.viz.animation import thinning_note

            note = thinning_note(scenario.uavs)
            if note:
                console.out.print(note, soft_wrap=True)
        if any(file.name == "flight.csv" for file in files):
            console.print_missing({"study": ["the flight as Parquet"]})
    return exit_code(run)


def _under_strikes(
    scenario: Scenario,
    warned: list[str],
    planner: str,
    strikes: list[str],
    settings: dict[str, Any],
    folder: Path | None,
    as_json: bool,
    progress: Progress,
) -> int:
    """Recover while further UAVs are lost; one folder of files a phase."""
    from reknit.cli import console
    from reknit.cli.outputs import run_result, save_phases, scenario_summary
    from reknit.knowledge.repeated import recover_repeatedly

    order = [parse_strike(text, scenario) for text in strikes]
    result = recover_repeatedly(scenario, planner, order, progress=progress, **settings)
    files = [] if folder is None else save_phases(result.phases, folder, progress)
    if as_json:
        # What a phase came to holds if no strike had ended it.
        ends_s = [*result.begins_s[1:], None]
        phases = [
            {"begins_s": begin_s, "struck_at_s": end_s, **run_result(run)}
            for begin_s, end_s, run in zip(result.begins_s, ends_s, result.phases, strict=True)
        ]
        summary = {
            "scenario": scenario_summary(scenario),
            "reconnected_at_s": result.reconnected_at_s,
            "connected_share": result.connected_share,
            "compute_s": result.compute_s,
            "warnings": warned,
            "phases": phases,
        }
        print_json(summary, files)
    else:
        console.out.print(console.scenario_line(scenario))
        console.out.print(console.phases_table(result))
        for warning in result.phases[-1].warnings:  # the others were ended by a strike
            console.out.print(f"warning: {warning}", style="red", markup=False)
        if folder is not None:
            message = f"Written to {folder}: a folder for each phase."
            console.out.print(message, markup=False, soft_wrap=True)
    return NOT_DONE if result.reconnected_at_s is None else exit_code(result.phases[-1])


def exit_code(run: Run) -> int:
    """0 if the flight reconnected the swarm and its plan, if there is one, meets the demands."""
    kept = run.plan is None or run.plan.status.is_connected
    return DONE if kept and run.metrics.converged else NOT_DONE
