"""Pictures of every kind of run are drawn, and show what they should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import reknit
from reknit.testing import kinds_of_scenario
from reknit.viz.animation import save_animation
from reknit.viz.comparison import comparison_figure
from reknit.viz.picture import recovery_figure, save_figure
from reknit.viz.style import LARGEST, subnet_colours


@pytest.mark.parametrize("kind", kinds_of_scenario())
@pytest.mark.parametrize("planner", ["hero", "contraction"])
def test_every_kind_of_run_has_a_picture(tmp_path: Path, kind: str, planner: str) -> None:
    """No scenario is too odd to draw; the title says how it ended."""
    run = reknit.recover(kinds_of_scenario()[kind], planner)
    figure = recovery_figure(run)
    save_figure(figure, tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000
    title = figure.get_suptitle()
    assert ("whole again" in title) == run.metrics.converged


def test_the_picture_shows_all_uavs_and_subnets() -> None:
    """Before: all survivors, as many colours as sub-nets, and a cross per destroyed UAV."""
    scenario = reknit.generate(60, 30, seed=1, split=True)
    figure = recovery_figure(reknit.recover(scenario, "sidr"))
    before: Any = figure.axes[0]
    destroyed, survivors = before.collections[1:3]
    assert len(destroyed.get_offsets()) == 30
    assert np.array_equal(survivors.get_offsets(), scenario.survivor_positions)
    colours = {tuple(colour) for colour in survivors.get_facecolors()}
    assert len(colours) == min(scenario.subnet_count, 9)


def test_the_largest_subnet_is_blue() -> None:
    """Whatever its number."""
    assert subnet_colours(np.array([0, 1, 1, 2]))[1:3] == [LARGEST, LARGEST]
    assert len(set(subnet_colours(np.array([0, 1, 1, 2])))) == 3


def test_the_animation_moves_and_ends_whole(tmp_path: Path) -> None:
    """Frames differ, and there is one for the end."""
    scenario = reknit.generate(40, 20, seed=1, split=True)
    flight = reknit.recover(scenario, "sidr").flight
    heard: list[float] = []
    save_animation(scenario, flight, tmp_path / "film.gif", lambda part, what: heard.append(part))
    opened: Any = Image.open(tmp_path / "film.gif")
    with opened as film:
        assert film.n_frames == min(48, len(flight.times_s))
        first = np.asarray(film.convert("RGB"))
        film.seek(film.n_frames - 1)
        assert (np.asarray(film.convert("RGB")) != first).any()
    assert heard == sorted(heard)


@pytest.mark.parametrize("dim", [2, 3])
def test_comparisons_are_drawn(tmp_path: Path, dim: int) -> None:
    """One map per planner beside the bars, in both dimensions."""
    scenario = reknit.generate(30, 15, seed=2, split=True, dim=dim)
    runs = [reknit.recover(scenario, name) for name in ("center-fly", "hero", "contraction")]
    figure = comparison_figure(runs, reknit.lower_bound(scenario).bound_s)
    assert len(figure.axes) == 4
    save_figure(figure, tmp_path / "compare.svg")
    assert "<svg" in (tmp_path / "compare.svg").read_text()
