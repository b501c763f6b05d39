"""Faults that pydantic finds are told in reknit's words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reknit
from reknit.base.errors import nearest
from reknit.errors import InvalidParameter, InvalidStudy, ReknitError, UnknownName, UnreadableFile
from reknit.plans.files import parse_plan, plan_json
from reknit.swarm.files import ScenarioFile

GOOD = {
    "name": "mine",
    "repetitions": 1,
    "planner": [{"name": "sidr"}],
    "case": [{"uavs": 20}],
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a fraction": ({"seed": 1.5}, "seed is 1.5; allowed: a whole number"),
    "a limit": ({"seed": -1}, "seed is -1; allowed: at least 0"),
    "an upper limit": ({"seed": 10**20}, "seed is 100000000000000000000; allowed: at most"),
    "text for a number": ({"repetitions": "5"}, "repetitions is '5'; allowed: a whole number"),
    "a number for text": ({"title": 3}, "title is 3; allowed: text"),
    "a form": ({"name": "Bad Name"}, "name is 'Bad Name'; allowed: text of the form"),
    "an empty list": ({"planner": []}, "planner is []; allowed: at least 1 value"),
    "no list": ({"case": 3}, "case is 3; allowed: a list"),
    "no table": ({"case": [{"demands": 3}]}, "case.0.demands is 3; allowed: a table"),
    "one of some": ({"case": [{"dim": 4}]}, "case.0.dim is 4; allowed: 2, 3"),
    "within a list": (
        {"case": [{"radio_range_m": [1, "x"]}]},
        "case.0.radio_range_m.1 is 'x'; allowed: a number",
    ),
    "a name of a table": ({"profile": {"fast": {}}}, "profile.fast is 'fast'; allowed: 'quick'"),
    "a field too many": (
        {"extra": 1},
        "extra is not a field that is known here; allowed: name, title",
    ),
    "a field that is misspelt within a table": (
        {"case": [{"scenario": "swarm.csv"}]},
        "case.0.scenario is not a field that is known here; did you mean scenarios? allowed: uavs",
    ),
    "a field too many of a named table": (
        {"profile": {"quick": {"extra": 1}}},
        "profile.quick.extra is not a field that is known here; allowed: repetitions",
    ),
    "a field too few": ({"planner": [{}]}, "planner.0.name is missing"),
    "a part of a value": (
        {"case": [{"strikes": [[-1, 3]]}]},
        "case.0.strikes.0 is [-1, 3]; strike.time_s is -1; allowed: a number of at least 0",
    ),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_a_study_made_in_python_is_refused_in_the_same_words(
    change: dict[str, Any], message: str
) -> None:
    """Study.of names the place, the value and what is allowed; nothing of pydantic shows."""
    with pytest.raises(InvalidStudy) as caught:
        reknit.Study.of({**GOOD, **change})
    assert str(caught.value).startswith(message)
    assert str(caught.value).count("allowed:") <= 1


def test_a_study_made_in_python_is_checked_whole() -> None:
    """Names are looked up when it is made, and what is no table at all is refused."""
    assert reknit.Study.of(GOOD).name == "mine"
    with pytest.raises(UnknownName, match="did you mean 'sidr'"):
        reknit.Study.of({**GOOD, "planner": [{"name": "sdir"}]})
    with pytest.raises(UnreadableFile, match=r"none\.json"):
        reknit.Study.of({**GOOD, "case": [{"scenarios": "none.json"}]})
    for value in (None, 3, "study", [GOOD]):
        with pytest.raises(InvalidParameter, match="study"):
            reknit.Study.of(value)  # type: ignore[arg-type]


_WORDING = re.compile(r"Input should|valid (integer|number|string|list|dict)|pydantic|errors\.")
_ODD = st.one_of(
    *(st.none(), st.booleans(), st.integers(-2, 9), st.floats(), st.text(max_size=4)),
    *(st.just([]), st.just({}), st.just([[]]), st.just({"a": 1}), st.just([1, "x", None])),
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([*reknit.Study.model_fields]), _ODD)
def test_no_wording_of_pydantic_in_studies(field: str, value: Any) -> None:
    """Whatever stands in a field, the message is reknit's own."""
    message = ""
    try:
        reknit.Study.of({**GOOD, field: value})
    except ReknitError as error:
        message = str(error)
    assert not _WORDING.search(message)


def test_the_members_of_a_union_are_told_together() -> None:
    """A speed is a number or a list; within the list, the item is what is wrong."""
    from pydantic import ValidationError

    from reknit.base.faults import plain_error

    def message(**fields: Any) -> str:
        with pytest.raises(ValidationError) as caught:
            ScenarioFile(positions_m=[[0.0, 0.0]], **fields)
        return plain_error(caught.value, ScenarioFile)

    assert message(max_speed_mps="x") == "max_speed_mps is 'x'; allowed: a number or a list"
    assert message(max_speed_mps=[1.0, "x"]) == "max_speed_mps.1 is 'x'; allowed: a number"
    assert message(destroyed=[None]) == "destroyed.0 is None; allowed: a whole number or text"


def test_a_key_twice_in_a_plan_file_is_refused() -> None:
    """The second one would count, and a reader would see the first."""
    scenario = reknit.generate(20, 10, seed=1)
    text = plan_json(reknit.plan(scenario, "contraction"))
    twice = text.replace('"status":', '"status": "optimal", "status":', 1)
    with pytest.raises(UnreadableFile, match="status is there twice"):
        parse_plan(twice, "plan.json")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("radius", None), ("rado", "radio"), ("range_m", "radio_range_m"), ("sped", None)],
)
def test_only_a_name_that_resembles_is_suggested(name: str, meant: str | None) -> None:
    """Short words that share letters by chance are not what was meant."""
    assert nearest(name, tuple(ScenarioFile.model_fields)) == meant
