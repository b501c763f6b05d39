"""One page on all studies, made from their stores; a study that was not run is named."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from reknit.base.files import write_text
from reknit.study.report.findings import READING, Findings, gather
from reknit.study.report.write import section
from reknit.study.spec.study import Study
from reknit.study.store import StoreRefused

Pictures = Callable[[Study], Sequence[tuple[str, Path]]]


def write_overview(
    studies: Sequence[Study],
    profile: str,
    store_of: Callable[[Study], Path],
    page: Path,
    pictures: Pictures,
) -> None:
    """Write the page.

    Parameters
    ----------
    studies, profile
        What is shown, in this order.
    store_of
        The results file of a study.
    page
        The Markdown file to write.
    pictures
        Titles and files of a study's figures; links are relative to the page.
    """
    found: list[Findings] = []
    missing: list[str] = []
    for study in studies:
        try:
            found.append(gather(study, store_of(study), profile))
        except StoreRefused as error:
            # Without the path that the message begins with: the page is for others to read.
            told = str(error).partition(": ")[2]
            reason = told if store_of(study).exists() else "never run"
            missing.append(f"* `{study.name}` ({study.title}): {reason}.")
    parts = [_introduction(found)]
    if missing:
        parts.append("Studies that are **not run** and so not shown:\n\n" + "\n".join(missing))
    for one in found:
        links = [
            (title, Path(os.path.relpath(path, page.parent)).as_posix())
            for title, path in pictures(one.study)
        ]
        parts.append(section(one, links).strip())
    write_text(page, "\n\n".join(parts) + "\n")


def _introduction(found: Sequence[Findings]) -> str:
    names = ", ".join(f"[{one.study.name}](#{_anchor(one.study.title)})" for one in found)
    elapsed_s = sum(session.elapsed_s for one in found for session in one.sessions)
    runs = sum(len(one.rows) for one in found)
    failed = sum(not row["ok"] for one in found for row in one.rows)
    told = f"{runs} runs of {len(found)} studies, {elapsed_s / 60:.0f} minutes, {failed} failed."
    made = "Made from stored runs; no number of ours is typed by hand."
    return f"# Results\n\n{made} {told} {READING}\n\n{names}"


def _anchor(title: str) -> str:
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")
