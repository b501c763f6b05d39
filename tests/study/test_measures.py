"""The table of measures and what follows from a line of it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from reknit.flight.measures import Measure, measured, measures_of
from reknit.flight.metrics import FLIGHT_MEASURES, Metrics
from reknit.study import measures
from reknit.study.measures import DERIVED, MEASURES, NUMBERS, STORED, documented, value
from reknit.study.report.figures import view_figure
from reknit.study.report.tables import full_table, summarise
from reknit.study.run.task import run_task
from reknit.study.spec.study import load_study
from reknit.study.spec.task import Task
from reknit.study.spec.views import ViewSpec
from tests.drawing import drawn_pixels

TASK = Task(
    planner="sidr",
    label="sidr",
    parameters={},
    budget_s=None,
    repetition=0,
    seed=3,
    uavs=20,
    destroyed=10,
    layout="uniform",
    damage="random",
    dim=2,
)


def test_the_table_is_the_metrics_themselves() -> None:
    """Every field of the metrics is a line, and every line a stored column or a derived one."""
    assert [line.name for line in FLIGHT_MEASURES] == [item.name for item in fields(Metrics)]
    assert set(MEASURES) == {line.name for line in (*STORED, *DERIVED)}
    assert all(line.meaning for line in MEASURES.values())


def test_a_run_has_a_value_of_every_stored_measure() -> None:
    """What is declared is measured, the share in the largest sub-net included."""
    row = run_task(TASK)
    assert row["ok"], row["error"]
    assert {line.name for line in STORED} <= set(row)
    assert 0 < row["largest_subnet_share_before"] < row["largest_subnet_share_after"] == 1.0


def test_types_come_from_the_declaration() -> None:
    """The type of a column is that of the field, without its None."""
    kinds = {line.name: line.kind for line in STORED}
    assert kinds["converged"] is bool
    assert kinds["flown_time_s"] is float
    assert kinds["max_degree"] is int
    assert kinds["degree_distribution"] is tuple


def test_one_line_is_a_column_an_axis_and_a_line_of_the_docs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A measure that is added to the table, and nowhere else, is in tables, figures and docs."""
    line = Measure(
        of=lambda row: row["path_length_m"] / row["uavs"],
        meaning="metres flown per UAV",
        axis="mean path",
        heading="path per UAV (m)",
        form="{:.1f}",
        name="mean_path_m",
    )
    monkeypatch.setitem(MEASURES, line.name, line)
    monkeypatch.setattr(measures, "_DERIVED_NAMES", measures._DERIVED_NAMES | {line.name})
    monkeypatch.setattr("reknit.study.report.tables.NUMBERS", (*NUMBERS, line.name))
    row = {**TASK.identity, **TASK.case, "parameters": {}, "status": None, **run_task(TASK)}
    assert value(row, line.name) == row["path_length_m"] / 20
    assert "| `mean_path_m` | m | metres flown per UAV | path per UAV (m) |" in documented()
    header, table = full_table(summarise([row, row]))
    shown = dict(zip(header, table[0], strict=True))
    assert shown["path per UAV (m)"] == f"{row['path_length_m'] / 20:.1f}"
    view = ViewSpec(kind="lines", y=line.name)
    figure = view_figure(load_study("optimality"), view, [row, row])
    assert figure is not None
    assert figure.axes[0].get_ylabel() == "mean path (m)"
    assert max(drawn_pixels(figure)) > 0


def test_a_table_of_ones_own_needs_no_names_twice() -> None:
    """Names and types of measures are those of the fields they are declared as."""
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Own:
        share: float = measured(lambda run: 0.5, "half", percent=True)

    (line,) = measures_of(Own)
    assert (line.name, line.kind, line.unit, line.scale) == ("share", float, "%", 100.0)


def test_tables_have_the_papers_figures_beside_ours() -> None:
    """R_c, time, deviation, E(d) and max(d) of the paper stand beside those of the runs."""
    task = {**TASK.identity, **TASK.case, "parameters": {}}
    rows = [{**task, "status": None, **run_task(TASK), "planner": "sidr"} for _ in range(2)]
    header, table = full_table(summarise(rows))
    shown = dict(zip(header, table[0], strict=True))
    assert shown["paper's R_c"] == "0.56"
    assert shown["paper's T_rc (s)"] == "8.07"
    assert shown["paper's sd (s)"] == "7.11"
    assert shown["paper's E(d)"] == "3.56"
    assert shown["paper's max(d)"] == "8"
    assert shown["runs"] == "2"


def test_the_documentation_has_the_table() -> None:
    """docs/studies.md holds it as it is; docs/make_measures.py writes it."""
    page = Path(__file__).parents[2] / "docs" / "studies.md"
    assert documented() in page.read_text(encoding="utf-8")
