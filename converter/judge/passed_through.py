"""Backward calls that hand on the gradient they were given, against such that compute one.

torch ends a linear layer of a 3-D input without bias with a view: what is recorded as the output of its backward call is
the incoming gradient in another shape. For a 2-D input it is the gradient of the input. The two are different things.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import PRESENT_NUMBERS, LeafKind, Role
from converter.judge.row_facts import RowFacts
from converter.match.pairing import Pairing
from converter.tree.columns import Direction, NodeKind
from converter.tree.graph import Graph

Flags = NDArray[np.bool_]


def passed_through_once(comparison: Comparison, facts: RowFacts, pairing: Pairing, target: Graph, golden: Graph) -> Flags:
    """[rows] outputs of backward API calls that equal the call's own first input on one side only, where the inputs' shapes differ."""
    found = np.zeros(comparison.rows, np.bool_)
    nodes_t, nodes_g = pairing.first_target_nodes(), pairing.first_golden_nodes()
    tree = target.tree
    calls = (tree.kind[nodes_t] == NodeKind.API) & (tree.direction[nodes_t] == Direction.BACKWARD)
    rows = np.flatnonzero(calls[facts.pair] & facts.tensors & (facts.role == Role.OUTPUT))
    if len(rows):
        ours = _equals_first_input(target, nodes_t[facts.pair[rows]], comparison.target_row[rows].astype(np.int64))
        theirs = _equals_first_input(golden, nodes_g[facts.pair[rows]], comparison.golden_row[rows].astype(np.int64))
        shapes = (_shapes_of_first_input(target, nodes_t[facts.pair[rows]]), _shapes_of_first_input(golden, nodes_g[facts.pair[rows]]))
        found[rows] = (ours != theirs) & np.array([a != b for a, b in zip(*shapes)])
    return found


def _equals_first_input(graph: Graph, nodes: NDArray[np.int64], outputs: NDArray[np.int64]) -> Flags:
    leaves = graph.leaves
    first = np.minimum(graph.row_start[nodes], max(leaves.rows - 1, 0))
    outputs = np.minimum(outputs, max(leaves.rows - 1, 0))  # composed rows lie behind; no API has them
    usable = (leaves.role[first] == Role.INPUT) & (leaves.kind[first] == LeafKind.TENSOR)
    usable &= (leaves.present[first] & leaves.present[outputs] & PRESENT_NUMBERS) == PRESENT_NUMBERS
    return np.asarray(usable & (leaves.statistics[first] == leaves.statistics[outputs]).all(axis=1))


def _shapes_of_first_input(graph: Graph, nodes: NDArray[np.int64]) -> list[tuple[int, ...] | None]:
    leaves = graph.leaves
    numbers = leaves.shape[np.minimum(graph.row_start[nodes], max(leaves.rows - 1, 0))]
    return [leaves.shapes[number] if number >= 0 else None for number in numbers.tolist()]
