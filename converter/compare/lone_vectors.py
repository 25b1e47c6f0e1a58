"""Vectors that only one side of a pair has: what tells layers apart that hold a norm or return their bias."""

from __future__ import annotations

from converter.dumps.columns import LeafKind, Role
from converter.tree.graph import Graph

Rows = list[tuple[int, int]]  # (target row, golden row) of one pair, -1 = nothing on that side


def lone_vectors(rows: Rows, side: int, graph: Graph, role: Role) -> list[int]:
    """The rows of one side (0 = target, 1 = golden) without a counterpart that are tensors of one axis in the given role."""
    leaves = graph.leaves
    return [
        row[side]
        for row in rows
        if row[1 - side] < 0 <= row[side] < leaves.rows
        and leaves.role[row[side]] == role
        and leaves.kind[row[side]] == LeafKind.TENSOR
        and leaves.shape[row[side]] >= 0
        and len(leaves.shapes[int(leaves.shape[row[side]])]) == 1
    ]
