"""Repeated blocks (layers, experts): do two repeats belong together, and which block of one is which of the other."""

from __future__ import annotations

from converter.match.modules import ModuleTable, TensorFeature
from converter.match.similarity import FORBIDDEN, Fit, name_fit

# At most this many blocks of each side are looked at when two repeats of unequal length are laid over each other.
PROBES = 8


def list_fit(target: ModuleTable, t: int, golden: ModuleTable, g: int, partner: dict[int, tuple[int, ...]]) -> Fit:
    """How well two repeats fit: number of blocks, parameters of a block, names of what is inside."""
    blocks_t, blocks_g = target.children[t], golden.children[g]
    others = set(blocks_g)
    paired = [block for block in blocks_t if block in partner]
    if paired:
        inside = sum(1 for block in paired if partner[block][0] in others)
        return Fit(50.0 if inside * 2 > len(paired) else FORBIDDEN, "blocks paired by name")
    score, evidence = name_fit(target, t, golden, g)
    if len(blocks_t) == len(blocks_g):
        score += 3.0
        evidence.append(f"{len(blocks_t)} blocks each")
    else:
        score -= 1.0
        evidence.append(f"{len(blocks_t)} and {len(blocks_g)} blocks")
    first_t, first_g = blocks_t[0], blocks_g[0]
    weight_t, weight_g = parameter_elements(target, first_t), parameter_elements(golden, first_g)
    if weight_t and weight_g:
        if weight_t == weight_g:
            score += 4.0
            evidence.append(f"{weight_t} parameter elements a block")
        elif max(weight_t, weight_g) <= 1.05 * min(weight_t, weight_g):
            score += 3.0
            evidence.append(f"{weight_t} and {weight_g} parameter elements a block")
        elif max(weight_t, weight_g) > 1.5 * min(weight_t, weight_g):
            score -= 2.0
    outputs_t, outputs_g = _block_outputs(target, first_t), _block_outputs(golden, first_g)
    if outputs_t and outputs_g and outputs_t[0].size != outputs_g[0].size:
        score -= 3.0
    return Fit(score, "; ".join(evidence))


def parameter_elements(table: ModuleTable, module: int) -> int:
    """Number of parameter elements in a module and everything below it."""
    total, stack = 0, [module]
    while stack:
        number = stack.pop()
        total += sum(tensor.size for tensor in table.features(number).parameters)
        stack.extend(table.children[number])
    return total


def _block_outputs(table: ModuleTable, block: int) -> tuple[TensorFeature, ...]:
    return table.features(block).outputs


def pair_blocks(target: ModuleTable, t: int, golden: ModuleTable, g: int) -> list[tuple[int, int, str]]:
    """(target block, golden block, evidence) in call order.

    Equally many blocks pair in order. Otherwise (a pipeline stage against the whole model, a layer left out) the
    shorter repeat is laid over the longer one where the most parameters have equal values; without any such sign
    by equal index; without that, nothing is paired.
    """
    blocks_t, blocks_g = _in_index_order(target, t), _in_index_order(golden, g)
    if len(blocks_t) == len(blocks_g):
        return [(a, b, f"block {i + 1} of {len(blocks_t)}") for i, (a, b) in enumerate(zip(blocks_t, blocks_g))]
    longer = max(len(blocks_t), len(blocks_g))
    shorter = min(len(blocks_t), len(blocks_g))
    votes = []
    for offset in range(longer - shorter + 1):
        hits = sum(
            _same_weights(
                target,
                blocks_t[i if len(blocks_t) == shorter else i + offset],
                golden,
                blocks_g[i + offset if len(blocks_t) == shorter else i],
            )
            for i in range(min(shorter, PROBES))
        )
        votes.append(hits)
    top = max(votes)
    if top and votes.count(top) == 1:
        offset = votes.index(top)
        pairs = [
            (blocks_t[i], blocks_g[i + offset]) if len(blocks_t) == shorter else (blocks_t[i + offset], blocks_g[i]) for i in range(shorter)
        ]
        return [(a, b, f"equal weights at an offset of {offset} blocks") for a, b in pairs]
    by_name = {golden.component(block): block for block in blocks_g}
    return [(block, by_name[target.component(block)], "equal block index") for block in blocks_t if target.component(block) in by_name]


def _in_index_order(table: ModuleTable, module: int) -> list[int]:
    """Blocks by their number where they have one (experts are called in any order), else in call order."""
    children = table.children[module]
    if all(table.component(child).isdigit() for child in children):
        return sorted(children, key=lambda child: int(table.component(child)))
    return list(children)


def _same_weights(target: ModuleTable, a: int, golden: ModuleTable, b: int) -> bool:
    mine, other = _first_weights(target, a), _first_weights(golden, b)
    return any(x.agrees(y) for x in mine for y in other)


def _first_weights(table: ModuleTable, block: int) -> list[TensorFeature]:
    """Matrices of a block that tell it from its siblings (vectors of ones do not)."""
    found: list[TensorFeature] = []
    stack = [block]
    while stack:
        number = stack.pop()
        found.extend(tensor for tensor in table.features(number).parameters if len(tensor.shape) > 1)
        stack.extend(reversed(table.children[number]))
    return found
