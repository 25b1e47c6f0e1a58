"""Recomputation (activation checkpointing): forward calls that ran again inside backward, found and put where they ran.

A recomputed module call has no parent in the dump, because the module around it is closed by then, or it has the backward call
in which it was set off (torch's non-reentrant checkpoint begins when the first saved tensor is asked for, deep inside). It is known by
this: it stands there, the same module was called before below a forward parent, and its call stack goes through the autograd engine
(no stack, or MindSpore, whose backward runs outside Python: the first two suffice). It belongs below the backward call of the
module around the original call, matched in order of occurrence, and so does the backward call that follows it.
A module that is called at the root in the first place stays there; for it only a call stack is proof.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import Dump
from converter.tree.calls import NO_NODE, ROOT, Calls
from converter.tree.checkpoint_stacks import stack_runs_in_backward
from converter.tree.columns import Direction, NodeKind
from converter.tree.names import NameColumns
from converter.tree.placement import stands_below


def place_recomputed(dump: Dump, names: NameColumns, forward: Calls, backward: Calls, parent: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Move recomputed calls in `parent` (changed in place) and return which modules were called again in backward."""
    recomputed = _inside_backward(names, parent)
    known: dict[int, bool] = {}
    for stem in _stems_called_again(names, forward, parent, recomputed):
        calls = _in_order(forward.of_stem(stem))
        original = [node for node in calls if parent[node] != ROOT and not recomputed[node]]
        if not original:
            recomputed[[node for node in calls[1:] if stack_runs_in_backward(dump, node, known)]] = True
            continue
        again = [node for node in calls if (parent[node] == ROOT or recomputed[node]) and node > original[0] and _proven(dump, node, known)]
        if not again:
            continue
        recomputed[again] = True
        targets = [_backward_of(int(parent[node]), names, backward) for node in original]
        for node, target in _matched(again, targets):
            _move(node, target, parent)
        for node, target in _matched_backward(_in_order(backward.of_stem(stem)), again, targets, names):
            if parent[node] == ROOT:
                _move(node, target, parent)
    return recomputed


def _inside_backward(names: NameColumns, parent: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Forward modules that the collector itself filed below a backward call."""
    above = np.where(parent >= 0, parent, 0)
    result: NDArray[np.bool_] = ((parent >= 0) & (names.kind == NodeKind.MODULE) & (names.direction == Direction.FORWARD)
                                 & (names.direction[above] == Direction.BACKWARD) & (names.kind[above] == NodeKind.MODULE))
    return result


def _stems_called_again(names: NameColumns, forward: Calls, parent: NDArray[np.int64], recomputed: NDArray[np.bool_]) -> list[int]:
    """Modules that were called more than once, among that at the root or below a backward call."""
    node = forward.node[names.kind[forward.node] == NodeKind.MODULE]
    stem = names.stem[node]
    several = np.bincount(stem, minlength=1) > 1
    candidate = ((parent[node] == ROOT) | recomputed[node]) & several[stem]
    result: list[int] = np.unique(stem[candidate]).tolist()
    return result


def _in_order(nodes: NDArray[np.int64]) -> list[int]:
    """In order of occurrence, which is the order of the dump."""
    result: list[int] = np.sort(nodes).tolist()
    return result


def _proven(dump: Dump, node: int, known: dict[int, bool]) -> bool:
    return bool(dump.stack[node] < 0) or dump.framework == "mindspore" or stack_runs_in_backward(dump, node, known)


def _backward_of(node: int, names: NameColumns, backward: Calls) -> int:
    """The backward call of a forward node; the node itself where it already stands on the backward side."""
    if node < 0 or names.direction[node] == Direction.BACKWARD:
        return max(node, NO_NODE)
    return int(backward.find(names.stem[node:node + 1], names.call[node:node + 1])[0])


def _matched(nodes: list[int], targets: list[int]) -> list[tuple[int, int]]:
    """Nodes and targets in order of occurrence; further nodes share the last target."""
    return [(node, targets[min(i, len(targets) - 1)]) for i, node in enumerate(nodes)]


def _matched_backward(nodes: list[int], again: list[int], targets: list[int], names: NameColumns) -> list[tuple[int, int]]:
    """Targets of the backward calls. Some collectors give them the number of the recomputed call, some count them from 0."""
    number = {int(names.call[node]): i for i, node in enumerate(again)}
    if all(int(names.call[node]) in number for node in nodes):
        return [(node, targets[min(number[int(names.call[node])], len(targets) - 1)]) for node in nodes]
    return _matched(nodes, targets)


def _move(node: int, target: int, parent: NDArray[np.int64]) -> None:
    """Put a node below another one, unless that stands below it."""
    if target >= 0 and not stands_below(target, node, parent):
        parent[node] = target


def mark_descendants(recomputed: NDArray[np.bool_], parent: NDArray[np.int32], direction: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Extend the mark to all forward nodes below a recomputed call. `parent` in pre-order: parents come first."""
    if recomputed.any():
        flags = recomputed.tolist()
        forward = (direction == Direction.FORWARD).tolist()
        for node, above in enumerate(parent.tolist()):
            if above >= 0 and flags[above] and forward[node]:
                flags[node] = True
        return np.array(flags, dtype=np.bool_)
    return recomputed
