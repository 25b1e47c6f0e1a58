"""Rows of a comparison measured from real tensor files: fused parts, swapped sides, several processes, missing files."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from converter.compare.columns import Comparison, Composition
from converter.compare.tensor_metrics import columns
from converter.compare.tensor_rows import measure_rows
from converter.dumps.columns import Leaves, Role
from converter.dumps.reader import read_dump

DATA = Path(__file__).parent / "data/megatron_vs_hf"
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
    assert found.unavailable == {0: (f"golden: its file {name} is missing", f"标杆侧：文件 {name} 不存在")}
    assert np.isnan(found.metrics["EucDist"][0])
    assert np.isfinite(found.metrics["EucDist"][1:]).all()


def test_without_tensor_directory_every_row_says_so(real: RealPair) -> None:
    found = measure_rows(real.comparison, "", real.golden.tensor_directory, np.full(4, 1e-5))
    assert {why for why, _ in found.unavailable.values()} == {"target: the dump has no directory dump_tensor_data"}
    assert len(found.unavailable) == 4
