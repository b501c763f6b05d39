"""Run: python -m campaign [--minutes M] [--out FOLDER] [--part PART ...], or one seed of a part:
--part PART --seed SEED.
"""

from __future__ import annotations

import argparse
import fcntl
import sys
from contextlib import suppress
from pathlib import Path

from campaign.log import Log, Record
from campaign.page import page
from campaign.parts import PARTS, open_log, run_for, run_seed
from reknit.base.words import counted

_HERE = Path(__file__).parent
_PAGE = _HERE.parent / "docs" / "reliability.md"


def main(words: list[str] | None = None) -> int:
    """Exit code 0 without findings, 1 with some."""
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=240.0, help="length of this call; 0: only the page"
    )
    parser.add_argument("--out", type=Path, default=_HERE, help="the folder of log.jsonl")
    parser.add_argument("--page", type=Path, default=_PAGE, help="the summary to write")
    parser.add_argument(
        "--part", choices=sorted(PARTS), action="append", help="this part only; may be repeated"
    )
    parser.add_argument("--seed", type=int, help="this seed only, of one part")
    given = parser.parse_args(words)
    if given.seed is not None:
        if given.part is None or len(given.part) != 1:
            parser.error("--seed goes with one --part")
        record = run_seed(given.part[0], given.seed)
        _tell(record)
        print(record.outcome.figures)
        return int(bool(record.outcome.findings))
    given.out.mkdir(parents=True, exist_ok=True)
    with (given.out / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            parser.error(f"another campaign is writing to {given.out}; allowed: one at a time")
        return _run(given.minutes, open_log(given.out / "log.jsonl"), given.page, given.part)


def _run(minutes: float, log: Log, summary: Path, only: list[str] | None) -> int:
    with suppress(KeyboardInterrupt):
        for record in run_for(minutes, log, only):
            if record.outcome.findings:
                _tell(record)
    summary.write_text(page(log), encoding="utf-8")
    print(f"{len(log.records)} seeds so far, {len(log.open_findings())} with findings: {summary}")
    return int(bool(log.open_findings()))


def _tell(record: Record) -> None:
    cases = counted(record.outcome.cases, "case")
    print(f"{record.part} seed {record.seed}: {cases}, {record.took_s:.1f} s")
    for finding in record.outcome.findings:
        print(f"  finding: {finding}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
