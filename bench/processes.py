"""One command measured from outside: wall clock, processor time of it and all its children, memory."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from dataclasses import dataclass

_SAMPLE_SECONDS = 0.02


@dataclass(frozen=True)
class Measured:
    """Seconds and bytes."""

    wall: float
    cpu: float  # user + system, of the process and of all that it waited for
    largest: int  # peak resident memory of the largest single process
    together: int  # highest sum over all processes alive at once, shared pages counted once; 0 = not sampled
    output: str  # what it printed


class CommandFailed(Exception):
    """The command ended with an error; the text is its last output."""


def measure(command: list[str], directory: str, memory: bool = False) -> Measured:
    """Run a command to its end. With `memory` its processes are sampled, which costs processor time: take no times then.

    Raises:
        CommandFailed: the exit code is not 0.
    """
    begin = time.perf_counter()
    with subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        sampler = _Sampler(process.pid) if memory else None
        assert process.stdout is not None
        output = process.stdout.read()
        # wait4, unlike Popen.wait, tells what the process used, with its children.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
    together = sampler.stop() if sampler else 0
    if process.returncode:
        raise CommandFailed(f"exit code {process.returncode}: {' '.join(command)}\n{output[-2000:]}")
    return Measured(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, together, output)


class _Sampler:
    """A thread that adds up the proportional memory of a process and its descendants again and again."""

    def __init__(self, pid: int) -> None:
        self._pid, self._highest, self._done = pid, 0, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        self._done.set()
        self._thread.join()
        return self._highest

    def _run(self) -> None:
        while not self._done.wait(_SAMPLE_SECONDS):
            self._highest = max(self._highest, sum(_proportional_bytes(pid) for pid in _descendants(self._pid)))


def _descendants(pid: int) -> list[int]:
    found, position = [pid], 0
    while position < len(found):
        try:
            for task in os.listdir(f"/proc/{found[position]}/task"):
                with open(f"/proc/{found[position]}/task/{task}/children", encoding="ascii") as stream:
                    found.extend(int(child) for child in stream.read().split())
        except OSError:
            pass  # it has just ended
        position += 1
    return found


def _proportional_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as stream:
            for line in stream:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def directory_bytes(directory: str) -> int:
    """Size of all files below a directory."""
    return sum(os.path.getsize(os.path.join(folder, file)) for folder, _, files in os.walk(directory) for file in files)
