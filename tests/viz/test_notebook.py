"""What notebooks show of scenarios, plans, flights and runs, and the notebook that ships."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from nbclient import NotebookClient
from PIL import Image

import reknit
from reknit.viz.style import PATH, moved
from tests.drawing import drawn_pixels, marked, places

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


@pytest.fixture(scope="module")
def run() -> reknit.Run:
    """A small recovery."""
    return reknit.recover(reknit.generate(30, 15, seed=2, split=True), "certified")


def test_everything_shows_itself(run: reknit.Run) -> None:
    """Scenario, flight and run come with figures and the picture that plot() draws, none of whose
    axes is empty; a plan, which knows no positions but its targets, with figures.
    """
    assert run.plan is not None
    for item, word in (
        (run.scenario, "sub-nets"),
        (run.flight, "reconnected"),
        (run, "no plan beats"),
    ):
        text = item._repr_html_()
        assert word in text
        picture = re.search(r"base64,([^']+)'", text)
        assert picture is not None
        figure = item.plot()
        shown, plotted = base64.b64decode(picture[1]), figure._repr_png_()
        assert np.array_equal(decoded(shown), decoded(plotted))
        assert min(drawn_pixels(figure)) > 200
    assert "optimal" in run.plan._repr_html_()


def decoded(png: bytes) -> Any:
    """(height, width, channels) pixels of a picture."""
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image)


def test_plots_show_their_data(run: reknit.Run) -> None:
    """plot() draws everybody where it is, whoever flew, and the number of sub-nets; a plan's needs
    the scenario, and says so.
    """
    assert run.plan is not None
    scenario, flight = run.scenario, run.flight
    start, end = scenario.survivor_positions, flight.positions[-1]
    flew = moved(flight.path_lengths_m)
    before, after, over_time = run.plot().axes
    assert marked(before) >= places(scenario.positions)
    assert marked(after) >= places(end)
    assert arrived(after) >= places(end[flew])
    assert staircase(over_time) == (flight.times_s.tolist(), flight.subnets.tolist())
    (alone,) = scenario.plot().axes
    assert marked(alone) >= places(scenario.positions)
    paths, counts = flight.plot().axes
    assert marked(paths) >= places(end)
    assert arrived(paths) == places(end[flew])
    assert staircase(counts) == (flight.times_s.tolist(), flight.subnets.tolist())
    (flown,) = flight.plot(scenario).axes
    assert marked(flown) >= places(end)
    assert arrived(flown) >= places(end[flew])
    (planned,) = run.plan.plot(scenario).axes
    targets = run.plan.targets
    assert marked(planned) >= places(targets)
    assert arrived(planned) == places(targets[(targets != start).any(axis=1)])
    with pytest.raises(reknit.errors.InvalidParameter, match="scenario"):
        run.plan.plot()


def arrived(axes: Any) -> set[tuple[float, ...]]:
    """Where the visible lines in the colour of paths end."""
    found = [art for art in axes.collections if isinstance(art, LineCollection)]
    segments = [
        segment
        for art in found
        if art.get_visible() and np.allclose(art.get_colors()[0][:3], to_rgb(PATH))
        for segment in art.get_segments()
    ]
    return places(np.array([segment[-1] for segment in segments]))


def staircase(axes: Any) -> tuple[list[float], list[int]]:
    """Times and numbers of the first line of a plot over time."""
    line = axes.get_lines()[0]
    return np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist()


@pytest.mark.filterwarnings("default")  # those of the kernel's libraries are not ours
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebooks_run(path: Path) -> None:
    """Every cell of every notebook that ships runs, and the pictures are there."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": path.parent}}).execute()
    shown = [
        output.get("data", {}).keys()
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    ]
    assert any("text/html" in kinds for kinds in shown)
    assert any("image/png" in kinds for kinds in shown)


def test_a_notebook_ships() -> None:
    """There is at least one."""
    assert [path.name for path in NOTEBOOKS] == ["first_recovery.ipynb"]
