"""`reknit planners` and `reknit demands`: what there is, what it needs, what it takes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from reknit.cli.codes import DONE
from reknit.cli.options import Json
from reknit.cli.values import print_json


def planners(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Show the parameters of this one.", show_default="list them all"
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """What each planner is and what it needs; of one: its parameters, defaults and meaning."""
    return _list(as_json) if name is None else _one(name, as_json)


def _list(as_json: bool) -> int:
    from reknit.algorithms.registry import registered

    rows: list[dict[str, Any]] = []
    for entry in registered().values():
        kind = "steers" if entry.steers else "plans"
        rows.append(
            {
                "name": entry.name,
                "kind": kind + (", improves others" if entry.polishes else ""),
                "summary": entry.summary,
                "needs": entry.extra or "",
                "ready": not entry.not_ready,
                "fault": entry.not_ready,
            }
        )
    if as_json:
        print_json({"planners": rows}, [])
        return DONE
    from rich.markup import escape
    from rich.table import Table

    from reknit.cli.console import out, print_missing

    table = Table()
    table.add_column("planner", no_wrap=True)
    for heading in ("kind", "what it does", "needs"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        needs = f"reknit[{row['needs']}]" if row["needs"] else ""
        state = "" if row["ready"] else " (missing)" if row["needs"] else row["fault"]
        table.add_row(row["name"], row["kind"], row["summary"], escape(needs + state))
    out.print(table)
    out.print("A plus sign combines a planner with one that improves others: gcn+contraction.")
    out.print("'reknit planners NAME' shows what can be set by --param.")
    missing: dict[str, list[str]] = {}
    for row in rows:
        if row["needs"] and not row["ready"]:
            missing.setdefault(row["needs"], []).append(row["name"])
    print_missing(missing)
    return DONE


def _one(name: str, as_json: bool) -> int:
    from reknit.algorithms.registry import parameters

    rows = [
        {
            "name": item.name,
            "type": item.type_text,
            "default": item.default,
            "meaning": item.meaning,
            "unset": item.unset,
        }
        for item in parameters(name)
    ]
    if as_json:
        print_json({"planner": name, "parameters": _plain(rows)}, [])
    else:
        _print_fields(rows, f"{name} has no parameters.")
    return DONE


def demands(as_json: Json = False) -> int:
    """What can be asked of a recovery by --demand NAME=VALUE, and of a scenario file."""
    from reknit.swarm.demands import allowed_values, demand_fields, rule
    from reknit.swarm.radio import Radio
    from reknit.swarm.scenario import Scenario

    some = Scenario([[0.0, 0.0], [100.0, 0.0]], (), radio=Radio())
    rows = [
        {
            "name": name,
            "type": allowed_values(name, some),
            "default": list(field.default) if isinstance(field.default, tuple) else field.default,
            "meaning": rule(name).meaning,
        }
        for name, field in demand_fields().items()
    ]
    if as_json:
        print_json({"demands": _plain(rows)}, [])
    else:
        _print_fields(rows, "none")
    return DONE


def _plain(rows: list[dict[str, Any]]) -> Any:
    """The rows with text for every default that JSON has no form for."""
    import json

    return json.loads(json.dumps(rows, default=str))


def _print_fields(rows: list[dict[str, Any]], nothing: str) -> None:
    from rich.markup import escape
    from rich.table import Table

    from reknit.cli.console import out

    if not rows:
        out.print(nothing)
        return
    table = Table()
    table.add_column("name", no_wrap=True)
    for heading in ("allowed", "default", "meaning"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        default = row.get("unset", "none") if row["default"] is None else str(row["default"])
        table.add_row(row["name"], *map(escape, (row["type"], default, row["meaning"])))
    out.print(table)
