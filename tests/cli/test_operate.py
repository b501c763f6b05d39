"""`reknit operate` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image, ImageColor

from reknit.cli.app import run
from reknit.viz.style import LARGEST, LOST


def test_json_says_what_it_must(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Figures as JSON; scenario, figures, picture, animation and player in the folder."""
    words = ["operate", "--uavs", "30", "--destroy", "15", "--seed", "1", "--split", "--json"]
    assert run([*words, "--out", str(tmp_path / "demo"), "--loss", "0.1", "--noise", "1"]) == 0
    result = json.loads(capsys.readouterr().out)
    wanted = {"reconnected_at_s", "optimum_s", "price_of_ignorance", "promised_s", "replans"}
    assert wanted <= set(result)
    assert result["false_done"] == 0
    assert result["policy"] == "hedge+deadline"
    names = sorted(path.name for path in (tmp_path / "demo").iterdir())
    written = ["belief.gif", "belief.png", "index.html", "operation.json", "scenario.json"]
    assert names == written
    with Image.open(tmp_path / "demo" / "belief.gif") as film:
        assert getattr(film, "n_frames", 1) > 2
        colours = {colour for _, colour in film.convert("RGB").getcolors(1 << 24) or []}
        assert {ImageColor.getrgb(LARGEST), ImageColor.getrgb(LOST)} <= colours


def test_people_get_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """The table names price and promise."""
    words = ["operate", "--uavs", "30", "--destroy", "15", "--seed", "1", "--split"]
    assert run([*words, "--strike", "0.4:2", "--policy", "believe:contraction+deadline"]) == 0
    shown = capsys.readouterr().out
    assert "price of ignorance" in shown
    assert "kept" in shown


def test_a_demand_that_is_missed_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """People and machines learn why a swarm that is connected is not reconnected."""
    words = [
        "operate",
        "--uavs",
        "40",
        "--destroy",
        "20",
        "--seed",
        "3",
        "--policy",
        "believe:hero",
    ]
    words += ["--demand", "connectivity=3"]
    assert run(words) == 1
    reason = "connected in the end, but not as demanded: the loss of UAV"
    assert reason in " ".join(capsys.readouterr().out.split())
    assert run([*words, "--json"]) == 1
    assert reason in json.loads(capsys.readouterr().out)["warnings"][0]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--policy", "hegde"], "did you mean 'hedge'"),
        (["--policy", "hedge+deadlin"], "did you mean 'hedge+deadline'"),
        (["--param", "alive=2"], "hedge.alive is 2"),
        (["--param", "alive=x"], "hedge.alive is 'x'"),
        (["--param", "aliv=0.5"], "hedge.aliv is 0.5"),
        (["--param", "patience=0.5"], "deadline.patience is 0.5"),
        (["--policy", "believe:certified", "--param", "patience=2"], "certified.patience is 2"),
        (["--report-period", "2"], "only together with channel global or mixed"),
        (["--burst", "3"], "only together with a loss above 0"),
        (["--hop-delay", "5"], "at most the period"),
        (["--strike", "1e9:1"], "at most 10000 s"),
        (["--channel", "raido"], "did you mean 'radio'"),
        (["--loss", "2"], "loss is 2"),
        (["--period", "-1"], "--period is -1"),
        (["--strike", "5"], "TIME:COUNT"),
        (["--mission", "velocty=1,0"], "did you mean 'velocity'"),
        (["--mission", "velocity=1"], "2 finite numbers"),
        (["--mission", "velocity=99,0"], "at most the slowest"),
        (["--mission", "waypoints=1,x"], "numbers behind waypoints="),
        (["--mission", "hover=1"], "hover"),
        (["--cruise", "3"], "only together with --mission waypoints"),
        (["--area", "0,0"], "two corners"),
        (["--area", "0,0;1,1"], "--area is ((0.0, 0.0), (1.0, 1.0)); allowed: an area that"),
        (["--demand", "min_separation_m=3"], "min_separation_m is 3"),
        (["--strike", "5:3", "--end", "2"], "before the end"),
        (["--observer", "x"], "--observer is 'x'; allowed: the id of a survivor, a whole number"),
        (["--observer", "1" * 5000], "allowed: the id of a survivor, a whole number from 0 to 19"),
        (["--mission", "velocity=1_0,0"], "numbers behind velocity="),
    ],
)
def test_wrong_words_end_in_one_line(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Exit code 2, one line, and nothing written."""
    out = ["--out", str(tmp_path / "demo")]
    assert run(["operate", "--uavs", "20", "--seed", "1", *words, *out]) == 2
    told = capsys.readouterr().err
    assert problem in told
    assert told.count("\n") == 1
    assert not list((tmp_path / "demo").glob("*"))


def test_parameters_reach_policy_planner_and_deadline(capsys: pytest.CaptureFixture[str]) -> None:
    """`--param` sets fields of the policy in front, of its planner, and of the deadline."""
    words = ["operate", "--uavs", "20", "--seed", "1", "--split", "--json", "--param"]
    promised_s = []
    for patience in ("patience=1.5", "patience=3"):
        assert run([*words, patience, "--param", "alive=0.4"]) == 0
        promised_s.append(json.loads(capsys.readouterr().out)["promised_s"])
    assert promised_s[1] > promised_s[0] + 1.0
    assert run([*words, "effort=1", "--policy", "believe:certified+deadline"]) == 0


def test_a_mission_is_flown_until_the_strike(capsys: pytest.CaptureFixture[str]) -> None:
    """Waypoints on the command line: nobody is lost before, and all have flown as far as told."""
    words = ["operate", "--uavs", "30", "--destroy", "0", "--seed", "1", "--json"]
    mission = ["--mission", "waypoints=9,0;9,9", "--cruise", "6", "--strike", "4:uavs=1,2,3,4,5,6"]
    assert run([*words, *mission, "--channel", "global"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["struck_at_s"] == 4.0
    assert result["survivors"] == 24
    assert result["path_length_m"] >= 30 * 18.0 - 1e-6
