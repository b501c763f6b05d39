"""docs/reliability.md, written from the log."""

from __future__ import annotations

from collections import Counter

import numpy as np

from campaign.log import Log, Record
from campaign.parts import PARTS

_AIM_HOURS = 4.0
"""What `make campaign` runs for when nobody shortens it."""

_MENDS = {
    ("plans", 1698): "it took 2.7 s before and takes that again; the cause was not found",
    ("deadlines", 12): "the 2-connected fallback looked at every link of a dense network for cuts; "
    "two spanning forests of it have the same ones",
    ("bytes", 6): "sums of small matrices round otherwise in two threads; what is promised, and "
    "tried since, is the same bytes in as many threads",
}
"""What was wrong where a finding is no more, by part and seed."""

_HEAD = """# Reliability

This page is written by `make campaign`, which tries to break reknit in seven ways for hours.
Every case is drawn from a seed. What was run is in `campaign/log.jsonl`, and the next call goes on
from there, also after `kill -9`: `make campaign CAMPAIGN_MINUTES=30` adds half an hour, and
`python -m campaign --out FOLDER` begins a log of its own, and `--part PART` keeps to some of the
parts. What one seed found is repeated by `python -m campaign --part PART --seed SEED`.
"""


def page(log: Log) -> str:
    """The text of the page."""
    records = list(log.latest().values())
    parts = [_HEAD, _length(log), _table(log), _details(records)]
    parts += [
        _findings("Open findings", log.open_findings()),
        _findings("Found once, not any more", log.mended()),
        _findings(
            "Found by earlier versions of a part",
            [record for record in log.stale if record.outcome.findings],
        ),
    ]
    versions: dict[str, dict[str, None]] = {}
    for record in log.records:
        for name, value in record.versions.items():
            versions.setdefault(name, {})[value] = None
    installed = ", ".join(f"{name} {' and '.join(versions[name])}" for name in sorted(versions))
    return "\n".join([*parts, f"## Versions\n\n{installed}.\n"])


def _length(log: Log) -> str:
    everything = [*log.records, *log.stale]
    hours = sum(record.took_s for record in everything) / 3600.0
    computing = sum(record.computing_s for record in everything) / 3600.0
    text = (
        f"Run so far: **{hours:.1f} hours** of wall time in total, the sum over all seeds, "
        f"also of processes side by side, of which at least {computing:.1f} were computing; the "
        "rest was other processes' share of the machine. (What the oldest seeds computed was not "
        "noted.)"
    )
    short = [name for name, part in PARTS.items() if log.cases(name) < part.wanted]
    if hours < _AIM_HOURS or short:
        text += f" It is meant to run for {_AIM_HOURS:.0f} hours, and until every part has the"
        text += " cases that are wanted of it. **It is not there yet**"
        text += f": {', '.join(short)}." if short else "."
    if log.stale:
        lost = sum(record.took_s for record in log.stale) / 3600.0
        text += (
            f" Of the time, {lost:.1f} hours were of earlier versions of a part, whose cases are "
            "in the log and not counted below: there the same seed tried something else."
        )
    return text + "\n"


def _table(log: Log) -> str:
    lines = [
        "| part | what | seeds | cases | wanted | open findings |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for name, part in PARTS.items():
        mine = [record.outcome for record in log.latest().values() if record.part == name]
        findings = sum(len(outcome.findings) for outcome in mine)
        lines.append(
            f"| {name} | {part.about} | {len(mine):,} | {log.cases(name):,} | {part.wanted:,} "
            f"| {findings} |"
        )
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
    statuses = ", ".join(f"{name} {count:,}" for name, count in plans.most_common())
    lines.append(
        f"* Plans by what came of them: {statuses or 'none yet'}. `unjudged` have forces on more "
        "survivors than the naive judge can try; `impossible` were refused as such."
    )
    lines += _lateness(records)
    unproved = _sums(records, "invariance")["unproved"]
    moved = sum(r.outcome.cases for r in records if r.part == "invariance")
    lines.append(
        f"* Of {moved:,} swarms written down otherwise, {unproved:,} ended before a proof in one "
        "of the forms; there only the bounds are compared with the plans."
    )
    forged = _sums(records, "forgeries")
    lines.append(
        f"* Changed certificates and plan files that passed: {forged['true_after_change']:,}, all "
        "still true ones"
    )
    lines[-1] += " but for the open findings." if _has_open(records, "forgeries") else "."
    lines[-1] += f" {forged['of_forces']:,} changes were of plans whose proof is forces on all."
    files = _sums(records, "files")
    lines.append(f"* Broken files refused with exit code 2: {files['refused']:,};")
    lines[-1] += " the others still had a meaning."
    kills = _sums(records, "kills")
    lines.append(
        f"* Kills: {kills['study_kills']} of studies, {kills['training_kills']} of pre-training."
    )
    return "\n".join(lines) + "\n"


def _lateness(records: list[Record]) -> list[str]:
    """By how much budgets were overrun, and where most."""
    rows = [
        row for r in records if r.part == "deadlines" for row in r.outcome.figures.get("plans", [])
    ]
    if not rows:
        return []
    lines = []
    for column, word in ((2, "wall"), (3, "computing")):
        p50, p99 = np.quantile([row[column] for row in rows], [0.5, 0.99])
        planner, uavs, *late = max(rows, key=lambda row: row[column])
        lines.append(
            f"* Overrun of budgets from 0 to 10 s in {word} time, {len(rows):,} plans of up to "
            f"2,000 UAVs: p50 {p50:.3f} s, p99 {p99:.3f} s, worst {late[column - 2]:.3f} s "
            f"({planner}, N {uavs:,}; {late[0]:.3f} s of wall time, {late[1]:.3f} s of computing)."
        )
    lines.append(
        "* Which of the two counts: computing. The parts run beside each other and beside other "
        "work, and a process that the machine leaves waiting is late however it plans. On a quiet "
        "machine both are measured by `python -m benchmarks.bench_limits`."
    )
    return lines


def _has_open(records: list[Record], part: str) -> bool:
    return any(record.part == part and record.outcome.findings for record in records)


def _findings(title: str, records: list[Record]) -> str:
    lines = [
        f"* `--part {record.part} --seed {record.seed}`: {_plain(finding)}{_mend(record)}"
        for record in records
        for finding in record.outcome.findings
    ]
    return f"## {title}\n\n" + ("\n".join(lines) or "None.") + "\n"


def _mend(record: Record) -> str:
    mend = _MENDS.get((record.part, record.seed))
    return "" if mend is None else f": {mend}"


def _plain(finding: str) -> str:
    """On one line, without marks that Markdown would take as its own."""
    text = " ".join(finding.split()).replace("`", "'")
    return f"`{text[:400]}`"
