"""Where the runs of a study are carried out: on this machine, or on a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from reknit.errors import MissingExtra, UnknownName
from reknit.study.task import Task, run_task
from reknit.types import JsonDict

ENGINES = ("joblib", "ray")


def carry_out(
    tasks: Sequence[Task], engine: str, workers: int | None, address: str | None
) -> Iterator[tuple[Task, JsonDict]]:
    """Run the tasks, several at a time, and yield each with its row as it is finished."""
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    return _on_ray(tasks, workers, address) if engine == "ray" else _on_joblib(tasks, workers)


def _on_joblib(tasks: Sequence[Task], workers: int | None) -> Iterator[tuple[Task, JsonDict]]:
    try:
        from joblib import Parallel, delayed, parallel_config
    except ModuleNotFoundError as error:
        raise MissingExtra("a study", "study") from error
    cores = os.cpu_count() or 1
    count = min(workers or cores, max(1, len(tasks)))
    threads = max(1, cores // count)
    if count == 1:
        for task in tasks:
            yield task, run_task(task, threads)
        return
    by_key = {task.key: task for task in tasks}
    with parallel_config(backend="loky", inner_max_num_threads=threads):
        jobs = (delayed(run_task)(task, threads) for task in tasks)
        rows = Parallel(n_jobs=count, return_as="generator_unordered", batch_size=1)(jobs)
        for row in rows:
            yield by_key[row["key"]], row


def _on_ray(
    tasks: Sequence[Task], workers: int | None, address: str | None
) -> Iterator[tuple[Task, JsonDict]]:
    try:
        ray: Any = import_module("ray")
    except ModuleNotFoundError as error:
        raise MissingExtra("the engine 'ray'", "cluster") from error
    mine = not ray.is_initialized()
    if mine:
        cores = None if address else workers or os.cpu_count()
        ray.init(
            address=address,
            num_cpus=cores,
            include_dashboard=False,
            logging_level="error",
            log_to_driver=False,
        )
    try:
        remote = ray.remote(num_cpus=1)(run_task)
        room = workers or int(ray.cluster_resources().get("CPU", 1))
        waiting = iter(tasks)
        under_way: dict[object, Task] = {}
        while True:
            for task in waiting:
                under_way[remote.remote(task, 1)] = task
                if len(under_way) >= 2 * room:
                    break
            if not under_way:
                return
            ready, _ = ray.wait(list(under_way), num_returns=1)
            yield under_way.pop(ready[0]), ray.get(ready[0])
    finally:
        if mine:
            ray.shutdown()
