"""Where the runs of a study are carried out: on this machine, or on a Ray cluster."""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from reknit.base.errors import MissingExtra, ReknitError, UnknownName
from reknit.base.types import JsonDict
from reknit.study.run.task import Task, failure, run_task

ENGINES = ("joblib", "ray")
REACH_S = 10.0
"""How long a cluster may take to answer before it counts as dead."""


class NoCluster(ReknitError):
    """A Ray cluster cannot be reached, or does not let us in."""


def carry_out(
    tasks: Sequence[Task], engine: str, workers: int | None, address: str | None
) -> Iterator[tuple[Task, JsonDict]]:
    """Run the tasks, several at a time, and yield each with its row as it is finished."""
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    return _on_ray(tasks, workers, address) if engine == "ray" else _on_joblib(tasks, workers)


def _on_joblib(tasks: Sequence[Task], workers: int | None) -> Iterator[tuple[Task, JsonDict]]:
    joblib = _import("joblib", "a study", "study")
    died: Any = import_module("joblib.externals.loky.process_executor").TerminatedWorkerError
    count = min(workers or os.cpu_count() or 1, max(1, len(tasks)))
    if count == 1:
        for task in tasks:
            yield task, run_task(task)
        return

    # joblib puts a fresh worker in the place of one that has grown, and nothing is lost by it.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")

    def several(some: Sequence[Task]) -> Iterator[JsonDict]:
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            jobs = (joblib.delayed(run_task)(task) for task in some)
            pool = joblib.Parallel(n_jobs=count, return_as="generator_unordered", batch_size=1)
            rows = pool(jobs)
            try:
                for row in rows:  # noqa: UP028 (`yield from` would close `rows` too early)
                    yield row
            finally:
                # Whoever stops in the middle knows that some runs were under way.
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rows.close()

    left = {task.key: task for task in tasks}
    while left:
        try:
            for row in several(list(left.values())):
                yield left.pop(row["key"]), row
        except died:
            # A worker was killed, for want of memory say. Nobody tells which run did it, so
            # those that were under way (joblib hands out two per worker) are tried one by one.
            for task in list(left.values())[: 2 * count]:
                del left[task.key]
                try:
                    yield task, next(several([task]))
                except died as error:
                    yield task, failure(task, error)


def _on_ray(
    tasks: Sequence[Task], workers: int | None, address: str | None
) -> Iterator[tuple[Task, JsonDict]]:
    ray = _import("ray", "the engine 'ray'", "cluster")
    mine = not ray.is_initialized()
    if mine:
        _check_reachable(address)
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
        remote = ray.remote(num_cpus=1)(run_task)
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


def _check_reachable(address: str | None) -> None:
    """Ray itself waits for minutes for a cluster that is not there; this asks its port first."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not host:
        return  # this machine, or "auto", which Ray looks up itself
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_S).close()
    except ValueError:
        raise NoCluster(f"Ray at {address}: allowed: auto, or host:port") from None
    except OSError as error:
        reason = error.strerror or str(error) or "no answer"
        raise NoCluster(f"Ray at {address}: not reached within {REACH_S:g} s: {reason}") from error


def _import(name: str, what: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtra(what, extra) from error
