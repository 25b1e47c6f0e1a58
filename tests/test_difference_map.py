"""Where two tensors differ: the map is right for any shape, and needs no copy of the tensors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.compare.difference_map import MOST_CELLS, difference_map
from converter.compare.number_formats import FORMATS
from converter.compare.stored_tensor import StoredTensor, TensorUnavailable


def stored(values: object, name: str = "float64") -> StoredTensor:
    return StoredTensor(np.asarray(values, FORMATS[name].stored), FORMATS[name])


@given(st.lists(st.integers(1, 40), min_size=0, max_size=4), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_each_cell_holds_the_largest_difference_of_its_elements(shape: list[int], most: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = shape if np.prod(shape) <= 20_000 else shape[:2]
    golden = random.normal(size=shape)
    target = golden + random.normal(size=shape) * (random.random(shape) < 0.1)
    found = difference_map(stored(target), stored(golden), most)
    apart = np.abs(target - golden).reshape(-1, shape[-1] if shape else 1)
    for i, (first, last) in enumerate(zip(found.row_start, found.row_start[1:])):
        for j, (left, right) in enumerate(zip(found.column_start, found.column_start[1:])):
            assert found.largest[i, j] == np.float32(apart[first:last, left:right].max())
    assert found.row_start[-1] == apart.shape[0] and found.column_start[-1] == apart.shape[1]
    assert np.abs(target - golden)[found.worst] == apart.max()
    assert found.scale == pytest.approx(np.sqrt(np.mean(golden**2)))


def test_a_large_tensor_becomes_a_small_map() -> None:
    golden = np.zeros((3, 1000, 700))
    target = golden.copy()
    target[1, 500, 350] = 2.0
    found = difference_map(stored(target), stored(golden))
    assert found.largest.shape == (MOST_CELLS, MOST_CELLS)
    assert np.count_nonzero(found.largest) == 1
    assert found.worst == (1, 500, 350) and found.worst_target == 2.0


def test_what_is_not_finite_on_one_side_is_infinitely_apart_and_equal_ones_are_not() -> None:
    found = difference_map(stored([[np.nan, np.inf, -np.inf, 1.0]]), stored([[np.nan, np.inf, np.inf, np.nan]]))
    assert found.largest.tolist() == [[0.0, 0.0, np.inf, np.inf]]
    assert np.isfinite(found.scale)


def test_elements_of_every_format_are_read() -> None:
    one = np.array([0x3F80, 0x4000], "<u2")  # 1.0 and 2.0 in bfloat16
    two = np.array([0x3F80, 0x4040], "<u2")
    found = difference_map(StoredTensor(one, FORMATS["bfloat16"]), StoredTensor(two, FORMATS["bfloat16"]))
    assert found.largest.tolist() == [[0.0, 1.0]]
    assert difference_map(stored([True, False], "bool"), stored([True, True], "bool")).largest.tolist() == [[0.0, 1.0]]
    assert difference_map(stored([3 + 4j], "complex128"), stored([0j], "complex128")).largest.tolist() == [[5.0]]


def test_shapes_that_differ_and_empty_tensors_have_no_map() -> None:
    with pytest.raises(TensorUnavailable, match="shapes differ"):
        difference_map(stored([1.0, 2.0]), stored([[1.0, 2.0]]))
    with pytest.raises(TensorUnavailable, match="empty"):
        difference_map(stored(np.zeros((0, 3))), stored(np.zeros((0, 3))))
