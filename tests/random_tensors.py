"""Stored tensors for tests: of given elements, or of noise."""

from __future__ import annotations

import numpy as np

from converter.compare.number_formats import FORMATS
from converter.compare.stored_tensor import StoredTensor

RANDOM = np.random.default_rng(7)


def tensor(elements: np.ndarray) -> StoredTensor:
    return StoredTensor(np.array(elements, "<f4", order="C"), FORMATS["float32"])


def noise(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype("<f4")
