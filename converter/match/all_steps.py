"""All matching steps in their order: manual matches, the mapping file, the automatic steps."""

from __future__ import annotations

from typing import Optional

import numpy as np

from converter.match.automatic import match_trees
from converter.match.frame_scope import CallStacks
from converter.match.mapping import match_by_mapping
from converter.match.mapping_report import Unknown
from converter.match.mapping_rules import MappingFile
from converter.match.pairing import Pairing
from converter.match.pins import Pins, pinned_pairs
from converter.tree.graph import Graph


def match_graphs(
    target: Graph,
    golden: Graph,
    method: str,
    mapping: Optional[MappingFile],
    pins: Optional[Pins],
    stacks: tuple[CallStacks, CallStacks],
) -> tuple[Pairing, list[Unknown]]:
    """The pairing of two graphs, and the scopes of the mapping file that they do not have.

    Args:
        method: as in match_trees.
        stacks: call stacks of both sides; a dump has them.
    Raises:
        UserError: rules of the mapping file contradict each other.
    """
    given, refused, warnings = pinned_pairs(pins, target.tree, golden.tree) if pins else ([], [], [])
    if mapping is None:
        return match_trees(target, golden, method, given, refused, warnings=warnings), []
    taken_target, taken_golden = np.zeros(target.tree.count, np.bool_), np.zeros(golden.tree.count, np.bool_)
    for pair in given:
        taken_target[list(pair.target)] = True
        taken_golden[list(pair.golden)] = True
    found = match_by_mapping(target.tree, golden.tree, mapping, taken_target, taken_golden, stacks, unruled_apis=method == "mapping")
    single = found.without_counterpart.tolist()
    pairing = match_trees(
        target,
        golden,
        method,
        given + found.pairs(),
        refused,
        found.rules,
        found.aliases,
        found.layouts,
        warnings + found.warnings,
        ([], single) if mapping.invert else (single, []),
    )
    return pairing, found.unknown
