"""One page on all studies, made from their stores; a study that was not run is named, or keeps what
an earlier page says of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from reknit.base.errors import StoreRefused
from reknit.base.files import write_text
from reknit.study.report.findings import READING, gather
from reknit.study.report.write import section
from reknit.study.spec.study import Study

Pictures = Callable[[Study], Sequence[tuple[str, Path]]]


def write_overview(
    studies: Sequence[Study],
    stored: Callable[[Study], tuple[Path, str]],
    page: Path,
    pictures: Pictures,
    kept: Mapping[str, str] | None = None,
) -> None:
    """Write the page.

    Parameters
    ----------
    studies
        What is shown, in this order.
    stored
        The results file of a study, and the profile whose runs it holds.
    page
        The Markdown file to write.
    pictures
        Titles and files of a study's figures; links are relative to the page.
    kept
        Sections by the titles of their studies, for those that were not run; see `sections_of`.
    """
    shown: dict[str, str] = {}
    missing: list[str] = []
    for study in studies:
        store, profile = stored(study)
        title = study.title or study.name
        if kept is not None and title in kept and not store.exists():
            shown[study.name] = kept[title]
            continue
        try:
            findings = gather(study, store, profile)
        except StoreRefused as error:
            # Without the path that the message begins with: the page is for others to read.
            cause = str(error).partition(": ")[2]
            reason = cause if store.exists() else "never run"
            missing.append(f"* `{study.name}` ({study.title}): {reason}.")
            continue
        links = [
            (title, Path(os.path.relpath(path, page.parent)).as_posix())
            for title, path in pictures(study)
        ]
        shown[study.name] = section(findings, links).strip()
    parts = [_introduction(shown)]
    if missing:
        parts.append("Studies that are **not run** and so not shown:\n\n" + "\n".join(missing))
    write_text(page, "\n\n".join([*parts, *shown.values()]) + "\n")


def sections_of(page: str) -> dict[str, str]:
    """The section on each study by its title, of a page that `write_overview` has written."""
    sections = (_SECTION + rest.strip() for rest in ("\n" + page).split("\n" + _SECTION)[1:])
    return {_title(text): text for text in sections}


_SECTION = "## "


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix(_SECTION)


def _introduction(shown: Mapping[str, str]) -> str:
    names = ", ".join(f"[{name}](#{_anchor(_title(text))})" for name, text in shown.items())
    origin = "Made from stored runs; no number of ours is typed by hand."
    return f"# Results\n\n{origin} {READING}\n\n{names}"


def _anchor(title: str) -> str:
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")
