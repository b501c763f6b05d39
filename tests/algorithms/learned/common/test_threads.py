"""The number of threads is chosen by what the last steps took, and never changes a result."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.common.threads import SteadyThreads


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Give torch two threads for a test, whatever the run gave it."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


class _Clock:
    """Stands in for the clock, so that a step takes as long as is said."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def perf_counter(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    """A clock that only the test moves."""
    own = _Clock()
    monkeypatch.setattr("reknit.algorithms.learned.common.threads.time", own)
    return own


def _steps(
    threads: SteadyThreads, clock: _Clock, one_s: float, all_s: float, count: int
) -> list[int]:
    """Threads of so many steps that take so long with one thread or with all."""
    chosen = []
    for _ in range(count):
        with threads.step() as now:
            chosen.append(now)
            assert torch.get_num_threads() == now
            clock.now_s += one_s if now == 1 else all_s
    return chosen


def test_both_are_tried_and_the_quicker_stays(clock: _Clock) -> None:
    """One thread, two, and from then on whichever did not have to wait."""
    assert _steps(SteadyThreads(), clock, 1.0, 9.0, 5) == [1, 2, 1, 1, 1]
    assert _steps(SteadyThreads(), clock, 9.0, 1.0, 5) == [1, 2, 2, 2, 2]


def test_it_changes_over_when_the_machine_gets_busy(clock: _Clock) -> None:
    """One slow step with two threads is a hiccup; after the second, one thread goes on."""
    threads = SteadyThreads()
    assert _steps(threads, clock, 2.0, 1.0, 3) == [1, 2, 2]
    assert _steps(threads, clock, 2.0, 9.0, 2) == [2, 2]
    assert threads.choice == 1


def test_busy_cores_are_not_tried_again(clock: _Clock) -> None:
    """Once two threads lost they are left alone: on busy cores every try costs several steps."""
    assert 2 not in _steps(SteadyThreads(), clock, 1.0, 9.0, 12)[2:]


def test_the_setting_is_put_back() -> None:
    """Outside of a step torch has what it was given, after an error too."""
    with pytest.raises(RuntimeError, match="no"), SteadyThreads().step():
        raise RuntimeError("no")
    assert torch.get_num_threads() == 2


def test_a_single_thread_is_left_alone(clock: _Clock) -> None:
    """Where torch was given one thread there is nothing to choose."""
    torch.set_num_threads(1)
    assert _steps(SteadyThreads(), clock, 1.0, 1.0, 3) == [1, 1, 1]


def test_a_plan_does_not_depend_on_the_threads() -> None:
    """One thread or two, the targets are the same to the last bit."""
    scenario = reknit.generate(uavs=100, destroyed=50, seed=3, split=True)
    made = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        made.append(reknit.plan(scenario, "ml-dagl", iterations=5).targets)
    np.testing.assert_array_equal(made[0], made[1])
