"""Finds nodes by what they call: the forward twin of a backward node, the backward form of a parent, the calls of a module."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.tree.columns import Direction, NodeKind
from converter.tree.names import NameColumns

NO_NODE = -1
ROOT, UNPLACED = -1, -2  # parents that are no node of the dump


@dataclass(frozen=True)
class Calls:
    """All forward, or all backward, calls of a graph, sorted by stem and call number."""

    code: NDArray[np.int64]
    node: NDArray[np.int64]
    base: int

    def find(self, stem: NDArray[np.int32], call: NDArray[np.int32]) -> NDArray[np.int64]:
        """Node of each (stem, call), NO_NODE where there is none."""
        if not len(self.code):
            return np.full(len(stem), NO_NODE, dtype=np.int64)
        wanted = stem.astype(np.int64) * self.base + (call + 1)
        at = np.minimum(np.searchsorted(self.code, wanted), len(self.code) - 1)
        return np.where(self.code[at] == wanted, self.node[at], NO_NODE)

    def of_stem(self, stem: int) -> NDArray[np.int64]:
        """Nodes of one stem, by call number."""
        low, high = self.range_of_stems(np.array([stem], dtype=np.int32))
        return self.node[low[0]:high[0]]

    def range_of_stems(self, stem: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The calls of each stem are node[low:high]."""
        first = stem.astype(np.int64) * self.base
        return np.searchsorted(self.code, first), np.searchsorted(self.code, first + self.base)


def calls_of(names: NameColumns, direction: Direction, count: int) -> Calls:
    """The calls in one direction among the first `count` nodes; parameters_grad nodes are no calls."""
    node = np.flatnonzero((names.direction[:count] == direction) & (names.kind[:count] != NodeKind.PARAMETERS_GRAD))
    base = int(names.call.max(initial=0)) + 2
    code = names.stem[node].astype(np.int64) * base + (names.call[node] + 1)
    order = np.argsort(code, kind="stable")
    return Calls(code=code[order], node=node[order], base=base)
