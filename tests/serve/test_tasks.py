"""What a worker does with a request."""

from __future__ import annotations

import json

import pytest

import reknit
from reknit.serve.tasks import Call, Unwanted, comparison_task
from tests.serve.running import body_of


def test_a_cancelled_comparison_begins_no_other_planner() -> None:
    """What the first planner hands over when it is told to stop is not flown, and the second one
    is never asked.
    """
    scenario = reknit.generate(40, 0.5, seed=3, split=True)
    begun: list[str] = []

    def progress(fraction: float, message: str) -> None:
        begun.append(message.split(":")[0])

    def is_cancelled() -> bool:
        return "certified" in begun

    call = Call(None, progress, is_cancelled, is_cancelled)
    body = body_of(scenario, planners=["certified", "descent"], frames=2)
    with pytest.raises(Unwanted):
        comparison_task(json.dumps(body).encode(), call)
    assert set(begun) == {"certified"}
