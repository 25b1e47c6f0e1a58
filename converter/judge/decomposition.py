"""Models cut into other parts: what differs inside a module that agrees as a whole says nothing.

A mixture of experts may weigh an expert's output inside the expert or behind it: the experts then differ by construction,
although every result is equal. Such rows are not comparable, in every layer, whether that layer agrees or not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import MAX, MIN, Role
from converter.judge import reasons
from converter.judge.causes import PairFacts
from converter.judge.row_facts import RowFacts
from converter.judge.rows import RowVerdicts
from converter.judge.verdict import Note, Status
from converter.match.pairing import Pairing
from converter.tree.columns import Direction, NodeKind, Tree
from converter.tree.graph import Graph

Flags = NDArray[np.bool_]

# A difference in units of its tolerance: smaller ones may be a fault that the enclosing module weakens.
GROSS = 100.0
# How much nearer to equality (in units of tolerance) the enclosing module must be.
NEARER = 1000.0
# How many times what its tolerance hides the enclosing module would differ, if the inner difference reached its output.
SHARP = 10.0


def without_other_decompositions(
    comparison: Comparison, facts: RowFacts, rows: RowVerdicts, pairs: PairFacts, pairing: Pairing, target: Graph
) -> RowVerdicts:
    """The verdicts with those rows not comparable that differ inside a module whose outputs agree; `rows` itself if there are none."""
    candidates = _candidates(facts, rows, pairs)
    if not len(candidates):
        return rows
    around = _agreeing_module(facts, pairs, pairing, target)
    excess = _excess(rows)
    worst, hidden = _of_outputs(comparison, facts, rows, excess, pairing.count)
    outer = around[facts.pair[candidates]]
    difference = rows.error[candidates] * _scale(comparison, candidates)
    settled = candidates[
        (outer >= 0)
        & (excess[candidates] >= GROSS)
        & (worst[outer] * NEARER <= excess[candidates])
        & (difference >= SHARP * hidden[outer])
    ]
    if not len(settled):
        return rows
    places = _places(facts, pairs, target)
    found = np.union1d(settled, _of_the_same_place(settled, candidates, facts, rows, places))
    status, mask, error = rows.status.copy(), rows.reasons.copy(), rows.error.copy()
    status[found] = Status.NOT_COMPARABLE
    cleared = np.uint32(1 << reasons.STATISTICS.code | 1 << reasons.TENSOR.code | 1 << reasons.SCALED.code)
    mask[found] = (mask[found] & ~cleared) | np.uint32(1 << reasons.DECOMPOSITION.code)
    error[found] = np.nan
    notes = list(rows.notes)
    example = {int(places[row]): target.tree.names[pairs.node[around[facts.pair[row]]]] for row in settled.tolist()}
    for row in found.tolist():
        notes.append(Note(row, reasons.DECOMPOSITION.code, {"module": example[int(places[row])]}))
    return replace(rows, status=status, reasons=mask, error=error, notes=notes)


def _candidates(facts: RowFacts, rows: RowVerdicts, pairs: PairFacts) -> NDArray[np.int64]:
    """Rows whose numbers differ, of pairs whose parameters agree and that are no parameters themselves."""
    by_numbers = np.uint32(1 << reasons.STATISTICS.code | 1 << reasons.TENSOR.code)
    bad = (rows.status == Status.WARNING) | (rows.status == Status.ERROR)
    eligible = bad & ((rows.reasons & by_numbers) != 0) & np.isfinite(rows.error) & (facts.role != Role.PARAMETER)
    return np.flatnonzero(eligible & ~pairs.bad_parameter[facts.pair] & (facts.role != Role.GRADIENT))


def _excess(rows: RowVerdicts) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        return np.asarray(np.where(rows.tolerance > 0, rows.error / rows.tolerance, np.nan))


def _scale(comparison: Comparison, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Largest element of golden's tensor."""
    statistics = comparison.golden.statistics[comparison.golden_row[rows]]
    return np.maximum(np.abs(statistics[:, MAX]), np.abs(statistics[:, MIN]))


def _of_outputs(
    comparison: Comparison, facts: RowFacts, rows: RowVerdicts, excess: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[pairs] of all outputs: the largest error in units of its tolerance, and the largest difference that tolerance hides."""
    outputs = np.flatnonzero((facts.role == Role.OUTPUT) & facts.tensors & ~np.isnan(excess))
    worst, hidden = np.zeros(count), np.zeros(count)
    np.maximum.at(worst, facts.pair[outputs], excess[outputs])
    sizes = rows.tolerance[outputs] * _scale(comparison, outputs)
    np.maximum.at(hidden, facts.pair[outputs], np.where(np.isfinite(sizes), sizes, np.inf))
    return worst, hidden


def _agreeing_module(facts: RowFacts, pairs: PairFacts, pairing: Pairing, target: Graph) -> NDArray[np.int64]:
    """[pairs] the innermost pair of different modules around each pair whose outputs agree; -1 = none.

    Backward, the gradients of the parameters inside it must agree too.
    """
    tree = target.tree
    same_code = np.zeros(pairing.count, np.bool_)
    same_code[facts.pair[facts.exact]] = True
    agrees = pairs.has_output & ~pairs.bad_output & ~same_code & (tree.kind[pairs.node] == NodeKind.MODULE)
    gradients = np.zeros(tree.count + 1, np.int64)
    gradients[1 + pairs.node[pairs.bad_output & (tree.kind[pairs.node] == NodeKind.PARAMETERS_GRAD)]] = 1
    before = np.cumsum(gradients)
    inside = before[tree.end[pairs.node]] - before[pairs.node]
    agrees &= (tree.direction[pairs.node] != Direction.BACKWARD) | (inside == 0)
    pair_at = np.full(tree.count, -1, np.int64)
    pair_at[pairs.node[agrees]] = np.flatnonzero(agrees)
    node = tree.parent[pairs.node].astype(np.int64)
    while True:
        climbing = (node > 0) & (pair_at[node] < 0)
        if not climbing.any():
            break
        node = np.where(climbing, tree.parent[node], node)
    return np.where(node > 0, pair_at[node], -1)


def _places(facts: RowFacts, pairs: PairFacts, target: Graph) -> NDArray[np.int64]:
    """[rows] a number for what a row is in every layer alike: path without numbers, direction, role."""
    tree: Tree = target.tree
    numbers: dict[tuple[str, ...], int] = {}
    of_path = [numbers.setdefault(tuple("*" if part.isdecimal() else part for part in path), len(numbers)) for path in tree.paths]
    place = np.array(of_path or [0], np.int64)[tree.path[pairs.node]] * 4 + tree.direction[pairs.node]
    api = tree.kind[pairs.node] == NodeKind.API
    place = (place * (len(tree.labels) + 2) + np.where(api, tree.label[pairs.node] + 1, 0))[facts.pair]
    return np.asarray(place * 16 + facts.role)


def _of_the_same_place(
    settled: NDArray[np.int64], candidates: NDArray[np.int64], facts: RowFacts, rows: RowVerdicts, places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Rows that differ in other layers at a place that never agrees anywhere."""
    agreeing = facts.tensors & (rows.status == Status.PASS) & (rows.error >= 0)
    always = np.setdiff1d(places[settled], places[agreeing])
    return candidates[np.isin(places[candidates], always)]
