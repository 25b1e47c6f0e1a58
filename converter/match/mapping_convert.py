"""Paths of the source side turned into paths of the destination side, by the rules of a mapping file.

A path is walked from the root. Where the walk stands at a module of class T (or at a level T that is never called), the rules of
T apply whose key is what follows; the longest key wins, then a rule with a path before one without, then the one with fewer
wildcards, then the earlier one. Without a rule one component is kept as it is. So the conversion of a module depends on the way
to it: a long key of a class further up can take over. Each level is converted once, with the keys that are still open
(`pending`) handed down; the cost is linear in the number of levels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Optional

from converter.match.mapping_levels import Levels
from converter.match.mapping_pattern import Bindings, Pattern, advance, complete, literal_path, substitute
from converter.match.mapping_rules import ROOT_SCOPE, Alternatives, Rule

Path = tuple[str, ...]
PathState = tuple[tuple[int, Bindings], ...]  # how far a scope's path has been matched, in every way that is open


class Destination(NamedTuple):
    """What is there on the destination side."""

    has: Callable[[Path], bool]
    matching: Callable[[Path, Pattern], list[Path]]  # paths below a base that fit a pattern, in natural order


class Start(NamedTuple):
    """One key of a rule that may begin at a level."""

    rule: int
    part: int  # which of several sources
    choice: int  # which of its alternatives
    pattern: Pattern
    rank: tuple[bool, int, int]  # among keys of equal length: path first, fewer wildcards, earlier in the file


class Pending(NamedTuple):
    """A key that has been matched in part."""

    start: Start
    depth: int  # of the level where it began
    base: Path  # conversion of that level
    chain: int
    position: int
    bindings: Bindings


class State(NamedTuple):
    """Conversion of one level or API."""

    depth: int
    base: Optional[Path]  # where the levels below go on; None = nothing below corresponds, unless an open key takes over
    parts: tuple[Path, ...]  # the counterparts of this level itself; several for a group; empty = none
    rule: int  # the rule that ended here, -1 = kept as it is
    part: int  # which source of a many-to-one rule
    choice: int  # which alternative of that source
    chain: int  # entry of Chains: all rules on the way, -1 = none
    pending: tuple[Pending, ...]


class Chain(NamedTuple):
    """A rule that took part in a conversion, and the rules before it on the way from the root."""

    rule: int
    before: int
    depth: int  # of the level where the rule's key ended


class Rules(NamedTuple):
    """The rules of a file, ready to be looked up by where they begin."""

    rules: tuple[Rule, ...]
    by_class: dict[str, list[Start]]
    by_path: list[tuple[Rule, list[Start]]]  # one entry a scope that has a path


class Findings(NamedTuple):
    """What was seen on the way, for messages."""

    completed: dict[int, tuple[int, Path]]  # rule → how often its key was found, and one base it was found below
    beaten: dict[int, int]  # rule → a rule that took its place
    covered: set[tuple[str, str]]  # path and class of the scopes whose path occurs


class Conversion(NamedTuple):
    """Every level of the source side converted."""

    states: list[State]
    starts: list[list[Start]]  # keys that may begin at a level
    chains: list[Chain]
    found: Findings


def prepare(rules: tuple[Rule, ...]) -> Rules:
    """Index the rules by scope."""
    by_class: dict[str, list[Start]] = {}
    by_path: dict[tuple[str, str], tuple[Rule, list[Start]]] = {}
    for number, rule in enumerate(rules):
        starts = [Start(number, part, choice, pattern, (rule.scope.path is None, _holes(pattern), number))
                  for part, side in enumerate(rule.sources) for choice, pattern in enumerate(side)]
        if rule.scope.path is None:
            by_class.setdefault(rule.scope.class_name, []).extend(starts)
        else:
            by_path.setdefault((rule.scope.path_text, rule.scope.class_name), (rule, []))[1].extend(starts)
    return Rules(rules, by_class, list(by_path.values()))


def _holes(pattern: Pattern) -> int:
    return sum(not component.literal for component in pattern)


def _starts_at(rules: Rules, type_name: str, path_states: list[PathState], covered: set[tuple[str, str]]) -> list[Start]:
    """The keys that may begin at a level: those of its class and those of the paths that cover it."""
    found = rules.by_class.get(type_name, [])
    for (rule, starts), state in zip(rules.by_path, path_states):
        pattern = rule.scope.path
        assert pattern is not None
        if any(complete(pattern, position, bindings) is not None for position, bindings in state):
            covered.add((rule.scope.path_text, rule.scope.class_name))
            if rule.scope.class_name in ("", type_name):
                found = found + starts
    return found


def _path_states(rules: Rules, above: list[PathState], component: str) -> list[PathState]:
    """The scopes' paths matched over one more component."""
    states = []
    for (rule, _), before in zip(rules.by_path, above):
        pattern = rule.scope.path
        assert pattern is not None
        state: PathState = () if rule.scope.anchored else ((0, ()),)  # an unanchored path may begin here as well
        for position, bindings in before:
            if position < len(pattern) and (not pattern[position].literal or pattern[position].text == component):
                state += tuple(advance(pattern, position, component, bindings))
        states.append(state)
    return states


def convert_levels(rules: Rules, levels: Levels, destination: Destination) -> Conversion:
    """Convert every level. `destination` chooses among alternatives and spreads wildcards."""
    chains: list[Chain] = []
    found = Findings({}, {}, set())
    states: list[State] = [State(0, (), ((),), -1, 0, 0, -1, ())]
    path_states: list[list[PathState]] = [[((0, ()),) for _ in rules.by_path]]
    starts: list[list[Start]] = [_starts_at(rules, ROOT_SCOPE, path_states[0], found.covered)]
    for level in range(1, levels.count):
        parent, component = levels.parent[level], levels.paths[level][-1]
        states.append(step(rules, states[parent], starts[parent], component, destination, chains, found))
        path_states.append(_path_states(rules, path_states[parent], component))
        starts.append(_starts_at(rules, levels.type_of(level), path_states[level], found.covered))
    return Conversion(states, starts, chains, found)


def step(rules: Rules, state: State, starts: list[Start], component: str, destination: Destination, chains: list[Chain],
         found: Findings) -> State:
    """Convert one more component below a converted level. Adds to `chains` and `found`."""
    open_keys = list(state.pending)
    if state.base is not None:
        for start in starts:
            first = start.pattern[0]
            if not first.literal or first.text == component:
                open_keys.append(Pending(start, state.depth, state.base, state.chain, 0, ()))
    depth = state.depth + 1
    if not open_keys:
        kept = None if state.base is None else (*state.base, component)
        return State(depth, kept, () if kept is None else (kept,), -1, 0, 0, state.chain, ())
    pending: list[Pending] = []
    best: Optional[tuple[tuple[int, bool, int, int], Pending, tuple[Path, ...]]] = None
    for key in open_keys:
        pattern = key.start.pattern
        if key.position >= len(pattern):
            continue
        for position, bindings in advance(pattern, key.position, component, key.bindings):
            moved = key._replace(position=position, bindings=bindings)
            if position < len(pattern):
                pending.append(moved)
            ended = complete(pattern, position, bindings)
            if ended is None:
                continue
            rank = (key.depth, *key.start.rank)
            if best is not None and best[0] <= rank:
                found.beaten.setdefault(key.start.rule, best[1].start.rule)
                continue
            filled = _fill(rules.rules[key.start.rule], ended, key.base, destination)
            if filled is not None:
                if best is not None:
                    found.beaten.setdefault(best[1].start.rule, key.start.rule)
                best = (rank, moved, filled)
    if best is None:
        kept = None if state.base is None else (*state.base, component)
        return State(depth, kept, () if kept is None else (kept,), -1, 0, 0, state.chain, tuple(pending))
    _, key, parts = best
    rule = key.start.rule
    count, first_base = found.completed.get(rule, (0, key.base))
    found.completed[rule] = (count + 1, first_base)
    chains.append(Chain(rule, key.chain, depth))
    group = rules.rules[rule].gather or len(parts) != 1
    base = None if group else parts[0]
    if base == key.base:
        parts = ()  # the level does not exist on the other side: only what is below goes on
    return State(depth, base, parts, rule, key.start.part, key.start.choice, len(chains) - 1,
                 tuple(other for other in pending if other.depth <= key.depth))


def _fill(rule: Rule, bindings: Bindings, base: Path, destination: Destination) -> tuple[Path, ...] | None:
    """The counterparts that a rule gives, or None where a number would be negative."""
    parts: list[Path] = []
    for side in rule.destinations:
        chosen = _choose(side, bindings, base, destination)
        if chosen is None:
            return None
        parts.extend(chosen)
    return tuple(parts)


def _choose(side: Alternatives, bindings: Bindings, base: Path, destination: Destination) -> list[Path] | None:
    """The first alternative that exists, else the first that can be written."""
    first: list[Path] | None = None
    for pattern in side:
        filled = substitute(pattern, bindings)
        if filled is None:
            continue
        paths = _spread(base, filled, destination)
        if paths and all(destination.has(path) for path in paths):
            return paths
        if first is None:
            first = paths
    return first


def _spread(base: Path, pattern: Pattern, destination: Destination) -> list[Path]:
    """The paths that a filled pattern means: one, or with wildcards left all that exist, in natural order."""
    if all(component.literal for component in pattern):
        return [base + literal_path(pattern)]
    return destination.matching(base, pattern)


def paths_below(levels: Levels, base: Path, pattern: Pattern) -> list[Path]:
    """All levels below a base whose relative path fits a pattern, in natural order (layer 2 before layer 10)."""
    root = levels.of_path.get(base, -1)
    if root < 0:
        return []
    found: set[int] = set()
    stack: list[tuple[int, int, Bindings]] = [(root, 0, ())]
    while stack:
        level, position, bindings = stack.pop()
        if position > 0 and complete(pattern, position, bindings) is not None:
            found.add(level)
        if position < len(pattern):
            for component, below in levels.children[level].items():
                stack.extend((below, moved, more) for moved, more in advance(pattern, position, component, bindings))
    return sorted((levels.paths[level] for level in found), key=natural_order)


def natural_order(path: Path) -> tuple[tuple[int, str], ...]:
    """Sort key under which numbers among the components count as numbers."""
    return tuple((int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in path)


def rules_on_the_way(chains: list[Chain], chain: int) -> list[Chain]:
    """The rules that took part in a conversion, the last one first."""
    found = []
    while chain >= 0:
        found.append(chains[chain])
        chain = chains[chain].before
    return found
