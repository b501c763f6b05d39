"""Reading a results file while a runner has it open.

DuckDB lets one process write or many read. A report made during a long study reads a copy of the
file and of its log instead, taken so that the two belong together.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

_TRIES = 20
_PAUSE_S = 0.1


def reading(path: Path) -> Any:
    """A connection for reading; to a copy in memory if a runner has the file open.

    Raises
    ------
    duckdb.Error
        If the file is no database, or cannot be read.
    """
    import duckdb

    try:
        return duckdb.connect(str(path), read_only=True)
    except duckdb.ConnectionException:
        # This very process has it open for writing, and shares what it has.
        return duckdb.connect(str(path))
    except duckdb.IOException as error:
        if "lock" not in str(error).lower():
            raise
        return _copied(path)


def _copied(path: Path) -> Any:
    import duckdb

    with tempfile.TemporaryDirectory(prefix="reknit-") as folder:
        copy = Path(folder) / "store.duckdb"
        _copy_whole(path, copy)
        base = duckdb.connect(":memory:")
        try:
            base.execute(f"ATTACH '{copy}' AS store (READ_ONLY)")
            for table in ("about", "runs", "sessions"):
                base.execute(f"CREATE TABLE {table} AS FROM store.{table}")
            base.execute("DETACH store")
        except BaseException:
            base.close()
            raise
    return base


def _copy_whole(path: Path, copy: Path) -> None:
    """Copy the file and its log of one moment.

    The runner appends to the log, and now and then moves it into the file. If the file is the
    same before and after the log was read, the log belongs to it; a last entry that is cut short
    does not count, as after a crash.
    """
    log = path.with_name(path.name + ".wal")
    for _ in range(_TRIES):
        before = path.read_bytes()
        entries = log.read_bytes() if log.exists() else b""
        if path.read_bytes() == before:
            break
        time.sleep(_PAUSE_S)
    copy.write_bytes(before)
    if entries:
        copy.with_name(copy.name + ".wal").write_bytes(entries)
