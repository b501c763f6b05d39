"""Fills the tables of docs/baselines.md; no figure is typed by hand.

    reknit study run baselines --profile paper
    reknit study run iterations --profile quick
    python docs/make_baselines.py

How hard the cases are is measured here, in a few minutes; everything else is read from the
stored results of the two studies.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np

from reknit.algorithms.learned.common.baseline import flown_time_s
from reknit.base.statistics import estimate
from reknit.base.types import FloatArray, JsonDict
from reknit.network.links import count_subnets
from reknit.recovery.runs import recover
from reknit.study.report.paper import reported
from reknit.study.report.tables import Cell, markdown, summarise
from reknit.study.spec.study import load_study
from reknit.study.store import Store
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario

PAGE = Path(__file__).parent / "baselines.md"
RESULTS = Path("results")
SIZES = (20, 50, 100, 200)
LEARNED = ("gcn", "gat", "cr-mgc", "demd")
ALLOWED = 1.25
"""How many times the paper's mean time ours may be."""

SEED = 880_000
SWARMS = 200
LAYOUTS, DAMAGES = 30, 30


def main() -> None:
    """Rewrite what stands between the marks of each table."""
    runs = stored("baselines", "paper")
    text = PAGE.read_text(encoding="utf-8")
    text = filled(text, "figures", figures(runs))
    text = filled(text, "computing", computing(runs))
    text = filled(text, "iterations", curve(stored("iterations", "quick")))
    text = filled(text, "cases", cases())
    PAGE.write_text(text, encoding="utf-8")


def filled(text: str, name: str, content: str) -> str:
    """The text with new content between the marks of this name."""
    begin, end = f"<!-- {name}: made by docs/make_baselines.py -->", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    return before + begin + "\n" + content + end + rest.split(end)[1]


def stored(name: str, profile: str) -> list[JsonDict]:
    """All runs of a study that there are."""
    study = load_study(name)
    with Store(RESULTS / f"{name}-{profile}.duckdb", study, read_only=True) as store:
        return store.rows(study.tasks(profile))


def made_with(what: str) -> str:
    """How a table came about."""
    packages = ("reknit", "torch", "torch_geometric", "numpy", "scipy")
    told = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"{what} {told}; Python {platform.python_version()}, {platform.machine()}.\n\n"


def figures(runs: list[JsonDict]) -> str:
    """R_c, mean flown time and E(d) of every planner and size beside the paper's."""
    cells = {(cell.label, cell.group[0]): cell for cell in summarise(runs)}
    rows = []
    for label in dict.fromkeys(label for label, _ in cells):
        rows.append([label, *(ours(cells.get((label, size))) for size in SIZES)])
        if reported(label, SIZES[0]):
            rows.append(["in the paper; at most", *(papers(label, size) for size in SIZES)])
    counts = [str(max(c.runs for (_, n), c in cells.items() if n == size)) for size in SIZES]
    note = (
        "R_c / mean flown time in s with its 95 % interval / E(d); a run that fails is charged the "
        f'allowed time. "At most" is {ALLOWED:g} times the paper\'s time. Swarms at N = 20, 50, '
        f"100, 200: {', '.join(counts)}. "
        "`reknit study run baselines --profile paper`;"
    )
    return made_with(note) + markdown(["", *(f"N = {size}" for size in SIZES)], rows)


def ours(cell: Cell | None) -> str:
    """One cell of the table of figures."""
    if cell is None:
        return ""
    time = f"{cell.time.mean:.2f} ± {cell.time.half_width:.2f}"
    degree = cell.of["mean_degree"].mean
    return f"{cell.converged:.2f} / {time} / {degree:.2f}"


def papers(planner: str, size: int) -> str:
    """The paper's figures of a planner, and the most that the time may be."""
    told = reported(planner, size)
    if told is None:
        return ""
    most = f"; {ALLOWED * told.charged_time_s:.2f}" if planner in LEARNED else ""
    return f"{told.converged:.2f} / {told.charged_time_s:.2f} / {told.mean_degree:.2f}{most}"


def computing(runs: list[JsonDict]) -> str:
    """Computing time and iterations of the learned planners."""
    rows = []
    for label in LEARNED:
        mine = [row for row in runs if row["label"] == label and row["ok"]]
        row = [label]
        for size in SIZES:
            here = [one for one in mine if one["uavs"] == size]
            times_s = [one["compute_s"] for one in here]
            made = estimate(one["details"]["iterations"] for one in here)
            best = estimate(one["details"]["best_iteration"] for one in here)
            fast, usual = min(times_s), np.median(times_s)
            row.append(f"{fast:.1f} / {usual:.1f} s, {best.mean:.0f} of {made.mean:.0f}")
        rows.append(row)
    note = (
        "Computing time of a plan, the shortest / the median, of one thread on a machine that "
        "others kept busy too (the shortest is nearest to what it takes), and the mean iteration "
        "of the kept output out of those made.\n\n"
    )
    return note + markdown(["", *(f"N = {size}" for size in SIZES)], rows)


def curve(runs: list[JsonDict]) -> str:
    """Planned and flown time after so many iterations."""
    labels = list(dict.fromkeys(row["label"] for row in runs))
    sizes = sorted({row["uavs"] for row in runs})
    rows = []
    for label in labels:
        name, _, count = label.partition(" @ ")
        row = [name, count]
        for size in sizes:
            here = [one for one in runs if (one["label"], one["uavs"]) == (label, size)]
            planned = estimate(one["planned_time_s"] for one in here)
            flown = estimate(one["charged_time_s"] for one in here)
            row.append(f"{planned.mean:.1f} / {flown.mean:.2f}")
        rows.append(row)
    repetitions = len({row["repetition"] for row in runs})
    note = (
        f"Mean planned / flown time in s, {repetitions} swarms per size, the same for all. "
        "`reknit study run iterations --profile quick`;"
    )
    header = ["", "iterations", *(f"N = {size}" for size in sizes)]
    return made_with(note) + markdown(header, rows)


def cases() -> str:
    """How long center-fly needs on fresh layouts, and what the meeting point matters."""
    swarms = [generate(20, 0.5, SEED + number, split=True) for number in range(SWARMS)]
    steered = estimate(center_fly_s(one) for one in swarms)
    points: dict[str, Callable[[FloatArray], FloatArray]] = {
        "centroid of the survivors": lambda p: p.mean(axis=0),
        "centre of their bounding box": lambda p: (p.min(axis=0) + p.max(axis=0)) / 2.0,
    }
    rows = [["center-fly", f"{steered.mean:.2f} ± {steered.half_width:.2f}"]]
    for name, point in points.items():
        met = estimate(meeting_s(one, point(one.survivor_positions)) for one in swarms)
        rows.append([f"all to the {name}", f"{met.mean:.2f} ± {met.half_width:.2f}"])
    means = np.sort([mean for number in range(LAYOUTS) if (mean := layout_mean_s(number))])
    told = reported("center-fly", 20)
    assert told is not None
    below = int((means <= told.charged_time_s).sum())
    note = (
        f"\nOne layout at a time, {DAMAGES} damages that split it each: center-fly's mean is "
        f"{means[0]:.2f} s on the easiest of {len(means)} layouts, {np.median(means):.2f} s on the "
        f"middle one and {means[-1]:.2f} s on the hardest. The paper's {told.charged_time_s:g} s "
        f"is reached on {below} of the {len(means)}.\n"
    )
    first = f"N = 20, half damage, {SWARMS} random layouts, mean flown time in s:\n\n"
    return first + markdown(["", "N = 20"], rows) + note


def center_fly_s(scenario: Scenario) -> float:
    """What center-fly is charged."""
    return recover(scenario, "center-fly").metrics.charged_time_s


def meeting_s(scenario: Scenario, point: FloatArray) -> float:
    """The flown time if everyone flies to one point."""
    targets = np.broadcast_to(point, scenario.survivor_positions.shape).copy()
    return flown_time_s(scenario, targets, scenario.allowed_time_s)


def layout_mean_s(number: int) -> float | None:
    """center-fly's mean over damages that split one layout; None if such are too rare."""
    seed = SEED + SWARMS + number
    positions = generate(20, 0.5, seed).positions
    rng = np.random.default_rng(seed)
    times_s: list[float] = []
    for _ in range(40 * DAMAGES):
        ids = rng.choice(20, 10, replace=False)
        if count_subnets(np.delete(positions, ids, axis=0), 120.0) > 1:
            times_s.append(center_fly_s(generate(20, ids.tolist(), seed)))
        if len(times_s) == DAMAGES:
            return float(np.mean(times_s))
    return None


if __name__ == "__main__":
    main()
