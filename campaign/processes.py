"""The same bytes in other processes and with other numbers of threads; kill -9 and going on."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

import reknit
from campaign.draws import draw_scenario
from campaign.outcome import Outcome
from reknit.base.types import JsonDict
from reknit.errors import ImpossibleDemands
from reknit.plans.files import plan_file

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PROCESSES = 10
"""Of each number of threads."""

_SWARMS, _STEERED, _MOST_UAVS = 24, 4, 24
"""Swarms of one seed, and how many of them are also steered: starting a process takes longer than
planning for a small one, and flying step by step takes as long as many plans."""

_STEERING = ("center-fly", "hero", "sidr", "mdsg-apf")
_LEARNED = ("ml-dagl", "gcn", "gat", "cr-mgc", "demd")
_EVERY_LEARNED = 5
"""One in so many seeds has a learned planner too, on the first swarm."""

_PARAMETERS: dict[str, JsonDict] = {
    "certified": {"effort": 300},
    **{name: {"iterations": 3} for name in _LEARNED},
}
"""Less work than by default; the bytes of more work come about in the same way."""


def digests(seed: int) -> str:
    """One line for each plan or flight: its swarm, planner and digest, timings left out."""
    lines = []
    for number in range(_SWARMS):
        rng = np.random.default_rng([3, seed, number])
        scenario = draw_scenario(rng, _MOST_UAVS)
        while not scenario.is_split:
            scenario = draw_scenario(rng, _MOST_UAVS)
        names = ["certified", "contraction", "descent", "descent+certified"]
        if number < _STEERED:
            names.append(_STEERING[number % len(_STEERING)])
        if number == 0 and seed % _EVERY_LEARNED == 1:
            names.append(_LEARNED[seed // _EVERY_LEARNED % len(_LEARNED)])
        lines += [f"{number} {name} {_digest(scenario, name, seed)}" for name in names]
    return "\n".join(lines)


def _digest(scenario: reknit.Scenario, name: str, seed: int) -> str:
    try:
        if name in _STEERING:
            flight = reknit.recover(scenario, name, seed=seed).flight
            data = flight.times_s.tobytes() + flight.positions.tobytes()
        else:
            plan = reknit.plan(scenario, name, seed=seed, **_PARAMETERS.get(name, {}))
            claims = plan_file(plan).model_dump(
                include={"status", "recovery_time_s", "certificate"}
            )
            data = repr(claims).encode() + plan.targets.tobytes()
    except ImpossibleDemands as error:
        data = str(error).encode()
    return hashlib.sha256(data).hexdigest()[:16]


def same_bytes(seed: int, folder: Path) -> Outcome:
    """Ten processes of one thread and ten of two make the same plans and flights.

    Those of the learned planners are compared between processes of as many threads: torch sums
    in another order with more of them.
    """
    program = f"from campaign.processes import digests; print(digests({seed}))"
    answers: dict[str, list[str]] = {}
    for threads in ("1", "2"):
        environment = {**_environment(), **dict.fromkeys(_THREADS, threads)}
        words = [sys.executable, "-c", program]
        for number in range(_PROCESSES):
            result = subprocess.run(
                words, env=environment, cwd=folder, capture_output=True, text=True
            )
            if result.returncode:
                return Outcome(1, (f"process {number} failed: {result.stderr[-300:]}",))
            answers.setdefault(threads, []).append(result.stdout)
    findings = [
        f"{threads} threads, process 0 and {number}: {_difference(texts[0], text)}"
        for threads, texts in answers.items()
        for number, text in enumerate(texts)
        if text != texts[0]
    ]
    first, second = (_without_learned(answers[threads][0]) for threads in ("1", "2"))
    if first != second:
        findings.append(f"1 and 2 threads: {_difference(first, second)}")
    return Outcome(len(answers["1"][0].splitlines()), tuple(findings))


def _difference(one: str, other: str) -> str:
    rows = zip(one.splitlines(), other.splitlines(), strict=True)
    return "; ".join(f"{first} and {second}" for first, second in rows if first != second)


def _without_learned(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.split()[1] not in _LEARNED)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


_STUDY = """
name = "small"
title = "A small study"
about = "Three planners on four swarms."
seed = {seed}
repetitions = 2

[[planner]]
name = "contraction"
[[planner]]
name = "sidr"
[[planner]]
name = "hero"

[[case]]
uavs = [20, 30]
destroyed = 0.5
"""


def kills(seed: int, folder: Path) -> Outcome:
    """Kill -9 at random moments of a study or, one time in four, of pre-training."""
    rng = random.Random(seed)
    return _killed_training(rng, folder) if seed % 4 == 3 else _killed_study(rng, seed, folder)


def _start_and_kill(words: list[str], watched: Path, rng: random.Random) -> bool:
    """Start a command and kill it a moment after it has written; whether it still ran then."""
    process = subprocess.Popen(
        words,
        env=_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        writes, size = rng.randint(1, 8), _written_bytes(watched)
        while writes and process.poll() is None:
            time.sleep(0.005)
            if _written_bytes(watched) != size:
                size = _written_bytes(watched)
                writes -= 1
        time.sleep(rng.uniform(0.0, 0.03))
        return process.poll() is None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _written_bytes(folder: Path) -> tuple[tuple[str, int, int], ...]:
    stats = []
    for path in sorted(folder.glob("*")):
        with suppress(FileNotFoundError):
            stat = path.stat()
            stats.append((path.name, stat.st_size, stat.st_mtime_ns))
    return tuple(stats)


def _killed_study(rng: random.Random, seed: int, folder: Path) -> Outcome:
    from reknit.study.store import TIMINGS, Store

    path = folder / "small.toml"
    path.write_text(_STUDY.format(seed=seed))
    study = reknit.load_study(path)
    out = folder / "out"
    out.mkdir()
    store = out / "small-paper.duckdb"
    program = "from reknit.cli import main; main()"
    words = [sys.executable, "-c", program, "study", "run", str(path), "--profile", "paper"]
    words += ["--workers", "1", "--out", str(out)]
    killed, findings, before = 0, [], 0
    for _ in range(4):
        is_killed = _start_and_kill(words, out, rng)
        killed += is_killed
        rows, keys = _stored(store)
        if rows != keys:
            findings.append(f"{rows} rows of {keys} runs after kill {killed}")
        if rows < before:
            findings.append(f"{before} runs before kill {killed}, {rows} after it")
        before = rows
        if not is_killed:  # it was done before
            break
    summary = reknit.run_study(study, store, profile="paper", workers=1)
    if (summary.before, summary.before + summary.now) != (before, summary.total):
        findings.append(f"{before} runs were stored; going on: {summary}")
    whole = folder / "whole.duckdb"
    reknit.run_study(study, whole, profile="paper", workers=1)

    def table(path: Path) -> list[JsonDict]:
        with Store(path, study, read_only=True) as held:
            rows = held.rows(study.tasks("paper"))
        return [{name: row[name] for name in row if name not in TIMINGS} for row in rows]

    if repr(table(store)) != repr(table(whole)):
        findings.append("the table differs from that of an undisturbed run")
    return Outcome(killed, tuple(findings), {"study_kills": killed})


def _stored(store: Path) -> tuple[int, int]:
    """How many rows a store holds, and of how many runs."""
    import duckdb

    if not store.exists():
        return 0, 0
    with duckdb.connect(str(store)) as base:
        tables = base.execute("SELECT table_name FROM information_schema.tables").fetchall()
        if ("runs",) not in tables:
            return 0, 0
        row = base.execute("SELECT count(*), count(DISTINCT key) FROM runs").fetchone()
    return row or (0, 0)


def train(folder: str) -> Path:
    """A small pre-training of a few seconds."""
    from reknit.algorithms.learned.ml_dagl.curriculum import Curriculum
    from reknit.algorithms.learned.ml_dagl.dgcn import Shape
    from reknit.algorithms.learned.ml_dagl.pretrain import pretrain
    from reknit.algorithms.learned.ml_dagl.recipe import relaxed_recipe

    recipe = replace(
        relaxed_recipe(),
        shape=Shape(2, hidden=16, blocks=1),
        curriculum=Curriculum(2, size_range=(12, 24), largest=30),
        steps=12,
        batch=2,
        inner_iterations=2,
        validate_every=6,
        checkpoint_every=1,
        validation=((20, 10),),
        validation_cases=2,
        validation_iterations=(0, 2),
    )
    return pretrain(recipe, folder)


def _killed_training(rng: random.Random, folder: Path) -> Outcome:
    from reknit.algorithms.learned.common.weights import read_manifest

    out = folder / "killed"
    out.mkdir()
    program = "import sys; from campaign.processes import train; train(sys.argv[1])"
    killed = 0
    for _ in range(3):
        if not _start_and_kill([sys.executable, "-c", program, str(out)], out, rng):
            break
        killed += 1
    resumed, whole = read_manifest(train(str(out))), read_manifest(train(str(folder / "whole")))
    facts = ("sha256", "loss_curve", "validation_curve", "steps_trained")
    findings = tuple(
        f"{fact} differs from that of an undisturbed training after {killed} kills"
        for fact in facts
        if resumed[fact] != whole[fact]
    )
    return Outcome(killed, findings, {"training_kills": killed})
