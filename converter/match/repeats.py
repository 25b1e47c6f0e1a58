"""Repeated blocks (layers, experts): do two repeats belong together, and which block of one is which of the other."""

from __future__ import annotations

from dataclasses import dataclass

from converter.match.component_words import normalised_path
from converter.match.modules import ModuleTable, TensorFeature
from converter.match.similarity import FORBIDDEN, Fit, name_fit
from converter.messages import joined, message

# At most this many blocks of each side are looked at when two repeats of unequal length are laid over each other.
PROBES = 8


@dataclass(frozen=True)
class Atom:
    """What an alignment takes as one: a leaf module, or a repeat of blocks (modules of one kind with modules inside)."""

    modules: tuple[int, ...]  # the leaf, or the blocks in call order
    repeat: bool
    owner: int  # the level that holds nothing but the blocks (a ModuleList); -1 = the blocks stand among other modules


def atoms(table: ModuleTable, module: int) -> list[Atom]:
    """Leaf modules and repeats below a module, in call order; the levels in between are looked through.

    A repeat is a level of its own (ModuleTable.is_list), or two and more blocks of one class that follow each other among
    other modules: not every model keeps its layers in a list.
    """
    found: list[Atom] = []
    waiting = [module]
    while waiting:
        level = waiting.pop()
        children = table.children[level]
        position = 0
        while position < len(children):
            child = children[position]
            end = position + 1
            if _is_block(table, child):
                name = table.class_name[child]
                while end < len(children) and _is_block(table, children[end]) and table.class_name[children[end]] == name:
                    end += 1
            if end - position >= 2:
                found.append(Atom(tuple(children[position:end]), True, -1))
            elif not table.children[child]:
                found.append(Atom((child,), False, -1))
            elif table.is_list(child):
                found.append(Atom(tuple(table.children[child]), True, child))
            else:
                waiting.append(child)
            position = end
    found.sort(key=lambda atom: table.first[atom.modules[0]])
    return found


def _is_block(table: ModuleTable, module: int) -> bool:
    return bool(table.children[module]) and bool(table.class_name[module]) and not table.is_list(module)


def list_fit(target: ModuleTable, t: Atom, golden: ModuleTable, g: Atom, partner: dict[int, tuple[int, ...]]) -> Fit:
    """How well two repeats fit: number of blocks, parameters of a block, names of what holds them."""
    blocks_t, blocks_g = t.modules, g.modules
    others = set(blocks_g)
    paired = [block for block in blocks_t if block in partner]
    if paired:
        inside = sum(1 for block in paired if partner[block][0] in others)
        return Fit(50.0 if inside * 2 > len(paired) else FORBIDDEN, message("evidence.blocks_by_name", "blocks paired by name"))
    score = 0.0
    evidence: list[str] = []
    if t.owner > 0 and g.owner > 0:
        score, evidence = name_fit(target, t.owner, golden, g.owner)
    if len(blocks_t) == len(blocks_g):
        score += 3.0
        evidence.append(message("evidence.blocks_each", "{count} blocks each", count=len(blocks_t)))
    else:
        score -= 1.0
        evidence.append(message("evidence.blocks", "{target} and {golden} blocks", target=len(blocks_t), golden=len(blocks_g)))
    first_t, first_g = blocks_t[0], blocks_g[0]
    weight_t, weight_g = parameter_elements(target, first_t), parameter_elements(golden, first_g)
    if weight_t and weight_g:
        if weight_t == weight_g:
            score += 4.0
            evidence.append(message("evidence.block_size", "{count} parameter elements a block", count=weight_t))
        elif max(weight_t, weight_g) <= 1.05 * min(weight_t, weight_g):
            score += 3.0
            evidence.append(message("evidence.block_sizes", "{target} and {golden} parameter elements a block",
                                    target=weight_t, golden=weight_g))
        elif max(weight_t, weight_g) > 1.5 * min(weight_t, weight_g):
            score -= 2.0
    outputs_t, outputs_g = _block_outputs(target, first_t), _block_outputs(golden, first_g)
    if outputs_t and outputs_g and outputs_t[0].size != outputs_g[0].size:
        score -= 3.0
    return Fit(score, joined(evidence))


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


def pair_blocks(target: ModuleTable, t: Atom, golden: ModuleTable, g: Atom) -> list[tuple[int, int, str]]:
    """(target block, golden block, evidence) in call order.

    Equally many blocks pair in order. Otherwise (a pipeline stage against the whole model, a layer left out) the
    shorter repeat is laid over the longer one where the most parameters have equal values; without any such sign
    by equal index; without that, nothing is paired.
    """
    blocks_t, blocks_g = _in_index_order(target, t.modules), _in_index_order(golden, g.modules)
    if len(blocks_t) == len(blocks_g):
        return [
            (a, b, message("evidence.block_of", "block {number} of {count}", number=i + 1, count=len(blocks_t)))
            for i, (a, b) in enumerate(zip(blocks_t, blocks_g))
        ]
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
        return [(a, b, message("evidence.block_offset", "equal weights at an offset of {offset} blocks", offset=offset)) for a, b in pairs]
    by_name = {golden.component(block): block for block in blocks_g}
    return [
        (block, by_name[target.component(block)], message("evidence.block_index", "equal block index"))
        for block in blocks_t
        if target.component(block) in by_name
    ]


def renumbered_modules(target: ModuleTable, golden: ModuleTable) -> set[int]:
    """Target modules below a numbered list whose numbers mean other blocks than golden's: a pipeline stage counts its layers from 0.

    Recognised by weights: a list of the same path with another number of blocks, whose blocks hold golden's weights at one
    offset other than 0 and not at offset 0. Names say nothing there; the structural step pairs the blocks.
    """
    golden_of = {normalised_path(path): number for number, path in enumerate(golden.path) if golden.is_list(number)}
    found: set[int] = set()
    for number, path in enumerate(target.path):
        other = golden_of.get(normalised_path(path), -1) if len(target.children[number]) > 0 else -1
        if other < 0 or not all(target.component(child).isdigit() and target.children[child] for child in target.children[number]):
            continue
        mine, theirs = _in_index_order(target, tuple(target.children[number])), _in_index_order(golden, tuple(golden.children[other]))
        if len(mine) >= len(theirs) or _same_weights(target, mine[0], golden, theirs[0]):
            continue
        offsets = [offset for offset in range(1, len(theirs) - len(mine) + 1) if _same_weights(target, mine[0], golden, theirs[offset])]
        if len(offsets) == 1:
            stack = list(mine)
            while stack:
                module = stack.pop()
                found.add(module)
                stack.extend(target.children[module])
    return found


def _in_index_order(table: ModuleTable, blocks: tuple[int, ...]) -> list[int]:
    """Blocks by their number where they have one (experts are called in any order), else in call order."""
    if all(table.component(block).isdigit() for block in blocks):
        return sorted(blocks, key=lambda block: int(table.component(block)))
    return list(blocks)


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
