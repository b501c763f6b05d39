"""Measures what a plan of ML-DAGL costs and how often the largest mDAG is connected.

    python docs/measure_ml_dagl.py

Fills its tables in docs/algorithms.md. All times are CPU seconds of one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from make_ml_dagl import PAGE, filled

from reknit.algorithms.learned.common.loss import judge
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.ml_dagl.attention import DamageHops
from reknit.algorithms.learned.ml_dagl.dgcn import Dgcn, Shape
from reknit.algorithms.learned.ml_dagl.settings import PAPER
from reknit.base.statistics import estimate
from reknit.exact.proof.bounds import lower_bound
from reknit.recovery.planning import plan
from reknit.study.report.tables import markdown
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario

SCRIPT = "measure_ml_dagl.py"
SEED = 890_000
SWARMS = 40
LOSSES = {"random": (5, 20, 50, 100, 150, 190), "disc": (5, 20, 50)}

GROWTH_SIZES = (100, 200, 400, 800, 1600)
GROWTH_BRANCHES = (1, 2, 3, 4)
GROWTH_WIDTH = 64
REPEATS = 5
PLANS = {200: 7, 1000: 3, 10_000: 1}
"""N of plans whose computing is measured, and how many."""

PLANNERS = {
    "ml-dagl": partial(plan, planner="ml-dagl"),
    "descent": partial(plan, planner="descent"),
    "certified": partial(plan, planner="certified"),
}


def main() -> None:
    """Rewrite what stands between the marks of each table."""
    torch.set_num_threads(1)
    text = PAGE.read_text(encoding="utf-8")
    tables = {"mdag": connected_mdags(), "growth": growth(), "computing": computing()}
    for name, table in tables.items():
        text = filled(text, name, table, SCRIPT)
    PAGE.write_text(text, encoding="utf-8")


def computing() -> str:
    """CPU seconds of a plan, the lower bound and the first use of a network apart."""
    rows = [[label] for label in PLANNERS]
    for uavs, count in PLANS.items():
        swarms = [generate(uavs, uavs // 2, SEED + number, split=True) for number in range(count)]
        for row, planner in zip(rows, PLANNERS.values(), strict=True):
            planner(generate(20, 10, SEED, split=True))
            times_s = [planning_s(one, planner) for one in swarms]
            row.append(f"{np.median(times_s):.2f}")
    counts = ", ".join(map(str, PLANS.values()))
    note = (
        f"Half lost, CPU seconds of one thread, the median of {counts} plans, without the lower "
        "bound that every plan carries (it is most of certified's work). Wanted of ml-dagl: "
        "0.25, 1.5 and 60 s.\n\n"
    )
    return note + markdown(["", *(f"N = {uavs}" for uavs in PLANS)], rows)


def planning_s(scenario: Scenario, planner: Callable[[Scenario], object]) -> float:
    """CPU seconds of one plan."""
    lower_bound(scenario)
    begun_s = time.process_time()
    planner(scenario)
    return time.process_time() - begun_s


def connected_mdags() -> str:
    """In how many swarms of 200 the K-th mDAG is connected."""
    rows = []
    for damage, losses in LOSSES.items():
        for lost in losses:
            swarms = [generate(200, lost, SEED + n, damage=damage) for n in range(SWARMS)]
            hops = [DamageHops.of(one) for one in swarms]
            held = sum(one.is_connected(one.chosen[-1]) for one in hops)
            largest = estimate(one.chosen[-1] for one in hops)
            rows.append([damage, str(lost), f"{held} of {SWARMS}", f"{largest.mean:.1f}"])
    note = "N = 200, fresh layouts, whether the damage splits them or not.\n\n"
    return note + markdown(["damage", "N_D", "K-th mDAG connected", "mean K"], rows)


def growth() -> str:
    """Counted and measured work of MBDA and of one iteration of DGCN at a fixed number of k."""
    counted = [work(uavs) for uavs in GROWTH_SIZES]
    rows = [
        [
            str(uavs),
            f"{pairs:.0f}",
            f"{1e3 * mbda_s:.1f}",
            f"{products / 1e6:.1f}",
            f"{1e3 * s:.1f}",
        ]
        for uavs, (pairs, mbda_s, products, s) in zip(GROWTH_SIZES, counted, strict=True)
    ]
    powers = [f"N^{exponent(column):.2f}" for column in zip(*counted, strict=True)]
    note = (
        f"k = 1 to {GROWTH_BRANCHES[-1]}, half lost, width {GROWTH_WIDTH}, CPU time of one thread, "
        f"the best of {REPEATS}. The last row is the growth, fitted over all sizes.\n\n"
    )
    header = [
        "N",
        "pairs that MBDA lists",
        "MBDA (ms)",
        "10^6 products of a pass",
        "iteration (ms)",
    ]
    return note + markdown(header, [*rows, ["growth", *powers]])


def work(uavs: int) -> tuple[float, float, float, float]:
    """Pairs and CPU seconds of MBDA, products of a forward pass and CPU seconds of an iteration.

    A layer takes nnz(I - eps L_dag) products for every feature on its narrower side and
    K N d_in d_out with its weights (Prop. 2).
    """
    scenario = generate(uavs, uavs // 2, SEED)
    hops = DamageHops.of(scenario, GROWTH_BRANCHES)
    mbda_s = cpu_s(lambda: DamageHops.of(scenario, GROWTH_BRANCHES))
    scaled, kernel = ScaledScenario.of(scenario), PAPER.kernel(hops, GROWTH_BRANCHES)
    net = Dgcn(Shape(hidden=GROWTH_WIDTH), generator=torch.Generator().manual_seed(0))
    nodes = len(GROWTH_BRANCHES) * uavs
    entries = nodes + sum(2 * len(hops.pairs(k)[0]) for k in GROWTH_BRANCHES)
    products = sum(
        entries * min(wide_in, wide_out) + nodes * wide_in * wide_out
        for wide_in, wide_out in net.shape.layer_sizes
    )

    def iteration() -> None:
        loss = judge(net(scaled.unit, kernel), scaled, PAPER.loss).loss.sum()
        torch.autograd.grad(loss, list(net.parameters()))

    return len(hops.hops), mbda_s, products, cpu_s(iteration)


def cpu_s(task: Callable[[], object]) -> float:
    """CPU seconds of a piece of work, the best of some repeats."""
    times_s = []
    for _ in range(REPEATS):
        begun_s = time.process_time()
        task()
        times_s.append(time.process_time() - begun_s)
    return min(times_s)


def exponent(values: Sequence[float]) -> float:
    """The power of N with which the values grow, by least squares in logarithms."""
    return float(np.polyfit(np.log(GROWTH_SIZES), np.log(values), 1)[0])


if __name__ == "__main__":
    main()
