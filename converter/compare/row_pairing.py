"""Tensors inside one pair of nodes: joined by role and name, then by shape and order.

Between two runs of the same code names and positions say everything. Between different code they do not (one toolkit
passes `hidden_states` by name, the other by position): there a tensor also finds its counterpart by the extents of its
shape, whatever their order, and by its statistics. What could be either of two is joined but marked ambiguous.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Callable

from converter.compare.broadcast import is_repeated
from converter.compare.dtypes import category
from converter.dumps.columns import LeafKind, Role
from converter.match.modules import FINGERPRINT_TOLERANCE
from converter.tree.graph import Graph

# Names that frameworks give to one parameter (facts of PyTorch and MindSpore).
PARAMETER_ALIASES = {
    "gamma": "weight",
    "beta": "bias",
    "embedding_table": "weight",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "moving_var": "running_var",
}
_GROUPS = ((Role.INPUT, Role.KWARG), (Role.PARAMETER,), (Role.OUTPUT,), (Role.GRADIENT,))


@dataclass
class Side:
    """One graph, with the rows that were found ambiguous while pairing."""

    graph: Graph
    ambiguous: set[int] = field(default_factory=set)


def parameter_aliases(from_mapping: dict[tuple[str, str], str], golden: Graph, golden_node: int) -> dict[str, str]:
    """target parameter name → golden parameter name, from the mapping file, for one golden node's class."""
    if not from_mapping:
        return {}
    label = int(golden.tree.label[golden_node])
    class_name = golden.tree.labels[label] if label >= 0 else ""
    return {name: other for (scope, name), other in from_mapping.items() if scope in ("", class_name)}


def same_code(target: Graph, t: int, golden: Graph, g: int) -> bool:
    """Both nodes run the same code, as far as names tell: one prefix (framework) and one class or API name."""
    labels_t, labels_g = target.tree.labels, golden.tree.labels
    label_t, label_g = int(target.tree.label[t]), int(golden.tree.label[g])
    prefix_t, prefix_g = int(target.tree.prefix[t]), int(golden.tree.prefix[g])
    return (labels_t[label_t] if label_t >= 0 else "") == (labels_g[label_g] if label_g >= 0 else "") and (
        labels_t[prefix_t] if prefix_t >= 0 else ""
    ) == (labels_g[prefix_g] if prefix_g >= 0 else "")


def pair_rows(target: Side, t: int, golden: Side, g: int, aliases: dict[str, str], by_outputs: bool = False) -> list[tuple[int, int]]:
    """(target row, golden row) of every tensor of the pair, -1 where a side has none; target's order first.

    Args:
        by_outputs: the pair was found by equal outputs between different code; tensors are joined only with equal ones.
    """
    alike = same_code(target.graph, t, golden.graph, g) and not by_outputs
    pairs: list[tuple[int, int]] = []
    rest: list[int] = []
    for roles in _GROUPS:
        left = [row for row in target.graph.rows(t) if target.graph.leaves.role[row] in roles]
        right = [row for row in golden.graph.rows(g) if golden.graph.leaves.role[row] in roles]
        if roles[0] in (Role.PARAMETER, Role.GRADIENT):
            joined = _by_parameter_name(target, left, golden, right, aliases)
        elif alike:
            joined = _by_name(target, left, golden, right)
        else:
            joined = _across_code(target, left, golden, right)
            if by_outputs:
                joined = [(a, b) for a, b in joined if _agree(target, a, golden, b)]
        partner = dict(joined)
        pairs += [(row, partner.get(row, -1)) for row in left]
        used = set(partner.values())
        rest += [row for row in right if row not in used]
    return pairs + [(-1, row) for row in rest]


def _name(side: Side, row: int) -> str:
    return side.graph.leaves.strings[int(side.graph.leaves.name[row])]


def _by_name(target: Side, left: list[int], golden: Side, right: list[int]) -> list[tuple[int, int]]:
    of_name = {(int(golden.graph.leaves.role[row]), _name(golden, row)): row for row in right}
    joined = []
    for row in left:
        other = of_name.pop((int(target.graph.leaves.role[row]), _name(target, row)), -1)
        if other >= 0:
            joined.append((row, other))
    return joined


def _by_parameter_name(target: Side, left: list[int], golden: Side, right: list[int], aliases: dict[str, str]) -> list[tuple[int, int]]:
    def plain(name: str) -> str:
        head, _, last = name.rpartition(".")
        last = PARAMETER_ALIASES.get(last, last)
        return f"{head}.{last}" if head else last

    of_name = {plain(_name(golden, row)): row for row in right}
    joined = []
    for row in left:
        name = _name(target, row)
        other = of_name.pop(plain(aliases.get(name, name)), -1)
        if other >= 0:
            joined.append((row, other))
    used = {other for _, other in joined}
    rest_left = [row for row in left if row not in dict(joined)]
    rest_right = [row for row in right if row not in used]
    for row in rest_left:
        candidates = [other for other in rest_right if _shape(target, row) == _shape(golden, other)]
        if len(candidates) == 1 and sum(_shape(target, mine) == _shape(target, row) for mine in rest_left) == 1:
            joined.append((row, candidates[0]))
    return joined


def _shape(side: Side, row: int) -> tuple[int, ...]:
    number = int(side.graph.leaves.shape[row])
    return side.graph.leaves.shapes[number] if number >= 0 else ()


def _across_code(target: Side, left: list[int], golden: Side, right: list[int]) -> list[tuple[int, int]]:
    """Keyword arguments of one name; then tensors of one kind whose extents are the same in any order; then of one size."""
    joined = []
    of_kwarg = {_name(golden, row): row for row in right if golden.graph.leaves.role[row] == Role.KWARG}
    for row in left:
        if target.graph.leaves.role[row] == Role.KWARG and _name(target, row) in of_kwarg:
            other = of_kwarg.pop(_name(target, row))
            # None on one side says only that this code does not use the argument.
            if (target.graph.leaves.kind[row] == LeafKind.NONE) == (golden.graph.leaves.kind[other] == LeafKind.NONE):
                joined.append((row, other))
    for describe in (_extents, _size):
        used_left = {a for a, _ in joined}
        used_right = {b for _, b in joined}
        rest_left = _tensors(target, [row for row in left if row not in used_left])
        rest_right = _tensors(golden, [row for row in right if row not in used_right])
        joined += _by_description(target, rest_left, golden, rest_right, describe)
    used = {b for _, b in joined}
    done = {a for a, _ in joined}
    for row in _tensors(target, [row for row in left if row not in done]):
        for other in _tensors(golden, [row for row in right if row not in used]):
            if is_repeated(target.graph.leaves, row, golden.graph.leaves, other):
                joined.append((row, other))
                used.add(other)
                break
    return joined


def _tensors(side: Side, rows: list[int]) -> list[int]:
    return [row for row in rows if side.graph.leaves.kind[row] == LeafKind.TENSOR]


def _dtype_category(side: Side, row: int) -> str:
    number = int(side.graph.leaves.dtype[row])
    return category(side.graph.leaves.strings[number]) if number >= 0 else "other"


def _extents(side: Side, row: int) -> tuple[object, ...]:
    return (_dtype_category(side, row), *sorted(extent for extent in _shape(side, row) if extent != 1))


def _size(side: Side, row: int) -> tuple[object, ...]:
    return (_dtype_category(side, row), math.prod(_shape(side, row)))


def _by_description(
    target: Side, left: list[int], golden: Side, right: list[int], describe: Callable[[Side, int], tuple[object, ...]]
) -> list[tuple[int, int]]:
    """Tensors of equal description: those with equal statistics first, then in order, as ambiguous where the numbers of tensors differ."""
    kinds: dict[tuple[object, ...], tuple[list[int], list[int]]] = {}
    for row in left:
        kinds.setdefault(describe(target, row), ([], []))[0].append(row)
    for row in right:
        kinds.setdefault(describe(golden, row), ([], []))[1].append(row)
    joined = []
    for mine, other in kinds.values():
        rest = list(other)
        unsure = []
        for row in mine:
            match = next((candidate for candidate in rest if _agree(target, row, golden, candidate)), -1)
            if match >= 0:
                joined.append((row, match))
                rest.remove(match)
            else:
                unsure.append(row)
        if len(unsure) == len(rest):
            joined += list(zip(unsure, rest))
        else:
            for row, candidate in zip(unsure, rest):
                target.ambiguous.add(row)
                golden.ambiguous.add(candidate)
                joined.append((row, candidate))
    return joined


def _agree(target: Side, a: int, golden: Side, b: int) -> bool:
    x, y = target.graph.leaves.statistics[a].tolist(), golden.graph.leaves.statistics[b].tolist()
    if not target.graph.leaves.present[a] & golden.graph.leaves.present[b] & 3:
        return False
    scale = max((abs(value) for value in x[:2] + y[:2] if math.isfinite(value)), default=0.0)
    return all(p == q or abs(p - q) <= FINGERPRINT_TOLERANCE * scale for p, q in zip(x[:2], y[:2]))
