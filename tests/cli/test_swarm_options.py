"""Options that describe a swarm: what is said of wrong ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import reknit
from tests.cli.processes import reknit_process


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--range", "-5"),
        ("--speed", "0"),
        ("--density", "-1"),
        ("--uavs", "1"),
        ("--dim", "5"),
        ("--seed", "-1"),
        ("--layout-seed", "-1"),
        ("--destroy", "500"),
    ],
)
def test_an_error_names_the_option_that_was_typed(option: str, value: str) -> None:
    """Not the field that the option sets."""
    done = reknit_process("recover", option, value)
    assert done.returncode == 2
    assert done.stderr.startswith(f"reknit: {option} is {value}")
    assert done.stderr.count("\n") == 1


WORDS = {
    "of those lost already": (
        ("recover", "--uavs", "20", "--strike", "1:uavs=4,5"),
        "--strike is '1:uavs=4,5'; allowed: survivors; 4 is lost already",
    ),
    "of a strike": (("recover", "--uavs", "20", "--strike", "1:uavs=99"), "--strike uavs is 99; "),
    "twice in a strike": (
        ("recover", "--uavs", "20", "--strike", "1:uavs=5,5"),
        "--strike uavs is 5; ",
    ),
    "no budget": (("recover", "--budget=-1"), "--budget is -1.0; allowed: a finite number"),
    "cruise": (
        ("operate", "--uavs", "20", "--cruise", "99", "--mission", "waypoints=9,0", "--speed", "5"),
        "--cruise is 99.0; ",
    ),
    "noise": (("operate", "--uavs", "20", "--noise", "1e9"), "--noise is 1000000000.0; "),
    "period": (("operate", "--uavs", "20", "--period", "1e9"), "--end is 1000000"),
    "memory": (("serve", "--worker-memory", "1"), "--worker-memory is 1; "),
    "one survivor": (("recover", "--uavs", "3", "--destroy", "2", "--split"), "destroy fewer"),
    "one listed survivor": (
        ("recover", "--uavs", "3", "--destroy", "0,1", "--split"),
        "list fewer",
    ),
    "density": (("recover", "--uavs", "20", "--density", "0.5"), "--density is 0.5; allowed: at"),
}


@pytest.mark.parametrize(("words", "told"), WORDS.values(), ids=WORDS)
def test_an_error_is_about_what_was_typed(words: tuple[str, ...], told: str) -> None:
    """One line, also where several options are called alike or a value reaches far."""
    done = reknit_process(*words)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_beside_a_file_too(tmp_path: Path) -> None:
    """What an option sets is the option's fault, what the file says is the file's."""
    path = tmp_path / "swarm.json"
    reknit.save_scenario(reknit.generate(20, 8, seed=1), path)
    done = reknit_process("recover", str(path), "--range", "-5")
    assert (done.returncode, done.stderr.split(" is ")[0]) == (2, "reknit: --range")
    path.write_text(path.read_text().replace('"radio_range_m": 120.0', '"radio_range_m": -5.0'))
    done = reknit_process("recover", str(path), "--speed", "5")
    assert (done.returncode, "swarm.json: radio_range_m is -5.0" in done.stderr) == (2, True)


def test_the_layout_stays_while_seeds_change(tmp_path: Path) -> None:
    """`--layout-seed` is that of `generate`, and beside a file it is refused."""
    args = ("--uavs", "20", "--destroy", "8", "--seed", "4", "--layout-seed", "9", "--no-animate")
    assert reknit_process("recover", *args, "--out", str(tmp_path / "o")).returncode in (0, 1)
    case = reknit.load_scenario(tmp_path / "o/scenario.json")
    assert case == reknit.generate(20, 8, 4, layout_seed=9)
    done = reknit_process("recover", str(tmp_path / "o/scenario.json"), "--layout-seed", "3")
    assert done.returncode == 2
    assert done.stderr == "reknit: --layout-seed is 3; allowed: only without a file\n"


def test_demands_are_listed_with_their_limits() -> None:
    """Each as its own check tells them."""
    shown = reknit_process("demands", "--json").stdout
    for limits in ("a whole number from 1 to 10", "at least 0 and below 1", "a list of UAV ids"):
        assert limits in shown


def test_a_pattern_of_damage_does_not_go_with_ids() -> None:
    """Which UAVs are lost is said already."""
    done = reknit_process("recover", "--destroy", "3,5", "--damage", "disc")
    assert done.returncode == 2
    assert done.stderr.startswith("reknit: --damage is 'disc'")


def test_a_named_pipe_is_refused(tmp_path: Path) -> None:
    """Nobody may ever write to it."""
    os.mkfifo(tmp_path / "swarm.csv")
    done = reknit_process("recover", str(tmp_path / "swarm.csv"))
    assert done.returncode == 2
    assert "a named pipe" in done.stderr


@pytest.mark.parametrize(
    "words", [("--budget", "-1"), ("--budget=-1",), ("--acceleration", "-2"), ("--budget", "inf")]
)
def test_limits_are_told_by_their_options(words: tuple[str, ...]) -> None:
    """Not by the arguments of the functions that they set."""
    done = reknit_process("recover", "--uavs", "20", "--destroy", "8", "--seed", "1", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"reknit: {words[0].partition('=')[0]} is ")


def test_the_files_allowed_time_at_another_speed_is_told(tmp_path: Path) -> None:
    """A file has the allowed time of its own speed; who asks for another is told that it stays."""
    path = tmp_path / "swarm.json"
    reknit.save_scenario(reknit.Scenario([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]], [1]), path)
    slow = reknit_process("recover", str(path), "--speed", "3", "--planner", "contraction")
    assert "the allowed time is the file's, 10 s, also at another speed" in slow.stderr
    given = ("--demand", "allowed_time_s=40")
    again = reknit_process("recover", str(path), "--speed", "3", *given, "--planner", "contraction")
    assert again.returncode == 0
    assert "allowed time" not in again.stderr
