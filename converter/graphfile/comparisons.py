"""Sections "comparisons/{k}": the tensors inside each pair, joined row by row, with their verdicts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison, Composition
from converter.compare.rows import measure
from converter.dumps.columns import Leaves
from converter.graphfile import graph_pb2
from converter.graphfile.columns import F32, F64, I32, U8, U32, clean, pack, unpack
from converter.graphfile.content import GraphSide
from converter.judge.verdict import Note, Verdicts

BLOCK_PAIRS = 1024

Value = TypeVar("Value")


def encode_comparison_blocks(comparison: Comparison, verdicts: Verdicts, target: GraphSide,
                             golden: GraphSide) -> Iterator[graph_pb2.ComparisonBlock]:
    """The blocks of BLOCK_PAIRS pairs each, in pair order."""
    target_places = _Places(target, comparison.target, comparison.target_compositions)
    golden_places = _Places(golden, comparison.golden, comparison.golden_compositions)
    notes = sorted(verdicts.notes, key=attrgetter("row"))
    note_rows = [note.row for note in notes]
    names = list(comparison.metrics)
    metrics = np.stack([comparison.metrics[name] for name in names], axis=1) if names else np.zeros((comparison.rows, 0))
    layout_names, layout = _layouts(comparison)
    unavailable = sorted(comparison.unavailable)
    pairs = len(comparison.row_end)
    for first in range(0, pairs, BLOCK_PAIRS):
        last = min(first + BLOCK_PAIRS, pairs)
        start = int(comparison.row_end[first - 1]) if first else 0
        end = int(comparison.row_end[last - 1])
        block = slice(start, end)
        target_rows, golden_rows = comparison.target_row[block], comparison.golden_row[block]
        target_node, target_leaf = target_places.of(target_rows)
        golden_node, golden_leaf = golden_places.of(golden_rows)
        message = graph_pb2.ComparisonBlock(
            first_pair=first,
            pair_count=last - first,
            row_count=end - start,
            row_end=pack(comparison.row_end[first:last] - start, U32),
            target_node=pack(target_node, I32),
            target_leaf=pack(target_leaf, U32),
            golden_node=pack(golden_node, I32),
            golden_leaf=pack(golden_leaf, U32),
            status=pack(verdicts.row_status[block], U8),
            reasons=pack(verdicts.row_reasons[block], U32),
            error=pack(verdicts.row_error[block], F32),
            statistic=pack(verdicts.row_statistic[block], U8),
            tolerance=pack(verdicts.row_tolerance[block], F32),
            notes=[_note(note, start) for note in notes[bisect_left(note_rows, start) : bisect_left(note_rows, end)]],
            metric_names=names,
            metrics=pack(metrics[block], F64),
        )
        if layout is not None and layout[block].any():
            message.layout = pack(layout[block], U8)
            message.layout_names.extend(layout_names)
        if comparison.ambiguous[block].any():
            message.ambiguous = pack(comparison.ambiguous[block], U8)
        for row in unavailable[bisect_left(unavailable, start) : bisect_left(unavailable, end)]:
            en, zh = comparison.unavailable[row]
            message.unavailable.add(row=row - start, why=graph_pb2.Text(en=clean(en), zh=clean(zh)))
        for rows, places, is_golden in ((target_rows, target_places, False), (golden_rows, golden_places, True)):
            for at in np.flatnonzero(rows >= places.own_rows).tolist():
                message.compositions.append(places.composition(at, int(rows[at]), is_golden))
        yield message


class _Places:
    """Where the rows of one side lie: node and ordinal within the node; a composed row stands for its first part."""

    def __init__(self, side: GraphSide, leaves: Leaves, compositions: list[Composition]) -> None:
        self.own_rows = side.leaves.rows
        self._leaves = leaves
        self._compositions = {composition.row: composition for composition in compositions}
        self._node = side.node_of_row()
        self._start = side.row_start
        self._first_part = np.zeros(leaves.rows - self.own_rows, np.int64)
        for composition in compositions:
            self._first_part[composition.row - self.own_rows] = composition.parts[0]

    def of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(node, ordinal of the leaf within the node) of each row; (-1, 0) where there is none."""
        own = np.array(rows, np.int64)
        composed = own >= self.own_rows
        own[composed] = self._first_part[own[composed] - self.own_rows]
        present = own >= 0
        node = np.full(len(own), -1, np.int64)
        node[present] = self._node[own[present]]
        leaf = np.zeros(len(own), np.int64)
        leaf[present] = own[present] - self._start[node[present]]
        return node, leaf

    def composition(self, at: int, row: int, golden: bool) -> graph_pb2.Composition:
        """The composed row as a message; `at` is its number in the block."""
        leaves = self._leaves
        composition = self._compositions[row]
        node, leaf = self.of(np.array(composition.parts, np.int64))
        maximum, minimum, mean, norm = leaves.statistics[row].tolist()
        shape, dtype = int(leaves.shape[row]), int(leaves.dtype[row])
        return graph_pb2.Composition(
            row=at, golden=golden, node=node.tolist(), leaf=leaf.tolist(),
            max=maximum, min=minimum, mean=mean, norm=norm, present=int(leaves.present[row]),
            shape=",".join(map(str, leaves.shapes[shape])) if shape >= 0 else "",
            dtype=clean(leaves.strings[dtype]) if dtype >= 0 else "",
            relation=composition.relation,
        )


def _note(note: Note, start: int) -> graph_pb2.Note:
    return graph_pb2.Note(row=note.row - start, code=note.code, arguments={name: clean(text) for name, text in note.arguments.items()})


def _layouts(comparison: Comparison) -> tuple[list[str], NDArray[np.int64] | None]:
    if not comparison.layouts:
        return [], None
    table: dict[str, int] = {}
    column = np.zeros(comparison.rows, np.int64)
    for row, text in comparison.layouts.items():
        column[row] = table.setdefault(clean(text), len(table)) + 1
    return list(table), column


def decode_comparison_blocks(blocks: list[graph_pb2.ComparisonBlock], target: GraphSide, golden: GraphSide, mode: str) -> Comparison:
    """The comparison over the two sides as they were read back from the same file.

    The errors are not stored: they follow from the statistics. Raises ColumnError, IndexError.
    """
    ends: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    rows: dict[bool, list[NDArray[np.int64]]] = {False: [np.zeros(0, np.int64)], True: [np.zeros(0, np.int64)]}
    metrics: list[dict[str, NDArray[np.float64]]] = []
    layouts: dict[int, str] = {}
    ambiguous: list[NDArray[np.bool_]] = [np.zeros(0, np.bool_)]
    unavailable: dict[int, tuple[str, str]] = {}
    appended = {False: _Appended(target), True: _Appended(golden)}
    total = 0
    for block in blocks:
        count = block.row_count
        ends.append(unpack(block.row_end, U32, block.pair_count).astype(np.int64) + total)
        here: dict[bool, NDArray[np.int64]] = {}
        for is_golden, side in ((False, target), (True, golden)):
            node = unpack(block.golden_node if is_golden else block.target_node, I32, count).astype(np.int64)
            leaf = unpack(block.golden_leaf if is_golden else block.target_leaf, U32, count).astype(np.int64)
            here[is_golden] = np.where(node >= 0, side.row_start[np.maximum(node, 0)] + leaf, -1)
        for composition in block.compositions:
            here[composition.golden][composition.row] = appended[composition.golden].add(composition)
        for is_golden in rows:
            rows[is_golden].append(here[is_golden])
        table = unpack(block.metrics, F64, count * len(block.metric_names)).reshape(count, len(block.metric_names))
        metrics.append({name: table[:, i] for i, name in enumerate(block.metric_names)})
        if block.layout:
            layout = unpack(block.layout, U8, count)
            for at in np.flatnonzero(layout).tolist():
                layouts[total + at] = block.layout_names[int(layout[at]) - 1]
        ambiguous.append(unpack(block.ambiguous, U8, count) != 0 if block.ambiguous else np.zeros(count, np.bool_))
        for entry in block.unavailable:
            unavailable[total + entry.row] = (entry.why.en, entry.why.zh)
        total += count
    target_leaves, golden_leaves = appended[False].leaves(), appended[True].leaves()
    target_row, golden_row = np.concatenate(rows[False]), np.concatenate(rows[True])
    names = list(metrics[0]) if metrics else []
    return Comparison(
        row_end=np.concatenate(ends),
        target_row=target_row,
        golden_row=golden_row,
        target=target_leaves,
        golden=golden_leaves,
        target_compositions=appended[False].compositions,
        golden_compositions=appended[True].compositions,
        errors=measure(target_leaves, target_row, golden_leaves, golden_row, appended[False].compositions, appended[True].compositions),
        ambiguous=np.concatenate(ambiguous),
        metrics={name: np.concatenate([part[name] for part in metrics]) for name in names},
        layouts=layouts,
        unavailable=unavailable,
        mode=mode,
    )


class _Appended:
    """The leaves of one side with the composed rows of a file put behind them again."""

    def __init__(self, side: GraphSide) -> None:
        self._side = side
        self._messages: list[graph_pb2.Composition] = []
        self.compositions: list[Composition] = []

    def add(self, message: graph_pb2.Composition) -> int:
        """Registers one composed row and returns its number."""
        row = self._side.leaves.rows + len(self._messages)
        start = self._side.row_start
        parts = tuple(int(start[node]) + leaf for node, leaf in zip(message.node, message.leaf))
        self._messages.append(message)
        self.compositions.append(Composition(row, parts, message.relation))
        return row

    def leaves(self) -> Leaves:
        """Role, kind, name and type of a composed row are those of its first part."""
        leaves, messages = self._side.leaves, self._messages
        if not messages:
            return leaves
        strings, shapes = _Table(leaves.strings), _Table(leaves.shapes)
        first = np.array([composition.parts[0] for composition in self.compositions], np.int64)
        none = np.full(len(messages), -1, np.int32)
        shape = [shapes.id(tuple(map(int, message.shape.split(","))) if message.shape else ()) for message in messages]
        statistics = [(message.max, message.min, message.mean, message.norm) for message in messages]
        behind = {
            "dtype": np.array([strings.id(message.dtype) if message.dtype else -1 for message in messages], np.int32),
            "shape": np.array(shape, np.int32),
            "present": np.array([message.present for message in messages], np.uint8),
            "statistics": np.array(statistics, np.float64),
            "value": none, "checksum": none, "data_name": none,
        }
        for name in ("role", "kind", "name", "type", "requires_grad"):
            behind[name] = getattr(leaves, name)[first]
        columns = {name: np.concatenate([getattr(leaves, name), column]) for name, column in behind.items()}
        return replace(leaves, strings=strings.values, shapes=shapes.values, **columns)  # type: ignore[arg-type]


class _Table(Generic[Value]):
    """A list that grows by values it does not have yet."""

    def __init__(self, values: list[Value]) -> None:
        self.values = list(values)
        self._ids = {value: i for i, value in enumerate(values)}

    def id(self, value: Value) -> int:
        if value not in self._ids:
            self._ids[value] = len(self.values)
            self.values.append(value)
        return self._ids[value]
