"""Real pairs: clean ones show nothing, a planted bug is named exactly, whichever side it is on."""

from __future__ import annotations

import pytest

from converter.judge.verdict import Cause, Status
from tests.conversions import result

MEGATRON, MINDSPORE = "megatron_vs_hf", "mindspore_vs_torch"
CLEAN = [
    (f"{MEGATRON}/megatron", f"{MEGATRON}/hf"),
    (f"{MEGATRON}/megatron", f"{MEGATRON}/deepspeed"),
    (f"{MEGATRON}/hf", f"{MEGATRON}/deepspeed"),
    (f"{MEGATRON}/megatron_L0", f"{MEGATRON}/hf_L0"),
    (f"{MEGATRON}/megatron_2steps_2micro", f"{MEGATRON}/hf_2steps_2micro"),
    (f"{MINDSPORE}/mindspore", f"{MINDSPORE}/torch"),
]
BOTH_WAYS = CLEAN + [(golden, target) for target, golden in CLEAN]


@pytest.mark.parametrize(("target", "golden"), BOTH_WAYS)
def test_a_clean_pair_shows_no_error_no_warning_and_no_divergence(target: str, golden: str) -> None:
    found = result(target, golden)
    assert found.count(Status.ERROR) == 0
    assert found.count(Status.WARNING) == 0
    assert found.verdicts.forward is None
    assert found.verdicts.backward is None
    assert found.verdicts.parameters == []


def test_the_second_step_of_a_clean_pair_is_clean_too() -> None:
    found = result(f"{MEGATRON}/megatron_2steps_2micro", f"{MEGATRON}/hf_2steps_2micro", "step1/rank0")
    assert found.count(Status.ERROR) == 0 and found.count(Status.WARNING) == 0
    assert found.verdicts.forward is None and found.verdicts.backward is None


@pytest.mark.parametrize(("target", "golden"), BOTH_WAYS)
def test_of_a_clean_pair_nearly_every_module_could_be_compared(target: str, golden: str) -> None:
    found = result(target, golden)
    modules = found.modules()
    assert ((found.verdicts.status == Status.NOT_COMPARABLE) & modules).sum() < 0.05 * modules.sum()


BUGS = [
    (
        f"{MEGATRON}/megatron_bug_qkv_bias",
        f"{MEGATRON}/hf",
        "parameter",
        "decoder.layers.2.self_attention.linear_qkv",
        "layers.2.self_attn.q_proj",
    ),
    (f"{MEGATRON}/megatron_bug_nan", f"{MEGATRON}/hf", "nonfinite", "decoder.layers.2.mlp.linear_fc1", "layers.2.mlp.gate_proj"),
    (f"{MEGATRON}/megatron_bug_gate_up", f"{MEGATRON}/hf", "gap", "decoder.layers.1.mlp.MLP", "layers.1.mlp.Qwen2MLP"),
    (f"{MINDSPORE}/mindspore", f"{MINDSPORE}/torch_bug_gelu", "introduced", "layers.2.mlp.act", "layers.2.mlp.act"),
    (
        "qwen2_24l_mix_stat/target",
        "qwen2_24l_mix_stat/golden",
        "parameter",
        "model.layers.12.mlp.down_proj",
        "model.layers.12.mlp.down_proj",
    ),
    ("ms_cnn_mix_stat/target", "ms_cnn_mix_stat/golden", "parameter", "Cell.fc.Dense", "Cell.fc.Dense"),
]


@pytest.mark.parametrize(("target", "golden", "kind", "place", "counterpart"), BUGS)
def test_a_planted_bug_is_named_on_either_side(target: str, golden: str, kind: str, place: str, counterpart: str) -> None:
    for left, right, name in ((target, golden, place), (golden, target, counterpart)):
        found = result(left, right)
        first = found.verdicts.forward
        assert first is not None
        assert name in found.target.tree.names[first.target_node]
        assert first.kind == kind
        assert found.verdicts.backward is None


def test_the_wrong_parameter_is_listed_and_nothing_else() -> None:
    found = result(f"{MEGATRON}/megatron_bug_qkv_bias", f"{MEGATRON}/hf")
    assert [entry.target.rsplit(".", 2)[1:] for entry in found.verdicts.parameters] == [["parameters", "bias"]]
    assert "linear_qkv" in found.verdicts.parameters[0].target
    assert len(found.verdicts.parameters[0].golden) == 3


def test_a_wrong_gradient_alone_leaves_forward_clean_and_is_named_in_backward() -> None:
    found = result(f"{MEGATRON}/megatron_bug_grad", f"{MEGATRON}/hf")
    assert found.verdicts.forward is None
    assert found.verdicts.backward is not None
    assert "decoder.layers.1.mlp.linear_fc2" in found.target.tree.names[found.verdicts.backward.target_node]
    assert [entry.target for entry in found.verdicts.parameters] == [
        "Module.0.decoder.layers.1.mlp.linear_fc2.RowParallelLinear.parameters_grad.0.weight"
    ]
    assert found.count(Status.ERROR) == 1


def test_a_gap_names_the_last_clean_and_the_first_diverged_call() -> None:
    first = result(f"{MEGATRON}/megatron_bug_gate_up", f"{MEGATRON}/hf").verdicts.forward
    assert first is not None
    assert "linear_fc1" in result(f"{MEGATRON}/megatron_bug_gate_up", f"{MEGATRON}/hf").target.tree.names[first.after]
    assert "linear_fc2" in first.reason_en and "linear_fc1" in first.reason_en
    assert "linear_fc2" in first.reason_zh


def test_an_argument_of_another_value_is_the_reason_that_is_given() -> None:
    first = result(f"{MINDSPORE}/torch_bug_gelu", f"{MINDSPORE}/torch").verdicts.forward
    assert first is not None
    assert "approximate" in first.reason_en and "tanh" in first.reason_en


@pytest.mark.parametrize("rank", [0, 1])
def test_on_the_ranks_that_hold_it_the_wrong_weight_is_named(rank: int) -> None:
    found = result("dist_tp2pp2/target", "dist_tp2pp2/golden", f"step0/rank{rank}")
    assert found.verdicts.forward is not None
    assert "layers.2.mlp.dense_4h_to_h" in found.target.tree.names[found.verdicts.forward.target_node]
    assert found.verdicts.forward.kind == "parameter"


@pytest.mark.parametrize("rank", [2, 3])
def test_ranks_that_receive_the_difference_inherit_it(rank: int) -> None:
    found = result("dist_tp2pp2/target", "dist_tp2pp2/golden", f"step0/rank{rank}")
    assert found.verdicts.forward is None
    causes = set(found.verdicts.cause.tolist())
    assert int(Cause.INTRODUCED) not in causes and int(Cause.PARAMETER) not in causes
    assert (found.verdicts.cause == Cause.INHERITED).sum() > 100


def test_behind_the_first_divergence_everything_is_inherited() -> None:
    found = result(f"{MEGATRON}/megatron_bug_qkv_bias", f"{MEGATRON}/hf")
    assert (found.verdicts.cause == Cause.PARAMETER).sum() == 1
    assert (found.verdicts.cause == Cause.INTRODUCED).sum() == 0


def test_structure_dumps_are_matched_and_nothing_is_said_of_numbers() -> None:
    found = result("qwen2_24l_mix_struct/target", "qwen2_24l_mix_struct/golden")
    assert found.pairing.count == found.target.tree.count - 1
    assert found.count(Status.NOT_COMPARABLE) == found.pairing.count
    assert found.verdicts.forward is None
