"""The results file: older ones stay readable, and it can be read while it is written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from reknit.base.errors import InvalidParameter, StoreRefused
from reknit.study.measures import STORED
from reknit.study.report.write import write_report
from reknit.study.run.runner import run_study
from reknit.study.run.task import run_task
from reknit.study.spec.study import Study, load_study
from reknit.study.store import TIMINGS, Store, _about

OLD_COLUMNS = """
key VARCHAR PRIMARY KEY, label VARCHAR, planner VARCHAR, parameters VARCHAR, uavs INTEGER,
destroyed DOUBLE, layout VARCHAR, damage VARCHAR, dim INTEGER, instance VARCHAR,
repetition INTEGER, seed BIGINT, ok BOOLEAN, error VARCHAR, status VARCHAR, converged BOOLEAN,
planned_time_s DOUBLE, flown_time_s DOUBLE, step_time_s DOUBLE, charged_time_s DOUBLE,
lower_bound_s DOUBLE, allowed_time_s DOUBLE, mean_degree DOUBLE, max_degree INTEGER,
path_length_m DOUBLE, longest_path_m DOUBLE, coverage_before DOUBLE, coverage_after DOUBLE,
min_separation_m DOUBLE, subnets_before INTEGER, subnets_after INTEGER, compute_s DOUBLE,
degree_distribution VARCHAR, details VARCHAR
"""
"""The table of runs as version 0.1 made it, without the share in the largest sub-net, say."""


@pytest.fixture
def old(study: Study, tmp_path: Path) -> Path:
    """A results file of the old form, with all but the last two runs of the quick profile."""
    path = tmp_path / "old.duckdb"
    names = [part.split()[0] for part in OLD_COLUMNS.split(",")]
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE TABLE about (name VARCHAR, value VARCHAR)")
        base.executemany("INSERT INTO about VALUES (?, ?)", list(_about(study).items()))
        base.execute(f"CREATE TABLE runs ({OLD_COLUMNS})")
        base.execute(
            "CREATE TABLE sessions (id INTEGER, machine VARCHAR, versions VARCHAR,"
            " workers VARCHAR, runs INTEGER, elapsed_s DOUBLE)"
        )
        for task in study.tasks("quick")[:-2]:
            row = {**task.identity, **task.case, "parameters": "{}", **run_task(task)}
            row |= {"details": "{}", "degree_distribution": "[1.0]"}
            marks = ", ".join("?" for _ in names)
            values = [row.get(name) for name in names]
            base.execute(f"INSERT INTO runs ({', '.join(names)}) VALUES ({marks})", values)
    return path


def test_an_older_file_is_read_and_gone_on_with(study: Study, old: Path, tmp_path: Path) -> None:
    """Its runs count, what it never measured is None, and new runs have everything."""
    tasks = study.tasks("quick")
    with Store(old, study, read_only=True) as store:
        rows = store.rows(tasks)
    assert len(rows) == len(tasks) - 2
    assert all(row["charged_time_s"] > 0 for row in rows)
    assert all(row["largest_subnet_share_after"] is None for row in rows)
    assert write_report(study, old, tmp_path / "report")[0].exists()
    summary = run_study(study, old, workers=1)
    assert (summary.before, summary.now) == (len(tasks) - 2, 2)
    with Store(old, study, read_only=True) as store:
        rows = store.rows(tasks)
    assert [row["largest_subnet_share_after"] for row in rows[-2:]] == [1.0, 1.0]
    assert rows[0]["largest_subnet_share_after"] is None


def test_every_measure_is_a_column(study: Study, tmp_path: Path) -> None:
    """The exported runs have a column for every stored measure."""
    with Store(tmp_path / "s.duckdb", study) as store:
        store.export(tmp_path / "runs.parquet")
    with duckdb.connect() as base:
        told = base.execute(f"DESCRIBE FROM '{tmp_path / 'runs.parquet'}'").fetchall()
    assert {line.name for line in STORED} <= {row[0] for row in told}


RUNNER = """
import sys
from pathlib import Path
from reknit.study.run.task import run_task
from reknit.study.spec.study import load_study
from reknit.study.store import Store
study = load_study(sys.argv[2])
with Store(Path(sys.argv[1]), study) as store:
    store.begin("by hand")
    for number, task in enumerate(study.tasks("quick")):
        store.add(task, run_task(task))
        print(number, flush=True)
        sys.stdin.readline()
"""


def test_a_report_can_be_made_while_the_study_runs(study: Study, tmp_path: Path) -> None:
    """Another process has the file open and writes: the report has what was finished by then,
    and the writer goes on undisturbed.
    """
    path = tmp_path / "s.duckdb"
    words = [sys.executable, "-c", RUNNER, str(path), str(tmp_path / "small.toml")]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as runner:
        assert runner.stdin is not None
        assert runner.stdout is not None
        for number in range(6):
            assert runner.stdout.readline() == f"{number}\n"
            if number < 5:
                runner.stdin.write("\n")
                runner.stdin.flush()
        _, summary, *_ = write_report(study, path, tmp_path / "report")
        assert "6 runs of 24, unfinished" in summary.read_text()
        runner.communicate("\n" * 24)
    assert runner.returncode == 0
    assert run_study(study, path, workers=1).before == 24


def test_the_process_that_writes_may_read_too(study: Study, tmp_path: Path) -> None:
    """A second look at an open file within one process sees what is stored so far."""
    path = tmp_path / "s.duckdb"
    task = study.tasks("quick")[0]
    with Store(path, study) as store:
        store.add(task, run_task(task))
        with Store(path, study, read_only=True) as other:
            assert list(other.done()) == [task.key]


def test_published_runs_are_not_run_again(study: Study, tmp_path: Path) -> None:
    """A study begun elsewhere goes on from its exported runs: those are taken as they are, only
    what is missing is run, and all is as if one call had done it.
    """
    whole, part = tmp_path / "whole.duckdb", tmp_path / "o'part.duckdb"
    run_study(study, whole, workers=1)
    tasks = study.tasks("quick")
    with Store(part, study) as store:
        for task in tasks[:5]:
            store.add(task, run_task(task))
        store.export(tmp_path / "o'known.parquet", tracks=False)
    again = tmp_path / "again.duckdb"
    summary = run_study(study, again, workers=1, known=tmp_path)
    assert (summary.before, summary.now) == (5, len(tasks) - 5)
    with Store(whole, study, read_only=True) as one, Store(again, study, read_only=True) as two:
        for left, right in zip(one.rows(tasks), two.rows(tasks), strict=True):
            for name in set(left) - {*TIMINGS, "track"}:
                assert left[name] == right[name]


def test_studies_in_one_folder_share_their_runs(study: Study, tmp_path: Path) -> None:
    """A second study makes only the runs that the first did not, and shows them as its own:
    under its labels and with the losses as it gives them. A file of another version, or that is
    no results file, has nothing to share and is in nobody's way.
    """
    first = study.tasks("quick")
    run_study(study, tmp_path / "first.duckdb", workers=1)
    fields = study.model_dump(exclude_defaults=True)
    fields["planner"] = [{"name": "sidr", "label": "bodies"}, {"name": "center-fly"}]
    fields["case"], fields["view"] = [{"uavs": 20, "destroyed": 10}], []
    other = Study.of({**fields, "name": "other"})
    (tmp_path / "broken.duckdb").write_text("no results")
    with duckdb.connect(str(tmp_path / "older.duckdb")) as base:
        base.execute("CREATE TABLE about (name VARCHAR, value VARCHAR)")
        base.execute("INSERT INTO about VALUES ('format', '1'), ('reknit', '0.0')")
    assert run_study(other, tmp_path / "elsewhere" / "own.duckdb", workers=1).before == 0
    summary = run_study(other, tmp_path / "second.duckdb", workers=1, share=True)
    assert (summary.before, summary.now) == (2, 2)
    with (
        Store(tmp_path / "first.duckdb", study, read_only=True) as one,
        Store(tmp_path / "second.duckdb", other, read_only=True) as two,
    ):
        rows = two.rows(other.tasks("quick"))
        shared = {row["key"]: row for row in one.rows(first)}
    assert [(row["label"], row["destroyed"]) for row in rows] == [
        ("bodies", 10),
        ("center-fly", 10),
    ] * 2
    for row in rows[::2]:
        assert row["charged_time_s"] == shared[row["key"]]["charged_time_s"]
        assert shared[row["key"]]["destroyed"] == 0.5


@pytest.mark.parametrize(
    ("name", "has_them"),
    [
        ("baselines", "scalability"),
        ("time-to-reconnect", "scalability"),
        ("online-time", "damage-sweep"),
    ],
)
def test_some_built_in_studies_need_no_runs_of_their_own(name: str, has_them: str) -> None:
    """They show runs of another study in another way: all of theirs are among its runs."""
    keys, theirs = (
        {task.key for task in load_study(study).tasks("paper")} for study in (name, has_them)
    )
    assert keys <= theirs


def test_runs_that_cannot_be_taken_are_refused(study: Study, tmp_path: Path) -> None:
    """A missing file, one that is no Parquet file and one of another version are told apart."""
    path = tmp_path / "small.duckdb"
    with pytest.raises(InvalidParameter, match=r"known is .*a Parquet file, or a folder with some"):
        run_study(study, path, known=tmp_path / "none")
    broken = tmp_path / "broken.parquet"
    broken.write_text("no runs")
    with pytest.raises(StoreRefused, match=r"broken\.parquet"):
        run_study(study, path, known=broken)
    foreign = tmp_path / "foreign.parquet"
    with duckdb.connect() as base:
        base.execute(f"COPY (SELECT 1 AS key) TO '{foreign}' (FORMAT parquet)")
    with pytest.raises(StoreRefused, match="not runs of this version"):
        run_study(study, path, known=foreign)
