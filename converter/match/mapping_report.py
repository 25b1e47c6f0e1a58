"""What a mapping file says that the graphs do not have: unknown classes and paths, rules that hit nothing, with suggestions."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from converter.match.mapping_claims import other_side, side
from converter.match.mapping_convert import Conversion, Path
from converter.match.mapping_levels import Levels
from converter.match.mapping_rules import ROOT_SCOPE, MappingFile
from converter.messages import message
from converter.tree.columns import NodeKind, Tree
from converter.yaml_source import error_at

_MOST_CANDIDATES = 2000  # names looked at for one suggestion
MOST_TOLD = 100  # unknown scopes that get a suggestion, and rules that hit nothing that are told one by one


class Unknown(NamedTuple):
    """A scope of the file that one graph does not have."""

    line: int
    column: int
    message: str


def refuse_unknown(mapping: MappingFile, found: Sequence[Sequence[Unknown]]) -> None:
    """Raise for the first scope that is unknown in every one of several graphs (the ranks of a dump).

    Args:
        found: MappingMatch.unknown of each pair of graphs.
    Raises:
        UserError: with line, column and a suggestion.
    """
    if not found:
        return
    everywhere = set.intersection(*({(unknown.line, unknown.column) for unknown in one} for one in found))
    for unknown in found[0]:
        if (unknown.line, unknown.column) in everywhere:
            raise error_at(mapping.name, unknown.line, unknown.column, unknown.message)


def unknown_scopes(
    mapping: MappingFile, conversion: Conversion, tree: Tree, levels: Levels, other_tree: Tree, other: Levels
) -> list[Unknown]:
    """Scopes whose class or path does not occur on the source side, one entry a scope; the first ones with a suggestion."""
    known = _scope_names(tree, levels) | {ROOT_SCOPE}
    elsewhere = _scope_names(other_tree, other)
    found: dict[tuple[int, int], Unknown] = {}
    for rule in mapping.rules:
        scope = rule.scope
        if (scope.line, scope.column) in found:
            continue
        text = ""
        if scope.class_name and scope.class_name not in known:
            if scope.class_name in elsewhere:
                text = _other_direction(message("mapping.no_class", "class '{name}' does not occur on the {side} side",
                                                name=scope.class_name, side=side(mapping)), mapping)
            else:
                text = message("mapping.no_class_anywhere", "class '{name}' occurs on neither side", name=scope.class_name)
                if len(found) < MOST_TOLD:
                    text = with_suggestion(text, scope.class_name, known)
        elif scope.path is not None and (scope.path_text, scope.class_name) not in conversion.found.covered:
            text = message("mapping.no_path", "path '{path}' does not occur on the {side} side", path=scope.path_text, side=side(mapping))
            if len(found) < MOST_TOLD:
                text = with_suggestion(text, scope.path_text, [".".join(path) for path in levels.paths[:_MOST_CANDIDATES]])
        if text:
            found[scope.line, scope.column] = Unknown(scope.line, scope.column, text)
    return list(found.values())


def first_unknown(unknown: Sequence[Unknown]) -> list[Unknown]:
    """What a person is told of unknown scopes: the first ones, and in the next one's place how many more there are."""
    told = list(unknown[:MOST_TOLD])
    if len(unknown) > MOST_TOLD:
        more = message("mapping.more_unknown", "and {count} more classes or paths that do not occur", count=len(unknown) - MOST_TOLD)
        told.append(unknown[MOST_TOLD]._replace(message=more))
    return told


def _scope_names(tree: Tree, levels: Levels) -> set[str]:
    modules = tree.label[tree.kind == NodeKind.MODULE]
    return {levels.type_of(level) for level in range(1, levels.count)} | {tree.labels[label] for label in set(modules.tolist())}


def _other_direction(here: str, mapping: MappingFile) -> str:
    if mapping.invert:
        return message("mapping.turned_wrongly",
                       "{here}, but on the {side} side: if the file is written for the other direction, remove 'invert: true'",
                       here=here, side=other_side(mapping))
    return message("mapping.other_direction",
                   "{here}, but on the {side} side: if the file is written for the other direction, add 'invert: true'",
                   here=here, side=other_side(mapping))


def unhit_rules(mapping: MappingFile, hits: list[int], unknown: list[Unknown], conversion: Conversion, tree: Tree, levels: Levels,
                other: Levels) -> list[str]:
    """A warning for every rule that took part in no pair; for an `optional` file only if that is all of them."""
    used = [count > 0 or (not rule.destinations and number in conversion.found.completed)
            for number, (rule, count) in enumerate(zip(mapping.rules, hits))]
    if mapping.rules and not any(used):
        text = _without_place(mapping, conversion, other) or message(
            "mapping.no_hit",
            "{name}: no rule hit anything: is the file made for these two sides, in this direction? ('invert: true' turns a "
            "file round)", name=mapping.name)
        if not mapping.ignore_wrappers:
            text = message("mapping.no_hit_wrappers",
                           "{text} Do its names leave out a wrapper, such as the 0 of Module.0.decoder? ('wrappers: ignore' passes over "
                           "them)", text=text)
        return [text]
    if mapping.optional:
        return []
    passed_over = {(scope.line, scope.column) for scope in unknown}
    unhit = [number for number, rule in enumerate(mapping.rules)
             if not used[number] and (rule.scope.line, rule.scope.column) not in passed_over]
    apis = {tree.labels[label].rpartition(".")[2] for label in set(tree.label[tree.kind == NodeKind.API].tolist())}
    places = _places(conversion, unhit[:MOST_TOLD])
    warnings = [message("mapping.rule_unhit", "{name}, line {line}: the rule hit nothing: {why}", name=mapping.name,
                        line=mapping.rules[number].line, why=_why_unhit(mapping, number, places[number], conversion, levels, other, apis))
                for number in unhit[:MOST_TOLD]]
    if len(unhit) > MOST_TOLD:
        warnings.append(message("mapping.more_unhit", "{name}: and {count} more rules hit nothing, the first in line {line}",
                                name=mapping.name, count=len(unhit) - MOST_TOLD, line=mapping.rules[unhit[MOST_TOLD]].line))
    return warnings


def _places(conversion: Conversion, rules: list[int]) -> dict[int, list[int]]:
    """Of each of these rules, the levels where its key may begin."""
    places: dict[int, list[int]] = {rule: [] for rule in rules}
    for level, starts in enumerate(conversion.starts):
        for rule in {start.rule for start in starts} & places.keys():
            places[rule].append(level)
    return places


def _why_unhit(mapping: MappingFile, number: int, places: list[int], conversion: Conversion, levels: Levels, other: Levels,
               apis: set[str]) -> str:
    """Why a rule took part in no pair, with a suggestion. `places`: levels where its key may begin; `apis`: names of the source side."""
    rule = mapping.rules[number]
    found, base = conversion.found.completed.get(number, (0, ()))
    if not found and number in conversion.found.beaten:
        return message("mapping.rule_taken", "'{source}' is taken by {rule}",
                       source=rule.source_text, rule=mapping.rules[conversion.found.beaten[number]].label)
    if found:
        there = ".".join(base) or message("mapping.top", "the top")
        text = message("mapping.nothing_pairs",
                       "'{source}' is there, but nothing pairs with '{destination}' below {there} of the {side} side",
                       source=rule.source_text, destination=rule.destination_text, there=there, side=other_side(mapping))
        return with_suggestion(text, rule.destination_text, _below(other, [other.of_path.get(base, -1)], _length(rule.destination_text)))
    text = message("mapping.not_below", "no {scope} of the {side} side has '{source}' below it",
                   scope=rule.scope.label, side=side(mapping), source=rule.source_text)
    return with_suggestion(text, rule.source_text, _below(levels, places, _length(rule.source_text)) | apis)


def _without_place(mapping: MappingFile, conversion: Conversion, other: Levels) -> str:
    """What to say where the first rule that found something found it below a module that the other side calls otherwise; else ""."""
    for number, (_, base) in sorted(conversion.found.completed.items()):
        if base not in other.of_path:
            rule = mapping.rules[number]
            return message("mapping.no_place",
                           "{name}: no rule hit anything: '{source}' (line {line}) is there, but below {there}, and the {side} side has "
                           "nothing of that name: what encloses it needs a rule too, from the outermost module on (under '{root}')",
                           name=mapping.name, source=rule.source_text, line=rule.line, there=".".join(base), side=other_side(mapping),
                           root=ROOT_SCOPE)
    return ""


def _length(text: str) -> int:
    return text.count(".") + 1


def _below(levels: Levels, places: Iterable[int], length: int) -> set[str]:
    """Relative paths of up to `length` components below some levels."""
    found: set[str] = set()
    for place in places:
        stack: list[tuple[int, Path]] = [(place, ())] if place >= 0 else []
        while stack and len(found) < _MOST_CANDIDATES:
            level, path = stack.pop()
            for component, below in levels.children[level].items():
                found.add(".".join((*path, component)))
                if len(path) + 1 < length:
                    stack.append((below, (*path, component)))
        if len(found) >= _MOST_CANDIDATES:
            break
    return found


def with_suggestion(text: str, word: str, candidates: Iterable[str]) -> str:
    """The text with ": did you mean 'x'?" behind it, or alone where no candidate is close."""
    close = difflib.get_close_matches(word, sorted(set(candidates)), 1, 0.6)
    return message("mapping.suggested", "{text}: did you mean '{close}'?", text=text, close=close[0]) if close else text
