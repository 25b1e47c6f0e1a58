"""Alignment of two long key sequences: equal keys in order, inserts and deletes elsewhere; near-linear when they are alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable

# Up to this many cells a gap between certain matches is aligned exactly by weight.
EXACT_CELLS = 250_000
# Most differences that the linear-time alignment of longer gaps looks for.
MOST_DIFFERENCES = 1_500


def align_by_key(left: Sequence[str], right: Sequence[str], weight: Callable[[int, int], float]) -> list[tuple[int, int]]:
    """Order-keeping pairs (i, j) with left[i] == right[j] of the largest total weight.

    Args:
        weight: called only for equal keys; 0 forbids the pair.
    Short sequences are aligned exactly; in long ones the pairs of a shortest edit script are taken first, without
    weights, and where it would need more than MOST_DIFFERENCES edits, equal keys are counted off in order.
    """
    n, m = len(left), len(right)
    if n * m <= EXACT_CELLS:
        return _by_weight(left, right, weight)
    pairs = _shortest_edit(left, right)
    if pairs is None:
        pairs = _count_off(left, right)
    return [(i, j) for i, j in pairs if weight(i, j) > 0]


def _by_weight(left: Sequence[str], right: Sequence[str], weight: Callable[[int, int], float]) -> list[tuple[int, int]]:
    n, m = len(left), len(right)
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    taken = [bytearray(m) for _ in range(n)]
    for i in range(n - 1, -1, -1):
        key, row, below, marks = left[i], best[i], best[i + 1], taken[i]
        for j in range(m - 1, -1, -1):
            top = below[j] if below[j] >= row[j + 1] else row[j + 1]
            if right[j] == key:
                value = weight(i, j)
                if value > 0 and value + below[j + 1] > top:
                    top = value + below[j + 1]
                    marks[j] = 1
            row[j] = top
    pairs = []
    i = j = 0
    while i < n and j < m:
        if taken[i][j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _shortest_edit(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]] | None:
    """Greedy shortest edit script (Myers, "An O(ND) difference algorithm and its variations", 1986); None if too different."""
    n, m = len(left), len(right)
    furthest = {1: 0}
    trace = []
    for d in range(min(n + m, MOST_DIFFERENCES) + 1):
        trace.append(dict(furthest) if d else {1: 0})
        for k in range(-d, d + 1, 2):
            down = k == -d or (k != d and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
            x = furthest.get(k + 1, 0) if down else furthest[k - 1] + 1
            y = x - k
            while x < n and y < m and left[x] == right[y]:
                x, y = x + 1, y + 1
            furthest[k] = x
            if x >= n and y >= m:
                return _walk_back(trace, n, m)
    return None


def _walk_back(trace: list[dict[int, int]], n: int, m: int) -> list[tuple[int, int]]:
    pairs = []
    x, y = n, m
    for d in range(len(trace) - 1, -1, -1):
        furthest = trace[d]
        k = x - y
        previous = k + 1 if k == -d or (k != d and furthest.get(k - 1, -1) < furthest.get(k + 1, -1)) else k - 1
        start_x = furthest.get(previous, 0)
        start_y = start_x - previous
        if d == 0:
            start_x = start_y = 0
        while x > start_x and y > start_y and x > 0 and y > 0:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        if d:
            x, y = start_x, start_y
    pairs.reverse()
    return pairs


def _count_off(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """The n-th occurrence of a key with the n-th on the other side (pairs may cross)."""
    positions: dict[str, list[int]] = {}
    for j in range(len(right) - 1, -1, -1):
        positions.setdefault(right[j], []).append(j)
    return [(i, positions[key].pop()) for i, key in enumerate(left) if positions.get(key)]
