"""`reknit planners`: what there is and what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reknit.cli.codes import DONE
from reknit.cli.options import Json
from reknit.cli.values import print_json

if TYPE_CHECKING:
    from reknit.algorithms.registry import Entry


def planners(
    as_json: Json = False,
) -> int:
    """What each planner is, and what it needs."""
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
                "ready": is_ready(entry),
            }
        )
    if as_json:
        print_json({"planners": rows}, [])
        return DONE
    from rich.table import Table

    from reknit.cli.console import out

    table = Table()
    table.add_column("planner", no_wrap=True)
    for heading in ("kind", "what it does", "needs"):
        table.add_column(heading)
    for row in rows:
        needs = row["needs"] and f"reknit[{row['needs']}]" + ("" if row["ready"] else " (missing)")
        table.add_row(row["name"], row["kind"], row["summary"], needs.replace("[", r"\["))
    out.print(table)
    out.print("A plus sign combines a planner with one that improves others: gcn+contraction.")
    return DONE


def is_ready(entry: Entry) -> bool:
    """Whether a planner's libraries are installed."""
    from importlib.util import find_spec

    return entry.extra is None or find_spec("torch") is not None
