"""Speed and steadiness of the service and of the studio's page.

Run: python -m benchmarks.bench_serve
         [rate] [latency] [cancel] [described] [bodies] [soak] [frames]
         [--workers 2] [--plans 40] [--rounds 5] [--requests 640] [--cancels 20] [--cases 300]
         [--soak-minutes 0.5] [--pause 0.2] [--log benchmarks/serve.jsonl] [--pages docs]

rate       certified plans a second over HTTP against the same plans in as many processes, in turns
latency    median and 99th percentile with 32 clients at once
cancel     how much a job still works after its DELETE
described  --cases cases of schemathesis: no status 500, no leaked worker
bodies     as many random and spoiled bodies: the same
soak       mixed load while workers are killed by SIGKILL every few seconds
frames     what a frame of the studio costs, and how many are shown

With --log every part's figures are kept, one a line; --pages writes the last line of each part
into docs/service.md and docs/studio.md, where no figure is typed by hand. With no part named all
of them run; with --pages alone none does.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.serving.cancels import cancels_text, measure_cancels
from benchmarks.serving.frames import frames_text, measure_frames
from benchmarks.serving.fuzz import (
    bodies_text,
    described_text,
    measure_bodies,
    measure_described,
)
from benchmarks.serving.load import latency_text, measure_latency, measure_rate, rate_text
from benchmarks.serving.service import Served, served
from benchmarks.serving.soak import soak, soak_text

TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "rate": rate_text,
    "latency": latency_text,
    "cancel": cancels_text,
    "described": described_text,
    "bodies": bodies_text,
    "soak": soak_text,
    "frames": frames_text,
}
PAGES = {
    "service.md": ("rate", "latency", "cancel", "described", "bodies", "soak"),
    "studio.md": ("frames",),
}


def measure(part: str, service: Served, chosen: argparse.Namespace) -> dict[str, Any] | None:
    """The figures of one part; None if it cannot be measured here."""
    if part == "rate":
        return measure_rate(service, chosen.plans, chosen.rounds)
    if part == "latency":
        return measure_latency(service, chosen.requests)
    if part == "cancel":
        return measure_cancels(service, chosen.cancels)
    if part == "described":
        return measure_described(service, chosen.cases)
    if part == "bodies":
        return measure_bodies(service, chosen.cases)
    if part == "soak":
        return soak(service, chosen.soak_minutes, chosen.pause)
    return measure_frames(service)


def is_bad(part: str, row: dict[str, Any]) -> bool:
    """Whether something was lost, whatever the machine: a fault, a job, a worker."""
    if part in ("described", "bodies"):
        return bool(row["faults"]) or not row["settled"]
    if part == "soak":
        lost = any(name.startswith(("LOST", "500")) for name in row["outcomes"])
        return lost or not row["settled"]
    return False


def write_pages(log: Path, folder: Path) -> None:
    """Put the last figures of every part between the marks in the pages."""
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    last = {row["part"]: row for row in rows}
    for name, parts in PAGES.items():
        path = folder / name
        text = path.read_text(encoding="utf-8")
        shown = [part for part in parts if part in last]
        bullet = "- " if len(parts) > 1 else ""
        lines = "\n".join(_wrapped(bullet, TEXTS[part](last[part])) for part in shown)
        begin = "<!-- figures: made by benchmarks/bench_serve.py -->"
        before, rest = text.split(begin)
        end = "<!-- end of figures -->"
        path.write_text(f"{before}{begin}\n{lines}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def _wrapped(bullet: str, text: str) -> str:
    """A sentence as a list's item, in lines of the page's width; tables are left alone."""
    import textwrap

    if not bullet:
        return text
    return textwrap.fill(
        text, 100, initial_indent=bullet, subsequent_indent="  ", break_on_hyphens=False
    )


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*TEXTS, []], default=[], metavar="part")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--plans", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=640)
    parser.add_argument("--cancels", type=int, default=20)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--soak-minutes", type=float, default=0.5)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two requests")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--pages", type=Path)
    chosen = parser.parse_args()
    if chosen.pages is not None and chosen.log is None:
        parser.error("--pages needs --log")
    bad: list[str] = []
    parts = chosen.parts or ([] if chosen.pages else list(TEXTS))
    for part in parts:
        with served(chosen.workers) as service:
            row = measure(part, service, chosen)
        if row is None:
            print(f"{part}: chromium is not installed, nothing was measured")
            continue
        print(TEXTS[part](row), flush=True)
        if chosen.log is not None:
            with chosen.log.open("a", encoding="utf-8") as file:
                row = {"part": part, **row, "load_average": os.getloadavg()[0]}
                file.write(json.dumps(row) + "\n")
        if is_bad(part, row):
            bad.append(part)
    if chosen.pages is not None:
        write_pages(chosen.log, chosen.pages)
    sys.exit(f"failed: {', '.join(bad)}" if bad else 0)


if __name__ == "__main__":
    main()
