"""Tables of a study's results."""

from __future__ import annotations

from typing import Any

from reknit.base.types import JsonDict
from reknit.study.measures import MEASURES
from reknit.study.report.tables import full_table, summarise
from reknit.study.spec.cases import CASE_COLUMNS


def _row(repetition: int, flown_s: float, contracted: str, own_s: float | None) -> JsonDict:
    row: dict[str, Any] = {
        **dict.fromkeys((*MEASURES, *CASE_COLUMNS, "status")),
        "label": "ml-dagl",
        "planner": "ml-dagl",
        "parameters": {},
        "instance": None,
        "uavs": 200,
        "destroyed": 0.9,
        "layout": "uniform",
        "damage": "random",
        "dim": 2,
        "ok": True,
        "converged": True,
        "repetition": repetition,
        "max_degree": 3,
        "flown_time_s": flown_s,
        "charged_time_s": flown_s,
        "allowed_time_s": 50.0,
        "planned_time_s": flown_s,
        "lower_bound_s": 1.0,
        "mean_degree": 2.0,
        "compute_s": 1.0,
        "details": {"contracted": contracted, "network_time_s": own_s},
    }
    return row


def _column(rows: list[JsonDict], name: str) -> str | None:
    header, table = full_table(summarise(rows))
    return table[0][header.index(name)] if name in header else None


def test_the_figures_without_contraction_stand_beside() -> None:
    """One of four was contracted and its network alone never connected: that run is charged the
    allowed time, so the mean is (10 + 20 + 20 + 50) / 4.
    """
    rows = [
        _row(0, 10.0, "no", 10.0),
        _row(1, 20.0, "no", 20.0),
        _row(2, 20.0, "no", 20.0),
        _row(3, 30.0, "original positions", None),
    ]
    assert _column(rows, "contracted") == "25%"
    found = _column(rows, "T_rc without contraction (s)")
    assert found is not None
    assert found.startswith("25 ±")
    assert found.endswith("R_c 0.75")


def test_contracted_without_a_network() -> None:
    """A planner that contracts and has no network has nothing to tell apart, and says so by no
    column; a run without details was not contracted.
    """
    rows = [_row(0, 10.0, "output", None), _row(1, 20.0, "no", None)]
    del rows[0]["details"]["network_time_s"]
    rows[1]["details"] = None
    assert _column(rows, "contracted") == "50%"
    assert _column(rows, "T_rc without contraction (s)") is None


def test_no_contraction_no_column() -> None:
    """Where no plan was contracted there is nothing to tell apart."""
    rows = [_row(0, 10.0, "no", 10.0), _row(1, 20.0, "no", 20.0)]
    assert _column(rows, "contracted") == "0%"
    assert _column(rows, "T_rc without contraction (s)") is None
