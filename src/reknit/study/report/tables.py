"""Tables of a study's results: Markdown, CSV and LaTeX from the same cells."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reknit.base.statistics import Estimate, estimate
from reknit.base.types import JsonDict
from reknit.base.words import counted
from reknit.flight.measures import Measure
from reknit.study.measures import MEASURES, NUMBERS, value
from reknit.study.report.paper import PAPER_FIGURES, reported_of
from reknit.study.spec.cases import CASE_COLUMNS


@dataclass(frozen=True)
class Cell:
    """What all runs of one planner on one kind of case came to."""

    label: str
    planner: str
    group: tuple[object, ...]
    runs: int
    failed: int
    of: dict[str, Estimate]
    greatest: dict[str, float]
    paper: dict[str, float]
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
        group = tuple(row.get(name) for name in CASE_COLUMNS)
        grouped.setdefault((row["label"], row["planner"], *group), []).append(row)
    cells = []
    for (label, planner, *kind), members in grouped.items():
        good = [row for row in members if row["ok"]]
        values = {name: [value(row, name) for row in good] for name in NUMBERS}
        paper = ((name, reported_of(members[0], name)) for name in PAPER_FIGURES)
        cells.append(
            Cell(
                label=str(label),
                planner=str(planner),
                group=tuple(kind),
                runs=len(good),
                failed=len(members) - len(good),
                of={name: estimate(column) for name, column in values.items()},
                greatest={
                    name: max(held)
                    for name, column in values.items()
                    if (held := [entry for entry in column if entry is not None])
                },
                paper={name: figure for name, figure in paper if figure is not None},
                contracted=_contracted(good),
                without=_without_contraction(good),
            )
        )
    return cells


def _contracted(rows: Sequence[JsonDict]) -> float | None:
    """Share of the runs whose plan had to be contracted; None for planners that never say."""
    contractions = [(row["details"] or {}).get("contracted") for row in rows]
    if not contractions or all(entry is None for entry in contractions):
        return None
    return sum(entry not in (None, False, "no") for entry in contractions) / len(contractions)


def _without_contraction(rows: Sequence[JsonDict]) -> str:
    """R_c and mean T_rc of what the net made alone, where some plan had to be contracted;
    empty for planners without a net.
    """
    if not _contracted(rows):
        return ""
    alone = []
    for row in rows:
        allowed_s, details = row["allowed_time_s"], row["details"] or {}
        own_s = row["flown_time_s"]
        if details.get("contracted") not in (None, False, "no"):
            if "network_time_s" not in details:
                return ""
            own_s = details["network_time_s"]
        alone.append(own_s if own_s is not None and own_s <= allowed_s else None)
    charged = [
        row["allowed_time_s"] if own is None else own for own, row in zip(alone, rows, strict=True)
    ]
    share = sum(own is not None for own in alone) / len(alone)
    return f"{estimate(charged)}, R_c {share:.2f}"


def _shown(line: Measure) -> Callable[[Cell], str]:
    """How a table writes what the runs of a cell say of a measure."""

    def text(cell: Cell) -> str:
        summary = cell.of[line.name]
        if summary.count == 0:
            return ""
        if line.summary == "interval":
            return str(summary)
        greatest = line.summary == "greatest"
        figure = line.scale * (cell.greatest[line.name] if greatest else summary.mean)
        return line.form.format(figure).replace("-0.0 %", "0.0 %")

    return text


def _papers(name: str) -> Callable[[Cell], str]:
    return lambda cell: f"{cell.paper[name]:g}" if name in cell.paper and cell.runs else ""


def _columns() -> dict[str, Callable[[Cell], str]]:
    """The columns of the full table: who, on what, every measure that has a heading with the
    paper's figure beside it, and what is known of contractions.
    """
    columns: dict[str, Callable[[Cell], str]] = {
        "planner": lambda cell: cell.label,
        "case": lambda cell: case_text(cell.group),
        "runs": lambda cell: str(cell.runs) + (f" ({cell.failed} failed)" if cell.failed else ""),
    }
    for line in MEASURES.values():
        if line.heading:
            columns[line.heading] = _shown(line)
            if line.name in PAPER_FIGURES:
                columns[f"paper's {line.heading.removeprefix('mean ')}"] = _papers(line.name)
        if line.name == "charged_time_s":
            columns["sd (s)"] = lambda cell: f"{cell.time.deviation:.2f}" if cell.runs > 1 else ""
            columns["paper's sd (s)"] = _papers("deviation_s")
    columns["contracted"] = lambda cell: "" if cell.contracted is None else f"{cell.contracted:.0%}"
    columns["T_rc without contraction (s)"] = lambda cell: cell.without
    return columns


def full_table(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """Header and rows, one row per cell; columns in which nobody has anything are left out."""
    kept = {
        name: texts
        for name, text in _columns().items()
        if any(texts := [text(cell) for cell in cells])
    }
    return list(kept), [list(row) for row in zip(*kept.values(), strict=True)]


def pivot(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """Recovery times of planners by cases, or the other way round where that is narrower."""
    labels = list(dict.fromkeys(cell.label for cell in cells))
    groups = list(dict.fromkeys(cell.group for cell in cells))
    by_place = {(cell.label, cell.group): cell for cell in cells}

    def line(name: str, places: Sequence[tuple[str, tuple[object, ...]]]) -> list[str]:
        row = [by_place.get(place) for place in places]
        counts = runs_text([cell for cell in row if cell is not None])
        return [name, counts, *("" if cell is None else time_text(cell) for cell in row)]

    if len(groups) > 8:
        rows = [line(case_text(group), [(label, group) for label in labels]) for group in groups]
        return ["T_rc (s)", "runs", *labels], rows
    rows = [line(label, [(label, group) for group in groups]) for label in labels]
    return ["T_rc (s)", "runs", *map(case_text, groups)], rows


def runs_text(cells: Sequence[Cell]) -> str:
    """How many runs the figures of some cells are made of: "10", or "3 to 10"."""
    counts = [cell.runs for cell in cells] or [0]
    least, most = min(counts), max(counts)
    return f"{most}" if least == most else f"{least} to {most}"


def time_text(cell: Cell) -> str:
    """A mean with its interval, the paper's in brackets, and R_c if not all reconnected."""
    papers_s = cell.paper.get("charged_time_s")
    paper = "" if papers_s is None else f" ({papers_s:g})"
    rate = "" if cell.converged == 1.0 else f", R_c {cell.converged:.2f}"
    return f"{cell.time}{paper}{rate}" if cell.runs else "failed"


def case_text(group: tuple[object, ...]) -> str:
    """A kind of case in a few words; what is usual is not said."""
    case = dict(zip(CASE_COLUMNS, group, strict=True))
    if case["instance"]:
        return str(case["instance"])
    words = [str(case["scenario_file"])] if case["scenario_file"] else []
    if not words:
        number = float(str(case["destroyed"]))
        words.append(f"N={case['uavs']}")
        words.append(f"{number:.0%} lost" if number < 1 else f"{number:.0f} lost")
    usual = (None, "uniform", "random")
    words += [str(case[name]) for name in ("layout", "damage") if case[name] not in usual]
    words += ["3-D"] if case["dim"] == 3 else []
    if case["layout_seeds"]:
        words.append(counted(len(json.loads(str(case["layout_seeds"]))), "layout"))
    for name, unit in (
        ("radio_range_m", "m range"),
        ("max_speed_mps", "m/s"),
        ("density_per_km2", "UAVs/km²"),
        ("max_acceleration_mps2", "m/s² at most"),
    ):
        words += [f"{case[name]:g} {unit}"] if case[name] is not None else []
    if case["demands"]:
        demands: Mapping[str, Any] = json.loads(str(case["demands"]))
        words += [f"{name} {wanted}" for name, wanted in demands.items()]
    if case["strikes"]:
        strikes = json.loads(str(case["strikes"]))
        words.append("strikes at " + " and ".join(f"{entry['time_s']:g} s" for entry in strikes))
    return ", ".join(words)


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
