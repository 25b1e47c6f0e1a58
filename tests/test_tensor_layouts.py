"""Layouts: found by shape, decided by values, reported; fused parts; and rows measured from real files."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from converter.compare.columns import Comparison, Composition
from converter.compare.fused_layouts import arrange_parts
from converter.compare.number_formats import FORMATS
from converter.compare.regrouping import regroup, regrouped_as
from converter.compare.stored_tensor import StoredTensor, TensorUnavailable
from converter.compare.tensor_layouts import arrange, rearrangements
from converter.compare.tensor_metrics import columns
from converter.compare.tensor_operands import part_names
from converter.compare.tensor_rows import measure_rows
from converter.dumps.columns import Leaves, Role
from converter.dumps.reader import read_dump
from converter.match.pairing import Layout

DATA = Path(__file__).parent / "data/megatron_vs_hf"
RANDOM = np.random.default_rng(7)


def tensor(elements: np.ndarray) -> StoredTensor:
    return StoredTensor(np.array(elements, "<f4", order="C"), FORMATS["float32"])


def noise(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype("<f4")


def arranged(target: np.ndarray, golden: np.ndarray, tolerance: float = 1e-5, same_code: bool = False) -> tuple[np.ndarray, str]:
    found, layout = arrange(tensor(target), tensor(golden), tolerance, same_code)
    return found.elements, layout


# ---- fused on both sides, in another order ----


def stacked_and_grouped(heads: int, queries: int, size: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """One QKV weight [(queries + 2) * heads * size, width]: q | k | v, and group by group."""
    parts = [noise(heads, each * size, width) for each in (queries, 1, 1)]
    return np.concatenate([part.reshape(-1, width) for part in parts]), np.concatenate(parts, axis=1).reshape(-1, width)


@pytest.mark.parametrize("queries", [1, 4])
def test_stacked_query_key_value_against_group_by_group(queries: int) -> None:
    stacked, grouped = stacked_and_grouped(4, queries, 16, 48)
    for target, golden in ((stacked, grouped), (grouped, stacked), (grouped, np.ascontiguousarray(stacked.T))):
        found = regroup(tensor(target), tensor(golden), 1e-5)
        assert found is not None
        np.testing.assert_array_equal(found[0].elements, target)
        again = regrouped_as(found[1], tensor(target), tensor(golden))
        assert again is not None
        np.testing.assert_array_equal(again.elements, target)
    assert found[1].endswith(f"axis 0 per group: 4 groups of {16 * queries}+16+16")


def test_exchanged_or_flipped_parts_are_no_other_order() -> None:
    stacked, grouped = stacked_and_grouped(4, 1, 16, 48)
    query, key, value = np.split(stacked, 3)
    assert regroup(tensor(np.concatenate([query, value, key])), tensor(grouped), 1e-5) is None
    assert regroup(tensor(stacked[::-1]), tensor(grouped), 1e-5) is None
    assert regroup(tensor(stacked * 1.01), tensor(grouped), 1e-5) is None


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


# ---- rows of a comparison, from real files ----

FUSED = "Module.0.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0"
PROJECTION = FUSED.replace("linear_qkv.ColumnParallelLinear", "linear_proj.RowParallelLinear")
PARTS = [f"Module.model.layers.2.self_attn.{part}_proj.Linear.forward.0" for part in "qkv"]


class RealPair:
    """linear_qkv (its bias × 1.5) against q_proj, k_proj, v_proj: weight, bias, output; linear_proj against o_proj: weight."""

    def __init__(self, target: Path, golden: Path) -> None:
        self.target, self.golden = read_dump(str(target / "step0/rank0")), read_dump(str(golden / "step0/rank0"))
        rows, compositions = [], []
        leaves, own = self.golden.leaves, self.golden.leaves.rows
        for role, name in ((Role.PARAMETER, "weight"), (Role.PARAMETER, "bias"), (Role.OUTPUT, "0")):
            parts = tuple(row(self.golden, part, role, name) for part in PARTS)
            compositions.append(Composition(own + len(compositions), parts, "concat"))
            rows.append((row(self.target, FUSED, role, name), compositions[-1].row))
        rows.append((row(self.target, PROJECTION, Role.PARAMETER, "weight"),
                     row(self.golden, PARTS[0].replace("q_proj", "o_proj"), Role.PARAMETER, "weight")))
        target_row, golden_row = (np.array(side) for side in zip(*rows))
        longer = extended(leaves, [composition.parts[0] for composition in compositions])
        self.comparison = Comparison(np.array([3, 4]), target_row, golden_row, self.target.leaves, longer, [], compositions,
                                     np.full((4, 4), np.nan))

    def measure(self, **options: object) -> Comparison:
        return measure_rows(self.comparison, self.target.tensor_directory, self.golden.tensor_directory, np.full(4, 1e-5), **options)  # type: ignore[arg-type]


def row(dump, node: str, role: Role, name: str) -> int:  # type: ignore[no-untyped-def]
    number = dump.names.index(node)
    start = int(dump.row_end[number - 1]) if number else 0
    return next(at for at in range(start, int(dump.row_end[number]))
                if dump.leaves.role[at] == role and dump.leaves.strings[dump.leaves.name[at]] == name)


def extended(leaves: Leaves, like: list[int]) -> Leaves:
    from dataclasses import fields, replace

    longer = {item.name: np.concatenate([column, column[like]]) for item in fields(leaves)
              if isinstance(column := getattr(leaves, item.name), np.ndarray)}
    return replace(leaves, **longer)


@pytest.fixture(scope="module")
def real() -> RealPair:
    return RealPair(DATA / "megatron_tensor_bug_qkv_bias_layer2", DATA / "hf_tensor_layer2")


def test_of_the_fused_projection_only_the_bias_differs(real: RealPair) -> None:
    found = real.measure()
    assert found.mode == "tensor"
    error = found.metrics["Relative Norm Err"]
    assert error[0] == 0.0 and error[3] == 0.0  # weights
    assert error[1] == pytest.approx(0.5)
    assert error[2] == pytest.approx(0.0578, rel=0.01)  # the output, downstream of it
    assert found.layouts == {0: "golden per_group(2): q_proj, k_proj, v_proj", 1: "golden per_group(2): q_proj, k_proj, v_proj",
                             2: "golden per_group(2): q_proj, k_proj, v_proj → permute(1,0,2)"}
    assert found.unavailable == {}


def test_the_sides_may_be_swapped(real: RealPair) -> None:
    own = real.comparison
    swapped = Comparison(own.row_end, own.golden_row, own.target_row, own.golden, own.target, own.golden_compositions, [], own.errors)
    found = measure_rows(swapped, real.golden.tensor_directory, real.target.tensor_directory, np.full(4, 1e-5))
    np.testing.assert_allclose(found.metrics["EucDist"], real.measure().metrics["EucDist"], rtol=1e-9)
    assert found.layouts[1] == "target per_group(2): q_proj, k_proj, v_proj"


def test_several_processes_measure_the_same(real: RealPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("converter.compare.tensor_rows._BATCH", 1)
    found, alone = real.measure(jobs=2), real.measure()
    for name in columns():
        np.testing.assert_array_equal(found.metrics[name], alone.metrics[name])
    assert found.layouts == alone.layouts


def test_progress_is_told(real: RealPair) -> None:
    told: list[tuple[int, int]] = []
    real.measure(progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4)


def test_a_moved_dump_is_found_where_it_lies_now_and_a_missing_file_takes_nothing_else_down(tmp_path: Path) -> None:
    shutil.copytree(DATA / "hf_tensor_layer2", tmp_path / "moved")
    name = PARTS[1] + ".parameters.weight.pt"
    (tmp_path / "moved/step0/rank0/dump_tensor_data" / name).unlink()
    found = RealPair(DATA / "megatron_tensor_bug_qkv_bias_layer2", tmp_path / "moved").measure()
    assert found.unavailable == {0: (f"golden: its file {name} is missing", f"标杆：文件 {name} 不存在")}
    assert np.isnan(found.metrics["EucDist"][0])
    assert np.isfinite(found.metrics["EucDist"][1:]).all()


def test_without_tensor_directory_every_row_says_so(real: RealPair) -> None:
    found = measure_rows(real.comparison, "", real.golden.tensor_directory, np.full(4, 1e-5))
    assert {why for why, _ in found.unavailable.values()} == {"target: the dump has no directory dump_tensor_data"}
    assert len(found.unavailable) == 4
