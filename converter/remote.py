"""Dumps and results at addresses that fsspec reaches (s3://, gs://, hdfs://, file://, memory://, …).

A dump is copied to a temporary directory while its rank is converted; results are written through fsspec. What the rest
of the converter sees are local files.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

from converter.errors import UserError
from converter.graphfile.container import write_atomically
from converter.graphfile.source import is_remote, remote_files
from converter.messages import message, with_replaced

JSON_FILES = ("dump.json", "construct.json", "stack.json")
TENSOR_DIRECTORY = "dump_tensor_data"
# Levels below the given address that may hold rank directories: step, rank, and the files themselves.
DEEPEST = 3
CHUNK = 1 << 20  # bytes read at a time


def mirror_names(address: str, directory: str) -> None:
    """Make the directories and (empty) files below an address in a local directory, so that dumps can be looked for there.

    Raises:
        UserError: nothing is there, or it cannot be listed.
    """
    files, path = remote_files(address)
    waiting = [(path.rstrip("/"), directory, 0)]
    while waiting:
        place, local, depth = waiting.pop()
        try:
            listed = files.ls(place, detail=True)
        except FileNotFoundError:
            raise UserError(message("remote.missing", "{address} is not there: give a dump directory", address=address)) from None
        except Exception as error:  # each file system of fsspec has errors of its own
            raise UserError(message("remote.not_listed", "{address} cannot be listed: {why}", address=address, why=error)) from None
        for entry in listed:
            name = str(entry["name"]).rstrip("/").rsplit("/", 1)[-1]
            if not name or str(entry["name"]).rstrip("/") == place:
                continue
            target = os.path.join(local, name)
            if entry["type"] == "directory":
                os.makedirs(target, exist_ok=True)
                if depth + 1 < DEEPEST and name != TENSOR_DIRECTORY:
                    waiting.append((str(entry["name"]).rstrip("/"), target, depth + 1))
            else:
                with open(target, "wb"):
                    pass


@contextlib.contextmanager
def local_dump(address: str) -> Iterator[str]:
    """A local directory with the rank directory at `address`, for as long as the context lasts; local paths are given back as they are.

    Tensor files are copied only where dump.json says that the task is tensor.
    Raises:
        UserError: a file cannot be copied; or one raised inside, with the address in place of the temporary path.
    """
    if not is_remote(address):
        yield address
        return
    with tempfile.TemporaryDirectory(prefix="tb_graph_ascend_") as directory:
        files, path = remote_files(address)
        try:
            for name in JSON_FILES:
                if files.exists(f"{path}/{name}"):
                    files.get_file(f"{path}/{name}", os.path.join(directory, name))
            if _is_tensor_dump(os.path.join(directory, JSON_FILES[0])) and files.exists(f"{path}/{TENSOR_DIRECTORY}"):
                files.get(f"{path}/{TENSOR_DIRECTORY}/", os.path.join(directory, TENSOR_DIRECTORY) + "/", recursive=True)
        except Exception as error:
            raise UserError(message("file.unreadable", "{path} cannot be read: {why}", path=address, why=error)) from None
        try:
            yield directory
        except UserError as error:
            raise UserError(with_replaced(error.told, directory, address)) from None


def _is_tensor_dump(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return re.search(r'"task"\s*:\s*"tensor"', file.read(4096)) is not None
    except OSError:
        return False


def write_file(path: str, chunks: Iterable[bytes]) -> int:
    """Write a local file in one piece, or an object at an address. Returns its size. Raises OSError."""
    if not is_remote(path):
        if not is_local_file(path):
            with open(path, "wb") as stream:
                return sum(stream.write(chunk) for chunk in chunks)
        path = os.path.realpath(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return write_atomically(path, chunks)
    files, place = remote_files(path)
    with _told_as_os_error(path):
        files.makedirs(place.rsplit("/", 1)[0], exist_ok=True)
        size = 0
        with files.open(place, "wb") as stream:
            for chunk in chunks:
                size += stream.write(chunk)
        return size


def read_chunks(path: str) -> Iterator[bytes]:
    """A file in pieces of 1 MiB. Raises OSError."""
    if not is_remote(path):
        with open(path, "rb") as local:
            yield from iter(lambda: local.read(CHUNK), b"")
        return
    files, place = remote_files(path)
    with _told_as_os_error(path), files.open(place, "rb") as stream:
        yield from iter(lambda: stream.read(CHUNK), b"")


def is_local_file(path: str) -> bool:
    """Whether a path is, or can become, a regular file; not so for pipes and devices (/dev/stdout), which are never replaced."""
    return not is_remote(path) and not os.path.abspath(path).startswith("/dev/") and (os.path.isfile(path) or not os.path.exists(path))


@contextlib.contextmanager
def _told_as_os_error(path: str) -> Iterator[None]:
    """Each file system of fsspec has errors of its own."""
    try:
        yield
    except Exception as error:
        raise OSError(errno.EIO, str(error) or type(error).__name__, path) from error


def exists(path: str) -> bool:
    """Whether something is there."""
    if not is_remote(path):
        return os.path.exists(path)
    files, place = remote_files(path)
    with _told_as_os_error(path):
        return bool(files.exists(place))


def rename(source: str, destination: str) -> None:
    """Give a finished directory its name. At an address this copies and deletes where the store knows no rename."""
    if not is_remote(source):
        os.rename(source, destination)
        return
    files, place = remote_files(source)
    _, other = remote_files(destination)
    with _told_as_os_error(destination):
        _move(files, place, other)


def _move(files: Any, place: str, other: str) -> None:
    for name in sorted(files.find(place)):
        relative = name[len(place):].lstrip("/")
        target = f"{other}/{relative}"
        files.makedirs(target.rsplit("/", 1)[0], exist_ok=True)
        files.mv(name, target)
    if files.exists(place):
        files.rm(place, recursive=True)


def remove(path: str) -> None:
    """Remove a directory and all in it, if it is there."""
    import shutil

    if not is_remote(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    files, place = remote_files(path)
    if files.exists(place):
        files.rm(place, recursive=True)
