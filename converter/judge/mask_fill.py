"""Masked scores: what stands for "minus infinity" differs between toolkits (-inf, -3.4e38, -1e30, -10000) and has no effect."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import MAX, MIN, PRESENT_MAX, PRESENT_MIN

# No activation is this small; exp() of it is zero in every floating type once a maximum is subtracted.
LARGEST_FILL = -1e4
# Two minima that are closer than this factor are measured as numbers.
LEAST_RATIO = 2.0
# The maximum, which no mask touches, must agree to this (relative).
MAX_TOLERANCE = 1e-3


def mask_fills(comparison: Comparison) -> NDArray[np.bool_]:
    """Rows that agree in Max and hold two different fill values as their Min; Mean and Norm follow from those."""
    found = np.zeros(comparison.rows, np.bool_)
    rows = np.flatnonzero((comparison.target_row >= 0) & (comparison.golden_row >= 0))
    if not len(rows):
        return found
    t, g = comparison.target_row[rows], comparison.golden_row[rows]
    present = comparison.target.present[t] & comparison.golden.present[g]
    a, b = comparison.target.statistics[t], comparison.golden.statistics[g]
    with np.errstate(all="ignore"):
        low = (a[:, MIN] <= LARGEST_FILL) & (b[:, MIN] <= LARGEST_FILL)
        ratio = a[:, MIN] / b[:, MIN]
        apart = ~np.isfinite(ratio) | (ratio >= LEAST_RATIO) | (ratio <= 1 / LEAST_RATIO)
        same = np.isneginf(a[:, MIN]) & np.isneginf(b[:, MIN])
        scale = np.maximum(np.maximum(np.abs(a[:, MAX]), np.abs(b[:, MAX])), 1e-30)
        top = np.isfinite(a[:, MAX]) & np.isfinite(b[:, MAX]) & (np.abs(a[:, MAX] - b[:, MAX]) <= MAX_TOLERANCE * scale)
    found[rows] = (present & (PRESENT_MAX | PRESENT_MIN) == PRESENT_MAX | PRESENT_MIN) & low & apart & ~same & top
    return found
