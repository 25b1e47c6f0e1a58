"""From paired modules to paired calls: forward with forward, backward with backward, gradients with gradients, in order."""

from __future__ import annotations

from typing import Optional

from converter.match.modules import ModuleTable
from converter.match.pairing import How, Pair
from converter.match.paths import PathPair
from converter.tree.columns import FLAG_RECOMPUTED, NodeKind, Tree

CallKey = tuple[bool, int, bool, int]  # (is a gradient, direction, recomputed, micro step)


def pair_calls(
    target: ModuleTable, golden: ModuleTable, paths: list[PathPair], taken_target: set[int], taken_golden: set[int]
) -> list[Pair]:
    """Pair the calls of paired modules.

    Calls of one kind, direction and micro step pair in call order when there are equally many on both sides. Otherwise
    (a module shared by several callers, called once more on one side) only calls below paired callers pair.
    `taken_*` are nodes that an earlier step has paired; they are left out.
    """
    by_step = target.graph.tree.micro_steps == golden.graph.tree.micro_steps
    partner: dict[int, int] = {}  # target node → first golden node, for callers
    pairs: list[Pair] = []
    for path in sorted(paths, key=lambda pair: len(target.path[pair.target[0]])):
        mine = [_calls(target, number, by_step, taken_target) for number in path.target]
        other = [_calls(golden, number, by_step, taken_golden) for number in path.golden]
        for key in mine[0]:
            sequences = [side.get(key, []) for side in mine]
            others = [side.get(key, []) for side in other]
            counts = {len(sequence) for sequence in sequences + others}
            if counts == {len(sequences[0])}:
                chosen = list(zip(zip(*sequences), zip(*others)))
            elif len(sequences) == 1 and len(others) == 1:
                chosen = [
                    ((a,), (b,)) for a, b in _below_paired_callers(target.graph.tree, golden.graph.tree, sequences[0], others[0], partner)
                ]
            else:
                continue
            for nodes, golden_nodes in chosen:
                same = (
                    len(nodes) == 1
                    and len(golden_nodes) == 1
                    and target.graph.tree.names[nodes[0]] == golden.graph.tree.names[golden_nodes[0]]
                )
                how = path.how if path.how != How.EXACT or same else How.NORMALISED
                evidence = path.evidence if how == path.how else "same path, call numbers differ"
                pairs.append(Pair(tuple(nodes), tuple(golden_nodes), path.relation, how, path.confidence, evidence))
                for node in nodes:
                    partner[node] = golden_nodes[0]
    return pairs


def _calls(table: ModuleTable, module: int, by_step: bool, taken: set[int]) -> dict[CallKey, list[int]]:
    tree = table.graph.tree
    found: dict[CallKey, list[int]] = {}
    for node in table.nodes[module]:
        if node in taken:
            continue
        gradient = tree.kind[node] == NodeKind.PARAMETERS_GRAD
        key = (
            bool(gradient),
            int(tree.direction[node]),
            bool(tree.flags[node] & FLAG_RECOMPUTED),
            int(tree.micro_step[node]) if by_step else 0,
        )
        found.setdefault(key, []).append(node)
    return found


def _below_paired_callers(target: Tree, golden: Tree, mine: list[int], other: list[int], partner: dict[int, int]) -> list[tuple[int, int]]:
    known = set(partner.values())
    by_caller: dict[Optional[int], list[int]] = {}
    for node in other:
        parent = int(golden.parent[node])
        while parent > 0 and parent not in known:
            parent = int(golden.parent[parent])
        by_caller.setdefault(parent, []).append(node)
    position: dict[Optional[int], int] = {}
    pairs = []
    for node in mine:
        parent = int(target.parent[node])
        while parent > 0 and parent not in partner:
            parent = int(target.parent[parent])
        caller = partner[parent] if parent > 0 else 0
        at = position.get(caller, 0)
        candidates = by_caller.get(caller, [])
        if at < len(candidates):
            pairs.append((node, candidates[at]))
            position[caller] = at + 1
    return pairs
