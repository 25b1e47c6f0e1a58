"""CPU time of the main thread of a page: holds on a busy machine too, where times by the clock do not. Linux only; elsewhere 0."""

from __future__ import annotations

import os
from pathlib import Path

PROCESSES = Path("/proc")


def _parent(process: int) -> int:
    try:
        return int((PROCESSES / str(process) / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _is_below(process: int, ancestor: int) -> bool:
    while process > 1:
        if process == ancestor:
            return True
        process = _parent(process)
    return False


def renderers() -> list[int]:
    """Processes below this one in which Chromium runs pages."""
    found: list[int] = []
    for entry in PROCESSES.iterdir() if PROCESSES.is_dir() else []:
        try:
            if entry.name.isdigit() and b"--type=renderer" in (entry / "cmdline").read_bytes() and _is_below(int(entry.name), os.getpid()):
                found.append(int(entry.name))
        except OSError:
            continue  # it has ended
    return found


def cpu_milliseconds(processes: list[int]) -> float:
    """CPU time of their main threads up to now, in ms; processes that have ended count as 0."""
    total = 0.0
    for process in processes:
        try:
            total += int((PROCESSES / str(process) / "task" / str(process) / "schedstat").read_text().split()[0]) / 1e6
        except OSError:
            continue
    return total
