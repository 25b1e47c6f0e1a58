"""Module paths paired by name: exactly equal, then equal without wrappers and classes."""

from __future__ import annotations

from dataclasses import dataclass

from converter.match.component_words import normalised_path
from converter.match.modules import ModuleTable
from converter.match.pairing import SAME_NAME, SAME_PATH, How, Relation
from converter.messages import message

UNWRAPPED = message("evidence.unwrapped", "same name without wrappers")


@dataclass(frozen=True)
class PathPair:
    """Modules of both sides that correspond (numbers of the two ModuleTables, in call order)."""

    target: tuple[int, ...]
    golden: tuple[int, ...]
    relation: Relation
    how: How
    confidence: float
    evidence: str


def same_paths(target: ModuleTable, golden: ModuleTable) -> list[PathPair]:
    """Modules whose path and class are equal on both sides."""
    golden_of = {path: number for number, path in enumerate(golden.path) if golden.called(number)}
    pairs = []
    for number, path in enumerate(target.path):
        if not target.called(number):
            continue
        other = golden_of.get(path, -1)
        if other >= 0 and golden.class_name[other] == target.class_name[number]:
            pairs.append(PathPair((number,), (other,), Relation.SAME, How.EXACT, 1.0, SAME_NAME))
    return pairs


def normalised_paths(target: ModuleTable, golden: ModuleTable, taken_target: set[int], taken_golden: set[int]) -> list[PathPair]:
    """Modules whose paths are equal once wrapper components are removed; the class may differ.

    Two modules of one side that become equal are not told apart here: both are left to the structural step.
    """
    by_path: dict[tuple[str, ...], list[int]] = {}
    for number, path in enumerate(golden.path):
        if golden.called(number) and number not in taken_golden:
            by_path.setdefault(normalised_path(path), []).append(number)
    mine: dict[tuple[str, ...], list[int]] = {}
    for number, path in enumerate(target.path):
        if target.called(number) and number not in taken_target:
            mine.setdefault(normalised_path(path), []).append(number)
    pairs = []
    for path, numbers in mine.items():
        others = by_path.get(path, [])
        if path and len(numbers) == 1 and len(others) == 1:
            number, other = numbers[0], others[0]
            wrapped = target.path[number] != golden.path[other]
            evidence: str = UNWRAPPED if wrapped else SAME_PATH
            if target.class_name[number] != golden.class_name[other]:
                evidence = message("evidence.other_class", "{how}, class {target} for {golden}", how=evidence,
                                   target=target.class_name[number], golden=golden.class_name[other])
            pairs.append(PathPair((number,), (other,), Relation.SAME, How.NORMALISED, 0.98 if wrapped else 0.99, evidence))
    return pairs
