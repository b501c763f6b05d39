"""The command in a process of its own, as users start it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CASE = ("--uavs", "30", "--destroy", "15", "--seed", "2", "--split")


def reknit_process(
    *words: str, path: Path | None = None, columns: int = 100, **options: object
) -> subprocess.CompletedProcess[str]:
    """Run ``reknit words``; `path` is a folder whose modules and packages it sees first."""
    environment = {**os.environ, "COLUMNS": str(columns)}
    if path is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(path), os.environ.get("PYTHONPATH", "")])
    settings = {"capture_output": True, "text": True, "env": environment, **options}
    return subprocess.run([sys.executable, "-m", "reknit", *words], **settings)  # type: ignore[call-overload, no-any-return]
