"""The same values repeated along further axes: position ids [t] against [b, t], one side's batch of ones expanded."""

from __future__ import annotations

import math

from converter.dumps.columns import MAX, MEAN, MIN, NORM, PRESENT_MEAN, PRESENT_NORM, LeafKind, Leaves

# Statistics of the same values, computed over more copies of them, agree to this (relative to the largest magnitude).
REPEATED_TOLERANCE = 1e-5


def is_repeated(left: Leaves, a: int, right: Leaves, b: int) -> bool:
    """Rows a and b hold the same values, one of them several times over.

    One shape's extents (without ones) are among the other's, Max, Min and Mean are equal, and Norm grows with the root of the number
    of copies.
    """
    if left.kind[a] != LeafKind.TENSOR or right.kind[b] != LeafKind.TENSOR or left.shape[a] < 0 or right.shape[b] < 0:
        return False
    shape_a, shape_b = left.shapes[int(left.shape[a])], right.shapes[int(right.shape[b])]
    size_a, size_b = math.prod(shape_a), math.prod(shape_b)
    if not size_a or not size_b or size_a == size_b or max(size_a, size_b) % min(size_a, size_b):
        return False
    small, large = (shape_a, shape_b) if size_a < size_b else (shape_b, shape_a)
    rest = [extent for extent in large if extent != 1]
    for extent in small:
        if extent == 1:
            continue
        if extent not in rest:
            return False
        rest.remove(extent)
    present = int(left.present[a] & right.present[b])
    if present & 3 != 3:
        return False
    x, y = left.statistics[a].tolist(), right.statistics[b].tolist()
    scale = max(abs(x[MAX]), abs(x[MIN]), abs(y[MAX]), abs(y[MIN]))
    if not math.isfinite(scale):
        return False
    limit = REPEATED_TOLERANCE * scale
    if abs(x[MAX] - y[MAX]) > limit or abs(x[MIN] - y[MIN]) > limit or (present & PRESENT_MEAN and abs(x[MEAN] - y[MEAN]) > limit):
        return False
    expected = abs(y[NORM]) * math.sqrt(size_a / size_b)
    return not present & PRESENT_NORM or abs(abs(x[NORM]) - expected) <= 10 * REPEATED_TOLERANCE * max(abs(x[NORM]), expected)
