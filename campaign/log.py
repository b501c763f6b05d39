"""The log of the campaign: one line of JSON for each seed, only ever added to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from campaign.outcome import Outcome
from reknit.base.types import JsonDict


@dataclass(frozen=True)
class Record:
    """What one seed of one part came to, when it was run.

    Parameters
    ----------
    part, seed
        What repeats it.
    outcome
        Cases, findings and figures.
    took_s
        Wall time, seconds.
    versions
        Of everything that had a part in it.
    """

    part: str
    seed: int
    outcome: Outcome
    took_s: float
    versions: dict[str, str] = field(default_factory=dict)


class Log:
    """An append-only file. A line that a kill left torn is cut off when the file is next opened,
    and its seed is run again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[Record] = []
        if path.exists():
            data = path.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            if len(whole) != len(data):
                with path.open("r+b") as file:
                    file.truncate(len(whole))
            self.records = [_record(json.loads(line)) for line in whole.splitlines()]

    def add(self, record: Record) -> None:
        """Write one line, at once."""
        line = {
            "part": record.part,
            "seed": record.seed,
            "cases": record.outcome.cases,
            "findings": list(record.outcome.findings),
            "figures": record.outcome.figures,
            "took_s": record.took_s,
            "versions": record.versions,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
        self.records.append(record)

    def next_seed(self, part: str) -> int:
        """The first seed of a part that was not run yet."""
        return max((r.seed + 1 for r in self.records if r.part == part), default=0)

    def latest(self) -> dict[tuple[str, int], Record]:
        """The last record of every seed; a seed that was run again counts as it is now."""
        return {(record.part, record.seed): record for record in self.records}

    def open_findings(self) -> list[Record]:
        """Seeds with findings when they were last run."""
        return [record for record in self.latest().values() if record.outcome.findings]

    def mended(self) -> list[Record]:
        """The first record of every seed that had findings once and has none now."""
        now = self.latest()
        once = {
            (record.part, record.seed): record
            for record in reversed(self.records)
            if record.outcome.findings
        }
        return [record for key, record in once.items() if not now[key].outcome.findings]


def _record(line: JsonDict) -> Record:
    outcome = Outcome(line["cases"], tuple(line["findings"]), line["figures"])
    return Record(line["part"], line["seed"], outcome, line["took_s"], line["versions"])
