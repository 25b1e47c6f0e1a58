"""APIs inside paired modules: their call sequences aligned with insert and delete, never by call number alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from converter.dumps.columns import LeafKind, Role
from converter.match.api_names import api_key
from converter.match.modules import TensorFeature, node_tensors
from converter.match.pairing import EQUAL_OUTPUTS, SAME_NAME, How, Pair, Relation
from converter.match.sequence import align_by_key
from converter.messages import message
from converter.tree.columns import Direction, NodeKind
from converter.tree.graph import Graph

INPUT_ROLES = (Role.INPUT, Role.KWARG)
ROOT_KINDS = (NodeKind.ROOT, NodeKind.API_COLLECTION, NodeKind.UNPLACED)
Place = tuple[int, int]

SAME_PLACE = message("evidence.same_place", "same API in the same place of the call sequence")


@dataclass(frozen=True)
class _Call:
    """What the alignment of one API call looks at besides its name."""

    signature: tuple[tuple[int, int, tuple[int, ...]], ...]  # (role, leaf kind, shape) of every leaf
    inputs: tuple[TensorFeature, ...]
    outputs: tuple[TensorFeature, ...]


def pair_apis(target: Graph, golden: Graph, modules: list[Pair], taken_target: set[int], taken_golden: set[int]) -> list[Pair]:
    """Pair API calls whose nearest paired callers are paired with each other.

    Where both callers run the same code (equal class), equal API names align in order; shapes and statistics decide
    which of several equal names was inserted. Where the code differs, an API pairs only with one of the same name
    whose outputs have equal statistics: two toolkits order the same operations differently, and a wrong pair is
    worse than none. A backward API follows its forward twin.
    """
    partner = {0: 0}
    partner_golden = {0: 0}
    for pair in modules:
        if pair.relation == Relation.SAME and len(pair.target) == 1 and len(pair.golden) == 1:
            partner[pair.target[0]] = pair.golden[0]
            partner_golden[pair.golden[0]] = pair.target[0]
    forward, backward = _sequences(target, dict(zip(partner, partner)), taken_target)
    golden_forward, golden_backward = _sequences(golden, partner_golden, taken_golden)
    side, golden_side = _Side(target), _Side(golden)
    same_toolkit = _framework(target) == _framework(golden)
    # The root (and its API collections) runs the code of the training script: the same one if most modules are.
    same_root = 2 * sum(pair.how == How.EXACT for pair in modules) >= len(modules)
    same_code = dict(zip(partner, _same_code(target, golden, partner, same_root) if same_toolkit else [False] * len(partner)))
    twin: dict[str, str] = {}  # target forward API → golden forward API, names without the direction
    pairs: list[Pair] = []
    for (caller, anchor), left in forward.items():
        right = golden_forward.get((partner[caller], anchor))
        if right:
            for a, b in _align(side, golden_side, left, right, same_code[caller]):
                pairs.append(_pair(side, golden_side, a, b, same_code[caller]))
                twin[_without_direction(side.names[a])] = _without_direction(golden_side.names[b])
    golden_node = {golden_side.names[node]: node for nodes in golden_backward.values() for node in nodes}
    used: set[int] = set()
    for (caller, anchor), left in backward.items():
        rest = []
        for node in left:
            other = golden_node.get(twin.get(_without_direction(side.names[node]), "") + ".backward", -1)
            if other >= 0 and other not in used:
                pairs.append(_pair(side, golden_side, node, other, same_code[caller]))
                used.add(other)
            else:
                rest.append(node)
        right = [node for node in golden_backward.get((partner[caller], anchor), ()) if node not in used]
        if rest and right:
            for a, b in _align(side, golden_side, rest, right, same_code[caller]):
                pairs.append(_pair(side, golden_side, a, b, same_code[caller]))
                used.add(b)
    return pairs


class _Side:
    """One graph with what the alignment looks up often: plain lists, and each API call described once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names = graph.tree.names
        keys = [*(api_key(label) for label in graph.tree.labels), ""]
        self.keys = [keys[label] for label in graph.tree.label.tolist()]
        self.call_numbers = graph.tree.call
        self._calls: dict[int, _Call] = {}

    def call(self, node: int) -> _Call:
        found = self._calls.get(node)
        if found is None:
            found = self._calls[node] = _describe(self.graph, node)
        return found


def _framework(graph: Graph) -> str:
    """ "mindspore" or "torch", by the prefix of module names; "" if there are none."""
    prefixes = {graph.tree.labels[prefix] for prefix in set(graph.tree.prefix.tolist()) if prefix >= 0}
    return "mindspore" if "Cell" in prefixes or "Primitive" in prefixes else "torch"


def _same_code(target: Graph, golden: Graph, partner: dict[int, int], same_root: bool) -> list[bool]:
    """Per paired caller: both sides are of one class (root and API collections: of one kind, and `same_root`)."""
    mine, other = np.fromiter(partner, np.int64), np.fromiter(partner.values(), np.int64)
    numbers: dict[str, int] = {}
    label_t = np.array([numbers.setdefault(label, len(numbers)) for label in target.tree.labels] + [-1])[target.tree.label[mine]]
    label_g = np.array([numbers.setdefault(label, len(numbers)) for label in golden.tree.labels] + [-1])[golden.tree.label[other]]
    kind = target.tree.kind[mine]
    same: list[bool] = np.where(
        np.isin(kind, ROOT_KINDS), same_root & (kind == golden.tree.kind[other]), label_t == label_g
    ).tolist()
    return same


def _without_direction(name: str) -> str:
    return name.rsplit(".", 1)[0]


def _sequences(graph: Graph, paired: dict[int, int], taken: set[int]) -> tuple[dict[Place, list[int]], dict[Place, list[int]]]:
    """Forward and backward APIs by place, in call order.

    A place is (paired caller, module paired before it directly below that caller, named by its target node on both
    sides; -1 = before the first).
    Args:
        paired: paired node of this graph → its target node.
    """
    tree = graph.tree
    kinds, parents = tree.kind.tolist(), tree.parent.tolist()
    is_backward = (tree.direction == Direction.BACKWARD).tolist()
    api = int(NodeKind.API)
    owner = [0] * tree.count
    last: dict[int, int] = {}
    forward: dict[Place, list[int]] = {}
    backward: dict[Place, list[int]] = {}
    for node in range(1, tree.count):
        parent = parents[node]
        caller = parent if parent in paired else owner[parent]
        owner[node] = caller
        if kinds[node] == api:
            if node not in taken:
                (backward if is_backward[node] else forward).setdefault((caller, last.get(caller, -1)), []).append(node)
        elif node in paired:
            last[caller] = paired[node]
    return forward, backward


def _pair(target: _Side, golden: _Side, a: int, b: int, same_code: bool) -> Pair:
    if not same_code:
        return Pair((a,), (b,), Relation.SAME, How.FUZZY, 0.8, EQUAL_OUTPUTS)
    if target.names[a] == golden.names[b]:
        return Pair((a,), (b,), Relation.SAME, How.EXACT, 1.0, SAME_NAME)
    return Pair((a,), (b,), Relation.SAME, How.FUZZY, 0.9, SAME_PLACE)


def _align(target: _Side, golden: _Side, left: list[int], right: list[int], same_code: bool) -> list[tuple[int, int]]:
    keys_left, keys_right = [target.keys[node] for node in left], [golden.keys[node] for node in right]

    def weight(i: int, j: int) -> float:
        a, b = target.call(left[i]), golden.call(right[j])
        equal_outputs = bool(a.outputs) and len(a.outputs) <= len(b.outputs) and all(x.agrees(y) for x, y in zip(a.outputs, b.outputs))
        if not same_code:
            if not equal_outputs or a.outputs[0].statistics == (0.0, 0.0, 0.0, 0.0):
                return 0.0
            return 2.0 + sum(any(x.agrees(y) for y in b.inputs) for x in a.inputs)
        score = 2.0 + equal_outputs
        if a.signature == b.signature:
            score += 1.0
        if target.call_numbers[left[i]] == golden.call_numbers[right[j]]:
            score += 0.25
        return score

    if same_code and keys_left == keys_right:
        return list(zip(left, right))
    return [(left[i], right[j]) for i, j in align_by_key(keys_left, keys_right, weight)]


def _describe(graph: Graph, node: int) -> _Call:
    leaves = graph.leaves
    signature = tuple(
        (
            int(leaves.role[row]),
            int(leaves.kind[row]),
            leaves.shapes[leaves.shape[row]] if leaves.kind[row] == LeafKind.TENSOR and leaves.shape[row] >= 0 else (),
        )
        for row in graph.rows(node)
    )
    return _Call(signature, node_tensors(graph, node, INPUT_ROLES), node_tensors(graph, node, (Role.OUTPUT,)))
