"""Tables of a study's results: Markdown, CSV and LaTeX from the same cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reknit.base.types import JsonDict
from reknit.study.report.paper import reported_time_s
from reknit.study.report.stats import Estimate, estimate, value

GROUP = ("uavs", "destroyed", "layout", "damage", "dim", "instance")
_MEASURES = (
    *("charged_time_s", "converged", "flown_time_s", "mean_degree", "compute_s", "gap_to_bound"),
    *("lower_bound_s", "best_known_s", "over_best_known", "replans", "connected_share"),
)


@dataclass(frozen=True)
class Cell:
    """What all runs of one planner on one kind of case came to."""

    label: str
    planner: str
    group: tuple[object, ...]
    runs: int
    failed: int
    of: dict[str, Estimate]
    max_degree: int
    paper_time_s: float | None
    contracted: float | None
    without: str

    @property
    def time(self) -> Estimate:
        """Recovery time, a run that does not reconnect counted with the allowed time."""
        return self.of["charged_time_s"]

    @property
    def converged(self) -> float:
        """R_c."""
        return self.of["converged"].mean


def summarise(rows: Sequence[JsonDict]) -> list[Cell]:
    """One cell per planner and kind of case, in the order in which they first appear."""
    grouped: dict[tuple[object, ...], list[JsonDict]] = {}
    for row in rows:
        group = tuple(row[name] for name in GROUP)
        grouped.setdefault((row["label"], row["planner"], *group), []).append(row)
    cells = []
    for (label, planner, *kind), members in grouped.items():
        good = [row for row in members if row["ok"]]
        cells.append(
            Cell(
                label=str(label),
                planner=str(planner),
                group=tuple(kind),
                runs=len(good),
                failed=len(members) - len(good),
                of={name: estimate(value(row, name) for row in good) for name in _MEASURES},
                max_degree=max((int(row["max_degree"]) for row in good), default=0),
                paper_time_s=_papers(str(planner), members[0]),
                contracted=_contracted(good),
                without=_without_contraction(good),
            )
        )
    return cells


def _contracted(rows: Sequence[JsonDict]) -> float | None:
    """Share of the runs whose plan had to be contracted; None for planners that never say."""
    told = [(row["details"] or {}).get("contracted") for row in rows]
    if not told or all(one is None for one in told):
        return None
    return sum(one not in (None, False, "no") for one in told) / len(told)


def _without_contraction(rows: Sequence[JsonDict]) -> str:
    """R_c and mean T_rc of what the network made alone, where some plan had to be contracted."""
    if not _contracted(rows):
        return ""
    alone = []
    for row in rows:
        allowed_s, details = row["allowed_time_s"], row["details"]
        own_s = row["flown_time_s"] if details["contracted"] == "no" else details["network_time_s"]
        alone.append(own_s if own_s is not None and own_s <= allowed_s else None)
    charged = [
        row["allowed_time_s"] if own is None else own for own, row in zip(alone, rows, strict=True)
    ]
    share = sum(own is not None for own in alone) / len(alone)
    return f"{estimate(charged)}, R_c {share:.2f}"


def _papers(planner: str, row: JsonDict) -> float | None:
    if (row["layout"], row["damage"], row["dim"]) != ("uniform", "random", 2):
        return None
    # Replans and instances are cases that the paper does not have.
    if row["parameters"] or row["instance"] or "replans" in (row["details"] or {}):
        return None
    return reported_time_s(planner, row["uavs"], row["destroyed"])


def _mean(name: str, form: str) -> Callable[[Cell], str]:
    def text(cell: Cell) -> str:
        found = cell.of[name]
        scale = 100 if form.endswith("%") else 1
        text = form.replace("%", " %").format(scale * found.mean)
        return "" if found.count == 0 else text.replace("-0.0 %", "0.0 %")

    return text


_COLUMNS: dict[str, Callable[[Cell], str]] = {
    "planner": lambda cell: cell.label,
    "case": lambda cell: case_text(cell.group),
    "runs": lambda cell: str(cell.runs) + (f" ({cell.failed} failed)" if cell.failed else ""),
    "R_c": _mean("converged", "{:.2f}"),
    "mean T_rc (s)": lambda cell: str(cell.time),
    "paper T_rc (s)": lambda cell: "" if cell.paper_time_s is None else f"{cell.paper_time_s:g}",
    "sd (s)": lambda cell: f"{cell.time.deviation:.2f}" if cell.runs > 1 else "",
    "T_rc if converged (s)": lambda cell: str(cell.of["flown_time_s"]),
    "E(d)": _mean("mean_degree", "{:.2f}"),
    "max(d)": lambda cell: str(cell.max_degree) if cell.runs else "",
    "bound (s)": _mean("lower_bound_s", "{:.3g}"),
    "best known (s)": _mean("best_known_s", "{:.3g}"),
    "over the bound": _mean("gap_to_bound", "{:.1f}%"),
    "over the best known": _mean("over_best_known", "{:.1f}%"),
    "contracted": lambda cell: "" if cell.contracted is None else f"{cell.contracted:.0%}",
    "T_rc without contraction (s)": lambda cell: cell.without,
    "replans": _mean("replans", "{:.1f}"),
    "connected share": _mean("connected_share", "{:.2f}"),
    "computing (s)": _mean("compute_s", "{:.3g}"),
}


def full_table(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """Header and rows, one row per cell; columns in which nobody has anything are left out."""
    kept = {
        name: texts
        for name, text in _COLUMNS.items()
        if any(texts := [text(cell) for cell in cells])
    }
    return list(kept), [list(row) for row in zip(*kept.values(), strict=True)]


def pivot(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """Recovery times of planners by cases, or the other way round where that is narrower."""
    labels = list(dict.fromkeys(cell.label for cell in cells))
    groups = list(dict.fromkeys(cell.group for cell in cells))
    found = {(cell.label, cell.group): time_text(cell) for cell in cells}
    if len(groups) > 8:
        rows = [
            [case_text(group), *(found.get((label, group), "") for label in labels)]
            for group in groups
        ]
        return ["T_rc (s)", *labels], rows
    rows = [[label, *(found.get((label, group), "") for group in groups)] for label in labels]
    return ["T_rc (s)", *map(case_text, groups)], rows


def time_text(cell: Cell) -> str:
    """A mean with its interval, the paper's in brackets, and R_c if not all reconnected."""
    paper = "" if cell.paper_time_s is None else f" ({cell.paper_time_s:g})"
    rate = "" if cell.converged == 1.0 else f", R_c {cell.converged:.2f}"
    return f"{cell.time}{paper}{rate}" if cell.runs else "failed"


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
        safe = [word.replace("±", r"$\pm$") for word in words]
        for sign in "_%&#":
            safe = [word.replace(sign, f"\\{sign}") for word in safe]
        return " & ".join(safe) + r" \\"

    body = [line(header), r"\hline", *(line(row) for row in rows)]
    begin = r"\begin{tabular}{ll" + "r" * (len(header) - 2) + "}"
    return "\n".join([begin, *body, r"\end{tabular}"]) + "\n"
