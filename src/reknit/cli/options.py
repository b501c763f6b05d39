"""The options that describe a scenario, declared once for every command that takes one."""

from __future__ import annotations

import csv
import inspect
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin, get_type_hints

import typer

from reknit.base.errors import InvalidParameter
from reknit.cli.values import pairs, plain_value

if TYPE_CHECKING:
    from reknit.recovery.repeated import Strike
    from reknit.swarm.scenario import Scenario

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Budget = Annotated[
    float | None, typer.Option(help="Seconds of computing allowed per plan.", show_default="none")
]

_NOT_WITH_IDS = "with a number or a ratio, not with ids"


@dataclass(frozen=True)
class ScenarioOptions:
    """What the command line says of the scenario; None where it says nothing."""

    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCENARIO", help="A .json or .csv file.", show_default="one is generated"
        ),
    ] = None
    uavs: Annotated[
        int | None, typer.Option(help="Swarm size before the damage.", show_default="200")
    ] = None
    destroy: Annotated[
        str | None,
        typer.Option(
            help="A number, a ratio below 1 (to the nearest UAV), or ids as 3,5,8 or uavs=3; "
            "names with commas in quotes. Beside a file: "
            "besides those that it says are lost.",
            show_default="0.5; none beside a file",
        ),
    ] = None
    lost_after: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Beside a .csv file with the column age_s: UAVs whose last report is older are "
            "lost too.",
            show_default="none are",
        ),
    ] = None
    seed: Annotated[int, typer.Option(help="Of the generated scenario and of the planner.")] = 0
    layout: Annotated[
        str | None,
        typer.Option(help="uniform, grid, clusters or corridor.", show_default="uniform"),
    ] = None
    damage: Annotated[
        str | None,
        typer.Option(help="random, disc, corridor, degree or articulation.", show_default="random"),
    ] = None
    dim: Annotated[int | None, typer.Option(help="2 or 3.", show_default="2")] = None
    density: Annotated[
        float | None,
        typer.Option(
            help="UAVs per square kilometre of the mission area, before the damage.",
            show_default="200",
        ),
    ] = None
    range_m: Annotated[
        float | None,
        typer.Option("--range", help="Radio range in metres: d_tr.", show_default="120"),
    ] = None
    speed: Annotated[
        float | None, typer.Option(help="Speed limit in m/s: v_max.", show_default="10")
    ] = None
    layout_seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the layout alone: the same swarm, damaged otherwise.",
            show_default="--seed",
        ),
    ] = None
    split: Annotated[
        bool, typer.Option("--split", help="Redraw the damage until it splits the swarm.")
    ] = False

    demand: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="What more the recovery must meet, as connectivity=2; may be repeated. "
            "'reknit demands' lists them.",
            show_default="none",
        ),
    ] = None

    def warned_scenario(self) -> tuple[Scenario, list[str]]:
        """The scenario, and what reading it warned of, which standard error is told too."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scenario = self.scenario()
        for item in caught:
            warnings.warn_explicit(item.message, item.category, item.filename, item.lineno)
        return scenario, [str(item.message) for item in caught]

    def scenario(self) -> Scenario:
        """The scenario of the file, or one generated from the options."""
        given: dict[str, Any] = {"radio_range_m": self.range_m, "max_speed_mps": self.speed}
        replaced = {name: value for name, value in given.items() if value is not None}
        return self._generated(replaced) if self.path is None else self._loaded(replaced)

    def _generated(self, replaced: dict[str, Any]) -> Scenario:
        from reknit.swarm.generate import generate

        if self.lost_after is not None:
            raise InvalidParameter("--lost-after", self.lost_after, "only beside a .csv file")
        wanted: dict[str, Any] = {
            "uavs": self.uavs,
            "destroyed": None if self.destroy is None else losses("--destroy", self.destroy),
            "layout": self.layout,
            "damage": self.damage,
            "dim": self.dim,
            "density_per_km2": self.density,
            "layout_seed": self.layout_seed,
        }
        wanted = {name: value for name, value in wanted.items() if value is not None}
        if self.damage is not None and isinstance(wanted.get("destroyed"), list):
            raise InvalidParameter("--damage", self.damage, _NOT_WITH_IDS)
        asked = demands(self.demand)
        return generate(seed=self.seed, split=self.split, **wanted, **replaced, **asked)

    def _loaded(self, replaced: dict[str, Any]) -> Scenario:
        from reknit.swarm.files import load_scenario
        from reknit.swarm.losses import further_losses

        for name in ("uavs", "layout", "dim", "density", "layout_seed", "split"):
            if getattr(self, name) not in (None, False):
                option = f"--{name.replace('_', '-')}"
                raise InvalidParameter(option, getattr(self, name), "only without a file")
        if self.damage is not None and self.destroy is None:
            raise InvalidParameter("--damage", self.damage, "beside a file only with --destroy")
        assert self.path is not None
        if self.lost_after is not None and not 0.0 <= self.lost_after < math.inf:
            raise InvalidParameter("--lost-after", self.lost_after, "seconds, at least 0")
        scenario = load_scenario(self.path, lost_after_s=self.lost_after, **replaced)
        asked = demands(self.demand, scenario)
        is_json = self.path.suffix.lower() == ".json"
        if self.speed is not None and is_json and "allowed_time_s" not in asked:
            warnings.warn(
                f"{self.path}: the allowed time is the file's, {scenario.allowed_time_s:g} s, also "
                "at another speed; --demand allowed_time_s=SECONDS sets another",
                stacklevel=2,
            )
        if self.destroy is not None:
            wanted = losses("--destroy", self.destroy, scenario)
            if self.damage is not None and isinstance(wanted, list):
                raise InvalidParameter("--damage", self.damage, _NOT_WITH_IDS)
            lost = further_losses(scenario, wanted, self.damage or "random", self.seed)
            asked["destroyed"] = lost
        return replace(scenario, **asked) if asked else scenario


def takes_a_scenario(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options above: it receives them as one argument, `options`."""
    signature = inspect.signature(command, eval_str=True)
    hints = get_type_hints(ScenarioOptions, include_extras=True)
    names = [field.name for field in fields(ScenarioOptions)]
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(ScenarioOptions)
    ]
    own = [value for name, value in signature.parameters.items() if name != "options"]

    def with_options(**given: Any) -> Any:
        options = ScenarioOptions(**{name: given.pop(name) for name in names})
        return command(options=options, **given)

    # typer reads the options of a command from its signature.
    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*shared, *own], return_annotation=signature.return_annotation
    )
    with_options.__annotations__ = {item.name: item.annotation for item in [*shared, *own]}
    with_options.__name__ = command.__name__
    with_options.__doc__ = command.__doc__
    return with_options


def losses(option: str, text: str, scenario: Scenario | None = None) -> Any:
    """Read who is lost: ``100`` is a number, ``0.5`` a ratio, ``3,5,8`` and ``uavs=3`` are ids.

    In a scenario whose UAVs have names, ids are names; ``uavs=`` tells a name such as 0.5 from a
    ratio.
    """
    from reknit.swarm.validation import read_number, read_whole

    listed = text.strip().removeprefix("uavs=")
    parts = id_texts(listed, scenario)
    is_list = len(parts) > 1 or listed != text.strip()
    try:
        if is_list and all(parts):
            return parts if _has_names(scenario) else [read_whole(part) for part in parts]
        is_count = listed.lstrip("+-").isdigit()
        return read_whole(listed) if is_count else read_number(listed)
    except ValueError:
        if len(parts) == 1 and parts[0] in ((scenario and scenario.names) or ()):
            return parts
        ids = "ids such as 3,5,8"
        if scenario is not None and scenario.names is not None:
            ids = f"names of UAVs in this swarm such as {','.join(scenario.names[:2])}"
        allowed = f"a number such as 100, a ratio such as 0.5, or {ids}"
        raise InvalidParameter(option, text, allowed) from None


def id_texts(text: str, scenario: Scenario | None) -> list[str]:
    """The ids between commas; in quotes, or alone, a name may have commas itself."""
    if scenario is not None and scenario.names is not None and text.strip() in scenario.names:
        return [text.strip()]
    row = next(csv.reader([text], skipinitialspace=True), [])
    return [part.strip() for part in row] or [""]


def _has_names(scenario: Scenario | None) -> bool:
    return scenario is not None and scenario.names is not None


def demands(given: list[str] | None, scenario: Scenario | None = None) -> dict[str, Any]:
    """Fields of the scenario from ``name=value`` texts; ids of UAVs have commas between.

    In a scenario whose UAVs have names, ids are names.
    """
    from reknit.base.errors import UnknownName
    from reknit.swarm.demands import demand_fields, rule

    known = demand_fields()
    values: dict[str, Any] = {}
    for name, text in pairs("--demand", given):
        if name not in known:
            raise UnknownName("--demand", name, known)
        is_list = get_origin(rule(name).json) is list and not text.startswith("[")
        if is_list and _has_names(scenario):
            values[name] = id_texts(text, scenario)
        elif is_list:
            values[name] = [plain_value(part.strip()) for part in text.split(",")]
        else:
            values[name] = plain_value(text)
    return values


def parse_strike(text: str, scenario: Scenario) -> Strike:
    """Read a strike: ``2.5:10`` (ten at random), ``2.5:uavs=3,8`` or ``2.5:disc=X,Y,RADIUS``."""
    from reknit.recovery.repeated import Strike
    from reknit.swarm.validation import read_number, read_whole

    allowed = "TIME:COUNT, TIME:uavs=ID,ID,... or TIME:disc=X,Y[,Z],RADIUS"
    time_text, colon, rest = text.partition(":")
    kind, equals, values = rest.partition("=")
    parts = [part.strip() for part in values.split(",")]
    try:
        time_s = read_number(time_text)
        if colon and not equals:
            return Strike(time_s, count=read_whole(rest))
        if kind.strip() == "uavs":
            ids = id_texts(values, scenario)
            strike = Strike(time_s, uavs=tuple(ids if scenario.names else map(read_whole, ids)))
            gone = set(strike.uavs) & {scenario.label(row) for row in scenario.destroyed.tolist()}
            if gone:
                raise InvalidParameter("--strike", text, f"survivors; {min(gone)} is lost already")
            return strike
        if kind.strip() == "disc":
            *centre, radius = map(read_number, parts)
            return Strike(time_s, centre_m=tuple(centre), radius_m=radius)
    except InvalidParameter:
        raise
    except ValueError:
        pass
    raise InvalidParameter("--strike", text, allowed)
