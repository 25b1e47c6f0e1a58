"""Parameters that one model keeps in another module than the other does: experts stacked in one tensor against one module
each, weights held by a block against weights of its linear layers.

Such modules have no counterpart, but their parameters have. They are joined at the innermost paired module around them,
first by equal statistics, and then, where that showed in one layer which belongs to which, in all layers alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from converter.compare.composition import Composer
from converter.dumps.columns import MAX, MIN, NORM, PRESENT_NUMBERS, LeafKind, Role
from converter.match.pairing import Pairing
from converter.tree.columns import Direction, NodeKind
from converter.tree.graph import Graph

# Relative difference of Max, Min and Norm up to which two parameters are taken for the same one.
SAME = 1e-5
_MOST_GROUPS = 32  # per module and side; more are left alone

Rows = list[tuple[int, int]]
Place = tuple[str, ...]  # module path without numbers, and the parameter's name


@dataclass(frozen=True)
class _Group:
    """Parameters of one place below one paired module, e.g. the same weight of all its experts."""

    places: tuple[Place, ...]
    rows: tuple[int, ...]
    size: int
    statistics: tuple[float, float, float]  # Max, Min, Norm of all together


def join_across_levels(single: dict[int, Rows], target: Graph, composer_t: Composer, golden: Graph, composer_g: Composer,
                       pairing: Pairing) -> None:
    """Add to the rows of module pairs (`single`, by pair) those that join parameters of modules without counterpart."""
    ours = _groups(target, pairing.pair_of_target, {pair: [a for a, b in rows if b < 0] for pair, rows in single.items()})
    theirs = _groups(golden, pairing.pair_of_golden, {pair: [b for a, b in rows if a < 0] for pair, rows in single.items()})
    regions = sorted(ours.keys() & theirs.keys() & single.keys())
    known: dict[tuple[Place, ...], tuple[Place, ...]] = {}
    found: dict[int, list[tuple[_Group, _Group]]] = {pair: [] for pair in regions}
    for pair in regions:
        for left, right in _candidates(ours[pair], theirs[pair]):
            if _same(left, right):
                found[pair].append((left, right))
                _take(ours[pair], left)
                _take(theirs[pair], right)
                known[left.places] = right.places
    for pair in regions:
        for left, right in _candidates(ours[pair], theirs[pair]):
            if known.get(left.places) == right.places:
                found[pair].append((left, right))
                _take(ours[pair], left)
                _take(theirs[pair], right)
        for left, right in found[pair]:
            a, b = _row(composer_t, target, left, right, golden), _row(composer_g, golden, right, left, target)
            gone_t, gone_g = set(left.rows), set(right.rows)
            single[pair] = [row for row in single[pair] if not ((row[0] in gone_t and row[1] < 0) or (row[1] in gone_g and row[0] < 0))]
            single[pair].append((a, b))


def _groups(graph: Graph, pair_of_node: np.ndarray, lone: dict[int, list[int]]) -> dict[int, list[_Group]]:
    """Per pair: parameters without counterpart at its own node (`lone` rows), and those of modules below without a pair."""
    tree, leaves = graph.tree, graph.leaves
    by_region: dict[int, dict[Place, list[int]]] = {}
    forward = (tree.kind == NodeKind.MODULE) & (tree.direction != Direction.BACKWARD)
    with_rows = graph.row_end > graph.row_start
    for node in np.flatnonzero(forward & with_rows & (pair_of_node < 0)).tolist():
        above = node
        while above > 0 and (pair_of_node[above] < 0 or tree.kind[above] != NodeKind.MODULE):
            above = int(tree.parent[above])
        if above > 0:
            for row in graph.rows(node):
                _add(by_region.setdefault(int(pair_of_node[above]), {}), graph, node, row)
    owner = graph.node_of_row() if any(lone.values()) else None
    for pair, rows in lone.items():
        for row in rows:
            if owner is not None and row < leaves.rows and forward[owner[row]]:
                _add(by_region.setdefault(pair, {}), graph, int(owner[row]), row)
    return {pair: [_group((place,), rows, graph) for place, rows in places.items()] for pair, places in by_region.items()
            if len(places) <= _MOST_GROUPS}


def _add(places: dict[Place, list[int]], graph: Graph, node: int, row: int) -> None:
    leaves = graph.leaves
    usable = leaves.role[row] == Role.PARAMETER and leaves.kind[row] == LeafKind.TENSOR
    if usable and leaves.present[row] & PRESENT_NUMBERS == PRESENT_NUMBERS:
        path = graph.tree.paths[graph.tree.path[node]]
        place = (*("*" if part.isdecimal() else part for part in path), leaves.strings[leaves.name[row]])
        places.setdefault(place, []).append(row)


def _group(places: tuple[Place, ...], rows: list[int], graph: Graph) -> _Group:
    leaves = graph.leaves
    size = sum(math.prod(leaves.shapes[int(leaves.shape[row])]) for row in rows if leaves.shape[row] >= 0)
    values = leaves.statistics[rows]
    norm = float(np.sqrt(np.square(values[:, NORM]).sum()))
    return _Group(places, tuple(rows), size, (float(values[:, MAX].max()), float(values[:, MIN].min()), norm))


def _candidates(ours: list[_Group], theirs: list[_Group]) -> Iterator[tuple[_Group, _Group]]:
    """Groups of equal size, one against one or two against one; whoever takes one removes it from the lists."""
    for left in list(ours):
        for right in list(theirs):
            if left in ours and right in theirs and left.size == right.size:
                yield left, right
    for many, one, turned in ((ours, theirs, False), (theirs, ours, True)):
        for first, second in combinations(list(many), 2):
            for whole in list(one):
                if first in many and second in many and whole in one and first.size + second.size == whole.size:
                    joined = _union(first, second)
                    yield (whole, joined) if turned else (joined, whole)


def _union(first: _Group, second: _Group) -> _Group:
    a, b = first.statistics, second.statistics
    statistics = (max(a[0], b[0]), min(a[1], b[1]), math.hypot(a[2], b[2]))
    return _Group((*first.places, *second.places), (*first.rows, *second.rows), first.size + second.size, statistics)


def _take(groups: list[_Group], taken: _Group) -> None:
    groups[:] = [group for group in groups if not set(group.rows) & set(taken.rows)]


def _same(left: _Group, right: _Group) -> bool:
    scale = max(abs(right.statistics[0]), abs(right.statistics[1]))
    near = [abs(a - b) <= SAME * size for a, b, size in zip(left.statistics, right.statistics, (scale, scale, right.statistics[2]))]
    return all(near) and scale > 0 and len(set(right.statistics)) > 2  # a constant (ones of a norm) says nothing


def _row(composer: Composer, graph: Graph, group: _Group, other: _Group, other_graph: Graph) -> int:
    if len(group.rows) == 1:
        return group.rows[0]
    leaves = other_graph.leaves
    return composer.stacked(list(group.rows), leaves.shapes[int(leaves.shape[other.rows[0]])] if len(other.rows) == 1 else ())
