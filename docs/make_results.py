"""Writes docs/results.md, the README's table and its picture from stored results.

No figure is typed by hand. Run by `make results`, after the studies and their reports. Of a study
that was run under both profiles the paper's is shown, which has more runs; one that was not run
keeps what the page says of it. The README's table is of the study scalability and of
examples/published-sizes.toml, which is on the same swarms.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from reknit.recovery.runs import recover
from reknit.study.report.findings import gather
from reknit.study.report.overview import sections_of, write_overview
from reknit.study.report.tables import Cell, markdown, runs_text, time_text
from reknit.study.report.write import pictures_in
from reknit.study.spec.study import Study, built_in_studies, load_study
from reknit.swarm.generate import generate
from reknit.viz.picture import recovery_figure, save_figure

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
BEGIN = "<!-- results: made by docs/make_results.py, not by hand -->"
END = "<!-- end of results -->"
SIZES = (20, 50, 100, 200)
IN_README = ("scalability", str(HERE.parent / "examples/published-sizes.toml"))
PROFILES = ("paper", "quick")
_CLAIM = 20
"""Fewer runs than this are no claim."""


def main(results: Path) -> None:
    """Write the page, and rewrite what stands between the marks of the README."""
    studies = [load_study(name) for name in built_in_studies()]
    for study in studies:
        if stored(results, study)[0].exists():
            for old in (HERE / "results").glob(f"{study.name}-[0-9]*-*.png"):
                old.unlink()
    page = HERE / "results.md"
    write_overview(
        studies,
        lambda study: stored(results, study),
        page,
        lambda study: [(title, small(path)) for title, path in reported(results, study)],
        sections_of(page.read_text(encoding="utf-8")),
    )
    in_readme = [(study, *stored(results, study)) for study in map(load_study, IN_README)]
    if all(store.exists() for _, store, _ in in_readme):
        fill_readme([cell for one in in_readme for cell in gather(*one).cells])
    scenario = generate(200, 100, seed=7)
    save_figure(recovery_figure(recover(scenario, "ml-dagl", seed=7)), HERE / "img/recovery.png")


def fill_readme(cells: Sequence[Cell]) -> None:
    """Rewrite what stands between the marks."""
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    README.write_text(before + BEGIN + "\n" + table(cells) + END + after, encoding="utf-8")


def stored(results: Path, study: Study) -> tuple[Path, str]:
    """Where `reknit study run` has put the runs, and the profile they are of."""
    stores = [(results / f"{study.name}-{profile}.duckdb", profile) for profile in PROFILES]
    return next((store for store in stores if store[0].exists()), stores[-1])


def reported(results: Path, study: Study) -> list[tuple[str, Path]]:
    """The pictures that `reknit study report` has drawn."""
    return pictures_in(study, stored(results, study)[0].with_suffix(""))


def small(path: Path) -> Path:
    """A copy for the repository: sharp enough to read on a screen, a quarter of the bytes."""
    copy = HERE / "results" / path.name
    copy.parent.mkdir(exist_ok=True)
    with Image.open(path) as picture:
        size = (picture.width * 11 // 20, picture.height * 11 // 20)
        shrunk = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        shrunk.quantize(96, dither=Image.Dither.NONE).save(copy, optimize=True)
    return copy


def table(cells: Sequence[Cell]) -> str:
    """Flown recovery time at half damage, planner by size, with the share that reconnected."""
    runs = [cell.runs for cell in cells if cell.group[0] in SIZES]
    planners = [cell.label.partition(" (")[0] for cell in cells]
    labels = list(dict.fromkeys(cell.label for cell in cells))
    labels.sort(key=lambda label: planners.index(label.partition(" (")[0]))
    by_place = {(cell.label, cell.group[0]): cell for cell in cells}
    header = ["planner", "runs", *(f"N = {size}" for size in SIZES), "computing at N = 200"]
    rows = []
    for label in labels:
        by_size = [by_place.get((label, size)) for size in SIZES]
        last = by_size[-1]
        computing = "" if last is None else f"{last.of['compute_s'].mean:.2g} s"
        runs_per_size = runs_text([cell for cell in by_size if cell is not None])
        times = ("" if cell is None else time_text(cell) for cell in by_size)
        rows.append([label, runs_per_size, *times, computing])
    few, many = min(runs), max(runs)
    how_many = f"{many}" if few == many else f"{few} to {many}"
    note = (
        f"Mean flown time in seconds with 95 % intervals over {how_many} swarms of each size, "
        "none seen in training, half of each lost, in brackets the paper's figure; "
        "R_c is given where not every run reconnected, and such a run counts with the allowed "
        "time. Computing is of one thread, on a machine busy with other work."
        + (" Fewer than 20 runs a cell: a picture, not a claim." if few < _CLAIM else "")
        + "\n\n"
    )
    return note + markdown(header, rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("results"))
