"""Tensor parallelism seen by single ranks: shards against wholes, and what stands beside a shard."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.judge.row_facts import RowFacts
from converter.match.pairing import Pairing
from converter.match.similarity import shard_factor
from converter.tree.columns import NodeKind
from converter.tree.graph import Graph

# Nodes of a sharded layer with the APIs inside it; a module with more holds layers of its own.
LARGEST_SHARDED_MODULE = 32


def is_parallel(graph: Graph) -> bool:
    """The model is built of tensor-parallel layers (ColumnParallelLinear, VocabParallelEmbedding, …)."""
    return any("Parallel" in label for label in graph.tree.labels)


def shards(comparison: Comparison, where: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows whose shapes differ by a whole factor along one extent, as a shard does from the whole."""
    found = np.zeros(comparison.rows, np.bool_)
    left, right = comparison.target, comparison.golden
    for row in np.flatnonzero(where).tolist():
        a = left.shapes[left.shape[comparison.target_row[row]]]
        b = right.shapes[right.shape[comparison.golden_row[row]]]
        plain_a, plain_b = tuple(sorted(e for e in a if e != 1)), tuple(sorted(e for e in b if e != 1))
        found[row] = shard_factor((a,), (b,)) > 1 or shard_factor((plain_a,), (plain_b,)) > 1
    return found


def beside_shards(sharded: NDArray[np.bool_], facts: RowFacts, pairing: Pairing, target: Graph) -> NDArray[np.bool_]:
    """[pairs] a tensor of the pair, or of the module around it, is a shard: its other tensors may be partial sums."""
    pairs = np.bincount(facts.pair[sharded], minlength=pairing.count) > 0 if pairing.count else np.zeros(0, np.bool_)
    if not pairs.any():
        return pairs
    tree = target.tree
    firsts = pairing.first_target_nodes()
    around = np.zeros(tree.count, np.bool_)
    leaves = (tree.end[firsts] - firsts <= LARGEST_SHARDED_MODULE) & (tree.kind[firsts] == NodeKind.MODULE)
    for node in firsts[pairs & leaves].tolist():
        around[node : int(tree.end[node])] = True
    beside: NDArray[np.bool_] = pairs | around[firsts]
    return beside
