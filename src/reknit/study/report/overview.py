"""One page on all studies, made from their stores; a study that was not run is named."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from reknit.base.errors import StoreRefused
from reknit.base.files import write_text
from reknit.study.report.findings import READING, Findings, gather
from reknit.study.report.write import section
from reknit.study.spec.study import Study

Pictures = Callable[[Study], Sequence[tuple[str, Path]]]


def write_overview(
    studies: Sequence[Study],
    stored: Callable[[Study], tuple[Path, str]],
    page: Path,
    pictures: Pictures,
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
    """
    shown: list[Findings] = []
    missing: list[str] = []
    for study in studies:
        store, profile = stored(study)
        try:
            shown.append(gather(study, store, profile))
        except StoreRefused as error:
            # Without the path that the message begins with: the page is for others to read.
            cause = str(error).partition(": ")[2]
            reason = cause if store.exists() else "never run"
            missing.append(f"* `{study.name}` ({study.title}): {reason}.")
    parts = [_introduction(shown)]
    if missing:
        parts.append("Studies that are **not run** and so not shown:\n\n" + "\n".join(missing))
    for findings in shown:
        links = [
            (title, Path(os.path.relpath(path, page.parent)).as_posix())
            for title, path in pictures(findings.study)
        ]
        parts.append(section(findings, links).strip())
    write_text(page, "\n\n".join(parts) + "\n")


def _introduction(shown: Sequence[Findings]) -> str:
    names = ", ".join(
        f"[{findings.study.name}](#{_anchor(findings.study.title)})" for findings in shown
    )
    runs = sum(len(findings.rows) for findings in shown)
    count = f"{runs} runs of {len(shown)} studies, {_failures(shown)}."
    origin = "Made from stored runs; no number of ours is typed by hand."
    return f"# Results\n\n{origin} {count} {READING}\n\n{names}"


def _failures(shown: Sequence[Findings]) -> str:
    """How many runs failed, and how many of them by which error."""
    errors = [row["error"] for findings in shown for row in findings.rows if not row["ok"]]
    kinds = Counter(str(error).partition(":")[0] for error in errors)
    causes = ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())
    return f"{len(errors)} failed" + (f" ({causes})" if causes else "")


def _anchor(title: str) -> str:
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")
