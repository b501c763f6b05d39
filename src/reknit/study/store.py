"""The results of a study in one DuckDB file; every finished run is in it at once, for good."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import reknit
from reknit.errors import MissingExtra, ReknitError, UnwritableOutput
from reknit.study.spec import Study
from reknit.study.task import Task
from reknit.types import JsonDict

FORMAT = 1

_COLUMNS = {
    "key": "VARCHAR PRIMARY KEY",
    "label": "VARCHAR",
    "planner": "VARCHAR",
    "parameters": "VARCHAR",
    "uavs": "INTEGER",
    "destroyed": "DOUBLE",
    "layout": "VARCHAR",
    "damage": "VARCHAR",
    "dim": "INTEGER",
    "instance": "VARCHAR",
    "repetition": "INTEGER",
    "seed": "BIGINT",
    "ok": "BOOLEAN",
    "error": "VARCHAR",
    "status": "VARCHAR",
    "converged": "BOOLEAN",
    "planned_time_s": "DOUBLE",
    "flown_time_s": "DOUBLE",
    "step_time_s": "DOUBLE",
    "charged_time_s": "DOUBLE",
    "lower_bound_s": "DOUBLE",
    "allowed_time_s": "DOUBLE",
    "mean_degree": "DOUBLE",
    "max_degree": "INTEGER",
    "path_length_m": "DOUBLE",
    "longest_path_m": "DOUBLE",
    "coverage_before": "DOUBLE",
    "coverage_after": "DOUBLE",
    "min_separation_m": "DOUBLE",
    "subnets_before": "INTEGER",
    "subnets_after": "INTEGER",
    "compute_s": "DOUBLE",
    "degree_distribution": "VARCHAR",
    "details": "VARCHAR",
}
_AS_JSON = ("parameters", "degree_distribution", "details")
TIMINGS = ("compute_s",)
"""Columns that no two runs share; all others are the same for the same seed."""


class StoreRefused(ReknitError):
    """A results file belongs to something else, or somebody else has it open."""


class Store:
    """The results file of one study. One runner at a time may have it open for writing."""

    def __init__(self, path: Path, study: Study, *, read_only: bool = False) -> None:
        try:
            import duckdb
        except ModuleNotFoundError as error:
            raise MissingExtra("a study", "study") from error
        self.path = path
        self._duckdb = duckdb
        if read_only and not path.exists():
            raise StoreRefused(f"{path}: no results there yet; run the study first")
        if not read_only:
            _make_folder(path.parent)
        try:
            self._base = duckdb.connect(str(path), read_only=read_only)
        except duckdb.Error as error:
            raise StoreRefused(_plain(path, error)) from error
        try:
            self._introduce(study, read_only)
        except BaseException:
            self._base.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def done(self) -> dict[str, bool]:
        """Keys of the finished runs, and whether each went well."""
        return dict(self._base.execute("SELECT key, ok FROM runs").fetchall())

    def add(self, task: Task, row: JsonDict) -> None:
        """Keep a finished run; when this returns it survives anything."""
        told = {
            "label": task.label,
            "planner": task.planner,
            "parameters": task.parameters,
            "uavs": task.uavs,
            "destroyed": task.destroyed,
            "layout": task.layout,
            "damage": task.damage,
            "dim": task.dim,
            "instance": task.instance,
            "repetition": task.repetition,
            "seed": task.seed,
            **row,
        }
        values = [
            json.dumps(told.get(name)) if name in _AS_JSON else told.get(name) for name in _COLUMNS
        ]
        marks = ", ".join("?" for _ in _COLUMNS)
        try:
            self._base.execute(f"INSERT OR REPLACE INTO runs VALUES ({marks})", values)  # noqa: S608
        except self._duckdb.Error as error:
            raise UnwritableOutput(f"{self.path}: {_first_line(error)}") from error

    def rows(self, tasks: Sequence[Task]) -> list[JsonDict]:
        """The stored runs of the given tasks, in their order; labels as the tasks say now."""
        cursor = self._base.execute("SELECT * FROM runs")
        names = [column[0] for column in cursor.description or []]
        stored = {row[0]: dict(zip(names, row, strict=True)) for row in cursor.fetchall()}
        found = []
        for task in tasks:
            row = stored.get(task.key)
            if row is not None:
                row = {**row, "label": task.label}
                for name in _AS_JSON:
                    row[name] = json.loads(row[name]) if row[name] else None
                found.append(row)
        return found

    def export(self, path: Path) -> None:
        """All runs as a Parquet file."""
        self._base.execute(f"COPY runs TO '{path!s}' (FORMAT parquet)")

    def _introduce(self, study: Study, read_only: bool) -> None:
        """Make a new file the study's own, or make sure that an old one is."""
        mine = {
            "format": str(FORMAT),
            "reknit": reknit.__version__,
            "study": study.name,
            "fingerprint": study.fingerprint(),
        }
        try:
            tables = {row[0] for row in self._base.execute("SHOW TABLES").fetchall()}
            if not tables and not read_only:
                columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
                self._base.execute("BEGIN")
                self._base.execute("CREATE TABLE about (name VARCHAR, value VARCHAR)")
                self._base.executemany("INSERT INTO about VALUES (?, ?)", list(mine.items()))
                self._base.execute(f"CREATE TABLE runs ({columns})")
                self._base.execute("COMMIT")
                return
            if not {"about", "runs"} <= tables:
                raise StoreRefused(f"{self.path}: not a results file of reknit")
            theirs: dict[str, Any] = dict(self._base.execute("SELECT * FROM about").fetchall())
        except self._duckdb.Error as error:
            raise StoreRefused(_plain(self.path, error)) from error
        words = {
            "format": "another format of results",
            "reknit": "another version of reknit",
            "study": "another study",
            "fingerprint": "another form of this study",
        }
        for name, value in mine.items():
            if theirs.get(name) != value:
                raise StoreRefused(
                    f"{self.path}: holds {words[name]} ({theirs.get(name)}, not {value}); "
                    "it was left as it is: choose another --out"
                )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableOutput(f"{folder}: {error.strerror or error}") from error


def _plain(path: Path, error: Exception) -> str:
    text = _first_line(error)
    if "lock" in text.lower():
        return f"{path}: another runner has it open; wait for it, or choose another --out"
    return f"{path}: {text}"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
