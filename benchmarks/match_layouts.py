"""Layouts that are as hard as the paper's, by a rule that knows nothing of our planners.

The paper has one layout for each size, which is not ours. How hard a layout is shows in
center-fly, which has nothing to choose: everybody flies to the middle until the swarm is whole. So
layouts are taken in the order of their seeds if center-fly's mean time over random half damages is
within a tenth of the paper's.

Run: python -m benchmarks.match_layouts 100 200 [--layouts 5] [--damages 200]
"""

from __future__ import annotations

import argparse

import numpy as np

import reknit
from reknit.study.report.paper import reported_figure

FIRST_SEED = 9_000_000
"""Of the layouts; no training and no other study has these."""

WITHIN = 0.1
MOST = 200


def center_fly_s(uavs: int, layout_seed: int, damages: int) -> float:
    """Mean time of center-fly over half damages of one layout."""
    scenarios = [
        reknit.generate(uavs, uavs // 2, seed, layout_seed=layout_seed, split=True)
        for seed in range(damages)
    ]
    runs = [reknit.recover(scenario, "center-fly") for scenario in scenarios]
    return float(np.mean([run.metrics.charged_time_s for run in runs]))


def main() -> None:
    """Print the seeds of the layouts that are taken, and what the others need."""
    parser = argparse.ArgumentParser()
    parser.add_argument("uavs", nargs="+", type=int)
    parser.add_argument("--layouts", type=int, default=5)
    parser.add_argument("--damages", type=int, default=200)
    chosen = parser.parse_args()
    for uavs in chosen.uavs:
        wanted_s = reported_figure("center-fly", uavs, 0.5, "charged_time_s")
        if wanted_s is None:
            parser.error(f"the paper has no center-fly at N = {uavs}")
        taken: list[int] = []
        means_s: list[float] = []
        for seed in range(FIRST_SEED, FIRST_SEED + MOST):
            means_s.append(center_fly_s(uavs, seed, chosen.damages))
            if abs(means_s[-1] / wanted_s - 1.0) <= WITHIN:
                taken.append(seed)
            if len(taken) == chosen.layouts:
                break
        low, middle, high = np.quantile(means_s, [0.0, 0.5, 1.0])
        print(
            f"N = {uavs}: {taken}, of {len(means_s)} layouts; center-fly {wanted_s:g} s in the "
            f"paper, {low:.1f} to {high:.1f} s here, median {middle:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
