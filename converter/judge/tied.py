"""Parameters that several modules share (tied embeddings): their gradient is complete only when backward is over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import LeafKind, Role
from converter.judge.causes import PairFacts
from converter.judge.verdict import Cause
from converter.tree.columns import NodeKind
from converter.tree.graph import Graph


def without_tied_gradients(cause: NDArray[np.uint8], pairs: PairFacts, target: Graph) -> NDArray[np.uint8]:
    """The causes with those gradients taken as clean that belong to a shared parameter.

    Its gradient is the sum over all modules that use it, written at the first of them: a fault anywhere in between shows there,
    far from its place. It is blamed only if nothing else differs.
    """
    tree = target.tree
    suspects = np.flatnonzero((cause == Cause.INTRODUCED) & (tree.kind[pairs.node] == NodeKind.PARAMETERS_GRAD))
    if not len(suspects):
        return cause
    tied = _tied_paths(target)
    changed: NDArray[np.uint8] = cause.copy()
    for number in suspects.tolist():
        if int(tree.path[pairs.node[number]]) in tied:
            changed[number] = Cause.CLEAN
    return changed


def _tied_paths(graph: Graph) -> set[int]:
    """Path ids of modules that have a matrix in common with a module of another path: equal shape, equal statistics."""
    leaves, tree = graph.leaves, graph.tree
    rows = np.flatnonzero((leaves.role == Role.PARAMETER) & (leaves.kind == LeafKind.TENSOR) & (leaves.present & 15 == 15))
    node = graph.node_of_row()
    owner = np.where((node >= 0) & (tree.kind[node] == NodeKind.MODULE), tree.path[node], -1)
    paths_of: dict[tuple[int, bytes], set[int]] = {}
    for row in rows.tolist():
        if owner[row] >= 0 and len(leaves.shapes[int(leaves.shape[row])]) > 1:
            paths_of.setdefault((int(leaves.shape[row]), leaves.statistics[row].tobytes()), set()).add(int(owner[row]))
    return {path for paths in paths_of.values() if len(paths) > 1 for path in paths}
