"""Grows the columns of leaves from decoded leaves, a few thousand at a time, without touching each one in Python."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from converter.dumps.columns import PRESENT_BOOLEAN, LeafKind, Leaves
from converter.dumps.leaf import LARGEST_EXACT_INTEGER, Row, leaf_row
from converter.dumps.non_finite import MARKERS, restored
from converter.dumps.typed import Leaf

_UNSET_ID = -2
_NO_LEAF = Leaf(type="")  # stands in for null, by identity
_NO_LEAF_ROW: Row = (0, LeafKind.NONE, "", None, None, None, 0, 0, math.nan, math.nan, math.nan, math.nan, None, None, None, None)
_EMPTY_LEAF = Leaf()
_EMPTY_LEAF_ROW: Row = (0, LeafKind.OTHER, *_NO_LEAF_ROW[2:])
_STATISTICS = ("Max", "Min", "Mean", "Norm")
_REQUIRES_GRAD = {UNSET: 0, None: 0, False: 1, True: 2}
_HASHABLE = frozenset((int, float, str, bool))
_EMPTY: dict[str, NDArray[Any]] = {
    **{name: np.empty(0, dtype=np.int32) for name in ("entry", "name", "type", "dtype", "shape", "value", "checksum", "data_name")},
    **{name: np.empty(0, dtype=np.uint8) for name in ("role", "kind", "requires_grad", "present")},
    "statistics": np.empty((0, 4), dtype=np.float64),
}


class NotTyped(Exception):
    """A leaf that only the general rules can read."""


class Block(NamedTuple):
    """Leaves of one role: where they stand, and what they are (`Leaf`, or None for null)."""

    role: int
    entry: NDArray[np.int32]  # number of the entry in reading order
    name: NDArray[np.int32]  # id into the strings of the table
    leaves: list[Any]


class Numbering(dict):  # type: ignore[type-arg]
    """Gives every new key the next number."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


class LeafTable:
    """Columns of leaves in the order of reading; `finish` sorts them by node."""

    def __init__(self) -> None:
        self.strings = Numbering()
        self._shapes = Numbering()
        # Ids of what a field may hold, with "null" and "not there" among them.
        self._dtype_ids: dict[Any, int] = {None: -1, UNSET: _UNSET_ID}
        self._shape_ids: dict[Any, int] = {None: -1, UNSET: _UNSET_ID}
        self._positions: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._shared_rows: dict[Any, Row] = {}
        self._chunks: list[dict[str, NDArray[Any]]] = [_EMPTY]
        self._exact: dict[int, tuple[str, str, str, str]] = {}
        self._rows = 0

    def position_names(self, position: NDArray[np.int64]) -> NDArray[np.int32]:
        """String ids of the names "0", "1", … of positions."""
        largest = int(position.max(initial=0))
        if largest >= len(self._positions):
            self._positions = np.array([self.strings[str(i)] for i in range(2 * largest + 8)], dtype=np.int32)
        return self._positions[position]

    def add(self, blocks: list[Block]) -> None:
        """Append all blocks, or none of them and raise NotTyped."""
        prepared = [self._columns(block) for block in blocks if block.leaves]
        for columns, special in prepared:
            self._write(columns, special)
            self._append(columns)

    def add_rows(self, entry: int, rows: list[Row]) -> None:
        """Append rows that the general rules made, all of one entry."""
        columns = {name: np.empty((len(rows), *column.shape[1:]), dtype=column.dtype) for name, column in _EMPTY.items()}
        columns["entry"][:] = entry
        columns["role"][:] = [row[0] for row in rows]
        columns["name"][:] = [self.strings[row[2]] for row in rows]
        self._write(columns, dict(enumerate(rows)))
        self._append(columns)

    def _columns(self, block: Block) -> tuple[dict[str, NDArray[Any]], dict[int, Row]]:
        """Columns of a block as if all its leaves were ordinary tensors, and the rows of those that are not."""
        leaves = [_NO_LEAF if leaf is None else leaf for leaf in block.leaves]
        count = len(leaves)
        types: list[Any] = [leaf.type for leaf in leaves]
        if UNSET in types:
            types = _without_unset(leaves)
        dtype = _ids(self._dtype_ids, [leaf.dtype for leaf in leaves], self.strings)
        shape = _ids(self._shape_ids, [leaf.shape for leaf in leaves], self._shapes)
        statistics = np.full((count, 4), math.nan, dtype=np.float64)
        present = np.zeros(count, dtype=np.uint8)
        tensor = (dtype != _UNSET_ID) | (shape != _UNSET_ID)
        special = set(np.flatnonzero(~tensor).tolist())
        if len(special) < count:
            special |= _read_statistics(leaves, np.flatnonzero(tensor), statistics, present)
        columns: dict[str, NDArray[Any]] = {
            "entry": block.entry,
            "role": np.full(count, block.role, dtype=np.uint8),
            "name": block.name,
            "kind": np.full(count, LeafKind.TENSOR, dtype=np.uint8),
            "type": np.fromiter(map(self.strings.__getitem__, types), dtype=np.int32, count=count),
            "dtype": np.maximum(dtype, -1),
            "shape": np.maximum(shape, -1),
            "requires_grad": np.array([_REQUIRES_GRAD[leaf.requires_grad] for leaf in leaves], dtype=np.uint8),
            "present": present,
            "statistics": statistics,
            "value": np.full(count, -1, dtype=np.int32),
            "checksum": self._texts([leaf.md5 or None for leaf in leaves]),
            "data_name": self._texts(_file_names(leaves)),
        }
        return columns, {i: self._row(leaves[i]) for i in sorted(special)}

    def _row(self, leaf: Leaf) -> Row:
        """The row of a leaf by the general rules. Scalars of one type and value share one."""
        if leaf is _NO_LEAF:
            return _NO_LEAF_ROW
        if leaf.type is UNSET:
            return _EMPTY_LEAF_ROW
        value = leaf.value
        # Equal keys must mean equal texts: not so for 0.0 and -0.0, and lists have no hash.
        if value.__class__ not in _HASHABLE or value == 0 or leaf.dtype is not UNSET or leaf.shape is not UNSET:
            return _general_row(leaf)
        key = (leaf.type, value.__class__, value, leaf.requires_grad, leaf.md5, leaf.data_name)
        row = self._shared_rows.get(key)
        if row is None:
            row = self._shared_rows[key] = _general_row(leaf)
        return row

    def _write(self, columns: dict[str, NDArray[Any]], rows: dict[int, Row]) -> None:
        """Write what does not depend on the place of the leaf from rows of the general rules."""
        if not rows:
            return
        at = list(rows)
        _, kind, _, type_name, dtype, shape, requires_grad, present, *numbers, value, checksum, data_name, exact = zip(*rows.values())
        columns["kind"][at] = kind
        columns["type"][at] = self._texts(type_name)
        columns["dtype"][at] = self._texts(dtype)
        columns["shape"][at] = [-1 if sizes is None else self._shapes[sizes] for sizes in shape]
        columns["requires_grad"][at] = requires_grad
        columns["present"][at] = present
        columns["statistics"][at] = np.array(numbers, dtype=np.float64).T
        columns["value"][at] = self._texts(value)
        columns["checksum"][at] = self._texts(checksum)
        columns["data_name"][at] = self._texts(data_name)
        for i, texts in zip(at, exact):
            if texts is not None:
                self._exact[self._rows + i] = texts

    def _append(self, columns: dict[str, NDArray[Any]]) -> None:
        self._chunks.append(columns)
        self._rows += len(columns["kind"])

    def _texts(self, texts: Any) -> NDArray[np.int32]:
        """String ids of texts; -1 for None."""
        if not any(text is not None for text in texts):
            return np.full(len(texts), -1, dtype=np.int32)
        return np.array([-1 if text is None else self.strings[text] for text in texts], dtype=np.int32)

    def finish(self, node_of_entry: NDArray[np.int64], nodes: int) -> tuple[Leaves, NDArray[np.int64]]:
        """The columns sorted by node, then role, and the end of the rows of every node. The table is empty afterwards."""
        chunks, self._chunks = self._chunks, []
        joined = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in _EMPTY}
        del chunks
        node = node_of_entry[joined.pop("entry")]
        order = np.argsort(node * 8 + joined["role"], kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        exact = sorted((int(place[row]), texts) for row, texts in self._exact.items())
        columns = {name: joined.pop(name)[order] for name in list(joined)}
        leaves = Leaves(strings=list(self.strings), shapes=list(self._shapes), exact=dict(exact), **columns)
        return leaves, np.cumsum(np.bincount(node, minlength=nodes)).astype(np.int64)


def _ids(known: dict[Any, int], values: list[Any], numbering: Numbering) -> NDArray[np.int32]:
    """Ids of the values of a field; new ones are numbered."""
    try:
        return np.fromiter(map(known.__getitem__, values), dtype=np.int32, count=len(values))
    except KeyError:
        for value in values:
            if value not in known:
                known[value] = numbering[value]
        return np.fromiter(map(known.__getitem__, values), dtype=np.int32, count=len(values))


def _without_unset(leaves: list[Leaf]) -> list[Any]:
    """Types of leaves of which some have none: "" for empty objects. Raises NotTyped when an object without type is not empty."""
    if any(leaf.type is UNSET and leaf != _EMPTY_LEAF for leaf in leaves):
        raise NotTyped
    return ["" if leaf.type is UNSET else leaf.type for leaf in leaves]


def _read_statistics(leaves: list[Leaf], tensors: NDArray[np.int64], statistics: NDArray[np.float64],
                     present: NDArray[np.uint8]) -> set[int]:
    """Fill in Max, Min, Mean and Norm of tensors, and the bits of `present`; returns the leaves that need the general rules."""
    special: set[int] = set()
    at = tensors.tolist()
    if len(at) != len(leaves):
        leaves = [leaves[i] for i in at]
    if any(leaf.value is not UNSET or leaf.group_ranks is not UNSET or leaf.group_id is not UNSET or leaf.format is not UNSET
           for leaf in leaves):
        raise NotTyped
    for column, name in enumerate(_STATISTICS):
        values = [getattr(leaf, name) for leaf in leaves]
        kinds = set(map(type, values))
        there = np.ones(len(values), dtype=np.uint8)
        if kinds & _ABSENT:
            there = np.array([value is not None and value is not UNSET for value in values], dtype=np.uint8)
            values = [None if value is UNSET else value for value in values]
        if str in kinds:
            for i in [i for i, value in enumerate(values) if value.__class__ is str]:
                if values[i] not in MARKERS:
                    special.add(at[i])
                values[i] = MARKERS.get(values[i])
        if int in kinds:
            for i in [i for i, value in enumerate(values) if value.__class__ is int and abs(value) > LARGEST_EXACT_INTEGER]:
                special.add(at[i])
                values[i] = None
        bits = there << column
        if bool in kinds:
            bits |= np.array([PRESENT_BOOLEAN if value.__class__ is bool else 0 for value in values], dtype=np.uint8)
        present[tensors] |= bits
        statistics[tensors, column] = values  # None becomes NaN
    return special


_ABSENT = frozenset((type(None), type(UNSET)))


def _file_names(leaves: list[Leaf]) -> list[Optional[str]]:
    names = [leaf.data_name or None for leaf in leaves]
    return [None if name == "-1" else name for name in names] if "-1" in names else names


def _general_row(leaf: Leaf) -> Row:
    """The row by the general rules, unless it depends on the order of the fields in the file."""
    fields = {name: restored(getattr(leaf, name)) for name in leaf.__struct_fields__ if getattr(leaf, name) is not UNSET}
    if not ("dtype" in fields or "shape" in fields or "value" in fields or "group_ranks" in fields) and len(fields) > 2:
        raise NotTyped
    return leaf_row(0, "", fields)
