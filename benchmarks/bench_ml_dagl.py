"""Speed and memory of ML-DAGL, as ratios that mean the same on every machine.

    python benchmarks/bench_ml_dagl.py [--repeats 7] [--quick]

Times are medians with the smallest and largest of the repeats in brackets. One online iteration
is compared with the time its floating-point operations would take at the speed of a large matrix
product (sgemm) measured in the same run. On a machine that others use too, CPU time says more than
the clock, so all figures are CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch

import reknit
from reknit.algorithms.learned.common.adam import Adam
from reknit.algorithms.learned.common.layers import dropout_generator
from reknit.algorithms.learned.common.loss import judge
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.common.threads import keep_freed_memory
from reknit.algorithms.learned.ml_dagl.dgcn import Shape
from reknit.algorithms.learned.ml_dagl.kernel import Kernel
from reknit.algorithms.learned.ml_dagl.planner import MlDagl
from reknit.algorithms.learned.ml_dagl.settings import RELAXED, PresetName, Settings
from reknit.swarm.scenario import Scenario

SEED = 950_000
SGEMM = 2048
STEPS = 5
TURNS = 4
"""Turns with sgemm per repeat: a ratio of two short times needs more of them."""


@dataclass(frozen=True)
class Timing:
    """Seconds of several repeats."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        low, high = min(self.seconds), max(self.seconds)
        return f"{self.median:8.4f} s [{low:.4f} .. {high:.4f}]"


def cpu_s(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    begun_s = time.process_time()
    work()
    return time.process_time() - begun_s


def timed(work: Callable[[], object], repeats: int) -> Timing:
    """Run once to warm up, then time so many repeats."""
    work()
    return Timing(tuple(cpu_s(work) for _ in range(repeats)))


def sgemm_flops_per_s(repeats: int) -> float:
    """Speed of a large float32 matrix product on this machine, now."""
    left, right = torch.rand(SGEMM, SGEMM), torch.rand(SGEMM, SGEMM)
    return float(2.0 * SGEMM**3 / timed(lambda: left @ right, repeats).median)


def turns(begin: Callable[[], Callable[[], object]], repeats: int) -> tuple[Timing, Timing]:
    """Seconds of a step, and of an operation at sgemm speed, taking turns.

    The speed of a shared machine drifts; what is compared must be measured side by side.

    begin   gives the step of one turn.
    """
    left, right = torch.rand(SGEMM, SGEMM), torch.rand(SGEMM, SGEMM)
    steps, operations = [], []
    for _ in range(repeats):
        operations.append(timed(lambda: left @ right, 1).median / (2.0 * SGEMM**3))
        steps.append(timed(begin(), STEPS).median)
    return Timing(tuple(steps)), Timing(tuple(operations))


def iteration_flops(shape: Shape, branches: int, survivors: int, lost: int) -> float:
    """Operations of one forward and backward pass, from the formula of a layer.

    A layer is ``S X W``: 2 K N d_in d_out for the weights, and for the kernel in bipartite
    blocks 4 K N_R N_D d, with d the narrower side. Backward, the gradient of the weights costs
    one more product and that of the features one more of each; the first layer needs none.
    """
    nodes = survivors + lost
    total = 0.0
    for number, (wide_in, wide_out) in enumerate(shape.layer_sizes):
        product = 2.0 * branches * nodes * wide_in * wide_out
        kernel = 4.0 * branches * survivors * lost * min(wide_in, wide_out)
        total += 2.0 * product + kernel + (product + kernel if number else 0.0)
    return total


def kernels(scenario: Scenario, settings: Settings, chosen: Sequence[int] = ()) -> Kernel:
    """MBDA: hops, blocks and kernels."""
    hops = settings.hops(scenario)
    return settings.kernel(hops, chosen or hops.chosen)


def bench_iteration(preset: PresetName, scenario: Scenario, branches: int, repeats: int) -> None:
    """One online iteration against its operations, and where its time goes."""
    planner = MlDagl(preset=preset)
    settings = planner.settings
    net = planner.dgcn(scenario.dim, scenario.uavs, 0)
    scaled, loss = ScaledScenario.of(scenario), settings.loss
    kernel = kernels(scenario, settings, range(1, branches + 1))
    if settings.awake_only:
        net.leave_out_asleep(scaled.unit, kernel)
    dropout = dropout_generator(settings.dropout, 0)
    adam = Adam(net.parameters(), settings.online.betas)
    keep_freed_memory()
    spent = {"forward": 0.0, "loss and EMST": 0.0, "backward": 0.0, "optimiser": 0.0}

    def iteration() -> None:
        marks = [time.process_time()]
        output = net(scaled.unit, kernel, dropout)
        marks.append(time.process_time())
        judged = judge(output, scaled, loss)
        marks.append(time.process_time())
        gradients = adam.gradients(judged.loss.sum())
        marks.append(time.process_time())
        adam.step(gradients, 1e-6)
        marks.append(time.process_time())
        for name, begin, end in zip(spent, marks, marks[1:], strict=False):
            spent[name] += end - begin

    timing, operation = turns(lambda: iteration, TURNS * repeats)
    lost = len(scenario.destroyed)
    shape = Shape(scenario.dim, hidden=settings.hidden)
    flops = iteration_flops(shape, branches, scenario.uavs - lost, lost)
    ratios = Timing(
        tuple(a / (flops * b) for a, b in zip(timing.seconds, operation.seconds, strict=True))
    )
    share = ", ".join(f"{name} {part / sum(spent.values()):.0%}" for name, part in spent.items())
    print(f"  {preset}, iteration N={scenario.uavs} K={branches}: {timing}")
    spread = f"[{min(ratios.seconds):.2f} .. {max(ratios.seconds):.2f}]"
    print(f"    {flops / 1e9:.2f} Gflop; {ratios.median:.2f} {spread} x the time at sgemm speed")
    print(f"    {share}")


def bench_plan(uavs: int, repeats: int, allowed_s: float) -> None:
    """The whole plan, imports and model loading apart."""
    times = []
    reknit.plan(reknit.generate(uavs, uavs // 2, SEED, split=True), "ml-dagl")
    for number in range(repeats):
        scenario = reknit.generate(uavs, uavs // 2, SEED + number, split=True)
        reknit.lower_bound(scenario)
        times.append(cpu_s(partial(reknit.plan, scenario, "ml-dagl")))
    timing = Timing(tuple(times))
    worst = max(times)
    print(f"  plan N={uavs}: {timing}")
    print(f"    slowest {worst / allowed_s:.2f} x the allowed {allowed_s:g} s")


# ru_maxrss would do, but a child begins with that of the process it was forked from.
_MEMORY = """
import reknit
scenario = reknit.generate(200, 100, {seed}, split=True)
plan = reknit.plan(scenario, "ml-dagl")
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def bench_memory() -> None:
    """Peak memory of a fresh process that plans once at N=200, all included."""
    command = [sys.executable, "-c", _MEMORY.format(seed=SEED)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak_mib = int(done.stdout.splitlines()[-1]) / 1024
    print(f"  peak memory N=200: {peak_mib:.0f} MiB; {peak_mib / 513:.2f} x the allowed 513")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="leave N=1000 plans out")
    chosen = parser.parse_args()
    repeats: int = chosen.repeats
    torch.set_num_threads(1)
    print(f"ML-DAGL, CPU time of one thread, torch {torch.__version__}")
    print(f"  sgemm {SGEMM}: {sgemm_flops_per_s(repeats) / 1e9:.0f} Gflop/s")
    medium = reknit.generate(200, 100, SEED, split=True)
    large = reknit.generate(1000, 500, SEED, split=True)
    assert large.links.any()  # links are part of the scenario, not of the attention
    mbda = timed(lambda: kernels(large, RELAXED), repeats)
    print(f"  MBDA N=1000: {mbda}; {mbda.median / 0.2:.2f} x the allowed 0.2 s")
    for branches in (1, 8):
        bench_iteration("relaxed", medium, branches, repeats)
        bench_iteration("paper", medium, branches, repeats)
    bench_iteration("relaxed", large, 1, repeats)
    bench_plan(200, repeats, 0.25)
    if not chosen.quick:
        bench_plan(1000, max(2, repeats // 2), 1.5)
        bench_plan(10_000, 1, 60.0)
    bench_memory()


if __name__ == "__main__":
    main()
