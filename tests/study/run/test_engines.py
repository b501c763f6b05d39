"""Where runs are carried out: in processes of their own, with one thread each."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import torch

import reknit
from reknit.study.run import engines
from reknit.study.spec.task import Task


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_has_one_thread_and_this_process_keeps_its_own(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One at a time or two, runs take place in other processes and change nothing in this one."""

    def tell(task: Task) -> dict[str, Any]:
        import os

        import torch

        return {"process": os.getpid(), "threads": torch.get_num_threads()}

    def refuse(count: int) -> None:
        raise AssertionError(f"the number of threads was set to {count}")

    monkeypatch.setattr(engines, "run_task", tell)
    monkeypatch.setattr(torch, "set_num_threads", refuse)
    tasks = reknit.load_study("optimality").tasks("quick")[:4]
    rows = [row for _, row in engines.carry_out(tasks, "joblib", workers, None)]
    assert [row["threads"] for row in rows] == [1] * 4
    assert os.getpid() not in {row["process"] for row in rows}
    assert len({row["process"] for row in rows}) <= workers


_TELL_THREADS = """
import reknit
from reknit.study.run import engines

def tell(task):
    import torch

    return {"threads": torch.get_num_threads()}

engines.run_task = tell
tasks = reknit.load_study("optimality").tasks("quick")[:2]
print([row["threads"] for _, row in engines.carry_out(tasks, "ray", 1, None)])
"""


@pytest.mark.long
def test_a_run_on_a_cluster_has_one_thread_whatever_the_shell_says() -> None:
    """Ray alone would keep the number of threads that the environment asks for."""
    pytest.importorskip("ray")
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": "/tmp"}
    environment = {**os.environ, **quiet, "OMP_NUM_THREADS": "2"}
    words = [sys.executable, "-c", _TELL_THREADS]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[1, 1]"


def test_one_worker_that_dies_costs_its_own_run_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that kills its process is a failed row; the others are there, each once."""
    tasks = reknit.load_study("optimality").tasks("quick")[:4]
    fatal = tasks[1].key

    def die(task: Task) -> dict[str, Any]:
        import os

        if task.key == fatal:
            os._exit(9)
        return {"key": task.key, "ok": True}

    monkeypatch.setattr(engines, "run_task", die)
    rows = list(engines.carry_out(tasks, "joblib", 1, None))
    assert sorted(task.key for task, _ in rows) == sorted(task.key for task in tasks)
    assert [task.key for task, row in rows if not row["ok"]] == [fatal]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("pause_s", [0.0, 2.0], ids=["starting", "at work"])
def test_workers_end_with_the_process_that_started_them(tmp_path: Path, pause_s: float) -> None:
    """After a kill -9 of the runner nobody goes on computing for it, not even a worker that was
    only just being started.
    """
    (tmp_path / "s.toml").write_text(
        'name = "s"\nrepetitions = 2000\n[[planner]]\nname = "certified"\n[[case]]\nuavs = 200\n'
    )
    words = [sys.executable, "-m", "reknit", "study", "run", "s.toml", "--profile", "paper"]
    quiet = subprocess.DEVNULL

    def is_worker(pid: str) -> bool:
        try:
            return b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:  # it has ended
            return False

    with subprocess.Popen([*words, "--workers", "2"], cwd=tmp_path, stdout=quiet, stderr=quiet) as (
        runner
    ):
        try:
            # The system's own list: a command that prints one may cut long lines.
            threads = Path(f"/proc/{runner.pid}/task")
            until = time.monotonic() + 120.0
            workers: list[str] = []
            while len(workers) < 2 and runner.poll() is None and time.monotonic() < until:
                children = [path.read_text().split() for path in threads.glob("*/children")]
                workers = [pid for pid in chain(*children) if is_worker(pid)]
                time.sleep(0.2)
            assert len(workers) == 2, f"{workers}, the runner's exit code is {runner.poll()}"
            time.sleep(pause_s)
        finally:
            runner.kill()
    until = time.monotonic() + 30.0
    while any(map(is_worker, workers)) and time.monotonic() < until:
        time.sleep(0.2)
    assert not any(map(is_worker, workers))
