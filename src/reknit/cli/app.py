"""The command line: it parses, calls and prints. Slow imports wait until they are needed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reknit.base.errors import InvalidParameter, ReknitError
from reknit.cli.study import study_app

if TYPE_CHECKING:
    from reknit.recovery.runs import Run
    from reknit.swarm.scenario import Scenario

app = typer.Typer(
    help="Put a broken UAV swarm back in touch.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

app.add_typer(study_app, name="study")

ScenarioPath = Annotated[
    Path | None, typer.Argument(metavar="[SCENARIO]", help="A .json or .csv file; else generated.")
]
Uavs = Annotated[int | None, typer.Option(help="Swarm size before the damage. Default: 200.")]
Destroy = Annotated[
    str | None, typer.Option(help="A number, a ratio below 1, or ids as 3,5,8. Default: 0.5.")
]
Seed = Annotated[int, typer.Option(help="Seed of the generated scenario and of the planner.")]
Layout = Annotated[str | None, typer.Option(help="uniform, grid, clusters or corridor.")]
Damage = Annotated[str | None, typer.Option(help="random, disc, corridor, degree or articulation.")]
Dim = Annotated[int | None, typer.Option(help="2 or 3.")]
Range = Annotated[float | None, typer.Option("--range", help="Radio range in metres: d_tr.")]
Speed = Annotated[float | None, typer.Option(help="Speed limit in m/s: v_max.")]
Split = Annotated[
    bool, typer.Option("--split", help="Redraw the damage until it splits the swarm.")
]
Budget = Annotated[float | None, typer.Option(help="Seconds of computing allowed per plan.")]
Out = Annotated[Path | None, typer.Option(help="Folder for plan, flight, figures and pictures.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command(epilog="Example: reknit recover --uavs 200 --destroy 100 --seed 7 --out demo")
def recover(
    scenario: ScenarioPath = None,
    planner: Annotated[
        str | None, typer.Option(help="See 'reknit planners'. Combine by a plus sign.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter of the planner, as name=value.")
    ] = None,
    uavs: Uavs = None,
    destroy: Destroy = None,
    seed: Seed = 0,
    layout: Layout = None,
    damage: Damage = None,
    dim: Dim = None,
    range_m: Range = None,
    speed: Speed = None,
    split: Split = False,
    budget: Budget = None,
    out: Out = None,
    animate: Annotated[bool, typer.Option(help="Draw the animation too.")] = True,
    as_json: Json = False,
) -> None:
    """Break a swarm (or read a broken one), restore it, fly it and measure it."""
    from reknit.algorithms.registry import DEFAULT_PLANNER
    from reknit.base.files import output_folder
    from reknit.cli import console
    from reknit.cli.outputs import run_summary, save_run, scenario_summary
    from reknit.recovery.runs import recover as run_recovery

    if out is not None:
        output_folder(out)
    case = _scenario(scenario, uavs, destroy, seed, layout, damage, dim, range_m, speed, split)
    with console.progress_bar(quiet=as_json) as progress:
        run = run_recovery(
            case,
            planner or DEFAULT_PLANNER,
            seed=seed,
            budget_s=budget,
            progress=progress,
            **_parameters(param),
        )
        files = save_run(run, out, animate=animate, progress=progress) if out else []
    if as_json:
        result = {"scenario": scenario_summary(case), **run_summary(run)}
        if run.plan is not None:
            result["targets_m"] = run.plan.targets.tolist()
        _print_json(result, files)
        return
    console.out.print(console.scenario_line(case))
    console.out.print(console.run_table(run))
    _print_files(files)


@app.command(epilog="Example: reknit compare --uavs 100 --destroy 50 --seed 3 --out compare")
def compare(
    scenario: ScenarioPath = None,
    planners: Annotated[
        str | None, typer.Option(help="Names with commas between. Default: every planner.")
    ] = None,
    uavs: Uavs = None,
    destroy: Destroy = None,
    seed: Seed = 0,
    layout: Layout = None,
    damage: Damage = None,
    dim: Dim = None,
    range_m: Range = None,
    speed: Speed = None,
    split: Split = False,
    budget: Budget = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Run every planner on the same scenario: one table, one picture."""
    from reknit.algorithms.registry import build, registered
    from reknit.base.files import output_folder
    from reknit.cli import console
    from reknit.cli.outputs import run_summary, save_comparison, scenario_summary
    from reknit.exact.proof.bounds import lower_bound
    from reknit.recovery.runs import recover as run_recovery

    if out is not None:
        output_folder(out)
    names = [name.strip() for name in planners.split(",")] if planners else list(registered())
    for name in names:
        build(name, {})
    case = _scenario(scenario, uavs, destroy, seed, layout, damage, dim, range_m, speed, split)
    runs: list[Run] = []
    with console.progress_bar(quiet=as_json) as progress:
        for number, name in enumerate(names):

            def report(
                fraction: float, message: str, number: int = number, name: str = name
            ) -> None:
                progress((number + fraction) / len(names), f"{name}: {message}")

            report(0.0, "planning")
            runs.append(run_recovery(case, name, seed=seed, budget_s=budget, progress=report))
        bound_s = lower_bound(case).bound_s
        files = save_comparison(runs, bound_s, out) if out else []
    if as_json:
        summary = scenario_summary(case)
        rows = [run_summary(run) for run in runs]
        _print_json({"scenario": summary, "lower_bound_s": bound_s, "runs": rows}, files)
        return
    console.out.print(console.scenario_line(case))
    console.out.print(console.comparison_table(runs, bound_s))
    _print_files(files)


@app.command(epilog="Example: reknit planners --json")
def planners(as_json: Json = False) -> None:
    """What each planner is, and what it needs."""
    from importlib.util import find_spec

    from reknit.algorithms.registry import registered

    rows: list[dict[str, Any]] = []
    for entry in registered().values():
        ready = entry.extra is None or find_spec("torch") is not None
        kind = "steers" if entry.steers else "plans"
        rows.append(
            {
                "name": entry.name,
                "kind": kind + (", improves others" if entry.polishes else ""),
                "summary": entry.summary,
                "needs": entry.extra or "",
                "ready": ready,
            }
        )
    if as_json:
        _print_json({"planners": rows}, [])
        return
    from rich.table import Table

    from reknit.cli.console import out

    table = Table()
    for name in ("planner", "kind", "what it does", "needs"):
        table.add_column(name)
    for row in rows:
        needs = row["needs"] and f"reknit[{row['needs']}]" + ("" if row["ready"] else " (missing)")
        table.add_row(row["name"], row["kind"], row["summary"], needs.replace("[", r"\["))
    out.print(table)
    out.print("A plus sign combines a planner with one that improves others: gcn+contraction.")


@app.command(epilog="Example: reknit pretrain --preset default --dim 2 --out training")
def pretrain(
    planner: Annotated[str, typer.Option(help="ml-dagl or cr-mgc.")] = "ml-dagl",
    preset: Annotated[str, typer.Option(help="default or paper.")] = "default",
    dim: Annotated[int, typer.Option(help="2 or 3.")] = 2,
    steps: Annotated[int | None, typer.Option(min=1, help="Default: the recipe's.")] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of checkpoint and weights.")] = Path("training"),
) -> None:
    """Train a planner's weights; stopped at any moment, the same call goes on from there."""
    from reknit.cli import console
    from reknit.recovery.training import train

    with console.progress_bar() as progress:
        path = train(planner, preset, dim, steps, seed, out, progress)
    console.out.print(f"Weights: {path}", soft_wrap=True)


@app.command(epilog="Example: reknit bench --repeats 5")
def bench(
    repeats: Annotated[int, typer.Option(min=1, help="Times each figure is measured.")] = 3,
    as_json: Json = False,
) -> None:
    """Speed and memory of this installation."""
    from reknit.bench import run_benchmarks
    from reknit.cli import console

    with console.progress_bar(quiet=as_json) as progress:
        rows = run_benchmarks(repeats, progress)
    if as_json:
        _print_json({"benchmarks": [row.as_dict() for row in rows]}, [])
        return
    from rich.table import Table

    table = Table()
    table.add_column("what")
    for name in ("best", "median", "worst", "wanted"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(row.name, *row.cells())
    console.out.print(table)


def _scenario(
    path: Path | None,
    uavs: int | None,
    destroy: str | None,
    seed: int,
    layout: str | None,
    damage: str | None,
    dim: int | None,
    range_m: float | None,
    speed: float | None,
    split: bool,
) -> Scenario:
    """The scenario of the file, or one generated from the options."""
    fields: dict[str, Any] = {"radio_range_m": range_m, "max_speed_mps": speed}
    fields = {name: value for name, value in fields.items() if value is not None}
    made: dict[str, Any] = {
        "uavs": uavs,
        "destroyed": destroy,
        "layout": layout,
        "damage": damage,
        "dim": dim,
    }
    made = {name: value for name, value in made.items() if value is not None}
    if path is not None:
        if made or split:
            name = next(iter(made), "split").replace("destroyed", "destroy")
            raise InvalidParameter(f"--{name}", made.get(name, "given"), "not beside a file")
        from reknit.swarm.files import load_scenario

        return load_scenario(path, **fields)
    from reknit.swarm.generate import generate

    if "destroyed" in made:
        made["destroyed"] = _destroyed(made["destroyed"])
    return generate(seed=seed, split=split, **made, **fields)


def _destroyed(text: str) -> int | float | list[int]:
    """``100`` is a number, ``0.5`` a ratio, ``3,5,8`` are ids."""
    try:
        if "," in text:
            return [int(part) for part in text.split(",") if part.strip()]
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    except ValueError:
        allowed = "a number such as 100, a ratio such as 0.5, or ids such as 3,5,8"
        raise InvalidParameter("--destroy", text, allowed) from None


def _parameters(given: list[str] | None) -> dict[str, Any]:
    """``name=value`` pairs; values are read as JSON where they can be, else as text."""
    found: dict[str, Any] = {}
    for item in given or []:
        name, equals, text = item.partition("=")
        if not equals or not name.strip():
            raise InvalidParameter("--param", item, "name=value")
        try:
            found[name.strip()] = json.loads(text)
        except json.JSONDecodeError:
            found[name.strip()] = text
    return found


def _print_json(result: dict[str, Any], files: list[Path]) -> None:
    if files:
        result = {**result, "files": [str(file) for file in files]}
    sys.stdout.write(json.dumps(result) + "\n")


def _print_files(files: list[Path]) -> None:
    from reknit.cli.console import out

    if files:
        folder = files[0].parent
        out.print(f"Written to {folder}: " + ", ".join(file.name for file in files), soft_wrap=True)


def main() -> None:
    """Run a command; a wrong input ends in one line on standard error and exit code 2."""
    try:
        app()
    except ReknitError as error:
        sys.stderr.write(f"reknit: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
