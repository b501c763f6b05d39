"""What notebooks show of scenarios, plans, flights and runs, and the notebook that ships."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from PIL import Image

import reknit

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


@pytest.fixture(scope="module")
def run() -> reknit.Run:
    """A small recovery."""
    return reknit.recover(reknit.generate(30, 15, seed=2, split=True), "certified")


def test_everything_shows_itself(run: reknit.Run) -> None:
    """Scenario, flight and run come with figures and a picture that is not blank; a plan, which
    knows no positions but its targets, with figures.
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
        with Image.open(io.BytesIO(base64.b64decode(picture[1]))) as image:
            assert len(np.unique(np.asarray(image.convert("L")))) > 20
    assert "optimal" in run.plan._repr_html_()


def test_plots_are_figures(run: reknit.Run) -> None:
    """plot() draws; a plan's needs the scenario, and says so."""
    assert run.plan is not None
    assert len(run.plot().axes) == 3
    assert run.scenario.plot().axes
    assert run.flight.plot().axes
    assert run.flight.plot(run.scenario).axes
    assert run.plan.plot(run.scenario).axes
    with pytest.raises(reknit.errors.InvalidParameter, match="scenario"):
        run.plan.plot()


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
