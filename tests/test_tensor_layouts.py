"""Layouts of one tensor against one and of fused parts: found by shape, decided by values, reported."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import noise, tensor

from converter.compare.fused_layouts import arrange_parts
from converter.compare.stored_tensor import TensorUnavailable
from converter.compare.tensor_layouts import arrange, rearrangements
from converter.compare.tensor_operands import part_names
from converter.match.pairing import Layout


def arranged(target: np.ndarray, golden: np.ndarray, tolerance: float = 1e-5, same_code: bool = False) -> tuple[np.ndarray, str]:
    found, layout = arrange(tensor(target), tensor(golden), tolerance, same_code)
    return found.elements, layout


# ---- one tensor against one ----


def test_equal_shapes_lie_as_they_lie() -> None:
    golden = noise(4, 6)
    found, layout = arranged(golden + 1, golden)
    np.testing.assert_array_equal(found, golden)
    assert layout == ""


def test_sequence_first_against_batch_first() -> None:
    golden = noise(2, 5, 8)
    found, layout = arranged(golden.transpose(1, 0, 2), golden)
    np.testing.assert_array_equal(found, golden.transpose(1, 0, 2))
    assert layout == "golden [2,5,8] → permute(1,0,2)"


def test_with_a_batch_of_one_the_permutation_is_still_named() -> None:
    golden = noise(1, 16, 64)
    assert arranged(golden.reshape(16, 1, 64), golden)[1] == "golden [1,16,64] → permute(1,0,2)"


def test_a_batch_as_large_as_the_sequence_is_decided_by_the_values() -> None:
    golden = noise(4, 4, 8)
    target = golden.transpose(1, 0, 2)
    found, layout = arranged(target, golden)
    np.testing.assert_array_equal(found, target)
    assert layout == "golden [4,4,8] → permute(1,0,2)"
    assert arranged(golden, golden)[1] == ""


def test_a_square_weight_is_transposed_only_where_its_values_say_so() -> None:
    weight = noise(16, 16)
    assert arranged(weight.T, weight)[1] == "golden [16,16] → permute(1,0)"
    assert arranged(weight + 0.1 * noise(16, 16), weight)[1] == ""


def test_between_equal_code_a_transposed_weight_is_the_fault_that_is_looked_for() -> None:
    weight = noise(16, 16)
    found, layout = arranged(weight.T, weight, same_code=True)
    np.testing.assert_array_equal(found, weight)
    assert layout == ""


def test_where_no_order_fits_equal_shapes_lie_as_they_lie() -> None:
    assert arranged(noise(8, 8, 8), noise(8, 8, 8))[1] == ""


def test_a_symmetric_tie_goes_to_the_order_as_it_lies() -> None:
    assert arranged(np.ones((4, 4)) * 2, np.ones((4, 4)))[1] == ""


def test_a_transposed_weight_of_another_shape() -> None:
    weight = noise(6, 4)
    found, layout = arranged(weight.T, weight)
    np.testing.assert_array_equal(found, weight.T)
    assert layout == "golden [6,4] → permute(1,0)"


def test_the_same_elements_under_another_shape() -> None:
    golden = noise(6, 4)
    found, layout = arranged(golden.reshape(3, 8), golden)
    np.testing.assert_array_equal(found, golden.reshape(3, 8))
    assert layout == "golden [6,4] → reshape[3,8]"


def test_axes_of_one_element_do_not_matter() -> None:
    golden = noise(16, 64)
    assert arranged(golden[None], golden)[1] == "golden [16,64] → reshape[1,16,64]"
    assert arranged(golden[:, None], golden[None])[1] == "golden [1,16,64] → permute(1,0,2)"


def test_heads_merged_on_one_side() -> None:
    heads = noise(2, 4, 5, 8)  # batch, heads, sequence, head dimension
    merged = heads.transpose(2, 0, 1, 3).reshape(5, 2, 32)  # sequence, batch, hidden
    found, layout = arranged(merged, heads)
    np.testing.assert_array_equal(found, merged)
    assert layout == "golden [2,4,5,8] → permute(2,0,1,3) → reshape[5,2,32]"


def test_heads_split_on_the_target_side() -> None:
    merged = noise(5, 2, 32)
    heads = merged.reshape(5, 2, 4, 8).transpose(1, 2, 0, 3)
    found, layout = arranged(heads, merged)
    np.testing.assert_array_equal(found, heads)
    assert layout == "golden [5,2,32] → reshape[5,2,4,8] → permute(1,2,0,3)"


def test_flattened_tokens() -> None:
    golden = noise(2, 5, 8)
    found, layout = arranged(golden.transpose(1, 0, 2).reshape(10, 8), golden)
    np.testing.assert_array_equal(found, golden.transpose(1, 0, 2).reshape(10, 8))
    assert layout == "golden [2,5,8] → permute(1,0,2) → reshape[10,8]"


def test_the_layout_is_found_under_a_difference_that_is_no_layout() -> None:
    golden = noise(4, 4, 8)
    target = golden.transpose(1, 0, 2) * 1.5
    assert arranged(target, golden)[1] == "golden [4,4,8] → permute(1,0,2)"


def test_non_finite_elements_take_part_in_the_decision() -> None:
    golden = np.full((4, 4), np.nan, "<f4")
    golden[1, 2] = 0.0
    assert arranged(golden.T, golden)[1] == "golden [4,4] → permute(1,0)"


def test_a_large_tensor_is_decided_by_a_sample() -> None:
    golden = noise(32, 32, 64)
    assert arranged(golden.transpose(1, 0, 2), golden)[1] == "golden [32,32,64] → permute(1,0,2)"


def test_deciding_takes_no_memory() -> None:
    import tracemalloc

    golden = tensor(noise(64, 64, 256))  # 4 MB
    target = tensor(golden.elements.transpose(1, 0, 2))
    tracemalloc.start()
    assert arrange(target, golden, 1e-5)[1] == "golden [64,64,256] → permute(1,0,2)"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_different_numbers_of_elements_are_no_layout() -> None:
    with pytest.raises(TensorUnavailable, match=r"shapes \[2,3\] and \[2,4\] hold different numbers of elements"):
        arranged(noise(2, 3), noise(2, 4))


def test_empty_and_scalar_tensors() -> None:
    assert arranged(np.zeros((0, 4)), np.zeros((4, 0)))[0].shape == (0, 4)
    found, layout = arranged(np.float32(3.0), np.ones((1, 1)))
    assert found.shape == ()
    assert layout == "golden [1,1] → reshape[]"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 3), max_size=5), st.randoms(use_true_random=False))
def test_every_arrangement_keeps_all_elements_and_knows_where_they_come_from(extents: list[int], random) -> None:  # type: ignore[no-untyped-def]
    source = tuple(extents)
    size = int(np.prod(source))
    shuffled = list(source)
    random.shuffle(shuffled)
    for result in (source, tuple(shuffled), (size,), (1, size, 1)):
        elements = np.arange(size).reshape(source)
        for item in rearrangements(source, result):
            found = item.apply(elements)
            assert found.shape == result
            assert sorted(found.reshape(-1).tolist()) == list(range(size))
            np.testing.assert_array_equal(item.source_index(np.arange(size)), found.reshape(-1))


def test_the_number_of_candidates_is_bounded() -> None:
    assert 1 < len(rearrangements((2,) * 6, (2,) * 6)) <= 64
    assert len(rearrangements((2,) * 10, (2,) * 10)) == 1


# ---- fused parts ----


def fused(whole: np.ndarray, parts: list[np.ndarray], relation: str = "concat", given: Layout | None = None) -> tuple[np.ndarray, str]:
    names = [f"p{number}" for number in range(len(parts))]
    found, layout = arrange_parts(tensor(whole), [tensor(part) for part in parts], relation, names, 1e-5, given)
    return found.elements, layout


def interleave(parts: list[np.ndarray], pieces: int, axis: int = 0) -> np.ndarray:
    return np.concatenate([piece for group in zip(*(np.split(part, pieces, axis) for part in parts)) for piece in group], axis)


def test_stacked_parts() -> None:
    parts = [noise(8, 6), noise(4, 6), noise(4, 6)]
    found, layout = fused(np.concatenate(parts), parts)
    np.testing.assert_array_equal(found, np.concatenate(parts))
    assert layout == "stacked: p0, p1, p2"


@pytest.mark.parametrize("groups", [2, 4])
def test_query_key_and_value_per_group(groups: int) -> None:
    parts = [noise(64, 6), noise(32, 6), noise(32, 6)]
    whole = interleave(parts, groups)
    found, layout = fused(whole, parts)
    np.testing.assert_array_equal(found, whole)
    assert layout == f"per_group({groups}): p0, p1, p2"


def test_gate_and_up_per_shard() -> None:
    parts = [noise(12, 6), noise(12, 6)]
    whole = interleave(parts, 2)
    found, layout = fused(whole, parts)
    np.testing.assert_array_equal(found, whole)
    assert layout == "per_shard(2): p0, p1"


def test_columns_interleaved_one_by_one() -> None:
    parts = [noise(12), noise(12)]
    assert fused(interleave(parts, 12), parts)[1] == "per_shard(12): p0, p1"


def test_fused_activations_in_another_layout() -> None:
    parts = [noise(2, 5, 64), noise(2, 5, 32), noise(2, 5, 32)]
    whole = interleave(parts, 2, axis=2).transpose(1, 0, 2)
    found, layout = fused(whole, parts)
    np.testing.assert_array_equal(found, whole)
    assert layout == "per_group(2): p0, p1, p2 → permute(1,0,2)"


def test_fused_transposed_weights() -> None:
    parts = [noise(6, 8), noise(6, 4)]  # stored (in, out)
    whole = np.concatenate(parts, axis=1).T
    found, layout = fused(whole, parts)
    np.testing.assert_array_equal(found, whole)
    assert layout == "stacked: p0, p1 → permute(1,0)"


def test_heads_of_a_fused_projection_as_an_axis_of_their_own() -> None:
    parts = [noise(5, 2, 32), noise(5, 2, 16), noise(5, 2, 16)]
    whole = interleave(parts, 2, axis=2).reshape(5, 2, 2, 32)
    found, layout = fused(whole, parts)
    np.testing.assert_array_equal(found, whole)
    assert layout == "per_group(2): p0, p1, p2 → reshape[5,2,2,32]"


def test_a_wrong_part_does_not_hide_the_layout_of_the_others() -> None:
    parts = [noise(64, 6), noise(32, 6), noise(32, 6)]
    whole = interleave([parts[0], parts[1] * 1.5, parts[2]], 2)
    assert fused(whole, parts)[1] == "per_group(2): p0, p1, p2"


def test_swapped_parts_are_an_error_not_a_layout() -> None:
    gate, up = noise(12, 6), noise(12, 6)
    found, _ = fused(np.concatenate([up, gate]), [gate, up])
    assert np.abs(found - np.concatenate([up, gate])).max() > 0.1


def test_what_the_mapping_file_states_is_not_searched_for() -> None:
    parts = [noise(64, 6), noise(32, 6), noise(32, 6)]
    whole = interleave(parts, 2)
    assert fused(whole, parts, given=Layout("per_group", heads=8, kv_heads=2))[1] == "per_group(2): p0, p1, p2"
    found, layout = fused(whole, parts, given=Layout("stacked"))
    assert layout == "stacked: p0, p1, p2"
    assert np.abs(found - whole).max() > 0.1
    with pytest.raises(TensorUnavailable, match="do not make up"):
        fused(whole, parts, given=Layout("per_group", kv_heads=3))


def test_stacked_experts() -> None:
    experts = [noise(6, 4) for _ in range(3)]
    found, layout = fused(np.stack(experts).transpose(0, 2, 1), experts, "stack")
    np.testing.assert_array_equal(found, np.stack(experts).transpose(0, 2, 1))
    assert layout == "stack: p0, p1, p2 → permute(0,2,1)"


def test_gradients_that_add_up() -> None:
    parts = [noise(2, 5, 8) for _ in range(3)]
    found, layout = fused(sum(parts).transpose(1, 0, 2), parts, "sum")  # type: ignore[union-attr]
    np.testing.assert_allclose(found, sum(parts).transpose(1, 0, 2), rtol=1e-4, atol=1e-5)  # type: ignore[union-attr]
    assert layout == "sum: p0, p1, p2 → permute(1,0,2)"


@pytest.mark.parametrize("relation", ["concat", "stack", "sum"])
def test_parts_that_do_not_make_up_the_whole(relation: str) -> None:
    with pytest.raises(TensorUnavailable):
        fused(noise(10, 6), [noise(4, 6), noise(4, 5)] if relation != "sum" else [noise(4, 6)] * 2, relation)


def test_empty_parts() -> None:
    assert fused(np.zeros((0, 6)), [np.zeros((0, 6)), np.zeros((0, 6))])[0].shape == (0, 6)


def test_parts_are_called_by_what_tells_them_apart() -> None:
    assert part_names(("a.q_proj.Linear.forward.0.pt", "a.k_proj.Linear.forward.0.pt")) == ["q_proj", "k_proj"]
    assert part_names(("a.0.b.0.pt", "a.1.b.1.pt", "a.1.b.0.pt")) == ["0.0", "1.1", "1.0"]
    assert part_names(("a.b.pt", "a.pt")) == ["1", "2"]
