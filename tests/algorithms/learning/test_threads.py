"""The number of threads is chosen by what the last steps took, and never changes a result."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learning.threads import SteadyThreads


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Give torch two threads for a test, whatever the run gave it."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def _steps(threads: SteadyThreads, slow: int, count: int) -> list[int]:
    """Threads of so many steps, of which those with `slow` threads take longer."""
    chosen = []
    for _ in range(count):
        with threads.step() as now:
            chosen.append(now)
            assert torch.get_num_threads() == now
            time.sleep(0.02 if now == slow else 0.0)
    return chosen


def test_both_are_tried_and_the_quicker_stays() -> None:
    """One thread, two, and from then on whichever did not have to wait."""
    assert _steps(SteadyThreads(), slow=2, count=5) == [1, 2, 1, 1, 1]
    assert _steps(SteadyThreads(), slow=1, count=5) == [1, 2, 2, 2, 2]


def test_it_changes_over_when_the_machine_gets_busy() -> None:
    """One slow step with two threads is a hiccup; after the second, one thread goes on."""
    threads = SteadyThreads()
    assert _steps(threads, slow=1, count=3) == [1, 2, 2]
    for expected in (2, 1):
        with threads.step() as now:
            assert now == 2
            time.sleep(0.1)
        assert threads.choice == expected


def test_the_setting_is_put_back() -> None:
    """Outside of a step torch has what it was given, after an error too."""
    with pytest.raises(RuntimeError, match="no"), SteadyThreads().step():
        raise RuntimeError("no")
    assert torch.get_num_threads() == 2


def test_a_single_thread_is_left_alone() -> None:
    """Where torch was given one thread there is nothing to choose."""
    torch.set_num_threads(1)
    assert _steps(SteadyThreads(), slow=1, count=3) == [1, 1, 1]


def test_a_plan_does_not_depend_on_the_threads() -> None:
    """One thread or two, the targets are the same to the last bit."""
    scenario = reknit.generate(uavs=100, destroyed=50, seed=3, split=True)
    made = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        made.append(reknit.plan(scenario, "ml-dagl", iterations=5).targets)
    np.testing.assert_array_equal(made[0], made[1])
