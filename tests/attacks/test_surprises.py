"""What surprised strangers: names that were not honoured, nonsense that was accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import reknit
from reknit.base.errors import ReknitError
from reknit.cli.values import parameters
from tests.cli.processes import reknit_process

NAMED = "uav_id,x_m,y_m,alive\na,0,0,1\nb,100,0,1\nc,300,0,1\n"


def test_an_observer_is_named_as_in_the_file(tmp_path: Path) -> None:
    """Names, also such as look like numbers, mean the UAVs of the file."""
    path = tmp_path / "swarm.csv"
    path.write_text(NAMED)
    done = reknit_process("operate", str(path), "--observer", "b", "--end", "5", "--json")
    assert done.returncode in (0, 1), done.stderr
    path.write_text(NAMED.replace("a,", "7,").replace("b,", "3,").replace("c,", "12,"))
    for name, code in (("7", (0, 1)), ("0", (2,))):
        done = reknit_process("operate", str(path), "--observer", name, "--end", "5", "--json")
        assert done.returncode in code, done.stderr


def test_impossible_anchors_are_named_as_in_the_file(tmp_path: Path) -> None:
    """The two sides of the gap are told by the UAVs' own names."""
    path = tmp_path / "swarm.csv"
    path.write_text(NAMED)
    done = reknit_process("recover", str(path), "--demand", "anchors=a,b,c")
    assert done.returncode == 1
    assert "anchors b and c are on two sides of a gap" in done.stderr


def test_a_radio_of_a_file_has_the_defaults_of_radio(tmp_path: Path) -> None:
    """What the file leaves out is as in Python."""
    path = tmp_path / "swarm.json"
    path.write_text(
        '{"format": "reknit-scenario", "version": 1, "positions_m": [[0, 0], [1, 1]],'
        ' "radio": {"fading_shape": 2.0}}'
    )
    assert reknit.load_scenario(path).radio == reknit.Radio(fading_shape=2.0)


def _odd_name(folder: Path) -> None:
    path = folder / "odd.csv"
    path.write_text(NAMED.replace("a,", "a\x1b,"))
    reknit.load_scenario(path)


NONSENSE: dict[str, Any] = {
    "no study": lambda folder: reknit.load_study(None),  # type: ignore[arg-type]
    "a split in words": lambda folder: reknit.generate(20, 10, split="x"),  # type: ignore[arg-type]
    "no workers": lambda folder: reknit.run_study(
        reknit.load_study("optimality"), folder / "s.duckdb", workers=0
    ),
    "a name with a control character": _odd_name,
}


@pytest.mark.parametrize("slip", NONSENSE)
def test_nonsense_is_refused_by_a_typed_error(slip: str, tmp_path: Path) -> None:
    """Each of these was accepted, or ended in an error of Python's."""
    with pytest.raises(ReknitError):
        NONSENSE[slip](tmp_path)


@pytest.mark.parametrize("text", ["(1, 2)", "1,2", "[1, 2]", "(1,2,)"])
def test_a_list_may_be_written_as_people_write_it(text: str) -> None:
    """Each of these is the same list."""
    assert parameters("ml-dagl", [f"branches={text}"]) == {"branches": [1, 2]}


def test_narrow_terminals_cut_no_names() -> None:
    """What a user must type can be read at 60 columns, and left-out columns are told."""
    text = reknit_process("planners", columns=60).stdout
    assert "…" not in text
    words = ("compare", "--uavs", "20", "--destroy", "10", "--planners", "certified,sidr")
    narrow = " ".join(reknit_process(*words, columns=40).stdout.split())
    assert "Too narrow for: gap" in narrow
