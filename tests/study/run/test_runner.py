"""Running, resuming, and running elsewhere give the same table."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

from reknit.base.errors import (
    InvalidParameter,
    MissingExtra,
    NoCluster,
    ReknitError,
    StoreRefused,
)
from reknit.base.types import JsonDict
from reknit.study.run import engines, runner
from reknit.study.run.runner import run_study
from reknit.study.run.task import run_task
from reknit.study.spec.study import Study, load_study
from reknit.study.spec.task import Task
from reknit.study.store import TIMINGS, Store
from tests.study.conftest import TEXT


def table(path: Path, study: Study) -> list[JsonDict]:
    """All stored values but the timings."""
    with Store(path, study, read_only=True) as store:
        rows = store.rows(study.tasks("paper"))
    return [{name: row[name] for name in row if name not in TIMINGS} for row in rows]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[JsonDict]:
    """The table of an uninterrupted run on one core."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.toml").write_text(TEXT)
    study = load_study(folder / "small.toml")
    run_study(study, folder / "store.duckdb", profile="paper", workers=1)
    return table(folder / "store.duckdb", study)


def test_a_whole_run_has_every_row(whole: list[JsonDict], study: Study) -> None:
    """One good row per run, with real figures in it."""
    assert len(whole) == 36
    assert all(row["ok"] for row in whole)
    assert all(row["charged_time_s"] >= row["lower_bound_s"] > 0 for row in whole)


def test_two_workers_give_the_same_table(
    whole: list[JsonDict], study: Study, tmp_path: Path
) -> None:
    """Several processes at a time change nothing but the timings."""
    summary = run_study(study, tmp_path / "s.duckdb", profile="paper", workers=2)
    assert (summary.total, summary.before, summary.now, summary.failed) == (36, 0, 36, 0)
    assert table(tmp_path / "s.duckdb", study) == whole


def test_ray_gives_the_same_table(whole: list[JsonDict], study: Study, tmp_path: Path) -> None:
    """A real local Ray, through the same code, gives the same values."""
    program = (
        "import sys; from pathlib import Path; from reknit.study.run.runner import run_study;"
        "from reknit.study.spec.study import load_study;"
        "run_study(load_study(sys.argv[1]), Path(sys.argv[2]), profile='paper', engine='ray')"
    )
    words = [
        sys.executable,
        "-c",
        program,
        str(tmp_path / "small.toml"),
        str(tmp_path / "s.duckdb"),
    ]
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": "/tmp"}
    subprocess.run(words, check=True, env=environment, capture_output=True, timeout=280)
    assert table(tmp_path / "s.duckdb", study) == whole


@pytest.mark.long
def test_a_ray_that_is_already_there_gives_the_same_table(
    whole: list[JsonDict], study: Study, tmp_path: Path
) -> None:
    """With --address auto the runs go to a cluster that somebody else has started, and it is
    left running.
    """
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="rk") as folder:  # sockets: short names
        environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": folder}
        cluster = subprocess.Popen(
            [
                *(sys.executable, "-c"),
                "import ray, time; ray.init(num_cpus=2, include_dashboard=False);"
                "print('ready', flush=True); time.sleep(280)",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        try:
            assert cluster.stdout is not None
            assert any(line == "ready\n" for line in cluster.stdout)
            command = [
                *(sys.executable, "-c", "from reknit.cli import main; main()"),
                *("study", "run", str(tmp_path / "small.toml"), "--profile", "paper"),
                *("--engine", "ray", "--address", "auto", "--out", str(tmp_path)),
            ]
            subprocess.run(command, check=True, env=environment, capture_output=True, timeout=280)
            assert cluster.poll() is None
        finally:
            cluster.terminate()
            cluster.communicate()
    assert table(tmp_path / "small-paper.duckdb", study) == whole
    with Store(tmp_path / "small-paper.duckdb", study, read_only=True) as store:
        assert "a Ray cluster" in store.sessions()[0].workers


def test_a_cluster_that_cannot_be_reached_is_a_typed_error(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line that names the address; nothing is counted as run."""
    ray = pytest.importorskip("ray")

    def refuse(**_: object) -> None:
        raise ConnectionError("Failed to connect\nand more")

    monkeypatch.setattr(ray, "init", refuse)
    monkeypatch.setattr(engines, "ENTER_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:  # something else, which says nothing
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(NoCluster, match=rf"^Ray at {address}: no answer within 1 s$"):
            run_study(study, tmp_path / "s.duckdb", engine="ray", address=address)
    # Now nobody listens there: told before Ray begins to wait, which `refuse` would show.
    for dead in (address, f"ray://{address}", "127.0.0.1:port", "no.such.host.invalid:1", "", ":1"):
        with pytest.raises(NoCluster, match=rf"^Ray at '?{dead}'?: (not reached|allowed)"):
            run_study(study, tmp_path / "s.duckdb", engine="ray", address=dead)
    with monkeypatch.context() as patch:
        patch.setenv("RAY_ADDRESS", address)
        with pytest.raises(NoCluster, match=rf"^Ray at {address}: not reached"):
            run_study(study, tmp_path / "s.duckdb", engine="ray")
    assert not (tmp_path / "s.duckdb").exists()
    with pytest.raises(NoCluster, match=r"^Ray at this machine: Failed to connect$"):
        run_study(study, tmp_path / "s.duckdb", engine="ray")
    assert run_study(study, tmp_path / "s.duckdb", workers=1).before == 0


def stored_bytes(store: Path) -> int:
    """Size of the results file and its log, which grow with every finished run."""
    log = store.with_name(store.name + ".wal")
    return sum(path.stat().st_size for path in (store, log) if path.exists())


def kill_in_the_middle(command: list[str], store: Path, writes: int, pause_s: float) -> bool:
    """Start a study and SIGKILL it, with all its children, a moment after so many writes.
    Whether it was still running then.
    """
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        size = stored_bytes(store)
        while writes and process.poll() is None:
            time.sleep(0.002)
            if stored_bytes(store) != size:
                size = stored_bytes(store)
                writes -= 1
        time.sleep(pause_s)
        return process.poll() is None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.long
def test_a_killed_study_goes_on_where_it_was(
    whole: list[JsonDict], study: Study, tmp_path: Path
) -> None:
    """SIGKILL at random moments, many times, all while it ran: nothing is lost, nothing is done
    twice, and the table is that of an uninterrupted run.
    """
    command = [
        *(sys.executable, "-c", "from reknit.cli import main; main()"),
        *("study", "run", str(tmp_path / "small.toml"), "--profile", "paper"),
        *("--workers", "1", "--out", str(tmp_path), "--json"),
    ]
    store = tmp_path / "small-paper.duckdb"
    rng = random.Random(3)
    kills = 0
    counts = [0]
    # The first write is the runner's own; every second one after it completes a run.
    while kill_in_the_middle(command, store, rng.randint(2, 10), rng.uniform(0.0, 0.03)):
        kills += 1
        with duckdb.connect(str(store)) as base:
            found = base.execute("SELECT count(*), count(DISTINCT key) FROM runs").fetchall()
        rows, keys = found[0]
        assert rows == keys >= counts[-1]
        counts.append(rows)
    run_study(study, store, profile="paper", workers=1)
    assert kills >= 5, "the kills did not land while it ran"
    assert len({count for count in counts if 0 < count < 36}) >= 4, "not in the middle of the work"
    assert table(store, study) == whole


def test_a_failing_run_is_recorded_and_the_rest_goes_on(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planner that raises leaves a row with its error; --retry runs it again."""
    path = tmp_path / "s.duckdb"
    bad = study.tasks("quick")[4].key
    real = engines.carry_out

    def failing(tasks, *rest):  # type: ignore[no-untyped-def]
        for task, row in real(tasks, *rest):
            broken = {"key": task.key, "ok": False, "error": "ValueError: on purpose"}
            yield task, broken if task.key == bad else row

    monkeypatch.setattr(runner, "carry_out", failing)
    summary = run_study(study, path, workers=1)
    assert (summary.failed, summary.first_failure) == (1, "sidr: ValueError: on purpose")
    monkeypatch.setattr(runner, "carry_out", real)
    again = run_study(study, path, workers=1)
    assert (again.now, again.failed) == (0, 1)
    healed = run_study(study, path, workers=1, retry=True)
    assert (healed.now, healed.failed) == (1, 0)


def test_an_exception_in_a_run_becomes_a_row(study: Study) -> None:
    """What a planner raises is kept as text."""
    from dataclasses import replace

    row = run_task(replace(study.tasks("quick")[0], uavs=20, destroyed=0))
    assert not row["ok"]
    assert "NoSplitFound" in row["error"]


def test_stores_of_others_are_refused_unharmed(study: Study, tmp_path: Path) -> None:
    """Another study, another form of it, another version, no store at all: refused, untouched."""
    path = tmp_path / "s.duckdb"
    run_study(study, path, workers=1)
    before = table(path, study)
    other = study.model_copy(update={"name": "other"})
    changed = study.model_copy(update={"seed": 41})
    for wrong, told in ((other, "another study"), (changed, "another form")):
        with pytest.raises(StoreRefused, match=told):
            run_study(wrong, path, workers=1)
    assert table(path, study) == before
    with duckdb.connect(str(path)) as base:
        base.execute("UPDATE about SET value = '0.0.0' WHERE name = 'reknit'")
    with pytest.raises(StoreRefused, match="another version"):
        run_study(study, path, workers=1)
    garbage = tmp_path / "garbage.duckdb"
    garbage.write_bytes(b"not a database, but somebody's file" * 100)
    with pytest.raises(StoreRefused):
        run_study(study, garbage, workers=1)
    assert garbage.read_bytes() == b"not a database, but somebody's file" * 100
    foreign = tmp_path / "foreign.duckdb"
    with duckdb.connect(str(foreign)) as base:
        base.execute("CREATE TABLE mine (x INTEGER)")
    with pytest.raises(StoreRefused, match="not a results file"):
        run_study(study, foreign, workers=1)


def test_the_second_runner_is_told(study: Study, tmp_path: Path) -> None:
    """Two runners on one store: the second gets a typed error, the first goes on."""
    path = tmp_path / "s.duckdb"
    holder = subprocess.Popen(
        [
            *(sys.executable, "-c"),
            "import sys, time; from pathlib import Path; from reknit.study.store import Store;"
            "from reknit.study.spec.study import load_study;"
            "store = Store(Path(sys.argv[1]), load_study(sys.argv[2]));"
            "print('open', flush=True); time.sleep(60)",
            str(path),
            str(tmp_path / "small.toml"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StoreRefused, match="another runner"):
            run_study(study, path, workers=1)
    finally:
        holder.kill()
        holder.communicate()
    time.sleep(0.1)
    assert run_study(study, path, workers=1).now == 24


LIMITED = (
    "import resource, sys; from reknit.cli import main;"
    "room = int(sys.argv.pop(1)); _, most = resource.getrlimit(resource.RLIMIT_FSIZE);"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (room, most)); main()"
)
"""The command line in a process whose files cannot grow beyond so many bytes."""


def run_with_room(room: int, folder: Path, workers: int) -> subprocess.CompletedProcess[str]:
    words = [
        *(sys.executable, "-c", LIMITED, str(room)),
        *("study", "run", str(folder / "small.toml"), "--profile", "paper"),
        *("--out", str(folder / "out"), "--workers", str(workers)),
    ]
    return subprocess.run(words, capture_output=True, text=True, timeout=280, check=False)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_stops_loudly_and_keeps_what_was_stored(
    whole: list[JsonDict], study: Study, tmp_path: Path, workers: int
) -> None:
    """The database's own write fails in the middle: one line, exit code 2, earlier runs are
    there, and with room again the rest is done and the table is that of an undisturbed run.
    """
    path = tmp_path / "out" / "small-paper.duckdb"
    with Store(path, study):
        pass
    done = run_with_room(20_000, tmp_path, workers)
    assert done.returncode == 2
    assert done.stderr.startswith("reknit: ")
    assert done.stderr.count("\n") == 1
    assert "could not be stored" in done.stderr
    with Store(path, study, read_only=True) as store:
        kept = store.done()
    assert 0 < len(kept) < 36
    assert run_study(study, path, profile="paper", workers=1).before == len(kept)
    assert table(path, study) == whole


def test_a_disk_that_is_full_from_the_start_is_left_clean(study: Study, tmp_path: Path) -> None:
    """No half-made store stays behind that a later run would stumble over."""
    done = run_with_room(5_000, tmp_path, 1)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_a_worker_that_dies_is_one_failed_run(
    whole: list[JsonDict], study: Study, tmp_path: Path
) -> None:
    """A run that takes its process down with it is recorded; all others have their values."""
    tasks = study.tasks("paper")
    program = (
        "import os; from pathlib import Path; import reknit.study.run.engines as engines;"
        "from reknit.study.run.runner import run_study;"
        "from reknit.study.spec.study import load_study;"
        "from tests.study.run.test_runner import dying; engines.run_task = dying;"
        "run_study(load_study('small.toml'), Path('s.duckdb'), profile='paper', workers=2)"
    )
    environment = {**os.environ, "REKNIT_TEST_DIES": tasks[7].key}
    home = str(Path(__file__).parents[3])
    environment["PYTHONPATH"] = os.pathsep.join([environment.get("PYTHONPATH", ""), home])
    words = [sys.executable, "-c", program]
    subprocess.run(
        words, check=True, cwd=tmp_path, env=environment, capture_output=True, timeout=280
    )
    found = table(tmp_path / "s.duckdb", study)
    assert [row["ok"] for row in found] == [task.key != tasks[7].key for task in tasks]
    assert "TerminatedWorkerError" in found[7]["error"]
    assert found[:7] + found[8:] == whole[:7] + whole[8:]


def dying(task: Task) -> JsonDict:
    """Takes the worker down on one chosen run."""
    if task.key == os.environ["REKNIT_TEST_DIES"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_task(task)


def test_paths_may_be_text_and_nothing_else(study: Study, tmp_path: Path) -> None:
    """A path as text works; what is no path is one typed error before any work."""
    few = study.with_planners(["contraction"]).model_copy(update={"repetitions": 1, "profile": {}})
    assert run_study(few, str(tmp_path / "s.duckdb"), workers=1).now == 4
    for wrong in (None, 3, ""):
        with pytest.raises(InvalidParameter, match="path is"):
            run_study(few, wrong, workers=1)  # type: ignore[arg-type]


def test_missing_libraries_say_what_to_install(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without ray the engine says which extra brings it."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"reknit\[cluster\]"):
        run_study(study, tmp_path / "s.duckdb", engine="ray")


@pytest.mark.parametrize("wrong", ["engine", "known"])
def test_a_wrong_argument_leaves_no_results_file(study: Study, tmp_path: Path, wrong: str) -> None:
    """An engine that does not exist and a file that holds no runs are found before any is made."""
    (tmp_path / "other.parquet").write_text("somebody's file")
    given: dict[str, Any] = {"engine": "jolib", "known": tmp_path / "other.parquet"}
    with pytest.raises(ReknitError, match=r"jolib|other\.parquet"):
        run_study(study, tmp_path / "new" / "s.duckdb", **{wrong: given[wrong]})
    assert not (tmp_path / "new").exists()
