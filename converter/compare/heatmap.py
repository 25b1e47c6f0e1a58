"""Where in a tensor two sides differ: the elements as a grid of tokens × channels, put together to at most 256 × 256 cells.

The last axis is the channels, all others together are the tokens: [s, b, h] and [b, h, w, c] become [s·b, h] and [b·h·w, c], a bias [c] is
one token, a scalar one element. Both sides must lie in one shape already (tensor_operands.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from converter.compare.number_formats import decode
from converter.compare.stored_tensor import StoredTensor
from converter.compare.tensor_chunks import QUIET, differences, magnitude, norm

MOST_CELLS = 256  # along each side of the grid
_ELEMENTS_AT_ONCE = 1 << 18  # read as float64: some MB; one cell, however large, is read at once

TARGET_NONFINITE, GOLDEN_NONFINITE, MISMATCH = 1, 2, 4  # bits of `Heatmap.marks`


@dataclass(frozen=True)
class Heatmap:
    """Differences of target - golden. All grids are [rows, columns]: cell (i, j) covers the tokens from i·tokens // rows up to
    (i + 1)·tokens // rows, and the channels likewise. Nothing is left out: a single wrong element shows in its cell.

    Differences of non-finite elements: 0 where both sides hold the same one, inf where they do not (tensor_chunks.differences). Of complex
    numbers the magnitude stands in `target`, `golden` and `mean`.
    """

    shape: tuple[int, ...]  # of the tensor
    tokens: int
    channels: int
    largest: NDArray[np.float32]  # largest |t - g| of the cell
    mean: NDArray[np.float32]  # mean of t - g over the elements that are finite on both sides; NaN where there is none
    worst: NDArray[np.int64]  # number (C order) of the first element with the largest |t - g|
    target: NDArray[np.float32]  # values of that element
    golden: NDArray[np.float32]
    marks: NDArray[np.uint8]  # TARGET_NONFINITE | GOLDEN_NONFINITE | MISMATCH, of any element of the cell
    differing: int  # number of elements with |t - g| > 0
    scale: float  # root mean square of golden; non-finite elements count as zero
    worst_cell: int  # number (C order) of the cell with the tensor's worst element; -1 for an empty tensor
    worst_target: float  # that element: the first one with the largest difference; NaN for an empty tensor
    worst_golden: float
    worst_difference: float

    @property
    def worst_element(self) -> tuple[int, ...]:
        """The worst element's index in `shape`; () for a scalar or an empty tensor."""
        if self.worst_cell < 0:
            return ()
        return tuple(int(position) for position in np.unravel_index(int(self.worst.reshape(-1)[self.worst_cell]), self.shape))


def heatmap(target: StoredTensor, golden: StoredTensor, most_cells: int = MOST_CELLS) -> Heatmap:
    """The grid of two tensors of equal shape. Besides the tensors a few MB, and one cell in float64, are held.

    Raises ValueError where the shapes differ.
    """
    if target.shape != golden.shape:
        raise ValueError(f"shapes {target.shape} and {golden.shape} differ")
    channels = target.shape[-1] if target.shape else 1
    tokens = math.prod(target.shape[:-1])
    rows, columns = min(tokens, most_cells), min(channels, most_cells)
    if not tokens * channels:
        rows = columns = 0
    row_ends, column_ends = _ends(tokens, rows), _ends(channels, columns)
    grids = _Grids(rows, columns, channels)
    # A view where the layout allows it, else one copy in the file's own number format.
    sides = target.elements.reshape(tokens, channels), golden.elements.reshape(tokens, channels)
    with np.errstate(**QUIET):
        for row in range(rows):
            first, last = int(row_ends[row]), int(row_ends[row + 1])
            for left, right in _stretches(column_ends, last - first):
                block = (slice(first, last), slice(int(column_ends[left]), int(column_ends[right])))
                grids.add(row, left, right, first, column_ends,
                          decode(np.ascontiguousarray(sides[0][block]), target.format),
                          decode(np.ascontiguousarray(sides[1][block]), golden.format))
        return grids.finished(target.shape, tokens)


def _ends(extent: int, cells: int) -> NDArray[np.int64]:
    """[cells + 1]: where each cell begins, and the end of the last."""
    return np.arange(cells + 1, dtype=np.int64) * extent // max(cells, 1)


def _stretches(ends: NDArray[np.int64], tokens: int) -> Iterator[tuple[int, int]]:
    """Ranges of columns of the grid that hold about _ELEMENTS_AT_ONCE elements of so many tokens, at least one column each."""
    columns = len(ends) - 1
    widest = int(np.diff(ends).max(initial=1))
    step = max(1, _ELEMENTS_AT_ONCE // max(1, tokens * widest))
    for left in range(0, columns, step):
        yield left, min(left + step, columns)


class _Grids:
    """The grids while they are filled, block by block."""

    def __init__(self, rows: int, columns: int, channels: int) -> None:
        self._channels = channels
        shape = rows, columns
        self._largest, self._mean = np.zeros(shape), np.zeros(shape)
        self._target, self._golden = np.zeros(shape), np.zeros(shape)
        self._worst, self._marks = np.zeros(shape, np.int64), np.zeros(shape, np.uint8)
        self._differing = 0
        self._golden_norm = 0.0

    def add(self, row: int, left: int, right: int, first_token: int, column_ends: NDArray[np.int64], target: NDArray[Any],
            golden: NDArray[Any]) -> None:
        """Cells (row, left) to (row, right - 1) from their elements, [tokens of the row, channels of the columns]."""
        begin = int(column_ends[left])
        starts = column_ends[left:right] - begin
        widths = np.diff(column_ends[left : right + 1])
        target, golden, difference, finite = differences(target, golden)
        worst_token = difference.argmax(axis=0)  # the first of each channel
        channel = np.arange(difference.shape[1])
        of_channel = difference[worst_token, channel]
        largest = np.maximum.reduceat(of_channel, starts)
        # Of the channels that hold the cell's largest difference, the one whose element comes first in C order.
        number = (first_token + worst_token) * self._channels + begin + channel
        beyond = np.iinfo(np.int64).max
        worst = np.minimum.reduceat(np.where(of_channel == np.repeat(largest, widths), number, beyond), starts)
        token, at = worst // self._channels - first_token, worst % self._channels - begin
        cells = (row, slice(left, right))
        self._largest[cells], self._worst[cells] = largest, worst
        self._target[cells], self._golden[cells] = _real(target[token, at]), _real(golden[token, at])
        self._differing += int(np.count_nonzero(difference))
        signed, finite_golden = _real(target) - _real(golden), golden
        count: NDArray[Any] = widths * difference.shape[0]
        if finite is not None:
            finite_target, finite_golden = np.isfinite(target), np.isfinite(golden)
            apart = ~finite & (difference != 0)
            for mark, marked in ((TARGET_NONFINITE, ~finite_target), (GOLDEN_NONFINITE, ~finite_golden), (MISMATCH, apart)):
                self._marks[cells] |= mark * np.logical_or.reduceat(marked.any(axis=0), starts).astype(np.uint8)
            signed, finite_golden = np.where(finite, signed, 0.0), np.where(finite_golden, golden, 0)
            count = np.add.reduceat(finite.sum(axis=0), starts)
        self._mean[cells] = np.add.reduceat(signed.sum(axis=0), starts) / count
        self._golden_norm = math.hypot(self._golden_norm, norm(finite_golden.reshape(-1)))

    def finished(self, shape: tuple[int, ...], tokens: int) -> Heatmap:
        """To be called where numpy is quiet: what float32 cannot hold becomes inf."""
        size = math.prod(shape)
        cell, differing = -1, self._differing
        if self._largest.size:
            tied = np.flatnonzero(self._largest == self._largest.max())
            cell = int(tied[self._worst.reshape(-1)[tied].argmin()])
        worst = [float(grid.reshape(-1)[cell]) if cell >= 0 else math.nan for grid in (self._target, self._golden, self._largest)]
        narrow = [grid.astype(np.float32) for grid in (self._largest, self._mean, self._target, self._golden)]
        return Heatmap(shape, tokens, self._channels, narrow[0], narrow[1], self._worst, narrow[2], narrow[3], self._marks, differing,
                       self._golden_norm / math.sqrt(size) if size else 0.0, cell, worst[0], worst[1], worst[2])


def _real(numbers: NDArray[Any]) -> NDArray[np.float64]:
    return magnitude(numbers) if numbers.dtype.kind == "c" else numbers
