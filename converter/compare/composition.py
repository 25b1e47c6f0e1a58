"""Fused layers: the statistics of a concatenation follow exactly from those of its parts.

Max = largest Max, Min = smallest Min, Mean = size-weighted mean, Norm = root of the sum of squares, whatever the order
in which the parts are interleaved. Of a sum only the mean follows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from converter.compare.columns import Composition
from converter.compare.row_pairing import PARAMETER_ALIASES
from converter.dumps.columns import MAX, MEAN, MIN, NORM, PRESENT_MEAN, PRESENT_NUMBERS, LeafKind, Leaves, Role
from converter.match.pairing import Relation
from converter.tree.columns import Direction, NodeKind
from converter.tree.graph import Graph

_NAMES = {Relation.CONCAT: "concat", Relation.SUM: "sum", Relation.STACK: "stack", Relation.SAME: "concat"}


class Composer:
    """Collects the composed rows of one side; they get row numbers behind the side's own leaves."""

    def __init__(self, leaves: Leaves) -> None:
        self._leaves = leaves
        self._parts: list[tuple[tuple[int, ...], str]] = []
        self._statistics: list[tuple[float, float, float, float]] = []
        self._present: list[int] = []
        self._shapes: list[tuple[int, ...]] = []

    def result(self) -> tuple[Leaves, list[Composition]]:
        """The leaves with the composed rows appended, and what those are made of."""
        if not self._parts:
            return self._leaves, []
        leaves = self._leaves
        first = np.array([parts[0] for parts, _ in self._parts])
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(leaves, name), getattr(leaves, name)[first]])
            for name in ("role", "kind", "name", "type", "dtype", "requires_grad", "value", "checksum", "data_name")
        }
        for name in ("value", "checksum", "data_name"):
            columns[name][leaves.rows :] = -1
        shapes = leaves.shapes + self._shapes
        extended = replace(
            leaves,
            **columns,
            shapes=shapes,
            shape=np.concatenate([leaves.shape, np.arange(len(leaves.shapes), len(shapes), dtype=np.int32)]),
            present=np.concatenate([leaves.present, np.array(self._present, np.uint8)]),
            statistics=np.concatenate([leaves.statistics, np.array(self._statistics, np.float64)]),
        )
        return extended, [Composition(leaves.rows + number, parts, relation) for number, (parts, relation) in enumerate(self._parts)]

    def against_whole(
        self, whole: Graph, node: int, side: Graph, parts: list[int], relation: Relation, aliases: dict[str, str], whole_first: bool
    ) -> list[tuple[int, int]]:
        """Rows of one node against those of several, composed; (target row, golden row), -1 where a side has none.

        Outputs, parameters and gradients of the parts are put together in the order of the parts; their common
        input is that of the first part. Backward: the gradient of the outputs is put together, that of the common
        input is the sum.
        """
        backward = whole.tree.direction[node] == Direction.BACKWARD and whole.tree.kind[node] != NodeKind.PARAMETERS_GRAD
        composed_role, shared_role = (Role.INPUT, Role.OUTPUT) if backward else (Role.OUTPUT, Role.INPUT)
        rows: list[tuple[int, int]] = []
        used: set[int] = set()

        def add(mine: int, other: int) -> None:
            rows.append((mine, other) if whole_first else (other, mine))

        for row in whole.rows(node):
            role, kind = whole.leaves.role[row], whole.leaves.kind[row]
            other = -1
            if role in (Role.PARAMETER, Role.GRADIENT):
                name = whole.leaves.strings[whole.leaves.name[row]]
                found = [_parameter_row(side, part, role, aliases.get(name, name)) for part in parts]
                if all(number >= 0 for number in found):
                    other = self._compose(found, _NAMES[relation], _shape(whole.leaves, row))
                    used.update(found)
            elif kind == LeafKind.TENSOR and row == _first_tensor(whole, node, (role,)):
                roles = (Role.INPUT, Role.KWARG) if role in (Role.INPUT, Role.KWARG) else (role,)
                found = [_first_tensor(side, part, roles) for part in parts]
                if all(number >= 0 for number in found):
                    if role == composed_role:
                        other = self._compose(found, _NAMES[relation], _shape(whole.leaves, row))
                        used.update(found)
                    elif backward and role == shared_role:
                        other = self._compose(found, "sum", _shape(side.leaves, found[0]))
                        used.update(found)
                    else:
                        other = found[0]
                        used.update(found)
            add(row, other)
        for part in parts:
            for row in side.rows(part):
                if row not in used:
                    add(-1, row)
        return rows

    def with_bias(self, output: int, bias: int) -> int:
        """The row of an output to which a bias is added that the module returns apart: only its mean is known."""
        return self._compose([output, bias], "sum", _shape(self._leaves, output))

    def stacked(self, rows: list[int], like: tuple[int, ...]) -> int:
        """The row of several parameters put together in one tensor of the shape `like` (the experts of a layer)."""
        return self._compose(rows, "stack", like, shape=like)

    def _compose(self, rows: list[int], relation: str, like: tuple[int, ...], shape: tuple[int, ...] = ()) -> int:
        leaves = self._leaves
        values = leaves.statistics[rows]
        sizes = np.array([math.prod(_shape(leaves, row)) for row in rows], np.float64)
        present = int(np.bitwise_and.reduce(leaves.present[rows])) & PRESENT_NUMBERS
        if relation == "sum":
            mean = float(values[:, MEAN].sum())
            statistics = (math.nan, math.nan, mean, math.nan)
            present &= PRESENT_MEAN
            shape = _shape(leaves, rows[0])
        else:
            with np.errstate(all="ignore"):
                statistics = (
                    float(values[:, MAX].max()),
                    float(values[:, MIN].min()),
                    float((values[:, MEAN] * sizes).sum() / max(sizes.sum(), 1.0)),
                    float(np.sqrt((values[:, NORM] ** 2).sum())),
                )
            shape = shape or joined_shape([_shape(leaves, row) for row in rows], like)
        self._parts.append((tuple(int(row) for row in rows), relation))
        self._statistics.append(statistics)
        self._present.append(present)
        self._shapes.append(shape)
        return leaves.rows + len(self._parts) - 1


def joined_shape(shapes: list[tuple[int, ...]], like: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the concatenation: along the axis that gives the extents of `like`, else the last; () if no axis fits."""
    ranks = {len(shape) for shape in shapes}
    if len(ranks) != 1 or not shapes[0]:
        return (sum(math.prod(shape) for shape in shapes),)
    candidates = []
    for axis in range(len(shapes[0]) - 1, -1, -1):
        if len({shape[:axis] + shape[axis + 1 :] for shape in shapes}) == 1:
            joined = (*shapes[0][:axis], sum(shape[axis] for shape in shapes), *shapes[0][axis + 1 :])
            if sorted(extent for extent in joined if extent != 1) == sorted(extent for extent in like if extent != 1):
                return joined
            candidates.append(joined)
    return candidates[0] if candidates else (sum(math.prod(shape) for shape in shapes),)


def _shape(leaves: Leaves, row: int) -> tuple[int, ...]:
    number = int(leaves.shape[row])
    return leaves.shapes[number] if number >= 0 else ()


def _first_tensor(graph: Graph, node: int, roles: tuple[int, ...]) -> int:
    return next((row for row in graph.rows(node) if graph.leaves.role[row] in roles and graph.leaves.kind[row] == LeafKind.TENSOR), -1)


def _parameter_row(graph: Graph, node: int, role: int, name: str) -> int:
    wanted = PARAMETER_ALIASES.get(name, name)
    for row in graph.rows(node):
        own = graph.leaves.strings[graph.leaves.name[row]]
        if graph.leaves.role[row] == role and PARAMETER_ALIASES.get(own, own) == wanted:
            return row
    return -1
