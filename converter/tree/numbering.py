"""Numbers nodes in pre-order: a depth-first walk, siblings in call order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def number_nodes(parent: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32],
                                                                                NDArray[np.int32]]:
    """Walk the tree whose parents are given; the root, the last node, has parent -1. Siblings stand in rising `order`.

    Returns `walk` (int64: old number of every new node) and, by new number, int32 `parent`, `depth` and `end` (the subtree of i is
    i:end[i]). Iterative and linear, so that neither deep chains nor wide nodes hurt.
    """
    count = len(parent)
    children = np.lexsort((-order, parent))[1:]  # per parent, last child first; the root's own row comes first and is dropped
    first = np.searchsorted(parent[children], np.arange(count + 1)).tolist()
    below: list[int] = children.tolist()
    walk: list[int] = []
    stack = [count - 1]
    while stack:
        node = stack.pop()
        walk.append(node)
        low, high = first[node], first[node + 1]
        if low != high:
            stack += below[low:high]
    new = np.empty(count, dtype=np.int64)
    walked = np.array(walk, dtype=np.int64)
    new[walked] = np.arange(count)
    parents = np.where(parent[walked] >= 0, new[parent[walked]], -1)
    above: list[int] = parents.tolist()
    depth = [0] * count
    size = [1] * count
    for node in range(1, count):
        depth[node] = depth[above[node]] + 1
    for node in range(count - 1, 0, -1):
        size[above[node]] += size[node]
    return (walked, parents.astype(np.int32), np.array(depth, dtype=np.int32),
            (np.arange(count) + np.array(size)).astype(np.int32))
