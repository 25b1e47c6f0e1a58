"""Where ranks are converted: in this process, in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Callable, Optional

from converter.errors import UserError
from converter.messages import message
from converter.processes import submit, worker_pool

Work = Callable[..., Any]
Lost = Callable[[Any, str], Any]  # (task, why) → the result that stands for a task whose process went away

KILLED = message("rank.killed",
                 "its process was ended from outside, probably because memory ran out: use fewer --jobs, or a machine with more memory")


def run_here(
    work: Work, tasks: list[Any], arguments: tuple[Any, ...], update: Optional[Callable[[str, float], None]] = None
) -> Iterator[Any]:
    """One task after the other in this process; `update` is handed on as the last argument."""
    for task in tasks:
        yield work(task, *arguments, update)


def run_in_processes(work: Work, tasks: list[Any], arguments: tuple[Any, ...], jobs: int, lost: Lost) -> Iterator[Any]:
    """At most `jobs` tasks at once, twice as many handed out, so that memory stays bounded; results as they finish.

    When a process is killed, the tasks that are not finished run again, one at a time: the one that is killed again is lost.
    """
    waiting = deque(tasks)
    broken: list[Any] = []
    with worker_pool(jobs) as pool:
        running: dict[Future[Any], Any] = {}
        while (waiting or running) and not broken:
            try:
                while waiting and len(running) < 2 * jobs:
                    future = submit(pool, work, waiting[0], *arguments)
                    running[future] = waiting.popleft()
            except BrokenProcessPool:
                break
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                task = running.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    broken.append(task)
                    continue
                yield result
    for task in itertools.chain(broken, running.values(), waiting):
        yield _alone(work, task, arguments, lost)


def _alone(work: Work, task: Any, arguments: tuple[Any, ...], lost: Lost) -> Any:
    try:
        with worker_pool(1) as pool:
            return submit(pool, work, task, *arguments).result()
    except BrokenProcessPool:
        return lost(task, KILLED)


def run_on_ray(work: Work, tasks: list[Any], arguments: tuple[Any, ...], lost: Lost, limit: int = 0) -> Iterator[Any]:
    """On the Ray cluster that RAY_ADDRESS or a running head node names; results as they finish.

    Args:
        lost: also for a task that fails on a node in a way that no local one could (its worker died, a package is missing).
        limit: most tasks handed out at a time; 0 = twice the cluster's processors.
    Raises:
        UserError: Ray is not installed, or no cluster can be reached.
        OSError: a result could not be written.
    """
    try:
        import ray
    except ImportError:
        raise UserError(message("engine.no_ray", '--engine ray needs Ray: run pip install "tb_graph_ascend[ray]"')) from None
    started = False
    if not ray.is_initialized():
        try:
            ray.init(address="auto", log_to_driver=False, logging_level="error")
        except (ConnectionError, RuntimeError, ValueError) as error:
            advice = message("engine.ray_advice", "start one with `ray start --head`, or set RAY_ADDRESS")
            raise UserError(message("engine.no_cluster", "--engine ray: no Ray cluster can be reached ({why}): {advice}",
                                    why=_first_line(error), advice=advice)) from None
        started = True
    running: dict[Any, Any] = {}
    try:
        remote = ray.remote(num_cpus=1, max_retries=1)(work)
        most = limit or max(2 * int(ray.cluster_resources().get("CPU", 1)), 2)
        waiting = deque(tasks)
        while waiting or running:
            while waiting and len(running) < most:
                task = waiting.popleft()
                running[remote.remote(task, *arguments)] = task
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                task = running.pop(reference)
                try:
                    result = ray.get(reference)
                except ray.exceptions.RayError as error:
                    cause = getattr(error, "cause", None) or error
                    if isinstance(cause, OSError):
                        raise cause from None
                    result = lost(task, f"{type(cause).__name__}: {_first_line(cause)}")
                yield result
    finally:
        for reference in running:  # interrupted: nobody waits for them, and they must not write any more
            ray.cancel(reference, force=True)
        if started:
            ray.shutdown()


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
