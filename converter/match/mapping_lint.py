"""What a mapping file does to a set of dumps, as lines for a person: each rule with what it hit, and what stays uncovered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from converter.match.mapping import MappingMatch
from converter.match.mapping_rules import MappingFile
from converter.tree.columns import NodeKind, Tree

_MOST_CLASSES = 12  # uncovered classes that are listed for each side


@dataclass(frozen=True)
class LintRow:
    """One rule over all ranks."""

    line: int
    named: int  # pairs of modules or APIs that the rule itself names
    below: int  # pairs that follow below it
    rule: str


@dataclass(frozen=True)
class Coverage:
    """Module calls of one side over all ranks."""

    side: str
    modules: int
    paired: int
    left: list[tuple[str, int, str]]  # class, how many calls, one of them


def lint_rows(mapping: MappingFile, matches: Sequence[MappingMatch]) -> list[LintRow]:
    """Hits of every rule, in file order."""
    rows = []
    for number, rule in enumerate(mapping.rules):
        named = sum(match.direct_hits[number] for match in matches)
        total = sum(match.rules[number].hits for match in matches)
        rows.append(LintRow(rule.line, named, total - named, f"{rule.scope.label}.{rule.source_text}: {rule.destination_text}"))
    return rows


def coverage(side: str, trees: Sequence[Tree], paired: Sequence[np.ndarray]) -> Coverage:
    """How many module calls of a side are paired, and what is left, by class.

    Args:
        paired: per tree the paired nodes.
    """
    modules = covered = 0
    left: Counter[str] = Counter()
    sample: dict[str, str] = {}
    for tree, nodes in zip(trees, paired):
        is_module = (tree.kind == NodeKind.MODULE) | (tree.kind == NodeKind.PARAMETERS_GRAD)
        free = is_module.copy()
        free[nodes] = False
        modules += int(is_module.sum())
        covered += int(is_module.sum() - free.sum())
        for node in np.flatnonzero(free).tolist():
            class_name = tree.labels[tree.label[node]]
            left[class_name] += 1
            sample.setdefault(class_name, tree.names[node])
    return Coverage(side, modules, covered, [(name, count, sample[name]) for name, count in left.most_common()])


def paired_nodes(match: MappingMatch, golden: bool) -> np.ndarray:
    """All nodes of one side that a mapping paired."""
    single = match.golden if golden else match.target
    grouped = [node for pair in match.groups for node in (pair.golden if golden else pair.target)]
    return np.concatenate([single, np.array(grouped, single.dtype)])


def lint_lines(mapping: MappingFile, matches: Sequence[MappingMatch], targets: Sequence[Tree], goldens: Sequence[Tree]) -> list[str]:
    """The report of `graph-mapping lint`."""
    lines = [f"{mapping.name}: {len(mapping.rules)} rules on {len(matches)} {'pair' if len(matches) == 1 else 'pairs'} of graphs",
             "  line    named    below  rule"]
    lines += [f"{row.line:6d} {row.named:8d} {row.below:8d}  {row.rule}" for row in lint_rows(mapping, matches)]
    warnings = dict.fromkeys(warning for match in matches for warning in match.warnings)
    lines += [f"warning: {warning}" for warning in warnings]
    for side, trees, golden in (("target", targets, False), ("golden", goldens, True)):
        found = coverage(side, trees, [paired_nodes(match, golden) for match in matches])
        share = 100 * found.paired / found.modules if found.modules else 100.0
        lines.append(f"{side}: {found.paired} of {found.modules} module calls paired ({share:.1f} %)" + (", left:" if found.left else ""))
        lines += [f"  {count:6d} × {name}, such as {sample}" for name, count, sample in found.left[:_MOST_CLASSES]]
        if len(found.left) > _MOST_CLASSES:
            lines.append(f"  and {len(found.left) - _MOST_CLASSES} more classes")
    return lines
