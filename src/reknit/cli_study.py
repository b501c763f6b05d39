"""`reknit study`: run experiments, report them, list them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

study_app = typer.Typer(
    help="The paper's experiments and one's own: run, resume, report.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(help="A built-in study, or a .toml file.")]
Profile = Annotated[str, typer.Option(help="quick (fewer runs) or paper (all of them).")]
Results = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@study_app.command("run", epilog="Example: reknit study run scalability --profile quick")
def run(
    name: Name,
    profile: Profile = "quick",
    out: Results = Path("results"),
    engine: Annotated[str, typer.Option(help="joblib (this machine) or ray.")] = "joblib",
    address: Annotated[
        str | None, typer.Option(help="Of a Ray cluster; without, a local one is started.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time. Default: one per core.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed ones again.")] = False,
    as_json: Json = False,
) -> None:
    """Run a study, or what is left of it: stopped at any moment, it goes on from there."""
    from dataclasses import asdict

    from reknit import console
    from reknit.study.runner import run_study
    from reknit.study.spec import load_study

    study = load_study(name)
    with console.progress_bar(quiet=as_json) as progress:
        summary = run_study(
            study,
            _store(out, study.name, profile),
            profile=profile,
            engine=engine,
            workers=workers,
            address=address,
            retry=retry,
            progress=progress,
        )
    if as_json:
        sys.stdout.write(json.dumps(asdict(summary)) + "\n")
        return
    failed = f", {summary.failed} of all failed" if summary.failed else ""
    console.out.print(
        f"{study.name}: {summary.total} runs, {summary.before} done before, "
        f"{summary.now} now{failed}. See them: reknit study report {name} --profile {profile}"
    )


@study_app.command("report", epilog="Example: reknit study report scalability --export")
def report(
    name: Name,
    profile: Profile = "quick",
    out: Results = Path("results"),
    export: Annotated[bool, typer.Option("--export", help="All runs as Parquet too.")] = False,
) -> None:
    """Write figures, tables and an HTML page from what has been run so far."""
    from reknit import console
    from reknit.study.report import write_report
    from reknit.study.spec import load_study

    study = load_study(name)
    folder = out / f"{study.name}-{profile}"
    with console.progress_bar() as progress:
        files = write_report(
            study,
            _store(out, study.name, profile),
            folder,
            profile=profile,
            export=export,
            progress=progress,
        )
    console.out.print(f"Open {files[0]} in a browser.", soft_wrap=True)


@study_app.command("list", epilog="Example: reknit study list")
def list_studies(as_json: Json = False) -> None:
    """The built-in studies and how many runs each profile has."""
    from reknit.study.spec import built_in_studies, load_study

    studies = [load_study(name) for name in built_in_studies()]
    if as_json:
        rows = [{"name": study.name, "title": study.title} for study in studies]
        sys.stdout.write(json.dumps({"studies": rows}) + "\n")
        return
    from rich.table import Table

    from reknit.console import out

    table = Table()
    for column in ("study", "what it shows", "quick", "paper"):
        table.add_column(column, justify="right" if column in ("quick", "paper") else "left")
    for study in studies:
        counts = (str(len(study.tasks(profile))) for profile in ("quick", "paper"))
        table.add_row(study.name, study.title, *counts)
    out.print(table)


def _store(folder: Path, name: str, profile: str) -> Path:
    return folder / f"{name}-{profile}.duckdb"
