"""Runs the studies of ignorance: ``reknit study run ignorance`` and the others of `kinds`.

Every run is a row of ``DIR/NAME.csv``, written as it comes; the same call goes on where it stopped.
``DIR/NAME.md`` has the means of every kind of case with their 95 % intervals, and ``DIR/NAME.png``
shows the price of ignorance, or the time, against what was varied.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reknit.base.errors import InvalidParameter, UnknownName
from reknit.base.files import output_folder, write_text
from reknit.base.progress import Progress, silent
from reknit.base.statistics import estimate, share_interval
from reknit.base.types import JsonDict
from reknit.knowledge.kinds import STUDIES, Kind
from reknit.plans.status import OPTIMALITY_GAP

FIRST_SEED = 995_000
"""Cases of the studies; nothing was tuned on them."""


@dataclass(frozen=True)
class Fact:
    """A fact of an `Operation` that rows keep.

    Parameters
    ----------
    heading
        In tables, which leave out what has none.
    axis
        In pictures; None: as in tables.
    factor
        From the stored value to what is shown.
    """

    heading: str = ""
    axis: str | None = None
    factor: float = 1.0


FACTS = {
    "recovery_time_s": Fact("T_rec (s)"),
    "price_of_ignorance": Fact("price", axis="price of ignorance"),
    "first_contact_s": Fact("first contact (s)"),
    "replans": Fact("replans"),
    "mean_false_alive": Fact("lost, held alive"),
    "mean_false_dead": Fact("alive, held dead"),
    "bytes_sent": Fact("sent (MB)", factor=1e-6),
    "path_length_m": Fact("path (m)"),
    **dict.fromkeys(("optimum_s", "optimum_bound_s", "promised_s"), Fact()),
    **dict.fromkeys(("false_done", "compute_s"), Fact()),
}
"""What is kept of every run: one line a fact makes its column, heading and axis."""

_SHOWN = {name: fact for name, fact in FACTS.items() if fact.heading}
_PRICES = (1, 1.5, 2, 3, 5, 10, 20, 50)
_KEY = ("policy", "uavs", "destroyed", "channel", "settings", "seed")

CASES = {"quick": 5, "paper": 50}
"""Cases of every kind, by profile."""


def run_knowledge_study(
    name: str, folder: Path, repetitions: int, progress: Progress = silent
) -> list[Path]:
    """Run what is missing of a study; write its table and its picture.

    Parameters
    ----------
    name
        One of `STUDIES`.
    folder
        Where rows, table and picture are.
    repetitions
        Cases of every kind, up to its own number; one that another study in this folder has run
        is taken from there.
    progress
        Told how much is done.

    Returns
    -------
    list of Path
        Rows, table and picture.
    """
    if name not in STUDIES:
        raise UnknownName("study", name, STUDIES)
    if isinstance(repetitions, bool) or not isinstance(repetitions, int) or repetitions < 1:
        raise InvalidParameter("repetitions", repetitions, "a whole number of at least 1")
    path = output_folder(folder) / f"{name}.csv"
    rows = read_rows(path)
    done = {_row_key(row) for row in rows}
    kinds = {kind.key: kind for kind in STUDIES[name]()}.values()  # some stand in two panels
    missing = [
        (seed, kind)
        for seed in range(FIRST_SEED, FIRST_SEED + repetitions)
        for kind in kinds
        if seed < FIRST_SEED + kind.cases and (*kind.key, kind.fingerprint, str(seed)) not in done
    ]
    others = [read_rows(folder / f"{other}.csv") for other in STUDIES if other != name]
    known = {_row_key(row): row for stored in others for row in stored}
    columns = [*_KEY, "reconnected", "kept_promise", *FACTS]
    if rows and list(rows[0]) != columns:  # of a version with other facts
        text = io.StringIO()
        older = csv.DictWriter(text, columns, restval="", extrasaction="ignore")
        older.writeheader()
        older.writerows(rows)
        write_text(path, text.getvalue())
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, columns)
        if not rows:
            writer.writeheader()
        for number, (seed, kind) in enumerate(missing):
            progress(number / len(missing), f"{kind.policy}, {kind.uavs} UAVs, {kind.label}")
            row = known.get((*kind.key, kind.fingerprint, str(seed))) or _row(kind, seed)
            writer.writerow(row)
            file.flush()
            rows.append({field: str(value) for field, value in row.items()})
    return [path, *write_results(name, folder)]


def _row_key(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row.get(field, "") for field in _KEY)


def _row(kind: Kind, seed: int) -> JsonDict:
    facts = kind.run(seed)
    row = dict(zip(_KEY, (*kind.key, kind.fingerprint, str(seed)), strict=True))
    row["reconnected"] = str(int(facts["reconnected_at_s"] is not None))
    row["kept_promise"] = str(facts["kept_promise"])
    return row | {name: facts[name] for name in FACTS}


def write_results(name: str, folder: Path) -> list[Path]:
    """Table and picture of the rows there are; their paths."""
    from reknit.viz.picture import save_figure

    if name not in STUDIES:
        raise UnknownName("study", name, STUDIES)
    rows = read_rows(folder / f"{name}.csv")
    if not rows:
        raise InvalidParameter("study", name, f"one that was run; {folder} has no rows of it")
    files = [folder / f"{name}.md", folder / f"{name}.png"]
    write_text(files[0], _table(name, rows))
    save_figure(study_figure(name, rows), files[1])
    return files


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a study; none where it was not run."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def of_kind(rows: Sequence[dict[str, str]], kind: Kind) -> list[dict[str, str]]:
    """The rows of one kind of case."""
    mine = (*kind.key, kind.fingerprint)
    return [row for row in rows if _row_key(row)[:-1] == mine]


def _table(name: str, rows: Sequence[dict[str, str]]) -> str:
    heads = ["policy", "N", "lost", "channel", "cases", "R_c", "in time"]
    heads += [fact.heading for fact in _SHOWN.values()]
    lines = [
        "Means over the cases with 95 % intervals. R_c: share reconnected; in time: share that",
        "kept the promise; price: T_rec / optimum with full knowledge (its median in brackets);",
        "lost, held alive, and alive, held dead: UAVs, in the mean over survivors and time.",
        "Where the optimum is a few centimetres of flight a price is large whatever is done: the",
        "median tells the usual case.",
        f"False 'done's in all {len(rows)} runs: {sum(int(row['false_done']) for row in rows)}.",
        _proved(rows),
        "",
        "| " + " | ".join([*heads]) + " |",
        "| --- " * len(heads) + "|",
    ]
    for kind in {kind.key: kind for kind in STUDIES[name]()}.values():
        of_this_kind = of_kind(rows, kind)
        if not of_this_kind:
            continue
        cells = [*kind.key, str(len(of_this_kind))]
        cells.append(share([row["reconnected"] == "1" for row in of_this_kind]))
        kept = [
            row["kept_promise"] == "True" for row in of_this_kind if row["kept_promise"] != "None"
        ]
        cells.append(share(kept))
        for measure in _SHOWN:
            mean, half, values = interval(of_this_kind, measure)
            text = "-" if len(values) < 2 else f"{mean:.4g} ± {half:.2g}"
            if measure == "price_of_ignorance" and len(values):
                text += f" ({np.median(values):.2f})"
            cells.append(text)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _proved(rows: Sequence[dict[str, str]]) -> str:
    """How good the reference is."""
    cases = {
        (row["uavs"], row["destroyed"], row["seed"]): (
            float(row["optimum_s"]),
            float(row["optimum_bound_s"]),
        )
        for row in rows
    }
    gaps = [time_s / bound_s - 1.0 for time_s, bound_s in cases.values() if bound_s > 0.0]
    near = sum(gap <= OPTIMALITY_GAP for gap in gaps)
    return (
        f"The optimum is proved, to {100.0 * OPTIMALITY_GAP:g} %, in {near} of {len(gaps)} "
        f"swarms; the largest gap to the proved bound is {max(gaps, default=0.0):.1%}."
    )


def share(values: Sequence[bool]) -> str:
    """A share with Wilson's 95 % interval."""
    count = len(values)
    if count == 0:
        return "-"
    part = sum(values) / count
    low, high = share_interval(part, count)
    return f"{part:.2f} [{low:.2f}, {high:.2f}]"


def interval(rows: Sequence[dict[str, str]], name: str) -> tuple[float, float, list[float]]:
    """Mean, half of its 95 % interval, and the values of a measure."""
    texts = (row[name] for row in rows)
    values = [float(text) * FACTS[name].factor for text in texts if text not in ("", "None")]
    if len(values) < 2:
        return float("nan"), float("nan"), values
    of_all = estimate(values)
    return of_all.mean, of_all.half_width, values


def study_figure(name: str, rows: Sequence[dict[str, str]]) -> Any:
    """Means and intervals of every kind: a panel per axis, a line per policy or setting."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from reknit.viz.style import RC, SUBNETS, quiet

    kinds = [kind for kind in STUDIES[name]() if of_kind(rows, kind)]
    panels = list(dict.fromkeys(kind.panel for kind in kinds))
    lines = list(dict.fromkeys(kind.line for kind in kinds))
    measure = "recovery_time_s" if name == "report-period" else "price_of_ignorance"
    drawn: dict[str, Any] = {}
    highest = 1.0
    with mpl.rc_context(RC):
        figure = Figure(figsize=(2.2 + 3.4 * len(panels), 3.4), layout="constrained")
        every = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(every, panels, strict=True):
            for line in lines:
                points = [kind for kind in kinds if (kind.panel, kind.line) == (panel, line)]
                if points:
                    figures = [interval(of_kind(rows, kind), measure)[:2] for kind in points]
                    highest = max([highest, *(mean + half for mean, half in figures)])
                    drawn[line or points[0].policy] = axes.errorbar(
                        [kind.x for kind in points],
                        [mean for mean, _ in figures],
                        [half for _, half in figures],
                        color=SUBNETS[lines.index(line) % len(SUBNETS)],
                        linestyle="-" if lines.index(line) < len(SUBNETS) else "--",
                        marker="o",
                        markersize=4,
                        capsize=3,
                    )
            axes.set_xlabel(panel)
            quiet(axes)
        if measure == "price_of_ignorance":
            every[0].set_yscale("log")
            every[0].set_yticks(_PRICES, [f"{price:g}" for price in _PRICES])
            every[0].minorticks_off()
            every[0].set_ylim(0.9, 1.15 * highest)
            for axes in every:
                axes.axhline(1.0, color="#666666", linewidth=0.8, linestyle="--")
        else:
            every[0].set_ylim(bottom=0.0)
        shown_as = FACTS[measure]
        every[0].set_ylabel(shown_as.axis or shown_as.heading)
        beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "fontsize": 8}
        every[-1].legend(drawn.values(), drawn, **beside)
    return figure
