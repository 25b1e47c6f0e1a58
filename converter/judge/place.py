"""Which node a first divergence is told at, and which calls without a counterpart lie before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison, Composition
from converter.dumps.columns import MAX, MIN, Role
from converter.judge.causes import PairFacts
from converter.judge.divergence import Finding
from converter.judge.rows import RowVerdicts
from converter.judge.verdict import Status
from converter.match.pairing import Pairing
from converter.tree.columns import NodeKind, Tree
from converter.tree.graph import Graph

# More calls than this between two paired ones say nothing: the code is simply another.
MOST_LONE_CALLS = 4
# A tensor of more parts than this (the experts of a layer) is told at the module around them.
MOST_PARTS = 8


@dataclass(frozen=True)
class Evidence:
    """Everything that has been found out of one comparison."""

    comparison: Comparison
    rows: RowVerdicts
    pairs: PairFacts
    pairing: Pairing
    target: Graph
    golden: Graph
    target_owner: NDArray[np.int64]  # [target leaves] node
    golden_owner: NDArray[np.int64]


def told_nodes(finding: Finding, evidence: Evidence) -> tuple[int, tuple[int, ...]]:
    """(target node, golden nodes) that name the place: modules wherever there is one, since a person looks for those.

    An API call is told at the module that makes it; a gap at the innermost module around the last clean call and the first
    diverged one, paired or not; a fused layer at the part that sticks out; a parameter at the module that holds it.
    """
    pairs, pairing, target, golden = evidence.pairs, evidence.pairing, evidence.target, evidence.golden
    pair = finding.place if finding.place >= 0 else finding.seen
    node, others = int(pairs.node[pair]), tuple(pairing.golden_nodes_of(pair))
    row = _responsible_row(finding, evidence, pair)
    if row >= 0:
        part = target_part(evidence, pair, row)
        node = part if part >= 0 else node
        if finding.kind == "parameter":
            others = tuple(dict.fromkeys(other for other, _ in golden_parts(evidence, row))) or others
    if finding.kind == "gap" and finding.seen >= 0:
        return _around_gap(finding, pairs, pairing, target.tree, golden.tree) or (node, others)
    if target.tree.kind[node] == NodeKind.API:
        module = _module_above(target.tree, node)
        modules = tuple(sorted({above for above in (_module_above(golden.tree, other) for other in others) if above > 0}))
        if module > 0 and modules:
            return module, modules
    return node, others


def _around_gap(finding: Finding, pairs: PairFacts, pairing: Pairing, target: Tree, golden: Tree) -> tuple[int, tuple[int, ...]] | None:
    """The innermost module around the gap; None where there is none (the root), or it is the pair's own."""
    if finding.after < 0:
        return None
    after, seen = int(pairs.node[finding.after]), int(pairs.node[finding.seen])
    outer = int(pairs.node[finding.place]) if finding.place >= 0 else 0
    if not outer <= after < int(target.end[outer]):
        return None
    around = _common_module(target, after, seen)
    if around <= outer:
        return None
    theirs = _common_module(golden, pairing.golden_nodes_of(finding.after)[0], pairing.golden_nodes_of(finding.seen)[0])
    return around, (theirs,) if theirs > 0 else tuple(pairing.golden_nodes_of(finding.place if finding.place >= 0 else finding.seen))


def _common_module(tree: Tree, a: int, b: int) -> int:
    """The innermost module call that two nodes lie in; 0 = only the root."""
    node = min(a, b)
    other = max(a, b)
    while node > 0 and not (node < other < int(tree.end[node]) and tree.kind[node] == NodeKind.MODULE):
        node = int(tree.parent[node])
    return node


def _module_above(tree: Tree, node: int) -> int:
    node = int(tree.parent[node])
    while node > 0 and tree.kind[node] != NodeKind.MODULE:
        node = int(tree.parent[node])
    return node


def lone_calls(finding: Finding, pairs: PairFacts, pairing: Pairing, target: Tree, golden: Tree) -> tuple[list[str], list[str]]:
    """API calls of target only, of golden only, between the last clean pair and the first diverged one; empty if there are many."""
    if finding.after < 0 or finding.seen < 0:
        return [], []
    found = []
    for tree, partner, after, seen in (
        (target, pairing.pair_of_target, int(pairs.node[finding.after]), int(pairs.node[finding.seen])),
        (golden, pairing.pair_of_golden, pairing.golden_nodes_of(finding.after)[-1], pairing.golden_nodes_of(finding.seen)[0]),
    ):
        start, stop = int(tree.end[after]), seen
        nodes = np.arange(start, stop) if start < stop else np.zeros(0, np.int64)
        lone = nodes[(tree.kind[nodes] == NodeKind.API) & (partner[nodes] < 0) & (tree.direction[nodes] == tree.direction[seen])]
        found.append([tree.names[node] for node in lone.tolist()])
    if len(found[0]) + len(found[1]) > MOST_LONE_CALLS:
        return [], []
    return found[0], found[1]


def _responsible_row(finding: Finding, evidence: Evidence, pair: int) -> int:
    """The first row of a pair that shows its finding; -1 if none does."""
    comparison, rows = evidence.comparison, evidence.rows
    wanted = (Role.PARAMETER,) if finding.kind == "parameter" else (Role.OUTPUT, Role.GRADIENT)
    for row in comparison.rows_of(pair):
        t = int(comparison.target_row[row])
        if t >= 0 and comparison.target.role[t] in wanted and rows.status[row] in (Status.WARNING, Status.ERROR):
            return row
    return -1


def target_part(evidence: Evidence, pair: int, row: int) -> int:
    """The target node whose tensor a row blames; of a composed one the part that cannot be golden's.

    That is one that is not finite where golden is, or whose Max or Min lies outside golden's. If none sticks out: the module
    around parts that lie deeper than the pair, or -1.
    """
    comparison, owner = evidence.comparison, evidence.target_owner
    t, g = int(comparison.target_row[row]), int(comparison.golden_row[row])
    parts = _parts(comparison.target_compositions, t)
    if len(parts) == 1:
        return int(owner[t])
    nodes = owner[list(parts)]
    if g >= 0:
        whole = comparison.golden.statistics[g]
        slack = float(evidence.rows.tolerance[row]) * max(abs(float(whole[MAX])), abs(float(whole[MIN])))
        for node, part in zip(nodes.tolist(), parts):
            own = comparison.target.statistics[part]
            broken = not np.isfinite(own).all() and bool(np.isfinite(whole).all())
            if broken or own[MAX] > whole[MAX] + slack or own[MIN] < whole[MIN] - slack:
                return int(node)
    return -1 if set(nodes.tolist()) <= set(evidence.pairing.target_nodes_of(pair)) else _enclosing(evidence.target.tree, nodes)


def golden_parts(evidence: Evidence, row: int) -> list[tuple[int, int]]:
    """(golden node, leaf) of everything a row's golden tensor is made of; of very many parts only the module around them."""
    comparison, owner = evidence.comparison, evidence.golden_owner
    g = int(comparison.golden_row[row])
    if g < 0:
        return []
    parts = _parts(comparison.golden_compositions, g)
    if len(parts) > MOST_PARTS:
        return [(_enclosing(evidence.golden.tree, owner[list(parts)]), parts[0])]
    return [(int(owner[part]), part) for part in parts]


def _parts(compositions: list[Composition], row: int) -> tuple[int, ...]:
    return next((entry.parts for entry in compositions if entry.row == row), (row,))


def _enclosing(tree: Tree, nodes: NDArray[np.int64]) -> int:
    """The innermost module around several nodes."""
    node = int(nodes.min())
    while node > 0 and not (node <= int(nodes.min()) and int(nodes.max()) < int(tree.end[node]) and tree.kind[node] == NodeKind.MODULE):
        node = int(tree.parent[node])
    return node
