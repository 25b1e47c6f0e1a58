"""From paired modules to paired calls: forward with forward, backward with backward, gradients with gradients, in order."""

from __future__ import annotations

from typing import Optional

from converter.match.modules import ModuleTable
from converter.match.pairing import SAME_PATH, How, Pair
from converter.match.paths import PathPair
from converter.messages import message
from converter.tree.columns import FLAG_RECOMPUTED, Direction, NodeKind, Tree

OTHER_NUMBER = message("evidence.other_number", "same path, call numbers differ")

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
    keys, golden_keys = _call_keys(target.graph.tree, by_step), _call_keys(golden.graph.tree, by_step)
    numbers, golden_numbers = target.graph.tree.call.tolist(), golden.graph.tree.call.tolist()
    names, golden_names = target.graph.tree.names, golden.graph.tree.names
    partner: dict[int, int] = {}  # target node → first golden node, for callers
    pairs: list[Pair] = []
    for path in sorted(paths, key=lambda pair: len(target.path[pair.target[0]])):
        mine = [_calls(target.nodes[number], keys, taken_target) for number in path.target]
        other = [_calls(golden.nodes[number], golden_keys, taken_golden) for number in path.golden]
        exact = path.how == How.EXACT
        forward: dict[int, int] = {}  # call numbers of paired forward calls: target's → golden's
        for key in sorted(mine[0], key=lambda entry: entry[1] == Direction.BACKWARD):
            sequences = [side.get(key, []) for side in mine]
            others = [side.get(key, []) for side in other]
            counts = {len(sequence) for sequence in sequences + others}
            single = len(sequences) == 1 and len(others) == 1
            gradient, direction = key[0], key[1]
            if single and forward and direction == Direction.BACKWARD and not gradient:
                chosen = [((a,), (b,)) for a, b in _of_forward_pairs(sequences[0], others[0], numbers, golden_numbers, forward)]
            elif counts == {len(sequences[0])}:
                chosen = list(zip(zip(*sequences), zip(*others)))
            elif single:
                chosen = [
                    ((a,), (b,)) for a, b in _below_paired_callers(target.graph.tree, golden.graph.tree, sequences[0], others[0], partner)
                ]
            else:
                continue
            if direction == Direction.FORWARD:
                forward.update((numbers[nodes[0]], golden_numbers[others_nodes[0]]) for nodes, others_nodes in chosen)
            for nodes, golden_nodes in chosen:
                how, evidence = path.how, path.evidence
                if exact and names[nodes[0]] != golden_names[golden_nodes[0]]:
                    same_number = numbers[nodes[0]] == golden_numbers[golden_nodes[0]]
                    how, evidence = How.NORMALISED, SAME_PATH if same_number else OTHER_NUMBER
                pairs.append(Pair(nodes, golden_nodes, path.relation, how, path.confidence, evidence))
                for node in nodes:
                    partner[node] = golden_nodes[0]
    return pairs


def _of_forward_pairs(
    mine: list[int], other: list[int], numbers: list[int], golden_numbers: list[int], forward: dict[int, int]
) -> list[tuple[int, int]]:
    """Backward calls of paired forward calls: the collector gives both the same number."""
    of_number = {golden_numbers[node]: node for node in other}
    found = [(node, of_number.get(forward.get(numbers[node], -1), -1)) for node in mine]
    return [(a, b) for a, b in found if b >= 0]


def _call_keys(tree: Tree, by_step: bool) -> list[CallKey]:
    """[nodes] what calls must have in common to be paired in order."""
    steps = tree.micro_step.tolist() if by_step else [0] * tree.count
    gradients = (tree.kind == NodeKind.PARAMETERS_GRAD).tolist()
    return list(zip(gradients, tree.direction.tolist(), ((tree.flags & FLAG_RECOMPUTED) > 0).tolist(), steps))


def _calls(nodes: list[int], keys: list[CallKey], taken: set[int]) -> dict[CallKey, list[int]]:
    found: dict[CallKey, list[int]] = {}
    for node in nodes:
        if node not in taken:
            found.setdefault(keys[node], []).append(node)
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
