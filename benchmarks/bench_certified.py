"""How near to its bound the certified planner comes, how long it takes, and how it gets there.

Run: python -m benchmarks.bench_certified
         [usual] [hard] [demands] [curves] [rival] [deadlines] [scale]
         [--cases 20] [--first-seed 0] [--families N=1000] [--picture anytime.png] [--seconds 60]
         [--log certified.jsonl] [--page docs/certified.md]

With --log what is measured is kept in a file, one case a line, and those that are in
it are not computed again; --page writes all that it holds as tables. With "none" for the parts
nothing is measured.

usual       the paper's kind of swarms, which are solved to proof
demands     2- and 3-connected results and separations (benchmarks/demanding.py)
hard        sparse, heavily damaged and regular swarms (benchmarks/families.py), with the goals
curves      plan and bound by effort on the hard families, as a table and a picture
rival       the plan's time divided by that of a plain search of its own (tree_exchange.py) that is
            given --seconds of one core
deadlines   by how much calls with a budget overrun it, in the processor's time
scale       bound + plan + check from 10,000 to 1,000,000 UAVs, by the processor's time, and memory
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import reknit
from benchmarks.bench_limits import overrun_s
from benchmarks.certified_log import (
    Case,
    Deadline,
    Log,
    Moment,
    Rival,
    Size,
    optimal,
    page,
    resampled,
)
from benchmarks.demanding import DEMANDING
from benchmarks.families import HARD, RANGE_M, SPEED_MPS, USUAL, Family
from benchmarks.tree_exchange import search

EFFORTS = (100, 300, 1_000, 3_000, 10_000)
"""Units of work, about a millisecond each."""
BUDGETS_S = (
    (200, 0.5, (0.0, 0.01, 0.1)),
    (1_000, 0.5, (0.0, 0.01, 0.1)),
    (1_000, 0.95, (0.0, 0.01, 0.1)),
    (50_000, 0.5, (0.0, 1.0)),
)
"""UAVs, the share that is lost, and the budgets that are tried."""

_MOST_UAVS = 1_000_000
"""In all swarms of one size together."""

SIZES = (10_000, 50_000, 100_000, 500_000, 1_000_000)


def measure(family: Family, seed: int, log: Log) -> Case:
    """Bound, plan and check one swarm, unless the log has it."""
    known = log.of(Case, family=family.name, seed=seed)
    if known:
        return known[0]
    scenario = family.make(seed)
    started = time.process_time()
    plan = reknit.plan(scenario, "certified")
    compute_s = round(time.process_time() - started, 3)
    rows = len(plan.certificate.cases)
    if plan.certificate.parting is not None:
        rows += len(plan.certificate.parting.cases)
    time_s, bound_s = plan.recovery_time_s, plan.lower_bound_s
    case = Case(family.name, seed, time_s, bound_s, plan.status.value, compute_s, rows)
    log.add(case)
    return case


def interval(values: Sequence[float]) -> str:
    """Mean and its 95 % interval, as printed."""
    mean, low, high = resampled(values)
    return f"{mean:8.4f} [{low:.4f}, {high:.4f}]"


def report(families: Sequence[Family], cases: int, first_seed: int, log: Log) -> None:
    """Print one line for each family."""
    print(f"{'family':32s} cases  optimal  gap to the bound: mean [95 %], worst   goal   CPU s: "
          "median, worst   longest proof")  # fmt: skip
    for family in families:
        rows = [measure(family, first_seed + k, log) for k in range(cases)]
        gaps = [row.gap for row in rows]
        compute = [row.compute_s for row in rows]
        print(
            f"{family.name:32s} {cases:5d}  {optimal(rows):4d}     {interval(gaps)}"
            f" {max(gaps):8.4f}   {family.goal:6.3f}"
            f"   {statistics.median(compute):7.3f} {max(compute):7.3f}"
            f"   {max(row.proof_rows for row in rows):8d}",
            flush=True,
        )


def curves(families: Sequence[Family], cases: int, first_seed: int, picture: str, log: Log) -> None:
    """Plan and bound after more and more work, and a picture of them over the computing time.

    Work is counted, not time, so that the figures are the same on a busy machine.
    """
    print(f"{'family':32s} gap to the bound in % / CPU s at effort "
          + " ".join(f"{effort:,}" for effort in EFFORTS))  # fmt: skip
    for family in families:
        text = []
        for effort in EFFORTS:
            rows = [_moment(family, first_seed + case, effort, log) for case in range(cases)]
            gap, compute_s = (
                statistics.mean(getattr(row, name) for row in rows) for name in ("gap", "compute_s")
            )
            text.append(f"{100.0 * gap:6.1f} / {compute_s:5.1f}")
        print(f"{family.name:32s} " + "  ".join(text), flush=True)
    _draw_moments(log, picture)
    print(f"drawn to {picture}")


def _moment(family: Family, seed: int, effort: int, log: Log) -> Moment:
    known = log.of(Moment, family=family.name, seed=seed, effort=effort)
    if known:
        return known[0]
    scenario = family.make(seed)  # nothing is remembered of other efforts
    started = time.process_time()
    plan = reknit.plan(scenario, "certified", effort=effort)
    compute_s = round(time.process_time() - started, 3)
    time_s, bound_s = plan.recovery_time_s, plan.lower_bound_s
    log.add(Moment(family.name, seed, effort, time_s, bound_s, compute_s))
    return log.of(Moment, family=family.name, seed=seed, effort=effort)[0]


def _draw_moments(log: Log, picture: str) -> None:
    """Plan and bound, each divided by the best plan of its swarm, over the mean seconds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
    drawn = [family.name for family in HARD if log.of(Moment, family=family.name)]
    for number, name in enumerate(drawn):
        rows = log.of(Moment, family=name)
        best_s = {row.seed: min(r.time_s for r in rows if r.seed == row.seed) for row in rows}
        seconds, upper, lower = [], [], []
        for effort in sorted({row.effort for row in rows}):
            of_effort = [row for row in rows if row.effort == effort]
            seconds.append(statistics.mean(row.compute_s for row in of_effort))
            upper.append(statistics.mean(row.time_s / best_s[row.seed] for row in of_effort))
            lower.append(statistics.mean(row.bound_s / best_s[row.seed] for row in of_effort))
        axes.plot(seconds, upper, color=f"C{number % 10}", marker="o", label=name)
        axes.plot(seconds, lower, color=f"C{number % 10}", marker=".", linestyle=":")
    axes.set_xscale("log")
    axes.set_xlabel("computing, seconds of one core")
    axes.set_ylabel("time of the plan (solid) and bound (dotted) / best plan")
    axes.set_title("Plan and bound closing in, mean over the swarms of each family")
    axes.legend(fontsize="small", ncols=2)
    figure.savefig(picture, dpi=110)
    pyplot.close(figure)


def rival(
    families: Sequence[Family], cases: int, first_seed: int, seconds: float, log: Log
) -> None:
    """How the plans that are not proved to be the best compare with those of a plain search of so
    many seconds.
    """
    print(f"{'family':32s} cases  time / that of {seconds:g} s of plain search: mean [95 %], worst")
    for family in families:
        for seed in range(first_seed, first_seed + cases):
            is_proved = optimal([measure(family, seed, log)]) == 1
            if not is_proved and not log.of(Rival, family=family.name, seed=seed, seconds=seconds):
                time_s = search(family.make(seed), seconds, seed=seed - first_seed)
                log.add(Rival(family.name, seed, seconds, time_s))
        ratios = log.ratios(family.name, seconds)
        if not ratios:
            continue
        print(f"{family.name:32s} {cases:5d}  {interval(ratios)} {max(ratios):8.4f}", flush=True)


def deadlines(cases: int, first_seed: int, log: Log) -> None:
    """The processor's time beyond the budget of whole calls; allowed are 30 ms or 5 %."""
    reknit.plan(reknit.generate(60, 30, 1, split=True), "certified")  # libraries are loaded
    gc.freeze()  # else a full collection of what they hold falls into some call
    print("     N  lost   budget, s   overrun, ms: median   worst   worst time / bound")
    for uavs, lost, budgets in BUDGETS_S:
        for budget_s in budgets:
            for seed in range(first_seed, first_seed + cases):
                key = {"uavs": uavs, "lost": lost, "budget_s": budget_s, "seed": seed}
                if not log.of(Deadline, **key):
                    scenario = reknit.generate(uavs, round(uavs * lost), seed=seed, split=True)
                    over_s, plan = overrun_s(scenario, "certified", budget_s)
                    ratio = plan.recovery_time_s / plan.lower_bound_s
                    log.add(Deadline(uavs, lost, budget_s, seed, over_s, ratio))
            rows = log.of(Deadline, uavs=uavs, lost=lost, budget_s=budget_s)
            over_ms = [1e3 * row.over_s for row in rows]
            print(
                f"{uavs:6d}  {lost:4.0%}   {budget_s:9g}   {statistics.median(over_ms):19.1f} "
                f"{max(over_ms):7.1f}   {max(row.ratio for row in rows):7.2f}",
                flush=True,
            )


def scale(cases: int, first_seed: int, largest: int, log: Log) -> None:
    """Seconds of one core for bound, plan and check at half damage, and the memory."""
    print("        N   status    CPU s   check, s   memory so far, GiB")
    for uavs in (size for size in SIZES if size <= largest):
        for seed in range(first_seed, first_seed + max(1, min(cases, _MOST_UAVS // uavs))):
            if log.of(Size, uavs=uavs, seed=seed):
                continue
            scenario = _half_lost(uavs, seed)
            started_s = time.process_time()
            plan = reknit.plan(scenario, "certified")
            compute_s = time.process_time() - started_s
            started_s = time.process_time()
            plan.verify(scenario)
            check_s = time.process_time() - started_s
            memory_gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            log.add(Size(uavs, seed, compute_s, check_s, memory_gib, plan.status.value))
        for row in log.of(Size, uavs=uavs):
            print(f"{uavs:9d}   {row.status:8s} {row.compute_s:6.2f}   {row.check_s:6.2f}   "
                  f"{row.memory_gib:5.2f}", flush=True)  # fmt: skip


def _half_lost(uavs: int, seed: int) -> reknit.Scenario:
    swarm = reknit.generate(uavs, uavs // 2, seed=seed, split=True)
    return reknit.Scenario(swarm.positions, swarm.destroyed, RANGE_M, SPEED_MPS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what is asked for."""
    parts = ("usual", "hard", "demands", "curves", "rival", "deadlines", "scale", "none")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=", ".join(parts))
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--families", default="", help="only those whose name has this in it")
    parser.add_argument("--picture", default="anytime.png")
    parser.add_argument("--log", default="", help="file of the cases that were measured")
    parser.add_argument("--page", default="", help="Markdown file to write the table to")
    parser.add_argument("--seconds", type=float, default=60.0, help="for the plain search")
    parser.add_argument("--largest", type=int, default=100_000, help="N of the largest swarm")
    chosen = parser.parse_args(arguments)
    unknown = sorted(set(chosen.parts) - set(parts))
    if unknown:
        parser.error(f"{', '.join(unknown)}: choose from {', '.join(parts)}")
    asked = chosen.parts or ["usual", "hard"]
    usual, hard = ([f for f in kind if chosen.families in f.name] for kind in (USUAL, HARD))
    log = Log(chosen.log)
    if "usual" in asked:
        report(usual, chosen.cases, chosen.first_seed, log)
    if "hard" in asked:
        report(hard, chosen.cases, chosen.first_seed, log)
    if "demands" in asked:
        demanding = [family for family in DEMANDING if chosen.families in family.name]
        report(demanding, chosen.cases, chosen.first_seed, log)
    if "curves" in asked:
        curves(hard, chosen.cases, chosen.first_seed, chosen.picture, log)
    if "rival" in asked:
        rival(hard, chosen.cases, chosen.first_seed, chosen.seconds, log)
    if "deadlines" in asked:
        deadlines(chosen.cases, chosen.first_seed, log)
    if "scale" in asked:
        scale(chosen.cases, chosen.first_seed, chosen.largest, log)
    if chosen.page:
        picture = Path(chosen.picture)
        beside = os.path.relpath(picture, Path(chosen.page).parent) if picture.exists() else ""
        Path(chosen.page).write_text(page(log, beside))


if __name__ == "__main__":
    main()
