"""What all parts of a study's description share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from reknit.swarm.validation import MAX_UAVS

Count = Annotated[int, Field(ge=1, le=100_000, strict=True)]
Uavs = Annotated[int, Field(ge=2, le=MAX_UAVS, strict=True)]
AboveZero = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class SpecPart(BaseModel):
    """Checked on creation, never changed, and without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def as_list(value: Any) -> Any:
    """A list as it is, anything else as a list of itself."""
    return value if isinstance(value, (list, tuple)) else [value]


OneOrMore = (BeforeValidator(as_list), Field(min_length=1))
"""For a key that holds one value or a list of them, each of which makes cases of its own."""
