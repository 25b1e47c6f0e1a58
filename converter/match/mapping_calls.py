"""From corresponding levels to corresponding calls: in call order, within direction, micro step and recomputation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.match.mapping_levels import Levels
from converter.tree.columns import FLAG_RECOMPUTED, NodeKind, Tree


@dataclass(frozen=True)
class Side:
    """One tree prepared for the pairing of calls."""

    tree: Tree
    levels: Levels
    free: NDArray[np.bool_]  # per node: not paired by an earlier step
    phase: NDArray[np.int64]  # per node: number for kind (module or gradient), direction, recomputation and micro step
    call_ordinal: NDArray[np.int64]  # per node: which call of its level within its phase, in call order; 0 without a level
    nodes: NDArray[np.int64]  # free module nodes by level, then in call order
    start: NDArray[np.int64]  # [levels + 1]: nodes of level i are nodes[start[i]:start[i + 1]]


def prepare_side(tree: Tree, levels: Levels, taken: NDArray[np.bool_] | None, by_step: bool) -> Side:
    """Prepare one side. `by_step`: micro steps are counted alike on both sides, so calls pair within them."""
    phase = (tree.kind == NodeKind.PARAMETERS_GRAD).astype(np.int64) * 3 + tree.direction
    phase = phase * 2 + ((tree.flags & FLAG_RECOMPUTED) != 0)
    if by_step:
        phase = phase * (tree.micro_steps + 1) + tree.micro_step
    free = np.ones(tree.count, np.bool_) if taken is None else ~taken
    nodes = np.flatnonzero(levels.of_node > 0)
    level = levels.of_node[nodes].astype(np.int64)
    call_ordinal = np.zeros(tree.count, np.int64)
    call_ordinal[nodes] = ordinals(level * (phase.max(initial=0) + 1) + phase[nodes], tree.call[nodes].astype(np.int64))
    nodes, level = nodes[free[nodes]], level[free[nodes]]
    order = np.lexsort((tree.call[nodes], level))
    return Side(tree, levels, free, phase, call_ordinal, nodes[order], np.searchsorted(level[order], np.arange(levels.count + 1)))


def ordinals(key: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Position of each element among those of equal key, by ascending `order` (ties: as they stand)."""
    if not len(key):
        return np.zeros(0, np.int64)
    sort = np.lexsort((order, key))
    ordered = key[sort]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.append(starts, len(key)))
    result = np.empty(len(key), np.int64)
    result[sort] = np.arange(len(key)) - np.repeat(starts, lengths)
    return result


def pair_calls(source: Side, destination: Side, partner: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair the calls of levels that correspond one to one.

    Args:
        partner: [source levels]: level of the destination side, -1 = none.
    Returns:
        Nodes of the source side and of the destination side, pair by pair.
    """
    mine, other = source.nodes[partner[source.levels.of_node[source.nodes]] >= 0], destination.nodes
    level, other_level = partner[source.levels.of_node[mine]].astype(np.int64), destination.levels.of_node[other].astype(np.int64)
    phases = max(int(source.phase.max(initial=0)), int(destination.phase.max(initial=0))) + 1
    key, other_key = level * phases + source.phase[mine], other_level * phases + destination.phase[other]
    left, right = join(key, source.tree.call[mine].astype(np.int64), other_key, destination.tree.call[other].astype(np.int64))
    return mine[left], other[right]


def join(key: NDArray[np.int64], order: NDArray[np.int64], other_key: NDArray[np.int64],
         other_order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair the n-th of each key (by `order`) on one side with the n-th of that key on the other; positions on both sides."""
    count, other_count = ordinals(key, order), ordinals(other_key, other_order)
    size = max(int(count.max(initial=0)), int(other_count.max(initial=0))) + 1
    _, left, right = np.intersect1d(key * size + count, other_key * size + other_count, assume_unique=True, return_indices=True)
    return left, right


def group_calls(source: Side, destination: Side, source_levels: tuple[int, ...],
                destination_levels: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pair the calls of a group: the n-th call of every level on both sides, where all of them have one."""
    per_level = [_by_phase(source, level) for level in source_levels] + [_by_phase(destination, level) for level in destination_levels]
    pairs = []
    for phase, first in per_level[0].items():
        for nodes in zip(first, *(other.get(phase, []) for other in per_level[1:])):
            pairs.append((tuple(nodes[:len(source_levels)]), tuple(nodes[len(source_levels):])))
    return pairs


def _by_phase(side: Side, level: int) -> dict[int, list[int]]:
    """Nodes of a level by phase, in call order."""
    found: dict[int, list[int]] = {}
    nodes = side.nodes[side.start[level]:side.start[level + 1]]
    for node, phase in zip(nodes.tolist(), side.phase[nodes].tolist()):
        found.setdefault(phase, []).append(node)
    return found
