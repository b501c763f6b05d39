"""Reports: tables in three formats, figures, and a page that a real browser shows."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from reknit.base.errors import StoreRefused
from reknit.base.statistics import plain
from reknit.base.types import JsonDict
from reknit.study.report import overview, stats
from reknit.study.report.figures import view_figure
from reknit.study.report.findings import gather
from reknit.study.report.overview import write_overview
from reknit.study.report.palette import looks
from reknit.study.report.paper import reported, reported_figure
from reknit.study.report.prose import NOT_RUN, Slot, fill, slots
from reknit.study.report.write import pictures_in, write_report
from reknit.study.run.runner import run_study
from reknit.study.spec.cases import CASE_COLUMNS
from reknit.study.spec.profiles import PlannerSpec
from reknit.study.spec.study import Study, built_in_studies, load_study
from reknit.study.spec.views import ViewSpec
from reknit.study.store import Store
from reknit.viz.picture import save_figure
from tests.drawing import drawn_pixels
from tests.study.conftest import TEXT


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Study]:
    """A finished study and its report."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "small.toml").write_text(TEXT)
    study = load_study(folder / "small.toml")
    run_study(study, folder / "s.duckdb", workers=1)
    write_report(study, folder / "s.duckdb", folder / "report", export=True)
    return folder, study


KINDS = (
    *("1-lines", "2-bars", "3-degrees", "4-subnets", "5-training", "6-bars", "7-dots", "8-maps"),
)


def test_the_report_has_everything(made: tuple[Path, Study]) -> None:
    """Page, Markdown, CSV, LaTeX, Parquet, and each figure as PNG and SVG."""
    names = {path.name for path in (made[0] / "report").iterdir()}
    assert {"small.html", "small.md", "small.csv", "small.tex", "small.parquet"} <= names
    assert {"small-paired.csv", "small-paired.tex"} <= names
    for kind in KINDS:
        assert {f"small-{kind}.png", f"small-{kind}.svg"} <= names


def test_the_table_is_what_the_store_says(made: tuple[Path, Study]) -> None:
    """Means and counts are recomputed here from the exported runs."""
    folder, _ = made
    runs = pq.read_table(folder / "report" / "small.parquet").to_pylist()
    with (folder / "report" / "small.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 4
    for row in rows:
        mine = [
            run
            for run in runs
            if run["label"] == row["planner"]
            and f"N={run['uavs']}," in row["case"]
            and (run["destroyed"] < 1) == ("%" in row["case"])
        ]
        assert int(row["runs"]) == len(mine) == 2
        mean = np.mean([run["charged_time_s"] for run in mine])
        assert float(row["mean T_rc (s)"].split()[0]) == pytest.approx(mean, rel=0.01)
        assert float(row["R_c"]) == np.mean([run["converged"] for run in mine])


def test_the_quick_profile_says_so(made: tuple[Path, Study]) -> None:
    """A report of fewer repetitions says that it is one, and how it was made."""
    text = (made[0] / "report" / "small.md").read_text()
    assert "reknit study run small.toml --profile quick" in text
    assert "fewer repetitions" in text
    assert "24 runs, 2 of each kind" in text


def test_the_report_says_with_what_it_was_made(made: tuple[Path, Study]) -> None:
    """Versions and machine are those of the runs, and no path of the machine is told."""
    for name in ("small.md", "small.html"):
        text = (made[0] / "report" / name).read_text()
        for word in ("clarabel", "numpy", "Python 3", "core", "GiB", "one thread each"):
            assert word in text
        assert str(made[0]) not in text
        assert str(Path.home()) + "/" not in text


def test_paired_differences_have_an_interval(made: tuple[Path, Study]) -> None:
    """Every planner against the first, on the scenarios both were run on."""
    with (made[0] / "report" / "small-paired.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["planner"], row["against"]) for row in rows] == [
        ("sidr", "contraction"),
        ("HERO alone", "contraction"),
    ]
    assert all(row["scenarios"] == "8" and "±" in row["difference (s)"] for row in rows)


def test_numbers_in_prose_come_from_the_runs(made: tuple[Path, Study]) -> None:
    """Slots are means, the paper's figures or paired ratios, recomputed here; what was not run
    says so.
    """
    folder, study = made
    rows = gather(study, folder / "s.duckdb", "quick").rows
    sidr = [row["charged_time_s"] for row in rows if row["label"] == "sidr" and row["uavs"] == 20]
    other = [
        row["charged_time_s"] for row in rows if row["label"] == "contraction" and row["uavs"] == 20
    ]
    change = np.mean(sidr) / np.mean(other) - 1
    text = (
        "{charged_time_s | sidr | uavs=20}; {paper | sidr | uavs=20, destroyed=0.5}; "
        "{charged_time_s | sidr / contraction | uavs=20}; {charged_time_s | gat}"
    )
    first, second, third, fourth = fill(text, rows).split("; ")
    assert first == f"{plain(float(np.mean(sidr)))} s"
    assert second == "8.07 s"
    more = "more" if change > 0 else "less"
    assert third == f"{plain(100 * abs(change), 2)} % {more}"
    assert fourth == NOT_RUN


@pytest.mark.parametrize("name", built_in_studies())
def test_the_prose_of_built_in_studies_can_be_filled(name: str) -> None:
    """Every slot names a measure, a planner and values that the quick profile has runs of."""
    study = load_study(name)
    found = slots(study.differences)
    assert found, "says nothing about the paper"
    assert study.differences.count("{") == len(found)
    tasks = [asdict(task) for task in study.tasks("quick")]
    for slot in found:
        for label in slot.labels:
            alone = Slot(slot.measure, (label,), slot.only)
            assert any(alone.covers(task) for task in tasks), slot


def test_one_page_on_all_studies_names_those_that_were_not_run(
    made: tuple[Path, Study], tmp_path: Path
) -> None:
    """Pictures are linked relative to the page, and nothing is left out silently."""
    folder, study = made
    missing = study.model_copy(update={"name": "missing", "title": "Never started"})
    stores = {"small": folder / "s.duckdb", "missing": tmp_path / "none.duckdb"}
    page = folder / "pages" / "results.md"
    page.parent.mkdir()
    write_overview(
        [study, missing],
        lambda study: (stores[study.name], "quick"),
        page,
        lambda study: pictures_in(study, folder / "report"),
    )
    text = page.read_text()
    assert "`missing` (Never started): never run" in text
    assert "24 runs, " in text
    links = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert len(links) == len(KINDS)
    assert all((page.parent / link).exists() for link in links)
    assert str(folder) not in text


def test_a_study_that_was_not_run_anew_keeps_its_section(
    made: tuple[Path, Study], tmp_path: Path
) -> None:
    """A page can be brought up to date study by study: what is run is made anew, the rest stays."""
    folder, study = made
    other = study.model_copy(update={"name": "other", "title": "The other"})
    old = "# Results\n\nAll.\n\n## The other\n\n7 runs.\n\n## " + (study.title or "") + "\n\nOld.\n"
    page = tmp_path / "results.md"
    write_overview(
        [other, study],
        lambda study: (folder / "s.duckdb" if study.name == "small" else tmp_path / "x", "quick"),
        page,
        lambda study: [],
        overview.sections_of(old),
    )
    text = page.read_text()
    assert overview.sections_of(text)["The other"] == "## The other\n\n7 runs."
    assert "24 runs, " in overview.sections_of(text)[study.title or ""]
    assert "Old." not in text
    assert "not run" not in text
    assert "[other](#the-other), [small](#" in text


def test_a_section_tells_by_which_error_runs_failed(made: tuple[Path, Study]) -> None:
    """A planner that crashes is told from a swarm that no damage splits."""
    folder, study = made
    findings = gather(study, folder / "s.duckdb", "quick")
    rows = [dict(row) for row in findings.rows]
    errors = ["NoSplitFound: no damage splits it", "NoSplitFound: nor this", "KeyError: 'x'"]
    for row, error in zip(rows, errors, strict=False):
        row.update(ok=False, error=error)
    text = replace(findings, rows=rows).failures()
    assert text.startswith("3 runs failed (NoSplitFound 2, KeyError 1); the first: ")
    assert text.endswith("NoSplitFound: no damage splits it")


def test_differences_are_paired(made: tuple[Path, Study]) -> None:
    """The paired difference is the mean of differences on the same scenario."""
    folder, study = made
    with Store(folder / "s.duckdb", study, read_only=True) as store:
        rows = store.rows(study.tasks("quick"))
    found = stats.paired(rows, "charged_time_s", "sidr", "contraction")
    times = {
        (row["label"], row["uavs"], row["destroyed"], row["seed"]): row["charged_time_s"]
        for row in rows
    }
    differences = [
        time - times[("contraction", *case)]
        for (label, *case), time in times.items()
        if label == "sidr"
    ]
    assert found.count == len(differences) == 8
    assert found.mean == pytest.approx(np.mean(differences))


def test_the_papers_figures_are_beside_ours() -> None:
    """The paper's table is read right, and only where it has an entry."""
    entry = reported("ml-dagl", 200)
    assert entry is not None
    assert (entry.converged, entry.charged_time_s, entry.max_degree) == (1.0, 5.24, 15)
    assert reported("hero", 100) is None
    assert reported("certified", 100) is None
    assert reported_figure("ml-dagl", 200, 0.5, "charged_time_s") == 5.24
    assert reported_figure("ml-dagl", 200, 150, "charged_time_s") == pytest.approx(
        31.7 * 0.7, abs=0.01
    )
    assert reported_figure("ml-dagl", 200, 42, "charged_time_s") is None
    assert reported_figure("sidr", 200, 0.5, "converged") == 0.36
    assert reported_figure("ml-dagl", 200, 190, "converged") == 1.0
    assert reported_figure("sidr", 200, 150, "converged") is None


def test_a_parameter_can_be_the_axis(study: Study) -> None:
    """Labels that are the same up to " @ " make one line over the values of the parameter."""
    view = ViewSpec(kind="lines", x="weight", y="planned_time_s")
    rows = [
        {
            **dict.fromkeys(CASE_COLUMNS),
            "ok": True,
            "planner": "hero",
            "label": f"HERO @ {weight}",
            "parameters": {"weight": weight},
            "planned_time_s": 10.0 * weight,
            "lower_bound_s": 1.0,
        }
        for weight in (0.5, 0.8, 1.0)
    ]
    planners = [PlannerSpec(name="hero", label=str(row["label"])) for row in rows]
    figure = view_figure(study.model_copy(update={"planner": planners}), view, rows)
    assert figure is not None
    line = figure.axes[0].get_lines()[0]
    assert figure.axes[0].get_legend_handles_labels()[1] == ["HERO"]
    assert np.asarray(line.get_xdata()).tolist() == [0.5, 0.8, 1.0]
    assert np.asarray(line.get_ydata()).tolist() == [5.0, 8.0, 10.0]


def test_a_report_runs_no_planner(
    made: tuple[Path, Study], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With planners and the simulator that raise, the same report is made, maps included."""
    folder, study = made

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a report must not compute")

    for place in (
        "reknit.algorithms.contraction.Contraction.propose",
        "reknit.algorithms.steering.sidr.Sidr.controller",
        "reknit.algorithms.steering.hero.Hero.controller",
        "reknit.recovery.runs.recover",
        "reknit.study.run.task.recover",
        "reknit.study.spec.task.generate",
        "reknit.flight.simulator.fly",
        "reknit.recovery.runs.fly",
    ):
        monkeypatch.setattr(place, refuse)
    write_report(study, folder / "s.duckdb", tmp_path)
    for picture in sorted((folder / "report").glob("*.png")):
        assert (tmp_path / picture.name).read_bytes() == picture.read_bytes()


def test_loss_curves_are_means_over_the_runs(study: Study) -> None:
    """A line per planner that keeps its losses; a run that ended early counts with its last."""
    planners = [PlannerSpec(name="gcn"), PlannerSpec(name="hero")]
    kept: list[JsonDict] = [{"losses_m": [9.0, 5.0, 3.0]}, {"losses_m": [7.0, 1.0]}]
    rows: list[JsonDict] = [
        {**dict.fromkeys(CASE_COLUMNS), "ok": True, "uavs": 20, "label": label, "details": details}
        for label, details in (("gcn", kept[0]), ("gcn", kept[1]), ("hero", {}), ("hero", None))
    ]
    small = study.model_copy(update={"planner": planners})
    figure = view_figure(small, ViewSpec(kind="curves", x="uavs"), rows)
    assert figure is not None
    (line,) = figure.axes[0].get_lines()
    assert line.get_label() == "gcn (2 runs)"
    assert np.asarray(line.get_ydata()).tolist() == [8.0, 3.0, 2.0]
    assert min(drawn_pixels(figure)) > 200


def test_planners_keep_their_colour(study: Study) -> None:
    """In every figure of every study the same planner has the same look, whoever is beside it."""
    alone = study.model_copy(update={"planner": study.planner[1:2]})
    assert looks(alone)["sidr"] == looks(study)["sidr"]
    for name in built_in_studies():
        found = looks(load_study(name))
        for label in set(found) & {"ml-dagl", "certified", "sidr"}:
            assert found[label] == looks(load_study("scalability"))[label]
        seen = {tuple(look.values()) for look in found.values()}
        assert len(seen) == len(found), f"{name}: two labels look the same"


def test_a_report_needs_results(study: Study, tmp_path: Path) -> None:
    """Nothing run yet: a typed error that says what to do, and no file is made."""
    with pytest.raises(StoreRefused, match="run the study first"):
        write_report(study, tmp_path / "none.duckdb", tmp_path / "report")
    assert not (tmp_path / "none.duckdb").exists()


LOOK = """<script>
addEventListener("load", () => {
  const seen = [...document.images].map((img) => {
    const canvas = document.createElement("canvas");
    canvas.width = img.naturalWidth;
    canvas.height = img.naturalHeight;
    const pen = canvas.getContext("2d");
    pen.drawImage(img, 0, 0);
    const data = pen.getImageData(0, 0, canvas.width, canvas.height).data;
    let coloured = 0;
    for (let i = 0; i < data.length; i += 4) {
      const rgb = [data[i], data[i + 1], data[i + 2]];
      if (Math.max(...rgb) - Math.min(...rgb) > 40) coloured += 1;
    }
    return [img.naturalWidth, coloured];
  });
  document.title = JSON.stringify(seen);
});
</script>"""
"""Has the browser count the coloured pixels of every picture it shows; axes, grid and words are
grey."""


def test_every_figure_draws_its_runs(made: tuple[Path, Study], tmp_path: Path) -> None:
    """The pictures of the report are the figures of the views, none of whose axes is empty."""
    folder, study = made
    rows = gather(study, folder / "s.duckdb", "quick").rows
    for kind, view in zip(KINDS, study.view, strict=True):
        figure = view_figure(study, view, rows)
        assert figure is not None
        save_figure(figure, tmp_path / "again.png")
        picture = folder / "report" / f"small-{kind}.png"
        assert (tmp_path / "again.png").read_bytes() == picture.read_bytes()
        assert min(drawn_pixels(figure)) > 200, kind


def test_a_browser_shows_the_page(made: tuple[Path, Study], tmp_path: Path) -> None:
    """Chromium opens the page from disk alone and shows every picture as it is in its file."""
    chromium = shutil.which("chromium")
    if chromium is None:
        if os.environ.get("CI"):
            pytest.fail("chromium is missing; tests/install_browser should have installed it")
        pytest.skip("no chromium here; tests/install_browser says why")
    page = (made[0] / "report" / "small.html").read_text()
    alone = tmp_path / "page.html"
    alone.write_text(page.replace("</body>", LOOK + "</body>"))
    command = [
        *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
        *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *("--disable-sync", f"--user-data-dir={tmp_path / 'profile'}"),
        *("--virtual-time-budget=20000", "--dump-dom", alone.as_uri()),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=200)
    title = done.stdout.split("<title>")[1].split("</title>")[0]
    pictures = json.loads(title)
    assert len(pictures) == len(KINDS)
    for kind, (width, coloured) in zip(KINDS, pictures, strict=True):
        with Image.open(made[0] / "report" / f"small-{kind}.png") as image:
            pixels = np.asarray(image.convert("RGB")).astype(int)
        assert width == pixels.shape[1] > 600
        assert coloured == pytest.approx((np.ptp(pixels, axis=2) > 40).sum(), rel=0.01)
        assert coloured > 1000
    assert "contraction" in done.stdout
