"""Alignment of two sequences in order: insert, delete, one against one, one against several."""

from __future__ import annotations

from typing import Callable, Optional

from converter.match.similarity import Fit

# Positions left, positions right, fit of the group (None: one against one, or a position that is passed over).
Aligned = tuple[tuple[int, ...], tuple[int, ...], Optional[Fit]]

# Above this many cells the alignment is done greedily within a window instead of in one table.
LARGEST_TABLE = 1_000_000


def align_atoms(
    n: int,
    m: int,
    score: Callable[[int, int], float],
    splits: list[tuple[int, tuple[int, ...], Fit]],
    joins: list[tuple[tuple[int, ...], int, Fit]],
    least: float,
) -> list[Aligned]:
    """The best order-keeping alignment of positions 0..n-1 with 0..m-1 (dynamic programme over n*m cells).

    Args:
        score: fit of position i with position j; below `least` the two are not aligned.
        splits: one left position against several right ones; joins: the other way round. Positions of a group need
            not be adjacent: those between its first and last stay unaligned.
    Returns:
        (left positions, right positions, fit of the group or None), in order. Ties go to the earlier positions.
    """
    if n * m > LARGEST_TABLE:
        return _align_in_window(n, m, score, least)
    splits_at: dict[int, list[tuple[tuple[int, ...], Fit]]] = {}
    for i, right, fit in splits:
        splits_at.setdefault(i, []).append((right, fit))
    joins_at: dict[tuple[int, int], list[tuple[tuple[int, ...], Fit]]] = {}
    for left, j, fit in joins:
        joins_at.setdefault((left[0], j), []).append((left, fit))
    # best[i][j]: best score of aligning the rest from position (i, j) on.
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    step: list[list[Optional[Aligned]]] = [[None] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        row, below = best[i], best[i + 1]
        for j in range(m - 1, -1, -1):
            top: float = below[j]
            chosen: Optional[Aligned] = None
            if row[j + 1] > top:
                top, chosen = row[j + 1], ((), (), None)
            value = score(i, j)
            if value >= least and value + below[j + 1] > top:
                top, chosen = value + below[j + 1], ((i,), (j,), None)
            for right, fit in splits_at.get(i, ()):
                if right[0] == j and fit.score + below[right[-1] + 1] > top:
                    top, chosen = fit.score + below[right[-1] + 1], ((i,), right, fit)
            for left, fit in joins_at.get((i, j), ()):
                if fit.score + best[left[-1] + 1][j + 1] > top:
                    top, chosen = fit.score + best[left[-1] + 1][j + 1], (left, (j,), fit)
            row[j], step[i][j] = top, chosen
    found: list[Aligned] = []
    i = j = 0
    while i < n and j < m:
        taken = step[i][j]
        if taken is None:
            i += 1
        elif not taken[0]:
            j += 1
        else:
            found.append(taken)
            i, j = taken[0][-1] + 1, taken[1][-1] + 1
    return found


def _align_in_window(
    n: int, m: int, score: Callable[[int, int], float], least: float
) -> list[Aligned]:
    """Greedy alignment of very long sequences: for each left position the best right one within a window ahead."""
    window = max(16, LARGEST_TABLE // max(n, 1))
    found: list[Aligned] = []
    j = 0
    for i in range(n):
        top, at = least, -1
        for k in range(j, min(m, j + window)):
            value = score(i, k) - 0.01 * (k - j)
            if value > top:
                top, at = value, k
        if at >= 0:
            found.append(((i,), (at,), None))
            j = at + 1
    return found
