"""Scenarios to files and back, and files that are no scenarios."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from reknit import Radio, Scenario, generate, load_scenario, save_scenario
from reknit.base import files as files_module
from reknit.base.errors import InvalidScenario, ReknitError, UnreadableFile, UnwritableOutput
from tests.strategies import scenarios


@given(scenario=scenarios())
def test_json_round_trip_is_exact(tmp_path: Path, scenario: Scenario) -> None:
    """What is written as JSON is read back equal, to the last bit."""
    path = tmp_path / "case.json"
    save_scenario(scenario, path)
    back = load_scenario(path)
    assert back == scenario
    assert back.positions.tobytes() == scenario.positions.tobytes()


@given(scenario=scenarios())
def test_csv_round_trip_is_exact(tmp_path: Path, scenario: Scenario) -> None:
    """Positions and damage survive CSV to the last bit; the rest is given when reading."""
    path = tmp_path / "case.csv"
    save_scenario(scenario, path)
    back = load_scenario(path, radio_range_m=120.0, max_speed_mps=10.0)
    assert back.positions.tobytes() == scenario.positions.tobytes()
    assert back.destroyed.tolist() == scenario.destroyed.tolist()


def test_every_field_survives_json(tmp_path: Path) -> None:
    """Radio, speeds and all demands are kept."""
    scenario = Scenario(
        [[0.0, 0.1, 0.2], [100.0, 0.0, 0.0], [150.0, 0.0, 7.0]],
        [1],
        radio=Radio(fading_shape=1.5),
        max_speed_mps=[1.0, 2.0, 3.0],
        allowed_time_s=12.5,
        link_margin=0.1,
        link_reliability=0.95,
        min_separation_m=2.0,
        anchors=[0],
        connectivity=2,
    )
    save_scenario(scenario, tmp_path / "case.json")
    assert load_scenario(tmp_path / "case.json") == scenario


def test_fields_given_replace_those_of_the_file(tmp_path: Path) -> None:
    """A range given when reading wins over the file's."""
    save_scenario(generate(10, 2, seed=0), tmp_path / "case.json")
    assert load_scenario(tmp_path / "case.json", radio_range_m=99.0).radio_range_m == 99.0


GOOD = {"format": "reknit-scenario", "version": 1, "positions_m": [[0, 0], [1, 1]]}
RADIO = [item.name for item in fields(Radio)]
BAD_JSON = {
    "not json": "{",
    "another format": json.dumps({**GOOD, "format": "other"}),
    "another version": json.dumps({**GOOD, "version": 2}),
    "no positions": json.dumps({"format": "reknit-scenario", "version": 1}),
    "misspelt key": json.dumps({**GOOD, "destroyd": [1]}),
    "mixed dimensions": json.dumps({**GOOD, "positions_m": [[0, 0], [1, 1, 1]]}),
    "text for a number": json.dumps({**GOOD, "radio_range_m": "120"}),
    "nan": json.dumps({**GOOD, "positions_m": [[0, 0], [1, float("nan")]]}),
    "all destroyed": json.dumps({**GOOD, "destroyed": [0, 1]}),
    "bad radio": json.dumps({**GOOD, "radio": {"wavelength_m": "long"}}),
    "a list": "[]",
    "a key twice": '{"positions_m": [[0, 0]], "positions_m": [[1, 1]]}',
    "no UAV": json.dumps({**GOOD, "positions_m": []}),
    "nested deeply": "[" * 100_000,
    "a number of 5000 digits": json.dumps({**GOOD, "radio_range_m": 0})[:-2] + "1" * 5000 + "}",
    "text in a radio": json.dumps({**GOOD, "radio": dict.fromkeys(RADIO, "1")}),
}


@pytest.mark.parametrize("text", BAD_JSON.values(), ids=BAD_JSON)
def test_bad_json_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    """The error names the file; nothing but a typed error comes out."""
    path = tmp_path / "case.json"
    path.write_text(text)
    with pytest.raises(UnreadableFile, match=r"case\.json"):
        load_scenario(path)


HEADER = "uav_id,x_m,y_m,alive\n"
BAD_CSV = {
    "empty": ("", "line 1"),
    "header only": (HEADER, "positions"),
    "wrong header": ("id,x,y\n0,1,2\n", "line 1"),
    "text": (HEADER + "0,a,2,1\n", "line 2"),
    "too few fields": (HEADER + "0,1,1\n", "line 2"),
    "unknown state": (HEADER + "0,1,2,maybe\n", "alive"),
    "repeated id": (HEADER + "0,1,2,1\n0,3,4,1\n", "line 3"),
    "no id": (HEADER + "0,1,2,1\n ,3,4,1\n", "line 3"),
    "a huge field": (HEADER + "0," + "1" * 200_000 + ",2,1\n", "not CSV"),
    "an open quote": (HEADER + '"0,1,2,1\n', "not CSV"),
    "nan": (HEADER + "0,nan,2,1\n1,3,4,1\n", "finite"),
    "a number with an underscore": (HEADER + "0,1_000,2,1\n", "line 2 is '0,1_000,2,1'"),
    "digits of another script": (HEADER + "0,\uff11,2,1\n", "line 2"),
    "after a cell of two lines": (HEADER + '"a\nb",1,2,1\n0,x,2,1\n', "line 4"),
    "all dead": (HEADER + "0,1,2,0\n", "survivor"),
}


@pytest.mark.parametrize(("text", "told"), BAD_CSV.values(), ids=BAD_CSV)
def test_bad_csv_names_the_line(tmp_path: Path, text: str, told: str) -> None:
    """The error says where in the file the fault is."""
    path = tmp_path / "case.csv"
    path.write_text(text)
    with pytest.raises(UnreadableFile, match=told):
        load_scenario(path)


def test_a_number_of_too_many_digits_is_told_in_words(tmp_path: Path) -> None:
    """Not in those of Python's settings, which nobody who wrote the file can change."""
    path = tmp_path / "case.json"
    path.write_text(BAD_JSON["a number of 5000 digits"])
    with pytest.raises(UnreadableFile, match="a number has too many digits; allowed: at most"):
        load_scenario(path)


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing, a folder, not text, oversized, unknown ending: a typed error each."""
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "case.txt").write_text("{}")
    (tmp_path / "large.json").write_text("x" * 2000)
    for name in ("missing.json", "binary.json", "case.txt", "."):
        with pytest.raises(UnreadableFile):
            load_scenario(tmp_path / name)
    monkeypatch.setattr(files_module, "MAX_BYTES", 1000)
    with pytest.raises(UnreadableFile, match="MiB"):
        load_scenario(tmp_path / "large.json")


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    """A missing folder gives a typed error; an unknown ending too; nothing is left behind."""
    scenario = generate(5, 1, seed=0)
    with pytest.raises(UnwritableOutput):
        save_scenario(scenario, tmp_path / "no" / "case.json")
    with pytest.raises(InvalidScenario, match="ends in"):
        save_scenario(scenario, tmp_path / "case.xml")
    assert list(tmp_path.iterdir()) == []


def test_ids_may_be_the_users_own(tmp_path: Path) -> None:
    """Ids that are not 0 to N - 1 become names, in the file's order, and are written back."""
    path = tmp_path / "case.csv"
    text = HEADER + "red-1,0.0,0.0,1\n7,100.0,0.0,0\nblue,200.0,0.0,1\n"
    path.write_text(text)
    scenario = load_scenario(path)
    assert scenario.names == ("red-1", "7", "blue")
    assert scenario.survivor_labels == ["red-1", "blue"]
    save_scenario(scenario, path)
    assert path.read_text() == text
    save_scenario(scenario, tmp_path / "case.json")
    assert load_scenario(tmp_path / "case.json") == scenario


def test_a_byte_order_mark_is_read_over(tmp_path: Path) -> None:
    """A file that a spreadsheet saved with a byte order mark is read like any other."""
    path = tmp_path / "case.csv"
    path.write_text(HEADER + "0,0,0,1\n1,50,0,1\n", encoding="utf-8-sig")
    assert load_scenario(path).uavs == 2


def test_a_name_that_is_too_long_is_a_typed_error() -> None:
    """The system refuses even to look for it."""
    with pytest.raises(UnreadableFile, match=r"x\.csv: File name too long$"):
        load_scenario("x" * 300 + ".csv")


def test_degrees_typed_in_as_metres_are_noticed(tmp_path: Path) -> None:
    """Coordinates of a place on the globe give a warning; those of a swarm in metres none."""
    path = tmp_path / "case.csv"
    path.write_text(HEADER + "0,47.3977,8.5456,1\n1,47.3979,8.5461,1\n")
    with pytest.warns(UserWarning, match="degrees"):
        load_scenario(path)
    path.write_text(HEADER + "0,0,0,1\n1,0.5,0.5,1\n")
    assert load_scenario(path).uavs == 2


def test_a_device_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than the limit is read of anything."""
    monkeypatch.setattr(files_module, "MAX_BYTES", 100_000)
    with pytest.raises(UnreadableFile, match="too large"):
        load_scenario("/dev/zero")


def test_unknown_fields_are_refused(tmp_path: Path) -> None:
    """A misspelt field given when reading is told."""
    save_scenario(generate(5, 1, seed=0), tmp_path / "case.csv")
    with pytest.raises(ReknitError, match="rang_m"):
        load_scenario(tmp_path / "case.csv", rang_m=1.0)


def test_a_misspelt_key_is_told_with_the_one_that_was_meant(tmp_path: Path) -> None:
    """A scenario and a plan file suggest the nearest field."""
    path = tmp_path / "swarm.json"
    path.write_text('{"positions_m": [[0, 0], [200, 0]], "radio_rang_m": 120}')
    with pytest.raises(UnreadableFile, match=r"did you mean radio_range_m\?"):
        load_scenario(path)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_number_that_is_none_is_told_with_its_line(tmp_path: Path, value: str) -> None:
    """Not only that some position is not finite."""
    path = tmp_path / "swarm.csv"
    path.write_text(f"uav_id,x_m,y_m,alive\n0,0,0,1\n1,{value},3,1\n")
    with pytest.raises(UnreadableFile, match=r"line 3 .* finite numbers"):
        load_scenario(path)


def test_what_a_table_does_not_hold_is_told(tmp_path: Path) -> None:
    """A .csv file has no range, speed or demand: who saves one that has is warned of each."""
    scenario = Scenario([[0, 0], [50, 0]], (), 60.0, 3.0, anchors=[1])
    with pytest.warns(UserWarning, match="does not tell anchors, radio_range_m, max_speed_mps"):
        save_scenario(scenario, tmp_path / "swarm.csv")
    save_scenario(Scenario([[0, 0], [50, 0]], [1], names=["a", "b"]), tmp_path / "plain.csv")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"radio_range_m": -1.0}, "radio_range_m is -1.0"),
        ({"radio_range": 120.0}, "radio_range is 120.0"),
        ({"destroyed": ["zz"]}, "destroyed is 'zz'"),
    ],
)
def test_a_wrong_argument_is_not_the_files_fault(
    tmp_path: Path, fields: dict[str, Any], told: str
) -> None:
    """A value that the caller gives beside a good file is told without the file."""
    path = tmp_path / "swarm.csv"
    path.write_text("uav_id,x_m,y_m,alive\na,0,0,1\nb,9,0,1\n")
    with pytest.raises(InvalidScenario) as error:
        load_scenario(path, **fields)
    assert str(error.value).startswith(told)


def test_a_decimal_comma_is_shown_as_it_was_written(tmp_path: Path) -> None:
    """A cell with a comma keeps its quotes in the message, so that four cells look like four."""
    path = tmp_path / "swarm.csv"
    path.write_text('uav_id,x_m,y_m,alive\n1,"1,5",0,1\n')
    with pytest.raises(UnreadableFile, match="line 2 is '1,\"1,5\",0,1'"):
        load_scenario(path)
