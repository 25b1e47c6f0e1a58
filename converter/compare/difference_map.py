"""Where two tensors differ: the largest difference in each cell of a grid token × channel, small enough to be drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.compare.number_formats import decode
from converter.compare.stored_tensor import StoredTensor, TensorUnavailable

MOST_CELLS = 192  # along one side of the grid
_CHUNK = 1 << 20  # elements that are decoded at a time


@dataclass(frozen=True)
class DifferenceMap:
    """`largest[i, j]`: the largest |target - golden| among the elements of cell (i, j); inf where one side is not finite.

    Rows are tokens (all axes but the last, flattened), columns are channels (the last axis). Cell i covers tokens
    row_start[i] to row_start[i + 1], likewise for columns. `scale` is golden's root mean square, to which an error is
    relative; `worst` is the element of the largest difference, as an index into `shape`.
    """

    shape: tuple[int, ...]
    row_start: list[int]
    column_start: list[int]
    largest: NDArray[np.float32]
    scale: float
    worst: tuple[int, ...]
    worst_target: complex
    worst_golden: complex


def difference_map(target: StoredTensor, golden: StoredTensor, most: int = MOST_CELLS) -> DifferenceMap:
    """The map of two tensors of one shape, with memory for a piece of them at a time. Raises TensorUnavailable."""
    if target.shape != golden.shape:
        raise TensorUnavailable("the shapes differ", "形状不同")
    if target.size == 0:
        raise TensorUnavailable("the tensor is empty", "张量为空")
    shape = target.shape
    columns = shape[-1] if shape else 1
    rows = target.size // columns
    row_start, column_start = _starts(rows, most), _starts(columns, most)
    sides = [side.elements.reshape(rows, columns) for side in (target, golden)]
    largest = np.zeros((len(row_start) - 1, len(column_start) - 1), np.float64)
    squares, finite, top, worst = 0.0, 0, -1.0, (0, 0)
    step = max(1, _CHUNK // columns)
    for cell, (first, last) in enumerate(zip(row_start, row_start[1:])):
        for start in range(first, last, step):
            piece = slice(start, min(start + step, last))
            values = [_numbers(side[piece], stored) for side, stored in zip(sides, (target, golden))]
            apart = _apart(*values)
            width = np.maximum.reduceat(apart.max(axis=0), column_start[:-1])
            largest[cell] = np.maximum(largest[cell], width)
            at = int(apart.argmax())
            if apart.flat[at] > top:
                top, worst = float(apart.flat[at]), (start + at // columns, at % columns)
            known = np.abs(values[1][np.isfinite(values[1])])
            squares += float(np.sum(known * known))
            finite += known.size
    index = np.unravel_index(worst[0] * columns + worst[1], shape) if shape else ()
    pair = [complex(_numbers(side[worst[0] : worst[0] + 1, worst[1] : worst[1] + 1], stored).flat[0])
            for side, stored in zip(sides, (target, golden))]
    with np.errstate(over="ignore"):  # beyond float32 is drawn like infinity
        drawn = largest.astype(np.float32)
    return DifferenceMap(shape, row_start, column_start, drawn, math.sqrt(squares / finite) if finite else 0.0,
                         tuple(int(axis) for axis in index), pair[0], pair[1])


def _starts(length: int, most: int) -> list[int]:
    """Where the cells begin, and behind them the end."""
    cells = min(length, most)
    return [length * cell // cells for cell in range(cells + 1)]


def _numbers(elements: NDArray[np.generic], stored: StoredTensor) -> NDArray[np.float64] | NDArray[np.complex128]:
    values = decode(elements, stored.format)
    return values if values.dtype.kind == "c" else values.astype(np.float64)


def _apart(target: NDArray[np.generic], golden: NDArray[np.generic]) -> NDArray[np.float64]:
    """|target - golden|; equal non-finite values are 0 apart, a non-finite one against anything else inf."""
    with np.errstate(invalid="ignore", over="ignore"):
        apart: NDArray[np.float64] = np.abs(np.asarray(target) - np.asarray(golden)).astype(np.float64)
    same = (target == golden) | (np.isnan(target) & np.isnan(golden))
    apart[np.isnan(apart)] = np.inf
    apart[same] = 0.0
    return apart
