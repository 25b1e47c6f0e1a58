"""The verdict of every row: facts and errors against tolerances give a status and a mask of reasons.

The tests follow each other in `judge_rows`. What one of them settles is closed to the later ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.compare.broadcast import is_repeated
from converter.compare.columns import Comparison
from converter.dumps.columns import MAX, MIN, NORM, Role
from converter.judge import reasons
from converter.judge.ignored import ignored_rows
from converter.judge.kind_notes import kind_notes
from converter.judge.marks import Marks
from converter.judge.mask_fill import mask_fills
from converter.judge.noise import find_noise
from converter.judge.passed_through import passed_through_once
from converter.judge.policy import Policy
from converter.judge.row_facts import RowFacts
from converter.judge.shards import beside_shards, is_parallel, shards
from converter.judge.tolerance import Tolerances, row_tolerances, widen_by_noise, worst_statistic
from converter.judge.verdict import Note, Status
from converter.match.pairing import Pairing
from converter.tree.graph import Graph

Flags = NDArray[np.bool_]

ELEMENTS = 4  # as worst statistic: the relative norm error over the elements
NO_STATISTIC = 255


@dataclass(frozen=True)
class RowVerdicts:
    """Columns over rows (see Verdicts), the notes, and by how much the tolerances were widened."""

    status: NDArray[np.uint8]
    reasons: NDArray[np.uint32]
    error: NDArray[np.float64]
    statistic: NDArray[np.uint8]
    tolerance: NDArray[np.float64]
    notes: list[Note]
    noise_factor: float


def judge_rows(
    comparison: Comparison, facts: RowFacts, pairing: Pairing, target: Graph, golden: Graph, forward: NDArray[np.bool_], policy: Policy
) -> RowVerdicts:
    """Judge all rows.

    Args:
        forward: [pairs] bool, the pair belongs to the forward pass (the noise of the run is read off there).
    A row is NONE where nothing was judged (one side only between different code, ignored by policy); it passes only
    where something was compared and agreed.
    """
    tolerances = row_tolerances(comparison, facts, pairing, target, policy)
    statistic, error, weighted = worst_statistic(comparison, tolerances)
    activations = facts.tensors & (tolerances.epsilon > 0) & forward[facts.pair] & (facts.role == Role.OUTPUT)
    tolerances, factor = widen_by_noise(tolerances, weighted, activations, policy)
    marks = Marks(comparison.rows, policy)
    ignored, marks.notes = ignored_rows(facts, pairing, target, policy)
    marks.flag(ignored, reasons.IGNORED)
    marks.close(ignored)
    _settle_one_sided(marks, comparison, facts)
    _settle_different_things(marks, comparison, facts, passed_through_once(comparison, facts, pairing, target, golden))
    _settle_values(marks, facts)
    sharded = _settle_sizes(marks, comparison, facts, is_parallel(target) or is_parallel(golden))
    tensors = marks.open
    marks.mark(tensors & facts.shape_differs, reasons.LAYOUT)
    marks.mark(tensors & facts.requires_grad_differs, reasons.REQUIRES_GRAD)
    marks.mark(tensors & facts.value_differs, reasons.VALUE)
    measured = tensors & ~np.isnan(weighted)
    _mark_unmeasured(marks, comparison, facts, measured)
    marks.passed(measured)
    finite = measured & ~_mark_nonfinite(marks, comparison, facts, measured)
    beyond = finite & (weighted > tolerances.warning)
    beyond &= ~_mark_partial_sums(marks, beyond, sharded, facts, pairing, target)
    beyond &= ~_mark_noise(marks, beyond, comparison, facts, pairing, target, tolerances, policy)
    _mark_beyond(marks, beyond, comparison, statistic, weighted > tolerances.error, policy)
    same_numbers = finite & ~beyond
    marks.mark(tensors & facts.dtype_differs & same_numbers, reasons.PRECISION)
    marks.mark(tensors & facts.dtype_differs & ~same_numbers, reasons.DTYPE)
    _mark_checksums(marks, facts, tensors, measured, same_numbers, error)
    unjudged = (marks.status == Status.NONE) | (marks.status == Status.NOT_COMPARABLE)
    statistic = np.where(unjudged, NO_STATISTIC, statistic).astype(np.uint8)
    factors = np.append(tolerances.statistic_factor, [1.0])[np.minimum(statistic, ELEMENTS)]
    return RowVerdicts(
        marks.status, marks.reasons, np.where(unjudged, np.nan, error), statistic, tolerances.warning * factors, marks.notes, factor
    )


def _settle_one_sided(marks: Marks, comparison: Comparison, facts: RowFacts) -> None:
    """Rows of one side only: missing in the same code, of no meaning between different code."""
    alone = marks.open & ~facts.both
    if comparison.mode == "structure":  # the side that was dumped without values lacks them all
        marks.mark(alone, reasons.NOT_AVAILABLE)
    else:
        other_code = alone & (~facts.exact | facts.none_only)
        marks.flag(other_code, reasons.OTHER_CODE)
        marks.mark(alone & ~other_code, reasons.MISSING)
    marks.close(alone)


def _settle_different_things(marks: Marks, comparison: Comparison, facts: RowFacts, passed_through: Flags) -> None:
    """A tensor against None, a mask against additive numbers: an error in the same code, else not comparable."""
    marks.settle(marks.open & passed_through & ~facts.exact, reasons.DIFFERENT_KIND)
    if len(comparison.ambiguous):
        marks.settle(marks.open & comparison.ambiguous, reasons.DIFFERENT_KIND)
    marks.settle(marks.open & facts.kind_differs & facts.exact, reasons.VALUE)
    marks.settle(marks.open & facts.kind_differs, reasons.DIFFERENT_KIND)
    marks.settle(marks.open & facts.category_differs & ~facts.exact, reasons.DIFFERENT_KIND)
    marks.notes += kind_notes(comparison, marks.reasons)


def _settle_values(marks: Marks, facts: RowFacts) -> None:
    """Everything that is no tensor. Only in the same code does another value say something of the model."""
    values = marks.open & ~facts.tensors
    differs = values & facts.value_differs
    of_the_model = facts.same_code & ~facts.names_an_object
    marks.mark(differs & of_the_model, reasons.VALUE)
    marks.mark(differs & ~of_the_model, reasons.VALUE, "note")
    marks.passed(values & ~differs)
    marks.close(values)


def _settle_sizes(marks: Marks, comparison: Comparison, facts: RowFacts, parallel: bool) -> Flags:
    """Tensors of another number of elements. Returns the rows that are shards.

    Args:
        parallel: one of the models is built of tensor-parallel layers, so that even equal code may hold shards.
    """
    differs = facts.size_differs
    marks.settle(marks.open & differs & facts.no_elements & (facts.role == Role.PARAMETER), reasons.SHARDED)
    marks.settle(_repeated(comparison, marks.open & differs & ~facts.exact), reasons.LAYOUT)
    sharded = shards(comparison, marks.open & differs & (~facts.same_code | parallel))
    marks.settle(sharded, reasons.SHARDED)
    marks.settle(marks.open & differs, reasons.SHAPE)
    return sharded


def _mark_unmeasured(marks: Marks, comparison: Comparison, facts: RowFacts, measured: Flags) -> None:
    """Tensors without statistics (a checksum may do, and two empty tensors are equal), and those without elements in tensor mode."""
    unmeasured = marks.open & ~measured & ~facts.value_differs
    by_checksum = unmeasured & (facts.checksum_differs | facts.checksum_equal)
    empty = unmeasured & ~by_checksum & facts.no_elements
    marks.mark(unmeasured & ~by_checksum & ~empty, reasons.NOT_AVAILABLE)
    marks.passed(empty | (unmeasured & facts.checksum_equal))
    without_file = np.zeros(comparison.rows, np.bool_)
    without_file[list(comparison.unavailable)] = True
    marks.mark(measured & without_file, reasons.NOT_MEASURED)
    for row in np.flatnonzero(marks.reasons & np.uint32(1 << reasons.NOT_AVAILABLE.code | 1 << reasons.NOT_MEASURED.code)).tolist():
        why, why_zh = comparison.unavailable.get(row, ("one side has no statistics", "一侧没有统计量"))
        code = (reasons.NOT_MEASURED if measured[row] else reasons.NOT_AVAILABLE).code
        marks.notes.append(Note(row, code, {"why": why, "why_zh": why_zh}))


def _mark_nonfinite(marks: Marks, comparison: Comparison, facts: RowFacts, measured: Flags) -> Flags:
    """Returns the rows whose error is infinite: a statistic is not finite on one side only, or is the fill value of a mask."""
    filled = measured & mask_fills(comparison)
    marks.mark(filled, reasons.MASK_FILL)
    marks.mark(measured & facts.nonfinite & ~filled, reasons.NONFINITE)
    marks.mark(measured & facts.nonfinite_both, reasons.NONFINITE_BOTH)
    return facts.nonfinite | filled


def _mark_partial_sums(marks: Marks, beyond: Flags, sharded: Flags, facts: RowFacts, pairing: Pairing, target: Graph) -> Flags:
    """Returns the rows that may differ because they stand beside a shard: each rank holds a part of the sum."""
    partial = beyond & beside_shards(sharded, facts, pairing, target)[facts.pair]
    marks.mark(partial, reasons.SHARDED, "not_comparable")  # whatever the policy thinks of shards
    return partial


def _mark_noise(
    marks: Marks, beyond: Flags, comparison: Comparison, facts: RowFacts, pairing: Pairing, target: Graph, tolerances: Tolerances,
    policy: Policy,
) -> Flags:
    """Returns the rows whose difference is rounding noise of what was added up."""
    noise = find_noise(comparison, facts, pairing, target, tolerances, np.flatnonzero(beyond), policy)
    noisy = np.zeros(comparison.rows, np.bool_)
    noisy[list(noise.rows)] = True
    marks.mark(noisy, reasons.NOISE)
    marks.notes += [Note(row, reasons.NOISE.code, {"scale": f"{scale:.4g}"}) for row, scale in noise.rows.items()]
    return noisy


def _mark_beyond(
    marks: Marks, beyond: Flags, comparison: Comparison, statistic: NDArray[np.uint8], beyond_error: Flags, policy: Policy
) -> None:
    """Rows beyond their tolerance: by a statistic, or by their elements."""
    for where, reason in ((beyond & (statistic != ELEMENTS), reasons.STATISTICS), (beyond & (statistic == ELEMENTS), reasons.TENSOR)):
        marks.mark(where & beyond_error, reason)
        marks.mark(where & ~beyond_error, reason, "note" if policy.severities[reason.id] == "note" else "warning")
    marks.mark(beyond & _scaled(comparison), reasons.SCALED)


def _mark_checksums(
    marks: Marks, facts: RowFacts, tensors: Flags, measured: Flags, same_numbers: Flags, error: NDArray[np.float64]
) -> None:
    """A checksum that differs is an error without statistics; beside them it says only that not every bit is equal."""
    comparable = tensors & facts.checksum_differs & ~facts.shape_differs & ~facts.dtype_differs
    marks.mark(comparable & ~measured, reasons.CHECKSUM)
    equal_statistics = comparable & same_numbers & (error == 0)
    marks.mark(equal_statistics, reasons.CHECKSUM, "warning")
    marks.mark(comparable & same_numbers & ~equal_statistics, reasons.CHECKSUM, "note")


# Two ratios of statistics are one factor if they differ by no more than this, relative to the factor.
SAME_FACTOR = 1e-3


def _scaled(comparison: Comparison) -> NDArray[np.bool_]:
    """Rows in which Max, Min and Norm are one and the same multiple of golden's: a scale that one side applies."""
    found = np.zeros(comparison.rows, np.bool_)
    rows = np.flatnonzero((comparison.errors[:, (MAX, MIN, NORM)] > 0).all(axis=1))
    if not len(rows):
        return found
    a = comparison.target.statistics[comparison.target_row[rows]][:, (MAX, MIN, NORM)]
    b = comparison.golden.statistics[comparison.golden_row[rows]][:, (MAX, MIN, NORM)]
    with np.errstate(all="ignore"):
        ratio = a / b
        factor = ratio[:, 2:3]
        found[rows] = (np.isfinite(ratio) & (np.abs(ratio - factor) <= SAME_FACTOR * np.abs(factor - 1))).all(axis=1)
    return found


def _repeated(comparison: Comparison, where: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows of which one side holds the other's values several times over."""
    found = np.zeros(comparison.rows, np.bool_)
    for row in np.flatnonzero(where).tolist():
        found[row] = is_repeated(comparison.target, int(comparison.target_row[row]), comparison.golden, int(comparison.golden_row[row]))
    return found
