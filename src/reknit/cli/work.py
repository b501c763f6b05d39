"""Commands that keep the machine busy: `pretrain` and `bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reknit.cli.codes import DONE
from reknit.cli.options import Json
from reknit.cli.values import folder, print_json


def pretrain(
    planner: Annotated[str, typer.Option(help="ml-dagl or cr-mgc.")] = "ml-dagl",
    preset: Annotated[str, typer.Option(help="default, relaxed, paper or published.")] = "default",
    dim: Annotated[int, typer.Option(help="2 or 3, with --preset relaxed.")] = 2,
    steps: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="Training steps.", show_default="the recipe's"),
    ] = None,
    uavs: Annotated[
        int | None,
        typer.Option(
            help="N, with --preset paper or published: one model per size.", show_default="200"
        ),
    ] = None,
    gco: Annotated[
        str, typer.Option(help="bipartite, or ordinary with --preset paper: for an ablation.")
    ] = "bipartite",
    residual: Annotated[
        bool, typer.Option(help="With skip connections; without, for an ablation.")
    ] = True,
    attention: Annotated[
        bool | None,
        typer.Option(help="With --preset default: told of the damage.", show_default="as shipped"),
    ] = None,
    links: Annotated[
        bool | None,
        typer.Option(
            help="With --preset default: survivors hear of each other; without, for an ablation.",
            show_default="as shipped",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 1,
    out: Annotated[
        Path, typer.Option(metavar="DIR", parser=folder, help="Folder of checkpoint and weights.")
    ] = Path("training"),
) -> int:
    """Train a planner's weights; stopped at any moment, the same call goes on from there.

    Use them: reknit recover --planner ml-dagl --param weights=training/default.safetensors
    """
    from reknit.cli import console
    from reknit.recovery.training import train

    with console.progress_bar(lines=True) as progress:
        path = train(
            planner, preset, dim, steps, seed, out, progress, uavs, gco, residual, attention, links
        )
    console.out.print(f"Weights: {path}", markup=False, soft_wrap=True)
    presets = "" if planner != "ml-dagl" or preset == "default" else f" --param preset={preset}"
    console.out.print(
        f"Use them: reknit recover --planner {planner}{presets} --param weights={path}",
        markup=False,
        soft_wrap=True,
    )
    return DONE


def bench(
    repeats: Annotated[
        int, typer.Option(min=1, max=10_000, help="Times each figure is measured.")
    ] = 3,
    as_json: Json = False,
) -> int:
    """Speed and memory of this installation."""
    from reknit.bench import run_benchmarks
    from reknit.cli import console

    with console.progress_bar(quiet=as_json) as progress:
        rows = run_benchmarks(repeats, progress)
    if as_json:
        print_json({"benchmarks": [row.as_dict() for row in rows]}, [])
        return DONE
    from rich.table import Table

    table = Table()
    table.add_column("what", overflow="fold")
    for name in ("best", "median", "worst", "wanted"):
        table.add_column(name, justify="right", overflow="fold")  # no number is cut
    for row in rows:
        table.add_row(row.name, *row.cells())
    console.out.print(table)
    return DONE
