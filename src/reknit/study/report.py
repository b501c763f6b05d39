"""`write_report`: figures, tables and one HTML page that a browser opens from disk."""

from __future__ import annotations

import base64
import html
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from reknit.algorithms.base import Progress, silent
from reknit.files import output_folder, write_text
from reknit.study import tables
from reknit.study.figures import view_figure
from reknit.study.spec import Study
from reknit.study.stats import paired
from reknit.study.store import Store
from reknit.types import JsonDict
from reknit.viz.picture import save_figure

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
       color: #222; }
h1, h2 { line-height: 1.2; } figure { margin: 1.5rem 0; } img { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 13px; display: block; overflow-x: auto; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
footer { color: #666; font-size: 13px; margin-top: 3rem; }
"""


def write_report(
    study: Study,
    store_path: Path,
    folder: Path,
    *,
    profile: str = "quick",
    export: bool = False,
    progress: Progress = silent,
) -> list[Path]:
    """Write everything there is to say about the stored results; returns the files."""
    tasks = study.tasks(profile)
    with Store(store_path, study, read_only=True) as store:
        rows = store.rows(tasks)
        output_folder(folder)
        if export:
            store.export(folder / f"{study.name}.parquet")
    cells = tables.table_rows(tables.summarise(rows))
    written = _write_tables(study, folder, tables.HEADER, cells)
    pictures = []
    for number, view in enumerate(study.view):
        progress(number / max(1, len(study.view)), f"{study.name}: drawing")
        if view.kind == "table":
            continue
        figure = view_figure(study, view, rows)
        if figure is not None:
            stem = folder / f"{study.name}-{number + 1}-{view.kind}"
            for ending in (".png", ".svg"):
                save_figure(figure, stem.with_suffix(ending))
                written.append(stem.with_suffix(ending))
            pictures.append((view.title or study.title, stem.with_suffix(".png")))
    notes = [_how_made(study, profile, len(rows), len(tasks)), *_paired_notes(rows)]
    failed = [row for row in rows if not row["ok"]]
    if failed:
        first = str(failed[0]["error"]).splitlines()[0]
        notes.append(f"{len(failed)} runs failed; the first: {failed[0]['label']}: {first}")
    page = folder / f"{study.name}.html"
    write_text(page, _page(study, notes, tables.HEADER, cells, pictures))
    summary = folder / f"{study.name}.md"
    write_text(summary, _markdown(study, notes, cells, pictures))
    return [page, summary, *written]


def write_overview(pages: Sequence[Path], folder: Path) -> Path:
    """One Markdown page with the reports of several studies, made from their own pages."""
    parts = ["# Results", "Every figure and table here is made from stored runs; none is typed."]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        parts.append(text.replace("](", f"]({page.parent.name}/").strip())
    path = folder / "results.md"
    write_text(path, "\n\n".join(parts) + "\n")
    return path


def _write_tables(
    study: Study, folder: Path, header: Sequence[str], cells: Sequence[Sequence[str]]
) -> list[Path]:
    files = []
    for ending, make in ((".csv", tables.comma_separated), (".tex", tables.latex)):
        files.append(folder / f"{study.name}{ending}")
        write_text(files[-1], make(header, cells))
    return files


def _how_made(study: Study, profile: str, rows: int, tasks: int) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("reknit", "numpy", "scipy"))
    part = "" if rows == tasks else f" (unfinished: {rows} of {tasks} runs)"
    fewer = " A profile with fewer repetitions and sizes." if profile == "quick" else ""
    return (
        f"Made by `reknit study run {study.name} --profile {profile}` and `reknit study report "
        f"{study.name} --profile {profile}`: {rows} runs{part}.{fewer} Times are means with 95 % "
        "intervals; a run that does not reconnect counts with the allowed time. All planners saw "
        f"the same scenarios. {packages}; Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}."
    )


def _paired_notes(rows: Sequence[JsonDict]) -> list[str]:
    """The difference of every planner to the first, on the scenarios both were run on."""
    labels = list(dict.fromkeys(row["label"] for row in rows))
    notes = []
    for other in labels[1:]:
        found = paired(rows, "charged_time_s", other, labels[0])
        if found.count > 1:
            notes.append(
                f"{other} takes {found.mean:+.2f} s ± {found.half_width:.2f} s against "
                f"{labels[0]} (paired, {found.count} scenarios)."
            )
    return notes


def _markdown(
    study: Study,
    notes: Sequence[str],
    cells: Sequence[Sequence[str]],
    pictures: Sequence[tuple[str, Path]],
) -> str:
    parts = [f"## {study.title or study.name}", study.about.strip(), notes[0]]
    parts.append(tables.markdown(tables.HEADER, cells))
    if notes[1:]:
        parts.append("\n".join(f"* {note}" for note in notes[1:]))
    parts += [f"![{title}]({path.name})" for title, path in pictures]
    return "\n\n".join(part for part in parts if part) + "\n"


def _page(
    study: Study,
    notes: Sequence[str],
    header: Sequence[str],
    cells: Sequence[Sequence[str]],
    pictures: Sequence[tuple[str, Path]],
) -> str:
    """One file with everything in it: no network, no other files."""
    title = html.escape(study.title or study.name)
    head = "".join(f"<th>{html.escape(word)}</th>" for word in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(word)}</td>" for word in row) + "</tr>" for row in cells
    )
    figures = "".join(
        f'<figure><img alt="{html.escape(caption)}" '
        f'src="data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"></figure>'
        for caption, path in pictures
    )
    told = "".join(f"<li>{html.escape(note)}</li>" for note in notes[1:])
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>{title}</h1><p>{html.escape(study.about.strip())}</p>"
        f"{figures}<h2>Table</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<ul>{told}</ul><footer>{html.escape(notes[0])}</footer></body></html>\n"
    )
