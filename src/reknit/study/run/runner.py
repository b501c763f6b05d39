"""`run_study`: do what is not done yet, and keep every result at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reknit.algorithms.registry import build
from reknit.base.errors import InvalidParameter
from reknit.base.files import checked_path
from reknit.base.log import logger
from reknit.base.progress import Progress, silent
from reknit.base.values import check_callable, is_whole
from reknit.study.run.engines import carry_out, check_engine
from reknit.study.spec.study import Study, check_study
from reknit.study.store import Store, check_exported

_LOG = logger(__name__)


@dataclass(frozen=True)
class Summary:
    """What a call of `run_study` did.

    Parameters
    ----------
    total
        Runs of the study under the profile.
    before, now
        How many were done before, and by this call.
    failed, first_failure
        How many of all failed, and what the first of them said.
    """

    total: int
    before: int
    now: int
    failed: int
    first_failure: str = ""


def run_study(
    study: Study,
    path: Path | str,
    *,
    profile: str = "quick",
    engine: str = "joblib",
    workers: int | None = None,
    address: str | None = None,
    retry: bool = False,
    known: Path | str | None = None,
    share: bool = False,
    progress: Progress = silent,
) -> Summary:
    """Run a study, or the rest of it. Killed at any moment, the next call goes on from there.

    Parameters
    ----------
    study
        What to run.
    path
        The results file; made if there is none.
    profile
        "quick" or "paper".
    engine, workers, address
        "joblib" or "ray"; how many runs at a time, one per core if left out; of a Ray cluster.
    retry
        Run the failed ones again.
    known
        A Parquet file of runs, as `write_report` exports them, or a folder of such files: what is
        in them is not run again.
    share
        Nor is what other results files in the same folder hold: studies have runs in common.
    progress
        Called with the share done and a line of text.

    Returns
    -------
    Summary
        How many runs there are, were done before and now, and failed.
    """
    check_study(study)
    check_callable(progress=progress)
    path = checked_path("path", path)
    if workers is not None and not (is_whole(workers) and workers >= 1):
        raise InvalidParameter("workers", workers, "None or a whole number of at least 1")
    fault = study.fault()  # last, since it loads the planners
    if fault is not None:
        raise fault[0]
    for planner in study.planner:
        build(planner.name, planner.parameters)  # tells of a missing library before any work
    tasks = list({task.key: task for task in study.tasks(profile)}.values())
    files = [] if known is None else _parquet_files(checked_path("known", known))
    # A wrong argument leaves no results file behind.
    check_engine(engine, address)
    for file in files:
        check_exported(file)
    others = sorted(path.parent.glob("*.duckdb")) if share else []
    with Store(path, study) as store:
        for file in files:
            store.take(file, tasks)
        for other in others:
            if other != path:
                store.share(other, tasks)
        done = store.done()
        todo = [task for task in tasks if task.key not in done or (retry and not done[task.key])]
        before = len(tasks) - len(todo)
        if todo:
            store.begin(_workers(engine, workers, address))
        progress(before / max(1, len(tasks)), f"{study.name}: starting")
        for number, (task, row) in enumerate(carry_out(todo, engine, workers, address), start=1):
            store.add(task, row)
            if row["ok"]:
                _LOG.debug("%s, N=%d, repetition %d", task.label, task.uavs, task.repetition)
            else:
                _LOG.warning("%s, N=%d failed: %s", task.label, task.uavs, row["error"])
            portion = (before + number) / len(tasks)
            progress(portion, f"{study.name}: {task.label}, N={task.uavs}")
        failed = [row for row in store.rows(tasks) if not row["ok"]]
    first = f"{failed[0]['label']}: {failed[0]['error'].splitlines()[0]}" if failed else ""
    return Summary(len(tasks), before, len(todo), len(failed), first)


def _parquet_files(path: Path) -> list[Path]:
    """The file, or those in the folder."""
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise InvalidParameter("known", str(path), "a Parquet file, or a folder with some")
    return files


def _workers(engine: str, workers: int | None, address: str | None) -> str:
    """How the work was shared out, in words."""
    where = "a Ray cluster" if address else engine
    several = "one run per core" if workers is None else f"{workers} at a time"
    return f"{where}, {several}, one thread each"
