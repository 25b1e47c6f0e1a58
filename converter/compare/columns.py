"""What the compare step returns: the tensors inside each pair, joined row by row and measured."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import Leaves


@dataclass(frozen=True)
class Composition:
    """A row made of several leaves: the parts of a fused layer, their statistics put together exactly.

    `row` is its number in the side's Leaves (composed rows stand behind the dump's own rows).
    """

    row: int
    parts: tuple[int, ...]  # rows of the dump's own leaves
    relation: str  # concat | sum | stack


@dataclass(frozen=True)
class Comparison:
    """All rows of all pairs, grouped by pair in pair order.

    `target` and `golden` are the sides' leaves with the composed rows appended. A missing side has row -1.
    """

    row_end: NDArray[np.int64]  # [pairs]
    target_row: NDArray[np.int64]  # [rows]
    golden_row: NDArray[np.int64]
    target: Leaves
    golden: Leaves
    target_compositions: list[Composition]
    golden_compositions: list[Composition]
    errors: NDArray[np.float64]  # [rows, 4]: scale-aware errors of Max, Min, Mean, Norm (docs/judging.md); NaN = not measured
    # rows joined although another tensor of the same node would fit as well: never judged (rows.py)
    ambiguous: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    metrics: dict[str, NDArray[np.float64]] = field(default_factory=dict)  # tensor mode: one column a metric
    layouts: dict[int, str] = field(default_factory=dict)  # row → layout that was resolved before measuring
    # Tensor mode: row → why its elements could not be measured, in English and in Chinese.
    unavailable: dict[int, tuple[str, str]] = field(default_factory=dict)
    mode: str = "statistics"  # statistics | tensor | checksum | structure
    warnings: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return len(self.target_row)

    def rows_of(self, pair: int) -> range:
        """The rows of one pair."""
        return range(int(self.row_end[pair - 1]) if pair else 0, int(self.row_end[pair]))

    def pair_of_row(self) -> NDArray[np.int64]:
        """[rows] the pair that each row belongs to."""
        return np.repeat(np.arange(len(self.row_end)), np.diff(self.row_end, prepend=0))
