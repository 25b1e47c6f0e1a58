"""Automatic matching on real pairs: every counterpart is paired, fused layers as groups, nothing else."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from converter.compare.rows import compare
from converter.judge.judge import judge
from converter.judge.policy import load_policy
from converter.judge.verdict import Status
from converter.match.automatic import match_trees
from converter.match.pairing import How, Relation
from converter.rank_task import read_tree
from converter.tree.graph import graph_of
from tests.conversions import DATA, graph, result
from tests.extra_calls import splice
from tests.pipeline_stage import last_stage

MEGATRON = "megatron_vs_hf"
LAYER = {
    "input_layernorm": ["input_layernorm"],
    "self_attention": ["self_attn"],
    "self_attention.linear_qkv": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
    "self_attention.linear_proj": ["self_attn.o_proj"],
    "pre_mlp_layernorm": ["post_attention_layernorm"],
    "mlp": ["mlp"],
    "mlp.linear_fc1": ["mlp.gate_proj", "mlp.up_proj"],
    "mlp.linear_fc2": ["mlp.down_proj"],
}
MODULE = re.compile(r"Module\.(.+)\.\w+\.(forward|backward|parameters_grad)\.(\d+)$")


def counterparts() -> dict[str, list[str]]:
    """Megatron path → Hugging Face paths, for all modules that have a counterpart."""
    truth = {
        "embedding.word_embeddings": ["model.embed_tokens"],
        "rotary_pos_emb": ["model.rotary_emb"],
        "decoder.final_layernorm": ["model.norm"],
        "output_layer": ["lm_head"],
    }
    for layer in range(4):
        truth[f"decoder.layers.{layer}"] = [f"model.layers.{layer}"]
        truth.update(
            {f"decoder.layers.{layer}.{mine}": [f"model.layers.{layer}.{other}" for other in others] for mine, others in LAYER.items()}
        )
    return truth


def module_pairs(target: str, golden: str) -> dict[tuple[str, str, str], list[str]]:
    """(target path without wrappers, direction, call) → golden paths without wrappers."""

    def parts(name: str) -> tuple[str, str, str]:
        found = MODULE.match(name)
        assert found is not None
        path = re.sub(r"^(module|0)\.", "", found[1])
        return path, found[2], found[3]

    pairs = {}
    for mine, others in result(target, golden).pairs().items():
        if MODULE.match(mine):
            pairs[parts(mine)] = [parts(other)[0] for other in others]
            assert {parts(other)[1:] for other in others} == {parts(mine)[1:]}
    return pairs


@pytest.mark.parametrize("other", ["hf", "deepspeed"])
def test_every_counterpart_is_paired_forward_backward_and_gradients_and_nothing_else(other: str) -> None:
    truth = counterparts()
    pairs = module_pairs(f"{MEGATRON}/megatron", f"{MEGATRON}/{other}")
    assert {path: pairs[path, direction, call] for path, direction, call in pairs} == truth
    assert {path for path, direction, _ in pairs if direction == "forward"} == set(truth)
    assert {path for path, direction, _ in pairs if direction == "backward"} == set(truth) - {"rotary_pos_emb"}
    with_parameters = {path for path in truth if re.search(r"norm|linear|embeddings|output_layer", path)}
    assert {path for path, direction, _ in pairs if direction == "parameters_grad"} == with_parameters


def test_swapped_sides_give_the_same_pairs() -> None:
    there = result(f"{MEGATRON}/megatron", f"{MEGATRON}/hf").pairs()
    back = result(f"{MEGATRON}/hf", f"{MEGATRON}/megatron").pairs()
    forward = {(mine, others[0]) for mine, others in there.items()}
    assert forward == {(others[0], mine) for mine, others in back.items()}


def test_fused_layers_are_concatenations_with_their_evidence() -> None:
    found = result(f"{MEGATRON}/megatron", f"{MEGATRON}/hf")
    groups = [number for number in range(found.pairing.count) if found.pairing.relation[number] == Relation.CONCAT]
    assert len(groups) == 24  # two a layer, forward, backward and gradients
    texts = {found.pairing.evidence_texts[found.pairing.evidence[number]] for number in groups}
    assert any("64 + 32 + 32 = 128" in text for text in texts)
    assert any("128 + 128 = 256" in text for text in texts)


def test_only_wrappers_and_modules_without_a_counterpart_stay_unmatched() -> None:
    found = result(f"{MEGATRON}/megatron", f"{MEGATRON}/hf")
    left = {MODULE.match(name)[1].rsplit(".", 1)[-1] for name in found.unmatched_modules()}  # type: ignore[index]
    assert left == {
        "embedding",
        "embedding_dropout",
        "decoder",
        "q_layernorm",
        "k_layernorm",
        "core_attention",
        "scale_mask_softmax",
        "attention_dropout",
        "pre_cross_attn_layernorm",
        "cross_attention",
        "cross_attn_bda",
    }
    assert {MODULE.match(name)[1].rsplit(".", 1)[-1] for name in found.unmatched_modules(golden=True)} == {"model", "act_fn"}  # type: ignore[index]


def test_mindspore_and_torch_modules_pair_by_path_whatever_their_class() -> None:
    found = result("mindspore_vs_torch/mindspore", "mindspore_vs_torch/torch")
    assert found.unmatched_modules() == []
    assert found.unmatched_modules(golden=True) == ["optimizer"]


def test_two_architectures_of_one_family_pair_completely() -> None:
    found = result("llama_vs_qwen2_24l_L0/target", "llama_vs_qwen2_24l_L0/golden")
    assert found.unmatched_modules() == [] and found.unmatched_modules(golden=True) == []


def test_micro_steps_pair_with_their_own() -> None:
    found = result(f"{MEGATRON}/megatron_2steps_2micro", f"{MEGATRON}/hf_2steps_2micro")
    for mine, others in found.pairs().items():
        if MODULE.match(mine):
            assert {other.rsplit(".", 1)[1] for other in others} == {mine.rsplit(".", 1)[1]}


def test_under_tensor_parallelism_fused_layers_are_still_recognised() -> None:
    pairs = module_pairs(f"{MEGATRON}/megatron_tp2", f"{MEGATRON}/hf")
    assert {path: others for (path, _, _), others in pairs.items()} == counterparts()


def test_one_code_pairs_by_name() -> None:
    found = result("qwen2_24l_mix_stat/target", "qwen2_24l_mix_stat/golden")
    assert found.pairing.count == found.target.tree.count - 1
    assert set(found.pairing.how.tolist()) == {int(How.EXACT)}


def test_the_exact_method_needs_equal_names_below_equal_ancestors() -> None:
    found = result(f"{MEGATRON}/megatron", f"{MEGATRON}/hf", method="exact")
    assert set(found.pairing.how.tolist()) <= {int(How.EXACT)}
    assert not any(MODULE.match(name) for name in found.pairs())


def test_fuzzy_matching_pairs_no_calls_where_no_module_path_is_equal() -> None:
    found = result(f"{MEGATRON}/megatron", f"{MEGATRON}/hf", method="fuzzy")
    assert found.pairing.count == 0


def test_two_neutral_extra_calls_alone_stay_unmatched_and_no_verdict_changes(tmp_path: Path) -> None:
    source = os.path.join(DATA, "qwen2_24l_mix_stat/golden/step0/rank0")
    tree = graph("qwen2_24l_mix_stat/golden/step0/rank0").tree
    module = "Module.model.layers.5.mlp.Qwen2MLP.forward.0"
    node = tree.names.index(module)
    after = next(name for name in tree.names[node : int(tree.end[node])] if name.startswith("Tensor.__mul__"))
    extra = splice(source, str(tmp_path), module, after)
    golden = graph("qwen2_24l_mix_stat/golden/step0/rank0")
    for left, right, side in ((graph_of(*read_tree(str(tmp_path))), golden, 0), (golden, graph_of(*read_tree(str(tmp_path))), 1)):
        pairing = match_trees(left, right)
        partner = (pairing.pair_of_target, pairing.pair_of_golden)
        longer = (left, right)[side]
        assert sorted(longer.tree.names[node] for node in range(1, longer.tree.count) if partner[side][node] < 0) == sorted(extra)
        assert (partner[1 - side][1:] >= 0).all()
        verdicts = judge(compare(left, right, pairing, "statistics"), pairing, left, right, load_policy("default"))
        assert not (verdicts.status == Status.ERROR).any() and not (verdicts.status == Status.WARNING).any()
        assert verdicts.forward is None and verdicts.backward is None


def test_layers_that_a_pipeline_stage_counts_from_0_pair_by_their_weights(tmp_path: Path) -> None:
    last_stage(os.path.join(DATA, "megatron_vs_hf/hf/step0/rank0"), str(tmp_path), 2)
    stage, whole = graph_of(*read_tree(str(tmp_path))), graph("megatron_vs_hf/hf/step0/rank0")
    pairing = match_trees(stage, whole)
    number = re.compile(r"layers\.(\d+)\.")
    checked = 0
    for node, pair in enumerate(pairing.pair_of_target.tolist()):
        mine = number.search(stage.tree.names[node])
        if pair >= 0 and mine is not None:
            other = whole.tree.names[pairing.golden_nodes[pairing.golden_end[pair - 1] if pair else 0]]
            assert int(number.search(other)[1]) == int(mine[1]) + 2  # type: ignore[index]
            checked += 1
    assert checked > 60
    verdicts = judge(compare(stage, whole, pairing, "statistics"), pairing, stage, whole, load_policy("default"))
    assert verdicts.forward is None and verdicts.parameters == []
