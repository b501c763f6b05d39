"""The studies of ignorance: ``python -m reknit.knowledge.studies NAME --out DIR``.

Every run is a row of ``DIR/NAME.csv``, written as it comes; the same call goes on where it stopped.
``DIR/NAME.md`` has, for every kind of case, the mean with its 95 % interval.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from reknit.base.errors import InvalidParameter, ReknitError, UnknownName
from reknit.base.files import output_folder, write_text
from reknit.base.types import JsonDict
from reknit.knowledge.channels.registry import build_channel
from reknit.knowledge.simulator import operate
from reknit.swarm.generate import generate

FIRST_SEED = 990_000
"""Cases of the studies; nothing was tuned on them."""

MEASURES = (
    "recovery_time_s",
    "optimum_s",
    "price_of_ignorance",
    "promised_s",
    "first_contact_s",
    "replans",
    "false_alive",
    "false_dead",
    "false_done",
    "bytes_sent",
    "path_length_m",
    "compute_s",
)
_POLICIES = ("hedge+deadline", "believe:certified+deadline", "rendezvous")


@dataclass(frozen=True)
class Kind:
    """One kind of case: who flies how in which swarm over which channel."""

    policy: str
    uavs: int
    destroyed: int
    channel: str = "radio"
    settings: tuple[tuple[str, float], ...] = field(default=())

    @property
    def label(self) -> str:
        """What stands in the tables."""
        return " ".join([self.channel, *(f"{name}={value:g}" for name, value in self.settings)])

    def run(self, seed: int) -> JsonDict:
        """Fly one case; its figures, with ``reconnected`` and ``kept_promise``."""
        scenario = generate(self.uavs, self.destroyed, seed, split=True)
        settings: dict[str, Any] = dict(self.settings)
        channel = build_channel(self.channel, **settings)
        facts = operate(scenario, self.policy, channel, seed=seed).as_dict()
        row = {
            "policy": self.policy,
            "uavs": self.uavs,
            "destroyed": self.destroyed,
            "channel": self.label,
            "seed": seed,
            "reconnected": int(facts["reconnected_at_s"] is not None),
            "kept_promise": facts["kept_promise"],
        }
        return row | {name: facts[name] for name in MEASURES}


def ignorance() -> Iterator[Kind]:
    """Price against swarm size at half damage, and against the damage at N = 200."""
    cases = [(20, 10), (50, 25), (100, 50), (200, 100), (500, 250), (200, 50), (200, 150)]
    for uavs, destroyed in cases:
        for policy in _POLICIES:
            yield Kind(policy, uavs, destroyed)


def report_period() -> Iterator[Kind]:
    """Time against T_report, latency and loss of the station's reports."""
    for name, values in (
        ("report_period_s", (0.0, 0.5, 1.0, 2.0, 5.0)),
        ("latency_s", (0.5, 1.0, 2.0)),
        ("loss", (0.1, 0.3)),
    ):
        for value in values:
            settings = ((name, value),) + ((("missed_reports", 3),) if name == "loss" else ())
            yield Kind("believe:certified+deadline", 100, 50, "global", settings)


def noise() -> Iterator[Kind]:
    """Time against navigation errors, sigma 0 to 30 m."""
    for sigma_m in (0.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0):
        yield Kind("hedge+deadline", 100, 50, "radio", (("noise_m", sigma_m),))


STUDIES = {"ignorance": ignorance, "report-period": report_period, "noise": noise}


def run_study(name: str, folder: Path, repetitions: int) -> Path:
    """Run what is missing of a study and write its table; the path of the table.

    Parameters
    ----------
    name
        One of `STUDIES`.
    folder
        Where rows and table are.
    repetitions
        Cases of every kind.
    """
    if name not in STUDIES:
        raise UnknownName("study", name, STUDIES)
    if repetitions < 1:
        raise InvalidParameter("repetitions", repetitions, "a whole number of at least 1")
    output_folder(folder)
    path = folder / f"{name}.csv"
    rows = _read(path)
    done = {_key(row) for row in rows}
    kinds = list(STUDIES[name]())
    with path.open("a", newline="") as file:
        writer: csv.DictWriter[str] | None = None
        for seed in range(FIRST_SEED, FIRST_SEED + repetitions):
            for kind in kinds:
                key = (kind.policy, str(kind.uavs), str(kind.destroyed), kind.label, str(seed))
                if key in done:
                    continue
                row = kind.run(seed)
                if writer is None:
                    writer = csv.DictWriter(file, list(row))
                    if not rows:
                        writer.writeheader()
                writer.writerow(row)
                file.flush()
                rows.append({field: str(value) for field, value in row.items()})
    table = folder / f"{name}.md"
    write_text(table, _table(name, rows))
    return table


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _key(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row[name] for name in ("policy", "uavs", "destroyed", "channel", "seed"))


def _table(name: str, rows: Sequence[dict[str, str]]) -> str:
    kinds = dict.fromkeys(_key(row)[:4] for row in rows)
    lines = [
        f"# {name}",
        "",
        "Means over cases with 95 % intervals; price: time / optimum with full knowledge.",
        "",
        "| policy | N | lost | channel | cases | R_c | time (s) | price | false done |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind in kinds:
        of_kind = [row for row in rows if _key(row)[:4] == kind]
        whole = np.mean([row["reconnected"] == "1" for row in of_kind])
        wrong = sum(int(row["false_done"]) for row in of_kind)
        cells = [
            *kind,
            str(len(of_kind)),
            f"{whole:.2f}",
            _interval(of_kind, "recovery_time_s"),
            _interval(of_kind, "price_of_ignorance"),
            str(wrong),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _interval(rows: Sequence[dict[str, str]], name: str) -> str:
    values = [float(row[name]) for row in rows if row[name] not in ("", "None")]
    if len(values) < 2:
        return "-"
    half = 1.96 * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return f"{np.mean(values):.2f} ± {half:.2f}"


def main() -> int:
    """Read the command line and run a study."""
    options = argparse.ArgumentParser(prog="python -m reknit.knowledge.studies")
    options.add_argument("name", help=", ".join(STUDIES))
    options.add_argument("--out", type=Path, default=Path("studies"))
    options.add_argument("--repetitions", type=int, default=20)
    given = options.parse_args()
    try:
        sys.stdout.write(run_study(given.name, given.out, given.repetitions).read_text())
    except ReknitError as error:
        sys.stderr.write(f"reknit: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
