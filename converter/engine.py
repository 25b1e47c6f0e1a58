"""Where ranks are converted: in this process, in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from typing import Any, Callable, Optional

from converter.errors import UserError

Work = Callable[..., Any]


def run_here(
    work: Work, tasks: list[Any], arguments: tuple[Any, ...], update: Optional[Callable[[str, float], None]] = None
) -> Iterator[Any]:
    """One task after the other in this process; `update` is handed on as the last argument."""
    for task in tasks:
        yield work(task, *arguments, update)


def run_in_processes(work: Work, tasks: list[Any], arguments: tuple[Any, ...], jobs: int) -> Iterator[Any]:
    """At most `jobs` tasks at once, twice as many handed out, so that memory stays bounded; results as they finish."""
    waiting = iter(tasks)
    with ProcessPoolExecutor(jobs) as pool:
        running = {pool.submit(work, task, *arguments) for task in itertools.islice(waiting, 2 * jobs)}
        try:
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
                running |= {pool.submit(work, task, *arguments) for task in itertools.islice(waiting, len(done))}
        except BaseException:
            for future in running:
                future.cancel()
            raise


def run_on_ray(work: Work, tasks: list[Any], arguments: tuple[Any, ...], limit: int = 0) -> Iterator[Any]:
    """On the Ray cluster that RAY_ADDRESS or a running head node names; results as they finish.

    Args:
        limit: most tasks handed out at a time; 0 = twice the cluster's processors.
    Raises:
        UserError: Ray is not installed, or no cluster can be reached.
    """
    try:
        import ray
    except ImportError:
        raise UserError('--engine ray needs Ray: run pip install "tb_graph_ascend[ray]"') from None
    started = False
    if not ray.is_initialized():
        try:
            ray.init(address="auto", log_to_driver=False, logging_level="error")
        except (ConnectionError, RuntimeError) as error:
            advice = "start one with `ray start --head`, or set RAY_ADDRESS"
            raise UserError(f"--engine ray: no Ray cluster can be reached ({error}): {advice}") from None
        started = True
    try:
        remote = ray.remote(num_cpus=1, max_retries=1)(work)
        most = limit or max(2 * int(ray.cluster_resources().get("CPU", 1)), 2)
        waiting = iter(tasks)
        running = [remote.remote(task, *arguments) for task in itertools.islice(waiting, most)]
        while running:
            done, running = ray.wait(running, num_returns=1)
            for reference in done:
                yield ray.get(reference)
            running += [remote.remote(task, *arguments) for task in itertools.islice(waiting, len(done))]
    finally:
        if started:
            ray.shutdown()
