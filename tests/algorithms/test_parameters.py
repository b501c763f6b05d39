"""Parameters are checked from their declaration: type, limits, choices, presets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest

from reknit.algorithms import registry
from reknit.algorithms.parameters import (
    Dropout,
    Iterations,
    Range,
    check_fields,
    check_value,
    checked,
    listed,
    type_text,
)
from reknit.base.errors import InvalidParameter

NAN = float("nan")
EXPLAINED = [entry.name for entry in registry.BUILT_IN]


@dataclass(frozen=True)
class Sample:
    """A planner's parameters of every kind.

    Parameters
    ----------
    steps
        How many.
    shares, hops
        Numbers
        over two lines.

    Returns
    -------
    steps
        No parameter.
    """

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"paper": {"steps": 1000, "hops": (1, 2)}}

    steps: Iterations = 10
    shares: Dropout | None = None
    hops: tuple[Annotated[int, Range(least=1)], ...] = (3,)
    keep: tuple[tuple[int, float], ...] = ()
    mode: Literal["slow", "fast"] = "slow"
    weights: str | Path = "random"
    branches: Sequence[int] | str | None = None
    quiet: bool = False
    gain: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", 1.5),
        ("steps", 1e9),
        ("steps", NAN),
        ("steps", "abc"),
        ("steps", True),
        ("steps", -1),
        ("steps", None),
        ("shares", "abc"),
        ("shares", 1.0),
        ("shares", NAN),
        ("shares", 10**400),
        ("hops", 3),
        ("hops", (0,)),
        ("hops", (1.5,)),
        ("keep", ((1,),)),
        ("mode", "fats"),
        ("mode", 3),
        ("mode", ["slow"]),
        ("weights", 3),
        ("branches", (1.0,)),
        ("quiet", "maybe"),
        ("quiet", 1),
        ("gain", NAN),
        ("gain", float("inf")),
        ("gain", 10**400),
    ],
)
def test_wrong_values_are_one_error_that_names_owner_and_field(name: str, value: Any) -> None:
    """Whether made by name or directly."""
    with pytest.raises(InvalidParameter, match=rf"^sample\.{name} is "):
        checked("sample", Sample, {name: value})
    with pytest.raises(InvalidParameter, match=rf"^Sample\.{name} is "):
        Sample(**{name: value})


def test_values_take_the_types_of_their_fields() -> None:
    """Lists, as JSON and TOML have them, become tuples, and numpy's numbers Python's."""
    given = {"hops": [np.int64(2), 3], "keep": [[1, 2]], "steps": np.int32(4), "quiet": np.True_}
    values = checked("sample", Sample, given)
    assert values == {"hops": (2, 3), "keep": ((1, 2.0),), "steps": 4, "quiet": True}
    assert [type(number) for number in values["hops"]] == [int, int]
    assert type(values["keep"][0][1]) is float
    made = Sample(**given)  # type: ignore[arg-type]
    assert (made.hops, made.steps) == ((2, 3), 4)


def test_presets_fill_in_what_is_not_given() -> None:
    """A preset's parameters, and those given beside it in their place."""
    assert checked("sample", Sample, {"preset": "paper"}) == {"steps": 1000, "hops": (1, 2)}
    assert checked("sample", Sample, {"preset": "paper", "steps": 3})["steps"] == 3
    assert checked("sample", Sample, {"preset": "default"}) == {}
    with pytest.raises(InvalidParameter, match=r"sample\.preset is 'papr'; .* mean 'paper'"):
        checked("sample", Sample, {"preset": "papr"})
    with pytest.raises(InvalidParameter, match=r"sample\.preset is 3"):
        checked("sample", Sample, {"preset": 3})


def test_a_list_of_parameters_tells_type_default_and_meaning() -> None:
    """In order; the meaning comes from the docstring's section and no other."""
    rows = {row.name: row for row in listed(Sample)}
    assert list(rows)[:3] == ["preset", "steps", "shares"]
    assert rows["steps"].meaning == "How many."
    assert rows["hops"].meaning == rows["shares"].meaning == "Numbers over two lines."
    assert rows["steps"].default == 10
    assert rows["steps"].type_text == "a whole number of at least 0 and at most 1,000,000"
    assert rows["mode"].type_text == "'slow' or 'fast'"
    assert rows["shares"].type_text == "a finite number of at least 0 and below 1 or None"


@pytest.mark.parametrize("name", EXPLAINED)
def test_every_built_in_parameter_is_explained(name: str) -> None:
    """No parameter without words, and every default is a value that is allowed."""
    factory = registry.registered()[name].load()
    for parameter in registry.parameters(name):
        assert parameter.meaning, parameter.name
        checked(name, factory, {parameter.name: parameter.default})


def test_unknown_annotations_allow_anything() -> None:
    """A type of somebody else's is not judged."""
    marker = object()
    assert check_value("x", marker, object) is marker
    assert type_text(dict[str, int]) == "dict"
