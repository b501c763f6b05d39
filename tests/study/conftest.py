"""A small study that every test of this folder can run in seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from reknit.study.spec.study import Study, load_study

TEXT = """
name = "small"
title = "A small study"
about = "Three planners on twelve swarms."
seed = 40
repetitions = 3

[[planner]]
name = "contraction"
[[planner]]
name = "sidr"
[[planner]]
name = "hero"
label = "HERO alone"
parameters = { weight = 1.0 }

[[case]]
uavs = [20, 30]
destroyed = [0.5, 12]

[[view]]
kind = "lines"
x = "uavs"
[[view]]
kind = "bars"
x = "destroyed"
y = "gap_to_bound"
[[view]]
kind = "degrees"
[[view]]
kind = "subnets"
[[view]]
kind = "training"
[[view]]
kind = "bars"
x = "label"
only = { label = ["sidr", "contraction"] }
[[view]]
kind = "dots"
x = "seed"
[[view]]
kind = "maps"

[profile.quick]
repetitions = 2
"""


@pytest.fixture(autouse=True)
def _own_library(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans submitted by tests stay away from the user's own."""
    monkeypatch.setenv("REKNIT_LIBRARY", str(tmp_path_factory.mktemp("library") / "best"))


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def study(study_file: Path) -> Study:
    return load_study(study_file)
