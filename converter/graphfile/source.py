"""Where a graph file's bytes come from: a local file, or anything that fsspec reaches; both are read by ranges."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from typing import Any

from converter.errors import UserError
from converter.graphfile import errors
from converter.graphfile.container import ReadRange
from converter.messages import message

# Under which of these a file system of fsspec tells when, or which, state of a file this is.
CHANGE_KEYS = ("mtime", "LastModified", "last_modified", "updated", "ETag", "created")


@dataclass(frozen=True)
class Source:
    """A file at one moment. `changed` is its time of change as text; size and `changed` tell two states of it apart."""

    name: str  # path or address as given; for messages
    size: int  # bytes
    changed: str
    read_range: ReadRange  # (offset, length) -> bytes; raises GraphFileError


def is_remote(path: str) -> bool:
    """Whether `path` is an address such as s3://bucket/key rather than a local path."""
    return "://" in path


def open_source(path: str) -> Source:
    """Looks at the file; holds nothing open. Raises GraphFileError."""
    return _remote(path) if is_remote(path) else _local(path)


def _local(path: str) -> Source:
    try:
        state = os.stat(path)
    except OSError as problem:
        raise errors.unreadable(path, *errors.system_error(problem)) from None
    if not stat.S_ISREG(state.st_mode):  # opening a named pipe would wait for ever for somebody who writes
        directory = OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        why = errors.system_error(directory) if stat.S_ISDIR(state.st_mode) else ("it is not a regular file", "不是普通文件")
        raise errors.unreadable(path, *why)

    def read_range(offset: int, length: int) -> bytes:
        try:
            with open(path, "rb") as stream:
                stream.seek(offset)
                return stream.read(length)
        except OSError as problem:
            raise errors.unreadable(path, *errors.system_error(problem)) from None

    return Source(path, state.st_size, str(state.st_mtime_ns), read_range)


def _remote(address: str) -> Source:
    files, path = remote_files(address)
    try:
        state = files.info(path)
    except Exception as problem:  # each file system of fsspec has errors of its own
        raise errors.unreadable(address, str(problem) or type(problem).__name__) from None
    size = int(state.get("size") or 0)

    def read_range(offset: int, length: int) -> bytes:
        end = min(size, offset + length)
        if end <= offset:
            return b""
        try:
            data: bytes = files.cat_file(path, start=offset, end=end)
        except Exception as problem:
            raise errors.unreadable(address, str(problem) or type(problem).__name__) from None
        return data

    changed = next((str(state[key]) for key in CHANGE_KEYS if state.get(key)), "")
    return Source(address, size, changed, read_range)


def remote_files(address: str) -> tuple[Any, str]:
    """(fsspec file system, path in it) of an address. Raises UserError where fsspec or its driver is not installed."""
    scheme = address.split("://", 1)[0]
    try:
        import fsspec
    except ImportError:
        raise UserError(message("source.needs_fsspec",
                                '{address}: reading {scheme}:// needs fsspec. Run: pip install "tb_graph_ascend[remote]"',
                                address=address, scheme=scheme)) from None
    try:
        files, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as problem:
        raise UserError(message("source.unreachable", "{address}: {scheme}:// cannot be reached: {why}",
                                address=address, scheme=scheme, why=problem)) from None
    return files, str(path)
