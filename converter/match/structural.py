"""Structural matching: align what names could not pair, by structure, shapes, order and statistics.

1. Both hierarchies are read as sequences of leaf modules and of repeated blocks ("atoms"), in call order; the levels
   between do not count, so that another nesting does no harm.
2. The two sequences are aligned (insert, delete, one against several siblings); modules that are already paired hold
   their places.
3. Two aligned repeats are paired block by block, and one block is aligned inside; blocks of equal structure are
   aligned once and the result is carried over.
4. A level with modules inside is paired with the level of the other side that holds exactly the counterparts of what
   it holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from converter.match.align import align_atoms
from converter.match.fused import certain_groups, find_groups, names_a_part
from converter.match.modules import ModuleTable
from converter.match.pairing import How, Relation
from converter.match.paths import PathPair
from converter.match.repeats import Atom, atoms, list_fit, pair_blocks
from converter.match.similarity import FORBIDDEN, PAIR_SCORE, PROPOSE_SCORE, Fit, activation_fit, equal_parameters, leaf_fit, name_fit
from converter.messages import joined, message

HOLDS_COUNTERPARTS = message("evidence.holds_counterparts", "hold each other's counterparts")

FIXED = 1000.0  # score of atoms that an earlier step has paired
Relative = tuple[str, ...]  # a path relative to a block


@dataclass(frozen=True)
class _PairInside:
    """A pair found inside two blocks, by paths relative to the blocks: it holds for every two blocks of the same structures."""

    target: tuple[Relative, ...]
    golden: tuple[Relative, ...]
    relation: Relation
    confidence: float
    evidence: str


@dataclass
class _State:
    """What has been found so far; the steps of this file add to it."""

    target: ModuleTable
    golden: ModuleTable
    partner: dict[int, tuple[int, ...]]  # target module → golden modules
    partner_golden: dict[int, tuple[int, ...]]
    pairs: list[PathPair] = field(default_factory=list)
    proposals: list[PathPair] = field(default_factory=list)
    looked_into: set[int] = field(default_factory=set)  # target blocks whose contents are aligned
    # (signature, signature) → what was found inside two such blocks
    known_blocks: dict[tuple[int, int], list[_PairInside]] = field(default_factory=dict)

    def add(self, target: tuple[int, ...], golden: tuple[int, ...], relation: Relation, fit: Fit) -> None:
        """Pair what fits well enough, propose what nearly does."""
        pair = PathPair(target, golden, relation, How.STRUCTURAL, fit.confidence, fit.evidence)
        if fit.score >= PAIR_SCORE:
            self.pairs.append(pair)
            self.join(pair)
        elif fit.score >= PROPOSE_SCORE:
            self.proposals.append(pair)

    def join(self, pair: PathPair) -> None:
        """Take the modules of a pair out of the reach of everything that follows."""
        for number in pair.target:
            self.partner[number] = pair.golden
        for number in pair.golden:
            self.partner_golden[number] = pair.target


def structural_pairs(target: ModuleTable, golden: ModuleTable, earlier: list[PathPair]) -> tuple[list[PathPair], list[PathPair]]:
    """Pair what `earlier` left over. Returns (pairs, proposals below the threshold)."""
    state = _State(target, golden, {}, {})
    for pair in earlier:
        state.join(pair)
    if _nothing_left(target, state.partner) or _nothing_left(golden, state.partner_golden):
        return [], []
    waiting = [(0, 0)]
    while waiting:
        waiting.extend(_align_inside(state, *waiting.pop()))
    _pair_levels(state)
    return state.pairs, state.proposals


def _nothing_left(table: ModuleTable, partner: dict[int, tuple[int, ...]]) -> bool:
    return all(number in partner or not table.called(number) for number in range(len(table.path)))


def _align_inside(state: _State, t: int, g: int) -> list[tuple[int, int]]:
    """Align what two levels hold. Returns the pairs of blocks to align next."""
    state.looked_into.add(t)
    target, golden = state.target, state.golden
    mine, other = atoms(target, t), atoms(golden, g)
    if not mine or not other:
        return []
    _take_certain_groups(state, mine, other)
    fits: dict[tuple[int, int], Fit] = {}

    def score(i: int, j: int) -> float:
        a, b = mine[i], other[j]
        if a.repeat != b.repeat:
            return FORBIDDEN
        if not a.repeat:
            fixed = state.partner.get(a.modules[0])
            if fixed is not None:
                return FIXED if fixed[0] == b.modules[0] else FORBIDDEN
            if b.modules[0] in state.partner_golden or _part_of_fused(target, a.modules[0], golden, b.modules[0]):
                return FORBIDDEN
        fit = fits.get((i, j))
        if fit is None:
            fit = list_fit(target, a, golden, b, state.partner) if a.repeat else leaf_fit(target, a.modules[0], golden, b.modules[0])
            fits[i, j] = fit
        return fit.score

    splits, joins = _possible_groups(state, mine, other)
    for left, right, fit in align_atoms(len(mine), len(other), score, splits, joins, PROPOSE_SCORE):
        first, second = mine[left[0]], other[right[0]]
        if fit is None:
            fit = fits.get((left[0], right[0]), Fit(FIXED, ""))
        if first.repeat:
            if fit.score >= PAIR_SCORE:
                _pair_repeats(state, first, second, fit)
        elif first.modules[0] not in state.partner:
            relation = Relation.SAME if len(left) == len(right) == 1 else Relation.CONCAT
            state.add(tuple(mine[i].modules[0] for i in left), tuple(other[j].modules[0] for j in right), relation, fit)
    _take_equal_parameters(state, mine, other)
    # Repeats whose blocks were paired by name still may hold modules that were not.
    blocks = [block for atom in mine if atom.repeat for block in atom.modules if block not in state.looked_into]
    return [(block, state.partner[block][0]) for block in blocks if len(state.partner.get(block, ())) == 1]


def _possible_groups(
    state: _State, mine: list[Atom], other: list[Atom]
) -> tuple[list[tuple[int, tuple[int, ...], Fit]], list[tuple[tuple[int, ...], int, Fit]]]:
    """(splits, joins) for align_atoms: one free leaf module of a side against several of the other."""
    free_mine = [i for i, atom in enumerate(mine) if not atom.repeat and atom.modules[0] not in state.partner]
    free_other = [j for j, atom in enumerate(other) if not atom.repeat and atom.modules[0] not in state.partner_golden]
    leaves_mine, leaves_other = [mine[i].modules[0] for i in free_mine], [other[j].modules[0] for j in free_other]
    splits = [
        (free_mine[group.whole], tuple(free_other[p] for p in group.parts), group.fit)
        for group in find_groups(state.target, leaves_mine, state.golden, leaves_other)
    ]
    joins = [
        (tuple(free_mine[p] for p in group.parts), free_other[group.whole], group.fit)
        for group in find_groups(state.golden, leaves_other, state.target, leaves_mine)
    ]
    return splits, joins


def _take_certain_groups(state: _State, mine: list[Atom], other: list[Atom]) -> None:
    """Pair fused layers that are beyond doubt before the alignment: their parts need not stand together in call order."""
    leaves_mine = [atom.modules[0] for atom in mine if not atom.repeat and atom.modules[0] not in state.partner]
    leaves_other = [atom.modules[0] for atom in other if not atom.repeat and atom.modules[0] not in state.partner_golden]
    for group in certain_groups(find_groups(state.target, leaves_mine, state.golden, leaves_other)):
        state.add((leaves_mine[group.whole],), tuple(leaves_other[part] for part in group.parts), Relation.CONCAT, group.fit)
    leaves_mine = [module for module in leaves_mine if module not in state.partner]
    leaves_other = [module for module in leaves_other if module not in state.partner_golden]
    for group in certain_groups(find_groups(state.golden, leaves_other, state.target, leaves_mine)):
        state.add(tuple(leaves_mine[part] for part in group.parts), (leaves_other[group.whole],), Relation.CONCAT, group.fit)


def _take_equal_parameters(state: _State, mine: list[Atom], other: list[Atom]) -> None:
    """Pair what the alignment left over although its parameters are equal in value: called in another order on either side."""
    left = [atom.modules[0] for atom in mine if not atom.repeat and atom.modules[0] not in state.partner]
    right = [atom.modules[0] for atom in other if not atom.repeat and atom.modules[0] not in state.partner_golden]
    for a in left:
        fitting = [b for b in right if b not in state.partner_golden and equal_parameters(state.target, a, state.golden, b)]
        if len(fitting) == 1 and sum(equal_parameters(state.target, c, state.golden, fitting[0]) for c in left) == 1:
            state.add((a,), (fitting[0],), Relation.SAME, leaf_fit(state.target, a, state.golden, fitting[0]))


def _part_of_fused(target: ModuleTable, t: int, golden: ModuleTable, g: int) -> bool:
    """A fused layer by name against one of its parts, unless their parameters are equal in shape and value."""
    if not names_a_part(target.component(t), golden.component(g)) and not names_a_part(golden.component(g), target.component(t)):
        return False
    mine, other = target.features(t).parameters, golden.features(g).parameters
    return not (mine and len(mine) == len(other) and all(any(a.agrees(b) for b in other) for a in mine))


def _pair_repeats(state: _State, t: Atom, g: Atom, fit: Fit) -> None:
    """Pair the blocks of two repeats. Blocks of a structure seen before get their contents at once."""
    target, golden = state.target, state.golden
    called = t.owner > 0 and g.owner > 0 and target.called(t.owner) and golden.called(g.owner)
    if called and t.owner not in state.partner and g.owner not in state.partner_golden:
        state.add((t.owner,), (g.owner,), Relation.SAME, fit)
    for a, b, evidence in pair_blocks(target, t, golden, g):
        if a in state.partner or b in state.partner_golden:
            continue
        if target.called(a) and golden.called(b):
            state.add((a,), (b,), Relation.SAME, Fit(max(fit.score, PAIR_SCORE), evidence))
        state.looked_into.add(a)
        key = (target.signature(a), golden.signature(b))
        known = state.known_blocks.get(key)
        if known is None:
            before = len(state.pairs)
            inside = [(a, b)]
            while inside:
                inside.extend(_align_inside(state, *inside.pop()))
            _remember_block(state, key, a, b, state.pairs[before:])
        else:
            _repeat_block(state, a, b, known)


def _remember_block(state: _State, key: tuple[int, int], a: int, b: int, pairs: list[PathPair]) -> None:
    depth_a, depth_b = len(state.target.path[a]), len(state.golden.path[b])
    state.known_blocks[key] = [
        _PairInside(
            tuple(state.target.path[number][depth_a:] for number in pair.target),
            tuple(state.golden.path[number][depth_b:] for number in pair.golden),
            pair.relation,
            pair.confidence,
            pair.evidence,
        )
        for pair in pairs
    ]


def _repeat_block(state: _State, a: int, b: int, known: list[_PairInside]) -> None:
    for inside in known:
        mine = tuple(_descend(state.target, a, relative) for relative in inside.target)
        other = tuple(_descend(state.golden, b, relative) for relative in inside.golden)
        if any(number in state.partner for number in mine) or any(number in state.partner_golden for number in other):
            continue
        pair = PathPair(mine, other, inside.relation, How.STRUCTURAL, inside.confidence, inside.evidence)
        state.pairs.append(pair)
        state.join(pair)


def _descend(table: ModuleTable, module: int, relative: Relative) -> int:
    for component in relative:
        module = next(child for child in table.children[module] if table.component(child) == component)
    return module


def _pair_levels(state: _State) -> None:
    """Pair levels with modules inside that hold exactly the counterparts of each other's modules."""
    target, golden = state.target, state.golden
    marks_target, marks_golden = _leaf_pair_marks(state)
    covered_target = _coverage(target, marks_target)
    covered_golden = _coverage(golden, marks_golden)
    candidates: dict[tuple[int, int], list[int]] = {}
    for number in range(1, len(golden.path)):
        if golden.children[number] and golden.called(number) and number not in state.partner_golden and covered_golden[number][0]:
            candidates.setdefault(covered_golden[number], []).append(number)
    for number in range(len(target.path) - 1, 0, -1):
        if not target.children[number] or not target.called(number) or number in state.partner or not covered_target[number][0]:
            continue
        best, best_fit = -1, Fit(0.0, "")
        for other in candidates.get(covered_target[number], ()):
            if other in state.partner_golden:
                continue
            fit = _level_fit(target, number, golden, other)
            # Innermost first on both sides: of equally good levels the deepest is taken.
            if fit.score > best_fit.score or (fit.score == best_fit.score and other > best):
                best, best_fit = other, fit
        if best >= 0:
            state.add((number,), (best,), Relation.SAME, best_fit)


def _leaf_pair_marks(state: _State) -> tuple[dict[int, int], dict[int, int]]:
    """One number per pair of leaf modules, on the first module of either side; positive, so that no two sums cancel out."""
    marks_target, marks_golden = {}, {}
    for number, partner in state.partner.items():
        group = state.partner_golden[partner[0]]
        if number == group[0] and not state.target.children[number] and not state.golden.children[partner[0]]:
            mark = hash((number, partner[0])) & 0xFFFFFFFFFFFF
            marks_target[number] = mark
            marks_golden[partner[0]] = mark
    return marks_target, marks_golden


def _coverage(table: ModuleTable, marks: dict[int, int]) -> list[tuple[int, int]]:
    """Per module: how many pairs of leaf modules it holds, and the sum of their marks, which names exactly which."""
    counts, sums = [0] * len(table.path), [0] * len(table.path)
    for number in range(len(table.path) - 1, 0, -1):
        if number in marks:
            counts[number] += 1
            sums[number] += marks[number]
        counts[table.parent[number]] += counts[number]
        sums[table.parent[number]] += sums[number]
    return list(zip(counts, sums))


def _level_fit(target: ModuleTable, t: int, golden: ModuleTable, g: int) -> Fit:
    score, evidence = name_fit(target, t, golden, g)
    mine, other = target.features(t), golden.features(g)
    gain, texts = activation_fit(mine.inputs, mine.outputs, other.inputs, other.outputs)
    if mine.parameter_shapes != other.parameter_shapes:
        score -= 2.0
    return Fit(score + gain + 3.0, joined([HOLDS_COUNTERPARTS, *evidence, *texts]))
