"""Runs a piece of heavy work in a process of its own: JSON on its standard input, JSON on its standard output.

A process can be ended when it takes too long, leaves the server's other requests alone, and what it needs of memory is gone afterwards.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Any

from tb_graph_ascend.request_checks import RequestProblem
from tb_graph_ascend.texts import INTERNAL, Problem


@dataclass(frozen=True)
class Work:
    """What is run, how often at once, and what a person is told when no more of it can be."""

    module: str
    slots: threading.BoundedSemaphore
    busy: Problem


def environment() -> dict[str, str]:
    """Of a process that is to import what this one can, wherever it has found it."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}


def run_process(work: Work, request: dict[str, Any], time_limit: float, too_slow: Problem) -> tuple[int, Any]:
    """(exit code 0 or 1, answer) of the module's process. Raises RequestProblem where it takes too long, is busy or fails."""
    if not work.slots.acquire(timeout=time_limit):
        raise RequestProblem(work.busy, 503)
    try:
        done = subprocess.run(
            [sys.executable, "-m", work.module],
            input=json.dumps(request).encode("ascii"),
            capture_output=True,
            timeout=time_limit,
            env=environment(),
        )
    except subprocess.TimeoutExpired:
        raise RequestProblem(too_slow, 503) from None
    finally:
        work.slots.release()
    if done.returncode not in (0, 1) or not done.stdout:
        logging.getLogger("tb_graph_ascend").error("%s failed:\n%s", work.module, done.stderr.decode("utf-8", "replace"))
        raise RequestProblem(INTERNAL, 500)
    return done.returncode, json.loads(done.stdout)
