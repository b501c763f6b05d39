"""The campaign: every part runs, a finding is a finding, and a kill loses nothing."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign.__main__ import main
from campaign.corpus import documents
from campaign.log import Record
from campaign.naive import Judge
from campaign.outcome import Outcome
from campaign.page import page
from campaign.parts import PARTS, Entry, open_log, run_for, run_seed

import reknit
from campaign import parts, plans, processes
from reknit.base.types import JsonDict

ROOT = Path(__file__).parents[2]
SEEDS = {"bytes": 0}
"""Where not 1: one without a learned planner."""


_LONG = ("bytes", "invariance")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in _LONG else ())
        for name in PARTS
        if name != "kills"
    ],
)
def test_a_seed_of_every_part(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One seed runs as a finding is repeated, tries something and finds nothing."""
    monkeypatch.setattr(plans, "_BATCH", 10)
    monkeypatch.setattr(processes, "_PROCESSES", 1)
    assert main(["--part", name, "--seed", str(SEEDS.get(name, 1))]) == 0
    assert " 0 cases" not in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 3])
def test_kills(seed: int) -> None:
    """A study and a pre-training that are killed end as if they had not been."""
    outcome = run_seed("kills", seed).outcome
    assert outcome.cases > 0
    assert outcome.findings == ()


@pytest.mark.parametrize(
    "change",
    [
        {"recovery_time_s": 1.0},
        {"status": reknit.Status.FEASIBLE},
        {"status": reknit.Status.NOT_FOUND},
        {"targets": np.zeros((30, 2))},
    ],
)
def test_the_naive_judge_refuses_lies(change: JsonDict) -> None:
    """A plan that is true as it is and false after any change of its claims."""
    scenario = reknit.generate(60, 30, seed=4, split=True)
    plan = reknit.plan(scenario, "certified")
    assert Judge(scenario).is_true(plan)
    assert not Judge(scenario).is_true(replace(plan, **change))


def test_the_naive_judge_knows_the_demands() -> None:
    """A chain is connected but neither 2-connected nor as far apart as asked."""
    chain = np.array([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]])

    def meets(points: np.ndarray, **demands: Any) -> bool:
        return Judge(reknit.Scenario(chain, (), 120.0, 10.0, **demands)).meets_demands(points)

    assert meets(chain)
    assert not meets(chain, connectivity=2)
    assert not meets(chain, min_separation_m=101.0)
    assert meets(chain, anchors=[1])
    assert not meets(chain + 1.0, anchors=[1])


def _crash(_: int, __: Path) -> Outcome:
    raise ZeroDivisionError("on purpose")


def _entry(version: int, cases: int = 1, wanted: int = 10) -> Entry:
    return Entry(lambda seed, folder: Outcome(cases), "", wanted, version)


def test_findings_are_kept_until_they_are_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash is a finding with its seed on the page; run again without one, it is mended."""
    monkeypatch.setattr(parts, "PARTS", {"plans": Entry(_crash, "", 1)})
    log = open_log(tmp_path / "log.jsonl")
    next(run_for(1.0, log))
    assert "--part plans --seed 0`: `ZeroDivisionError" in page(log)
    monkeypatch.setattr(parts, "PARTS", {"plans": _entry(1)})
    log = open_log(tmp_path / "log.jsonl")
    next(run_for(1.0, log))
    assert [record.seed for record in log.records] == [0, 0]
    assert log.open_findings() == []
    assert len(log.mended()) == 1
    assert "## Open findings\n\nNone." in page(log)


def _endless(seed: int, folder: Path) -> Outcome:
    while True:
        pass


def test_a_seed_that_does_not_end_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped after its processor time, and the campaign goes on with the next one."""
    monkeypatch.setattr(parts, "LONGEST_S", 0.2)
    monkeypatch.setattr(parts, "PARTS", {"plans": Entry(_endless, "", 1)})
    [finding] = run_seed("plans", 0).outcome.findings
    assert "no end within 0.2 s of computing" in finding
    monkeypatch.setattr(parts, "PARTS", {"plans": _entry(1)})
    assert run_seed("plans", 1).outcome.findings == ()


def test_a_killed_campaign_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After kill -9 and a torn last line every seed of every part is there once."""
    words = [sys.executable, "-m", "campaign", "--out", str(tmp_path), "--page"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    path = tmp_path / "log.jsonl"
    with subprocess.Popen([*words, str(tmp_path / "p")], cwd=ROOT, env=environment) as process:
        while process.poll() is None and (not path.exists() or path.read_bytes().count(b"\n") < 2):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    with path.open("ab") as file:
        file.write(b'{"part": "plans", "se')
    before = open_log(path).records
    assert before
    cheap = {name: _entry(part.version, 50, part.wanted) for name, part in PARTS.items()}
    monkeypatch.setattr(parts, "PARTS", cheap)
    turns = run_for(1.0, open_log(path))
    for _ in range(20):
        next(turns)
    after = open_log(path).records
    assert after[: len(before)] == before
    seeds = [(record.part, record.seed) for record in after]
    assert len(set(seeds)) == len(seeds) == len(before) + 20


def test_the_naive_judge_weighs_forces_by_all_subsets() -> None:
    """Two opposite forces prove the span bound, computed by hand, at any scale; others no more."""
    line = np.array([[0.0, 0.0], [500.0, 0.0], [1000.0, 0.0]])
    judge = Judge(reknit.Scenario(line, (), 120.0, 10.0))
    span_s = (1000.0 - 2 * 120.0) / 20.0
    for scale in (1e-200, 1.0, 1e200):
        forces = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]) * scale
        proof = replace(reknit.Certificate.trivial(), pulls=forces)
        assert float(judge.proves_at_most_s(proof)) == pytest.approx(span_s, rel=1e-8)
    unbalanced = replace(reknit.Certificate.trivial(), pulls=np.array([[-1.0, 0.0]] * 3))
    assert float(judge.proves_at_most_s(unbalanced)) <= span_s * (1 + 1e-8)


def test_two_campaigns_do_not_share_a_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second is refused: both would run the same seeds."""
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SystemExit):
            main(["--out", str(tmp_path), "--page", str(tmp_path / "page")])
    assert "another campaign" in capsys.readouterr().err
    assert not (tmp_path / "page").exists()


def test_records_of_an_earlier_version_of_a_part_are_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stay in the file and on the page, count for nothing, and their seeds are run again."""
    path = tmp_path / "log.jsonl"
    monkeypatch.setattr(parts, "PARTS", {"plans": Entry(_crash, "", 10, 1)})
    next(run_for(1.0, open_log(path)))
    monkeypatch.setattr(parts, "PARTS", {"plans": _entry(2)})
    log = open_log(path)
    assert (log.records, len(log.stale), log.next_seed("plans")) == ([], 1, 0)
    assert next(run_for(1.0, log)).seed == 0
    log = open_log(path)
    assert (log.cases("plans"), len(log.stale), log.open_findings()) == (1, 1, [])
    assert "ZeroDivisionError" in page(log).partition("## Found by earlier versions")[2]


def test_the_part_furthest_from_what_is_wanted_is_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A campaign of any length has the same share of each part, also when it goes on."""
    entries = {"plans": _entry(1, 50, 1000), "files": _entry(1, 5, 200)}
    monkeypatch.setattr(parts, "PARTS", entries)
    path = tmp_path / "log.jsonl"
    for _ in range(3):
        turns = run_for(1.0, open_log(path))
        for _ in range(20):
            next(turns)
    log = open_log(path)
    assert (log.cases("plans"), log.cases("files")) == (1000, 200)


def test_a_campaign_of_some_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--part keeps to those that are named; --seed needs one of them."""
    monkeypatch.setattr(parts, "PARTS", {name: _entry(1) for name in ("plans", "files", "kills")})
    turns = run_for(1.0, open_log(tmp_path / "log.jsonl"), ["files", "kills"])
    assert {next(turns).part for _ in range(10)} == {"files", "kills"}
    for words in (["--seed", "1"], ["--seed", "1", "--part", "plans", "--part", "files"]):
        with pytest.raises(SystemExit):
            main(words)
        assert "--seed goes with one --part" in capsys.readouterr().err


def test_the_page_counts_all_hours_and_present_cases(tmp_path: Path) -> None:
    """Time of earlier versions is campaign too and is named; their cases are not counted."""
    log = open_log(tmp_path / "log.jsonl")
    version = PARTS["plans"].version
    log.add(Record("plans", 0, version - 1, Outcome(7000), 3600.0, 1800.0))
    log.add(Record("plans", 0, version, Outcome(5), 7200.0, 1800.0))
    text = page(log)
    assert "**3.0 hours** of wall time in total" in text
    assert "at least 1.0 were computing" in text
    assert "Of the time, 1.0 hours were of earlier versions" in text
    assert "| 1 | 5 | 100,000 |" in text


def test_the_versions_are_kept_with_the_records(tmp_path: Path) -> None:
    """They are written once for many records and read back for each, with the sources' digest."""
    path = tmp_path / "log.jsonl"
    log = open_log(path)
    records = [run_seed("forgeries", seed) for seed in (1, 2)]
    for record in records:
        log.add(record)
    assert path.read_text().count('"versions"') == 1
    again = open_log(path).records
    assert [record.versions for record in again] == [record.versions for record in records]
    assert len(again[0].versions["sources"]) == 12


def _is_read(data: bytes, reader: Callable[[str], object]) -> bool:
    try:
        reader(data.decode())
    except (ValueError, RecursionError):
        return False
    return True


def test_broken_documents_are_broken() -> None:
    """Nearly no document of the corpora can be read, and those of CPython are among them."""
    for ending, reader, of_cpython in ((".json", json.loads, 33), (".toml", tomllib.loads, 47)):
        broken = [data for data in documents(ending) if not _is_read(data, reader)]
        assert len(broken) >= of_cpython + 25
        assert len(documents(ending)) - len(broken) <= 3
    assert len(documents(".csv")) > 50
