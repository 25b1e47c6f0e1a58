"""The same mapping written for the other direction.

Rules are scoped by classes of one side, so the inverse needs the names of the other side's classes: `classes`, `to_class` and
`to_path` in the file, or two dumps to look them up in. A file with `invert: true` needs none of this: it is applied with the
sides exchanged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Optional

from converter.match.mapping_convert import Destination, convert_levels, paths_below, prepare
from converter.match.mapping_file import scope_path
from converter.match.mapping_levels import find_levels
from converter.match.mapping_pattern import hole_counts
from converter.match.mapping_rules import ROOT_SCOPE, Alternatives, MappingFile, ParameterAlias, Rule, Scope
from converter.tree.columns import Tree


class Problem(NamedTuple):
    """One part of a file that has no inverse."""

    line: int
    column: int
    message: str


class Inverse(NamedTuple):
    """The inverse of a mapping, without the parts that have none."""

    mapping: MappingFile
    problems: list[Problem]  # parts that would have to be said and cannot be
    notes: list[Problem]  # parts of which the inverse needs to say nothing

    @property
    def exact(self) -> bool:
        """True if inverting again gives the same records."""
        return not self.problems and not self.notes


def invert_mapping(mapping: MappingFile, name: str = "") -> Inverse:
    """Write a mapping for the other direction."""
    problems: dict[str, list[Rule]] = {}  # reason → rules
    notes: list[Problem] = []
    aliases: list[Problem] = []
    class_of: dict[str, str] = {}
    owner: dict[str, str] = {}
    for source, destination in mapping.classes:
        class_of[source] = destination
        if owner.setdefault(destination, source) != source:
            notes.append(Problem(1, 1, f"classes '{owner[destination]}' and '{source}' have the same counterpart '{destination}': "
                                       f"inverting again gives '{owner[destination]}'"))
    rules: list[Rule] = []
    taken: dict[tuple[str, str, str], Rule] = {}
    for rule in mapping.rules:
        if not rule.destinations:
            notes.append(Problem(rule.line, rule.column, f"{rule.label} says that there is no counterpart and is left out"))
            continue
        scope = _scope(rule.scope, class_of)
        text = _scope_problem(rule.scope, class_of) if scope is None else _rule_problem(rule)
        if scope is None or text:
            problems.setdefault(text, []).append(rule)
            continue
        gather = len(rule.destinations) > 1 or _more_holes(rule.destinations, rule.sources)
        inverse = replace(rule, scope=scope, sources=rule.destinations, destinations=rule.sources, gather=gather,
                          source_text=rule.destination_text, destination_text=rule.source_text)
        key = (scope.class_name, scope.path_text, inverse.source_text)
        if key in taken and taken[key].source_text == rule.source_text and taken[key].destination_text == rule.destination_text:
            notes.append(Problem(rule.line, rule.column, f"{rule.label} has the same inverse as line {taken[key].line}"))
            continue
        if key in taken:
            text = f"'{inverse.source_text}' of {scope.label} would be given twice, also by line {taken[key].line}"
            problems.setdefault(text, []).append(rule)
            continue
        taken[key] = rule
        rules.append(inverse)
    parameters: list[ParameterAlias] = []
    for alias in mapping.parameters:
        counterpart = class_of.get(alias.class_name, "") if alias.class_name else ""
        if alias.class_name and not counterpart:
            text = f"parameter '{alias.source}' cannot be inverted: {_no_class(alias.class_name)}"
            aliases.append(Problem(alias.line, alias.column, text))
        elif any(other.class_name == counterpart and other.source == alias.destination for other in parameters):
            aliases.append(Problem(alias.line, alias.column,
                                   f"parameter '{alias.source}' cannot be inverted: '{alias.destination}' has two counterparts"))
        else:
            parameters.append(replace(alias, class_name=counterpart, source=alias.destination, destination=alias.source))
    classes = tuple((destination, source) for source, destination in mapping.classes if owner[destination] == source)
    turned = replace(mapping, name=name, text="", rules=tuple(rules), parameters=tuple(parameters), classes=classes)
    return Inverse(turned, [_problem(text, found) for text, found in problems.items()] + aliases, notes)


def _problem(text: str, rules: list[Rule]) -> Problem:
    """One message for all rules that lack the same thing."""
    return Problem(rules[0].line, rules[0].column, f"{', '.join(rule.label for rule in rules)} cannot be inverted: {text}")


def _no_class(class_name: str) -> str:
    return f"the counterpart of class '{class_name}' is not known; add '{class_name}: …' to 'classes'"


def _scope(scope: Scope, class_of: dict[str, str]) -> Optional[Scope]:
    if _scope_problem(scope, class_of):
        return None
    class_name = _counterpart(scope, class_of)
    if scope.path is None:
        return replace(scope, class_name=class_name, to_class=scope.class_name if scope.to_class else "")
    path, anchored = scope_path(scope.to_path)
    return replace(scope, class_name=class_name, path=path, anchored=anchored, path_text=scope.to_path, to_path=scope.path_text,
                   to_class=scope.class_name if scope.to_class else "")


def _counterpart(scope: Scope, class_of: dict[str, str]) -> str:
    if scope.to_class or scope.class_name in ("", ROOT_SCOPE):
        return scope.to_class or scope.class_name
    return class_of.get(scope.class_name, "")


def _scope_problem(scope: Scope, class_of: dict[str, str]) -> str:
    if scope.path is not None and not scope.to_path:
        return f"the counterpart of path '{scope.path_text}' is not known; add 'to_path' to its scope"
    return _no_class(scope.class_name) if scope.class_name and not _counterpart(scope, class_of) else ""


def _rule_problem(rule: Rule) -> str:
    if any(not pattern for side in rule.destinations for pattern in side):
        return "it removes a level, and the inverse would have to name nothing"
    if not rule.gather and _more_holes(rule.sources, rule.destinations):
        return "its counterpart has fewer wildcards or numbers"
    return ""


def _more_holes(some: tuple[Alternatives, ...], others: tuple[Alternatives, ...]) -> bool:
    """True if a name of `some` has holes that one of `others` lacks."""
    for pattern in (pattern for side in some for pattern in side):
        for other in (pattern for side in others for pattern in side):
            mine, theirs = hole_counts(pattern), hole_counts(other)
            if any(count > theirs.get(kind, 0) for kind, count in mine.items()):
                return True
    return False


def classes_from_trees(mapping: MappingFile, target: Tree, golden: Tree) -> MappingFile:
    """The mapping with the counterparts of its scope classes filled in, where two graphs show exactly one."""
    source, destination = (golden, target) if mapping.invert else (target, golden)
    levels, other = find_levels(source, mapping.ignore_wrappers), find_levels(destination, mapping.ignore_wrappers)
    conversion = convert_levels(prepare(mapping.rules), levels, Destination(
        other.of_path.__contains__, lambda base, pattern: paths_below(other, base, pattern)))
    found: dict[str, set[str]] = {}
    for level in range(1, levels.count):
        base = conversion.states[level].base
        below = other.of_path.get(base, -1) if base is not None else -1
        if below > 0:
            found.setdefault(levels.type_of(level), set()).add(other.type_of(below))
    known = dict(mapping.classes)
    for class_name in dict.fromkeys(rule.scope.class_name for rule in mapping.rules):
        if class_name not in ("", ROOT_SCOPE) and class_name not in known and len(found.get(class_name, ())) == 1:
            known[class_name] = next(iter(found[class_name]))
    return replace(mapping, classes=tuple(known.items()))


