"""How near to its bound the certified planner comes, how long it takes, and how it gets there.

Run: python -m benchmarks.bench_certified
         [usual] [hard] [demands] [curves] [rival] [deadlines] [scale]
         [--cases 20] [--first-seed 0] [--families N=1000] [--picture anytime.png] [--seconds 60]
         [--log certified.jsonl] [--page docs/certified.md]

With --log the cases of `usual`, `hard` and `demands` are kept in a file, one a line, and those that
are in it are not computed again; --page writes all that it holds as a table.

usual       the paper's kind of swarms, which are solved to proof
demands     2- and 3-connected results and separations (benchmarks/demanding.py)
hard        sparse, heavily damaged and regular swarms (benchmarks/families.py), with the goals
curves      plan and bound over the computing time on the hard families, as a table and a picture
rival       the plan's time divided by that of a plain search of its own (tree_exchange.py) that is
            given --seconds of one core
deadlines   by how much calls with a budget overrun it: median, p99, worst
scale       bound + plan + check from 10,000 to 1,000,000 UAVs, and the growth with N
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

import reknit
from benchmarks.demanding import DEMANDING
from benchmarks.families import HARD, RANGE_M, SPEED_MPS, USUAL, Family
from benchmarks.tree_exchange import search
from reknit.plans.status import Status

MOMENTS_S = (0.1, 0.3, 1.0, 3.0, 10.0)
BUDGETS_S = (0.0, 0.001, 0.01, 0.03, 0.1, 0.3, 1.0)
SIZES = (10_000, 50_000, 100_000, 500_000, 1_000_000)


@dataclass(frozen=True)
class Row:
    """One case: times of plan and bound, its status, and the seconds of one core that it took."""

    family: str
    seed: int
    time_s: float
    bound_s: float
    status: str
    compute_s: float
    proof_rows: int

    @property
    def gap(self) -> float:
        """How far the plan is above the bound, as a share of the bound."""
        return self.time_s / self.bound_s - 1.0


def measure(scenario: reknit.Scenario, family: str = "", seed: int = 0) -> Row:
    """Bound, plan and check one swarm."""
    started = time.process_time()
    plan = reknit.plan(scenario, "certified")
    compute_s = round(time.process_time() - started, 3)
    rows = len(plan.certificate.cases)
    time_s, bound_s = plan.recovery_time_s, plan.lower_bound_s
    return Row(family, seed, time_s, bound_s, plan.status.value, compute_s, rows)


_PAGE_HEAD = (
    "# How near to its bound the certified planner comes",
    "",
    "Made by `python -m benchmarks.bench_certified usual hard --log FILE --page PAGE` from seeds",
    "on which nothing was tuned, with the default effort. The gap is the plan's time divided by",
    "the proved bound, less 1; its interval comes from resampling the cases. Seconds are of one",
    "core of a machine that was busy with other work: bound, plan and check together. Rows of",
    "fewer than 20 cases carry no claim.",
    "",
    "| family | cases | optimal | mean gap, % (95 % interval) | worst, % | goal, % "
    "| CPU, s: median, worst |",
    "| --- | --- | --- | --- | --- | --- | --- |",
)


class Log:
    """Cases that were measured, in a file of one JSON object a line; in memory without a file."""

    def __init__(self, path: str) -> None:
        self.path = Path(path) if path else None
        self.rows: dict[tuple[str, int], Row] = {}
        if self.path is not None and self.path.exists():
            for line in self.path.read_text().splitlines():
                row = Row(**json.loads(line))
                self.rows[row.family, row.seed] = row

    def case(self, family: Family, seed: int) -> Row:
        """The case of a seed, measured now unless it was before."""
        key = (family.name, seed)
        if key not in self.rows:
            self.rows[key] = row = measure(family.make(seed), *key)
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
        return self.rows[key]

    def page(self) -> str:
        """All families with measured cases, as a Markdown table."""
        lines = [*_PAGE_HEAD]
        for family in (*HARD, *USUAL, *DEMANDING):
            rows = [row for row in self.rows.values() if row.family == family.name]
            if not rows:
                continue
            gaps = [100.0 * row.gap for row in rows]
            mean, low, high = resampled(gaps)
            compute = [row.compute_s for row in rows]
            lines.append(
                f"| {family.name} | {len(rows)} | {_optimal(rows)} | {mean:.1f} ({low:.1f} to "
                f"{high:.1f}) | {max(gaps):.1f} | {100.0 * family.goal:g} | "
                f"{statistics.median(compute):.1f}, {max(compute):.1f} |"
            )
        return "\n".join(lines) + "\n"


def _optimal(rows: Sequence[Row]) -> int:
    return sum(row.status == Status.OPTIMAL.value for row in rows)


def resampled(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean and the ends of its 95 % interval by resampling the cases."""
    rng = np.random.default_rng(0)
    sample = np.asarray(values)
    means = rng.choice(sample, (2_000, len(sample))).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(sample.mean()), float(low), float(high)


def interval(values: Sequence[float]) -> str:
    """Mean and its 95 % interval, as printed."""
    mean, low, high = resampled(values)
    return f"{mean:8.4f} [{low:.4f}, {high:.4f}]"


def report(families: Sequence[Family], cases: int, first_seed: int, log: Log) -> None:
    """Print one line for each family."""
    print(f"{'family':32s} cases  optimal  gap to the bound: mean [95 %], worst   goal   CPU s: "
          "median, worst   longest proof")  # fmt: skip
    for family in families:
        rows = [log.case(family, first_seed + k) for k in range(cases)]
        gaps = [row.gap for row in rows]
        compute = [row.compute_s for row in rows]
        print(
            f"{family.name:32s} {cases:5d}  {_optimal(rows):4d}     {interval(gaps)}"
            f" {max(gaps):8.4f}   {family.goal:6.3f}"
            f"   {statistics.median(compute):7.3f} {max(compute):7.3f}"
            f"   {max(row.proof_rows for row in rows):8d}",
            flush=True,
        )


def curves(families: Sequence[Family], cases: int, first_seed: int, picture: str) -> None:
    """Plan and bound after some computing time, each divided by the best plan of the case."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
    print(f"{'family':32s} time / best time after " + " ".join(f"{s:g} s" for s in MOMENTS_S))
    for number, family in enumerate(families):
        times, bounds = np.zeros((2, cases, len(MOMENTS_S)))
        for case in range(cases):
            for moment, budget_s in enumerate(MOMENTS_S):
                scenario = family.make(first_seed + case)  # nothing is remembered of shorter calls
                plan = reknit.plan(scenario, "certified", budget_s=budget_s)
                times[case, moment] = plan.recovery_time_s
                bounds[case, moment] = plan.lower_bound_s
        best = times.min(axis=1, keepdims=True)
        upper, lower = (times / best).mean(axis=0), (bounds / best).mean(axis=0)
        print(f"{family.name:32s} plan  " + " ".join(f"{value:6.3f}" for value in upper))
        print(f"{'':32s} bound " + " ".join(f"{value:6.3f}" for value in lower), flush=True)
        colour = f"C{number % 10}"
        axes.plot(MOMENTS_S, upper, color=colour, marker="o", label=family.name)
        axes.plot(MOMENTS_S, lower, color=colour, marker=".", linestyle=":")
    axes.set_xscale("log")
    axes.set_xlabel("budget, s")
    axes.set_ylabel("time of the plan (solid) and bound (dotted) / best plan")
    axes.set_title(f"Anytime behaviour of certified, mean of {cases} cases")
    axes.legend(fontsize="small", ncols=2)
    figure.savefig(picture, dpi=150)
    print(f"drawn to {picture}")


def rival(families: Sequence[Family], cases: int, first_seed: int, seconds: float) -> None:
    """How the plans compare with those of a plain search of so many seconds."""
    print(f"{'family':32s} cases  time / that of {seconds:g} s of plain search: mean [95 %], worst")
    for family in families:
        ratios = []
        for case in range(cases):
            scenario = family.make(first_seed + case)
            plan = reknit.plan(scenario, "certified")
            ratios.append(plan.recovery_time_s / search(scenario, seconds, seed=case))
        print(f"{family.name:32s} {cases:5d}  {interval(ratios)} {max(ratios):8.4f}", flush=True)


def deadlines(cases: int, first_seed: int) -> None:
    """Wall time beyond the budget of whole calls; what is allowed is 30 ms or 5 %."""
    print("     N  lost   budget, s   overrun, ms: median     p99   worst   allowed")
    for uavs, lost in ((200, 0.5), (1_000, 0.5), (1_000, 0.95), (50_000, 0.5)):
        few = max(1, cases // 10) if uavs > 1_000 else cases
        for budget_s in BUDGETS_S:
            over_ms = []
            for case in range(few):
                destroyed = round(uavs * lost)
                scenario = reknit.generate(uavs, destroyed, seed=first_seed + case, split=True)
                started = time.perf_counter()
                reknit.plan(scenario, "certified", budget_s=budget_s)
                over_ms.append(1e3 * (time.perf_counter() - started - budget_s))
            over_ms = [max(0.0, value) for value in over_ms]
            print(
                f"{uavs:6d}  {lost:4.0%}   {budget_s:9g}   {statistics.median(over_ms):19.1f} "
                f"{np.quantile(over_ms, 0.99):7.1f} {max(over_ms):7.1f}"
                f"   {max(30.0, 50.0 * budget_s):7.1f}",
                flush=True,
            )


def scale(first_seed: int, largest: int) -> None:
    """Seconds of one core for bound, plan and check at half damage, and the growth with N."""
    print("        N   status    CPU s   memory so far, GiB")
    totals = {}
    for uavs in (size for size in SIZES if size <= largest):
        scenario = _half_lost(uavs, first_seed)
        row = measure(scenario)
        totals[uavs] = row.compute_s
        memory_gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{uavs:9d}   {row.status:8s} {row.compute_s:6.2f}   {memory_gib:5.2f}",
              flush=True)  # fmt: skip
    for small, large in pairwise(totals):
        growth = math.log(totals[large] / totals[small]) / math.log(large / small)
        print(f"from {small} to {large} it grows as N^{growth:.2f}")


def _half_lost(uavs: int, seed: int) -> reknit.Scenario:
    swarm = reknit.generate(uavs, uavs // 2, seed=seed, split=True)
    return reknit.Scenario(swarm.positions, swarm.destroyed, RANGE_M, SPEED_MPS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what is asked for."""
    parts = ("usual", "hard", "demands", "curves", "rival", "deadlines", "scale")
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
    if chosen.page:
        Path(chosen.page).write_text(log.page())
    if "curves" in asked:
        curves(hard, chosen.cases, chosen.first_seed, chosen.picture)
    if "rival" in asked:
        rival(hard, chosen.cases, chosen.first_seed, chosen.seconds)
    if "deadlines" in asked:
        deadlines(chosen.cases, chosen.first_seed)
    if "scale" in asked:
        scale(chosen.first_seed, chosen.largest)


if __name__ == "__main__":
    main()
