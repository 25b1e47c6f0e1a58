"""Errors of Max, Min, Mean and Norm, each measured against the tensor's own scale (docs/judging.md)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import MAX, MEAN, MIN, NORM, PRESENT_MAX, PRESENT_MEAN, PRESENT_MIN, PRESENT_NORM, LeafKind, Leaves

_BITS = ((MAX, PRESENT_MAX), (MIN, PRESENT_MIN), (MEAN, PRESENT_MEAN), (NORM, PRESENT_NORM))


def element_counts(leaves: Leaves) -> NDArray[np.float64]:
    """[rows] number of elements of every leaf; 1 for leaves without a shape, 0 for empty tensors."""
    sizes = np.array([float(math.prod(shape)) for shape in leaves.shapes] + [1.0])
    return sizes[leaves.shape]


def scale_aware_errors(target: Leaves, target_row: NDArray[np.int64], golden: Leaves, golden_row: NDArray[np.int64]) -> NDArray[np.float64]:
    """[rows, 4] float64: |t - g| / scale for Max, Min, Mean, Norm.

    The scale is golden's own, so that an error does not depend on where the zero of a statistic happens to lie:
    the largest finite magnitude max(|Max|, |Min|) for Max and Min, the root mean square Norm / sqrt(n) for Mean
    (the largest magnitude where there is no norm), the norm for Norm. Where golden's scale is zero, target's is
    taken; both zero give 0. Two equal infinities or two NaN give 0; any other non-finite difference gives inf.
    NaN = not measured: one side is missing, is no tensor or number, or has no such statistic.
    """
    errors = np.full((len(target_row), 4), np.nan)
    rows = np.flatnonzero((target_row >= 0) & (golden_row >= 0))
    if not len(rows):
        return errors
    t_row, g_row = target_row[rows], golden_row[rows]
    measurable = (target.kind[t_row] <= LeafKind.BOOL) & (golden.kind[g_row] <= LeafKind.BOOL)
    rows, t_row, g_row = rows[measurable], t_row[measurable], g_row[measurable]
    present = target.present[t_row] & golden.present[g_row]
    a, b = target.statistics[t_row], golden.statistics[g_row]
    with np.errstate(all="ignore"):
        largest = np.maximum(_finite_magnitude(b[:, MAX]), _finite_magnitude(b[:, MIN]))
        largest_t = np.maximum(_finite_magnitude(a[:, MAX]), _finite_magnitude(a[:, MIN]))
        largest = np.where(largest > 0, largest, largest_t)
        norm = np.where(_finite_magnitude(b[:, NORM]) > 0, _finite_magnitude(b[:, NORM]), _finite_magnitude(a[:, NORM]))
        root = np.sqrt(np.maximum(element_counts(golden)[g_row], 1.0))
        mean_scale = np.where(norm > 0, norm / root, largest)
        for column, bit in _BITS:
            scale = norm if column == NORM else mean_scale if column == MEAN else largest
            x, y = a[:, column], b[:, column]
            difference = np.abs(np.abs(x) - np.abs(y)) if column == NORM else np.abs(x - y)
            value = np.where(difference == 0, 0.0, difference / np.where(scale > 0, scale, 1.0))
            same = (x == y) | (np.isnan(x) & np.isnan(y))
            value = np.where(same, 0.0, np.where(np.isfinite(x) & np.isfinite(y), value, np.inf))
            errors[rows, column] = np.where(present & bit != 0, value, np.nan)
    return errors


def _finite_magnitude(column: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(column), np.abs(column), 0.0)
