"""`reknit compare`: one swarm, many planners."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reknit.base.errors import BrokenPlanner, InvalidParameter, MissingExtra, ReknitError
from reknit.base.log import logger
from reknit.cli.codes import DONE, NOT_DONE
from reknit.cli.options import Budget, Json, ScenarioOptions, takes_a_scenario
from reknit.cli.values import output_path, prepared, print_files, print_json

if TYPE_CHECKING:
    from reknit.base.progress import Progress
    from reknit.recovery.runs import Run
    from reknit.swarm.scenario import Scenario

_log = logger(__name__)


@takes_a_scenario
def compare(
    options: ScenarioOptions,
    planners: Annotated[
        str | None,
        typer.Option(help="Names with commas between.", show_default="every planner that is here"),
    ] = None,
    budget: Budget = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Folder for plans, figures and the picture.",
            show_default="nothing is written",
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Run every planner on the same scenario: one table, one picture."""
    from reknit.base.budget import Budget as Limit
    from reknit.cli import console
    from reknit.cli.outputs import (
        comparison_files,
        run_summary,
        save_comparison,
        scenario_summary,
    )
    from reknit.cli.recover import exit_code
    from reknit.exact.proof.bounds import lower_bound

    Limit(budget)  # a wrong one is the caller's fault, not that of every planner
    names, missing = _chosen(planners)
    folder = output_path(out, comparison_files(names))
    scenario, warned = options.warned_scenario()
    files: list[Path] = []
    with console.progress_bar(quiet=as_json) as progress:
        runs, failures = _run_all(scenario, names, options.seed, budget, progress)
        proved_s = [run.plan.lower_bound_s for run in runs if run.plan is not None]
        bound_s = max([lower_bound(scenario).bound_s, *proved_s])
        if folder is not None and runs:
            files = save_comparison(runs, failures, bound_s, folder)
    if as_json:
        result = {
            "scenario": scenario_summary(scenario),
            "lower_bound_s": bound_s,
            "runs": [run_summary(run) for run in runs],
            "failed": failures,
            "missing": missing,
            "warnings": warned,
        }
        print_json(result, files)
    else:
        console.out.print(console.scenario_line(scenario))
        console.out.print(console.comparison_table(runs, failures, bound_s))
        for run in runs:
            for warning in run.warnings:
                console.out.print(f"{run.planner}: {warning}", style="red", markup=False)
        console.print_missing(missing)
        print_files(files)
    succeeded = any(exit_code(run) == DONE for run in runs)
    return DONE if succeeded and not failures else NOT_DONE


def _chosen(planners: str | None) -> tuple[list[str], dict[str, list[str]]]:
    """The planners to run, and by extra those left out because it is not installed."""
    from reknit.algorithms.registry import build, registered

    if planners is not None:
        names = [name.strip() for name in planners.split(",")]
        if not all(names):
            raise InvalidParameter("--planners", planners, "names with commas between")
        if len(set(names)) < len(names):
            raise InvalidParameter("--planners", planners, "each name once")
        for name in names:
            # One asked for by name that cannot be loaded gets a row that says why.
            with suppress(MissingExtra, BrokenPlanner):
                build(name, {})
        return names, {}
    names = []
    missing: dict[str, list[str]] = {}
    for entry in registered().values():
        if entry.not_ready and entry.extra:
            missing.setdefault(entry.extra, []).append(entry.name)
        else:
            names.append(entry.name)
    return names, missing


def _run_all(
    scenario: Scenario, names: list[str], seed: int, budget_s: float | None, progress: Progress
) -> tuple[list[Run], dict[str, str]]:
    """The runs of all planners that ended, and why the others did not."""
    from reknit.recovery.runs import recover

    runs: list[Run] = []
    failures: dict[str, str] = {}
    for number, name in enumerate(names):

        def report(fraction: float, message: str, number: int = number, name: str = name) -> None:
            progress((number + fraction) / len(names), f"{name}: {message}")

        report(0.0, "planning")
        try:
            prepared(name, None)
            runs.append(recover(scenario, name, seed=seed, budget_s=budget_s, progress=report))
            _log.info("%s: computed for %.3f s", name, runs[-1].compute_s)
        except ReknitError as error:
            failures[name] = str(error)
        except (Exception, SystemExit) as error:  # a planner may be anybody's
            failures[name] = f"{type(error).__name__}: {error}"
            _log.info("planner %s crashed", name, exc_info=True)
    return runs, failures
