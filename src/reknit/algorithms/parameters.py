"""The parameters of planners: declared once, as the fields of a dataclass, and checked from that.

A field's annotation is its type, `Annotated` with a `Range` adds limits, `Literal` lists
choices, the default is the field's, and its meaning stands in the class's docstring under
"Parameters". A class may name sets of parameters in ``PRESETS``; they are asked for by
``preset=NAME``, and parameters given beside it replace those of the set. ``UNSET`` says in words
what a parameter left at None is, where that is not nothing; one text, or one for each name.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import math
import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from reknit.base.errors import InvalidParameter

DEFAULT_PRESET: Final = "default"
_PRESET_MEANING = "A named set of parameters; those given beside it replace the set's."


@dataclass(frozen=True)
class Range:
    """Limits of a number; those left at None do not exist.

    Parameters
    ----------
    least, most
        Limits that the number may have.
    above, below
        Limits that the number may not have.
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def holds(self, value: float) -> bool:
        """Whether a number is within the limits."""
        return (
            (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        words = (("of at least", self.least), ("above", self.above))
        upper = (("at most", self.most), ("below", self.below))
        low, high = (
            [f"{word} {_number_text(limit)}" for word, limit in pairs if limit is not None]
            for pairs in (words, upper)
        )
        return " and ".join(low + high)


def _number_text(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:g}"


Share = Annotated[float, Range(least=0.0, most=1.0)]
"""A number from 0 to 1, both included."""

Dropout = Annotated[float, Range(least=0.0, below=1.0)]
"""A probability of dropping a feature."""

LearningRate = Annotated[float, Range(above=0.0, most=1.0)]
"""Adam moves a weight by about this much per step."""

Iterations = Annotated[int, Range(least=0, most=1_000_000)]
"""A number of updates."""

Penalty = Annotated[float, Range(above=0.0, most=1e9)]
"""The weight of a term of a loss."""

Hops = Annotated[int, Range(least=1, most=1_000_000)]
"""A distance in links."""


@dataclass(frozen=True)
class Parameter:
    """One parameter as it is listed.

    Parameters
    ----------
    name
        As it is given.
    type_text
        What values are allowed, in words.
    default
        The value it has when it is not given.
    meaning
        What it does, from the planner's docstring.
    unset
        What None stands for as the default, in words.
    """

    name: str
    type_text: str
    default: Any
    meaning: str
    unset: str = "none"


def listed(factory: Any) -> list[Parameter]:
    """The parameters of a planner's class, in order; none for what is not a dataclass."""
    meanings = _meanings(factory)
    unset = getattr(factory, "UNSET", Parameter.unset)
    preset = [
        Parameter("preset", _choices(names), DEFAULT_PRESET, _PRESET_MEANING)
        for names in [preset_names(factory)]
        if names
    ]
    return preset + [
        Parameter(
            field.name,
            type_text(kind),
            _default(field),
            meanings.get(field.name, ""),
            unset if isinstance(unset, str) else unset.get(field.name, Parameter.unset),
        )
        for field, kind in _fields(factory)
    ]


def preset_names(factory: Any) -> tuple[str, ...]:
    """Names of a class's presets, the default first; none where it has no others."""
    others = getattr(factory, "PRESETS", {})
    return (DEFAULT_PRESET, *others) if others else ()


def checked(owner: str, factory: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters to make a planner with: known, of the right type, within their limits.

    Parameters
    ----------
    owner
        Whose parameters they are, for the error: ``OWNER.field``.
    factory
        The planner's class.
    given
        What the caller gave, "preset" included.

    Returns
    -------
    dict
        The preset's parameters and the given ones, in the types of the fields: lists have
        become tuples and numpy's numbers Python's.
    """
    given = dict(given)
    names = preset_names(factory)
    preset = given.pop("preset", DEFAULT_PRESET) if names else DEFAULT_PRESET
    if names:
        check_value(f"{owner}.preset", preset, Literal[names])
    kinds = {field.name: kind for field, kind in _fields(factory)}
    known = list(kinds) if dataclasses.is_dataclass(factory) else _signature(factory)
    for name, value in given.items():
        if known is not None and name not in known:
            allowed = [*(["preset"] if names else []), *known]
            raise InvalidParameter(f"{owner}.{name}", value, _known_parameters(name, allowed))
    values = {**getattr(factory, "PRESETS", {}).get(preset, {}), **given}
    return {
        name: check_value(f"{owner}.{name}", value, kinds.get(name, Any))
        for name, value in values.items()
    }


def check_fields(planner: Any) -> None:
    """Check a planner made directly, for its ``__post_init__``: each field by its annotation.

    The error names the class and the field. Values are put into the types of the fields, as
    `checked` does.
    """
    for field, kind in _fields(type(planner)):
        value = getattr(planner, field.name)
        checked_value = check_value(f"{type(planner).__name__}.{field.name}", value, kind)
        if checked_value is not value:
            object.__setattr__(planner, field.name, checked_value)


def check_value(name: str, value: Any, kind: Any) -> Any:
    """The value in the type of its annotation; raises `InvalidParameter` where it does not fit."""
    try:
        return _fitted(value, kind)
    except _Misfit:
        allowed = type_text(kind)
        choices = [text for text in _literals(kind) if isinstance(text, str)]
        near = get_close_matches(value, choices, n=1) if isinstance(value, str) else []
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InvalidParameter(name, value, allowed + hint) from None


def type_text(kind: Any) -> str:
    """What an annotation allows, in words."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        limits = " and ".join(str(item) for item in arguments[1:] if isinstance(item, Range))
        return f"{type_text(arguments[0])} {limits}".strip()
    if origin is Literal:
        return _choices(arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(type_text(arm) for arm in arguments))
    if origin in (tuple, list, collections.abc.Sequence):
        inner = [arm for arm in arguments if arm is not Ellipsis]
        if len(inner) == 1:
            return f"a list, each {type_text(inner[0])}"
        return "a list of " + ", ".join(type_text(arm) for arm in inner)
    return _WORDS.get(kind, getattr(kind, "__name__", str(kind)))


_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a finite number",
    bool: "true or false",
    str: "a text",
    Path: "a file",
    type(None): "None",
    None: "None",
    Any: "anything",
}


class _Misfit(Exception):
    """A value does not fit an annotation."""


def _fitted(value: Any, kind: Any) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        fitted = _fitted(value, arguments[0])
        if not all(item.holds(fitted) for item in arguments[1:] if isinstance(item, Range)):
            raise _Misfit
        return fitted
    if origin is Literal:
        return _require(value, isinstance(value, (str, int)) and value in arguments)
    if origin in (Union, types.UnionType):
        return _first_fitted(value, arguments)
    if origin in (tuple, list, collections.abc.Sequence):
        return _fitted_sequence(value, arguments)
    simple = _SIMPLE.get(kind)
    return value if simple is None else simple(value)


def _first_fitted(value: Any, arms: tuple[Any, ...]) -> Any:
    for arm in arms:
        try:
            return _fitted(value, arm)
        except _Misfit:
            continue
    raise _Misfit


def _fitted_sequence(value: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    if not isinstance(value, (tuple, list, np.ndarray, range)):
        raise _Misfit
    if len(arguments) == 1 or (len(arguments) == 2 and arguments[1] is Ellipsis):
        return tuple(_fitted(item, arguments[0]) for item in value)
    if len(value) != len(arguments):
        raise _Misfit
    return tuple(_fitted(item, arm) for item, arm in zip(value, arguments, strict=True))


def _require(value: Any, holds: bool) -> Any:
    if not holds:
        raise _Misfit
    return value


def _whole(value: Any) -> int:
    return int(
        _require(value, isinstance(value, (int, np.integer)) and not isinstance(value, bool))
    )


def _finite(value: Any) -> float:
    kinds = (int, float, np.integer, np.floating)
    _require(value, isinstance(value, kinds) and not isinstance(value, bool))
    try:
        number = float(value)
    except OverflowError:
        raise _Misfit from None
    return float(_require(number, math.isfinite(number)))


_SIMPLE: dict[Any, Any] = {
    int: _whole,
    float: _finite,
    bool: lambda value: bool(_require(value, isinstance(value, (bool, np.bool_)))),
    str: lambda value: _require(value, isinstance(value, str)),
    Path: lambda value: _require(value, isinstance(value, Path)),
    type(None): lambda value: _require(value, value is None),
}


def _literals(kind: Any) -> Iterator[Any]:
    if get_origin(kind) is Literal:
        yield from get_args(kind)
    elif get_origin(kind) in (Union, types.UnionType):
        for arm in get_args(kind):
            yield from _literals(arm)


def _fields(factory: Any) -> list[tuple[dataclasses.Field[Any], Any]]:
    """The fields of a planner's class and their annotations; `Any` where none can be had."""
    if not dataclasses.is_dataclass(factory):
        return []
    try:
        hints = get_type_hints(factory, include_extras=True)
    except Exception:  # an annotation of somebody else's class that names what is not there
        hints = {}
    return [
        (field, hints.get(field.name, Any)) for field in dataclasses.fields(factory) if field.init
    ]


def _signature(factory: Any) -> list[str] | None:
    """Names of what a plain callable takes; None where it takes anything or nobody knows."""
    try:
        arguments = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(argument.kind is argument.VAR_KEYWORD for argument in arguments):
        return None
    return [argument.name for argument in arguments]


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def _meanings(factory: Any) -> dict[str, str]:
    """Field to meaning, from the numpydoc docstrings of a class and of those it is made from."""
    meanings: dict[str, str] = {}
    for base in reversed(getattr(factory, "__mro__", ())):
        text = inspect.cleandoc(base.__dict__.get("__doc__") or "")
        section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", text, re.M | re.S)
        if section is None:
            continue
        for names, meaning in re.findall(
            r"^(\w[^\n]*)\n((?:[ ]+[^\n]*\n?|\n)+)", section[1] + "\n", re.M
        ):
            for name in names.split(":")[0].split(","):
                meanings[name.strip()] = " ".join(meaning.split())
    return meanings


def _choices(values: tuple[Any, ...]) -> str:
    return " or ".join(repr(value) for value in values)


def _known_parameters(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return ("the parameters " + ", ".join(known) if known else "no parameters") + hint
