"""`reknit study` with one command for everything."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from reknit.cli import console, main
from reknit.cli import study as cli_study
from reknit.cli.app import run
from reknit.study.run import engines
from reknit.study.run.task import failure
from reknit.study.spec.study import Study, load_study
from reknit.study.store import Store
from tests.cli.processes import reknit_process


@pytest.fixture
def two(study: Study, monkeypatch: pytest.MonkeyPatch) -> list[Study]:
    """Two small studies in place of the built-in ones."""
    few = {"planner": study.planner[:2], "case": study.case[:1]}
    found = [study.model_copy(update={"name": name, **few}) for name in ("first", "second")]
    monkeypatch.setattr(cli_study, "_studies", lambda name, planners, profile: found)
    return found


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["reknit", *words])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.mark.usefixtures("two")
def test_one_command_runs_and_one_reports_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All studies are run, a second call finds them done, and one page shows them all."""
    out = ("--out", str(tmp_path))
    assert call(monkeypatch, "study", "run", "all", "--workers", "1", *out) == 0
    assert "2 studies, 32 runs, none failed." in capsys.readouterr().out
    assert call(monkeypatch, "study", "run", "all", "--workers", "1", "--json", *out) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["study"], one["before"], one["now"]) for one in told["studies"]] == [
        ("first", 16, 0),
        ("second", 16, 0),
    ]
    assert told["not_run"] == {}
    assert call(monkeypatch, "study", "report", "all", "--export", *out) == 0
    page = (tmp_path / "results.md").read_text()
    assert page.count("\n## ") == 2
    assert (tmp_path / "first-quick" / "first.html").exists()
    assert (tmp_path / "second-quick" / "second.parquet").exists()


@pytest.mark.usefixtures("two")
def test_failed_runs_are_told_by_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A study with failed runs ends with 1, in JSON with their number, and is reported."""
    monkeypatch.setattr(engines, "run_task", lambda task: failure(task, ValueError("on purpose")))
    out = ("--out", str(tmp_path))
    assert call(monkeypatch, "study", "run", "all", "--workers", "1", "--json", *out) == 1
    told = json.loads(capsys.readouterr().out)
    assert [summary["failed"] for summary in told["studies"]] == [16, 16]
    assert call(monkeypatch, "study", "report", "all", *out) == 0
    assert "16 runs failed" in (tmp_path / "first-quick" / "first.md").read_text()


def test_a_refused_store_does_not_keep_the_others_from_running(
    two: list[Study],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The rest is run and reported; the refused one is named at the end, with exit code 2."""
    with Store(tmp_path / "first-quick.duckdb", two[1]):
        pass
    out = ("--out", str(tmp_path))
    assert call(monkeypatch, "study", "run", "all", "--workers", "1", *out) == 2
    told = capsys.readouterr()
    assert "1 study, 16 runs" in told.out
    assert "first: not run:" in told.err
    assert "another study" in told.err
    assert call(monkeypatch, "study", "report", "all", *out) == 2
    page = (tmp_path / "results.md").read_text()
    assert "`first` (A small study): holds another study" in page
    assert str(tmp_path) not in page


def test_the_log_of_a_long_job_tells_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal a line now and then; what was done before does not count as speed."""
    lines: list[str] = []
    now_s = iter([0.0, 1.0, 70.0, 80.0, 140.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now_s))
    monkeypatch.setattr(console.err, "print", lines.append)
    report = console._a_line_a_minute()
    for share in (0.5, 0.6, 0.65, 0.7):
        report(share, "study")
    assert lines == ["study: 60%, about 5 min left", "study: 70%, about 4 min left"]


@pytest.mark.parametrize(
    ("command", "words", "told"),
    [
        ("run", ("--engine", "ray"), "--engine is 'ray'"),
        ("run", ("--workers", "2"), "--workers is 2"),
        ("run", ("--planner", "sidr"), "--planner is 'sidr'"),
        ("run", ("--address", "auto"), "--address is 'auto'"),
        ("run", ("--known", "docs"), "--known is 'docs'"),
        ("run", ("--retry",), "--retry is True"),
        ("report", ("--to", "there"), "--to is 'there'"),
        ("report", ("--planner", "sidr"), "--planner is 'sidr'"),
        ("report", ("--export",), "--export is True"),
        ("report", ("--profile", "papers"), "did you mean 'paper'"),
    ],
)
def test_a_study_of_ignorance_passes_over_no_option(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: str,
    words: tuple[str, ...],
    told: str,
) -> None:
    """What would have no effect is refused by its name, and nothing is written."""
    out = ("--out", str(tmp_path / "results"))
    assert call(monkeypatch, "study", command, "noise", *words, *out) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_the_list_has_every_studys_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """In JSON the same counts as in the table, whose numbers no narrow terminal cuts."""
    assert run(["study", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["studies"]
    scalability = next(row for row in rows if row["name"] == "scalability")
    study = load_study("scalability", with_planners=False)
    assert scalability["runs"] == {name: len(study.tasks(name)) for name in ("quick", "paper")}
    assert next(row for row in rows if row["name"] == "noise")["runs"] == {
        "quick": 70,
        "paper": 280,
    }
    shown = reknit_process("study", "list", columns=40).stdout
    numbers = {str(count) for row in rows for count in row["runs"].values()}
    assert numbers <= set(re.findall(r"\d+", shown))
    assert "…" not in shown
