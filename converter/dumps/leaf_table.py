"""Grows the columns of leaves from decoded leaves, some thousands at a time, without touching each one in Python.

Tensors go straight into columns. Everything else (scalars, null, tensors with odd statistics) is read by the general rules of leaf.py,
once a distinct value: such a leaf is a number into `_rows`, and only `finish` writes it into the columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain, compress
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from converter.dumps.columns import PRESENT_BOOLEAN, LeafKind, Leaves
from converter.dumps.leaf import LARGEST_EXACT_INTEGER, Row, leaf_row
from converter.dumps.non_finite import MARKERS, restored
from converter.dumps.typed import Leaf, WideLeaf

_UNSET_ID = -2
_NULL = WideLeaf(type=None)  # type: ignore[arg-type]  # stands in for null; no leaf decodes to this
_EMPTY_OBJECTS = (Leaf(), WideLeaf())
_NULL_ROW: Row = (0, LeafKind.NONE, "", None, None, None, 0, 0, math.nan, math.nan, math.nan, math.nan, None, None, None, None)
_EMPTY_OBJECT_ROW: Row = (0, LeafKind.OTHER, *_NULL_ROW[2:])
_NULL_ID, _EMPTY_OBJECT_ID = 0, 1
_STATISTICS = ("Max", "Min", "Mean", "Norm")
_NO_FIELDS_OF_TENSORS = ("value",)
_NO_FIELDS_OF_WIDE_TENSORS = ("value", "group_ranks", "group_id", "format")
_REQUIRES_GRAD = {UNSET: 0, None: 0, False: 1, True: 2}
_ABSENT = frozenset((type(None), type(UNSET)))
_HASHABLE = frozenset((int, float, str, bool))
_EMPTY: dict[str, NDArray[Any]] = {
    **{name: np.empty(0, dtype=np.int32) for name in ("entry", "name", "type", "dtype", "shape", "checksum", "data_name")},
    **{name: np.empty(0, dtype=np.uint8) for name in ("role", "requires_grad", "present")},
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
        self._text_ids: dict[Any, int] = {None: -1, UNSET: -1}
        self._checksum_ids: dict[Any, int] = {None: -1, UNSET: -1, "": -1}
        self._file_ids: dict[Any, int] = {None: -1, UNSET: -1, "": -1, "-1": -1}
        self._positions: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._rows: list[Row] = [_NULL_ROW, _EMPTY_OBJECT_ROW]
        self._row_ids: dict[Any, int] = {_row_key(_NULL): _NULL_ID}
        self._special: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []  # leaf numbers and their numbers in _rows
        self._chunks: list[dict[str, NDArray[Any]]] = []
        self._count = 0

    def position_names(self, position: NDArray[np.int64]) -> NDArray[np.int32]:
        """String ids of the names "0", "1", … of positions."""
        largest = int(position.max(initial=0))
        if largest >= len(self._positions):
            self._positions = self.name_ids(map(str, range(2 * largest + 8)))
        return self._positions[position]

    def name_ids(self, names: Iterable[str]) -> NDArray[np.int32]:
        """String ids of names."""
        return np.fromiter(map(self.strings.__getitem__, names), dtype=np.int32)

    def add(self, blocks: list[Block], wide: bool) -> None:
        """Append all blocks, or none of them and raise NotTyped. `wide`: the leaves are WideLeaf."""
        leaves = [_NULL if leaf is None else leaf for leaf in chain.from_iterable(block.leaves for block in blocks)]
        if not leaves:
            return
        count = len(leaves)
        dtype = _ids(self._dtype_ids, list(map(attrgetter("dtype"), leaves)), self.strings)
        shape = _ids(self._shape_ids, list(map(attrgetter("shape"), leaves)), self._shapes)
        types = list(map(attrgetter("type"), leaves))
        if UNSET in types and any(leaf.type is UNSET and leaf.dtype.__class__ is not str and leaf not in _EMPTY_OBJECTS for leaf in leaves):
            raise NotTyped
        is_tensor = (dtype != _UNSET_ID) | (shape != _UNSET_ID)
        tensors = np.flatnonzero(is_tensor)
        statistics = np.full((count, 4), math.nan, dtype=np.float64)
        present = np.zeros(count, dtype=np.uint8)
        odd = _read_statistics(list(compress(leaves, is_tensor.tolist())), tensors, statistics, present, wide)
        special = np.concatenate((np.flatnonzero(~is_tensor), tensors[odd]))
        special_ids = self._row_ids_of(list(compress(leaves, (~is_tensor).tolist())))
        special_ids += [self._new_row(leaves[i]) for i in tensors[odd]]
        self._special.append((special + self._count, np.array(special_ids, dtype=np.int64)))
        none = np.full(count, -1, dtype=np.int32)
        self._append({
            "entry": np.concatenate([block.entry for block in blocks]),
            "role": np.repeat(np.array([block.role for block in blocks], dtype=np.uint8), [len(block.leaves) for block in blocks]),
            "name": np.concatenate([block.name for block in blocks]),
            "type": _ids(self._text_ids, types, self.strings),
            "dtype": np.maximum(dtype, -1),
            "shape": np.maximum(shape, -1),
            "requires_grad": np.fromiter(map(_REQUIRES_GRAD.__getitem__, map(attrgetter("requires_grad"), leaves)), dtype=np.uint8),
            "present": present,
            "statistics": statistics,
            "checksum": _ids(self._checksum_ids, list(map(attrgetter("md5"), leaves)), self.strings) if wide else none,
            "data_name": _ids(self._file_ids, list(map(attrgetter("data_name"), leaves)), self.strings) if wide else none,
        })

    def add_rows(self, entry: int, rows: list[Row]) -> None:
        """Append rows that the general rules made, all of one entry."""
        chunk: dict[str, NDArray[Any]] = {name: np.zeros((len(rows), *column.shape[1:]), dtype=column.dtype)
                                          for name, column in _EMPTY.items()}
        chunk["entry"][:] = entry
        chunk["role"][:] = [row[0] for row in rows]
        chunk["name"][:] = self.name_ids(row[2] for row in rows)
        at = np.arange(len(rows))
        self._special.append((at + self._count, at + len(self._rows)))
        self._rows += rows
        self._append(chunk)

    def _append(self, chunk: dict[str, NDArray[Any]]) -> None:
        self._chunks.append(chunk)
        self._count += len(chunk["role"])

    def _row_ids_of(self, leaves: list[Leaf]) -> list[int]:
        """Numbers of the rows of leaves that are no tensors."""
        try:
            numbers = list(map(self._row_ids.get, map(_row_key, leaves)))
        except TypeError:  # lists have no hash
            return [self._row_id(leaf) for leaf in leaves]
        return [self._row_id(leaf) if number is None else number for number, leaf in zip(numbers, leaves)]

    def _row_id(self, leaf: Leaf) -> int:
        if leaf.type is UNSET:
            return _EMPTY_OBJECT_ID
        if leaf.value.__class__ not in _HASHABLE:
            return _NULL_ID if leaf is _NULL else self._new_row(leaf)
        key = _row_key(leaf)
        if leaf.value.__class__ is float and leaf.value == 0:
            key = (*key, repr(leaf.value))  # 0.0 equals -0.0
        number = self._row_ids.get(key)
        if number is None:
            number = self._row_ids[key] = self._new_row(leaf)
        return number

    def _new_row(self, leaf: Leaf) -> int:
        """By the general rules, unless the row depends on the order of the fields in the file."""
        fields = {name: restored(getattr(leaf, name)) for name in leaf.__struct_fields__ if getattr(leaf, name) is not UNSET}
        if not fields.keys() & _ORDER_DOES_NOT_MATTER and len(fields) > 2:
            raise NotTyped
        self._rows.append(leaf_row(0, "", fields))
        return len(self._rows) - 1

    def finish(self, node_of_entry: NDArray[np.int64], nodes: int) -> tuple[Leaves, NDArray[np.int64]]:
        """The columns sorted by node, then role, and the end of the rows of every node. The table is empty afterwards."""
        chunks, self._chunks = self._chunks, []
        columns = {name: np.concatenate([column, *(chunk.pop(name) for chunk in chunks)]) for name, column in _EMPTY.items()}
        exact = self._write_special(columns)
        node = node_of_entry[columns.pop("entry")]
        order = np.argsort(node * 8 + columns["role"], kind="stable")
        for name in list(columns):
            columns[name] = columns[name][order]
        if exact:
            place = np.empty(len(order), dtype=np.int64)
            place[order] = np.arange(len(order))
            exact = dict(sorted((int(place[row]), texts) for row, texts in exact.items()))
        leaves = Leaves(strings=list(self.strings), shapes=list(self._shapes), exact=exact, **columns)
        return leaves, np.cumsum(np.bincount(node, minlength=nodes)).astype(np.int64)

    def _write_special(self, columns: dict[str, NDArray[Any]]) -> dict[int, tuple[str, str, str, str]]:
        """Write the leaves that are no ordinary tensors, and the columns `kind` and `value`; returns Leaves.exact."""
        at = np.concatenate([leaf for leaf, _ in self._special] or [np.empty(0, dtype=np.int64)])
        row = np.concatenate([number for _, number in self._special] or [np.empty(0, dtype=np.int64)])
        _, kind, _, type_name, dtype, shape, requires_grad, present, *numbers, value, checksum, data_name, exact = zip(*self._rows)
        columns["kind"] = np.full(self._count, LeafKind.TENSOR, dtype=np.uint8)
        columns["kind"][at] = np.array(kind, dtype=np.uint8)[row]
        columns["value"] = np.full(self._count, -1, dtype=np.int32)
        for name, texts in (("type", type_name), ("dtype", dtype), ("value", value), ("checksum", checksum), ("data_name", data_name)):
            columns[name][at] = _ids(self._text_ids, list(texts), self.strings)[row]
        columns["shape"][at] = np.array([-1 if sizes is None else self._shapes[sizes] for sizes in shape], dtype=np.int32)[row]
        columns["requires_grad"][at] = np.array(requires_grad, dtype=np.uint8)[row]
        columns["present"][at] = np.array(present, dtype=np.uint8)[row]
        columns["statistics"][at] = np.array(numbers, dtype=np.float64).T[row]
        with_exact = [texts is not None for texts in exact]
        return {leaf: exact[number] for leaf, number in zip(at.tolist(), row.tolist()) if with_exact[number]}


def _row_key(leaf: Leaf) -> tuple[Any, ...]:
    """What decides the row of a scalar."""
    return leaf.type, leaf.value.__class__, leaf.value


_ORDER_DOES_NOT_MATTER = frozenset(("dtype", "shape", "value", "group_ranks"))


def _ids(known: dict[Any, int], values: list[Any], numbering: Numbering) -> NDArray[np.int32]:
    """Ids of the values of a field; new ones are numbered."""
    try:
        return np.fromiter(map(known.__getitem__, values), dtype=np.int32, count=len(values))
    except KeyError:
        for value in values:
            if value not in known:
                known[value] = numbering[value]
        return np.fromiter(map(known.__getitem__, values), dtype=np.int32, count=len(values))


def _read_statistics(leaves: list[Leaf], at: NDArray[np.int64], statistics: NDArray[np.float64], present: NDArray[np.uint8],
                     wide: bool) -> list[int]:
    """Fill in Max, Min, Mean and Norm of tensors, which stand `at` these rows, and the bits of `present`.

    Returns the tensors, numbered as in `leaves`, that need the general rules.
    """
    for name in _NO_FIELDS_OF_WIDE_TENSORS if wide else _NO_FIELDS_OF_TENSORS:
        fields = list(map(attrgetter(name), leaves))
        if fields.count(UNSET) != len(fields):
            raise NotTyped
    special: set[int] = set()
    bits = np.zeros(len(leaves), dtype=np.uint8)
    for column, name in enumerate(_STATISTICS):
        values = list(map(attrgetter(name), leaves))
        kinds = set(map(type, values))
        marked: list[int] = []
        if str in kinds:
            marked = [i for i, value in enumerate(values) if value.__class__ is str]
            special.update(i for i in marked if values[i] not in MARKERS)
            for i in marked:
                values[i] = MARKERS.get(values[i])
        numbers = values
        if kinds & _ABSENT or marked:
            numbers = [math.nan if value is None or value is UNSET else value for value in values]
        try:
            result = np.fromiter(numbers, dtype=np.float64, count=len(numbers))
        except OverflowError:
            result = np.fromiter((_clipped(number) for number in numbers), dtype=np.float64, count=len(numbers))
        there = ~np.isnan(result)
        there[marked] = True
        bits |= there.astype(np.uint8) << column
        if int in kinds:
            large = np.flatnonzero(np.abs(result) >= LARGEST_EXACT_INTEGER).tolist()
            special.update(i for i in large if values[i].__class__ is int)
        if bool in kinds:
            bits[[i for i, value in enumerate(values) if value.__class__ is bool]] |= PRESENT_BOOLEAN
        statistics[at, column] = result
    present[at] = bits
    return sorted(special)


def _clipped(number: float) -> float:
    """An integer beyond the range of float64 becomes an infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
