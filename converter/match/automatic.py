"""Matching two graphs, from certain to weak.

1. `manual`: pins of the user (handed in).
2. `mapping`: the layer-mapping file (handed in as pairs by mapping.py).
3. `exact`: modules of equal path and class, their calls in order.
4. `normalised`: paths equal without wrapper components; the class may differ.
5. `structural`: what is left, by structure, shapes, order and statistics (structural.py).
6. `fuzzy`: APIs inside paired callers, as aligned sequences (api_sequences.py).

A node that one step has paired is out of reach of the later ones.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from converter.match.api_sequences import pair_apis
from converter.match.assemble import assemble
from converter.match.calls import pair_calls
from converter.match.methods import METHODS
from converter.match.modules import ModuleTable, module_table
from converter.match.pairing import SAME_NAME, How, Layout, Pair, Pairing, Relation, RuleHits
from converter.match.paths import PathPair, normalised_paths, same_paths
from converter.match.repeats import renumbered_modules
from converter.match.structural import structural_pairs
from converter.messages import message
from converter.tree.columns import NodeKind
from converter.tree.graph import Graph

BETWEEN_MODULES = message("evidence.between_modules", "between the same modules")


def match_trees(
    target: Graph,
    golden: Graph,
    method: str = "auto",
    given: Sequence[Pair] = (),
    refused: Sequence[tuple[int, int]] = (),
    rules: Sequence[RuleHits] = (),
    aliases: dict[tuple[str, str], str] | None = None,
    layouts: dict[tuple[int, ...], Layout] | None = None,
    warnings: Sequence[str] = (),
    alone: tuple[Collection[int], Collection[int]] = ((), ()),
) -> Pairing:
    """Pair the nodes of two graphs.

    Args:
        method: auto (all steps), exact (equal names below equal ancestors only), fuzzy (equal module paths, APIs
            aligned), mapping (only what is in `given`).
        given: pairs made before: manual pins and those of the mapping file. They are kept as they are.
        refused: (target node, golden node) that the user has taken apart; no step joins them again.
        rules, aliases, layouts, warnings: of the mapping file, kept in the result.
        alone: target nodes and golden nodes that have no counterpart, as the mapping file says; no step pairs them.
    Raises:
        ValueError: for an unknown method.
    """
    if method not in METHODS:
        raise ValueError(f"unknown matching method {method!r}")
    pairs = list(given)
    proposals: list[Pair] = []
    if method == "exact":
        pairs += _equal_names(target, golden, pairs)
    elif method != "mapping":
        if not pairs and not refused and not alone[0] and not alone[1] and _same_graph(target, golden):
            return assemble(target.tree.count, golden.tree.count, [], identical=True)
        found, proposals = _by_module(target, golden, pairs, method)
        pairs += found
        joined = any(target.tree.kind[pair.target[0]] == NodeKind.MODULE for pair in pairs)
        if method == "fuzzy" and not joined and _has_modules(target) and _has_modules(golden):
            # Calls alone that happen to agree would prove nothing.
            return assemble(target.tree.count, golden.tree.count, list(given), warnings=list(warnings))
        pairs += pair_apis(target, golden, pairs, _nodes(pairs, 0), _nodes(pairs, 1))
    pairs, proposals = _without(alone, pairs), _without(alone, proposals)
    if refused:
        apart = set(refused)
        pairs = [pair for pair in pairs if pair.how == How.MANUAL or not any((a, b) in apart for a in pair.target for b in pair.golden)]
        proposals = [pair for pair in proposals if not any((a, b) in apart for a in pair.target for b in pair.golden)]
    return assemble(
        target.tree.count,
        golden.tree.count,
        pairs,
        proposals=proposals,
        rules=list(rules),
        aliases=dict(aliases or {}),
        layouts=layouts,
        warnings=list(warnings),
    )


def _has_modules(graph: Graph) -> bool:
    return bool((graph.tree.kind == NodeKind.MODULE).any())


def _without(alone: tuple[Collection[int], Collection[int]], pairs: list[Pair]) -> list[Pair]:
    target, golden = set(alone[0]), set(alone[1])
    if not target and not golden:
        return pairs
    return [pair for pair in pairs if pair.how == How.MANUAL or (target.isdisjoint(pair.target) and golden.isdisjoint(pair.golden))]


def _same_graph(target: Graph, golden: Graph) -> bool:
    """Node for node the same names below the same parents: every step would pair each node with its equal."""
    return (
        target.tree.count == golden.tree.count
        and np.array_equal(target.tree.parent, golden.tree.parent)
        and target.tree.names == golden.tree.names
    )


def _nodes(pairs: list[Pair], side: int) -> set[int]:
    return {node for pair in pairs for node in (pair.golden if side else pair.target)}


def _equal_names(target: Graph, golden: Graph, given: list[Pair]) -> list[Pair]:
    """The peer's default rule: the same name below the same ancestors."""
    golden_of = {name: node for node, name in enumerate(golden.tree.names)}
    taken, taken_golden = _nodes(given, 0), _nodes(given, 1)
    partner = {0: 0}
    pairs = []
    for node in range(1, target.tree.count):
        other = golden_of.get(target.tree.names[node], -1)
        if other > 0 and partner.get(int(target.tree.parent[node]), -1) == int(golden.tree.parent[other]):
            partner[node] = other
            if node not in taken and other not in taken_golden:
                pairs.append(Pair((node,), (other,), Relation.SAME, How.EXACT, 1.0, SAME_NAME))
    return pairs


def _by_module(target: Graph, golden: Graph, given: list[Pair], method: str) -> tuple[list[Pair], list[Pair]]:
    mine, other = module_table(target), module_table(golden)
    paths = _paths_of_given(mine, other, given)
    taken = {number for pair in paths for number in pair.target}
    taken_golden = {number for pair in paths for number in pair.golden}
    renumbered = renumbered_modules(mine, other) if method == "auto" else set()
    for pair in same_paths(mine, other):
        if pair.target[0] not in taken and pair.golden[0] not in taken_golden and pair.target[0] not in renumbered:
            paths.append(pair)
            taken.add(pair.target[0])
            taken_golden.add(pair.golden[0])
    proposed: list[PathPair] = []
    if method == "auto":
        paths += normalised_paths(mine, other, taken | renumbered, taken_golden)
        structural, proposed = structural_pairs(mine, other, paths)
        paths += structural
    nodes, golden_nodes = _nodes(given, 0), _nodes(given, 1)
    pairs = pair_calls(mine, other, paths, nodes, golden_nodes)
    proposals = pair_calls(mine, other, proposed, nodes | _nodes(pairs, 0), golden_nodes | _nodes(pairs, 1))
    pairs += _collections(target, golden, pairs, nodes, golden_nodes)
    return pairs, proposals


def _paths_of_given(target: ModuleTable, golden: ModuleTable, given: list[Pair]) -> list[PathPair]:
    """Modules that given pairs of nodes join, so that the other steps build on them."""
    module_of = {node: number for number, nodes in enumerate(target.nodes) for node in nodes}
    golden_of = {node: number for number, nodes in enumerate(golden.nodes) for node in nodes}
    found: dict[tuple[int, ...], PathPair] = {}
    taken: set[int] = set()
    taken_golden: set[int] = set()
    for pair in given:
        if not all(node in module_of for node in pair.target) or not all(node in golden_of for node in pair.golden):
            continue
        mine = tuple(module_of[node] for node in pair.target)
        other = tuple(golden_of[node] for node in pair.golden)
        if mine in found or taken.intersection(mine) or taken_golden.intersection(other):
            continue
        found[mine] = PathPair(mine, other, pair.relation, pair.how, pair.confidence, pair.evidence)
        taken.update(mine)
        taken_golden.update(other)
    return list(found.values())


def _collections(target: Graph, golden: Graph, modules: list[Pair], taken: set[int], taken_golden: set[int]) -> list[Pair]:
    """Pair the runs of APIs between the same two paired modules at the root."""
    partner = {pair.target[0]: pair.golden[0] for pair in modules if len(pair.target) == 1 and len(pair.golden) == 1}
    named = {golden_node: golden_node for golden_node in partner.values()}

    def runs(graph: Graph, anchors: dict[int, int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        tree, node, before = graph.tree, 1, -1
        while node < tree.count:
            if tree.kind[node] == NodeKind.API_COLLECTION:
                found.setdefault(before, []).append(node)
            elif node in anchors:
                before = anchors[node]
            node = int(tree.end[node])
        return found

    mine, other = runs(target, partner), runs(golden, named)
    pairs = []
    for before, nodes in mine.items():
        for a, b in zip(nodes, other.get(before, [])):
            if a not in taken and b not in taken_golden:
                same = target.tree.names[a] == golden.tree.names[b]
                pairs.append(
                    Pair(
                        (a,),
                        (b,),
                        Relation.SAME,
                        How.EXACT if same else How.FUZZY,
                        1.0 if same else 0.9,
                        SAME_NAME if same else BETWEEN_MODULES,
                    )
                )
    return pairs
