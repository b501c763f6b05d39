"""Tables of a study's results: Markdown, CSV and LaTeX from the same cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from reknit.study.paper import reported_time_s
from reknit.study.stats import Estimate, estimate, value
from reknit.types import JsonDict


@dataclass(frozen=True)
class Cell:
    """What all runs of one planner on one kind of case came to."""

    label: str
    planner: str
    group: tuple[object, ...]
    runs: int
    failed: int
    converged: float
    time: Estimate
    converged_time: Estimate
    degree: Estimate
    max_degree: int
    compute: Estimate
    gap: Estimate
    paper_time_s: float | None
    contracted: float | None


GROUP = ("uavs", "destroyed", "layout", "damage", "dim", "instance")


def summarise(rows: Sequence[JsonDict]) -> list[Cell]:
    """One cell per planner and kind of case, in the order in which they first appear."""
    grouped: dict[tuple[object, ...], list[JsonDict]] = {}
    for row in rows:
        group = tuple(row[name] for name in GROUP)
        grouped.setdefault((row["label"], row["planner"], *group), []).append(row)
    cells = []
    for (label, planner, *kind), members in grouped.items():
        good = [row for row in members if row["ok"]]
        charged = [value(row, "charged_time_s") for row in good]
        cells.append(
            Cell(
                label=str(label),
                planner=str(planner),
                group=tuple(kind),
                runs=len(good),
                failed=len(members) - len(good),
                converged=estimate(value(row, "converged") for row in good).mean,
                time=estimate(charged),
                converged_time=estimate(value(row, "flown_time_s") for row in good),
                degree=estimate(value(row, "mean_degree") for row in good),
                max_degree=max((int(row["max_degree"]) for row in good), default=0),
                compute=estimate(value(row, "compute_s") for row in good),
                gap=estimate(value(row, "gap_to_bound") for row in good),
                paper_time_s=_papers(str(planner), members[0]),
                contracted=_contracted(good),
            )
        )
    return cells


def _contracted(rows: Sequence[JsonDict]) -> float | None:
    """Share of the runs whose plan had to be contracted; None for planners that never say."""
    told = [(row["details"] or {}).get("contracted") for row in rows]
    if not told or all(one is None for one in told):
        return None
    return sum(one not in (None, False, "no") for one in told) / len(told)


def _papers(planner: str, row: JsonDict) -> float | None:
    if (row["layout"], row["damage"], row["dim"]) != ("uniform", "random", 2):
        return None
    if row["parameters"]:
        return None
    return reported_time_s(planner, row["uavs"], row["destroyed"])


HEADER = (
    "planner",
    "case",
    "runs",
    "R_c",
    "mean T_rc (s)",
    "paper T_rc (s)",
    "sd (s)",
    "T_rc if converged (s)",
    "E(d)",
    "max(d)",
    "over the bound",
    "contracted",
    "computing (s)",
)


def table_rows(cells: Sequence[Cell]) -> list[tuple[str, ...]]:
    """The cells as text, one row each."""
    return [
        (
            cell.label,
            case_text(cell.group),
            str(cell.runs) + (f" ({cell.failed} failed)" if cell.failed else ""),
            f"{cell.converged:.2f}",
            str(cell.time),
            "" if cell.paper_time_s is None else f"{cell.paper_time_s:g}",
            f"{cell.time.deviation:.2f}",
            str(cell.converged_time),
            f"{cell.degree.mean:.2f}",
            str(cell.max_degree),
            "-" if cell.gap.count == 0 else f"{100 * cell.gap.mean:.1f} %",
            "" if cell.contracted is None else f"{cell.contracted:.0%}",
            f"{cell.compute.mean:.3g}",
        )
        for cell in cells
    ]


def case_text(group: tuple[object, ...]) -> str:
    """A kind of case in a few words."""
    uavs, destroyed, layout, damage, dim, instance = group
    if instance:
        return str(instance)
    number = float(str(destroyed))
    lost = f"{number:.0%}" if number < 1 else f"{number:.0f}"
    extra = "".join(
        f", {word}" for word, usual in ((layout, "uniform"), (damage, "random")) if word != usual
    )
    return f"N={uavs}, {lost} lost{extra}" + (", 3-D" if dim == 3 else "")


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def comma_separated(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def latex(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same as a LaTeX tabular."""

    def line(words: Sequence[str]) -> str:
        safe = [
            word.replace("_", r"\_").replace("%", r"\%").replace("±", r"$\pm$") for word in words
        ]
        return " & ".join(safe) + r" \\"

    body = [line(header), r"\hline", *(line(row) for row in rows)]
    begin = r"\begin{tabular}{ll" + "r" * (len(header) - 2) + "}"
    return "\n".join([begin, *body, r"\end{tabular}"]) + "\n"
