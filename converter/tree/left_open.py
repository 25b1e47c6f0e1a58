"""Backward calls that the collector left open, so that it filed below them what ran after they were over.

Seen in real Megatron dumps: the whole second micro step stands below `….SelfAttention.backward.0` of the first. It is known by
this: a module that was first called at the root cannot begin another forward call before backward is over.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import Dump
from converter.dumps.json_file import listed
from converter.messages import message
from converter.tree.calls import ROOT, Calls
from converter.tree.checkpoint_stacks import stack_runs_in_backward
from converter.tree.columns import Direction, NodeKind
from converter.tree.names import NameColumns


def release(dump: Dump, names: NameColumns, forward: Calls, parent: NDArray[np.int64]) -> list[str]:
    """Move to the root what was filed below a backward call after its end (`parent` is changed in place); warnings."""
    over: dict[int, int] = {}  # backward call → first node that proves its end
    first_at_root: dict[int, bool] = {}
    known: dict[int, bool] = {}
    for node in _forward_below_backward(names, parent).tolist():
        above = int(parent[node])
        if above in over:
            continue
        stem = int(names.stem[node])
        if stem not in first_at_root:
            first_at_root[stem] = bool(parent[forward.of_stem(stem).min()] == ROOT)
        if first_at_root[stem] and not stack_runs_in_backward(dump, node, known):
            over[above] = node
    count = 0
    for above, since in over.items():
        later = np.flatnonzero(parent[since:dump.construct_count] == above) + since
        parent[later] = ROOT
        count += len(later)
    if not over:
        return []
    nodes = message("tree.node", "1 node") if count == 1 else message("tree.nodes", "{count} nodes", count=count)
    return [
        message(
            "tree.left_open",
            "construct.json: {nodes} filed below a backward call that was over by then, moved to the root: {names}",
            nodes=nodes,
            names=listed([dump.names[node] for node in over]),
        )
    ]


def _forward_below_backward(names: NameColumns, parent: NDArray[np.int64]) -> NDArray[np.int64]:
    above = np.maximum(parent, 0)
    return np.flatnonzero((parent >= 0) & (names.kind == NodeKind.MODULE) & (names.direction == Direction.FORWARD)
                          & (names.kind[above] == NodeKind.MODULE) & (names.direction[above] == Direction.BACKWARD))
