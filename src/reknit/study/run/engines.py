"""Where the runs of a study are carried out: on this machine, or on a Ray cluster."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from functools import cache
from importlib import import_module
from typing import Any

from reknit.base.errors import InvalidParameter, MissingExtra, NoCluster
from reknit.base.types import JsonDict
from reknit.base.values import check_known
from reknit.study.run.task import failure, run_task
from reknit.study.spec.task import Task

ENGINES = ("joblib", "ray")
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR")
}
"""What keeps the numerical libraries of a worker to one thread; read when they are loaded."""
IDLE_S = 300.0
"""How long workers without work are kept for the next study."""
WATCH_S = 1.0
"""How often a worker looks whether it is still wanted."""
REACH_S = 10.0
"""How long a cluster's port may take to answer before the cluster counts as dead."""
ENTER_S = 30.0
"""How long a cluster that answers may take to let us in, which takes seconds."""


def _end_with(parent: int) -> None:
    """In a worker: end when the process that started it has ended, however and whenever that came,
    be it while the worker was starting.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _pool(loky: Any, workers: int) -> Any:
    """So many workers; those of an earlier call, if they are still there."""
    return loky.get_reusable_executor(
        max_workers=workers,
        env=ONE_THREAD,
        timeout=IDLE_S,
        initializer=_end_with,
        initargs=(os.getpid(),),
    )


def check_engine(engine: str, address: str | None) -> None:
    """Raise unless the engine exists, its library is installed and its cluster answers."""
    check_known("engine", engine, ENGINES)
    if address is not None and not isinstance(address, str):
        raise InvalidParameter("address", address, "None or the address of a Ray cluster, as text")
    if engine == "ray" and not _ray().is_initialized():
        _check_reachable(_address(address))


def carry_out(
    tasks: Sequence[Task], engine: str, workers: int | None, address: str | None
) -> Iterator[tuple[Task, JsonDict]]:
    """Run the tasks, several at a time, and yield each with its row as it is finished.

    They are run in processes of their own, with one thread each, also if it is one at a time:
    several do not fight over cores, sums come out the same with any number of workers, and the
    process that asks keeps its threads as they are. The engine is one that `check_engine` passed.
    """
    return _on_ray(tasks, workers, address) if engine == "ray" else _on_joblib(tasks, workers)


def _on_joblib(tasks: Sequence[Task], workers: int | None) -> Iterator[tuple[Task, JsonDict]]:
    loky = _import("joblib.externals.loky", "a study", "study")
    died: Any = import_module("joblib.externals.loky.process_executor").TerminatedWorkerError
    count = min(workers or os.cpu_count() or 1, max(1, len(tasks)))
    # joblib puts a fresh worker in the place of one that has grown, and nothing is lost by it.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
    waiting = deque(tasks)
    while waiting:
        under_way: dict[Any, Task] = {}
        # joblib's own front end would run in this process if there is one worker.
        pool = _pool(loky, count)
        try:
            while waiting or under_way:
                while waiting and len(under_way) < 2 * count:
                    future = pool.submit(run_task, waiting[0])
                    under_way[future] = waiting.popleft()
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    row = future.result()
                    yield under_way.pop(future), row
        except died:
            # A worker was killed, for want of memory say. Nobody tells which run did it, so
            # those that were under way are tried one by one.
            for task in under_way.values():
                yield task, _alone(task, loky, died)
            under_way.clear()
        finally:
            if under_way:  # whoever asked has stopped in the middle
                pool.shutdown(wait=True, kill_workers=True)


def _alone(task: Task, loky: Any, died: Any) -> JsonDict:
    """The row of a run that has the workers for itself."""
    pool = _pool(loky, 1)
    try:
        row: JsonDict = pool.submit(run_task, task).result()
    except died as error:
        return failure(task, error)
    return row


def _on_ray(
    tasks: Sequence[Task], workers: int | None, address: str | None
) -> Iterator[tuple[Task, JsonDict]]:
    ray = _ray()
    mine = not ray.is_initialized()
    if mine:
        address = _address(address)
        cores = None if address else workers or os.cpu_count()
        try:
            ray.init(
                address=address,
                num_cpus=cores,
                include_dashboard=False,
                logging_level="error",
                log_to_driver=False,
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise NoCluster(f"Ray at {address or 'this machine'}: {reason}") from error
    try:
        # By itself Ray does so too, but not where the variables are set already.
        remote = ray.remote(num_cpus=1, runtime_env={"env_vars": ONE_THREAD})(run_task)
        room = workers or int(ray.cluster_resources().get("CPU", 1))
        waiting = iter(tasks)
        under_way: dict[object, Task] = {}
        while True:
            for task in waiting:
                under_way[remote.remote(task)] = task
                if len(under_way) >= 2 * room:
                    break
            if not under_way:
                return
            ready, _ = ray.wait(list(under_way), num_returns=1)
            task = under_way.pop(ready[0])
            try:
                row = ray.get(ready[0])
            except ray.exceptions.RayError as error:
                row = failure(task, error)
            yield task, row
    finally:
        if mine:
            ray.shutdown()


def _ray() -> Any:
    return _import("ray", "the engine 'ray'", "cluster")


def _address(given: str | None) -> str | None:
    """Where nobody says which cluster, Ray takes the one that its variable names."""
    return os.environ.get("RAY_ADDRESS") or None if given is None else given


def _check_reachable(address: str | None) -> None:
    """Ray itself waits for minutes for a cluster that is not there; this asks its port first."""
    if address in (None, "local"):
        return  # on this machine, started when it is needed
    if address != "auto":  # which Ray looks up itself
        host, _, port = str(address).removeprefix("ray://").rpartition(":")
        try:
            if not host:
                raise ValueError
            socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_S).close()
        except ValueError:
            raise NoCluster(f"Ray at {address!r}: allowed: auto, local, or host:port") from None
        except OSError as error:
            reason = error.strerror or str(error) or "no answer"
            text = f"Ray at {address}: not reached within {REACH_S:g} s: {reason}"
            raise NoCluster(text) from error
    _check_entry(str(address))


_ENTER = """
import sys, ray
try:
    ray.init(address=sys.argv[1], logging_level="error", log_to_driver=False)
except (ConnectionError, RuntimeError, ValueError, ImportError) as error:
    sys.exit("REASON" + (str(error).strip() or type(error).__name__).splitlines()[0])
"""


@cache
def _check_entry(address: str) -> None:
    """Enter and leave a cluster in a process that can be ended: what listens at a port may be
    something else, on which Ray waits without an end, and its native part writes about it.
    """
    words = [sys.executable, "-c", _ENTER, address]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=ENTER_S)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise NoCluster(f"Ray at {address}: no answer within {ENTER_S:g} s") from None
    if done.returncode:
        reason = done.stderr.rpartition("REASON")[2].strip().splitlines() or ["no answer"]
        raise NoCluster(f"Ray at {address}: {reason[0]}")


def _import(name: str, what: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtra(what, extra) from error
