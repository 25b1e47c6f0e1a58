"""APIs inside paired modules: their call sequences aligned with insert and delete, never by call number alone."""

from __future__ import annotations

from dataclasses import dataclass

from converter.dumps.columns import LeafKind, Role
from converter.match.api_names import api_key
from converter.match.modules import TensorFeature, node_tensors
from converter.match.pairing import EQUAL_OUTPUTS, How, Pair, Relation
from converter.match.sequence import align_by_key
from converter.tree.columns import Direction, NodeKind
from converter.tree.graph import Graph

INPUT_ROLES = (Role.INPUT, Role.KWARG)
ROOT_KINDS = (NodeKind.ROOT, NodeKind.API_COLLECTION, NodeKind.UNPLACED)


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
    mine = _sequences(target, set(partner), taken_target, {node: node for node in partner})
    other = _sequences(golden, set(partner_golden), taken_golden, partner_golden)
    golden_node = {golden.tree.names[node]: node for caller in other.values() for segment in caller.values() for node in segment}
    twin: dict[str, str] = {}  # target forward API → golden forward API, names without the direction
    pairs: list[Pair] = []
    calls_target: dict[int, _Call] = {}
    calls_golden: dict[int, _Call] = {}
    used: set[int] = set()
    same_toolkit = _framework(target) == _framework(golden)
    for backward in (False, True):
        for caller, segments in mine.items():
            golden_segments = other.get(partner[caller], {})
            same_code = same_toolkit and _same_code(target, caller, golden, partner[caller])
            for anchor, nodes in segments.items():
                left = [node for node in nodes if (target.tree.direction[node] == Direction.BACKWARD) == backward]
                right = [
                    node
                    for node in golden_segments.get(anchor, ())
                    if (golden.tree.direction[node] == Direction.BACKWARD) == backward and node not in used
                ]
                if backward:
                    left, right = _follow_twins(target, golden, left, right, twin, golden_node, used, pairs)
                if not left or not right:
                    continue
                for a, b in _align(target, golden, left, right, same_code, calls_target, calls_golden):
                    pairs.append(_pair(target, golden, a, b, same_code))
                    used.add(b)
                    if not backward:
                        twin[_without_direction(target.tree.names[a])] = _without_direction(golden.tree.names[b])
    return pairs


def _framework(graph: Graph) -> str:
    """ "mindspore" or "torch", by the prefix of module names; "" if there are none."""
    prefixes = {graph.tree.labels[prefix] for prefix in set(graph.tree.prefix.tolist()) if prefix >= 0}
    return "mindspore" if "Cell" in prefixes or "Primitive" in prefixes else "torch"


def _same_code(target: Graph, t: int, golden: Graph, g: int) -> bool:
    if target.tree.kind[t] in ROOT_KINDS:
        return bool(target.tree.kind[t] == golden.tree.kind[g])
    return target.tree.labels[int(target.tree.label[t])] == golden.tree.labels[int(golden.tree.label[g])]


def _without_direction(name: str) -> str:
    return name.rsplit(".", 1)[0]


def _sequences(graph: Graph, paired: set[int], taken: set[int], name_of: dict[int, int]) -> dict[int, dict[int, list[int]]]:
    """Per paired caller and per segment: API nodes in call order.

    A segment is what lies between two paired modules called directly below the caller; it is named by the module
    before it (by its target node on both sides; -1 = before the first).
    """
    tree = graph.tree
    kinds, parents = tree.kind.tolist(), tree.parent.tolist()
    owner = [0] * tree.count
    last: dict[int, int] = {}
    found: dict[int, dict[int, list[int]]] = {}
    for node in range(1, tree.count):
        parent = parents[node]
        caller = parent if parent in paired else owner[parent]
        owner[node] = caller
        if kinds[node] == NodeKind.API:
            if node not in taken:
                found.setdefault(caller, {}).setdefault(last.get(caller, -1), []).append(node)
        elif node in paired:
            last[caller] = name_of[node]
    return found


def _follow_twins(
    target: Graph,
    golden: Graph,
    left: list[int],
    right: list[int],
    twin: dict[str, str],
    golden_node: dict[str, int],
    used: set[int],
    pairs: list[Pair],
) -> tuple[list[int], list[int]]:
    """Pair backward APIs whose forward calls are paired; returns what is left on both sides."""
    rest = []
    for node in left:
        other = golden_node.get(twin.get(_without_direction(target.tree.names[node]), "") + ".backward", -1)
        if other >= 0 and other not in used:
            pairs.append(_pair(target, golden, node, other, True, "forward calls are paired"))
            used.add(other)
        else:
            rest.append(node)
    return rest, [node for node in right if node not in used]


def _pair(target: Graph, golden: Graph, a: int, b: int, same_code: bool, evidence: str = "") -> Pair:
    if same_code and target.tree.names[a] == golden.tree.names[b]:
        return Pair((a,), (b,), Relation.SAME, How.EXACT, 1.0, "same name")
    if not evidence:
        evidence = "same API in the same place of the call sequence" if same_code else EQUAL_OUTPUTS
    return Pair((a,), (b,), Relation.SAME, How.FUZZY, 0.9 if same_code else 0.8, evidence)


def _align(
    target: Graph,
    golden: Graph,
    left: list[int],
    right: list[int],
    same_code: bool,
    calls_target: dict[int, _Call],
    calls_golden: dict[int, _Call],
) -> list[tuple[int, int]]:
    keys_left = [api_key(target.tree.labels[target.tree.label[node]]) for node in left]
    keys_right = [api_key(golden.tree.labels[golden.tree.label[node]]) for node in right]

    def call(graph: Graph, node: int, known: dict[int, _Call]) -> _Call:
        found = known.get(node)
        if found is None:
            found = known[node] = _describe(graph, node)
        return found

    def weight(i: int, j: int) -> float:
        a, b = call(target, left[i], calls_target), call(golden, right[j], calls_golden)
        equal_outputs = bool(a.outputs) and len(a.outputs) <= len(b.outputs) and all(x.agrees(y) for x, y in zip(a.outputs, b.outputs))
        if not same_code:
            if not equal_outputs or a.outputs[0].statistics == (0.0, 0.0, 0.0, 0.0):
                return 0.0
            return 2.0 + sum(any(x.agrees(y) for y in b.inputs) for x in a.inputs)
        score = 2.0 + equal_outputs
        if a.signature == b.signature:
            score += 1.0
        if target.tree.call[left[i]] == golden.tree.call[right[j]]:
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
