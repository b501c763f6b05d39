"""Fills the tables on ML-DAGL in docs/algorithms.md; no figure is typed by hand.

    reknit study run paper-preset --profile paper
    reknit study run paper-layouts --profile paper
    reknit study run scalability --profile paper
    reknit study run paper-branches --profile paper
    reknit study run examples/paper-parts.toml --profile paper
    reknit study run examples/published-preset.toml --profile paper
    reknit study run examples/published-sizes.toml --profile paper
    reknit study run examples/published-parts.toml --profile paper
    reknit study run default-preset --profile paper
    python docs/make_ml_dagl.py [FOLDER]

Runs are read from the stored results in FOLDER, by default `results`, as many as there are; runs
of one kind from several studies, whose swarms differ, are put together. A table of studies of which
there are none is left as it is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from reknit.base.statistics import Estimate
from reknit.base.types import JsonDict
from reknit.study.report.paper import reported
from reknit.study.report.stats import paired, shared
from reknit.study.report.tables import Cell, markdown, summarise
from reknit.study.spec.study import Study, load_study
from reknit.study.store import Store

PAGE = Path(__file__).parent / "algorithms.md"
PARTS_NAME = "examples/paper-parts.toml"
PARTS = Path(__file__).parent.parent / PARTS_NAME
PUBLISHED_NAME = "examples/published-preset.toml"
PUBLISHED = Path(__file__).parent.parent / PUBLISHED_NAME
SMALLER = PUBLISHED.parent / "published-sizes.toml"
PUBLISHED_PARTS_NAME = "examples/published-parts.toml"
PUBLISHED_PARTS = Path(__file__).parent.parent / PUBLISHED_PARTS_NAME
DEFAULT_PARTS_NAME = "examples/default-parts.toml"
DEFAULT_PARTS = Path(__file__).parent.parent / DEFAULT_PARTS_NAME
STUDIES = (
    "paper-preset",
    "paper-layouts",
    "scalability",
    "paper-branches",
    str(PARTS),
    str(PUBLISHED),
    str(SMALLER),
    str(PUBLISHED_PARTS),
    "default-preset",
    str(DEFAULT_PARTS),
)
PROFILES = ("paper", "quick")
PRESET, PUBLISHED_PRESET = "ml-dagl (paper preset)", "ml-dagl (published preset)"
CLAIM = 20
"""Fewer runs than this are no claim."""

LEAST = 5
"""What has fewer runs than this is left out."""

ALLOWED = 1.25
"""How many times the paper's mean time ours may be."""


def main(results: Path) -> None:
    """Rewrite what stands between the marks of each table."""
    text = PAGE.read_text(encoding="utf-8")
    sizes, layouts, whole_table, branches, parts, *more = (
        stored(results, load_study(name)) for name in STUDIES
    )
    published, smaller, published_parts, default, default_parts = more
    sizes += [row for row in whole_table if row["label"] in (PRESET, "center-fly")]
    parallel = [row for row in branches if row["label"] == "parallel"]
    if sizes:
        text = filled(text, "paper", paper_table(sizes))
        text = filled(text, "center", center_table(sizes))
    if layouts:
        text = filled(text, "layouts", paper_table(layouts, "paper-layouts"))
        text = filled(text, "layouts center", center_table(layouts))
    if branches:
        text = filled(text, "branches", against(branches, "parallel", "paper-branches"))
    if parts:
        whole = merged(parts, renamed(parallel, "whole"))
        text = filled(text, "parts", against(whole, "whole", PARTS_NAME))
    published += smaller
    if published:
        text = filled(text, "published", paper_table(published, PUBLISHED_NAME, PUBLISHED_PRESET))
        text = filled(text, "published less paper", against(published, PRESET, PUBLISHED_NAME))
    if published_parts:
        rows = against(published_parts, "parallel", PUBLISHED_PARTS_NAME)
        text = filled(text, "published parts", rows)
    if default:
        text = filled(text, "default", default_table(default))
        text = filled(text, "variants", variants_table(default))
    if default_parts:
        text = filled(text, "attention", against(default_parts, "shipped", DEFAULT_PARTS_NAME))
    PAGE.write_text(text, encoding="utf-8")


def filled(text: str, name: str, content: str, script: str = "make_ml_dagl.py") -> str:
    """The text with new content between the marks of this name."""
    begin, end = f"<!-- {name}: made by docs/{script} -->", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    return before + begin + "\n" + content + end + rest.split(end)[1]


def stored(results: Path, study: Study) -> list[JsonDict]:
    """All runs of a study that there are, of the paper's profile if that was run."""
    for profile in PROFILES:
        path = results / f"{study.name}-{profile}.duckdb"
        if path.exists():
            with Store(path, study, read_only=True) as store:
                return [counted(row) for row in store.rows(study.tasks(profile))]
    return []


def counted(row: JsonDict) -> JsonDict:
    """The run with N_D for its damage, where the study gave a share of N."""
    lost = row["destroyed"]
    return {**row, "destroyed": round(lost * row["uavs"]) if lost < 1 else round(lost)}


def case_of(cell: Cell) -> tuple[int, int]:
    """N and N_D."""
    return int(str(cell.group[0])), int(str(cell.group[1]))


def by_case(runs: list[JsonDict]) -> dict[tuple[int, int], dict[str, Cell]]:
    """The cells of every planner, for every N and N_D in order."""
    cells: dict[tuple[int, int], dict[str, Cell]] = {}
    for cell in summarise(runs):
        if cell.runs:
            cells.setdefault(case_of(cell), {})[cell.label] = cell
    return dict(sorted(cells.items()))


def of_case(runs: list[JsonDict], uavs: int, lost: int) -> list[JsonDict]:
    """The runs with this N and N_D."""
    return [row for row in runs if (row["uavs"], row["destroyed"]) == (uavs, lost)]


def interval(figure: Estimate, digits: int = 2) -> str:
    """A mean with its 95 % interval."""
    return f"{figure.mean:.{digits}f} ± {figure.half_width:.{digits}f}"


def paper_table(runs: list[JsonDict], study: str = "paper-preset", preset: str = PRESET) -> str:
    """The paper preset, or another of that label, beside the paper."""
    rows = []
    for (uavs, lost), cells in by_case(runs).items():
        cell = cells.get(preset)
        if cell is None or cell.runs < LEAST:
            continue
        told = cell.paper.get("charged_time_s")
        degree = cell.of["mean_degree"].mean
        own = [row for row in of_case(runs, uavs, lost) if row["label"] == preset]
        again = sum(bool((row["details"] or {}).get("restarted")) for row in own)
        verdict = ""
        if told is not None and cell.runs >= CLAIM:
            ratio = cell.time.mean / told
            verdict = f"{ratio:.2f}" + ("" if ratio <= ALLOWED else ", missed")
        rows.append(
            [
                f"{uavs}, {lost}",
                str(cell.runs),
                f"{cell.converged:.2f}",
                str(again),
                interval(cell.time),
                "" if told is None else f"{told:g}",
                verdict,
                f"{cell.time.deviation:.2f}",
                paper_figure(cell, "deviation_s"),
                f"{degree:.2f}",
                paper_figure(cell, "mean_degree"),
                f"{cell.greatest['max_degree']:.0f}",
                paper_figure(cell, "max_degree"),
            ]
        )
    header = ["N, N_D", "runs", "R_c", "again", "T_rc (s)", "paper", "ratio", "sd (s)", "paper"]
    header += ["E(d)", "paper", "max(d)", "paper"]
    note = (
        "Mean flown time with its 95 % interval; the ratio to the paper's, of at least "
        f"{CLAIM} runs, is meant to be at most {ALLOWED:g}. "
        "Again: so many were begun again from untrained weights, and would not have been "
        f"connected otherwise. `reknit study run {study} --profile paper`.\n\n"
    )
    return note + markdown(header, rows)


def paper_figure(cell: Cell, name: str) -> str:
    """A figure of the paper, if it gives one."""
    return f"{cell.paper[name]:g}" if name in cell.paper else ""


def renamed(runs: list[JsonDict], label: str) -> list[JsonDict]:
    """The same runs under another label."""
    return [{**row, "label": label} for row in runs]


def merged(runs: list[JsonDict], others: list[JsonDict]) -> list[JsonDict]:
    """Runs of two studies on the same swarms; a run that both have counts once."""
    known = {(row["label"], row["seed"], row["destroyed"]) for row in runs}
    new = [row for row in others if (row["label"], row["seed"], row["destroyed"]) not in known]
    return runs + new


def center_table(runs: list[JsonDict]) -> str:
    """The paper preset's time over center-fly's, ours and the paper's."""
    rows = []
    for (uavs, lost), cells in by_case(runs).items():
        here = of_case(runs, uavs, lost)
        told = [reported(name, uavs) for name in ("ml-dagl", "center-fly")]
        if PRESET not in cells or 2 * lost != uavs or not all(told):
            continue
        own, papers = (one.charged_time_s for one in told if one is not None)
        steered = cells["center-fly"].time
        ratio = ratio_text(here, PRESET, "center-fly")
        rows.append([str(uavs), interval(steered), f"{papers:g}", ratio, f"{own / papers:.3f}"])
    header = ["N", "center-fly (s)", "paper", "preset over center-fly", "paper"]
    note = (
        "Half lost, the swarms of the table above; 95 % intervals, of the ratio by bootstrap.\n\n"
    )
    return note + markdown(header, rows)


def against(runs: list[JsonDict], whole: str, study: str) -> str:
    """Every variant of the paper preset, and its difference from the whole on the same swarms."""
    if len({row["label"] for row in runs}) < 2:
        return f"Not run yet: `reknit study run {study} --profile paper`.\n"
    rows = []
    for (uavs, lost), cells in by_case(runs).items():
        if len(cells) < 2:
            continue
        here = of_case(runs, uavs, lost)
        for label, cell in cells.items():
            if cell.runs < LEAST:
                continue
            gap = paired(here, "charged_time_s", label, whole)
            rows.append(
                [
                    f"{uavs}, {lost}",
                    label,
                    str(cell.runs),
                    f"{cell.converged:.2f}",
                    interval(cell.time),
                    "" if label == whole else f"{gap.mean:+.2f} ± {gap.half_width:.2f}",
                ]
            )
    note = (
        f"Mean flown time and the paired difference from {whole!r}, with 95 % intervals. Fewer "
        f"than {CLAIM} runs are no claim. `reknit study run {study} --profile paper`.\n\n"
    )
    return note + markdown(["N, N_D", "", "runs", "R_c", "T_rc (s)", f"minus {whole}"], rows)


def default_table(runs: list[JsonDict]) -> str:
    """The default preset and descent over the optimum."""
    rows = []
    for (uavs, lost), cells in by_case(runs).items():
        here = of_case(runs, uavs, lost)
        row = [f"{uavs}, {lost}", str(cells["ml-dagl"].runs)]
        for label in ("ml-dagl", "descent", "certified"):
            cell = cells[label]
            times = f"{cell.converged:.2f} / {interval(cell.time)}"
            row.append(times if label == "certified" else f"{times} / {ratio_text(here, label)}")
        contracted = cells["ml-dagl"].contracted
        rows.append([*row, "" if contracted is None else f"{contracted:.0%}"])
    note = (
        "R_c / mean flown time in s with its 95 % interval / mean over certified's mean on the "
        "same swarms, with a 95 % interval by bootstrap. The last column: how many of ml-dagl's "
        "plans were contracted. "
        "`reknit study run default-preset --profile paper`.\n\n"
    )
    header = ["N, N_D", "runs", "ml-dagl", "descent", "certified", "contracted"]
    return note + markdown(header, rows)


def variants_table(runs: list[JsonDict]) -> str:
    """The default preset without its parts, where there is something to lose."""
    rows = []
    for (uavs, lost), cells in by_case(runs).items():
        if "links off" not in cells:
            continue
        here = of_case(runs, uavs, lost)
        for label, cell in cells.items():
            gap = paired(here, "charged_time_s", label, "ml-dagl")
            rows.append(
                [
                    f"{uavs}, {lost}",
                    "default" if label == "ml-dagl" else label,
                    str(cell.runs),
                    interval(cell.time),
                    "" if label == "certified" else ratio_text(here, label),
                    "" if label == "ml-dagl" else f"{gap.mean:+.2f} ± {gap.half_width:.2f}",
                    f"{1e3 * cell.of['compute_s'].mean:.0f}",
                ]
            )
    note = (
        "Mean flown time, its ratio to certified's, the paired difference from the default, with "
        "95 % intervals, and the mean computing time.\n\n"
    )
    header = ["N, N_D", "", "runs", "T_rc (s)", "over certified", "minus default", "ms"]
    return note + markdown(header, rows)


def ratio_text(runs: list[JsonDict], label: str, other: str = "certified") -> str:
    """Mean time over another's mean on the same swarms, with its interval by bootstrap."""
    pairs = np.array(shared(runs, "charged_time_s", label, other))
    rng = np.random.default_rng(0)
    draws = pairs[rng.integers(len(pairs), size=(2000, len(pairs)))].sum(axis=1)
    low, high = np.quantile(draws[:, 0] / draws[:, 1], (0.025, 0.975))
    own, best = pairs.sum(axis=0)
    return f"{own / best:.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("results"))
