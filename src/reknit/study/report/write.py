"""`write_report`: figures, tables and one HTML page that a browser opens from disk."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from pathlib import Path

from reknit.base.files import checked_path, output_folder, write_text
from reknit.base.progress import Progress, silent
from reknit.base.values import check_callable
from reknit.study.report import tables
from reknit.study.report.figures import view_figure
from reknit.study.report.findings import PAIRED_HEADER, READING, Findings, gather
from reknit.study.spec.study import Study, check_study
from reknit.study.store import Store
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
Table = tuple[Sequence[str], Sequence[Sequence[str]]]
Pictures = Sequence[tuple[str, Path]]


def write_report(
    study: Study,
    store_path: Path | str,
    folder: Path | str,
    *,
    profile: str = "quick",
    export: bool = False,
    progress: Progress = silent,
) -> list[Path]:
    """Write everything there is to say about the stored results. Runs no planner.

    A study may be reported while it runs: the report is of the runs finished by then.

    Parameters
    ----------
    study, profile
        What was run.
    store_path
        Its results file.
    folder
        Where to write to; made if need be.
    export
        Write all runs as Parquet too.
    progress
        Called with the share done and a line of text.

    Returns
    -------
    list of Path
        The files: the HTML page, the Markdown summary, then the rest.
    """
    check_study(study)
    check_callable(progress=progress)
    store_path, folder = checked_path("store_path", store_path), checked_path("folder", folder)
    findings = gather(study, store_path, profile)
    output_folder(folder)
    written: list[Path] = []
    if export:
        written.append(folder / f"{study.name}.parquet")
        with Store(store_path, study, read_only=True) as store:
            store.export(written[-1])
    whole = tables.full_table(findings.cells)
    named: dict[str, Table] = {
        study.name: whole,
        f"{study.name}-paired": (PAIRED_HEADER, findings.compared()),
    }
    for name, (header, cells) in named.items():
        for ending, make in ((".csv", tables.comma_separated), (".tex", tables.latex)):
            written.append(folder / f"{name}{ending}")
            write_text(written[-1], make(header, cells))
    for number, view in enumerate(study.view):
        progress(number / len(study.view), f"{study.name}: drawing")
        figure = view_figure(study, view, findings.rows)
        if figure is not None:
            stem = folder / picture_stem(study, number)
            for ending in (".png", ".svg"):
                save_figure(figure, stem.with_suffix(ending))
                written.append(stem.with_suffix(ending))
    pictures = pictures_in(study, folder)
    page, summary = folder / f"{study.name}.html", folder / f"{study.name}.md"
    write_text(page, _page(findings, whole, pictures))
    write_text(summary, section(findings, [(title, path.name) for title, path in pictures]))
    return [page, summary, *written]


def picture_stem(study: Study, number: int) -> str:
    """The name of the picture of the n-th view, without its ending."""
    return f"{study.name}-{number + 1}-{study.view[number].kind}"


def pictures_in(study: Study, folder: Path) -> list[tuple[str, Path]]:
    """Titles and files of the pictures that a report has put into its folder."""
    named = (
        (view.title or study.title, folder / f"{picture_stem(study, number)}.png")
        for number, view in enumerate(study.view)
    )
    return [(title, path) for title, path in named if path.exists()]


def section(findings: Findings, pictures: Sequence[tuple[str, str]]) -> str:
    """The Markdown of one study: what it shows, pictures, tables, and how it differs."""
    study = findings.study
    parts = [f"## {study.title or study.name}", study.about.strip(), findings.extent()]
    parts += [f"![{title}]({path})" for title, path in pictures]
    parts.append(tables.markdown(*tables.pivot(findings.cells)))
    if findings.compared():
        caption = "Paired, on the scenarios that both were run on, with a 95 % interval:"
        parts += [caption, tables.markdown(PAIRED_HEADER, findings.compared())]
    if findings.differences():
        parts += ["**Beside the paper.** " + findings.differences()]
    whole = tables.markdown(*tables.full_table(findings.cells))
    parts.append(f"<details><summary>All figures</summary>\n\n{whole}\n</details>")
    origin = "\n".join(
        f"* {line}" for line in [f"Made by {findings.commands()}.", *findings.made_with()]
    )
    parts += [findings.failures(), origin]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _page(findings: Findings, whole: Table, pictures: Pictures) -> str:
    """One file with everything in it: no network, no other files."""
    study = findings.study
    title = html.escape(study.title or study.name)
    figures = "".join(
        f'<figure><img alt="{html.escape(caption)}" '
        f'src="data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"></figure>'
        for caption, path in pictures
    )
    paragraphs = [study.about.strip(), findings.differences(), findings.failures()]
    prose = "".join(f"<p>{html.escape(text)}</p>" for text in paragraphs if text)
    compared = ""
    if findings.compared():
        compared = "<h2>Paired differences, with 95 % intervals</h2>"
        compared += _html_table(PAIRED_HEADER, findings.compared())
    origin = [f"Made by {findings.commands()}: {findings.extent()}", READING, *findings.made_with()]
    footer = "".join(f"<p>{html.escape(text)}</p>" for text in origin)
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>{title}</h1>{prose}{figures}<h2>Table</h2>{_html_table(*whole)}{compared}"
        f"<footer>{footer}</footer></body></html>\n"
    )


def _html_table(header: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(word)}</th>" for word in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(word)}</td>" for word in row) + "</tr>" for row in cells
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
