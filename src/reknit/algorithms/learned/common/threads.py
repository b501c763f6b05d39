"""How many threads torch computes with, chosen anew at every step from what the last ones took.

Torch's threads wait for one another by spinning. On free cores that is the fastest way. Where
other work has the cores, a thread spins away the time of the one it waits for, and two threads
can be ten times slower than one. Results do not depend on the number of threads: each number
of an output is computed by one of them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import torch


class SteadyThreads:
    """Runs each step with one thread or with all that torch was given, whichever was quicker.

    The first step of a run takes one thread and the second all of them; from then on the
    quicker of the last two steps of either kind decides, so that a hiccup changes nothing and
    two slow steps are enough to change over.
    """

    def __init__(self) -> None:
        self._given = torch.get_num_threads()
        self._last_s: dict[int, deque[float]] = {}

    @contextmanager
    def step(self) -> Iterator[int]:
        """Around one of many alike steps: sets the number of threads, and puts it back."""
        if self._given == 1:
            yield 1
            return
        chosen = self.choice
        torch.set_num_threads(chosen)
        started = time.perf_counter()
        try:
            yield chosen
        finally:
            self._last_s.setdefault(chosen, deque(maxlen=2)).append(time.perf_counter() - started)
            torch.set_num_threads(self._given)

    @property
    def choice(self) -> int:
        """Threads of the next step."""
        for untried in (1, self._given):
            if untried not in self._last_s:
                return untried
        return min(self._last_s, key=lambda threads: min(self._last_s[threads]))


def keep_freed_memory() -> None:
    """Have the allocator keep what is freed, since the next iteration asks for the same again.

    glibc gives large blocks back to the system at once, until a larger one has been freed; then
    it takes that size for usual. Memory that nobody writes to costs nothing.
    """
    block = torch.empty(31 * 2**20, dtype=torch.uint8)
    del block
