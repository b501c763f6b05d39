"""Writes docs/knowledge-results.md; no figure is typed by hand.

    reknit study run radio --profile paper
    reknit study run ignorance --profile paper
    reknit study run noise --profile paper
    reknit study run report-period --profile paper
    python -m benchmarks.bench_knowledge --out results/bench_knowledge.md
    python examples/ppo.py --minutes 10 > results/ppo.txt
    python docs/make_knowledge.py

Whatever of these was run is shown, with the number of its cases.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from reknit.knowledge.kinds import titles
from reknit.knowledge.studies import write_results

DOCS = Path(__file__).parent
RESULTS = Path("results")
PICTURES = DOCS / "results" / "knowledge"

HEAD = """# Partial knowledge, measured

Made by `python docs/make_knowledge.py` from stored runs. The cases have seeds from 990,000 on; the
policy was tuned on seeds 0 to 29. What the words mean is said in [Partial knowledge](knowledge.md).
Rows of fewer than 20 cases show that something runs and carry no claim.
"""


def main() -> None:
    """Write the page."""
    parts = [HEAD]
    for name, title in titles().items():
        if not (RESULTS / f"{name}.csv").exists():
            parts.append(f"## {name}\n\n{title}: not run yet.\n")
            continue
        table, picture = write_results(name, RESULTS)
        PICTURES.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, PICTURES / picture.name)
        image = f"![{title}](results/knowledge/{picture.name})"
        parts.append(f"## {name}\n\n{title}.\n\n{image}\n\n{table.read_text()}")
    for title, file, fence in (
        ("Computing", "bench_knowledge.md", ""),
        ("Learning", "ppo.txt", "```text\n"),
    ):
        if (RESULTS / file).exists():
            text = (RESULTS / file).read_text()
            shown = f"{fence}{text}```\n" if fence else text
            parts.append(f"## {title}\n\n{shown}")
    (DOCS / "knowledge-results.md").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
