"""What people see in the terminal: tables and progress."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from reknit.base.progress import Progress as Report
from reknit.recovery.runs import Run
from reknit.swarm.scenario import Scenario

out = Console()
err = Console(stderr=True)


@contextmanager
def progress_bar(quiet: bool = False, lines: bool = False) -> Iterator[Report]:
    """A bar on standard error that goes away when the work is done.

    lines   where that is no terminal, a line a minute instead, for the log of a long job.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    if lines and not quiet and not err.is_terminal:
        yield _a_line_a_minute()
        return
    # Single runs may take a minute, so the speed is taken over the last ten.
    with Progress(
        *columns,
        console=err,
        transient=True,
        disable=quiet or not err.is_terminal,
        speed_estimate_period=600,
    ) as bar:
        task = bar.add_task("working", total=1.0)

        def report(fraction: float, message: str) -> None:
            bar.update(task, completed=fraction, description=message)

        yield report


def _a_line_a_minute(period_s: float = 60.0) -> Report:
    begin_s = told_s = time.monotonic()
    begin: float | None = None

    def report(fraction: float, message: str) -> None:
        nonlocal told_s, begin
        now_s = time.monotonic()
        if begin is None:
            begin = fraction  # what was done before this session says nothing of its speed
        if now_s - told_s >= period_s and fraction > begin:
            told_s = now_s
            left_s = (now_s - begin_s) * (1 - fraction) / (fraction - begin)
            err.print(f"{message}: {fraction:.0%}, about {left_s / 60:.0f} min left")

    return report


def scenario_line(scenario: Scenario) -> str:
    """One sentence on what happened to the swarm."""
    survivors = len(scenario.survivors)
    count = scenario.subnet_count
    pieces = "still in one network" if count == 1 else f"in {count} sub-nets"
    return (
        f"{scenario.uavs} UAVs, {len(scenario.destroyed)} destroyed; "
        f"{survivors} survivor{'s' if survivors != 1 else ''} {pieces}."
    )


def run_table(run: Run) -> Table:
    """The figures of one run."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    metrics, plan = run.metrics, run.plan
    allowed_s = run.scenario.allowed_time_s
    table.add_row("planner", run.planner)
    if plan is not None:
        table.add_row("status", plan.status.value)
        table.add_row("planned time", _seconds(plan.recovery_time_s))
        table.add_row("no plan beats", f"{_seconds(plan.lower_bound_s)}{_gap(run)}")
    flown = _seconds(metrics.flown_time_s) if metrics.converged else "[red]not reconnected[/red]"
    table.add_row("flown time", f"{flown}  (allowed {allowed_s:.1f} s)")
    table.add_row("sub-nets", f"{metrics.subnets_before} -> {metrics.subnets_after}")
    table.add_row("links per UAV", f"{metrics.mean_degree:.2f}, at most {metrics.max_degree}")
    table.add_row(
        "metres flown", f"{metrics.path_length_m:.0f} in all, {metrics.longest_path_m:.1f} at most"
    )
    table.add_row("area covered", f"{metrics.coverage_before:.1%} -> {metrics.coverage_after:.1%}")
    if metrics.min_separation_m is not None:
        table.add_row("closest approach", f"{metrics.min_separation_m:.2f} m")
    table.add_row("computing", _milliseconds(run.compute_s))
    return table


def comparison_table(runs: Sequence[Run], lower_bound_s: float) -> Table:
    """All planners on one scenario, one row each."""
    table = Table(title_justify="left", caption_justify="left")
    table.caption = f"No plan is faster than {lower_bound_s:.3f} s."
    table.add_column("planner", no_wrap=True)
    for name in ("flown", "planned", "gap", "E(d)", "computing"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    for run in runs:
        metrics, plan = run.metrics, run.plan
        table.add_row(
            run.planner,
            _seconds(metrics.flown_time_s),
            "" if plan is None else _seconds(plan.recovery_time_s),
            "" if plan is None or not np.isfinite(plan.gap) else _percent(plan.gap),
            f"{metrics.mean_degree:.2f}",
            _milliseconds(run.compute_s),
            _status(run),
        )
    return table


def _status(run: Run) -> str:
    if run.plan is not None:
        return run.plan.status.value
    return "reconnected" if run.metrics.converged else "not connected"


def _gap(run: Run) -> str:
    if run.plan is None or not np.isfinite(run.plan.gap) or run.plan.recovery_time_s == 0:
        return ""
    return f"  (this one is {_percent(run.plan.gap)} above)"


def _percent(gap: float) -> str:
    return f"{gap:.2%}" if gap < 0.1 else f"{gap:.0%}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"


def _milliseconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.0f} ms"
