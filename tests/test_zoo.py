"""Models written twice: GPT-2, GPT-NeoX, a mixture of experts against Megatron-Core; BERT split and fused; a CNN in two frameworks."""

from __future__ import annotations

import numpy as np
import pytest

from converter.judge.reasons import DECOMPOSITION
from converter.judge.verdict import Status
from tests.conversions import result

GPT2, BERT, CNN, EXPERTS, NEOX = "zoo_gpt2", "zoo_bert", "zoo_mindspore_cnn", "zoo_moe", "zoo_neox"
CLEAN = [
    (f"{GPT2}/megatron", f"{GPT2}/hf"),
    (f"{GPT2}/neutral", f"{GPT2}/hf"),
    (f"{GPT2}/neutral", f"{GPT2}/megatron"),
    (f"{BERT}/own", f"{BERT}/hf"),
    (f"{CNN}/mindspore", f"{CNN}/torch"),
    (f"{EXPERTS}/megatron", f"{EXPERTS}/hf"),
    (f"{EXPERTS}/own", f"{EXPERTS}/hf"),
    (f"{NEOX}/hf", f"{NEOX}/megatron"),
]
BOTH_WAYS = CLEAN + [(golden, target) for target, golden in CLEAN]


@pytest.mark.parametrize(("target", "golden"), BOTH_WAYS)
def test_one_model_written_twice_shows_no_error_no_warning_and_no_divergence(target: str, golden: str) -> None:
    found = result(target, golden)
    assert found.count(Status.ERROR) == 0
    assert found.count(Status.WARNING) == 0
    assert found.verdicts.forward is None
    assert found.verdicts.backward is None
    assert found.verdicts.parameters == []
    modules = found.modules()
    # Routers of experts: what comes out of one is not what comes out of the other.
    assert ((found.verdicts.status == Status.NOT_COMPARABLE) & modules).sum() < 0.08 * modules.sum()


def test_names_that_say_nothing_are_paired_by_structure_shapes_and_numbers() -> None:
    found = result(f"{GPT2}/neutral", f"{GPT2}/hf")
    assert found.unmatched_modules() == []
    pairs = found.pairs()
    for layer in range(3):
        block, twin = f"Module.e{layer}", f"Module.transformer.h.{layer}"
        assert pairs[f"{block}.A2.forward.0"] == [f"{twin}.GPT2Block.forward.0"]
        assert pairs[f"{block}.c0.LayerNorm.forward.0"] == [f"{twin}.ln_1.LayerNorm.forward.0"]
        assert pairs[f"{block}.c1.a0.Linear.forward.0"] == [f"{twin}.attn.c_attn.Conv1D.forward.0"]
        assert pairs[f"{block}.c3.b1.Linear.backward.0"] == [f"{twin}.mlp.c_proj.Conv1D.backward.0"]


def test_a_fused_projection_finds_its_parts_one_level_deeper_on_the_other_side() -> None:
    pairs = result(f"{BERT}/own", f"{BERT}/hf").pairs()
    for layer in range(3):
        attention = f"Module.bert.encoder.layer.{layer}.attention"
        assert pairs[f"Module.stack.{layer}.attn.qkv.Linear.forward.0"] == [
            f"{attention}.self.{part}.Linear.forward.0" for part in ("query", "key", "value")
        ]
        assert pairs[f"Module.stack.{layer}.attn.proj.Linear.forward.0"] == [f"{attention}.output.dense.Linear.forward.0"]
        assert pairs[f"Module.stack.{layer}.norm1.LayerNorm.forward.0"] == [f"{attention}.output.LayerNorm.LayerNorm.forward.0"]


def test_batch_norms_pair_although_one_framework_lists_its_running_statistics_as_parameters() -> None:
    pairs = result(f"{CNN}/mindspore", f"{CNN}/torch").pairs()
    assert pairs["Cell.net.stem.normalization.BatchNorm2d.forward.0"] == ["Module.net.bn1.BatchNorm2d.forward.0"]
    assert pairs["Cell.net.stage.normalization.BatchNorm2d.backward.0"] == ["Module.net.bn2.BatchNorm2d.backward.0"]


def test_the_backward_of_a_reused_module_follows_the_call_that_it_belongs_to() -> None:
    pairs = result(f"{CNN}/torch", f"{CNN}/mindspore").pairs()
    calls = {name: partner for name, partner in pairs.items() if ".relu.ReLU." in name}
    assert calls
    for name, partner in calls.items():
        twin = name.replace(".backward.", ".forward.")
        assert pairs[twin] == [partner[0].replace(".backward.", ".forward.")]


def test_experts_that_weigh_inside_or_behind_are_not_comparable_and_no_error() -> None:
    found = result(f"{EXPERTS}/megatron", f"{EXPERTS}/own")
    assert found.count(Status.ERROR) == 0
    assert found.verdicts.forward is None
    assert found.verdicts.backward is None
    decomposed = np.uint32(1 << DECOMPOSITION.code)
    names = [found.target.tree.names[node] for node in found.pairing.first_target_nodes()[(found.verdicts.reasons & decomposed) != 0]]
    assert any("linear_fc2" in name for name in names)
    assert all("router" in name or "experts" in name for name in names)


def test_stacked_experts_are_compared_with_one_module_each() -> None:
    found = result(f"{EXPERTS}/hf", f"{EXPERTS}/own")
    leaves, rows = found.comparison.target, found.comparison
    names = [leaves.strings[leaves.name[row]] if row >= 0 else "" for row in rows.target_row.tolist()]
    stacked = [entry.row for entry in rows.golden_compositions if entry.relation == "stack"]
    joined = [name for name, row in zip(names, rows.golden_row.tolist()) if row in stacked]
    assert sorted(joined) == ["down_proj"] * 3 + ["gate_up_proj"] * 3


BUGS = [
    (f"{GPT2}/megatron_bug_fc1_bias", f"{GPT2}/hf", "parameter", "decoder.layers.1.mlp.linear_fc1", "transformer.h.1.mlp.c_fc"),
    (f"{GPT2}/neutral_bug_weight", f"{GPT2}/hf", "parameter", "Module.e1.c3.b1", "transformer.h.1.mlp.c_proj"),
    (f"{BERT}/own_bug_qkv_bias", f"{BERT}/hf", "parameter", "stack.1.attn.qkv", "layer.1.attention.self.query"),
    (f"{BERT}/own_bug_activation", f"{BERT}/hf", "gap", "Module.stack.1.PostLayer", "encoder.layer.1.BertLayer"),
    (
        f"{EXPERTS}/megatron_bug_expert",
        f"{EXPERTS}/own",
        "parameter",
        "layers.1.mlp.experts.local_experts.3.linear_fc1",
        "layers.1.feed_forward.experts.3.w1",
    ),
    (
        f"{EXPERTS}/megatron_bug_expert",
        f"{EXPERTS}/hf",
        "parameter",
        "layers.1.mlp.experts.local_experts.3.linear_fc1",
        "layers.1.mlp.experts.MixtralExperts",
    ),
    (f"{CNN}/torch_bug_batch_norm_eps", f"{CNN}/mindspore", "introduced", "net.bn1", "net.stem.normalization"),
]


@pytest.mark.parametrize(("target", "golden", "kind", "place", "counterpart"), BUGS)
def test_a_planted_bug_is_named_in_the_words_of_either_side(target: str, golden: str, kind: str, place: str, counterpart: str) -> None:
    for left, right, name in ((target, golden, place), (golden, target, counterpart)):
        found = result(left, right)
        first = found.verdicts.forward
        assert first is not None
        assert name in found.target.tree.names[first.target_node]
        assert first.kind == kind
        assert found.verdicts.backward is None


@pytest.mark.parametrize(("target", "golden", "kind", "place", "counterpart"), BUGS)
def test_only_a_wrong_parameter_is_listed_as_one(target: str, golden: str, kind: str, place: str, counterpart: str) -> None:
    listed = [entry.target for entry in result(target, golden).verdicts.parameters]
    assert len(listed) == (1 if kind == "parameter" else 0)
    assert all(place in name for name in listed)
