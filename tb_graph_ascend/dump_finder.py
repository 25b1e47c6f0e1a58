"""Finds dump directories below the log directories, for converting in the browser."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from converter.graphfile.source import is_remote
from tb_graph_ascend.log_roots import LogRoot

DUMP_FILE = "dump.json"
LEVELS = re.compile(r"(step|rank)\d*|dump_tensor_data")
MOST_DIRECTORIES = 50_000
TIME_LIMIT = 5.0  # seconds


@dataclass(frozen=True)
class DumpDirectory:
    """What -tp or -gp may name."""

    name: str  # prefix and path relative to the log directory
    path: str
    ranks: int  # dumps in it


def find_dumps(roots: list[LogRoot]) -> list[DumpDirectory]:
    """Directories of whole dumps (all steps and ranks together), by name. Links are not followed, so nothing outside is listed."""
    found: dict[str, DumpDirectory] = {}
    deadline = time.monotonic() + TIME_LIMIT
    for root in roots:
        if is_remote(root.path):
            continue
        counts: dict[str, int] = {}
        for path in _directories_with_dumps(root.path, deadline):
            whole = _whole(path, root.path)
            counts[whole] = counts.get(whole, 0) + 1
        for path, count in counts.items():
            relative = os.path.relpath(path, root.path).replace(os.sep, "/")
            name = f"{root.prefix}{relative}" if relative != "." else (root.prefix.rstrip("/") or ".")
            found[name] = DumpDirectory(name, path, count)
    return [found[name] for name in sorted(found)]


def _directories_with_dumps(root: str, deadline: float) -> Iterator[str]:
    pending, seen = [root], 0
    while pending and seen < MOST_DIRECTORIES and time.monotonic() < deadline:
        path = pending.pop()
        seen += 1
        try:
            with os.scandir(path) as listing:
                entries = list(listing)
        except OSError:
            continue
        if any(entry.name == DUMP_FILE and entry.is_file() for entry in entries):
            yield path  # tensor files lie below it, nothing else
            continue
        pending.extend(entry.path for entry in entries if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."))


def _whole(path: str, root: str) -> str:
    """The directory above all steps and ranks that a dump belongs to."""
    while os.path.normpath(path) != os.path.normpath(root) and LEVELS.fullmatch(os.path.basename(path)):
        path = os.path.dirname(path)
    return path
