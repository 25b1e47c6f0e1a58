"""Columns on the wire: packed little-endian arrays inside `bytes` fields, and texts inside `string` fields."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

U8, U16, U32, I32, F32, F64 = "<u1", "<u2", "<u4", "<i4", "<f4", "<f8"


class ColumnError(ValueError):
    """A column does not fit its message: the section is damaged."""


def pack(column: NDArray[Any], kind: str) -> bytes:
    """The column as packed bytes of the given type; a wider float becomes the nearest narrower one,
    infinite beyond its range.

    Raises ValueError for an integer that the type cannot hold.
    """
    if kind not in (F32, F64) and column.size:
        limits = np.iinfo(kind)
        if column.min() < limits.min or column.max() > limits.max:
            raise ValueError(f"a column has {column.min()} to {column.max()}, a graph file holds {limits.min} to {limits.max} there")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(column).astype(kind, copy=False).tobytes()


def unpack(data: bytes, kind: str, count: int) -> NDArray[Any]:
    """The column of `count` elements inside `data`, without a copy (read-only). Raises ColumnError."""
    if len(data) != count * np.dtype(kind).itemsize:
        raise ColumnError(f"a column of {count} elements of type {kind} has {len(data)} bytes")
    return np.frombuffer(data, kind)


def clean(text: str) -> str:
    """The text itself; lone surrogates, which UTF-8 and protobuf cannot carry, are written out as \\udXXX."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text
