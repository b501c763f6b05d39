"""The studies of ignorance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reknit.base.errors import UnknownName
from reknit.knowledge import studies


def test_a_study_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are kept, only what is missing is run, and the table has every kind."""

    def small() -> Iterator[studies.Kind]:
        yield studies.Kind("hedge+deadline", 20, 10)
        yield studies.Kind("rendezvous", 20, 10, "radio", (("loss", 0.1),))

    monkeypatch.setitem(studies.STUDIES, "noise", small)
    studies.run_study("noise", tmp_path, 1)
    first = (tmp_path / "noise.csv").read_text()
    table = studies.run_study("noise", tmp_path, 2).read_text()
    rows = (tmp_path / "noise.csv").read_text()
    assert rows.startswith(first)
    assert len(rows.splitlines()) == 1 + 4
    assert "| rendezvous | 20 | 10 | radio loss=0.1 | 2 | 1.00 |" in table


def test_an_unknown_study_is_named(tmp_path: Path) -> None:
    """The nearest name is suggested."""
    with pytest.raises(UnknownName, match="ignorance"):
        studies.run_study("ignorence", tmp_path, 1)
