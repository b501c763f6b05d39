"""Writes docs/knowledge-results.md and its pictures; no figure is typed by hand.

    reknit study run radio --profile paper
    reknit study run ignorance --profile paper
    reknit study run noise --profile paper
    reknit study run report-period --profile paper
    reknit study run hedge-ablation --profile paper
    reknit study run believing --profile paper
    python -m benchmarks.bench_knowledge --out results/bench_knowledge.md
    python examples/ppo.py --minutes 10 --weights ppo.safetensors | tee results/ppo.txt
    python docs/make_knowledge.py

Whatever of these was run is shown, with the number of its cases.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

import reknit
from reknit.knowledge.kinds import STUDIES, titles
from reknit.knowledge.picture import belief_figure
from reknit.knowledge.policies.registry import DEFAULT_POLICY
from reknit.knowledge.studies import (
    FIRST_SEED,
    interval,
    of_kind,
    read_rows,
    share,
    write_results,
)

DOCS = Path(__file__).parent
RESULTS = Path("results")
PICTURES = DOCS / "results" / "knowledge"

HEAD = """# Partial knowledge, measured

Made by `python docs/make_knowledge.py` from stored runs. The cases have seeds from {first:,} on;
the policy was tuned on seeds 0 to 29. The words are explained in [Partial knowledge](knowledge.md).
Rows of fewer than 20 cases show that something runs and carry no claim.
"""


ASKED = {50: 1.6, 100: 2.0, 200: 2.5}
"""Mean price over a clean radio that was asked for, by swarm size."""


def main() -> None:
    """Write the page."""
    parts = [HEAD.format(first=FIRST_SEED)]
    stored = {name: read_rows(RESULTS / f"{name}.csv") for name in titles()}
    if stored["radio"]:
        parts.append(_asked(stored["radio"]))
    for name, title in titles().items():
        if not stored[name]:
            parts.append(f"## {name}\n\n{title}: not run yet.\n")
            continue
        table, figure = write_results(name, RESULTS)
        PICTURES.mkdir(parents=True, exist_ok=True)
        shutil.copy(figure, PICTURES / figure.name)
        image = f"![{title}](results/knowledge/{figure.name})"
        parts.append(f"## {name}\n\n{title}.\n\n{image}\n\n{table.read_text()}")
        if name in ("hedge-ablation", "believing"):
            parts.append(_beside_hedge(name, stored[name]))
    for title, file, fence in (
        ("Computing", "bench_knowledge.md", ""),
        ("Learning", "ppo.txt", "```text\n"),
    ):
        if (RESULTS / file).exists():
            text = (RESULTS / file).read_text()
            shown = f"{fence}{text}```\n" if fence else text
            parts.append(f"## {title}\n\n{shown}")
    (DOCS / "knowledge-results.md").write_text("\n".join(parts), encoding="utf-8")
    operation = reknit.operate(reknit.generate(200, 100, seed=7), seed=7)
    picture = DOCS / "img" / "belief.png"
    belief_figure(operation).savefig(picture, dpi=100)
    with Image.open(picture) as drawn:
        small = drawn.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(picture, optimize=True)


def _asked(rows: Sequence[dict[str, str]]) -> str:
    """What was asked of the default policy, and what was measured."""
    lines = [
        "## What was asked for\n",
        f"`{DEFAULT_POLICY}` over a clean radio, and the same with lost messages and errors:\n",
        "| N | asked: mean price | measured | cases | reached |",
        "| --- | --- | --- | --- | --- |",
    ]
    for uavs, most in ASKED.items():
        of_size = [row for row in rows if (row["uavs"], row["channel"]) == (str(uavs), "radio")]
        mean, half, values = interval(of_size, "price_of_ignorance")
        reached = "yes" if mean + half <= most else "no"
        lines.append(f"| {uavs} | {most:g} | {mean:.2f} ± {half:.2f} | {len(values)} | {reached} |")
    lines += ["", "| channel | runs | reconnected | in the promised time | false 'done's |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for channel in dict.fromkeys(row["channel"] for row in rows):
        runs = [row for row in rows if row["channel"] == channel]
        whole = share([row["reconnected"] == "1" for row in runs])
        kept = share([row["kept_promise"] == "True" for row in runs])
        false = sum(int(row["false_done"]) for row in runs)
        lines.append(f"| {channel} | {len(runs)} | {whole} | {kept} | {false} |")
    return "\n".join(lines) + "\n"


def _beside_hedge(name: str, rows: Sequence[dict[str, str]]) -> str:
    """Case by case: the price of every other line less that of the default policy."""
    kinds = {kind.key: kind for kind in STUDIES[name]()}.values()
    prices = {
        kind.key: {
            row["seed"]: float(row["price_of_ignorance"])
            for row in of_kind(rows, kind)
            if row["price_of_ignorance"] not in ("", "None")
        }
        for kind in kinds
    }
    lines = [
        f"Price less that of `{DEFAULT_POLICY}` on the same case, mean and 95 % interval:\n",
        "| instead | N | channel | cases | price less hedge's |",
        "| --- | --- | --- | --- | --- |",
    ]
    for kind in kinds:
        _, uavs, lost, channel = kind.key
        base = prices.get((DEFAULT_POLICY, uavs, lost, channel), {})
        own = prices[kind.key]
        pairs = [own[seed] - base[seed] for seed in own if seed in base]
        if kind.line == DEFAULT_POLICY or len(pairs) < 2:
            continue
        half = 1.96 * float(np.std(pairs, ddof=1)) / len(pairs) ** 0.5
        cell = f"{np.mean(pairs):+.2f} ± {half:.2f}"
        lines.append(f"| {kind.line} | {uavs} | {channel} | {len(pairs)} | {cell} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
