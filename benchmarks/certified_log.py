"""What `bench_certified` has measured, one JSON object a line, and the page that is made of it."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from benchmarks.demanding import DEMANDING
from benchmarks.families import HARD, USUAL, Family
from reknit.plans.status import Status


@dataclass(frozen=True)
class Case:
    """One swarm: times of plan and bound, its status, and the seconds of one core that it took."""

    kind: ClassVar[str] = "case"
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


@dataclass(frozen=True)
class Rival:
    """The time of the best plan that so many seconds of another search find."""

    kind: ClassVar[str] = "rival"
    family: str
    seed: int
    seconds: float
    time_s: float


@dataclass(frozen=True)
class Moment:
    """One swarm with more or less effort than the default: plan, bound, and the seconds of one
    core that both and the check took.
    """

    kind: ClassVar[str] = "moment"
    family: str
    seed: int
    effort: int
    time_s: float
    bound_s: float
    compute_s: float

    @property
    def gap(self) -> float:
        """How far the plan is above the bound, as a share of the bound."""
        return self.time_s / self.bound_s - 1.0


@dataclass(frozen=True)
class Deadline:
    """A call with a budget: the processor's seconds beyond it, and the plan's time / bound."""

    kind: ClassVar[str] = "deadline"
    uavs: int
    lost: float
    budget_s: float
    seed: int
    over_s: float
    ratio: float


@dataclass(frozen=True)
class Size:
    """Bound, plan and check of a large swarm: the processor's seconds, and memory up to then."""

    kind: ClassVar[str] = "size"
    uavs: int
    seed: int
    compute_s: float
    check_s: float
    memory_gib: float
    status: str


Entry = Case | Moment | Rival | Deadline | Size
Kind = TypeVar("Kind", Case, Moment, Rival, Deadline, Size)
_KINDS: dict[str, type[Entry]] = {kind.kind: kind for kind in (Case, Moment, Rival, Deadline, Size)}


class Log:
    """What was measured, kept in a file; in memory without a file."""

    def __init__(self, path: str) -> None:
        self.path = Path(path) if path else None
        self.entries: list[Entry] = []
        if self.path is not None and self.path.exists():
            for line in self.path.read_text().splitlines():
                values: dict[str, Any] = json.loads(line)
                self.entries.append(_KINDS[values.pop("kind", Case.kind)](**values))

    def add(self, entry: Entry) -> None:
        """Keep an entry, in the file too."""
        self.entries.append(entry)
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps({"kind": entry.kind, **asdict(entry)}) + "\n")

    def of(self, kind: type[Kind], **values: Any) -> list[Kind]:
        """Entries of a kind with the given values."""
        return [
            entry
            for entry in self.entries
            if isinstance(entry, kind)
            and all(getattr(entry, name) == value for name, value in values.items())
        ]

    def ratios(self, family: str, seconds: float) -> list[float]:
        """Of every swarm of a family on which another search was run for so many seconds: the
        plan's time divided by that of the best plan that it found.
        """
        plans = {row.seed: row.time_s for row in self.of(Case, family=family)}
        rivals = self.of(Rival, family=family, seconds=seconds)
        return [plans[row.seed] / row.time_s for row in rivals if row.seed in plans]


def optimal(rows: Sequence[Case]) -> int:
    """How many are proved."""
    return sum(row.status == Status.OPTIMAL.value for row in rows)


def resampled(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean and the ends of its 95 % interval by resampling the cases."""
    rng = np.random.default_rng(0)
    sample = np.asarray(values)
    means = rng.choice(sample, (2_000, len(sample))).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(sample.mean()), float(low), float(high)


_HEAD = """# How near to its bound the certified planner comes

Made by `python -m benchmarks.bench_certified PARTS --log LOG --page docs/certified.md` (the log is
benchmarks/certified.jsonl) from seeds on which nothing was tuned, with the default effort. The gap
is the plan's time divided by the proved bound, less 1; its interval comes from resampling the
cases. Seconds are of one core of a machine that was busy with other work: bound, plan and check
together. Rows of fewer than 20 cases carry no claim.
"""


def page(log: Log, picture: str = "") -> str:
    """All that is in a log, as Markdown, with the address of a picture of the anytime curves."""
    parts = [_HEAD, _cases(log)]
    for title, table in (
        ("With more effort, and with less", _moments(log, picture)),
        ("Beside another search", _rivals(log)),
        ("Deadlines", _deadlines(log)),
        ("Large swarms", _sizes(log)),
    ):
        if table:
            parts.append(f"\n## {title}\n\n{table}")
    return "".join(parts)


def _table(head: str, rows: Sequence[str]) -> str:
    rule = "|" + " --- |" * (head.count("|") - 1)
    return "\n".join([head, rule, *rows]) + "\n"


def _cases(log: Log) -> str:
    lines = []
    for family in (*HARD, *USUAL, *DEMANDING):
        rows = log.of(Case, family=family.name)
        if not rows:
            continue
        gaps = [100.0 * row.gap for row in rows]
        mean, low, high = resampled(gaps)
        compute = [row.compute_s for row in rows]
        lines.append(
            f"| {family.name} | {len(rows)} | {optimal(rows)} | {mean:.1f} ({low:.1f} to "
            f"{high:.1f}) | {max(gaps):.1f} | {_goal(family)} | "
            f"{statistics.median(compute):.1f}, {max(compute):.1f} |"
        )
    head = (
        "| family | cases | optimal | mean gap, % (95 % interval) | worst, % | goal, % "
        "| CPU, s: median, worst |"
    )
    return "\n" + _table(head, lines)


def _goal(family: Family) -> str:
    return f"{100.0 * family.goal:g}"


def _moments(log: Log, picture: str) -> str:
    efforts = sorted({row.effort for row in log.of(Moment)})
    lines = []
    for family in HARD:
        shown = [log.of(Moment, family=family.name, effort=effort) for effort in efforts]
        if not any(shown):
            continue
        cells = [_gap_and_time(rows) for rows in shown]
        lines.append(
            f"| {family.name} | {max(map(len, shown))} | {' | '.join(cells)} | {_goal(family)} |"
        )
    if not lines:
        return ""
    words = (
        "The mean gap in % with its 95 % interval, and the mean seconds of one core that it took,\n"
        "by `effort`. The default is 2,000. The same swarms as in the table above.\n\n"
    )
    head = f"| family | cases | {' | '.join(f'effort {e:,}' for e in efforts)} | goal, % |"
    drawn = f"\n![Plan and bound over the computing time]({picture})\n" if picture else ""
    return words + _table(head, lines) + drawn


def _gap_and_time(rows: Sequence[Moment]) -> str:
    if not rows:
        return ""
    mean, low, high = resampled([100.0 * row.gap for row in rows])
    compute_s = statistics.mean(row.compute_s for row in rows)
    return f"{mean:.1f} ({low:.1f} to {high:.1f}), {compute_s:.1f} s"


def _rivals(log: Log) -> str:
    lines = []
    for family in HARD:
        for seconds in sorted({row.seconds for row in log.of(Rival, family=family.name)}):
            ratios = log.ratios(family.name, seconds)
            if not ratios:
                continue
            mean, low, high = resampled(ratios)
            lines.append(
                f"| {family.name} | {len(ratios)} | {seconds:g} | {mean:.4f} ({low:.4f} to "
                f"{high:.4f}) | {max(ratios):.4f} |"
            )
    if not lines:
        return ""
    words = (
        "The plan's time divided by that of the best plan which a plain search finds that shares\n"
        "nothing with the planner (`benchmarks/tree_exchange.py`: another solver, exchanges at\n"
        "random). Plans that are proved to be the best need no comparison: of some families few\n"
        "are left.\n\n"
    )
    head = "| family | cases | seconds of search | ratio (95 % interval) | worst |"
    return words + _table(head, lines)


def _deadlines(log: Log) -> str:
    keys = sorted({(row.uavs, row.lost, row.budget_s) for row in log.of(Deadline)})
    lines = []
    for uavs, lost, budget_s in keys:
        rows = log.of(Deadline, uavs=uavs, lost=lost, budget_s=budget_s)
        over_ms = [1e3 * row.over_s for row in rows]
        allowed = f"{max(30.0, 50.0 * budget_s):g}"
        if uavs > 1_000:  # nothing is promised there beyond a plan without time
            allowed = "300" if budget_s == 0.0 else ""
        ratio = max(row.ratio for row in rows)
        lines.append(
            f"| {uavs:,} | {100 * lost:g} % | {budget_s:g} | {len(rows)} | "
            f"{statistics.median(over_ms):.0f} | {np.quantile(over_ms, 0.99):.0f} | "
            f"{max(over_ms):.0f} | {allowed} | {ratio:.2f} |"
        )
    if not lines:
        return ""
    words = (
        "By how much calls with a budget overrun it. Both go by the processor's time, so that\n"
        "other work on the machine does not count. What was loaded before is kept from Python's\n"
        "collection of garbage (gc.freeze). A full one takes some 90 ms and fell into 2 of 160\n"
        "calls without that, which were 38 and 52 ms late; who flies by deadlines should do so\n"
        "too.\n\n"
    )
    head = (
        "| UAVs | lost | budget, s | cases | overrun, ms: median | p99 | worst | allowed "
        "| worst time / bound |"
    )
    return words + _table(head, lines)


def _sizes(log: Log) -> str:
    lines = []
    totals: dict[int, float] = {}
    for uavs in sorted({row.uavs for row in log.of(Size)}):
        rows = log.of(Size, uavs=uavs)
        totals[uavs] = statistics.median(row.compute_s for row in rows)
        lines.append(
            f"| {uavs:,} | {len(rows)} | {totals[uavs]:.2f} | "
            f"{max(row.compute_s for row in rows):.2f} | "
            f"{statistics.median(row.check_s for row in rows):.2f} | "
            f"{max(row.memory_gib for row in rows):.2f} |"
        )
    if not lines:
        return ""
    growth = ", ".join(
        f"{small:,} to {large:,} UAVs N^{_growth(totals, small, large):.2f}"
        for small, large in [*pairwise(totals), (min(totals), max(totals))]
        if small < large
    )
    words = "Bound, plan and check together, half of the UAVs lost, seconds of one core.\n\n"
    head = "| UAVs | cases | median, s | worst, s | of which check, s | memory, GiB |"
    return words + _table(head, lines) + f"\nGrowth of the medians: {growth}.\n"


def _growth(totals: dict[int, float], small: int, large: int) -> float:
    return math.log(totals[large] / totals[small]) / math.log(large / small)
