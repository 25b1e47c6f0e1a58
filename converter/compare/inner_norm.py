"""Layers that normalise their input themselves (Transformer Engine's LayerNormLinear), against layers that get it normalised.

Their weights and outputs are the same, their inputs are not: one is taken before the norm, the other behind it.
"""

from __future__ import annotations

from converter.compare.lone_vectors import Rows, lone_vectors
from converter.dumps.columns import Role
from converter.tree.columns import Direction, NodeKind
from converter.tree.graph import Graph


class InnerNorms:
    """Remembers, by module path, which layers hold a norm that their counterpart does not: backward calls show no parameters."""

    def __init__(self) -> None:
        self._paths: set[int] = set()

    def without_inputs(self, rows: Rows, target: Graph, node: int, golden: Graph) -> Rows:
        """The rows of a pair with joined inputs (backward: gradients of inputs) taken apart if one side holds a norm.

        Args:
            node: first target node of the pair.
        """
        tree = target.tree
        if tree.kind[node] != NodeKind.MODULE:
            return rows
        path = int(tree.path[node])
        forward = tree.direction[node] == Direction.FORWARD
        if forward and bool(_lone_norms(rows, 0, target)) != bool(_lone_norms(rows, 1, golden)):
            self._paths.add(path)
        if path not in self._paths:
            return rows
        apart = (Role.INPUT, Role.KWARG) if forward else (Role.OUTPUT,)
        kept: Rows = []
        for a, b in rows:
            if a >= 0 and b >= 0 and _role(a, b, target, golden) in apart:
                kept += [(a, -1), (-1, b)]
            else:
                kept.append((a, b))
        return kept


def _role(a: int, b: int, target: Graph, golden: Graph) -> int:
    if a < target.leaves.rows:
        return int(target.leaves.role[a])
    return int(golden.leaves.role[b]) if b < golden.leaves.rows else -1


def _lone_norms(rows: Rows, side: int, graph: Graph) -> list[int]:
    """Vector parameters of one side only whose name speaks of a norm ("layer_norm_weight")."""
    leaves = graph.leaves
    return [row for row in lone_vectors(rows, side, graph, Role.PARAMETER) if "norm" in leaves.strings[int(leaves.name[row])].lower()]
