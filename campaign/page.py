"""docs/reliability.md, written from the log."""

from __future__ import annotations

from collections import Counter

import numpy as np

from campaign.log import Log, Record
from campaign.parts import PARTS

_AIM_MINUTES = 240.0
"""What `make campaign` runs for when nobody shortens it."""

_HEAD = """# Reliability

This page is written by `make campaign`, which tries to break reknit in seven ways for hours.
Every case is drawn from a seed. It goes on where it was stopped, by `kill -9` too;
`make campaign CAMPAIGN_MINUTES=30` is a shorter run. What one seed found is repeated by
`python -m campaign --part PART --seed SEED`.
"""


def page(log: Log) -> str:
    """The text of the page."""
    records = list(log.latest().values())
    minutes = sum(record.took_s for record in log.records) / 60.0
    parts = [_HEAD, _length(minutes), _table(records), _details(records)]
    parts += [_findings("Open findings", log.open_findings()), _findings("Mended", log.mended())]
    versions: dict[str, set[str]] = {}
    for record in log.records:
        for name, value in record.versions.items():
            versions.setdefault(name, set()).add(value)
    installed = ", ".join(
        f"{name} {' and '.join(sorted(versions[name]))}" for name in sorted(versions)
    )
    return "\n".join([*parts, f"## Versions\n\n{installed}.\n"])


def _length(minutes: float) -> str:
    text = f"Run so far: **{minutes:.0f} minutes** in total, the sum over all seeds."
    if minutes < _AIM_MINUTES:
        text += (
            f" That is far less than the {_AIM_MINUTES / 60:.0f} hours it is meant for: read the "
            "figures as those of a short run."
            if minutes < _AIM_MINUTES / 2
            else f" It is meant to run for {_AIM_MINUTES / 60:.0f} hours."
        )
    return text + "\n"


def _table(records: list[Record]) -> str:
    lines = [
        "| part | what | seeds | cases | open findings |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for name, part in PARTS.items():
        mine = [record.outcome for record in records if record.part == name]
        cases, findings = sum(o.cases for o in mine), sum(len(o.findings) for o in mine)
        lines.append(f"| {name} | {part.about} | {len(mine):,} | {cases:,} | {findings} |")
    return "\n".join(lines) + "\n"


def _sums(records: list[Record], part: str) -> Counter[str]:
    sums: Counter[str] = Counter()
    for record in records:
        if record.part == part:
            sums.update({name: int(value) for name, value in record.outcome.figures.items()})
    return sums


def _details(records: list[Record]) -> str:
    """What the parts measured beside their findings."""
    lines = ["## Figures\n"]
    plans = _sums(records, "plans")
    statuses = ", ".join(f"{name} {count}" for name, count in plans.most_common())
    lines.append(
        f"* Plans by what came of them: {statuses or 'none yet'}. `unjudged` have forces on more "
        "survivors than the naive judge can try; `impossible` were refused as such."
    )
    late = [r.outcome.figures for r in records if r.part == "deadlines" and r.outcome.figures]
    if late:
        for name, word in (("wall_overrun_s", "wall"), ("cpu_overrun_s", "computing")):
            p50, p99, worst = np.quantile([figures[name] for figures in late], [0.5, 0.99, 1.0])
            lines.append(
                f"* Overrun of budgets from 0 to 10 s in {word} time, {len(late)} plans of up to "
                f"2,000 UAVs: p50 {p50:.3f} s, p99 {p99:.3f} s, worst {worst:.3f} s."
            )
    unproved = _sums(records, "invariance")["unproved"]
    moved = sum(r.outcome.cases for r in records if r.part == "invariance")
    lines.append(
        f"* Of {moved} swarms written down otherwise, {unproved} ended before a proof in one of "
        "the forms; there only the bounds are compared with the plans."
    )
    forged = _sums(records, "forgeries")
    lines.append(
        f"* Changed certificates and plan files that passed: {forged['true_after_change']}, all "
        "still true ones"
    )
    lines[-1] += " but for the open findings." if _has_open(records, "forgeries") else "."
    lines.append(f"* Broken files refused with exit code 2: {_sums(records, 'files')['refused']};")
    lines[-1] += " the others still had a meaning."
    lines.append(
        f"* Changes of plans whose proof is forces on all survivors: {forged['of_forces']}."
    )
    kills = _sums(records, "kills")
    lines.append(
        f"* Kills: {kills['study_kills']} of studies, {kills['training_kills']} of pre-training."
    )
    return "\n".join(lines) + "\n"


def _has_open(records: list[Record], part: str) -> bool:
    return any(record.part == part and record.outcome.findings for record in records)


def _findings(title: str, records: list[Record]) -> str:
    lines = [
        f"* `--part {record.part} --seed {record.seed}`: {_plain(finding)}"
        for record in records
        for finding in record.outcome.findings
    ]
    return f"## {title}\n\n" + ("\n".join(lines) or "None.") + "\n"


def _plain(finding: str) -> str:
    """On one line, without marks that Markdown would take as its own."""
    text = " ".join(finding.split()).replace("`", "'")
    return f"`{text[:400]}`"
