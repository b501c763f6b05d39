"""`reknit study`: run experiments, report them, list them."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reknit.base.errors import InvalidParameter
from reknit.base.words import counted
from reknit.cli.values import folder, print_files, print_json

if TYPE_CHECKING:
    from reknit.study.run.runner import Summary
    from reknit.study.spec.study import Study

study_app = typer.Typer(
    help="The paper's experiments and one's own: run, resume, report.", no_args_is_help=True
)

Name = Annotated[
    str, typer.Argument(metavar="STUDY", help="A built-in study, a .toml file, or 'all'.")
]
Profile = Annotated[str, typer.Option(help="quick (fewer runs) or paper (all of them).")]
Results = Annotated[
    Path, typer.Option("--out", metavar="DIR", parser=folder, help="Folder for the results.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@study_app.command("run", epilog="Example: reknit study run scalability --profile quick")
def run(
    name: Name,
    profile: Profile = "quick",
    out: Results = Path("results"),
    engine: Annotated[str, typer.Option(help="joblib (this machine) or ray.")] = "joblib",
    address: Annotated[
        str | None,
        typer.Option(help="Of a Ray cluster.", show_default="a local one is started"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time.", show_default="one per core")
    ] = None,
    planner: Annotated[
        str | None,
        typer.Option(help="Other planners, with commas between.", show_default="the study's own"),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed ones again.")] = False,
    known: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="A Parquet file of runs, or a folder of them: what is in them is not run again.",
            show_default="none",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a study, or what is left of it: stopped at any moment, it goes on from there.

    Exit code 0 if all runs went well, 1 if some failed, 2 if the study could not be run.
    """
    from reknit.base.errors import StoreRefused
    from reknit.cli import console
    from reknit.knowledge import kinds
    from reknit.knowledge import studies as knowledge
    from reknit.study.run.runner import run_study

    if name in kinds.STUDIES:
        _check_profile(profile)
        other_engine = None if engine == "joblib" else engine
        given = {"--planner": planner, "--engine": other_engine, "--address": address}
        _refuse_without_effect(name, given)
        _refuse_without_effect(name, {"--workers": workers, "--known": known, "--retry": retry})
        with console.progress_bar(quiet=as_json, lines=True) as progress:
            files = knowledge.run_knowledge_study(name, out, knowledge.CASES[profile], progress)
        print_files(files) if not as_json else print_json({"study": name}, files)
        return
    if address is not None and engine != "ray":
        raise InvalidParameter("--address", address, "only with --engine ray")
    studies = _studies(name, planner, profile)
    done: dict[str, Summary] = {}
    refused: dict[str, str] = {}
    for study in studies:
        try:
            with console.progress_bar(quiet=as_json, lines=True) as progress:
                done[study.name] = run_study(
                    study,
                    _store(out, study.name, profile),
                    profile=profile,
                    engine=engine,
                    workers=workers,
                    address=address,
                    retry=retry,
                    known=known,
                    share=True,
                    progress=progress,
                )
        except StoreRefused as error:
            # The store of one study says nothing about those of the others.
            if len(studies) == 1:
                raise
            refused[study.name] = str(error)
            continue
        if not as_json:
            console.out.print(_in_words(study.name, done[study.name]), markup=False)
    if as_json:
        answers = [{"study": name, **asdict(summary)} for name, summary in done.items()]
        several = {"studies": answers, "not_run": refused}
        print_json(answers[0] if len(studies) == 1 else several, [])
    else:
        words = [name, "--profile", profile, *(["--planner", planner] if planner else [])]
        words += ["--out", str(out)] if out != Path("results") else []
        next_step = f"See them: reknit study report {' '.join(words)}"
        console.out.print(next_step, markup=False, soft_wrap=True)
    if len(studies) > 1 and not as_json:
        console.out.print(_altogether(done))
    for study_name, reason in refused.items():
        sys.stderr.write(f"reknit: {study_name}: not run: {reason}\n")
    if refused:
        raise typer.Exit(2)
    if any(summary.failed for summary in done.values()):
        raise typer.Exit(1)


@study_app.command("report", epilog="Example: reknit study report scalability --export")
def report(
    name: Name,
    profile: Profile = "quick",
    out: Results = Path("results"),
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=folder,
            help="Folder for the report.",
            show_default="beside the results",
        ),
    ] = None,
    planner: Annotated[
        str | None,
        typer.Option(help="As given to 'study run'.", show_default="the study's own"),
    ] = None,
    export: Annotated[bool, typer.Option("--export", help="All runs as Parquet too.")] = False,
) -> None:
    """Write figures, tables and an HTML page from what has been run so far, also meanwhile."""
    from reknit.base.errors import StoreRefused
    from reknit.cli import console
    from reknit.knowledge import kinds
    from reknit.knowledge import studies as knowledge
    from reknit.study.report.overview import write_overview
    from reknit.study.report.write import pictures_in, write_report

    if name in kinds.STUDIES:
        _check_profile(profile)
        _refuse_without_effect(name, {"--to": to, "--planner": planner, "--export": export})
        print_files(knowledge.write_results(name, out))
        return
    studies = _studies(name, planner, profile)
    pages = []
    refused: dict[str, str] = {}

    def folder_of(study: Study) -> Path:
        return (to or out) / f"{study.name}-{profile}"

    with console.progress_bar() as progress:
        for study in studies:
            store = _store(out, study.name, profile)
            try:
                files = write_report(
                    study,
                    store,
                    folder_of(study),
                    profile=profile,
                    export=export,
                    progress=progress,
                )
            except StoreRefused as error:
                if len(studies) == 1:
                    raise
                refused[study.name] = str(error)
                continue
            pages.append(files[0])
    for page in pages:
        console.out.print(f"Open {page} in a browser.", markup=False, soft_wrap=True)
    if len(studies) > 1 and pages:
        overview = (to or out) / "results.md"
        write_overview(
            studies,
            lambda study: (_store(out, study.name, profile), profile),
            overview,
            lambda study: pictures_in(study, folder_of(study)),
        )
        console.out.print(f"All in one: {overview}", markup=False, soft_wrap=True)
    for study_name, reason in refused.items():
        sys.stderr.write(f"reknit: {study_name}: no report: {reason}\n")
    if refused:
        raise typer.Exit(2)


@study_app.command("list", epilog="Example: reknit study list")
def list_studies(as_json: Json = False) -> None:
    """The built-in studies and how many runs each profile has."""
    from reknit.knowledge import kinds
    from reknit.knowledge import studies as knowledge
    from reknit.study.spec.study import PROFILES, built_in_studies, load_study

    rows: list[dict[str, Any]] = []
    for study in (load_study(name, with_planners=False) for name in built_in_studies()):
        runs = {profile: len(study.tasks(profile)) for profile in PROFILES}
        rows.append({"name": study.name, "title": study.title, "runs": runs})
    for name, title in kinds.titles().items():
        different = {kind.key: kind for kind in kinds.STUDIES[name]()}.values()
        runs = {
            profile: sum(min(kind.cases, knowledge.CASES[profile]) for kind in different)
            for profile in PROFILES
        }
        rows.append({"name": name, "title": title, "runs": runs})
    if as_json:
        print_json({"studies": rows}, [])
        return
    from rich.table import Table

    from reknit.cli.console import out, print_missing

    table = Table()
    for column in ("study", "what it shows"):
        table.add_column(column, overflow="fold")
    for column in PROFILES:
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row["name"], row["title"], *(f"{row['runs'][name]:d}" for name in PROFILES))
    out.print(table)
    missing = {
        extra: [names]
        for extra, module, names in (
            ("study", "duckdb", "what runs and reports them"),
            ("learn", "torch", "the learned planners that many of them compare"),
        )
        if find_spec(module) is None
    }
    print_missing(missing)


@study_app.command("submit", epilog="Example: reknit study submit paper-200-half plan.json")
def submit_plan(
    name: Annotated[str, typer.Argument(metavar="INSTANCE", help="An instance of the library.")],
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan.json for it.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=folder,
            help="Folder of best plans.",
            show_default="REKNIT_LIBRARY, or your data folder",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Verify a plan for a library instance; keep it if it is faster or its bound is higher."""
    from reknit.plans.plan import Plan
    from reknit.study.library.instances import submit, user_folder

    verdict = submit(name, Plan.load(plan), out)
    best = verdict.plan
    if as_json:
        answer = {
            "instance": name,
            "faster": verdict.faster,
            "tighter": verdict.tighter,
            "recovery_time_s": best.recovery_time_s,
            "lower_bound_s": best.lower_bound_s,
        }
        sys.stdout.write(json.dumps(answer) + "\n")
        return
    from reknit.cli.console import out as console

    news = [
        word
        for word, true in (("a faster plan", verdict.faster), ("a better bound", verdict.tighter))
        if true
    ]
    console.print(
        f"{name}: verified; {' and '.join(news) or 'no better than what is known'}. "
        f"Best known {best.recovery_time_s:.4f} s, proven bound {best.lower_bound_s:.4f} s."
        + (f" Kept in {out or user_folder()}." if news else ""),
        soft_wrap=True,
    )


def _in_words(name: str, summary: Summary) -> str:
    failed = f", {summary.failed} of all failed" if summary.failed else ""
    return (
        f"{name}: {counted(summary.total, 'run')}, {summary.before} done before, "
        f"{summary.now} now{failed}."
        + (f"\n  first failure: {summary.first_failure}" if summary.first_failure else "")
    )


def _altogether(done: dict[str, Summary]) -> str:
    """What all studies came to, with the names of those in which runs failed."""
    runs = sum(summary.total for summary in done.values())
    failed = {name: each.failed for name, each in done.items() if each.failed}
    listing = ", ".join(f"{count} of {name}" for name, count in failed.items())
    end = f"failed: {listing}; --retry runs them again." if failed else "none failed."
    return f"{counted(len(done), 'study', 'studies')}, {counted(runs, 'run')}, {end}"


def _studies(name: str, planners: str | None, profile: str) -> list[Study]:
    """The study of this name, or all built-in ones for `all`; with other planners if given."""
    from reknit.algorithms.registry import build
    from reknit.base.errors import UnknownName
    from reknit.knowledge import kinds
    from reknit.study.spec.study import built_in_studies, load_study

    # Before the studies are read: checking their planners loads torch, which takes seconds.
    _check_profile(profile)
    known = [*built_in_studies(), *kinds.STUDIES, "all"]
    if name not in known and Path(name).suffix != ".toml":
        raise UnknownName("study", name, known)
    studies = [load_study(each) for each in (built_in_studies() if name == "all" else [name])]
    if planners is None:
        return studies
    names = [part.strip() for part in planners.split(",")]
    for each in names:
        build(each, {})
    return [study.with_planners(names) for study in studies]


def _refuse_without_effect(name: str, given: dict[str, Any]) -> None:
    """Refuse options that a study of ignorance would pass over: it has planners, workers and
    places of its own.
    """
    for option, value in given.items():
        if value not in (None, False):
            shown = str(value) if isinstance(value, Path) else value
            raise InvalidParameter(option, shown, f"not with {name!r}, a study of ignorance")


def _check_profile(profile: str) -> None:
    from reknit.base.errors import UnknownName
    from reknit.study.spec.study import PROFILES

    if profile not in PROFILES:
        raise UnknownName("profile", profile, PROFILES)


def _store(folder: Path, name: str, profile: str) -> Path:
    return folder / f"{name}-{profile}.duckdb"
