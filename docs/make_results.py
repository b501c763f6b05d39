"""Fills the README's table and its picture from stored results; no figure is typed by hand.

Run by `make results`, after the studies.
"""

from __future__ import annotations

from pathlib import Path

from reknit.recovery import recover
from reknit.scenario.generate import generate
from reknit.study.spec import load_study
from reknit.study.store import Store
from reknit.study.tables import Cell, markdown, summarise
from reknit.viz.picture import recovery_figure, save_figure

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
BEGIN = "<!-- results: made by docs/make_results.py, not by hand -->"
END = "<!-- end of results -->"
RESULTS = Path("results")
SIZES = (20, 50, 100, 200)


def main() -> None:
    """Rewrite what stands between the marks."""
    study = load_study("scalability")
    with Store(RESULTS / "scalability-quick.duckdb", study, read_only=True) as store:
        cells = summarise(store.rows(study.tasks("quick")))
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    README.write_text(before + BEGIN + "\n" + table(cells) + END + after, encoding="utf-8")
    scenario = generate(200, 100, seed=7)
    save_figure(recovery_figure(recover(scenario, "ml-dagl", seed=7)), HERE / "img/recovery.png")


def table(cells: list[Cell]) -> str:
    """Flown recovery time at half damage, planner by size, with the share that reconnected."""
    runs = max(cell.runs for cell in cells)
    labels = list(dict.fromkeys(cell.label for cell in cells))
    by_place = {(cell.label, cell.group[0]): cell for cell in cells}
    header = ["planner", *(f"N = {size}" for size in SIZES), "computing at N = 200"]
    rows = []
    for label in labels:
        found = [by_place.get((label, size)) for size in SIZES]
        last = found[-1]
        computing = "" if last is None else f"{last.compute.mean:.2g} s"
        rows.append([label, *(text_of(cell) for cell in found), computing])
    note = (
        f"Mean flown time in seconds over {runs} swarms never seen in training, half of each lost, "
        "in brackets the paper's figure; R_c is given where not every run reconnected, and such "
        "a run counts with the allowed time. Computing is of one thread, two runs at a time.\n\n"
    )
    return note + markdown(header, rows)


def text_of(cell: Cell | None) -> str:
    """A mean, with the paper's beside it, and the share that converged if not all did."""
    if cell is None:
        return ""
    paper = "" if cell.paper_time_s is None else f" ({cell.paper_time_s:g})"
    rate = "" if cell.converged == 1.0 else f", R_c {cell.converged:.2f}"
    return f"{cell.time.mean:.2f}{paper}{rate}"


if __name__ == "__main__":
    main()
