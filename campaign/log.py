"""The log of the campaign: one line of JSON for each seed, only ever added to."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    version
        Of the part: in another version the same seed tries something else.
    outcome
        Cases, findings and figures.
    took_s, computing_s
        Wall time, and processor time of this process and its children, seconds.
    versions
        Of everything that had a part in it.
    """

    part: str
    seed: int
    version: int
    outcome: Outcome
    took_s: float
    computing_s: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)


class Log:
    """An append-only file. A line that a kill left torn is cut off when the file is next opened,
    and its seed is run again.

    Versions have a line of their own, before the first record that was made with them.

    Parameters
    ----------
    path
        The file, made with the first record.
    current
        The version that each part has now. Records of others are stale: they stay in the file,
        count for nothing, and their seeds are run again.
    """

    def __init__(self, path: Path, current: Mapping[str, int]) -> None:
        self.path = path
        self._current = dict(current)
        self._all: list[Record] = []
        self._versions: dict[str, str] = {}
        if path.exists():
            data = path.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            if len(whole) != len(data):
                with path.open("r+b") as file:
                    file.truncate(len(whole))
            for line in map(json.loads, whole.splitlines()):
                if "part" in line:
                    self._all.append(_record(line, self._versions))
                else:
                    self._versions = line["versions"]

    def add(self, record: Record) -> None:
        """Write one line, at once."""
        lines: list[JsonDict] = []
        if record.versions != self._versions:
            lines.append({"versions": record.versions})
            self._versions = record.versions
        figures = record.outcome.figures
        lines.append(
            {
                "part": record.part,
                "seed": record.seed,
                "version": record.version,
                "cases": record.outcome.cases,
                **({"findings": record.outcome.findings} if record.outcome.findings else {}),
                **({"figures": figures} if figures else {}),
                "took_s": round(record.took_s, 3),
                "computing_s": round(record.computing_s, 3),
            }
        )
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(text.encode())
        self._all.append(record)

    @property
    def records(self) -> list[Record]:
        """All records of the parts as they are now."""
        return [record for record in self._all if not self._is_stale(record)]

    @property
    def stale(self) -> list[Record]:
        """Records of earlier versions of a part."""
        return [record for record in self._all if self._is_stale(record)]

    def _is_stale(self, record: Record) -> bool:
        return self._current.get(record.part) != record.version

    def next_seed(self, part: str) -> int:
        """The first seed of a part that was not run yet."""
        return max((r.seed + 1 for r in self.records if r.part == part), default=0)

    def cases(self, part: str) -> int:
        """How many things a part has tried so far."""
        return sum(r.outcome.cases for r in self.latest().values() if r.part == part)

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


def _record(line: JsonDict, versions: dict[str, str]) -> Record:
    outcome = Outcome(line["cases"], tuple(line.get("findings", ())), line.get("figures", {}))
    return Record(
        line["part"],
        line["seed"],
        line["version"],
        outcome,
        line["took_s"],
        line["computing_s"],
        versions,
    )
