"""The figures of the docs are those that the benchmark kept."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.bench_serve import PAGES, write_pages

ROOT = Path(__file__).parents[2]


def test_the_pages_say_what_was_measured(tmp_path: Path) -> None:
    """Written anew from the log, the pages stay as they are: nobody typed a figure."""
    for name in PAGES:
        shutil.copy(ROOT / "docs" / name, tmp_path)
    write_pages(ROOT / "benchmarks" / "serve.jsonl", tmp_path)
    for name in PAGES:
        own = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert (tmp_path / name).read_text(encoding="utf-8") == own, name
        assert "figures: made by" in own
