"""`reknit recover`: one swarm, one planner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reknit.cli.codes import DONE, NOT_DONE
from reknit.cli.options import Budget, Json, ScenarioOptions, takes_a_scenario
from reknit.cli.values import output_path, parameters, print_files, print_json

if TYPE_CHECKING:
    from reknit.recovery.runs import Run


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
        typer.Option(help="A parameter of the planner, as name=value; may be repeated."),
    ] = None,
    budget: Budget = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder for plan, flight and pictures.")
    ] = None,
    animate: Annotated[bool, typer.Option(help="Draw the animation too.")] = True,
    as_json: Json = False,
) -> int:
    """Break a swarm (or read a broken one), restore it, fly it and measure it."""
    from reknit.algorithms.registry import DEFAULT_PLANNER
    from reknit.cli import console
    from reknit.cli.outputs import run_result, save_run
    from reknit.recovery.runs import recover as run_recovery

    name = DEFAULT_PLANNER if planner is None else planner
    folder = output_path(out)
    chosen = parameters(name, param)
    case = options.scenario()
    files: list[Path] = []
    with console.progress_bar(quiet=as_json) as progress:
        run = run_recovery(
            case, name, seed=options.seed, budget_s=budget, progress=progress, **chosen
        )
        if folder is not None:
            files = save_run(run, folder, animate=animate, progress=progress)
    if as_json:
        print_json(run_result(run), files)
    else:
        console.out.print(console.scenario_line(case))
        console.out.print(console.run_table(run))
        print_files(files)
    return exit_code(run)


def exit_code(run: Run) -> int:
    """0 if the flight reconnected the swarm and its plan, if there is one, meets the demands."""
    kept = run.plan is None or run.plan.status.is_connected
    return DONE if kept and run.metrics.converged else NOT_DONE
