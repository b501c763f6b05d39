"""The package as a user gets it: a wheel in an environment with nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.long
def test_the_wheel_without_extras_recovers_a_swarm(tmp_path: Path) -> None:
    """Built, installed and run as the release how-to says."""
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", str(ROOT)]
    subprocess.run(build, cwd=tmp_path, check=True)
    (wheel,) = tmp_path.glob("reknit-*.whl")
    venv.create(tmp_path / "empty", with_pip=True)
    bin_folder = tmp_path / "empty" / "bin"
    subprocess.run([bin_folder / "pip", "install", "--quiet", str(wheel)], check=True)
    listed = subprocess.check_output([bin_folder / "pip", "list", "--format", "json"], text=True)
    assert not {"torch", "ray", "duckdb"} & {package["name"] for package in json.loads(listed)}
    words = [str(bin_folder / "reknit"), "recover", "--uavs", "200", "--destroy", "100", "--json"]
    told = json.loads(subprocess.check_output(words, cwd=tmp_path, text=True))
    assert told["plan"]["status"] == "optimal"
