"""What pydantic found wrong, in reknit's words: the field, the value, what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from reknit.base.errors import nearest

Location = tuple[int | str, ...]
"""Where something stands in a document: keys and numbers, such as ("planner", 1, "name")."""

# Pydantic names the members of a union within a location, which no document holds.
_MEMBER = re.compile(r"\[key\]|int|str|float|bool|none|constrained-\w+|[\w-]+\[.*\]")

_KINDS = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    "int_parsing_size": "a whole number of fewer digits",
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    "finite_number": "a finite number",
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("string_type", "string_sub_type", "string_unicode"), "text"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type"), "a list"),
    **dict.fromkeys(("dict_type", "mapping_type"), "a table of names and values"),
    **dict.fromkeys(("model_type", "model_attributes_type"), "a table of names and values"),
    "none_required": "null",
}
_LIMITS = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
}
_LENGTHS = {
    "too_short": ("at least", "min_length", "values"),
    "too_long": ("at most", "max_length", "values"),
    "string_too_short": ("at least", "min_length", "characters"),
    "string_too_long": ("at most", "max_length", "characters"),
}


def allowed_text(fault: ErrorDetails) -> str:
    """What would be allowed where pydantic found a fault."""
    kind, context = fault["type"], fault.get("ctx", {})
    if kind in _KINDS:
        return _KINDS[kind]
    if kind in _LIMITS:
        word, limit = _LIMITS[kind]
        return f"{word} {context[limit]}"
    if kind in _LENGTHS:
        word, limit, unit = _LENGTHS[kind]
        count = context[limit]
        return f"{word} {count:,} {unit[:-1] if count == 1 else unit}"
    if kind in ("literal_error", "enum"):
        return str(context["expected"]).replace(" or ", ", ")
    if kind == "string_pattern_mismatch":
        return f"text of the form {context['pattern']}"
    if kind == "value_error":
        return str(context["error"])
    return str(fault["msg"])


def plain_error(error: ValidationError, model: type[BaseModel]) -> str:
    """The first fault as: field, value, what is allowed; `model` as for `first_fault`."""
    return first_fault(error, model)[1]


def first_fault(error: ValidationError, model: type[BaseModel]) -> tuple[Location, str]:
    """Where the first fault is, and which; misspelt fields before missing ones.

    Parameters
    ----------
    error
        What pydantic said of a document.
    model
        What the document should be, of whose fields one may have been meant.
    """
    location, faults = _first(error)
    where = ".".join(str(part) for part in location) or "the file"
    kind = faults[0]["type"]
    if kind == "missing":
        return location, f"{where} is missing"
    if kind == "extra_forbidden":
        known = fields_at(model, location)
        near = nearest(str(location[-1]), known)
        hint = "" if near is None else f" did you mean {near}?"
        allowed = f" allowed: {', '.join(known)}" if known else ""
        text = f"{where} is not a field that is known here;{hint}{allowed}"
        return location, text.rstrip(";")
    allowed = _alternatives(faults)
    # A validator of reknit's own may say more of a part of the value.
    word = "" if "allowed:" in allowed else "allowed: "
    return location, f"{where} is {_shown(faults[0])}; {word}{allowed}"


def fields_at(model: type[BaseModel], location: Location) -> tuple[str, ...]:
    """Names of the fields beside the one at a location; none where several models may stand."""
    is_key = False  # of a table whose values are models
    for part in location[:-1]:
        if isinstance(part, int) or is_key:
            is_key = False
            continue
        field = model.model_fields.get(part)
        models = [] if field is None else list(_models_in(field.annotation))
        if field is None or len(models) != 1:
            return ()
        model, is_key = models[0], get_origin(field.annotation) is dict
    return tuple(model.model_fields)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def first_allowed(error: ValidationError, model: type[BaseModel]) -> str:
    """What would be allowed at the first fault; `model` as for `first_fault`."""
    location, faults = _first(error)
    if faults[0]["type"] == "extra_forbidden":
        return ", ".join(fields_at(model, location))
    return _alternatives(faults)


def location_of(fault: Mapping[str, Any]) -> Location:
    """Where a fault is, without the members of unions that pydantic tried there."""
    return tuple(
        part for part in fault["loc"] if not (isinstance(part, str) and _MEMBER.fullmatch(part))
    )


def _first(error: ValidationError) -> tuple[Location, list[ErrorDetails]]:
    """Where the first fault is, and all that is wrong there: one for each member of a union."""
    faults = error.errors(include_url=False)
    start = location_of(min(faults, key=lambda fault: fault["type"] == "missing"))
    within = [fault for fault in faults if location_of(fault)[: len(start)] == start]
    # Of a union's members the one that fits furthest is the one that was meant.
    location = max((location_of(fault) for fault in within), key=len)
    return location, [fault for fault in within if location_of(fault) == location]


def _alternatives(faults: list[ErrorDetails]) -> str:
    return " or ".join(dict.fromkeys(allowed_text(fault) for fault in faults))


def _shown(fault: ErrorDetails) -> str:
    value = " ".join(repr(fault.get("input")).split())
    return value if len(value) <= 60 else value[:57] + "..."
