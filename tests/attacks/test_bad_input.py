"""Wrong on purpose: one line on standard error, exit code 2, nothing written."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import pytest

import reknit
from reknit import cli

CASES: dict[str, tuple[tuple[str, ...], str]] = {
    "profile, told first": (
        ("study", "run", "none.toml", "--profile", "nope"),
        "profile is 'nope'; allowed: quick, paper",
    ),
    "unknown planner": (("recover", "--planner", "center-flu"), "did you mean 'center-fly'"),
    "empty planner": (("recover", "--planner", "contraction+"), "after the plus sign"),
    "no planner's name": (("recover", "--planner", ""), "planner is ''"),
    "no ids": (("recover", "--destroy", ","), "--destroy is ','"),
    "an id missing": (("recover", "--destroy", "3,"), "--destroy is '3,'"),
    "no losses": (("recover", "--destroy", ""), "--destroy is ''"),
    "compare: no names": (("compare", "--planners", ""), "--planners is ''"),
    "compare: a name missing": (("compare", "--planners", "sidr,"), "--planners is 'sidr,'"),
    "unknown demand": (("recover", "--demand", "conectivity=2"), "did you mean 'connectivity'"),
    "demand of another type": (
        ("recover", "--demand", "connectivity=two"),
        "connectivity is 'two'",
    ),
    "strike of no radius": (
        ("recover", "--uavs", "20", "--strike", "1:disc=0,0,-5"),
        "--strike radius_m is -5.0; allowed: a number of at least 0",
    ),
    "strike without a time": (("recover", "--strike", "10"), "--strike is '10'"),
    "no such strike": (("recover", "--strike", "1:bomb=3"), "--strike is '1:bomb=3'"),
    "no acceleration": (("recover", "--uavs", "20", "--acceleration", "0"), "acceleration"),
    "parameter twice": (
        ("recover", "--planner", "hero", "--param", "weight=1", "--param", "weight=2"),
        "each name once",
    ),
    "parameter of another type": (
        ("recover", "--planner", "hero", "--param", "weight=heavy"),
        "hero.weight is 'heavy'",
    ),
    "too few UAVs": (("recover", "--uavs", "1"), "uavs is 1"),
    "all destroyed": (("recover", "--uavs", "20", "--destroy", "20"), "--destroy is 20"),
    "negative damage": (("recover", "--uavs", "20", "--destroy", "-3"), "--destroy is -3"),
    "ratio of one": (("recover", "--destroy", "1.0"), "--destroy is 1.0"),
    "words for damage": (("recover", "--destroy", "half"), "--destroy is 'half'"),
    "unknown id": (("recover", "--uavs", "20", "--destroy", "3,99"), "--destroy is 99"),
    "repeated id": (
        ("recover", "--uavs", "20", "--destroy", "3,3"),
        "--destroy is 3; allowed: each id once",
    ),
    "no range": (("recover", "--range", "0"), "--range is 0.0"),
    "no speed": (("recover", "--speed", "0"), "--speed is 0.0"),
    "endless range": (("recover", "--range", "inf"), "--range is inf"),
    "four dimensions": (("recover", "--dim", "4"), "--dim is 4"),
    "unknown layout": (("recover", "--layout", "girid"), "did you mean 'grid'"),
    "unknown damage": (("recover", "--damage", "bomb"), "damage is 'bomb'"),
    "negative seed": (("recover", "--seed", "-1"), "seed is -1"),
    "negative budget": (
        ("recover", "--planner", "contraction", "--budget", "-1"),
        "--budget is -1.0",
    ),
    "odd parameter": (("recover", "--planner", "hero", "--param", "weight"), "name=value"),
    "unknown parameter": (
        ("recover", "--planner", "hero", "--param", "wait=3"),
        "allowed: the parameters weight",
    ),
    "missing file": (("recover", "nowhere.json"), "nowhere.json: No such file"),
    "a folder": (("recover", "."), "Is a directory"),
    "no split": (
        ("recover", "--uavs", "200", "--destroy", "0", "--split"),
        "no random damage of 0 UAVs split",
    ),
    "compare: one unknown": (("compare", "--planners", "sidr,sdir"), "did you mean 'sidr'"),
    "a word for losses": (
        ("recover", "--destroy", "given"),
        "--destroy is 'given'; allowed: a num",
    ),
    "a speed of light and more": (("recover", "--speed", "1e308"), "--speed is 1e+308"),
    "negative seed, steering": (("recover", "--planner", "hero", "--seed", "-1"), "seed is -1"),
    **{
        f"ml-dagl: {slip}": (
            ("recover", "--planner", "ml-dagl", "--param", slip),
            f"ml-dagl.{slip.partition('=')[0]} is {told}",
        )
        for slip, told in {
            "iterations=abc": "'abc'; allowed: a whole number of at least 0 and at most 1,000,000",
            "iterations=1.5": "1.5; allowed: a whole number",
            "iterations=NaN": "nan; allowed: a whole number",
            "iterations=1e9": "1000000000.0; allowed: a whole number",
            "iterations=1000000000": "1000000000; allowed: a whole number of at least 0 and at",
            "dropout=abc": "'abc'; allowed: a finite number",
            "learning_rate=nan": "'nan'; allowed: a finite number",
            "learning_rate=1e308": "1e+308; allowed: a finite number above 0 and at most 1",
            "preset=3": "3; allowed: 'default' or",
            "trimming=maybe": "'maybe'; allowed: true or false",
            "trimming=2": "2; allowed: true or false",
        }.items()
    },
}


def fail(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The error text of a command that must exit with code 2."""
    monkeypatch.setattr(sys, "argv", ["reknit", *words])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


STUDY = 'name = "a"\nrepetitions = 1\n[[planner]]\nname = "hero"\n[[case]]\nuavs = 20\n'
WITHOUT_OUT: dict[str, tuple[tuple[str, ...], str]] = {
    "a word for a number": (("recover", "--budget", "x"), "--budget is 'x'; allowed: a number"),
    **{
        f"the option {option}": ((command, *swarm, option, value), f"{option} is {told};")
        for command, option, value, told in (
            ("recover", "--layout", "x", "'x'"),
            ("recover", "--damage", "x", "'x'"),
            ("recover", "--planner", "", "''"),
            ("compare", "--planners", "x", "'x'"),
            ("recover", "--range", "0", "0.0"),
            ("recover", "--speed", "-1", "-1.0"),
            ("recover", "--density", "0", "0.0"),
            ("recover", "--acceleration", "0", "0.0"),
            ("operate", "--policy", "x", "'x'"),
            ("operate", "--channel", "x", "'x'"),
            ("operate", "--loss", "2", "2.0"),
            ("operate", "--noise", "-1", "-1.0"),
        )
        for swarm in [("--uavs", "20", "--destroy", "10")]
    },
    "training: no UAVs": (
        ("pretrain", "--preset", "paper", "--uavs", "0"),
        "--uavs is 0; allowed: one of",
    ),
    "training: an ablation of another preset": (
        ("pretrain", "--gco", "ordinary"),
        "--gco is 'ordinary'; allowed: given with the preset 'paper' alone",
    ),
    "training: another planner's preset": (
        ("pretrain", "--planner", "cr-mgc", "--preset", "paper"),
        "--preset is 'paper'; allowed: given with the planner 'ml-dagl' alone",
    ),
    "training for ever": (("pretrain", "--steps", "9" * 20), "--steps is '99999999999999999999'; "),
    "benchmarks for ever": (("bench", "--repeats", "9" * 20), "--repeats is"),
    "a strike that takes everybody": (
        ("recover", "--uavs", "20", "--destroy", "10", "--strike", "0.5:10"),
        "--strike count is 10; allowed: fewer than the 10 survivors at 0.5 s",
    ),
    "a strike after the end": (
        ("recover", "--uavs", "20", "--destroy", "10", "--strike", "5000:1"),
        "--strike time_s is 5000.0; allowed: at most",
    ),
    "a study of no files": (("study", "run", "no-file.toml"), "line 6: case.0.scenarios is []"),
    "a study of files and sizes": (("study", "run", "both.toml"), "uavs is [20]; allowed: none"),
    "a study's strike at nobody": (("study", "run", "nobody.toml"), "line 7: strikes is 99;"),
    "a study for ever": (("study", "run", "for-ever.toml"), "repetitions is 1000000000"),
    "a ratio of nearly all": (
        ("recover", "--uavs", "20", "--destroy", "0.99"),
        "--destroy is 0.99; allowed: a number from 0 to 19, or a ratio of at least 0 that leaves",
    ),
    "an acceleration beyond all": (
        ("recover", "--acceleration", "1e308"),
        "--acceleration is 1e+308; allowed: a number from 0.001 to 1e+06",
    ),
    "operate: a flight of days": (
        ("operate", "far.csv"),
        "allowed: at most 10000 s: this swarm may take longer",
    ),
    "operate: an observer that is not there": (
        ("operate", "far.csv", "--end", "5", "--observer", "z"),
        "--observer is 'z'; allowed: names of UAVs in this swarm",
    ),
    "a damage beside ids": (
        ("recover", "far.csv", "--damage", "disc", "--destroy", "a"),
        "--damage is 'disc'; allowed: with a number or a ratio",
    ),
    "a demand in words": (
        ("recover", "--demand", "connectivity=two"),
        "--demand connectivity is 'two'; allowed: a whole number",
    ),
    "a fraction of a UAV": (("recover", "--uavs", "2.5"), "--uavs is '2.5'; allowed: a whole"),
    "a limit of the help": (("bench", "--repeats", "0"), "--repeats is '0'; allowed: at least 1"),
    "a planner twice": (("compare", "--planners", "hero,hero"), "each name once"),
    "compare: negative budget": (("compare", "--budget", "-1"), "--budget is -1.0"),
    "training: negative seed": (("pretrain", "--seed", "-1"), "--seed is -1; allowed"),
    "training: a folder without a name": (("pretrain", "--out", ""), "--out is ''; allowed"),
    "study: a folder without a name": (("study", "run", "s.toml", "--out", ""), "--out is ''"),
    "report: a folder without a name": (("study", "report", "s.toml", "--to", ""), "--to is ''"),
    "an address for joblib": (("study", "run", "s.toml", "--address", "x"), "--engine ray"),
    "a study without sizes": (("study", "run", "no-size.toml"), "line 6: case.0.uavs is []; "),
    "a study with a huge seed": (("study", "run", "seed.toml"), "seed is 1e+20; allowed: a whole"),
    "a study that loses all": (("study", "run", "all-lost.toml"), "line 7: destroyed is 20;"),
    "a port beyond all": (("serve", "--port", "99999"), "--port is 99999"),
    "a port in words": (("serve", "--port", "x"), "--port is 'x'; allowed: a whole number"),
    "operate: a mission too fast": (
        ("operate", "--uavs", "20", "--mission", "velocity=1e300,0"),
        "--mission is (1e+300, 0.0); allowed: at most the slowest",
    ),
    "operate: no such policy": (("operate", "--policy", "believe:nope"), "planner is 'nope'"),
    "operate: no such end": (("operate", "--uavs", "20", "--until", "never"), "--until is 'never'"),
    "operate: more than all lost": (("operate", "--uavs", "20", "--loss", "1.5"), "loss is 1.5"),
    "no such command": (("recovr",), "recovr"),
}


@pytest.mark.parametrize(("words", "told"), WITHOUT_OUT.values(), ids=WITHOUT_OUT)
def test_every_command_answers_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: tuple[str, ...],
    told: str,
) -> None:
    """Wrong options of all commands: one line, exit code 2, in the words of reknit."""
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(STUDY)
    Path("far.csv").write_text("uav_id,x_m,y_m,alive\na,0,0,1\nb,100,0,1\nc,1000000,0,1\n")
    Path("no-file.toml").write_text(STUDY.replace("uavs = 20", "scenarios = []"))
    Path("both.toml").write_text(STUDY + 'scenarios = ["far.csv"]\n')
    Path("nobody.toml").write_text(STUDY + "strikes = [{ time_s = 1.0, uavs = [99] }]\n")
    Path("for-ever.toml").write_text(STUDY.replace("= 1\n", "= 1000000000\n", 1))
    Path("all-lost.toml").write_text(STUDY + "destroyed = [5, 20]\n")
    Path("no-size.toml").write_text(STUDY.replace("uavs = 20", "uavs = []"))
    Path("seed.toml").write_text("seed = 1e20\n" + STUDY)
    before = sorted(tmp_path.iterdir())
    error = fail(monkeypatch, capsys, *words)
    assert told in error
    assert error.startswith("reknit: ")
    assert error.count("\n") == 1
    assert "Input should" not in error
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(("words", "told"), CASES.values(), ids=CASES)
def test_one_line_and_exit_code_two(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: tuple[str, ...],
    told: str,
) -> None:
    """Every wrong call ends in one plain line, and leaves the output folder empty."""
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    error = fail(monkeypatch, capsys, *words, "--out", str(out))
    assert told in error
    assert error.startswith("reknit: ")
    assert error.count("\n") == 1
    assert not out.exists() or not list(out.iterdir())


def test_options_of_the_generator_clash_with_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """--uavs beside a file is a contradiction, not something to ignore."""
    path = tmp_path / "case.json"
    reknit.save_scenario(reknit.generate(10, 5, seed=0), path)
    assert "only without a file" in fail(monkeypatch, capsys, "recover", str(path), "--uavs", "5")
    assert "only without a file" in fail(monkeypatch, capsys, "recover", str(path), "--split")


def test_an_output_that_is_a_file_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The folder is tried before anything is computed, and the file there is left alone."""
    path = tmp_path / "taken"
    path.write_text("mine")
    monkeypatch.setattr("reknit.cli.options.ScenarioOptions.warned_scenario", lambda _: 1 / 0)
    error = fail(monkeypatch, capsys, "recover", "--uavs", "20", "--out", str(path))
    assert "taken" in error
    assert path.read_text() == "mine"


def test_a_failed_write_keeps_the_old_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If the disk fills up halfway, the file that was there is still there, whole."""
    path = tmp_path / "case.json"
    reknit.save_scenario(reknit.generate(10, 5, seed=0), path)
    before = path.read_bytes()

    def full(self: Path, *args: object, **kwargs: object) -> int:
        with os.fdopen(os.open(self, os.O_WRONLY), "w") as file:
            file.write("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(reknit.base.errors.UnwritableOutput, match="No space left"):
        reknit.save_scenario(reknit.generate(10, 5, seed=1), path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["case.json"]


@pytest.mark.parametrize("text", ["", " "])
def test_an_output_without_a_name_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str
) -> None:
    """--out '' is not the current folder."""
    monkeypatch.chdir(tmp_path)
    assert "--out is" in fail(monkeypatch, capsys, "recover", "--uavs", "20", "--out", text)
    assert list(tmp_path.iterdir()) == []


def test_a_device_without_an_end_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A file of endless zeros is read up to the limit and no further."""
    for name in ("zeros.csv", "zeros.json"):
        (tmp_path / name).symlink_to("/dev/zero")
        assert "too large" in fail(monkeypatch, capsys, "recover", str(tmp_path / name))
    assert "too large" in fail(
        monkeypatch, capsys, "verify", str(tmp_path / "zeros.json"), str(tmp_path / "zeros.json")
    )


def test_a_huge_file_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """222 MiB of CSV: one line that names the limit."""
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.write(b"uav_id,x_m,y_m,alive\n")
        file.truncate(222 * 2**20)
    assert "MiB" in fail(monkeypatch, capsys, "recover", str(path))


def test_a_file_of_more_uavs_than_can_be_worked_on_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A million and one, within the limit of bytes: one line, not minutes without a word."""
    table, document = tmp_path / "x.csv", tmp_path / "x.json"
    document.write_text('{"positions_m": [' + "[0,0]," * 1_000_000 + "[0,0]]}")
    error = fail(monkeypatch, capsys, "recover", str(document))
    assert error.endswith("allowed: at most 1,000,000 values\n")
    assert len(error) < 300
    monkeypatch.setattr("reknit.swarm.files.MAX_UAVS", 3)
    table.write_text("uav_id,x_m,y_m,alive\n0,0,0,1\n1,0,0,1\n2,0,0,1\n")
    assert reknit.load_scenario(table).uavs == 3
    table.write_text(table.read_text() + "3,0,0,1\n")
    error = fail(monkeypatch, capsys, "recover", str(table))
    assert error == f"reknit: {table}: too many lines; allowed: at most 3 UAVs\n"


BROKEN_FILES: dict[str, tuple[str, bytes] | tuple[str, bytes, str]] = {
    "a field of 200 kB": ("x.csv", b"uav_id,x_m,y_m,alive\n0," + b"9" * 200_000 + b",0,1\n"),
    "an open quote": ("x.csv", b'uav_id,x_m,y_m,alive\n"0,1,2,1\n'),
    "zero bytes": ("x.csv", b"uav_id,x_m,y_m,alive\n\0\0\0\n"),
    "compressed garbage": ("x.json", b"\x1f\x8b\x08\x00garbage"),
    "deep nesting": ("x.json", b"[" * 100_000),
    "no UAVs": ("x.json", b'{"positions_m": []}', "positions_m is []; allowed: at least 1"),
    "a number too large": ("x.json", b'{"positions_m": [[1e400, 0]]}'),
    "a key twice": ("x.json", b'{"positions_m": [[0, 0]], "positions_m": [[1, 1]]}'),
    "a destroyed anchor": (
        "x.json",
        b'{"positions_m": [[0, 0], [9, 0]], "destroyed": [0], "radio_range_m": 120,'
        b' "max_speed_mps": 10, "anchors": [0]}',
    ),
    "text for a range": (
        "x.json",
        b'{"positions_m": [[0, 0]], "destroyed": [], "radio_range_m": "far", "max_speed_mps": 10}',
    ),
    **{
        f"text in a radio: {text}": (
            "x.json",
            b'{"positions_m": [[0, 0]], "destroyed": [], "radio": {"wavelength_m": "%s"},'
            b' "max_speed_mps": 10}' % text.encode(),
            f"radio.wavelength_m is '{text}'; allowed: a number",
        )
        for text in ("short", "0.1")
    },
}


@pytest.mark.parametrize("file", BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_broken_files_are_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    file: tuple[str, bytes] | tuple[str, bytes, str],
) -> None:
    """Whatever is in a file, the answer is one line that names it."""
    name, content, *told = file
    path = tmp_path / name
    path.write_bytes(content)
    for words in (("recover", str(path)), ("verify", str(path), str(path))):
        error = fail(monkeypatch, capsys, *words)
        assert str(path) in error
        assert error.count("\n") == 1
        assert all(text in error for text in told)


_WHOLE = gzip.compress(b"{}" * 500, mtime=0)
PACKED = {
    "garbage": b"\x1f\x8b\x08\x00garbage",
    "cut off": _WHOLE[:-9],
    "a wrong sum": _WHOLE[:-8] + b"\0" * 8,
    "whole, of something else": _WHOLE,
    "not packed": b"{}",
    "empty": b"",
}
READERS = {
    "scenario": ("recover", "{path}"),
    "plan": ("verify", "{scenario}", "{path}"),
    "study": ("study", "run", "{path}.toml"),
    "submission": ("study", "submit", "small-4-1", "{path}"),
    "library": ("study", "submit", "small-4-1", "{plan}", "--out", "{folder}"),
    "weights": (
        *("recover", "{scenario}", "--planner", "ml-dagl"),
        *("--param", "weights={path}"),
    ),
}


@pytest.mark.parametrize("words", READERS.values(), ids=READERS)
@pytest.mark.parametrize("content", PACKED.values(), ids=PACKED)
def test_packed_files_are_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: tuple[str, ...],
    content: bytes,
) -> None:
    """A broken .gz, or a whole one where none is read, is one line that names it, on any path."""
    from reknit.study.library.instances import instance

    small = instance("small-4-1")
    scenario, plan = tmp_path / "scenario.json", tmp_path / "plan.json"
    reknit.save_scenario(small.scenario(), scenario)
    reknit.plan(small.scenario(), "certified").save(plan)
    path = tmp_path / "small-4-1.json.gz"
    for ending in ("", ".toml"):
        Path(f"{path}{ending}").write_bytes(content)
    names = {"path": path, "scenario": scenario, "plan": plan, "folder": tmp_path}
    error = fail(monkeypatch, capsys, *(word.format(**names) for word in words))
    assert str(path) in error
    assert error.startswith("reknit: ")
    assert error.count("\n") == 1


def test_a_packed_file_is_unpacked_up_to_the_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A few kilobytes that hold far more are refused before they fill the memory."""
    from reknit.base import files
    from reknit.study.library.instances import instance

    plan = tmp_path / "plan.json"
    reknit.plan(instance("small-4-1").scenario(), "certified").save(plan)
    packed = gzip.compress(b" " * 10_000_000)
    (tmp_path / "small-4-1.json.gz").write_bytes(packed)
    monkeypatch.setattr(files, "MAX_BYTES", len(packed))
    error = fail(
        monkeypatch, capsys, "study", "submit", "small-4-1", str(plan), "--out", str(tmp_path)
    )
    assert "too large" in error


def test_weights_without_an_end_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Endless zeros are read up to the limit and no further."""
    from reknit.base import files

    monkeypatch.setattr(files, "MAX_BYTES", 100_000)
    words = ("recover", "--uavs", "20", "--destroy", "12", "--split", "--planner", "ml-dagl")
    error = fail(monkeypatch, capsys, *words, "--param", "weights=/dev/zero")
    assert "/dev/zero: too large" in error
