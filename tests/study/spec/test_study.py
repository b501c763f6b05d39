"""Studies as data: what they expand to, and what is wrong with a bad one."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import reknit
from reknit.base.errors import MissingExtra, UnknownName, UnreadableFile
from reknit.study.spec.study import Study, built_in_studies, load_study
from tests.study.conftest import TEXT


def test_the_grid_is_planners_by_cases_by_repetitions(study: Study) -> None:
    """3 planners, 2 x 2 cases, 3 repetitions; the quick profile has 2."""
    assert len(study.tasks("paper")) == 3 * 4 * 3
    assert len(study.tasks("quick")) == 3 * 4 * 2
    assert len({task.key for task in study.tasks("paper")}) == 36


def test_all_planners_see_the_same_scenarios(study: Study) -> None:
    """Comparisons are paired: the scenario depends on the case and the repetition only."""
    seen: dict[tuple[object, ...], set[bytes]] = {}
    for task in study.tasks("quick"):
        case = (task.uavs, task.destroyed, task.repetition)
        seen.setdefault(case, set()).add(task.scenario().positions.tobytes())
    assert all(len(layouts) == 1 for layouts in seen.values())
    assert len(set().union(*seen.values())) == 4  # two sizes, two repetitions


def test_labels_do_not_change_the_work(study: Study, tmp_path: Path) -> None:
    """Calling a planner something else in the tables does not make its runs new ones."""
    (tmp_path / "other.toml").write_text(TEXT.replace("HERO alone", "HERO"))
    other = load_study(tmp_path / "other.toml")
    assert [a.key for a in study.tasks()] == [b.key for b in other.tasks()]


LAST = TEXT.count("\n")
DEMANDS = "[[case]]\ndemands = { connectivity = 2 }\n"
STRIKES = "[[case]]\nstrikes = [[1.0, 10]]\n"
WHO = "{ time_s = 1.0, uavs = [3, 200] }"
DISC = "{ time_s = 1.0, centre_m = [0.0, 0.0], radius_m = 9.0 }"
FEWER = """[[profile.quick.fewer]]
planners = ["sidr"]
repetitions = 1
from_uavs = 30
"""


def test_a_profile_may_cap_costly_planners_on_large_swarms(tmp_path: Path) -> None:
    """Only the named planner, only from that size on; 0 leaves it out, no name means all."""
    (tmp_path / "s.toml").write_text(TEXT + FEWER)
    study = load_study(tmp_path / "s.toml")
    counts = Counter((task.planner, task.uavs) for task in study.tasks("quick"))
    assert counts[("sidr", 30)] == 2
    assert counts[("sidr", 20)] == counts[("contraction", 30)] == 4
    assert len(study.tasks("paper")) == 36
    (tmp_path / "s.toml").write_text(TEXT + FEWER.replace("1", "0").replace('"sidr"', ""))
    assert {task.uavs for task in load_study(tmp_path / "s.toml").tasks("quick")} == {20}


def test_a_store_stays_good_when_a_profile_or_a_label_changes(study: Study, tmp_path: Path) -> None:
    """Runs are known by what they are, so more of them may be asked for later."""
    other = TEXT.replace("HERO alone", "HERO").replace("repetitions = 2", "repetitions = 3")
    (tmp_path / "other.toml").write_text(other)
    assert load_study(tmp_path / "other.toml").fingerprint() == study.fingerprint()
    (tmp_path / "other.toml").write_text(TEXT.replace("uavs = [20, 30]", "uavs = [20, 31]"))
    assert load_study(tmp_path / "other.toml").fingerprint() != study.fingerprint()


BAD = {
    "unknown planner": (TEXT.replace('"sidr"', '"sdir"'), 11, "did you mean 'sidr'"),
    "unknown parameter": (TEXT.replace("weight =", "wait ="), 15, "hero.wait"),
    "bad parameter": (TEXT.replace("weight = 1.0", "weight = 7"), 15, "hero.weight"),
    "negative count": (TEXT.replace("repetitions = 3", "repetitions = -3"), 6, "repetitions"),
    "misspelt key": (TEXT.replace("seed = 40", "sead = 40"), 5, "sead"),
    "misspelt key of a case": (TEXT.replace("destroyed = [", "destroid = ["), 19, "destroid"),
    "unknown layout": (TEXT.replace("[0.5, 12]", '0.5\nlayout = "ring"'), 20, "layout"),
    "misspelt table": (TEXT.replace("[[planner]]", "[[plonner]]"), 8, "plonner is not a field"),
    "nothing but a name": ('name = "x"\n', 1, "planner is missing"),
    "not toml": (TEXT.replace("seed = 40", "seed = = 40"), 5, "line 5"),
    "unknown damage": (TEXT.replace("[0.5, 12]", '0.5\ndamage = "rain"'), 20, "damage"),
    "negative count of a profile": (
        TEXT.replace("repetitions = 2", "repetitions = -2"),
        LAST,
        "profile.quick.repetitions",
    ),
    "unknown planner of a profile": (TEXT + 'planners = ["hero"]\n', LAST + 1, "HERO alone"),
    "unknown planner of a cap": (
        TEXT + FEWER.replace("sidr", "sdir"),
        LAST + 2,
        "did you mean 'sidr'",
    ),
    "negative cap": (TEXT + FEWER.replace("1", "-1"), LAST + 3, "repetitions"),
    "misspelt key of a cap": (TEXT + FEWER.replace("from_", "form_"), LAST + 4, "form_uavs"),
    "too few UAVs": (TEXT.replace("[20, 30]", "1"), 18, "case.0.uavs is 1; "),
    "too few UAVs in a list": (TEXT.replace("[20, 30]", "[20, 1]"), 18, "case.0.uavs.1 is 1; "),
    "no UAVs": (TEXT.replace("[20, 30]", "[]"), 18, "case.0.uavs is []; "),
    "text for UAVs": (TEXT.replace("[20, 30]", '"many"'), 18, "case.0.uavs is 'many'; "),
    "a ratio above 1": (TEXT.replace("[0.5, 12]", "1.5"), 19, "case.0.destroyed is 1.5; allowed"),
    "a huge seed": (TEXT.replace("seed = 40", "seed = 1e20"), 5, "seed is 1e+20; "),
    "a huge whole seed": (TEXT.replace("seed = 40", f"seed = {10**20}"), 5, "seed is 1000"),
    "unknown demand": (TEXT + DEMANDS.replace("connectivity", "conectivity"), LAST + 2, "did you"),
    "bad demand": (TEXT + DEMANDS.replace("2", "-7"), LAST + 2, "connectivity is -7"),
    "bad strike": (TEXT + STRIKES.replace("10", "0"), LAST + 2, "count is 0"),
    "all lost at random": (TEXT + STRIKES.replace("10", "100"), LAST + 2, "strikes is 100; "),
    "all lost in the end": (
        TEXT + STRIKES.replace("[1.0, 10]", "[1.0, 50], [2.0, 50]"),
        LAST + 2,
        "fewer in all than the 100 survivors",
    ),
    "a strike at nobody": (TEXT + STRIKES.replace("[1.0, 10]", WHO), LAST + 2, "strikes is 200; "),
    "a strike at a name": (
        TEXT + STRIKES.replace("[1.0, 10]", WHO.replace("200", "'a'")),
        LAST + 2,
        "strikes is 'a'; ",
    ),
    "a strike in the plane at a swarm in space": (
        TEXT + STRIKES.replace("[1.0, 10]", DISC) + "dim = 3\n",
        LAST + 2,
        "centre_m with 3 numbers",
    ),
    "a strike at a family": (
        TEXT + STRIKES.replace("10", "1000") + 'families = "paper"\n',
        LAST + 2,
        "strikes is 1000; ",
    ),
    "a ratio that loses all": (TEXT.replace("[0.5, 12]", "0.99"), 19, "destroyed is 0.99; "),
    "misspelt strike": (TEXT + STRIKES.replace("[1.0, 10]", "{ at = 1 }"), LAST + 2, "time_s"),
    "missing scenario": (TEXT + '[[case]]\nscenarios = "no.json"\n', LAST + 2, "no.json"),
    "negative range": (TEXT + "[[case]]\nradio_range_m = -1\n", LAST + 2, "radio_range_m is -1"),
    "unknown axis": (TEXT.replace('x = "uavs"', 'x = "uav"'), 23, "did you mean 'uavs'"),
    "unknown measure": (TEXT.replace("gap_to_bound", "gap"), 27, "did you mean 'planned_gap'"),
    "unknown filter": (TEXT.replace("only = { label", "only = { lable"), 37, "mean 'label'"),
    "filter without runs": (TEXT.replace('["sidr", "c', '["sdir", "c'), 37, "only.label is 'sdir'"),
    "a table that is none": (TEXT.replace('kind = "bars"', 'kind = "cake"'), 25, "kind"),
}


@pytest.mark.parametrize(("text", "line", "told"), BAD.values(), ids=BAD)
def test_a_bad_study_names_the_line(tmp_path: Path, text: str, line: int, told: str) -> None:
    """The error names file, line and fault."""
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(UnreadableFile) as caught:
        load_study(path)
    assert f"line {line}" in str(caught.value)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("value", "told"), [("[" * 2000, "nested too deeply"), ("9" * 5000, "limit")]
)
def test_toml_beyond_what_its_reader_can_take(tmp_path: Path, value: str, told: str) -> None:
    """Nesting without end and numbers of thousands of digits are typed errors too."""
    path = tmp_path / "odd.toml"
    path.write_text(f"seed = {value}\n")
    with pytest.raises(UnreadableFile, match=told):
        load_study(path)


def test_a_study_made_in_python_is_checked_too(tmp_path: Path) -> None:
    """An unknown planner is told before anything is run."""
    study = reknit.Study.model_validate(
        {"name": "mine", "planner": [{"name": "sdir"}], "case": [{"uavs": 20}], "repetitions": 1}
    )
    with pytest.raises(UnknownName, match="did you mean 'sidr'"):
        reknit.run_study(study, tmp_path / "s.duckdb")
    assert list(tmp_path.iterdir()) == []


GRID = """
[[case]]
uavs = 30
destroyed = 15
radio_range_m = [100, 120.0]
max_speed_mps = 20
density_per_km2 = 300
max_acceleration_mps2 = 5.0
demands = { connectivity = 2, allowed_time_s = 9.0 }
[[case]]
scenarios = ["mine.json"]
demands = { link_margin = 0.1 }
[[case]]
strikes = [[1.0, 10], { time_s = 2.0, count = 3 }]
"""


def test_a_case_can_set_everything_that_a_scenario_has(tmp_path: Path) -> None:
    """Range, speed, density, demands, inertia, files and strikes reach the scenario and task."""
    file = reknit.generate(20, 10, seed=4, split=True)
    reknit.save_scenario(file, tmp_path / "mine.json")
    (tmp_path / "s.toml").write_text(TEXT + GRID)
    own = [
        t
        for t in load_study(tmp_path / "s.toml").tasks()
        if (t.planner, t.repetition) == ("sidr", 0)
    ]
    ranged, wide, filed, struck = own[4:]
    scenario = ranged.scenario()
    assert (ranged.radio_range_m, wide.radio_range_m) == (100.0, 120.0)
    assert (scenario.radio_range_m, wide.scenario().radio_range_m) == (100.0, 120.0)
    assert set(scenario.max_speed_mps) == {20.0}
    assert (scenario.connectivity, scenario.allowed_time_s) == (2, 9.0)
    usual = reknit.generate(30, 15, seed=40, split=True)
    assert np.ptp(scenario.positions) < np.ptp(usual.positions)
    assert ranged.max_acceleration_mps2 == 5.0
    assert np.array_equal(filed.scenario().positions, file.positions)
    assert filed.scenario().link_margin == 0.1
    assert filed.case["scenario_file"] == "mine.json"
    assert struck.strikes == ({"time_s": 1.0, "count": 10}, {"time_s": 2.0, "count": 3})
    assert len({task.key for task in own}) == len(own)


def test_a_changed_scenario_file_is_other_work(tmp_path: Path) -> None:
    """Runs are known by what the file says, not by its name."""
    (tmp_path / "s.toml").write_text(TEXT + GRID)
    keys = []
    for seed in (4, 5):
        reknit.save_scenario(reknit.generate(20, 10, seed=seed), tmp_path / "mine.json")
        tasks = load_study(tmp_path / "s.toml").tasks()
        keys.append({task.key for task in tasks if task.scenario_file})
    assert not keys[0] & keys[1]


def test_studies_can_be_listed_without_the_libraries_that_run_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without torch and duckdb a study is loaded and counted; running it names the extra."""
    for name in ("torch", "duckdb", "joblib"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in [name for name in sys.modules if name.startswith("reknit.algorithms.learned.")]:
        monkeypatch.delitem(sys.modules, name)
    study = load_study("scalability")
    assert len(study.tasks("quick")) > 100
    with pytest.raises(MissingExtra, match=r"reknit\[learn\]"):
        reknit.run_study(study, tmp_path / "s.duckdb")
    with pytest.raises(MissingExtra, match=r"reknit\[study\]"):
        reknit.run_study(study.with_planners(["sidr"]), tmp_path / "s.duckdb")


def test_unknown_studies_and_profiles_suggest(study: Study) -> None:
    """A misspelt name suggests the right one."""
    with pytest.raises(UnknownName, match="did you mean 'scalability'"):
        load_study("scalabilty")
    with pytest.raises(UnknownName, match="did you mean 'quick'"):
        study.tasks("quik")


@pytest.mark.parametrize("name", built_in_studies())
def test_every_built_in_study_loads(name: str) -> None:
    """Each has a title, says what it is about, its quick profile is smaller, and another planner
    can be put in the place of its own.
    """
    study = load_study(name)
    assert study.with_planners(["sidr"]).fault() is None
    assert study.name == name
    assert study.title
    assert study.about
    assert len(study.tasks("quick")) <= len(study.tasks("paper"))
