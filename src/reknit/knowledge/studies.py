"""The studies of ignorance: ``reknit study run ignorance``, `report-period`, `noise`, `radio`.

Every run is a row of ``DIR/NAME.csv``, written as it comes; the same call goes on where it stopped.
``DIR/NAME.md`` has the means of every kind of case with their 95 % intervals, and ``DIR/NAME.png``
shows the price of ignorance, or the time, against what was varied.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from reknit.base.errors import InvalidParameter, UnknownName
from reknit.base.files import output_folder, write_text
from reknit.base.progress import Progress, silent
from reknit.base.types import JsonDict
from reknit.knowledge.channels.registry import build_channel
from reknit.knowledge.policies.registry import DEFAULT_POLICY, NamedPolicy
from reknit.knowledge.simulator import operate
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario

FIRST_SEED = 990_000
"""Cases of the studies; nothing was tuned on them."""

MEASURES = {
    "recovery_time_s": "T_rec (s)",
    "price_of_ignorance": "price",
    "first_contact_s": "first contact (s)",
    "replans": "replans",
    "mean_false_alive": "lost, held alive",
    "mean_false_dead": "alive, held dead",
    "bytes_sent": "sent (MB)",
    "path_length_m": "path (m)",
}
"""What a table shows of every kind, with its heading."""

_ALSO = ("optimum_s", "promised_s", "false_done", "compute_s")
_UNITS = {"bytes_sent": 1e-6}
_BELIEVE = "believe:certified+deadline"


@dataclass(frozen=True)
class Kind:
    """One kind of case: who flies how in which swarm over which channel.

    Parameters
    ----------
    settings
        Of the channel, as of `build_channel`.
    panel, line, x
        Where it stands in the picture.
    parameters
        Of the policy.
    """

    policy: str
    uavs: int
    destroyed: int
    channel: str = "radio"
    settings: tuple[tuple[str, float], ...] = field(default=())
    panel: str = ""
    line: str = ""
    x: float = 0.0
    parameters: tuple[tuple[str, float], ...] = field(default=())

    @property
    def label(self) -> str:
        """What stands in the tables."""
        return " ".join([self.channel, *(f"{name}={value:g}" for name, value in self.settings)])

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What its rows have in common."""
        words = [self.policy, *(f"{name}={value:g}" for name, value in self.parameters)]
        return " ".join(words), str(self.uavs), str(self.destroyed), self.label

    def run(self, seed: int) -> JsonDict:
        """Fly one case; its figures, with ``reconnected`` and ``kept_promise``."""
        settings: dict[str, Any] = dict(self.settings)
        channel = build_channel(self.channel, **settings)
        scenario = _case(self.uavs, self.destroyed, seed)
        policy = NamedPolicy.of(self.policy, **dict(self.parameters))
        facts = operate(scenario, policy, channel, seed=seed).as_dict()
        row = dict(zip(_KEY, (*self.key, str(seed)), strict=True))
        row["reconnected"] = str(int(facts["reconnected_at_s"] is not None))
        row["kept_promise"] = str(facts["kept_promise"])
        return row | {name: facts[name] for name in (*MEASURES, *_ALSO)}


_KEY = ("policy", "uavs", "destroyed", "channel", "seed")


@lru_cache(maxsize=64)
def _case(uavs: int, destroyed: int, seed: int) -> Scenario:
    return generate(uavs, destroyed, seed, split=True)


def ignorance() -> Iterator[Kind]:
    """Price against swarm size at half damage, and against the damage at N = 200."""
    for policy in (DEFAULT_POLICY, _BELIEVE, "rendezvous"):
        for uavs in (20, 50, 100, 200, 500):
            yield Kind(
                policy, uavs, uavs // 2, panel="N, half of them lost", line=policy, x=float(uavs)
            )
        for lost in (50, 100, 150):
            yield Kind(policy, 200, lost, panel="lost of N = 200", line=policy, x=float(lost))


def report_period() -> Iterator[Kind]:
    """Time against T_report, latency and loss of the station's reports."""
    axes: tuple[tuple[str, str, tuple[float, ...]], ...] = (
        ("report_period_s", "T_report (s)", (0.0, 0.5, 1.0, 2.0, 5.0)),
        ("latency_s", "latency (s)", (0.0, 0.5, 1.0, 2.0)),
        ("loss", "share of reports lost", (0.0, 0.1, 0.3)),
    )
    for name, panel, values in axes:
        for value in values:
            settings = ((name, value),) + ((("missed_reports", 3),) if name == "loss" else ())
            yield Kind(_BELIEVE, 100, 50, "global", settings, panel, _BELIEVE, value)


def noise() -> Iterator[Kind]:
    """Price against navigation errors, sigma 0 to 30 m, with and without lost messages."""
    for loss in (0.0, 0.3):
        for sigma_m in (0.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0):
            settings = (("noise_m", sigma_m),) + ((("loss", loss),) if loss else ())
            line = f"{loss:.0%} of messages lost"
            yield Kind(
                DEFAULT_POLICY, 100, 50, "radio", settings, "sigma (m), N = 100", line, sigma_m
            )


def radio() -> Iterator[Kind]:
    """Price over radios that lose messages and with navigation errors, N = 50, 100, 200."""
    loss, error = ("loss", 0.3), ("noise_m", 10.0)
    no_second_look = (("nearer", 1.0),)
    for settings, parameters, line in (
        ((), (), "clean"),
        ((loss,), (), "30 % lost"),
        ((error,), (), "sigma = 10 m"),
        ((loss, error), (), "both"),
        ((loss,), no_second_look, "30 % lost, no second look"),
    ):
        for uavs in (50, 100, 200):
            lost, x = uavs // 2, float(uavs)
            yield Kind(DEFAULT_POLICY, uavs, lost, "radio", settings, "N", line, x, parameters)


STUDIES: dict[str, Callable[[], Iterator[Kind]]] = {
    "ignorance": ignorance,
    "report-period": report_period,
    "noise": noise,
    "radio": radio,
}
CASES = {"quick": 5, "paper": 50}
"""Cases of every kind, by profile."""


def titles() -> dict[str, str]:
    """Every study's name and what it shows."""
    return {name: str(study.__doc__).rstrip(".") for name, study in STUDIES.items()}


def run_study(name: str, folder: Path, repetitions: int, progress: Progress = silent) -> list[Path]:
    """Run what is missing of a study; write its table and its picture.

    Parameters
    ----------
    name
        One of `STUDIES`.
    folder
        Where rows, table and picture are.
    repetitions
        Cases of every kind.
    progress
        Told how much is done.

    Returns
    -------
    list of Path
        Rows, table and picture.
    """
    if name not in STUDIES:
        raise UnknownName("study", name, STUDIES)
    if isinstance(repetitions, bool) or not isinstance(repetitions, int) or repetitions < 1:
        raise InvalidParameter("repetitions", repetitions, "a whole number of at least 1")
    path = output_folder(folder) / f"{name}.csv"
    rows = _read(path)
    done = {tuple(row[field] for field in _KEY) for row in rows}
    kinds = list(STUDIES[name]())
    missing = [
        (seed, kind)
        for seed in range(FIRST_SEED, FIRST_SEED + repetitions)
        for kind in dict.fromkeys(kinds)
        if (*kind.key, str(seed)) not in done
    ]
    columns = [*_KEY, "reconnected", "kept_promise", *MEASURES, *_ALSO]
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, columns)
        if not rows:
            writer.writeheader()
        for number, (seed, kind) in enumerate(missing):
            progress(number / len(missing), f"{kind.policy}, {kind.uavs} UAVs, {kind.label}")
            if (*kind.key, str(seed)) in done:  # a kind of case may stand in two panels
                continue
            row = kind.run(seed)
            writer.writerow(row)
            file.flush()
            done.add((*kind.key, str(seed)))
            rows.append({field: str(value) for field, value in row.items()})
    return [path, *write_results(name, folder)]


def write_results(name: str, folder: Path) -> list[Path]:
    """Table and picture of the rows there are; their paths."""
    from reknit.viz.picture import save_figure

    if name not in STUDIES:
        raise UnknownName("study", name, STUDIES)
    rows = _read(folder / f"{name}.csv")
    if not rows:
        raise InvalidParameter("study", name, f"one that was run; {folder} has no rows of it")
    files = [folder / f"{name}.md", folder / f"{name}.png"]
    write_text(files[0], _table(name, rows))
    save_figure(_figure(name, rows), files[1])
    return files


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _of_kind(rows: Sequence[dict[str, str]], kind: Kind) -> list[dict[str, str]]:
    return [row for row in rows if tuple(row[name] for name in _KEY[:4]) == kind.key]


def _table(name: str, rows: Sequence[dict[str, str]]) -> str:
    heads = ["policy", "N", "lost", "channel", "cases", "R_c", "in time", *MEASURES.values()]
    lines = [
        "Means over the cases with 95 % intervals. R_c: share reconnected; in time: share that",
        "kept the promise; price: T_rec / optimum with full knowledge (its median in brackets);",
        "lost, held alive, and alive, held dead: UAVs, in the mean over survivors and time.",
        f"False 'done's in all {len(rows)} runs: {sum(int(row['false_done']) for row in rows)}.",
        "",
        "| " + " | ".join([*heads]) + " |",
        "| --- " * len(heads) + "|",
    ]
    for kind in {kind.key: kind for kind in STUDIES[name]()}.values():
        of_kind = _of_kind(rows, kind)
        if not of_kind:
            continue
        cells = [*kind.key, str(len(of_kind))]
        cells.append(f"{np.mean([row['reconnected'] == '1' for row in of_kind]):.2f}")
        kept = [row["kept_promise"] == "True" for row in of_kind if row["kept_promise"] != "None"]
        cells.append(f"{np.mean(kept):.2f}" if kept else "-")
        for measure in MEASURES:
            mean, half, values = interval(of_kind, measure)
            text = "-" if len(values) < 2 else f"{mean:.4g} ± {half:.2g}"
            if measure == "price_of_ignorance" and len(values):
                text += f" ({np.median(values):.2f})"
            cells.append(text)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def interval(rows: Sequence[dict[str, str]], name: str) -> tuple[float, float, list[float]]:
    """Mean, half of its 95 % interval, and the values of a measure."""
    texts = (row[name] for row in rows)
    values = [float(text) * _UNITS.get(name, 1.0) for text in texts if text not in ("", "None")]
    if len(values) < 2:
        return float("nan"), float("nan"), values
    return (
        float(np.mean(values)),
        1.96 * float(np.std(values, ddof=1)) / len(values) ** 0.5,
        values,
    )


def _figure(name: str, rows: Sequence[dict[str, str]]) -> Any:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from reknit.viz.style import RC, SUBNETS, quiet

    kinds = [kind for kind in STUDIES[name]() if _of_kind(rows, kind)]
    panels = list(dict.fromkeys(kind.panel for kind in kinds))
    lines = list(dict.fromkeys(kind.line for kind in kinds))
    measure = "recovery_time_s" if name == "report-period" else "price_of_ignorance"
    with mpl.rc_context(RC):
        figure = Figure(figsize=(0.6 + 3.9 * len(panels), 3.4), layout="constrained")
        for place, panel in enumerate(panels):
            axes = figure.add_subplot(1, len(panels), place + 1)
            for line in lines:
                points = [kind for kind in kinds if (kind.panel, kind.line) == (panel, line)]
                figures = [interval(_of_kind(rows, kind), measure)[:2] for kind in points]
                axes.errorbar(
                    [kind.x for kind in points],
                    [mean for mean, _ in figures],
                    [half for _, half in figures],
                    label=line or points[0].policy,
                    color=SUBNETS[lines.index(line)],
                    marker="o",
                    markersize=4,
                    capsize=3,
                )
            axes.set_xlabel(panel)
            if measure == "price_of_ignorance":
                axes.set_yscale("log" if name == "ignorance" else "linear")
                axes.axhline(1.0, color="#666666", linewidth=0.8, linestyle="--")
            else:
                axes.set_ylim(bottom=0.0)
            if place == 0:
                axes.set_ylabel(MEASURES[measure])
                axes.legend(fontsize=8)
            quiet(axes)
    return figure
