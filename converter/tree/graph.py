"""One side of a comparison: the tree and the leaves of its nodes. All that matching, comparing and judging need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import Dump, Leaves
from converter.tree.columns import Tree


@dataclass(frozen=True)
class Graph:
    """Leaves of tree node i are rows row_start[i]:row_end[i] of `leaves`, whether they come from a dump or a graph file."""

    tree: Tree
    leaves: Leaves
    row_start: NDArray[np.int64]
    row_end: NDArray[np.int64]

    def rows(self, node: int) -> range:
        """Rows that belong to a node; empty for nodes without data."""
        return range(int(self.row_start[node]), int(self.row_end[node]))

    def node_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(node, leaf row) of every leaf, in node order."""
        node = np.repeat(np.arange(self.tree.count, dtype=np.int64), self.row_end - self.row_start)
        return node, ranges(self.row_start, self.row_end)

    def node_of_row(self) -> NDArray[np.int64]:
        """[leaf rows] the node that each row belongs to; -1 = none."""
        owner = np.full(self.leaves.rows, -1, np.int64)
        node, row = self.node_rows()
        owner[row] = node
        return owner


def ranges(start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of several ranges start[i]:end[i], one range after the other."""
    counts = (end - start).astype(np.int64)
    numbers: NDArray[np.int64] = np.arange(int(counts.sum()), dtype=np.int64) + np.repeat(start - (np.cumsum(counts) - counts), counts)
    return numbers


def graph_of(dump: Dump, tree: Tree) -> Graph:
    """Join a dump with the tree that was built from it; nothing is copied but two columns."""
    at = tree.dump_node
    made = at < 0
    end = np.append(dump.row_end, 0)  # number -1 reads the 0 behind the last
    start = np.append(0, dump.row_end)
    row_start = start[np.where(made, 0, at)]
    return Graph(tree, dump.leaves, row_start, np.where(made, row_start, end[at]))
