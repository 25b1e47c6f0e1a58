"""Pairs that a mapping file makes, on the trees of both sides.

1. Both trees as levels (mapping_levels), every level of the source side converted (mapping_convert).
2. Claims: which converted levels are there on the destination side. Two rules that claim one module are an error.
3. Calls: modules of a claim pair in call order, within direction, micro step and recomputation.
4. APIs: scoped by the module that calls them (and the framework function in between), likewise in call order.

Source is the target side; with `invert: true` in the file the golden side. Needs neither data nor stacks. Linear in the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.match.frame_scope import CallStacks, frame_scopes
from converter.match.mapping_calls import Side, group_calls, join, pair_calls, prepare_side
from converter.match.mapping_claims import claim_levels, parameter_aliases
from converter.match.mapping_convert import Conversion, Destination, Path, Rules, State, convert_levels, paths_below, prepare, step
from converter.match.mapping_levels import Levels, find_levels
from converter.match.mapping_pattern import Pattern
from converter.match.mapping_report import Unknown, unhit_rules, unknown_scopes
from converter.match.mapping_rules import MappingFile
from converter.match.pairing import SAME_NAME, SAME_PATH, How, Layout, Pair, Relation, RuleHits
from converter.messages import message
from converter.tree.columns import Direction, NodeKind, Tree


@dataclass(frozen=True)
class MappingMatch:
    """What a mapping file did to two graphs. Pairs of one node with one node are columns, groups are records."""

    target: NDArray[np.int32]  # ascending
    golden: NDArray[np.int32]
    exact: NDArray[np.bool_]  # no rule was needed and the full names are equal
    evidence: NDArray[np.int32]  # id into evidence_texts
    evidence_texts: list[str]
    groups: list[Pair]
    layouts: dict[tuple[int, ...], Layout]  # target nodes of a group → layout that its rule gives
    rules: list[RuleHits]  # all rules in file order; hits = pairs whose path the rule took part in
    direct_hits: list[int]  # per rule: pairs that it named itself; the others follow below it
    # Modules of the target side (of the golden one with `invert`) of which a rule says that they, or one around them, have none.
    without_counterpart: NDArray[np.int32]
    aliases: dict[tuple[str, str], str]  # as in Pairing
    unknown: list[Unknown]  # classes and paths that this graph does not have: an error if no rank has them
    warnings: list[str]

    def pairs(self) -> list[Pair]:
        """All pairs as records, in target order."""
        hows = (How.MAPPING, How.EXACT)
        texts = self.evidence_texts
        single = [Pair((a,), (b,), Relation.SAME, hows[exact], 1.0, texts[evidence]) for a, b, exact, evidence in zip(
            self.target.tolist(), self.golden.tolist(), self.exact.tolist(), self.evidence.tolist())]
        return sorted(single + self.groups, key=lambda pair: pair.target) if self.groups else single


def match_by_mapping(target: Tree, golden: Tree, mapping: MappingFile, taken_target: NDArray[np.bool_] | None = None,
                     taken_golden: NDArray[np.bool_] | None = None, dumps: tuple[CallStacks, CallStacks] | None = None,
                     unruled_apis: bool = True) -> MappingMatch:
    """Pair the nodes of two trees by a mapping file.

    Args:
        taken_target, taken_golden: bool per node: already paired by an earlier step, left out here.
        dumps: target's and golden's dump, or their call stacks. With them an API is also scoped by the framework function
            that issued it; without, or if either side has no stacks, by its module only.
        unruled_apis: pair APIs whose name no rule mentions, in call order. False leaves them to the alignment of API sequences.
    Raises:
        UserError: two rules claim one module; two aliases contradict each other.
    """
    source_tree, destination_tree = (golden, target) if mapping.invert else (target, golden)
    source_taken, destination_taken = (taken_golden, taken_target) if mapping.invert else (taken_target, taken_golden)
    source_levels = find_levels(source_tree, mapping.ignore_wrappers)
    destination_levels = find_levels(destination_tree, mapping.ignore_wrappers)
    rules = prepare(mapping.rules)
    conversion = convert_levels(rules, source_levels, Destination(
        destination_levels.of_path.__contains__, lambda base, pattern: paths_below(destination_levels, base, pattern)))
    claims = claim_levels(mapping, source_levels, destination_levels, conversion)
    by_step = source_tree.micro_steps == destination_tree.micro_steps
    source = prepare_side(source_tree, source_levels, source_taken, by_step)
    destination = prepare_side(destination_tree, destination_levels, destination_taken, by_step)
    mine, other = pair_calls(source, destination, claims.single)
    origin = _origin(conversion, source_levels, source_tree)[mine]

    scopes = _frame_scopes(source_tree, destination_tree, dumps, mapping.invert)
    apis = _pair_apis(source, destination, rules, conversion, scopes, unruled_apis)
    mine, other = np.concatenate([mine, apis[0]]), np.concatenate([other, apis[1]])
    origin = np.concatenate([origin, apis[2]])

    groups: list[Pair] = []
    layouts: dict[tuple[int, ...], Layout] = {}
    group_chains: list[int] = []
    for group in claims.groups:
        rule = mapping.rules[group.rule]
        for a, b in group_calls(source, destination, group.source, group.destination):
            a, b = (b, a) if mapping.invert else (a, b)
            groups.append(Pair(a, b, rule.relation, How.MAPPING, 1.0, rule.label))
            group_chains.append(group.chain)
            if rule.layout is not None:
                layouts[a] = rule.layout

    hits, direct = _count_hits(len(mapping.rules), conversion, origin, group_chains)
    result_target, result_golden = (other, mine) if mapping.invert else (mine, other)
    order = np.argsort(result_target, kind="stable")
    exact, evidence, texts = _evidence(mapping, conversion, source_tree, destination_tree, mine[order], other[order], origin[order])
    unknown = [] if mapping.optional else unknown_scopes(
        mapping, conversion, source_tree, source_levels, destination_tree, destination_levels)
    warnings = claims.warnings + unhit_rules(mapping, hits, unknown, conversion, source_tree, source_levels, destination_levels)
    aliases, alias_warnings = parameter_aliases(mapping, source_levels, destination_levels, claims)
    return MappingMatch(
        result_target[order].astype(np.int32), result_golden[order].astype(np.int32), exact, evidence, texts,
        sorted(groups, key=lambda pair: pair.target), layouts,
        [RuleHits(rule.scope.label, rule.source_text, rule.destination_text, rule.line, count) for rule, count in zip(mapping.rules, hits)],
        direct, _without_counterpart(mapping, conversion, source_levels), aliases, unknown, warnings + alias_warnings)


def _origin(conversion: Conversion, levels: Levels, tree: Tree) -> NDArray[np.int64]:
    """Per node where its conversion comes from: 2 · (chain + 1), plus 1 where the last rule named the node itself."""
    of_level = np.array([2 * (state.chain + 1) + (state.rule >= 0) for state in conversion.states], np.int64)
    return np.where(levels.of_node >= 0, of_level[levels.of_node], 0)


def _frame_scopes(source: Tree, destination: Tree, dumps: tuple[CallStacks, CallStacks] | None,
                  inverted: bool) -> tuple[list[str], list[str]] | None:
    if dumps is None or not dumps[0].stacks or not dumps[1].stacks:
        return None
    mine, other = (dumps[1], dumps[0]) if inverted else dumps
    return frame_scopes(source, mine), frame_scopes(destination, other)


class _ApiKeys:
    """Numbers for (calling level, framework function, API name) that mean the same on both sides."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {"": 0}

    def word(self, text: str) -> int:
        return self.words.setdefault(text, len(self.words))

    def columns(self, side: Side, scopes: list[str] | None) -> tuple[NDArray[np.int64], ...]:
        """Of a side's API nodes: node, calling level (-1 = none), framework function, name."""
        tree, levels = side.tree, side.levels
        nodes = np.flatnonzero((tree.kind == NodeKind.API) & side.free)
        # A MindSpore primitive is called "{instance}.{Type}": the type is its name.
        names = np.array([self.word(label.rpartition(".")[2]) for label in tree.labels] or [0], np.int64)
        frames = np.zeros(len(nodes), np.int64)
        if scopes is not None:
            frames[:] = [self.word(scopes[node]) for node in nodes.tolist()]
        return nodes, levels.of_node[tree.parent[nodes]].astype(np.int64), frames, names[tree.label[nodes]]


def _pair_apis(source: Side, destination: Side, rules: Rules, conversion: Conversion, scopes: tuple[list[str], list[str]] | None,
               unruled: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """API pairs: source nodes, destination nodes, origin (as _origin)."""
    keys = _ApiKeys()
    nodes, level, frame, name = keys.columns(source, scopes[0] if scopes else None)
    other_nodes, other_level, other_frame, other_name = keys.columns(destination, scopes[1] if scopes else None)
    width = len(keys.words)

    def number(levels: NDArray[np.int64], frames: NDArray[np.int64], names: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(levels < 0, -1, (levels * width + frames) * width + names)

    # The framework function only tells APIs apart that no rule names: a rule is meant wherever its module calls the API.
    ruled, other_ruled = _named_apis(rules, {keys.words.get(word, 0) for word in set((scopes or ([], []))[0])}, keys)
    frame[np.isin(name, ruled)] = 0
    other_frame[np.isin(other_name, other_ruled)] = 0
    other_key = number(other_level, other_frame, other_name)
    key = number(level, frame, name)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    converted, origin = _convert_apis(
        [(int(level[at]), int(frame[at]), int(name[at])) for at in first.tolist()], list(keys.words), keys.words, width,
        set(np.unique(other_key).tolist()), source.levels, destination.levels, rules, conversion, unruled)
    mine, other = _join_apis(source, destination, nodes, other_nodes, converted[which.reshape(-1)], other_key)
    return nodes[mine], other_nodes[other], origin[which.reshape(-1)][mine]


def _named_apis(rules: Rules, frames: set[int], keys: _ApiKeys) -> tuple[list[int], list[int]]:
    """Names that end a key, and names that end a counterpart, as numbers; not where the component before is a framework function."""
    found: tuple[set[int], set[int]] = (set(), set())
    for rule in rules.rules:
        for names, sides in zip(found, (rule.sources, rule.destinations)):
            for pattern in (pattern for side in sides for pattern in side if pattern):
                scoped = len(pattern) > 1 and keys.words.get(pattern[-2].text, -1) in frames
                if pattern[-1].text in keys.words and not scoped:
                    names.add(keys.words[pattern[-1].text])
    return sorted(found[0]), sorted(found[1])


def _convert_apis(apis: list[tuple[int, int, int]], words: list[str], word_number: dict[str, int], width: int, present: set[int],
                  levels: Levels, other: Levels, rules: Rules, conversion: Conversion,
                  unruled: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Destination key (-1 = none) and origin of every distinct API of the source side."""
    def key_of(path: Path) -> int:
        for scoped in (1, 2):
            if len(path) >= scoped:
                below = other.of_path.get(path[:-scoped], -1)
                frame = word_number.get(path[-2], -1) if scoped == 2 else 0
                found = (below * width + frame) * width + word_number.get(path[-1], -1)
                if below >= 0 and frame >= 0 and path[-1] in word_number and found in present:
                    return found
        return -1

    def nothing(base: Path, pattern: Pattern) -> list[Path]:
        return []

    destination = Destination(lambda path: key_of(path) >= 0, nothing)
    base_level = [other.of_path.get(state.base, -1) if state.base is not None else -1 for state in conversion.states]
    first_words: dict[int, frozenset[str] | None] = {}
    converted = np.full(len(apis), -1, np.int64)
    origin = np.zeros(len(apis), np.int64)
    for row, (level, frame, name) in enumerate(apis):
        if level < 0:
            continue
        state = conversion.states[level]
        if level not in first_words:
            first_words[level] = _first_words(state, conversion, level)
        firsts = first_words[level]
        kept = (base_level[level] * width + frame) * width + name if base_level[level] >= 0 else -1
        if firsts is not None and words[name] not in firsts and words[frame] not in firsts:
            if unruled and kept in present:
                converted[row], origin[row] = kept, 2 * (state.chain + 1)
            continue
        starts = conversion.starts[level]
        if frame:
            state = step(rules, state, starts, words[frame], destination, conversion.chains, conversion.found)
            starts = rules.by_class.get(words[frame], [])
        state = step(rules, state, starts, words[name], destination, conversion.chains, conversion.found)
        found = key_of(state.parts[0]) if len(state.parts) == 1 else -1
        if found < 0 and state.rule >= 0 and words[name] in levels.children[level]:
            # The rule was meant for the module of that name; the API of the same name keeps its own.
            found, state = kept if kept in present else -1, state._replace(rule=-1, chain=conversion.states[level].chain)
        if found >= 0 and (unruled or state.rule >= 0):
            converted[row], origin[row] = found, 2 * (state.chain + 1) + (state.rule >= 0)
    return converted, origin


def _first_words(state: State, conversion: Conversion, level: int) -> frozenset[str] | None:
    """What the keys that may go on below a level begin with; None = anything."""
    if state.pending:
        return None
    words = set()
    for start in conversion.starts[level]:
        if not start.pattern[0].literal:
            return None
        words.add(start.pattern[0].text)
    return frozenset(words)


def _join_apis(source: Side, destination: Side, nodes: NDArray[np.int64], other_nodes: NDArray[np.int64], key: NDArray[np.int64],
               other_key: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair API calls of equal key in equal calls of their callers, in call order. Returns rows of `nodes` and `other_nodes`."""
    rows, other_rows = np.flatnonzero(key >= 0), np.flatnonzero(other_key >= 0)
    columns = []
    for side, at, keys in ((source, nodes[rows], key[rows]), (destination, other_nodes[other_rows], other_key[other_rows])):
        # The backward calls of one forward pass come in reverse order: counted from the end they follow their forward twins.
        order = np.where(side.tree.direction[at] == Direction.BACKWARD, -at, at)
        columns.append((keys, side.phase[at], side.call_ordinal[side.tree.parent[at]], order))
    (mine, phase, caller, order), (other, other_phase, other_caller, other_order) = columns
    phases = max(int(phase.max(initial=0)), int(other_phase.max(initial=0))) + 1
    callers = max(int(caller.max(initial=0)), int(other_caller.max(initial=0))) + 1
    _, dense = np.unique(np.concatenate([mine, other]), return_inverse=True)  # the keys are sparse: make room for the rest
    dense = dense.reshape(-1).astype(np.int64)
    mine, other = dense[:len(mine)], dense[len(mine):]
    left, right = join((mine * phases + phase) * callers + caller, order,
                       (other * phases + other_phase) * callers + other_caller, other_order)
    return rows[left], other_rows[right]


def _count_hits(rule_count: int, conversion: Conversion, origin: NDArray[np.int64],
                group_chains: list[int]) -> tuple[list[int], list[int]]:
    """Per rule: pairs it took part in, and those it named itself."""
    below = np.bincount(origin >> 1, minlength=len(conversion.chains) + 1).tolist()
    own = np.bincount((origin >> 1)[(origin & 1) == 1], minlength=len(conversion.chains) + 1).tolist()
    for chain in group_chains:
        below[chain + 1] += 1
        own[chain + 1] += 1
    hits, direct = [0] * rule_count, [0] * rule_count
    for number in range(len(conversion.chains) - 1, -1, -1):  # a chain comes after the one before it
        rule, before, _ = conversion.chains[number]
        hits[rule] += below[number + 1]
        direct[rule] += own[number + 1]
        below[before + 1] += below[number + 1]
    return hits, direct


def _evidence(mapping: MappingFile, conversion: Conversion, source: Tree, destination: Tree, mine: NDArray[np.int64],
              other: NDArray[np.int64], origin: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int32], list[str]]:
    exact = np.zeros(len(mine), np.bool_)
    for row in np.flatnonzero(origin == 0).tolist():
        exact[row] = source.names[mine[row]] == destination.names[other[row]]
    texts: dict[str, int] = {}
    unique, which = np.unique(np.where(exact, -1, origin), return_inverse=True)
    numbers = []
    for code in unique.tolist():
        text: str = SAME_NAME if code < 0 else SAME_PATH
        if code > 0:
            rule = mapping.rules[conversion.chains[(code >> 1) - 1].rule]
            text = rule.label if code & 1 else message("evidence.below_rule", "same name below {rule}", rule=rule.label)
        numbers.append(texts.setdefault(text, len(texts)))
    return exact, np.array(numbers, np.int32)[which.reshape(-1)] if len(mine) else np.zeros(0, np.int32), list(texts)


def _without_counterpart(mapping: MappingFile, conversion: Conversion, levels: Levels) -> NDArray[np.int32]:
    empty = [not mapping.rules[chain.rule].destinations for chain in conversion.chains]
    gone = np.array([state.chain >= 0 and empty[state.chain] for state in conversion.states], np.bool_)
    return np.flatnonzero((levels.of_node >= 0) & gone[levels.of_node]).astype(np.int32)

