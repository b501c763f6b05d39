"""What people see in the terminal: tables and progress."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from reknit.base.progress import Progress as Report
from reknit.base.words import counted, seconds_text
from reknit.cli import quit_at_once
from reknit.plans.status import Status
from reknit.recovery.repeated import RepeatedRun
from reknit.recovery.runs import Run
from reknit.swarm.scenario import Scenario

out = Console()
err = Console(stderr=True)


@contextmanager
def progress_bar(quiet: bool = False, lines: bool = False) -> Iterator[Report]:
    """A bar on standard error that goes away when the work is done.

    Work begins here: from now on an interrupt unwinds and cleans up.

    Parameters
    ----------
    lines
        Where that is no terminal, a line a minute instead, for the log of a long job.
    """
    if signal.getsignal(signal.SIGINT) is quit_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)
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
    count = scenario.subnet_count
    pieces = "still in one network" if count == 1 else f"in {count} sub-nets"
    return (
        f"{counted(scenario.uavs, 'UAV')}, {len(scenario.destroyed):,} destroyed; "
        f"{counted(len(scenario.survivors), 'survivor')} {pieces}."
    )


def print_missing(missing: Mapping[str, Sequence[str]]) -> None:
    """One line for every extra that is not installed and what it would add."""
    for extra, names in missing.items():
        hint = f"pip install 'reknit[{extra}]' adds {', '.join(names)}."
        out.print(hint, markup=False, soft_wrap=True)


def run_table(run: Run, has_inertia: bool = False) -> Table:
    """The figures of one run; whether it was flown with inertia, which plans do not know of."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    metrics, plan = run.metrics, run.plan
    allowed_s = run.scenario.allowed_time_s
    table.add_row("planner", run.planner)
    if plan is not None:
        table.add_row("status", _status(run))
        table.add_row("planned time", seconds_text(metrics.planned_time_s))
        table.add_row("no plan beats", f"{seconds_text(plan.lower_bound_s)}{_gap(run)}")
    flown = "[red]not reconnected[/red]"
    if metrics.converged:
        flown = seconds_text(metrics.flown_time_s)
    allowed = f"{allowed_s:.1f} s" if allowed_s >= 1.0 else seconds_text(allowed_s)
    inertia = (
        "; with inertia, which plan and bound neglect" if has_inertia and plan is not None else ""
    )
    table.add_row("flown time", f"{flown}  (allowed {allowed}{inertia})")
    table.add_row("sub-nets", f"{metrics.subnets_before} -> {metrics.subnets_after}")
    table.add_row("links per UAV", f"{metrics.mean_degree:.2f}, at most {metrics.max_degree}")
    table.add_row(
        "metres flown", f"{metrics.path_length_m:.0f} in all, {metrics.longest_path_m:.1f} at most"
    )
    table.add_row("area covered", f"{metrics.coverage_before:.1%} -> {metrics.coverage_after:.1%}")
    if metrics.min_separation_m is not None:
        table.add_row("closest approach", f"{metrics.min_separation_m:.2f} m")
    for warning in run.warnings:
        table.add_row("[red]warning[/red]", f"[red]{escape(warning)}[/red]")
    table.add_row("computing", _milliseconds(run.compute_s))
    return table


def phases_table(result: RepeatedRun) -> Table:
    """What happened after the first damage and after each strike."""
    table = Table(title_justify="left", caption_justify="left")
    for name in ("from", "survivors", "sub-nets", "reconnected"):
        table.add_column(name, justify="right", overflow="fold")  # no number is cut
    ends_s = [*result.begins_s[1:], np.inf]
    for begin_s, end_s, run in zip(result.begins_s, ends_s, result.phases, strict=True):
        at = run.flight.reconnected_at_s
        reconnected = "-" if at is None else f"after {seconds_text(at)}"
        table.add_row(
            seconds_text(begin_s),
            str(len(run.scenario.survivors)),
            str(run.scenario.subnet_count),
            "struck before" if at is not None and begin_s + at > end_s else reconnected,
        )
    end = result.reconnected_at_s
    whole = "Not whole within the allowed time" if end is None else f"Whole at {seconds_text(end)}"
    table.caption = f"{whole}; connected {result.connected_share:.0%} of the time until then."
    return table


def comparison_table(
    runs: Sequence[Run], failures: Mapping[str, str], lower_bound_s: float
) -> Table:
    """All planners on one scenario, one row each; as many columns as the terminal has room for.

    Numbers are never cut: in a narrow terminal the columns that say least are left out, the
    last of `optional` first, and a status may wrap.
    """
    rows = [_cells(run) for run in runs]
    names = ["planner", "flown", "planned", "gap", "E(d)", "computing"]
    optional = ["gap", "planned", "computing", "E(d)"]
    rows += [{"planner": name, "flown": "failed"} for name in failures]
    room = out.width - _STATUS_WIDTH

    def width() -> int:
        return sum(
            max(len(row.get(name, "")) for row in [*rows, {name: name}]) + 3 for name in names
        )

    left_out: list[str] = []
    while optional and width() > room:
        left_out.append(optional.pop())
        names.remove(left_out[-1])
    table = Table(title_justify="left", caption_justify="left")
    table.caption = f"No plan is faster than {seconds_text(lower_bound_s)}."
    if left_out:
        table.caption += f" Too narrow for: {', '.join(reversed(left_out))}."
    for name in names:
        justify: Literal["left", "right"] = "left" if name == "planner" else "right"
        table.add_column(name, justify=justify, no_wrap=True)
    table.add_column("status", overflow="fold")
    for run, row in zip(runs, rows, strict=False):
        table.add_row(*(row[name] for name in names), _status(run))
    for name, reason in failures.items():
        empty = [""] * (len(names) - 2)
        table.add_row(name, "failed", *empty, escape(reason))
    return table


_STATUS_WIDTH = 18
"""What the column of the status needs to wrap between words, borders included."""


def _cells(run: Run) -> dict[str, str]:
    metrics, plan = run.metrics, run.plan
    return {
        "planner": run.planner,
        "flown": seconds_text(metrics.flown_time_s),
        "planned": "" if plan is None else seconds_text(metrics.planned_time_s),
        "gap": "" if plan is None or not np.isfinite(plan.gap) else _percent(plan.gap),
        "E(d)": f"{metrics.mean_degree:.2f}",
        "computing": _milliseconds(run.compute_s),
    }


def _status(run: Run) -> str:
    if run.plan is not None:
        status = run.plan.status
    elif run.metrics.converged:
        return "reconnected"
    else:
        status = Status.NOT_CONNECTED
    is_one = run.metrics.subnets_after == 1 and status is Status.NOT_CONNECTED
    return "connected, but not as demanded" if is_one else status.value


def _gap(run: Run) -> str:
    if run.plan is None or not np.isfinite(run.plan.gap) or run.plan.recovery_time_s == 0:
        return ""
    return f"  (this one is {_percent(run.plan.gap)} above)"


def _percent(gap: float) -> str:
    return f"{gap:.2%}" if gap < 0.1 else f"{gap:.0%}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.0f} ms"
