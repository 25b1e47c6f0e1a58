"""One tensor read from a file, still encoded as it lay there, and the reason where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from converter.compare.number_formats import NumberFormat, decode


class TensorUnavailable(Exception):
    """This tensor cannot be measured; every other one still can. Both texts are shown to the user."""

    def __init__(self, why: str, why_zh: str) -> None:
        super().__init__(why)
        self.why = why
        self.why_zh = why_zh


@dataclass(frozen=True)
class StoredTensor:
    """`elements` has the tensor's shape and the numpy dtype `format.stored`; bfloat16 and 8-bit floats are bit patterns."""

    elements: NDArray[Any]
    format: NumberFormat

    @property
    def shape(self) -> tuple[int, ...]:
        return self.elements.shape

    @property
    def size(self) -> int:
        return int(self.elements.size)

    def rearranged(self, elements: NDArray[Any]) -> StoredTensor:
        """The same kind of elements in another arrangement."""
        return StoredTensor(elements, self.format)

    def numbers(self) -> NDArray[Any]:
        """All elements as float64, complex128, int64 or uint64."""
        return decode(np.asarray(self.elements), self.format)
