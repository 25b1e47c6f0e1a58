"""Metrics of tensor mode: the formulas, the edge cases by name, and what must hold for any two tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from converter.compare import tensor_chunks, tensor_metrics
from converter.compare.number_formats import FORMATS
from converter.compare.stored_tensor import StoredTensor
from converter.compare.tensor_metrics import columns, measure_pair, metric

OURS = ["Relative Norm Err", "Outside Tolerance", "Nonfinite Mismatches", "ULP Distance", "Worst Index", "Worst Target", "Worst Golden"]
PEERS = ["Cosine", "EucDist", "MaxAbsErr", "MaxRelativeErr", "One Thousandth Err Ratio", "Five Thousandths Err Ratio"]
NONFINITE = [math.nan, math.inf, -math.inf]


def tensor(values: Any, name: str = "float32") -> StoredTensor:
    number_format = FORMATS[name]
    if name == "bfloat16":
        return StoredTensor((np.asarray(values, "<f4").view("<u4") >> 16).astype("<u2"), number_format)
    return StoredTensor(np.asarray(values).astype(number_format.stored), number_format)


def measure(target: Any, golden: Any, name: str = "float32", other: str = "", tolerance: float = 1e-3) -> dict[str, float]:
    values = measure_pair(tensor(target, name), tensor(golden, other or name), tolerance)
    return dict(zip(columns(), values.tolist()))


def test_the_columns_are_the_peers_then_ours() -> None:
    assert columns() == PEERS + OURS


# ---- formulas ----


def test_distances_of_a_small_example() -> None:
    found = measure([1.0, 2.0, 5.0], [1.0, 2.5, 4.0], "float64")
    assert found["EucDist"] == pytest.approx(math.sqrt(0.25 + 1.0))
    assert found["MaxAbsErr"] == 1.0
    assert found["MaxRelativeErr"] == 0.25
    assert found["Relative Norm Err"] == pytest.approx(math.sqrt(1.25) / math.sqrt(1 + 6.25 + 16))
    assert found["Cosine"] == pytest.approx((1 + 5 + 20) / math.sqrt(30 * 23.25))
    assert (found["Worst Index"], found["Worst Target"], found["Worst Golden"]) == (2, 5.0, 4.0)


def test_shares_of_elements_below_one_and_five_thousandths() -> None:
    found = measure([1.0, 1.0009, 1.002, 1.0049, 1.006], [1.0] * 5, "float64")
    assert found["One Thousandth Err Ratio"] == 2 / 5
    assert found["Five Thousandths Err Ratio"] == 4 / 5


@pytest.mark.parametrize(("name", "epsilon"), [("float64", 2.0**-52), ("float32", 2.0**-23), ("bfloat16", 2.0**-23), ("float16", 2.0**-10)])
def test_a_golden_zero_counts_as_the_machine_epsilon_in_relative_errors(name: str, epsilon: float) -> None:
    assert measure([0.5, 1.0], [0.0, 1.0], name)["MaxRelativeErr"] == 0.5 / epsilon
    assert measure([0.0, 2.0], [0.0, 1.0], name)["MaxRelativeErr"] == 1.0  # zero against zero is no error


def test_outside_tolerance_is_measured_against_the_element_or_the_root_mean_square() -> None:
    golden = np.array([0.0, 3.0, 4.0, 0.0])  # root mean square 2.5
    target = golden + np.array([0.0024, 0.0029, 0.0041, 0.0026])
    assert measure(target, golden, "float64")["Outside Tolerance"] == 2 / 4  # the third and the fourth


def test_without_a_tolerance_nothing_is_outside_or_inside() -> None:
    assert math.isnan(measure([1.0], [2.0], tolerance=math.nan)["Outside Tolerance"])


@pytest.mark.parametrize(("name", "spacing"), [("float64", 2.0**-52), ("float32", 2.0**-23), ("float16", 2.0**-10), ("bfloat16", 2.0**-7)])
def test_one_step_of_the_format_is_one_ulp(name: str, spacing: float) -> None:
    assert measure([1.0 + spacing], [1.0], name)["ULP Distance"] == 1.0
    assert measure([1024 * (1.0 + spacing)], [1024.0], name)["ULP Distance"] == 1.0


def test_ulps_are_those_of_the_less_precise_format() -> None:
    assert measure([1.0 + 2.0**-7], [1.0], "bfloat16", "float32")["ULP Distance"] == 1.0
    found = measure_pair(tensor([1.0 + 2.0**-7]), tensor([1.0]), 1e-3, FORMATS["bfloat16"])  # saved as float32, computed in bfloat16
    assert dict(zip(columns(), found))["ULP Distance"] == 1.0


@pytest.mark.parametrize(("name", "tiny"), [("float32", 2.0**-149), ("float64", 2.0**-1074), ("float16", 2.0**-24)])
def test_subnormal_numbers_have_the_spacing_of_the_smallest_normal_one(name: str, tiny: float) -> None:
    assert measure([tiny], [0.0], name)["ULP Distance"] == 1.0
    assert measure([3 * tiny], [tiny], name)["ULP Distance"] == 2.0


def test_every_eight_bit_float_is_one_ulp_from_its_neighbour() -> None:
    for name in ("float8_e4m3fn", "float8_e5m2"):
        numbers = StoredTensor(np.arange(1, 120, dtype="|u1"), FORMATS[name])
        values = numbers.numbers()
        for low, high in zip(range(118), range(1, 119)):
            if np.isfinite(values[high]):
                pair = [StoredTensor(numbers.elements[at : at + 1], FORMATS[name]) for at in (low, high)]
                distance = dict(zip(columns(), measure_pair(*pair, 1e-3)))["ULP Distance"]
                # Counted at the larger one: half a step where the exponent changes.
                assert distance in (1.0, 0.5)


# ---- edge cases ----


def test_identical_tensors() -> None:
    found = measure([1.0, -2.0, 0.0], [1.0, -2.0, 0.0])
    assert [found[name] for name in PEERS] == [1.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    assert [found[name] for name in OURS[:4]] == [0.0] * 4
    assert all(math.isnan(found[name]) for name in OURS[4:])  # nothing is worst where nothing differs


def test_equal_values_with_other_bits_measure_like_identical_ones() -> None:
    same = list(measure([2.0, 1.0], [2.0, 1.0]).values())
    np.testing.assert_allclose(list(measure([2.0, 1.0], [2.0, 1.0], "float32", "float64").values()), same)
    np.testing.assert_allclose(list(measure([0.0, 1.0], [-0.0, 1.0]).values()), same)


def test_empty_tensors_have_no_error() -> None:
    found = measure(np.zeros((0, 3)), np.zeros((0, 3)))
    assert (found["Relative Norm Err"], found["MaxAbsErr"], found["Outside Tolerance"]) == (0.0, 0.0, 0.0)


def test_a_scalar_and_a_single_element_are_measured_like_any_tensor() -> None:
    for one, other in ((3.0, 2.0), ([3.0], [2.0])):
        found = measure(one, other)
        assert (found["EucDist"], found["MaxRelativeErr"], found["Cosine"], found["Worst Index"]) == (1.0, 0.5, 1.0, 0.0)


def test_golden_all_zero_against_something_is_an_infinite_error() -> None:
    found = measure([0.0, 1.0], [0.0, 0.0])
    assert found["Relative Norm Err"] == math.inf
    assert math.isnan(found["Cosine"])
    assert found["Outside Tolerance"] == 0.5


def test_something_against_a_target_of_zeros_is_an_error_of_one() -> None:
    found = measure([0.0, 0.0], [0.0, 1.0])
    assert found["Relative Norm Err"] == 1.0
    assert math.isnan(found["Cosine"])


def test_booleans_count_as_zero_and_one() -> None:
    found = measure([True] * 8, [True] * 7 + [False], "bool")
    assert found["One Thousandth Err Ratio"] == 7 / 8  # as the peer has it
    assert (found["MaxAbsErr"], found["ULP Distance"], found["Worst Index"]) == (1.0, 1.0, 7.0)


def test_integers_are_exact_beyond_2_to_53() -> None:
    found = measure([2**62 + 1, 5], [2**62, 5], "int64")
    assert (found["MaxAbsErr"], found["ULP Distance"], found["Worst Index"]) == (1.0, 1.0, 0.0)
    assert measure([2**63 - 1], [-(2**63)], "int64")["MaxAbsErr"] == 2.0**64
    assert measure([2**64 - 1], [2**64 - 2], "uint64")["MaxAbsErr"] == 1.0


def test_signed_against_unsigned_integers() -> None:
    target = StoredTensor(np.array([-1, 2**62 + 1], "<i8"), FORMATS["int64"])
    golden = StoredTensor(np.array([2**64 - 1, 2**62], "<u8"), FORMATS["uint64"])
    at = columns().index("MaxAbsErr")
    assert measure_pair(target, golden, 1e-3)[at] == 2.0**64
    assert measure_pair(target.rearranged(target.elements[1:]), golden.rearranged(golden.elements[1:]), 1e-3)[at] == 1.0


def test_complex_numbers_differ_in_either_part() -> None:
    found = measure([1 + 1j, 2], [1 - 1j, 2], "complex64")
    assert found["MaxAbsErr"] == 2.0
    assert found["Cosine"] == pytest.approx(4 / 6)
    assert (found["Worst Target"], found["Worst Golden"]) == (pytest.approx(math.sqrt(2)),) * 2  # magnitudes


def test_opposite_tensors_point_the_other_way() -> None:
    found = measure([1.0, -3.0], [-1.0, 3.0])
    assert found["Cosine"] == pytest.approx(-1.0)
    assert found["Relative Norm Err"] == 2.0


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_squares_of_extreme_numbers_neither_overflow_nor_vanish(scale: float) -> None:
    golden = np.array([3.0, 4.0]) * scale
    found = measure(golden * np.array([1.0, 1.01]), golden, "float64")
    assert found["Cosine"] == pytest.approx(0.99998, abs=1e-4)
    assert found["Relative Norm Err"] == pytest.approx(0.008)
    assert found["Outside Tolerance"] == 0.5


# ---- non-finite values ----


@pytest.mark.parametrize("value", NONFINITE)
def test_the_same_non_finite_values_in_the_same_places_agree(value: float) -> None:
    found = measure([value, 1.0, 2.0], [value, 1.0, 2.5])
    assert (found["Nonfinite Mismatches"], found["MaxAbsErr"], found["Worst Index"]) == (0.0, 0.5, 2.0)


@pytest.mark.parametrize(("target", "golden"), [(a, b) for a in [*NONFINITE, 1.0] for b in [*NONFINITE, 1.0] if str(a) != str(b)])
def test_any_other_non_finite_difference_is_infinite_and_named_first(target: float, golden: float) -> None:
    for name in ("float64", "float32", "float16", "bfloat16"):
        found = measure([9.0, target, 1.0], [1.0, golden, 1.0], name)
        assert found["Nonfinite Mismatches"] == 1
        for column in ("EucDist", "MaxAbsErr", "MaxRelativeErr", "Relative Norm Err", "ULP Distance"):
            assert found[column] == math.inf
        assert math.isnan(found["Cosine"])
        assert found["Worst Index"] == 1
        np.testing.assert_array_equal([found["Worst Target"], found["Worst Golden"]], [target, golden])


def test_non_finite_parts_of_complex_numbers_count_separately() -> None:
    assert measure([complex(math.inf, 1)], [complex(1, math.inf)], "complex64")["Nonfinite Mismatches"] == 1
    assert measure([complex(math.nan, 1), 1], [complex(math.nan, 1), 2], "complex64")["Nonfinite Mismatches"] == 0


# ---- for any two tensors ----

sizes = st.integers(1, 12)
finite_floats = st.one_of(st.just(0.0), st.floats(1e-30, 1e30), st.floats(-1e30, -1e-30))


def arrays(elements: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    return sizes.flatmap(lambda size: st.tuples(*(hnp.arrays(np.float64, size, elements=elements),) * 2))


@settings(max_examples=80, deadline=None)
@given(arrays(finite_floats))
def test_measures_of_distance_are_symmetric(pair: tuple[np.ndarray, np.ndarray]) -> None:
    one, other = measure(*pair, "float64"), measure(*pair[::-1], "float64")
    for name in ("EucDist", "MaxAbsErr", "Nonfinite Mismatches", "ULP Distance", "Worst Index"):
        np.testing.assert_array_equal(one[name], other[name])
    np.testing.assert_allclose(one["Cosine"], other["Cosine"], atol=1e-12)


@settings(max_examples=80, deadline=None)
@given(arrays(finite_floats), st.integers(-800, 800))
def test_relative_measures_do_not_depend_on_the_scale(pair: tuple[np.ndarray, np.ndarray], power: int) -> None:
    one = measure(*pair, "float64")
    with np.errstate(all="ignore"):
        scaled = [np.ldexp(side, power) for side in pair]
    if any(np.any((side == 0) != (was == 0)) or not np.isfinite(side).all() or np.any((side != 0) & (np.abs(side) < 1e-290))
           for side, was in zip(scaled, pair)):
        return  # the scaled numbers are no longer the same ones
    other = measure(*scaled, "float64")
    for name in ("Cosine", "Relative Norm Err", "Outside Tolerance", "ULP Distance", "Worst Index"):
        np.testing.assert_allclose(other[name], one[name], rtol=1e-9, atol=1e-12)


@settings(max_examples=80, deadline=None)
@given(arrays(st.one_of(st.floats(-100, 100), st.sampled_from(NONFINITE))))
def test_a_non_finite_difference_never_looks_like_agreement(pair: tuple[np.ndarray, np.ndarray]) -> None:
    target, golden = pair
    same = np.array([str(a) == str(b) or (np.isfinite(a) and np.isfinite(b)) for a, b in zip(target, golden)])
    found = measure(target, golden, "float64")
    assert found["Nonfinite Mismatches"] == np.count_nonzero(~same)
    if not same.all():
        assert found["Relative Norm Err"] == found["MaxAbsErr"] == math.inf
        assert found["Worst Index"] == np.flatnonzero(~same)[0]


@settings(max_examples=60, deadline=None)
@given(*[st.sampled_from(sorted(FORMATS))] * 2, *[st.binary(max_size=320)] * 2)
def test_any_bits_in_any_two_formats_are_measured_without_a_crash(one: str, other: str, left: bytes, right: bytes) -> None:
    count = min(len(left) // FORMATS[one].width, len(right) // FORMATS[other].width)
    sides = [StoredTensor(np.frombuffer(data[: count * FORMATS[name].width], FORMATS[name].stored.replace("b1", "u1")), FORMATS[name])
             for name, data in ((one, left), (other, right))]
    values = measure_pair(*sides, 1e-3)
    assert values.shape == (len(columns()),)
    assert not values[columns().index("Relative Norm Err")] < 0
    assert not np.isnan(values[columns().index("Relative Norm Err")])


@settings(max_examples=40, deadline=None)
@given(arrays(st.one_of(finite_floats, st.sampled_from(NONFINITE))), st.integers(1, 9))
def test_the_result_does_not_depend_on_how_the_stream_is_cut(pair: tuple[np.ndarray, np.ndarray], chunk: int) -> None:
    whole = measure(*pair, "float64")
    original = tensor_chunks.CHUNK
    try:
        tensor_chunks.CHUNK = chunk
        cut = measure(*pair, "float64")
    finally:
        tensor_chunks.CHUNK = original
    for name in columns():
        np.testing.assert_allclose(cut[name], whole[name], rtol=1e-9, atol=1e-12)


# ---- extension ----


def test_a_new_metric_is_one_registered_function() -> None:
    registered = list(tensor_metrics.METRICS)
    try:
        @metric("Sign Changes", merge=(lambda a, b: a + b,), identical=(0.0,))
        def sign_changes(chunk: tensor_chunks.Chunk) -> tuple[int]:
            return (int(np.count_nonzero(np.sign(chunk.target) != np.sign(chunk.golden))),)

        assert measure([1.0, -1.0, 2.0], [1.0, 1.0, 2.5])["Sign Changes"] == 1
    finally:
        tensor_metrics.METRICS[:] = registered


def test_memory_is_bounded_by_the_chunk() -> None:
    import tracemalloc

    size = 2 << 20
    target, golden = tensor(np.ones(size)), tensor(np.full(size, 1.001))
    tracemalloc.start()
    measure_pair(target, golden, 1e-3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 << 20  # of 16 MB of elements
