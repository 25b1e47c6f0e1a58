"""Turn pairs that automatic matching found into the rules of a mapping file, in the peer's format wherever that can say it.

1. Pairs of nodes become pairs of levels.
2. Equal tails are cut off (`decoder.layers.3.mlp` against `model.layers.3.mlp` → `decoder.layers` against `model.layers`), as far as
   that pairs no two modules that were not paired; what is left is what rules must say.
3. Each is written relative to the nearest level above it that corresponds, and scoped by that level's class.
4. Instances of a class that agree share one rule; those that do not get one with their path.
Applying the result again shows what it does not say: `compare_pairs`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from converter.match.mapping import match_by_mapping
from converter.match.mapping_convert import Path
from converter.match.mapping_file import scope_path
from converter.match.mapping_levels import Levels, find_levels
from converter.match.mapping_pattern import Component, Pattern
from converter.match.mapping_rules import ROOT_SCOPE, MappingFile, Rule, Scope
from converter.match.pairing import Pairing, Relation
from converter.tree.columns import Tree


@dataclass(frozen=True)
class LevelPairs:
    """What corresponds, by level."""

    single: dict[int, int]
    groups: dict[tuple[int, ...], tuple[tuple[int, ...], Relation]]
    evidence: dict[tuple[int, ...], str]


@dataclass
class _Draft:
    """One thing that a rule must say: below which instance, what, and its counterpart."""

    place: int  # source level that the rule is relative to
    sources: tuple[Path, ...]
    destinations: tuple[Path, ...]
    relation: Relation
    evidence: str


@dataclass(frozen=True)
class Proposal:
    """A proposed mapping file and how it agrees with the pairs it was made from."""

    mapping: MappingFile
    comments: dict[int, str]  # rule number → how its pairs were found
    agreed: int  # module pairs that applying the file gives again
    missing: list[str]  # pairs of the input that the file does not give: "target | golden"
    added: list[str]  # pairs that only the file gives
    doubtful: list[str]  # what matching proposes but did not make: "path | path: 0.55, evidence"
    warnings: list[str] = field(default_factory=list)


def propose_mapping(target: Tree, golden: Tree, pairing: Pairing) -> Proposal:
    """Write down module pairs as rules, then apply the rules and compare."""
    levels, other = find_levels(target, False), find_levels(golden, False)
    pairs = level_pairs(levels, other, pairing)
    drafts = _drafts(levels, other, pairs)
    rules, comments = _rules(levels, pairs, drafts)
    classes: dict[str, set[str]] = {}
    for level, below in pairs.single.items():
        classes.setdefault(levels.type_of(level), set()).add(other.type_of(below))
    scopes = {rule.scope.class_name for rule in rules}
    known = tuple((name, next(iter(found))) for name, found in classes.items() if name in scopes and len(found) == 1)
    mapping = MappingFile("proposal", "", tuple(rules), classes=known)
    return replace(compare_pairs(target, golden, pairing, mapping, comments), doubtful=_doubtful(levels, other, pairing))


def _doubtful(levels: Levels, other: Levels, pairing: Pairing) -> list[str]:
    """Proposals below the threshold, one a module."""
    found: dict[str, str] = {}
    for pair in pairing.proposals:
        sides = [" + ".join(".".join(side.paths[side.of_node[node]]) for node in nodes if side.of_node[node] > 0)
                 for side, nodes in ((levels, pair.target), (other, pair.golden))]
        if all(sides):
            found.setdefault(" | ".join(sides), f"{pair.confidence:.2f}, {pair.evidence}")
    return [f"{text}: {why}" for text, why in found.items()]


def level_pairs(levels: Levels, other: Levels, pairing: Pairing) -> LevelPairs:
    """Pairs of modules behind pairs of calls; where calls of one module are paired with several, the most frequent."""
    votes: dict[tuple[int, ...], Counter[tuple[int, ...]]] = {}
    facts: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[Relation, str]] = {}
    for number, (target_nodes, golden_nodes) in enumerate(pairing.nodes()):
        mine = tuple(levels.of_node[list(target_nodes)].tolist())
        theirs = tuple(other.of_node[list(golden_nodes)].tolist())
        if all(level > 0 for level in mine + theirs):
            votes.setdefault(mine, Counter())[theirs] += 1
            facts.setdefault((mine, theirs), (Relation(int(pairing.relation[number])), pairing.evidence_texts[pairing.evidence[number]]))
    single: dict[int, int] = {}
    groups: dict[tuple[int, ...], tuple[tuple[int, ...], Relation]] = {}
    evidence: dict[tuple[int, ...], str] = {}
    used: set[int] = set()
    for mine, found in votes.items():
        theirs = found.most_common(1)[0][0]
        if used.intersection(theirs):
            continue
        used.update(theirs)
        relation, evidence[mine] = facts[mine, theirs]
        if len(mine) == 1 and len(theirs) == 1:
            single[mine[0]] = theirs[0]
        else:
            groups[mine] = (theirs, relation)
    return LevelPairs(single, groups, evidence)


def _drafts(levels: Levels, other: Levels, pairs: LevelPairs) -> list[_Draft]:
    said: dict[int, Path] = {0: ()}  # source level → what it is converted to, as far as the drafts go
    drafts: list[_Draft] = []
    reduced: dict[int, tuple[int, str]] = {}
    known = {**_containers(levels, other, pairs), **pairs.single}
    for level, below in known.items():
        text = pairs.evidence.get((level,), "what it holds is paired")
        while _may_cut(levels, other, pairs, level, below):
            level, below = levels.parent[level], other.parent[below]
        reduced.setdefault(level, (below, text))
    for level in sorted(known.keys() | reduced.keys()):  # parents come before their children
        if level not in reduced:
            said[level] = other.paths[known[level]]
            continue
        below, text = reduced[level]
        place = _place(levels, said, level, other.paths[below])
        said[level] = other.paths[below]
        if _follows(levels, said, place, level, other.paths[below]):
            continue
        drafts.append(_Draft(place, (_below(levels, place, level),), (other.paths[below][len(said[place]):],), Relation.SAME, text))
    for mine, (theirs, relation) in pairs.groups.items():
        place = _place_of_group(levels, other, said, mine, theirs)
        drafts.append(_Draft(place, tuple(_below(levels, place, level) for level in mine),
                             tuple(other.paths[below][len(said[place]):] for below in theirs), relation, pairs.evidence[mine]))
    return drafts


def _containers(levels: Levels, other: Levels, pairs: LevelPairs) -> dict[int, int]:
    """Levels that are never called (a ModuleList) and whose paired children all lie in one such level of the other side."""
    parents: dict[int, set[int]] = {}
    for level, below in pairs.single.items():
        if not levels.class_name[levels.parent[level]]:
            parents.setdefault(levels.parent[level], set()).add(other.parent[below])
    return {level: next(iter(found)) for level, found in parents.items()
            if level > 0 and len(found) == 1 and next(iter(found)) > 0 and not other.class_name[next(iter(found))]}


def _may_cut(levels: Levels, other: Levels, pairs: LevelPairs, level: int, below: int) -> bool:
    """True if the last components are equal and cutting them off pairs no two modules that are not paired."""
    if levels.paths[level][-1] != other.paths[below][-1]:
        return False
    above, other_above = levels.parent[level], other.parent[below]
    if not above or not other_above:
        return False
    return pairs.single.get(above) == other_above or not levels.class_name[above] or not other.class_name[other_above]


def _place(levels: Levels, said: dict[int, Path], level: int, path: Path) -> int:
    """The nearest level above that is converted to a level above the counterpart."""
    above = levels.parent[level]
    while above and (above not in said or path[:len(said[above])] != said[above] or len(said[above]) >= len(path)):
        above = levels.parent[above]
    return above


def _follows(levels: Levels, said: dict[int, Path], place: int, level: int, path: Path) -> bool:
    """True if the level needs no rule: nothing but equal components between it and its place."""
    return said[place] + _below(levels, place, level) == path


def _place_of_group(levels: Levels, other: Levels, said: dict[int, Path], mine: tuple[int, ...], theirs: tuple[int, ...]) -> int:
    places = {_place(levels, said, level, other.paths[below]) for level in mine for below in theirs}
    return min(places, key=lambda place: len(levels.paths[place]))


def _below(levels: Levels, place: int, level: int) -> Path:
    return levels.paths[level][len(levels.paths[place]):]


def _rules(levels: Levels, pairs: LevelPairs, drafts: list[_Draft]) -> tuple[list[Rule], dict[int, str]]:
    """Drafts put together by class; the commonest counterpart is the rule of the class, others get the path of their instance."""
    by_key: dict[tuple[str, tuple[Path, ...]], list[_Draft]] = {}
    for draft in drafts:
        scope = levels.type_of(draft.place) if draft.place else ROOT_SCOPE
        by_key.setdefault((scope, draft.sources), []).append(draft)
    general: list[tuple[Rule, str]] = []
    special: list[tuple[Rule, str]] = []
    for (class_name, sources), same in by_key.items():
        values = Counter((draft.destinations, draft.relation) for draft in same)
        # Instances where the name is kept count as well: a rule of the class must not change them.
        kept = _kept(levels, pairs, class_name, sources, {draft.place for draft in same})
        common = values.most_common(1)[0][0]
        for value in values:
            places = [draft.place for draft in same if (draft.destinations, draft.relation) == value]
            text = next(draft.evidence for draft in same if (draft.destinations, draft.relation) == value)
            if value == common and values[value] > kept:
                general.append((_rule(Scope(class_name), sources, *value), text))
                continue
            special.extend((_rule(_scope_at(levels, class_name, place), sources, *value), text) for place in places)
    order = {name: number for number, name in enumerate(dict.fromkeys([ROOT_SCOPE, *(rule.scope.class_name for rule, _ in general)]))}
    general.sort(key=lambda entry: order[entry[0].scope.class_name])
    found = general + special
    return [rule for rule, _ in found], {number: text for number, (_, text) in enumerate(found)}


def _kept(levels: Levels, pairs: LevelPairs, class_name: str, sources: tuple[Path, ...], places: set[int]) -> int:
    """How many other instances of a class have a paired module at the same place that needs no rule."""
    if class_name == ROOT_SCOPE or len(sources) != 1:
        return 0
    return sum(levels.type_of(level) == class_name and level not in places
               and levels.of_path.get(levels.paths[level] + sources[0], -1) in pairs.single for level in range(1, levels.count))


def _scope_at(levels: Levels, class_name: str, place: int) -> Scope:
    if not place:
        return Scope(ROOT_SCOPE)
    text = ".".join((ROOT_SCOPE, *levels.paths[place]))
    path, anchored = scope_path(text)
    return Scope(class_name if levels.class_name[place] else "", path, anchored, text)


def _rule(scope: Scope, sources: tuple[Path, ...], destinations: tuple[Path, ...], relation: Relation) -> Rule:
    return Rule(scope, tuple((_pattern(path),) for path in sources), tuple((_pattern(path),) for path in destinations), relation, None,
                len(sources) > 1, _text(sources), _text(destinations))


def _pattern(path: Path) -> Pattern:
    return tuple(Component(part, True, (part,)) for part in path)


def _text(paths: tuple[Path, ...]) -> str:
    names = [".".join(path) for path in paths]
    return names[0] if len(names) == 1 else "[" + ", ".join(names) + "]"


def join_proposals(proposals: Sequence[Proposal]) -> Proposal:
    """One file from the proposals of several ranks: equal rules once; where two ranks disagree, the first one's with a warning."""
    rules: dict[tuple[str, str, str], Rule] = {}
    comments: dict[int, str] = {}
    classes: dict[str, str] = {}
    warnings: list[str] = []
    for proposal in proposals:
        warnings += proposal.warnings
        classes = {**dict(proposal.mapping.classes), **classes}
        for number, rule in enumerate(proposal.mapping.rules):
            key = (rule.scope.class_name, rule.scope.path_text, rule.source_text)
            if key not in rules:
                comments[len(rules)] = proposal.comments.get(number, "")
                rules[key] = rule
            elif rules[key].destination_text != rule.destination_text:
                warnings.append(f"two ranks disagree: {rule.scope.label}.{rule.source_text} is {rules[key].destination_text} on one and "
                                f"{rule.destination_text} on another; the first is written")
    mapping = MappingFile("proposal", "", tuple(rules.values()), classes=tuple(classes.items()))
    return Proposal(mapping, comments, sum(one.agreed for one in proposals), [text for one in proposals for text in one.missing],
                    [text for one in proposals for text in one.added],
                    list(dict.fromkeys(text for one in proposals for text in one.doubtful)), list(dict.fromkeys(warnings)))


def compare_pairs(target: Tree, golden: Tree, pairing: Pairing, mapping: MappingFile, comments: dict[int, str]) -> Proposal:
    """Apply a proposed mapping and compare its module pairs with those it was made from."""
    levels, other = find_levels(target, False), find_levels(golden, False)
    match = match_by_mapping(target, golden, replace(mapping, optional=True), unruled_apis=False)
    found = {(pair.target, pair.golden) for pair in match.pairs()}
    wanted = {
        (mine, theirs)
        for mine, theirs in pairing.nodes()
        if all(levels.of_node[node] > 0 for node in mine) and all(other.of_node[node] > 0 for node in theirs)
    }

    def texts(chosen: set[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[str]:
        return [" + ".join(target.names[node] for node in mine) + " | " + " + ".join(golden.names[node] for node in theirs)
                for mine, theirs in sorted(chosen)]

    return Proposal(mapping, comments, len(found & wanted), texts(wanted - found), texts(found - wanted), [], match.warnings)
