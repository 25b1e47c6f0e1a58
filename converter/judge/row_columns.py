"""Columns of one side's leaves, looked up for the rows of a comparison, in which -1 stands for "nothing on this side"."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import Leaves


def of_rows(column: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """[rows] column[row]; what stands at missing rows (-1) has no meaning."""
    return column[rows] if len(column) else np.zeros(len(rows), column.dtype)


def translated(table: NDArray[Any], column: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """[rows] table[column[row]] for a column of numbers into a table; the table's last entry for missing rows and missing numbers (-1)."""
    return table[np.where(rows >= 0, of_rows(column, rows), -1)]


def on_either_side(comparison: Comparison, holds: Callable[[Leaves, NDArray[np.int64]], NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """[rows] `holds(leaves, rows)` is true of the target's row or of golden's."""
    return holds(comparison.target, comparison.target_row) | holds(comparison.golden, comparison.golden_row)
