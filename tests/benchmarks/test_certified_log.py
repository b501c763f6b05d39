"""The log of the certified benchmark and the page that is made of it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.certified_log import (
    Case,
    Deadline,
    Entry,
    Log,
    Moment,
    Rival,
    Size,
    page,
    resampled,
)

ENTRIES: tuple[Entry, ...] = (
    *(Case("N=200, 100 lost", seed, 2.0 + seed, 2.0, "feasible", 0.5, 9) for seed in range(2)),
    *(Moment("N=500, 90 % lost", seed, 100, 2.0 + seed, 2.0, 0.25) for seed in range(2)),
    Moment("N=500, 90 % lost", 0, 3_000, 2.0, 2.0, 1.5),
    Case("N=500, 90 % lost", 1, 1.98, 1.8, "feasible", 0.5, 9),
    Rival("N=500, 90 % lost", 1, 3.0, 2.0),
    Deadline(1_000, 0.5, 0.0, 1, 0.0125, 2.0),
    Size(10_000, 1, 0.2, 0.03, 0.1, "optimal"),
    Size(100_000, 1, 2.0, 0.3, 0.2, "optimal"),
)


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    """A log that is opened again has the same entries, each of its kind."""
    path = f"{tmp_path}/log.jsonl"
    log = Log(path)
    for entry in ENTRIES:
        log.add(entry)
    again = Log(path)
    assert again.entries == list(ENTRIES)
    assert again.of(Case, family="N=200, 100 lost", seed=1) == [ENTRIES[1]]
    assert again.of(Rival, family="N=500, 90 % lost", seconds=60.0) == []


def test_old_lines_are_cases(tmp_path: Path) -> None:
    """Lines without a kind are cases, as they were before there were others."""
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"family": "f", "seed": 1, "time_s": 3.0, "bound_s": 2.0, "status": "feasible", '
        '"compute_s": 0.1, "proof_rows": 3}\n'
    )
    (case,) = Log(str(path)).of(Case)
    assert case.gap == 0.5


def test_the_page_has_every_table() -> None:
    """Means, worst cases, allowed overruns and the growth with N stand on the page."""
    log = Log("")
    for entry in ENTRIES:
        log.add(entry)
    text = page(log)
    assert "| N=200, 100 lost | 2 | 0 | 25.0 (0.0 to 50.0) | 50.0 | 0.1 | 0.5, 0.5 |" in text
    assert "| N=500, 90 % lost | 1 | 3 | 0.9900 (0.9900 to 0.9900) | 0.9900 |" in text
    assert "| 1,000 | 50 % | 0 | 1 | 12 | 12 | 12 | 30 | 2.00 |" in text
    assert "10,000 to 100,000 UAVs N^1.00" in text
    assert "Beside" not in page(Log(""))
    line = "| N=500, 90 % lost | 2 | 25.0 (0.0 to 50.0), 0.2 s | 0.0 (0.0 to 0.0), 1.5 s | 0.5 |"
    assert "| effort 100 | effort 3,000 |" in text
    assert line in text
    assert "](img/x.png)" in page(log, "img/x.png")
    assert "](img/x.png)" not in text


def test_the_interval_is_around_the_mean() -> None:
    """Resampling gives an interval that holds the mean and lies within the values."""
    mean, low, high = resampled([0.0, 1.0, 2.0, 3.0] * 5)
    assert mean == 1.5
    assert 0.5 < low < mean < high < 2.5
