"""Writes the table of measures into docs/studies.md, from their declarations."""

from __future__ import annotations

from pathlib import Path

from reknit.study.measures import documented

PAGE = Path(__file__).parent / "studies.md"
BEGIN = "<!-- measures: made by docs/make_measures.py -->"
END = "<!-- end of measures -->"


def main() -> None:
    """Rewrite what stands between the marks."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    text = before + BEGIN + "\n" + documented() + END + rest.split(END)[1]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
