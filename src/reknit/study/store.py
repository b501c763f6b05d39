"""The results of a study in one DuckDB file; every finished run is in it at once, for good."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reknit.base.errors import MissingExtra, StoreRefused, UnwritableOutput
from reknit.base.types import JsonDict
from reknit.base.version import VERSION
from reknit.study.machine import machine, versions
from reknit.study.measures import STORED
from reknit.study.snapshot import reading
from reknit.study.spec.cases import CASE_COLUMNS
from reknit.study.spec.study import Study
from reknit.study.spec.task import Task

FORMAT = 2

_SQL = {bool: "BOOLEAN", int: "INTEGER", float: "DOUBLE", str: "VARCHAR", tuple: "VARCHAR"}
_COLUMNS = {
    "key": "VARCHAR PRIMARY KEY",
    "label": "VARCHAR",
    "planner": "VARCHAR",
    "parameters": "VARCHAR",
    **{name: _SQL[column.kind] for name, column in CASE_COLUMNS.items()},
    "repetition": "INTEGER",
    "seed": "BIGINT",
    "ok": "BOOLEAN",
    "error": "VARCHAR",
    "status": "VARCHAR",
    **{line.name: _SQL[line.kind] for line in STORED},
    "details": "VARCHAR",
    "track": "BLOB",
}
_SESSION_COLUMNS = (
    "id INTEGER, machine VARCHAR, versions VARCHAR, workers VARCHAR, runs INTEGER, elapsed_s DOUBLE"
)
_AS_JSON = ("parameters", "details", *(line.name for line in STORED if line.kind is tuple))
TIMINGS = ("compute_s",)
"""Columns that no two runs share; all others are the same for the same seed."""


@dataclass(frozen=True)
class RunnerCall:
    """One call of the runner: with what, how many runs it finished, and in how many seconds."""

    machine: str
    versions: str
    workers: str
    runs: int
    elapsed_s: float


class Store:
    """The results file of one study. One runner at a time may have it open for writing."""

    def __init__(self, path: Path, study: Study, *, read_only: bool = False) -> None:
        try:
            import duckdb
        except ModuleNotFoundError as error:
            raise MissingExtra("a study", "study") from error
        self.path = path
        self._duckdb = duckdb
        self._session: int | None = None
        self._began_s = 0.0
        if read_only and not path.exists():
            raise StoreRefused(f"{path}: no results there yet; run the study first")
        if not path.exists():
            self._create(study)
        try:
            self._base = reading(path) if read_only else duckdb.connect(str(path))
        except duckdb.Error as error:
            raise StoreRefused(_plain(path, error)) from error
        try:
            self._recognise(study, read_only)
            if not read_only:
                self._add_columns()
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

    def begin(self, workers: str) -> None:
        """From here on runs belong to a new session of the runner."""
        matching = self._base.execute("SELECT count(*) FROM sessions").fetchone()
        self._session, self._began_s = (matching or (0,))[0], time.monotonic()
        values = [self._session, machine(), versions(), workers, 0, 0.0]
        self._write("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", values)

    def sessions(self) -> list[RunnerCall]:
        """The calls of the runner that finished anything, in their order."""
        values_by_name = (
            "SELECT machine, versions, workers, runs, elapsed_s FROM sessions WHERE runs > 0"
        )
        return [
            RunnerCall(*row)
            for row in self._base.execute(f"{values_by_name} ORDER BY id").fetchall()
        ]

    def add(self, task: Task, row: JsonDict) -> None:
        """Keep a finished run; when this returns it survives anything."""
        values_by_name = {**task.identity, **task.case, "parameters": task.parameters, **row}
        values = [
            json.dumps(values_by_name.get(name)) if name in _AS_JSON else values_by_name.get(name)
            for name in _COLUMNS
        ]
        marks = ", ".join("?" for _ in _COLUMNS)
        names = ", ".join(_COLUMNS)
        self._write(f"INSERT OR REPLACE INTO runs ({names}) VALUES ({marks})", values)  # noqa: S608
        if self._session is not None:
            elapsed_s = time.monotonic() - self._began_s
            update = "UPDATE sessions SET runs = runs + 1, elapsed_s = ? WHERE id = ?"
            self._write(update, [elapsed_s, self._session])

    def _write(self, statement: str, values: list[Any]) -> None:
        try:
            self._base.execute(statement, values)
        except self._duckdb.Error as error:
            raise UnwritableOutput(
                f"{self.path}: a run could not be stored, all before it are: {_first_line(error)}; "
                "make room, then the same command goes on"
            ) from error

    def rows(self, tasks: Sequence[Task]) -> list[JsonDict]:
        """The stored runs of the given tasks, in their order; labels and cases as the tasks say
        now, since a run may have been made for another study that has the same one.

        A column that the file does not have, because it is older than a measure, is None.
        """
        cursor = self._base.execute("SELECT * FROM runs")
        names = [column[0] for column in cursor.description or []]
        nothing = dict.fromkeys(_COLUMNS)
        stored: dict[str, JsonDict] = {}
        for values in cursor.fetchall():
            held = {**nothing, **dict(zip(names, values, strict=True))}
            stored[held["key"]] = held
        matching = []
        for task in tasks:
            row = stored.get(task.key)
            if row is not None:
                row = {**row, **task.identity, **task.case}
                for name in _AS_JSON:
                    row[name] = json.loads(row[name]) if row[name] else None
                matching.append(row)
        return matching

    def export(self, path: Path, *, tracks: bool = True) -> None:
        """All runs as a Parquet file; the flights that maps are drawn from need not be in it."""
        columns = "*" if tracks else "* EXCLUDE (track)"
        quoted = str(path).replace("'", "''")
        facts = f"{{reknit: '{VERSION}'}}"
        self._base.execute(
            f"COPY (SELECT {columns} FROM runs) TO '{quoted}' "  # noqa: S608
            f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {facts})"
        )

    def take(self, path: Path, tasks: Sequence[Task]) -> int:
        """Keep the runs of a file that `export` wrote, as far as they are some of the given tasks,
        went well and are not here yet.

        Returns
        -------
        int
            How many there were.
        """
        check_exported(path)
        try:
            described = self._base.execute("SELECT * FROM read_parquet(?) LIMIT 0", [str(path)])
            held = {column[0] for column in described.description or []}
            names = ", ".join(name for name in _COLUMNS if name in held)
            before = len(self.done())
            self._base.execute(
                f"INSERT OR IGNORE INTO runs ({names}) SELECT {names} FROM read_parquet(?) "  # noqa: S608
                "WHERE ok AND list_contains(?, key)",
                [str(path), [task.key for task in tasks]],
            )
        except self._duckdb.Error as error:
            raise StoreRefused(_plain(path, error)) from error
        return len(self.done()) - before

    def share(self, path: Path, tasks: Sequence[Task]) -> int:
        """Keep the runs of another study's results file, as far as they are some of the given
        tasks, went well and are not here yet. A file that cannot be read, or holds results of
        another version, has none.

        Returns
        -------
        int
            How many there were.
        """
        before = len(self.done())
        try:
            with reading(path) as other:
                about = dict(other.execute("SELECT * FROM about").fetchall())
                if (about.get("format"), about.get("reknit")) != (str(FORMAT), VERSION):
                    return 0
                held = {
                    column[0]
                    for column in other.execute("SELECT * FROM runs LIMIT 0").description or []
                }
                names = ", ".join(name for name in _COLUMNS if name in held)
                rows = other.execute(
                    f"SELECT {names} FROM runs WHERE ok AND list_contains(?, key)",  # noqa: S608
                    [[task.key for task in tasks]],
                ).fetchall()
        except self._duckdb.Error:
            return 0
        marks = ", ".join("?" for _ in names.split(", "))
        statement = f"INSERT OR IGNORE INTO runs ({names}) VALUES ({marks})"  # noqa: S608
        for row in rows:
            self._write(statement, list(row))
        return len(self.done()) - before

    def _add_columns(self) -> None:
        """Give an older file the columns of measures that it does not know."""
        held = self._base.execute("SELECT * FROM runs LIMIT 0").description or []
        for name in [name for name in _COLUMNS if name not in {column[0] for column in held}]:
            self._write(f"ALTER TABLE runs ADD COLUMN {name} {_COLUMNS[name]}", [])

    def _create(self, study: Study) -> None:
        """Make the study's file. It appears whole or not at all, even if this is killed."""
        columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.path.parent, prefix=".new-") as folder:
                new = Path(folder) / "store"
                with self._duckdb.connect(str(new)) as base:
                    base.execute("CREATE TABLE about (name VARCHAR, value VARCHAR)")
                    base.executemany("INSERT INTO about VALUES (?, ?)", list(_about(study).items()))
                    base.execute(f"CREATE TABLE runs ({columns})")
                    base.execute(f"CREATE TABLE sessions ({_SESSION_COLUMNS})")
                    base.execute("CHECKPOINT")
                with suppress(FileExistsError):  # another runner was faster: then it is its file
                    os.link(new, self.path)
        except OSError as error:
            raise UnwritableOutput(f"{self.path}: {error.strerror or error}") from error
        except self._duckdb.Error as error:
            raise UnwritableOutput(f"{self.path}: {_first_line(error)}") from error

    def _recognise(self, study: Study, read_only: bool) -> None:
        """Make sure that the file is the study's own. What another version of reknit ran is
        readable, but nothing is added to it.
        """
        try:
            tables = {row[0] for row in self._base.execute("SHOW TABLES").fetchall()}
            if "about" not in tables:
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
        for name, value in _about(study).items():
            if theirs.get(name) != value and not (read_only and name == "reknit"):
                raise StoreRefused(
                    f"{self.path}: holds {words[name]} ({theirs.get(name)}, not {value}); "
                    "it was left as it is: choose another --out"
                )


def check_exported(path: Path) -> None:
    """Raise `StoreRefused` unless a file holds runs that `Store.export` of this version wrote."""
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise MissingExtra("a study", "study") from error
    query = "SELECT decode(key), decode(value) FROM parquet_kv_metadata(?)"
    try:
        with duckdb.connect() as base:
            facts = dict(base.execute(query, [str(path)]).fetchall())
    except duckdb.Error as error:
        raise StoreRefused(_plain(path, error)) from error
    if facts.get("reknit") != VERSION:
        whose = facts.get("reknit", "none")
        raise StoreRefused(f"{path}: not runs of this version of reknit ({whose})")


def _about(study: Study) -> dict[str, str]:
    return {
        "format": str(FORMAT),
        "reknit": VERSION,
        "study": study.name,
        "fingerprint": study.fingerprint(),
    }


def _plain(path: Path, error: Exception) -> str:
    text = _first_line(error)
    if "lock" in text.lower():
        return f"{path}: another runner has it open; wait for it, or choose another --out"
    return f"{path}: {text}"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
