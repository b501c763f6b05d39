"""The studies of ignorance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer

from reknit.base.errors import UnknownName
from reknit.knowledge import kinds, studies
from tests.drawing import drawn_pixels


def test_a_study_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are kept, only what is missing is run, and the table has every kind."""

    def small() -> Iterator[kinds.Kind]:
        yield kinds.Kind("hedge+deadline", 20, 10)
        yield kinds.Kind("rendezvous", 20, 10, "radio", (("loss", 0.1),))

    monkeypatch.setitem(kinds.STUDIES, "noise", small)
    studies.run_knowledge_study("noise", tmp_path, 1)
    first = (tmp_path / "noise.csv").read_text()
    _, table, picture = studies.run_knowledge_study("noise", tmp_path, 2)
    rows = (tmp_path / "noise.csv").read_text()
    assert rows.startswith(first)
    assert len(rows.splitlines()) == 1 + 4
    text = table.read_text()
    assert (
        "| rendezvous | 20 | 10 | radio loss=0.1 | 2 | 1.00 [0.34, 1.00] | 1.00 [0.34, 1.00] |"
        in text
    )
    assert "False 'done's in all 4 runs: 0." in text
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_picture_has_the_means_of_every_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line per policy in each panel, through its means, with bars as long as its intervals."""

    def small() -> Iterator[kinds.Kind]:
        yield kinds.Kind("rendezvous", 20, 10, panel="N", line="one", x=20.0)
        yield kinds.Kind("rendezvous", 20, 12, panel="N", line="one", x=30.0)
        yield kinds.Kind("rendezvous", 20, 10, panel="lost", line="other", x=10.0)

    monkeypatch.setitem(kinds.STUDIES, "noise", small)
    path, *_ = studies.run_knowledge_study("noise", tmp_path, 2)
    rows = studies.read_rows(path)
    figure = studies.study_figure("noise", rows)
    shown = [
        (place, mean, half)
        for axes in figure.axes
        for drawn in axes.containers
        if isinstance(drawn, ErrorbarContainer)
        for place, mean, half in read_off(drawn)
    ]
    wanted = [
        (kind.x, *studies.interval(studies.of_kind(rows, kind), "price_of_ignorance")[:2])
        for kind in small()
    ]
    np.testing.assert_allclose(shown, wanted)
    assert min(drawn_pixels(figure)) > 200


def read_off(drawn: Any) -> list[tuple[float, float, float]]:
    """Place, mean and half the length of the bar of every point that is drawn."""
    line, _, (bars,) = drawn
    assert line.get_visible()
    assert bars.get_visible()
    halves = [float(segment[1, 1] - segment[0, 1]) / 2.0 for segment in bars.get_segments()]
    return list(zip(line.get_xdata(), line.get_ydata(), halves, strict=True))


def test_rows_do_not_survive_other_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of other parameters, or of a version with other columns, is kept and not counted."""

    def small() -> Iterator[kinds.Kind]:
        yield kinds.Kind("rendezvous", 20, 10)

    monkeypatch.setitem(kinds.STUDIES, "noise", small)
    studies.run_knowledge_study("noise", tmp_path, 1)
    path = tmp_path / "noise.csv"
    (kind,) = small()
    path.write_text(path.read_text().replace(kind.fingerprint, "another"))
    studies.run_knowledge_study("noise", tmp_path, 1)
    assert len(studies.read_rows(path)) == 2
    assert len(studies.of_kind(studies.read_rows(path), kind)) == 1
    old = path.read_text().replace("settings,", "", 1).replace("another,", "", 1)
    path.write_text("\n".join(old.splitlines()[:2]) + "\n")
    studies.run_knowledge_study("noise", tmp_path, 1)
    rows = studies.read_rows(path)
    assert [row["settings"] for row in rows] == ["", kind.fingerprint]
    assert rows[0]["recovery_time_s"] == rows[1]["recovery_time_s"]


def test_an_unknown_study_is_named(tmp_path: Path) -> None:
    """The nearest name is suggested."""
    with pytest.raises(UnknownName, match="ignorance"):
        studies.run_knowledge_study("ignorence", tmp_path, 1)


def test_the_command_line_knows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`reknit study run`, `report` and `list` take these studies like the others."""
    from typer.testing import CliRunner

    from reknit.cli.study import study_app

    monkeypatch.setitem(kinds.STUDIES, "noise", lambda: iter([kinds.Kind("rendezvous", 20, 10)]))
    monkeypatch.setitem(studies.CASES, "quick", 1)
    runner = CliRunner()
    done = runner.invoke(study_app, ["run", "noise", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    (tmp_path / "noise.md").unlink()
    assert runner.invoke(study_app, ["report", "noise", "--out", str(tmp_path)]).exit_code == 0
    assert "| rendezvous | 20 | 10 |" in (tmp_path / "noise.md").read_text()
    assert "ignorance" in runner.invoke(study_app, ["list", "--json"]).output
    wrong = runner.invoke(study_app, ["run", "ignorence"])
    assert isinstance(wrong.exception, UnknownName)
    assert "did you mean 'ignorance'" in str(wrong.exception)
