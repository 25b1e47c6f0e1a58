"""Where two tensors differ, token by channel: every grid against a plain numpy computation, and what is no number."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from converter.compare.heatmap import GOLDEN_NONFINITE, MISMATCH, TARGET_NONFINITE, Heatmap, heatmap
from converter.compare.number_formats import FORMATS
from converter.compare.stored_tensor import StoredTensor

RANDOM = np.random.default_rng(11)
STORED = {"<f4": "float32", "<f8": "float64", "<i8": "int64", "<c8": "complex64", "|b1": "bool"}


def tensor(elements: np.ndarray) -> StoredTensor:
    return StoredTensor(elements, FORMATS[STORED[elements.dtype.str]])


def of(target: np.ndarray, golden: np.ndarray, **options: int) -> Heatmap:
    return heatmap(tensor(target), tensor(golden), **options)


def noise(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype("<f4")


def cells(extent: int, most: int) -> list[slice]:
    """The ranges that the documentation promises."""
    count = min(extent, most)
    return [slice(extent * cell // count, extent * (cell + 1) // count) for cell in range(count)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 9), max_size=4), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_every_cell_is_what_numpy_says_of_its_elements(shape: list[int], most: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    golden = np.asarray(random.standard_normal(shape), "<f4")
    target = np.asarray(golden + random.standard_normal(shape) * (random.random(shape) < 0.5), "<f4")
    found = of(target, golden, most_cells=most)
    channels = shape[-1] if shape else 1
    a, b = (side.reshape(-1, channels).astype(np.float64) for side in (target, golden))
    apart = np.abs(a - b)
    for i, rows in enumerate(cells(a.shape[0], most)):
        for j, columns in enumerate(cells(channels, most)):
            assert found.largest[i, j] == np.float32(apart[rows, columns].max())
            assert found.mean[i, j] == pytest.approx((a - b)[rows, columns].mean(), abs=1e-6)
            token, channel = divmod(int(found.worst[i, j]), channels)
            assert rows.start <= token < rows.stop and columns.start <= channel < columns.stop
            assert apart[token, channel] == apart[rows, columns].max()
            assert (found.target[i, j], found.golden[i, j]) == (np.float32(a[token, channel]), np.float32(b[token, channel]))
    assert found.worst_element == (tuple(np.unravel_index(apart.argmax(), shape)) if shape else ())
    assert (found.worst_difference, found.differing) == (apart.max(), np.count_nonzero(apart))
    assert found.scale == pytest.approx(math.sqrt((b**2).mean()))


@pytest.mark.parametrize(("shape", "tokens", "channels"), [
    ((), 1, 1), ((7,), 1, 7), ((3, 7), 3, 7), ((2, 3, 7), 6, 7), ((2, 3, 5, 7), 30, 7), ((4, 1), 4, 1)])
def test_the_last_axis_is_the_channels_and_all_others_are_tokens(shape: tuple[int, ...], tokens: int, channels: int) -> None:
    found = of(np.zeros(shape, "<f4"), np.zeros(shape, "<f4"))
    assert (found.tokens, found.channels, found.largest.shape) == (tokens, channels, (tokens, channels))


def test_one_wrong_element_of_a_large_tensor_shows_in_its_cell() -> None:
    golden = noise(700, 1100)
    target = golden.copy()
    target[612, 1003] += 8
    found = of(target, golden)
    assert found.largest.shape == (256, 256)
    assert np.count_nonzero(found.largest) == 1
    assert found.worst_element == (612, 1003)
    row, column = divmod(found.worst_cell, 256)
    assert row * 700 // 256 <= 612 < (row + 1) * 700 // 256 and column * 1100 // 256 <= 1003 < (column + 1) * 1100 // 256
    assert (found.worst_target, found.worst_golden) == (float(target[612, 1003]), float(golden[612, 1003]))


def test_of_equally_wrong_elements_the_first_is_named() -> None:
    golden = np.zeros((4, 6), "<f4")
    target = golden.copy()
    target[1, 5] = target[2, 0] = 3
    assert of(target, golden, most_cells=2).worst_element == (1, 5)


def test_the_mean_keeps_the_sign_and_shows_a_shift() -> None:
    found = of(np.full((8, 8), -0.25, "<f4"), np.zeros((8, 8), "<f4"), most_cells=2)
    np.testing.assert_array_equal(found.mean, np.full((2, 2), -0.25))
    np.testing.assert_array_equal(found.largest, np.full((2, 2), 0.25))


def test_elements_that_are_no_numbers_are_marked_by_side() -> None:
    golden, target = np.ones((1, 5), "<f4"), np.ones((1, 5), "<f4")
    target[0, 0] = np.nan
    golden[0, 1] = np.inf
    target[0, 2] = golden[0, 2] = np.nan  # the same on both sides: no difference
    target[0, 3], golden[0, 3] = np.inf, -np.inf
    found = of(target, golden)
    both = TARGET_NONFINITE | GOLDEN_NONFINITE
    assert found.marks.tolist() == [[TARGET_NONFINITE | MISMATCH, GOLDEN_NONFINITE | MISMATCH, both, both | MISMATCH, 0]]
    assert found.largest.tolist() == [[math.inf, math.inf, 0, math.inf, 0]]
    assert np.isnan(found.mean[0, :4]).all() and found.mean[0, 4] == 0
    assert found.worst_element == (0, 0) and math.isnan(found.worst_target)
    assert found.scale == pytest.approx(math.sqrt(2 / 5))  # the ones at both ends; the others count as zero


def test_marks_of_a_cell_are_those_of_any_of_its_elements() -> None:
    golden = np.ones((4, 4), "<f4")
    target = golden.copy()
    target[1, 1] = np.nan
    found = of(target, golden, most_cells=2)
    assert found.marks.tolist() == [[TARGET_NONFINITE | MISMATCH, 0], [0, 0]]
    assert found.mean[0, 0] == 0  # of the three that are numbers


def test_integers_beyond_float64_still_differ() -> None:
    golden = np.array([[2**60, 5]])
    found = of(golden + np.array([[1, 0]]), golden)
    assert found.largest.tolist() == [[1, 0]]


def test_of_complex_numbers_the_distance_is_shown() -> None:
    found = of(np.array([3 + 4j, 1j], "<c8"), np.array([0, 1], "<c8"))
    assert found.largest[0].tolist() == [5, np.float32(math.sqrt(2))]
    assert found.target[0].tolist() == [5, 1]


def test_masks_are_compared_as_zeros_and_ones() -> None:
    found = of(np.array([True, False]), np.array([True, True]))
    assert (found.largest.tolist(), found.mean.tolist()) == ([[0, 1]], [[0, -1]])


def test_formats_that_numpy_does_not_have_are_read() -> None:
    one, other = (StoredTensor(np.array(bits, "<u2"), FORMATS["bfloat16"]) for bits in ([0x3F80, 0x4000], [0x3F80, 0x4040]))
    assert heatmap(one, other).largest.tolist() == [[0, 1]]  # 1, 2 against 1, 3


@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0)])
def test_an_empty_tensor_has_no_cells(shape: tuple[int, ...]) -> None:
    found = of(np.zeros(shape, "<f4"), np.zeros(shape, "<f4"))
    assert (found.largest.size, found.worst_cell, found.worst_element, found.scale) == (0, -1, (), 0)


def test_what_float32_cannot_hold_is_infinite_in_the_grid_and_exact_in_the_worst_element() -> None:
    found = of(np.array([1e300]), np.array([0.0]))
    assert (found.largest[0, 0], found.worst_difference, found.marks[0, 0]) == (math.inf, 1e300, 0)


def test_a_transposed_view_is_read_as_it_is_laid() -> None:
    golden = noise(6, 40)
    other = np.ascontiguousarray(golden.T) + np.float32(1)
    expected = np.abs(golden.T.astype(np.float64) - other)
    assert of(golden.T, other, most_cells=4).largest[0, 0] == np.float32(expected[:10, :1].max())


def test_memory_is_that_of_a_few_chunks() -> None:
    golden = noise(3000, 1000)
    target = golden + np.float32(1)
    tracemalloc.start()
    of(target, golden)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < golden.nbytes * 2


def test_different_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        of(noise(2), noise(3))
