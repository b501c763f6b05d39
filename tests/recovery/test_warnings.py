"""What a run says of the demands that it does not meet."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.base.types import FloatArray

CHAIN = [[0.0, 0.0], [100.0, 0.0], [200.0, 0.0], [400.0, 0.0]]


class Fixed:
    """A planner that always proposes the same targets."""

    def __init__(self, targets: list[list[float]]) -> None:
        self.targets = np.array(targets)

    def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Proposal:
        return reknit.Proposal(self.targets)


class Pulled:
    """A planner that steers the last UAV to the others and lets them wait."""

    def controller(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Controller:
        def steer(positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
            velocities = np.zeros_like(positions)
            velocities[-1, 0] = -10.0 if positions[-1, 0] > 300.0 else 0.0
            return velocities

        return steer


def swarm(**demands: object) -> reknit.Scenario:
    return reknit.Scenario(CHAIN, (), 120.0, **{"allowed_time_s": 60.0, **demands})  # type: ignore[arg-type]


CONNECTED = [*CHAIN[:3], [300.0, 0.0]]


@pytest.mark.parametrize(
    ("demands", "targets", "told"),
    [
        ({}, [*CHAIN[:3], [350.0, 0.0]], "not in the largest: UAV 3"),
        ({"connectivity": 2}, CONNECTED, "cut node: UAV 1"),
        ({"min_separation_m": 20.0}, [*CHAIN[:3], [210.0, 0.0]], "closest: UAVs 2, 3"),
        ({"anchors": [3]}, CONNECTED, "anchors move: UAV 3"),
        ({"allowed_time_s": 5.0}, CONNECTED, "the plan takes 10.00 s; allowed_time_s is 5"),
        ({}, CONNECTED, None),
    ],
)
def test_a_plan_says_which_demand_it_fails_and_who(
    demands: dict[str, object], targets: list[list[float]], told: str | None
) -> None:
    """Every demand by itself: the run's warning names it and the UAVs; none without a fault."""
    run = reknit.recover(swarm(**demands), Fixed(targets))
    text = " ".join(run.warnings)
    assert text == "" if told is None else told in text


def test_steering_to_one_network_is_not_steering_to_a_sturdy_one() -> None:
    """With connectivity=2 a run that is merely connected is not reconnected, and says why."""
    plain = reknit.recover(swarm(), Pulled())
    assert plain.flight.reconnected_at_s == pytest.approx(8.0)
    assert plain.warnings == ()
    sturdy = reknit.recover(swarm(connectivity=2), Pulled())
    assert sturdy.flight.reconnected_at_s is None
    assert not sturdy.metrics.converged
    assert "the loss of UAV" in sturdy.warnings[0]
    short = reknit.recover(swarm(link_margin=0.2), Pulled())
    assert "at a range of 96 m; not in the largest: UAVs 1, 2, 3" in short.warnings[0]


def test_steering_that_ends_in_pieces_says_who_is_not_in_the_largest() -> None:
    """A steering run out of time names those apart and every other demand that it misses."""
    late = reknit.recover(swarm(allowed_time_s=5.0, min_separation_m=110.0), Pulled())
    assert late.flight.reconnected_at_s is None
    apart, close = late.warnings[:2]
    assert apart.endswith("2 sub-nets at a range of 120 m; not in the largest: UAV 3")
    assert close == "not whole in the end: UAVs 0 and 1 end 100 m apart, not 110 m"


def test_a_separation_that_the_targets_keep_and_the_flight_does_not() -> None:
    """The warning says that it is kept at the end only; where it is not, it does not say so."""
    crossing = reknit.recover(
        swarm(min_separation_m=10.0), Fixed([[100.0, 0.0], [0.0, 0.0], [200.0, 0.0], [310.0, 0.0]])
    )
    assert crossing.warnings[-1].endswith("is kept only at the end")
    close = reknit.recover(
        swarm(min_separation_m=10.0), Fixed([[95.0, 0.0], [88.0, 0.0], CHAIN[2], [300.0, 0.0]])
    )
    assert "two targets are 7 m apart" in close.warnings[0]
    assert close.warnings[-1].startswith("on the way UAVs 0 and 1 come within 0.00 m")
    assert close.warnings[-1].endswith("min_separation_m is 10")
