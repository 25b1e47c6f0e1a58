"""Sections "tensors/{side}/{k}" and "stacks/{side}": what the nodes of one side received and returned, and from where."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import PRESENT_EXACT, LeafKind, Leaves
from converter.graphfile import graph_pb2
from converter.graphfile.columns import F32, F64, U8, U32, ColumnError, clean, pack, unpack
from converter.graphfile.content import GraphSide
from converter.tree.graph import ranges

BLOCK_NODES = 1024
NO_SHAPE = "?"

# Columns of string ids: those whose 0 means "none" hold the id plus 1, in the others "" means "not given".
_PLAIN = ("name", "type", "dtype")
_OPTIONAL = ("value", "checksum", "data_name")


def encode_tensor_blocks(side: GraphSide) -> Iterator[graph_pb2.TensorBlock]:
    """The blocks of BLOCK_NODES nodes each, in node order. Each has a string table of its own."""
    leaves = side.leaves
    texts = [*map(clean, leaves.strings), *(",".join(map(str, shape)) for shape in leaves.shapes), NO_SHAPE, ""]
    empty = len(texts) - 1
    shape = _shape_ids(leaves, len(leaves.strings), empty)
    localise = _Localiser(len(texts))
    exact_rows = sorted(leaves.exact)
    for first in range(0, side.tree.count, BLOCK_NODES):
        last = min(first + BLOCK_NODES, side.tree.count)
        start, end = side.row_start[first:last], side.row_end[first:last]
        rows = ranges(start, end)
        columns = [getattr(leaves, name)[rows] for name in (*_PLAIN, *_OPTIONAL)]
        columns[:3] = [np.where(column < 0, empty, column) for column in columns[:3]]
        columns.append(shape[rows])
        ids, used = localise(np.concatenate(columns))
        name, type_, dtype, value, checksum, data_name, shapes = np.split(ids, 7)
        statistics = np.where(_numbers_present(leaves.present[rows]), leaves.statistics[rows], np.nan)
        measured = leaves.kind[rows] != LeafKind.NUMBER  # a number stands exactly in its text
        width = 4 if _fits_float32(statistics[measured]) else 8
        present = leaves.present[rows]
        block = graph_pb2.TensorBlock(
            first_node=first,
            node_count=last - first,
            row_count=len(rows),
            row_end=pack(np.cumsum(end - start), U32),
            stack=pack(side.stack[first:last].astype(np.int64) + 1, U32),
            role=pack(leaves.role[rows], U8),
            kind=pack(leaves.kind[rows], U8),
            name=pack(name, U32),
            type=pack(type_, U32),
            dtype=pack(dtype, U32),
            shape=pack(shapes, U32),
            requires_grad=pack(leaves.requires_grad[rows], U8),
            present=pack(present, U8),
            statistics=pack(statistics, F32 if width == 4 else F64),
            statistics_width=width,
            value=pack(value + 1, U32),
            checksum=pack(checksum + 1, U32),
            data_name=pack(data_name + 1, U32),
            strings=[texts[i] for i in used.tolist()],
        )
        if exact_rows:
            for at in np.flatnonzero(present & PRESENT_EXACT).tolist():
                row = int(rows[at])
                found = bisect_left(exact_rows, row)
                if found < len(exact_rows) and exact_rows[found] == row:
                    maximum, minimum, mean, norm = map(clean, leaves.exact[row])
                    block.exact.add(row=at, max=maximum, min=minimum, mean=mean, norm=norm)
        yield block


def _shape_ids(leaves: Leaves, offset: int, empty: int) -> NDArray[np.int64]:
    missing = np.where(leaves.kind == LeafKind.TENSOR, empty - 1, empty)
    shape: NDArray[np.int64] = np.where(leaves.shape < 0, missing, leaves.shape.astype(np.int64) + offset)
    return shape


def _numbers_present(present: NDArray[np.uint8]) -> NDArray[np.bool_]:
    bits: NDArray[np.uint8] = np.unpackbits(present[:, None], axis=1, count=4, bitorder="little")
    present_columns: NDArray[np.bool_] = bits == 1
    return present_columns


def _fits_float32(statistics: NDArray[np.float64]) -> bool:
    with np.errstate(over="ignore"):
        narrow = statistics.astype(np.float32).astype(np.float64)
    return bool(np.array_equal(narrow, statistics, equal_nan=True))


class _Localiser:
    """Renumbers ids densely, block after block, in time of the block alone; its two work arrays are made once."""

    def __init__(self, size: int) -> None:
        self._seen_at = np.zeros(size, np.int64)
        self._local = np.zeros(size, np.int64)

    def __call__(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(dense ids, the distinct ids in order of first use). Negative ids stay -1."""
        real = ids[ids >= 0]
        backwards = real[::-1]
        at = np.arange(len(real))
        self._seen_at[backwards] = at[::-1]  # the last assignment stays: the first position of each id
        used = real[self._seen_at[real] == at]
        self._local[used] = np.arange(len(used))
        dense = np.full(len(ids), -1, np.int64)
        dense[ids >= 0] = self._local[real]
        return dense, used


def encode_stacks(stacks: list[tuple[str, ...]]) -> graph_pb2.Stacks:
    """Distinct stacks over a table of distinct lines."""
    table: dict[str, int] = {}
    numbers = [[table.setdefault(clean(line), len(table)) for line in stack] for stack in stacks]
    return graph_pb2.Stacks(stacks=[graph_pb2.Stack(lines=lines) for lines in numbers], lines=list(table))


def decode_stacks(message: graph_pb2.Stacks) -> list[tuple[str, ...]]:
    """Raises IndexError where a line is missing."""
    lines = list(message.lines)
    return [tuple(lines[i] for i in stack.lines) for stack in message.stacks]


def decode_tensor_blocks(blocks: list[graph_pb2.TensorBlock]) -> tuple[Leaves, NDArray[np.int64], NDArray[np.int32]]:
    """(leaves in node order, row_end per node, stack id per node or -1). Raises ColumnError, IndexError."""
    strings: dict[str, int] = {}
    shapes: dict[tuple[int, ...], int] = {}
    exact: dict[int, tuple[str, str, str, str]] = {}
    parts: dict[str, list[NDArray[Any]]] = {}
    nodes = rows = 0
    for block in blocks:
        count = block.row_count
        if block.first_node != nodes:
            raise ColumnError(f"a block begins with node {block.first_node} instead of {nodes}")
        texts = list(block.strings)
        ids = np.array([strings.setdefault(text, len(strings)) for text in texts], np.int64)
        named = np.array([text != "" for text in texts], np.bool_)
        columns: dict[str, NDArray[Any]] = {
            "row_end": unpack(block.row_end, U32, block.node_count).astype(np.int64) + rows,
            "stack": unpack(block.stack, U32, block.node_count).astype(np.int64) - 1,
        }
        for name in ("role", "kind", "requires_grad", "present"):
            columns[name] = unpack(getattr(block, name), U8, count)
        for name in _PLAIN:
            local = unpack(getattr(block, name), U32, count)
            columns[name] = np.where(named[local], ids[local], -1)
        for name in _OPTIONAL:
            local = unpack(getattr(block, name), U32, count).astype(np.int64) - 1
            columns[name] = np.append(ids, -1)[local]  # -1 reads the -1 behind the last
        columns["shape"] = _decode_shapes(unpack(block.shape, U32, count), texts, columns["kind"], shapes)
        width = block.statistics_width
        columns["statistics"] = unpack(block.statistics, F32 if width == 4 else F64, count * 4).reshape(count, 4).astype(np.float64)
        if width == 4:
            _restore_numbers(columns, block, texts)
        for entry in block.exact:
            exact[rows + entry.row] = (entry.max, entry.min, entry.mean, entry.norm)
        for name, column in columns.items():
            parts.setdefault(name, []).append(column)
        nodes += block.node_count
        rows += count

    def whole(name: str, kind: Any) -> NDArray[Any]:
        return np.concatenate(parts[name]).astype(kind) if parts else np.zeros(0, kind)

    leaves = Leaves(
        strings=list(strings),
        shapes=list(shapes),
        statistics=np.concatenate(parts["statistics"]) if parts else np.zeros((0, 4)),
        exact=exact,
        **{name: whole(name, np.uint8) for name in ("role", "kind", "requires_grad", "present")},
        **{name: whole(name, np.int32) for name in (*_PLAIN, *_OPTIONAL, "shape")},
    )
    return leaves, whole("row_end", np.int64), whole("stack", np.int32)


def _restore_numbers(columns: dict[str, NDArray[Any]], block: graph_pb2.TensorBlock, texts: list[str]) -> None:
    """Numbers were rounded to float32 with the rest of the block; their texts tell what they were."""
    value = unpack(block.value, U32, block.row_count).astype(np.int64) - 1
    present = _numbers_present(columns["present"])
    for row in np.flatnonzero((columns["kind"] == LeafKind.NUMBER) & (value >= 0)).tolist():
        try:
            columns["statistics"][row, present[row]] = float(texts[value[row]])
        except (ValueError, OverflowError):
            pass  # no plain number: what was rounded is the best there is


def _decode_shapes(local: NDArray[np.uint32], texts: list[str], kind: NDArray[Any],
                   shapes: dict[tuple[int, ...], int]) -> NDArray[np.int64]:
    ids = np.full(len(texts), -1, np.int64)
    for i in np.unique(local).tolist():
        if texts[i] != NO_SHAPE:
            shape = tuple(map(int, texts[i].split(","))) if texts[i] else ()
            ids[i] = shapes.setdefault(shape, len(shapes))
    without = (kind != LeafKind.TENSOR) & np.array([text == "" for text in texts], np.bool_)[local]
    return np.where(without, -1, ids[local])
