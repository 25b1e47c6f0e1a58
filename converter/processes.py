"""Pools of worker processes that stop when they are told to, so that an interrupted conversion leaves neither a process nor a file."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, Callable

_working = False  # of this worker: it is inside a task
_stopping = False  # of this worker: it was told to stop


@contextmanager
def worker_pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes. Left by an exception, it stops what runs, waits until the workers have cleaned up, and goes.

    Hand work to it with `submit`, not with the pool's own method: only then can it be stopped in the middle.
    """
    pool = ProcessPoolExecutor(processes, initializer=_start_worker)
    try:
        yield pool
    except BaseException:
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()


def submit(pool: ProcessPoolExecutor, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Let a worker of the pool call `work(*arguments)`; told to stop, it raises KeyboardInterrupt there."""
    return pool.submit(_work, work, *arguments)


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal; the parent tells its workers
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _stop(number: int, frame: object) -> None:
    global _stopping
    if _stopping:
        return
    _stopping = True
    if _working:
        raise KeyboardInterrupt
    os._exit(1)


def _work(work: Callable[..., Any], *arguments: Any) -> Any:
    global _working
    _working = True
    try:
        return work(*arguments)
    finally:
        _working = False
        if _stopping:  # not back into the pool's loop: another worker may have ended there with the lock of its queue
            os._exit(1)


def _end_with_parent() -> None:
    """A parent that was killed cannot tell its workers; they would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)
