"""Gives every node of a dump a parent: the recorded one, put right where the collector could not know it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import Dump
from converter.dumps.json_file import listed
from converter.messages import message
from converter.tree.calls import NO_NODE, ROOT, UNPLACED, Calls
from converter.tree.columns import ROOT_NAME, Direction, NodeKind
from converter.tree.left_open import release
from converter.tree.names import NameColumns


@dataclass(frozen=True)
class Placement:
    """Parents as node numbers of the dump, ROOT or UNPLACED. parameters_grad nodes without a recorded parent are ROOT until placed."""

    parent: NDArray[np.int64]
    corrected: NDArray[np.bool_]  # recorded under one parent, stands under another
    warnings: list[str]


def place(dump: Dump, names: NameColumns, forward: Calls, backward: Calls) -> Placement:
    """Parents of all nodes.

    1. The recorded parent. A parent that no file knows leaves its node under "Unplaced", as does missing in construct.json.
    2. What was filed below a backward call that was over by then moves to the root (left_open.py).
    3. A backward node without a parent belongs under the backward form of its forward twin's parent, if there is one.
    4. The collector files a backward node under the module whose backward hook is open, which need not be the one that
       called it: autograd order is not call order. A module that is not under the module containing it, and any API, goes
       where its forward twin says. (msprobe leaves APIs where they were filed.)
    5. Nodes on a circle of parents: the first one goes under "Unplaced" and the others stay below it.
    """
    parent, warnings = _recorded(dump, names)
    warnings += release(dump, names, forward, parent)
    expected = expected_parents(parent, names, forward, backward, dump.construct_count)
    without = (parent == ROOT) & (expected >= 0)
    misplaced = _outside_container(parent, names) & (expected >= ROOT)
    misplaced |= (parent >= 0) & (names.kind == NodeKind.API) & (expected >= 0)
    corrected = misplaced & (expected != parent)
    moved = without | corrected
    parent[moved] = expected[moved]
    warnings += _break_circles(parent, dump.names)
    return Placement(parent, corrected, warnings)


def _recorded(dump: Dump, names: NameColumns) -> tuple[NDArray[np.int64], list[str]]:
    index = dict(zip(dump.names, range(len(dump.names))))
    index.setdefault(ROOT_NAME, ROOT)  # merged exports name the root
    unknown = -3
    count = dump.construct_count
    lookup = index.get
    parent = np.full(len(dump.names), UNPLACED, dtype=np.int64)
    parent[:count] = [ROOT if name is None else lookup(name, unknown) for name in dump.parents]
    gradients = names.kind == NodeKind.PARAMETERS_GRAD
    gradients[:count] = False
    parent[gradients] = ROOT
    warnings = []
    orphans = np.flatnonzero(parent == unknown)
    if len(orphans):
        parents = list(dict.fromkeys(str(dump.parents[node]) for node in orphans))
        warnings.append(message("tree.orphans",
                                "construct.json: {nodes} under parents that are not in the dump ({parents}) kept under Unplaced: "
                                "{names}",
                                nodes=_nodes(len(orphans)), parents=listed(parents),
                                names=listed([dump.names[node] for node in orphans])))
        parent[orphans] = UNPLACED
    strangers = np.flatnonzero(parent[count:] == UNPLACED) + count
    if len(strangers):
        warnings.append(message("tree.strangers", "construct.json has no entry for {nodes} of dump.json, kept under Unplaced: {names}",
                                nodes=_nodes(len(strangers)), names=listed([dump.names[node] for node in strangers])))
    return parent, warnings


def expected_parents(parent: NDArray[np.int64], names: NameColumns, forward: Calls, backward: Calls, count: int) -> NDArray[np.int64]:
    """Where the forward twin says that a backward node belongs: the backward form of the twin's parent.

    ROOT where the twin stands at the root; UNPLACED where nothing can be said. Only nodes of construct.json count.
    """
    expected = np.full(len(parent), UNPLACED, dtype=np.int64)
    nodes = backward.node
    twin = forward.find(names.stem[nodes], names.call[nodes])
    nodes, twin = nodes[twin != NO_NODE], twin[twin != NO_NODE]
    above = parent[twin]
    expected[nodes[above == ROOT]] = ROOT
    nodes, above = nodes[(above >= 0) & (above < count)], above[(above >= 0) & (above < count)]
    mirrored = backward.find(names.stem[above], names.call[above])
    # A forward call that ran inside a backward one (recomputation) already stands on the backward side.
    mirrored = np.where(names.direction[above] == Direction.BACKWARD, above, mirrored)
    known = (mirrored != NO_NODE) & (mirrored != nodes)
    expected[nodes[known]] = mirrored[known]
    return expected


def _outside_container(parent: NDArray[np.int64], names: NameColumns) -> NDArray[np.bool_]:
    """Nodes with a recorded module parent whose path is not the path of the node without its last component."""
    numbers = {path: number for number, path in enumerate(names.paths)}
    container = np.array([numbers.get(path[:-1], -1) if path else -1 for path in names.paths], dtype=np.int64)
    module = (names.kind == NodeKind.MODULE) & (names.path != 0)
    above = np.where(parent >= 0, parent, 0)
    known = (parent >= 0) & module & (names.kind[above] == NodeKind.MODULE) & (names.prefix[above] != 0)
    same = (container[names.path] == names.path[above]) & (names.prefix == names.prefix[above])
    result: NDArray[np.bool_] = known & ~same
    return result


def _break_circles(parent: NDArray[np.int64], names: list[str]) -> list[str]:
    """Move the first node of every circle of parents under "Unplaced"."""
    adrift = np.flatnonzero(top_of(parent) < 0)
    warnings = []
    visited: set[int] = set()
    for start in adrift.tolist():
        node = start
        trail: dict[int, int] = {}
        while node >= 0 and node not in visited:
            visited.add(node)
            trail[node] = len(trail)
            node = int(parent[node])
        if node in trail:
            circle = sorted(list(trail)[trail[node]:])
            parent[circle[0]] = UNPLACED
            what = message("tree.own_parent", "is its own parent")
            if len(circle) > 1:
                what = message("tree.circle", "closes a circle of {count} parents ({names})", count=len(circle),
                               names=listed([names[node] for node in circle]))
            warnings.append(message("tree.kept_unplaced", 'construct.json: "{name}" {what}, kept under Unplaced', name=names[circle[0]],
                                    what=what))
    return warnings


def stands_below(node: int, ancestor: int, parent: NDArray[np.int64]) -> bool:
    """Whether a node is another one or stands below it. There must be no circle of parents."""
    while node >= 0:
        if node == ancestor:
            return True
        node = int(parent[node])
    return False


def top_of(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ancestor of every node that has no parent node above it (the node itself if it has none); -1 on circles of parents."""
    count = len(parent)
    step = np.where(parent >= 0, parent, np.arange(count))
    for _ in range(max(count, 2).bit_length() + 1):
        further = step[step]
        if np.array_equal(further, step):
            break
        step = further
    # Whatever still moves, or rests on a node that has a parent, goes round in a circle.
    return np.where(parent[step] >= 0, -1, step)


def _nodes(count: int) -> str:
    return message("tree.node", "1 node") if count == 1 else message("tree.nodes", "{count} nodes", count=count)
