"""Training by name: what is refused, before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from reknit.base.errors import InvalidParameter, UnknownName
from reknit.recovery.training import train


def test_what_cannot_be_trained_is_named(tmp_path: Path) -> None:
    """Unknown planners and presets suggest the nearest; a wrong dimension is told."""
    with pytest.raises(UnknownName, match="did you mean 'ml-dagl'"):
        train("ml-dgal", "default", 2, 1, 1, tmp_path)
    with pytest.raises(UnknownName, match="did you mean 'paper'"):
        train("ml-dagl", "papr", 2, 1, 1, tmp_path)
    with pytest.raises(InvalidParameter, match="dim"):
        train("ml-dagl", "default", 4, 1, 1, tmp_path)
    with pytest.raises(InvalidParameter, match="given with the planner 'ml-dagl' alone"):
        train("cr-mgc", "paper", 2, None, 1, tmp_path)
    assert list(tmp_path.iterdir()) == []
