"""The peer's verdicts under policy `msprobe`: the outcomes that were observed when the peer itself was run."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs_by_entry import forward, graph, scalar, tensor

from converter.compare.columns import Comparison
from converter.compare.rows import compare
from converter.dumps.reader import read_dump
from converter.judge import reasons
from converter.judge.judge import judge
from converter.judge.msprobe_rules import MESSAGES, MsprobeVerdicts, judge_like_msprobe, msprobe_verdicts
from converter.judge.policy import load_policy
from converter.judge.verdict import Status
from converter.match.automatic import match_trees
from converter.match.pairing import Pairing
from converter.tree.build import build_tree
from converter.tree.graph import Graph, graph_of

DATA = Path(__file__).parent / "data"
POLICY = load_policy("msprobe")
PASS, WARNING, ERROR = Status.PASS, Status.WARNING, Status.ERROR
LINEAR = "Torch.mul.0.forward"


class Case:
    """One node on both sides, compared."""

    def __init__(self, directory: Path, target: Any, golden: Any, name: str = LINEAR, mode: str = "statistics", metrics: Any = None,
                 golden_name: str = "") -> None:
        self.target, self.golden = graph(directory / "target", {name: target}), graph(directory / "golden", {golden_name or name: golden})
        self.pairing: Pairing = match_trees(self.target, self.golden)
        self.comparison: Comparison = compare(self.target, self.golden, self.pairing, mode)
        if metrics is not None:
            self.comparison = replace(self.comparison, metrics={key: np.array(values, float) for key, values in metrics.items()})
        assert POLICY.msprobe is not None
        self.found: MsprobeVerdicts = msprobe_verdicts(self.comparison, self.pairing, self.target, self.golden, POLICY.msprobe)
        number = int(self.pairing.pair_of_target[self.target.tree.names.index(name)])
        self.status = Status(int(self.found.status[number]))
        self.messages = [text for texts in self.found.messages.values() for text in texts]


def norms(directory: Path, inputs: tuple[float, float], outputs: tuple[float, float]) -> Case:
    """A call whose only input and output have these Norms (target, golden)."""
    return Case(directory, *(forward([tensor(norm=inputs[side])], [tensor(norm=outputs[side])]) for side in (0, 1)))


# ---- statistics mode ----


@pytest.mark.parametrize(("inputs", "outputs", "expected"), [
    ((1.0, 1.0), (1.5, 1.0), WARNING),  # exactly 50 %
    ((1.0, 1.0), (1.50001, 1.0), ERROR),
    ((1.02, 1.0), (1.21, 1.0), WARNING),
    ((1.02, 1.0), (1.2, 1.0), PASS),
    ((1.0, 1.0), (1.11, 1.0), WARNING),
    ((1.0, 1.0), (1.1, 1.0), WARNING),  # 10.000000000000009 %
    ((1.0, 1.0), (1.05, 1.0), PASS),
    ((1.1, 1.0), (1.6, 1.0), PASS),  # the input excuses the output
    ((1.0, 1.0), (5.0, 0.0), PASS),  # golden all zeros
    ((10.0, 1.0), (10.0, 1.0), PASS),  # both ten times off
])
def test_relative_norms(tmp_path: Path, inputs: tuple[float, float], outputs: tuple[float, float], expected: Status) -> None:
    assert norms(tmp_path, inputs, outputs).status == expected


@pytest.mark.parametrize(("target", "golden", "expected"), [
    (math.nan, 1.0, ERROR), (math.inf, 1.0, ERROR), (math.inf, math.inf, PASS), (1.0, math.inf, PASS), (math.inf, -math.inf, PASS),
    (math.inf, math.nan, PASS),
])
def test_non_finite_outputs(tmp_path: Path, target: float, golden: float, expected: Status) -> None:
    case = Case(tmp_path, forward([tensor()], [tensor(target, target, target, target)]),
                forward([tensor()], [tensor(golden, golden, golden, golden)]))
    assert case.status == expected


def test_a_nan_in_an_input_is_an_error_of_that_row(tmp_path: Path) -> None:
    case = Case(tmp_path, forward([tensor(math.nan, math.nan, math.nan, math.nan)], [tensor()]), forward([tensor()], [tensor()]))
    assert case.found.row_status.tolist() == [ERROR, PASS]
    assert case.messages == [MESSAGES["nonfinite"]]


def test_a_wrong_maximum_under_an_equal_norm_passes(tmp_path: Path) -> None:
    assert Case(tmp_path, forward([tensor()], [tensor(5.0, -7.0, 3.0)]), forward([tensor()], [tensor()])).status == PASS


@pytest.mark.parametrize(("change", "message"), [
    ({"dtype": "torch.float16"}, "dtype"), ({"shape": [4, 1]}, "shape"), ({"requires_grad": True}, "requires_grad"),
])
def test_differences_of_description_are_errors(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    case = Case(tmp_path, forward([tensor()], [tensor(**change)]), forward([tensor()], [tensor()]))
    assert case.status == ERROR
    assert case.messages == [MESSAGES[message]]


def test_dtypes_are_compared_by_spelling(tmp_path: Path) -> None:
    assert Case(tmp_path, forward([tensor(dtype="Float32")], [tensor()]), forward([tensor()], [tensor()])).status == ERROR


def test_a_dtype_does_not_count_where_golden_is_a_fused_projection(tmp_path: Path) -> None:
    sides = forward([tensor()], [tensor(dtype="torch.bfloat16")]), forward([tensor()], [tensor()])
    assert Case(tmp_path / "a", *sides, name="Module.a.qkv.Linear.forward.0").status == PASS
    assert Case(tmp_path / "b", *sides, name="Module.a.proj.Linear.forward.0").status == ERROR


@pytest.mark.parametrize(("target", "golden"), [(3, 4), ("a", "b"), (True, False), (3, 3.0)])
def test_scalars_among_the_inputs_are_errors(tmp_path: Path, target: Any, golden: Any) -> None:
    case = Case(tmp_path, forward([tensor(), scalar(target)], [tensor()]), forward([tensor(), scalar(golden)], [tensor()]))
    assert case.status == ERROR


def test_a_scalar_among_the_outputs_is_judged_by_the_relative_rule_only(tmp_path: Path) -> None:
    assert Case(tmp_path, forward([tensor()], [scalar(3)]), forward([tensor()], [scalar(4)])).status == WARNING


def test_sizes_are_scalars(tmp_path: Path) -> None:
    sides = [forward([tensor(), {"type": "torch.Size", "value": value}], [tensor()]) for value in ([1, 2], [2, 1])]
    assert Case(tmp_path, *sides).status == ERROR


def test_none_against_a_tensor_and_bools_pass(tmp_path: Path) -> None:
    assert Case(tmp_path / "a", forward([tensor()], [None]), forward([tensor()], [tensor()])).status == PASS
    sides = [forward([tensor()], [tensor(value, value, None, None, dtype="torch.bool")]) for value in (True, False)]
    assert Case(tmp_path / "b", *sides).status == PASS


def test_what_only_target_has_is_an_error_and_what_only_golden_has_is_ignored(tmp_path: Path) -> None:
    more, less = forward([tensor(), tensor()], [tensor()]), forward([tensor()], [tensor()])
    case = Case(tmp_path / "a", more, less)
    assert case.status == ERROR
    assert case.messages == [MESSAGES["requires_grad"], MESSAGES["dtype"], MESSAGES["shape"]]
    assert Case(tmp_path / "b", less, more).status == PASS


def test_a_wrong_weight_excuses_its_own_output(tmp_path: Path) -> None:
    sides = [forward([tensor()], [tensor(norm=norm)], {"weight": tensor(norm=norm)}) for norm in (1.6, 1.0)]
    assert Case(tmp_path, *sides, name="Module.fc.Linear.forward.0").status == PASS


def test_everything_below_a_module_called_output_counts_as_output(tmp_path: Path) -> None:
    sides = [forward([tensor(norm=norm)], [tensor(norm=norm)]) for norm in (1.6, 1.0)]
    assert Case(tmp_path / "a", *sides, name="Module.attention.dense.Linear.forward.0").status == PASS
    case = Case(tmp_path / "b", *sides, name="Module.attention.output.dense.Linear.forward.0")
    assert case.found.row_status.tolist() == [ERROR, ERROR]


def test_no_relative_rule_looks_at_parameter_gradients(tmp_path: Path) -> None:
    name = "Module.fc.Linear.parameters_grad.0"
    assert Case(tmp_path, {"weight": [tensor(norm=2.0)]}, {"weight": [tensor(norm=1.0)]}, name=name).status == PASS


@pytest.mark.parametrize(("name", "expected"), [
    ("Torch.empty.0.forward", PASS), ("Tensor.to.0.forward", PASS), ("Torch.exp.0.forward", ERROR),
])
def test_some_apis_are_not_judged(tmp_path: Path, name: str, expected: Status) -> None:
    wild = tensor(math.nan, math.nan, math.nan, math.nan)
    assert Case(tmp_path, forward([tensor()], [wild]), forward([tensor()], [tensor()]), name=name).status == expected


def test_inputs_of_communication_that_are_only_buffers_are_not_judged(tmp_path: Path) -> None:
    wild = tensor(math.nan, math.nan, math.nan, math.nan)
    assert Case(tmp_path / "a", forward([wild], [tensor(norm=9.0)]), forward([tensor()], [tensor()]),
                name="Distributed._reduce_scatter_base.0.forward").status == PASS
    assert Case(tmp_path / "b", forward([tensor()], [wild]), forward([tensor()], [tensor()]),
                name="Distributed.all_to_all_single.0.forward").status == ERROR


def test_a_node_without_data_has_no_status(tmp_path: Path) -> None:
    assert Case(tmp_path, forward([], []), forward([], [])).status == Status.NONE


# ---- tensor mode: the metrics as the elements of the case give them ----


@pytest.mark.parametrize(("ratios", "cosines", "shape", "expected"), [
    ((1.0, 0.0), (1.0, 1.0), [2, 2], ERROR),  # × 1.01
    ((1.0, 1.0), (1.0, 1.0), [2, 2], PASS),  # × 1.0005
    ((1.0, 0.0), (1.0, -1.0), [2, 2], ERROR),  # -x
    ((1.0, 0.875), (1.0, 0.95), [8], PASS),  # one of eight bools
    ((1.0, 0.2), (1.0, 0.85), [2, 2], WARNING),  # cosine only
    ((0.8, 0.0), (0.8, 0.1), [2, 2], PASS),  # excused by the input
    ((1.0, 0.0), (1.0, 0.0), [1], PASS),  # one element: unsupported
    ((1.0, 0.0), (1.0, 0.0), [], PASS),
])
def test_elements(tmp_path: Path, ratios: tuple[float, float], cosines: tuple[float, float], shape: list[int], expected: Status) -> None:
    sides = [forward([tensor(shape=shape)], [tensor(shape=shape)])] * 2
    case = Case(tmp_path, *sides, mode="tensor", metrics={"One Thousandth Err Ratio": ratios, "Cosine": cosines})
    assert case.status == expected


def test_tensors_with_other_non_finite_elements_do_not_count(tmp_path: Path) -> None:
    metrics = {"One Thousandth Err Ratio": [1.0, 0.0], "Cosine": [1.0, 0.0], "Nonfinite Mismatches": [0.0, 1.0]}
    sides = [forward([tensor()], [tensor()])] * 2
    assert Case(tmp_path, *sides, mode="tensor", metrics=metrics).status == PASS


# ---- checksum mode ----


@pytest.mark.parametrize(("target", "golden", "expected"), [
    (tensor(md5="0a"), tensor(md5="0a"), PASS), (tensor(md5="0a"), tensor(md5="0b"), ERROR), (tensor(md5="0a"), None, WARNING),
    (scalar(3), scalar(3), PASS), (scalar(3), scalar(4), ERROR), (None, None, PASS),
    (tensor(md5="0a", dtype="torch.float16"), tensor(md5="0a", shape=[4]), PASS),
])
def test_checksums(tmp_path: Path, target: Any, golden: Any, expected: Status) -> None:
    assert Case(tmp_path, forward([target], []), forward([golden], []), mode="checksum").status == expected


def test_structure_dumps_have_no_status(tmp_path: Path) -> None:
    assert Case(tmp_path, forward([tensor()], [tensor()]), forward([tensor()], [tensor(norm=9.0)]), mode="structure").status == Status.NONE


# ---- the whole ----


def real(name: str) -> Graph:
    dump = read_dump(str(DATA / name / "step0/rank0"))
    return graph_of(dump, build_tree(dump))


def test_the_real_fault_is_passed_and_its_followers_are_flagged_as_the_peer_does() -> None:
    target, golden = real("qwen2_24l_mix_stat/target"), real("qwen2_24l_mix_stat/golden")
    pairing = match_trees(target, golden)
    comparison = compare(target, golden, pairing, "statistics")
    verdicts = judge(comparison, pairing, target, golden, POLICY)
    found = judge_like_msprobe(verdicts, comparison, pairing, target, golden, POLICY)

    def status(name: str) -> int:
        return int(found.status[pairing.pair_of_target[target.tree.names.index(name)]])

    assert status("Functional.linear.90.forward") == PASS
    assert status("Module.model.layers.12.mlp.down_proj.Linear.forward.0") == PASS
    assert status("Functional.linear.91.forward") == WARNING
    assert status("Module.model.layers.12.mlp.Qwen2MLP.forward.0") == WARNING
    counts = np.bincount(found.status, minlength=5)
    assert (counts[WARNING], counts[ERROR]) == (162, 2)  # as counted in the peer's own result
    assert found.cause is verdicts.cause
    note = next(note for note in found.notes if note.code == reasons.STATISTICS.code)
    assert note.arguments["message"] == MESSAGES["growth"]
