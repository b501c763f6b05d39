"""Scenarios, plans, flights and runs as a notebook shows them: a few figures and a picture."""

from __future__ import annotations

import base64
from html import escape
from typing import Any, TypeGuard

import matplotlib as mpl
import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.words import seconds_text
from reknit.flight.flight import Flight
from reknit.plans.plan import Plan
from reknit.recovery.runs import Run
from reknit.swarm.scenario import Scenario
from reknit.viz.picture import flight_figure, recovery_figure, scenario_figure, targets_figure
from reknit.viz.style import LARGEST, PATH, RC, Picture, draw_points, draw_segments, moved, quiet


def plot(item: Any, scenario: Scenario | None = None) -> Picture:
    """The picture of a `Scenario`, `Plan`, `Flight` or `Run`."""
    if isinstance(item, (Scenario, Run)):
        if scenario is not None:
            raise InvalidParameter(
                "scenario", scenario, f"none: a {type(item).__name__} has its own"
            )
        return scenario_figure(item) if isinstance(item, Scenario) else recovery_figure(item)
    if isinstance(item, Flight):
        return _paths_figure(item) if scenario is None else flight_figure(scenario, item)
    if isinstance(item, Plan) and _is_of(scenario, item):
        return targets_figure(scenario, item)
    raise InvalidParameter("scenario", scenario, "the Scenario that the plan is for")


def _is_of(scenario: Scenario | None, plan: Plan) -> TypeGuard[Scenario]:
    return (
        isinstance(scenario, Scenario)
        and plan.targets.shape == scenario.survivor_positions.shape
        and (not plan.uavs or list(plan.uavs) == scenario.survivor_labels)
    )


def html(item: Any) -> str:
    """A few figures and, where it needs nothing else, the picture."""
    facts = _facts(item)
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in facts
    )
    picture = "" if isinstance(item, Plan) else _image(plot(item))
    return f"<div><table>{rows}</table>{picture}</div>"


def _facts(item: Any) -> list[tuple[str, str]]:
    if isinstance(item, Scenario):
        return [
            ("UAVs", f"{item.uavs:,}, {len(item.destroyed):,} destroyed"),
            ("sub-nets", f"{item.subnet_count:,}"),
            ("radio range", f"{item.radio_range_m:g} m"),
            ("allowed time", f"{item.allowed_time_s:.1f} s"),
        ]
    if isinstance(item, Plan):
        gap = f"{item.gap:.2%}" if np.isfinite(item.gap) else "unknown"
        return [
            ("planner", item.planner or "unknown"),
            ("status", item.status.value),
            ("planned time", seconds_text(item.recovery_time_s)),
            ("no plan beats", seconds_text(item.lower_bound_s)),
            ("gap", gap),
            ("survivors", f"{len(item.targets):,}"),
        ]
    if isinstance(item, Flight):
        at = item.reconnected_at_s
        return [
            ("reconnected", "no" if at is None else f"after {seconds_text(at)}"),
            ("sub-nets", f"{item.subnets[0]:,} to {item.subnets[-1]:,}"),
            ("metres flown", f"{item.path_lengths_m.sum():,.0f}"),
        ]
    plan = [] if item.plan is None else _facts(item.plan)[1:5]
    return [("planner", item.planner), *plan, *_facts(item.flight)]


def _image(figure: Picture) -> str:
    text = base64.b64encode(figure._repr_png_()).decode("ascii")
    return f"<img alt='picture' src='data:image/png;base64,{text}'/>"


def _paths_figure(flight: Flight) -> Picture:
    """Who flew where, and the number of sub-nets over time, without the scenario."""
    with mpl.rc_context(RC):
        figure = Picture(figsize=(9.0, 4.2), layout="constrained")
        left: Any = figure.add_subplot(
            121, projection="3d" if flight.positions.shape[2] == 3 else None
        )
        start, end = flight.positions[0], flight.positions[-1]
        flew = moved(flight.path_lengths_m)
        draw_segments(left, start[flew], end[flew], colors=PATH, linewidths=1.2)
        draw_points(left, end, s=14, color=LARGEST)
        left.set_title("Where everyone ends, flown paths in orange")
        right = figure.add_subplot(122)
        right.step(flight.times_s, flight.subnets, where="post", color=LARGEST)
        right.set_title("Sub-nets over time")
        right.set_xlabel("time (s)")
        quiet(right)
    return figure
