"""Which directories --logdir and --logdir_spec name."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True)
class LogRoot:
    """One directory to look for graph files in. `prefix` stands before its runs' names: "" or "name/"."""

    prefix: str
    path: str  # local path, or an address of fsspec


def log_roots(logdir: str, logdir_spec: str = "") -> list[LogRoot]:
    """The roots of a TensorBoard process: the one of --logdir, or those of --logdir_spec ("name:path,name:path").

    A part of a specification without a name is known by the last component of its path.
    """
    if logdir:
        return [LogRoot("", _expand(logdir))]
    roots: list[LogRoot] = []
    for part in filter(None, (part.strip() for part in logdir_spec.split(","))):
        name, path = _name_and_path(part)
        path = _expand(path)
        name = name or os.path.basename(path.rstrip("/\\")) or "logs"
        known = {root.prefix for root in roots}
        prefix, again = f"{name}/", 2
        while prefix in known:
            prefix, again = f"{name}_{again}/", again + 1
        roots.append(LogRoot(prefix, path))
    return roots


def _name_and_path(part: str) -> tuple[str, str]:
    """As TensorBoard reads it: an address, an absolute path or a Windows drive is no name before a colon."""
    if ADDRESS.match(part) or part.startswith("/") or os.path.splitdrive(part)[0] or ":" not in part:
        return "", part
    name, _, path = part.partition(":")
    return name, path


def _expand(path: str) -> str:
    return path if ADDRESS.match(path) else os.path.expanduser(path)
