"""Fused layers: which runs of sibling modules on one side make up one module of the other (qkv = q, k, v; fc1 = gate, up)."""

from __future__ import annotations

from dataclasses import dataclass

from converter.match.component_words import component_similarity, phrase
from converter.match.modules import ModuleTable
from converter.match.similarity import EQUAL_INPUT, Fit
from converter.messages import joined, message

MOST_PARTS = 8
SAME_NORM = message("evidence.same_norm", "weights put together have the same norm")
WIDEST_GAP = 4  # modules that may stand between two parts (an activation between gate and up, a norm behind each of q and k)

# Without shapes (structure dumps) only these names are taken for fused layers.
_PARTS_BY_PHRASE = {"query key value": ("query", "key", "value"), "gate up": ("gate", "up")}


@dataclass(frozen=True)
class Group:
    """One module of a side against several of the other; `parts` are positions in the other side's sequence."""

    whole: int
    parts: tuple[int, ...]
    fit: Fit
    certain: bool  # the names say so, or the weights put together have the whole's norm


def certain_groups(groups: list[Group]) -> list[Group]:
    """Groups that are beyond doubt and do not share a module, best first: named as such, or equal in value when put together.

    Sizes alone are not: k and v together may be as large as q.
    """
    chosen: list[Group] = []
    wholes: set[int] = set()
    used: set[int] = set()
    for group in sorted(groups, key=lambda entry: (-entry.fit.score, entry.whole, entry.parts)):
        if group.certain and group.whole not in wholes and not used.intersection(group.parts):
            chosen.append(group)
            wholes.add(group.whole)
            used.update(group.parts)
    return chosen


def find_groups(whole_side: ModuleTable, wholes: list[int], part_side: ModuleTable, parts: list[int]) -> list[Group]:
    """All groups "wholes[i] = parts[j1] + parts[j2] + …" among two sequences of modules in call order.

    Recognised by parameter shapes: equal but for one extent, which adds up; the parts are siblings that read the
    same input. Positions, not module numbers, are returned.
    """
    groups = []
    part_weight = [_weight(part_side, module) for module in parts]
    by_parent: dict[int, list[int]] = {}
    for position, module in enumerate(parts):
        by_parent.setdefault(part_side.parent[module], []).append(position)
    for i, module in enumerate(wholes):
        weight = _weight(whole_side, module)
        for siblings in by_parent.values():
            group = _group_by_phrase(whole_side, module, weight, part_side, parts, siblings, part_weight)
            named = group is not None
            if group is None and weight is not None:
                group = _group_by_shape(whole_side, module, weight, part_side, parts, siblings, part_weight)
            if group is not None:
                groups.append(Group(i, group[0], group[1], named or SAME_NORM in group[1].evidence))
    return groups


def _weight(table: ModuleTable, module: int) -> tuple[int, ...] | None:
    """Shape of the one matrix that a linear-like module holds; None if it has none or several."""
    matrices = [tensor.shape for tensor in table.features(module).parameters if len(tensor.shape) == 2]
    return matrices[0] if len(matrices) == 1 else None


def _group_by_shape(
    whole_side: ModuleTable,
    module: int,
    weight: tuple[int, ...],
    part_side: ModuleTable,
    parts: list[int],
    siblings: list[int],
    part_weight: list[tuple[int, ...] | None],
) -> tuple[tuple[int, ...], Fit] | None:
    for axis in (0, 1):
        other_axis = 1 - axis
        for first in range(len(siblings)):
            chosen: list[int] = []
            total = 0
            for position in siblings[first:]:
                shape = part_weight[position]
                if shape is None:
                    if chosen and position - chosen[-1] > WIDEST_GAP:
                        break
                    continue
                if shape[other_axis] != weight[other_axis] or (chosen and not _same_input(part_side, parts[chosen[0]], parts[position])):
                    break
                chosen.append(position)
                total += shape[axis]
                if total >= weight[axis] or len(chosen) == MOST_PARTS:
                    break
            if total == weight[axis] and len(chosen) >= 2:
                return tuple(chosen), _fit(whole_side, module, part_side, [parts[p] for p in chosen], weight, axis)
    return None


def _same_input(table: ModuleTable, a: int, b: int) -> bool:
    """Both read the same tensor, as far as statistics tell (without statistics: tensors of one size)."""
    inputs_a, inputs_b = table.features(a).inputs, table.features(b).inputs
    if not inputs_a or not inputs_b:
        return True
    if inputs_a[0].statistics is None or inputs_b[0].statistics is None:
        return inputs_a[0].size == inputs_b[0].size
    return inputs_a[0].agrees(inputs_b[0])


def _fit(whole_side: ModuleTable, module: int, part_side: ModuleTable, chosen: list[int], weight: tuple[int, ...], axis: int) -> Fit:
    extents = [_weight(part_side, part) for part in chosen]
    total = " + ".join(str(shape[axis]) for shape in extents if shape is not None)
    evidence: list[str] = [
        message("evidence.out_features", "out features {parts} = {whole}", parts=total, whole=weight[axis]) if axis == 0
        else message("evidence.in_features", "in features {parts} = {whole}", parts=total, whole=weight[axis])
    ]
    score = 5.0
    parameters = whole_side.features(module).parameters
    norms = [
        tensor.statistics[3]
        for part in chosen
        for tensor in part_side.features(part).parameters
        if tensor.shape in extents and tensor.statistics
    ]
    whole_norm = [tensor.statistics[3] for tensor in parameters if tensor.shape == weight and tensor.statistics]
    if whole_norm and len(norms) == len(chosen):
        composed = sum(norm * norm for norm in norms) ** 0.5
        if abs(composed - whole_norm[0]) <= 1e-4 * max(composed, whole_norm[0]):
            score += 4.0
            evidence.append(SAME_NORM)
    whole_inputs, part_inputs = whole_side.features(module).inputs, part_side.features(chosen[0]).inputs
    if whole_inputs and part_inputs and whole_inputs[0].agrees(part_inputs[0]):
        score += 2.0
        evidence.append(EQUAL_INPUT)
    names = max(component_similarity(whole_side.component(module), part_side.component(part)) for part in chosen)
    if names >= 0.5:
        score += 2.0
        evidence.append(f"{whole_side.component(module)} ~ {' + '.join(part_side.component(part) for part in chosen)}")
    biases = any(len(tensor.shape) == 1 for tensor in parameters)
    part_biases = [any(len(tensor.shape) == 1 for tensor in part_side.features(part).parameters) for part in chosen]
    if biases != all(part_biases) and biases != any(part_biases):
        score -= 2.0
    return Fit(score, joined(evidence))


def _group_by_phrase(
    whole_side: ModuleTable,
    module: int,
    weight: tuple[int, ...] | None,
    part_side: ModuleTable,
    parts: list[int],
    siblings: list[int],
    part_weight: list[tuple[int, ...] | None],
) -> tuple[tuple[int, ...], Fit] | None:
    """Groups that names tell. They come first: under sharding a part of the parts may add up by chance."""
    names = _PARTS_BY_PHRASE.get(phrase(whole_side.component(module)))
    if names is None:
        return None
    position_of = {phrase(part_side.component(parts[position])): position for position in siblings}
    if not all(name in position_of for name in names):
        return None
    chosen = tuple(sorted(position_of[name] for name in names))
    shapes = [part_weight[position] for position in chosen]
    text = message("evidence.parts_by_name", "{whole} is {parts} by name",
                   whole=whole_side.component(module), parts=' + '.join(part_side.component(parts[p]) for p in chosen))
    known = [shape for shape in shapes if shape is not None]
    if weight is None:
        return None if known else (chosen, Fit(6.0, text))
    if len(known) < len(shapes) or any(shape[1] != weight[1] for shape in known):
        return None
    total = sum(shape[0] for shape in known)
    larger, smaller = max(total, weight[0]), min(total, weight[0])
    if larger == smaller:
        return chosen, _fit(whole_side, module, part_side, [parts[p] for p in chosen], weight, 0)
    if larger % smaller:
        return None
    return chosen, Fit(6.0, joined([text, message("evidence.sharded_by", "sharded by {count}", count=larger // smaller)]))


def names_a_part(whole: str, part: str) -> bool:
    """One component is a fused layer and the other one of its parts ("linear_qkv" and "k_proj"): never the same thing."""
    return phrase(part) in _PARTS_BY_PHRASE.get(phrase(whole), ())
