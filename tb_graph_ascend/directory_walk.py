"""Walks a log directory, local or remote, and yields the directories that hold graph files or a manifest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from converter.graphfile.manifest import MANIFEST_NAME, UNFINISHED_PREFIX
from converter.graphfile.source import is_remote, remote_files
from tb_graph_ascend.metadata import GRAPH_SUFFIX


@dataclass(frozen=True)
class Found:
    """A directory with something of ours in it. `relative` has "/" between components and is "" for the root."""

    relative: str
    path: str
    files: tuple[str, ...]  # names of manifest and graph files, sorted


def walk(root: str) -> Iterator[Found]:
    """All such directories at any depth, but for conversions that are not finished; nothing where the root is missing or cannot be listed.

    Symbolic links are followed after everything that lies below the root itself, and no directory is visited twice, so
    that a link to a run does not list it again and a loop ends. A directory that may not be listed is passed over.
    """
    return _walk_remote(root) if is_remote(root) else _walk_local(root)


def _walk_local(root: str) -> Iterator[Found]:
    visited: set[tuple[int, int]] = set()
    links: list[tuple[str, str]] = []
    pending = [("", root)]
    while pending or links:
        relative, path = pending.pop() if pending else links.pop(0)
        try:
            state = os.stat(path)
            if (state.st_dev, state.st_ino) in visited:
                continue
            visited.add((state.st_dev, state.st_ino))
            with os.scandir(path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        files: list[str] = []
        folders: list[tuple[str, str]] = []
        for entry in entries:
            below = f"{relative}/{entry.name}" if relative else entry.name
            if os.path.isdir(entry.path) if entry.is_symlink() else entry.is_dir():
                if not entry.name.startswith(UNFINISHED_PREFIX):
                    (links if entry.is_symlink() else folders).append((below, entry.path))
            elif _is_ours(entry.name):
                files.append(entry.name)
        pending.extend(reversed(folders))
        if files:
            yield Found(relative, path, tuple(files))


def _walk_remote(root: str) -> Iterator[Found]:
    files, top = remote_files(root)
    directories: dict[str, list[str]] = {}
    for path in files.find(top):
        folder, _, name = str(path).rpartition("/")
        if _is_ours(name) and f"/{UNFINISHED_PREFIX}" not in f"{folder}/":
            directories.setdefault(folder, []).append(name)
    for folder in sorted(directories):
        relative = folder[len(top.rstrip("/")) :].strip("/")
        yield Found(relative, f"{root.rstrip('/')}/{relative}".rstrip("/"), tuple(sorted(directories[folder])))


def _is_ours(name: str) -> bool:
    return name == MANIFEST_NAME or name.endswith(GRAPH_SUFFIX)
