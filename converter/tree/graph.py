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


def graph_of(dump: Dump, tree: Tree) -> Graph:
    """Join a dump with the tree that was built from it; nothing is copied but two columns."""
    at = tree.dump_node
    made = at < 0
    end = np.append(dump.row_end, 0)  # number -1 reads the 0 behind the last
    start = np.append(0, dump.row_end)
    row_start = start[np.where(made, 0, at)]
    return Graph(tree, dump.leaves, row_start, np.where(made, row_start, end[at]))
