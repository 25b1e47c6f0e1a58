"""Which modules of the destination side the converted levels claim; two rules that claim one module are an error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from converter.errors import UserError
from converter.match.component_words import IDENTITY_CLASSES
from converter.match.mapping_convert import Chain, Conversion, natural_order, rules_on_the_way
from converter.match.mapping_levels import Levels
from converter.match.mapping_rules import MappingFile, Rule
from converter.messages import GOLDEN, TARGET, message
from converter.yaml_source import error_at


class Group(NamedTuple):
    """Levels of both sides that correspond as a group."""

    source: tuple[int, ...]
    destination: tuple[int, ...]
    rule: int
    chain: int


@dataclass(frozen=True)
class Claims:
    """What corresponds, level by level."""

    single: NDArray[np.int32]  # [source levels]: level of the destination side, -1 = none
    groups: list[Group]
    warnings: list[str]


def claim_levels(mapping: MappingFile, levels: Levels, other: Levels, conversion: Conversion) -> Claims:
    """Find the counterparts that exist and are called on both sides.

    A module that a rule gives to one source takes precedence over one that merely has the same name; a module that does
    nothing (IDENTITY_CLASSES) pairs with its like only.
    Raises:
        UserError: two rules claim one destination module.
    """
    single = np.full(levels.count, -1, np.int32)
    many: dict[int, list[int]] = {}  # source level → its several counterparts
    gathered: dict[tuple[int, int], list[int]] = {}  # (rule, destination level) → its several sources
    claimed: dict[int, list[int]] = {}  # destination level → source levels
    warnings: list[str] = []
    for level in range(1, levels.count):
        state = conversion.states[level]
        if not state.parts or not levels.class_name[level]:
            continue
        found = [other.of_path.get(path, -1) for path in state.parts]
        if any(below < 0 or not other.class_name[below] for below in found):
            if len(found) > 1 and any(below >= 0 for below in found):
                warnings.append(_incomplete(mapping, mapping.rules[state.rule], levels, level, state.parts, found))
            continue
        rule = mapping.rules[state.rule] if state.rule >= 0 else None
        if rule is not None and rule.gather:
            gathered.setdefault((state.rule, found[0]), []).append(level)
        elif len(found) > 1:
            many[level] = found
        elif (levels.class_name[level] in IDENTITY_CLASSES) == (other.class_name[found[0]] in IDENTITY_CLASSES):
            single[level] = found[0]
        else:
            continue
        for below in found:
            claimed.setdefault(below, []).append(level)
    dropped = _settle(mapping, levels, other, conversion, claimed, warnings)
    single[sorted(dropped)] = -1
    groups = [Group((level,), tuple(found), conversion.states[level].rule, conversion.states[level].chain)
              for level, found in many.items() if level not in dropped]
    for (number, below), sources in gathered.items():
        kept = sorted((level for level in sources if level not in dropped),
                      key=lambda level: (conversion.states[level].part, natural_order(levels.paths[level])))
        missing = set(range(len(mapping.rules[number].sources))) - {conversion.states[level].part for level in kept}
        if kept and missing:
            names = tuple(_alternatives(mapping.rules[number], part) for part in sorted(missing))
            warnings.append(message("mapping.part_missing",
                                    "{name}, line {line}: {side} module {path} is not paired, because {missing} is missing on the "
                                    "{other_side} side",
                                    name=mapping.name, line=mapping.rules[number].line, side=other_side(mapping),
                                    path=_path(other, below), missing=names, other_side=side(mapping)))
        elif kept:
            groups.append(Group(tuple(kept), (below,), number, conversion.states[kept[0]].chain))
    return Claims(single, groups, warnings)


def side(mapping: MappingFile) -> str:
    return GOLDEN if mapping.invert else TARGET


def other_side(mapping: MappingFile) -> str:
    return TARGET if mapping.invert else GOLDEN


def _path(levels: Levels, level: int) -> str:
    return ".".join(levels.paths[level])


def _alternatives(rule: Rule, part: int) -> str:
    return " | ".join(".".join(component.text for component in pattern) for pattern in rule.sources[part])


def _incomplete(mapping: MappingFile, rule: Rule, levels: Levels, level: int, parts: Iterable[tuple[str, ...]], found: list[int]) -> str:
    missing = tuple(".".join(path) for path, below in zip(parts, found) if below < 0)
    return message(
        "mapping.part_missing",
        "{name}, line {line}: {side} module {path} is not paired, because {missing} is missing on the {other_side} side",
        name=mapping.name,
        line=rule.line,
        side=side(mapping),
        path=_path(levels, level),
        missing=missing or message("mapping.a_part", "a part"),
        other_side=other_side(mapping),
    )


def _settle(mapping: MappingFile, levels: Levels, other: Levels, conversion: Conversion, claimed: dict[int, list[int]],
            warnings: list[str]) -> set[int]:
    """Source levels that lose their claim, where several claim one destination module."""
    dropped: set[int] = set()
    lost: dict[int, list[int]] = {}
    for below, sources in claimed.items():
        if len(sources) < 2:
            continue
        owner = sources[0]
        for rival in sources[1:]:
            if _same_gathering(mapping, conversion, owner, rival):
                continue
            one, other_one = conversion.states[owner], conversion.states[rival]
            if one.rule >= 0 and (one.rule, one.part) == (other_one.rule, other_one.part) and one.choice != other_one.choice:
                # Two alternatives of one name: the first that exists is meant.
                dropped.add(rival if one.choice < other_one.choice else owner)
                owner = owner if one.choice < other_one.choice else rival
                continue
            first, second = _own_rules(levels, conversion, owner, rival)
            if first is not None and second is not None:
                raise _conflict(mapping, levels, other, below, (owner, first), (rival, second))
            winner, loser, rule = (rival, owner, second) if first is None else (owner, rival, first)
            owner = winner
            dropped.add(loser)
            if rule is not None:
                lost.setdefault(rule.rule, []).append(loser)
    for number, losers in sorted(lost.items()):
        lone = _path(levels, losers[0])
        more = message("and_more", "{names} and {count} more", names=lone, count=len(losers) - 1)
        warnings.append(message("mapping.lost_to_rule",
                                "{name}, line {line}: {side} module {path} has no counterpart, because this rule gives the {other_side} "
                                "module of its name to another one",
                                name=mapping.name, line=mapping.rules[number].line, side=side(mapping),
                                path=more if len(losers) > 1 else lone, other_side=other_side(mapping)))
    return dropped


def _same_gathering(mapping: MappingFile, conversion: Conversion, first: int, second: int) -> bool:
    rule = conversion.states[first].rule
    return rule >= 0 and rule == conversion.states[second].rule and mapping.rules[rule].gather


def _own_rules(levels: Levels, conversion: Conversion, first: int, second: int) -> tuple[Chain | None, Chain | None]:
    """Of two levels with one destination: the last rule on each one's own way, behind the level where their ways part."""
    shared = 0
    for a, b in zip(levels.paths[first], levels.paths[second]):
        if a != b:
            break
        shared += 1

    def own(level: int) -> Chain | None:
        way = rules_on_the_way(conversion.chains, conversion.states[level].chain)
        return way[0] if way and way[0].depth > shared else None

    return own(first), own(second)


def _conflict(mapping: MappingFile, levels: Levels, other: Levels, below: int, first: tuple[int, Chain],
              second: tuple[int, Chain]) -> UserError:
    a, b = mapping.rules[first[1].rule], mapping.rules[second[1].rule]
    later = max(a, b, key=lambda rule: rule.line)
    return error_at(
        mapping.name, later.line, later.column,
        message("mapping.conflict",
                "two {side} modules claim the {other_side} module {path}: {first} by {first_rule} and {second} by {second_rule}. "
                "Change one of them; a list joins several modules to one",
                side=side(mapping), other_side=other_side(mapping), path=_path(other, below), first=_path(levels, first[0]),
                first_rule=a.label, second=_path(levels, second[0]), second_rule=b.label))


def parameter_aliases(mapping: MappingFile, levels: Levels, other: Levels, claims: Claims) -> tuple[dict[tuple[str, str], str], list[str]]:
    """The file's parameter aliases, keyed by (golden class, target parameter), and warnings about those of no use.

    Raises:
        UserError: two aliases of one golden class and target parameter disagree.
    """
    joined: dict[str, set[str]] = {}
    pairs = [(level, below) for level, below in enumerate(claims.single.tolist()) if below >= 0]
    pairs += [(level, below) for group in claims.groups for level in group.source for below in group.destination]
    for level, below in pairs:
        joined.setdefault(levels.class_name[level], set()).add(other.class_name[below])
    aliases: dict[tuple[str, str], str] = {}
    warnings: list[str] = []
    for alias in mapping.parameters:
        target, golden = (alias.destination, alias.source) if mapping.invert else (alias.source, alias.destination)
        if not alias.class_name:
            classes = {""}
        elif mapping.invert:
            classes = {alias.class_name} if alias.class_name in joined else set()
        else:
            classes = joined.get(alias.class_name, set())
        if not classes and not mapping.optional:
            warnings.append(message("mapping.unused_alias",
                                    "{name}, line {line}: no module of class '{class_name}' is paired, so this parameter alias is of "
                                    "no use",
                                    name=mapping.name, line=alias.line, class_name=alias.class_name))
        for class_name in sorted(classes):
            if aliases.setdefault((class_name, target), golden) != golden:
                raise error_at(mapping.name, alias.line, alias.column,
                               message("mapping.two_aliases",
                                       "parameter '{parameter}' of golden class '{class_name}' is given two names, '{first}' and "
                                       "'{second}': keep one of them",
                                       parameter=target, class_name=class_name, first=aliases[class_name, target], second=golden))
    return aliases, warnings
