"""Every shipped template on the modules of the models it is for: all counterparts pair, in both directions, nothing else does."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from module_lists import (
    Core,
    HuggingFace,
    below,
    core_model,
    core_vision_language,
    hf_model,
    hf_vision_language,
    legacy_model,
    mindspeed_vision_language,
)
from trees import Module, model_tree, paths

from converter.dumps.reader import read_dump
from converter.match.component_words import IDENTITY_CLASSES
from converter.match.mapping import match_by_mapping
from converter.match.mapping_file import parse_mapping, read_mapping
from converter.match.mapping_invert import invert_mapping
from converter.match.mapping_write import write_mapping
from converter.tree.build import build_tree
from mappings import templates

DATA = str(Path(__file__).parent / "data" / "megatron_vs_hf") + os.sep
# What only Megatron has as a module: wrappers, and steps that the other side does inside its attention or not at all.
MEGATRON_ONLY = {*IDENTITY_CLASSES, "LanguageModelEmbedding", "TransformerBlock", "Dropout", "DotProductAttention", "TEDotProductAttention",
                 "FusedScaleMaskSoftmax", "SequentialMLP", "TEGroupedMLP", "TEColumnParallelGroupedLinear", "TERowParallelGroupedLinear",
                 "YarnRotaryEmbedding"}
HF_ONLY = {"SiLUActivation"}

QWEN2, LLAMA, QWEN3 = HuggingFace("Qwen2"), HuggingFace("Llama"), HuggingFace("Qwen3", query_norms=True)
MIXTRAL = HuggingFace("Mixtral", dense_layers=0, expert_block="block_sparse_moe", sparse_class="MixtralSparseMoeBlock",
                      expert_class="MixtralBlockSparseTop2MLP", expert_linears=("w1", "w3", "w2"))
MIXTRAL_5 = replace(MIXTRAL, expert_block="mlp", router_class="MixtralTopKRouter", expert_class="", all_experts_class="MixtralExperts")
QWEN2_MOE = HuggingFace("Qwen2Moe", dense_layers=0, sparse_class="Qwen2MoeSparseMoeBlock", expert_class="Qwen2MoeMLP",
                        shared="shared_expert")
QWEN3_MOE = HuggingFace("Qwen3Moe", query_norms=True, dense_layers=0, sparse_class="Qwen3MoeSparseMoeBlock", expert_class="Qwen3MoeMLP")
DEEPSEEK_3 = HuggingFace("DeepseekV3", latent=True, dense_layers=1, sparse_class="DeepseekV3MoE", router_class="DeepseekV3TopkRouter",
                         expert_class="DeepseekV3MLP", shared="shared_experts")
DEEPSEEK_2 = replace(DEEPSEEK_3, name="DeepseekV2", sparse_class="DeepseekV2Moe", router_class="DeepseekV2TopkRouter", low_rank_query=False,
                     expert_class="", all_experts_class="DeepseekV2Experts")
EXPERTS = Core(dense_layers=0)
LATENT = Core(attention="MLASelfAttention", dense_layers=1, shared_experts=True)
NORMS = {"RMSNorm"}


def left(modules: list[Module], paired: set[str]) -> list[str]:
    return sorted(f"{path} {name}" for path, name in modules if path not in paired)


def check(template: str, target: list[Module], golden: list[Module], target_only: set[str], golden_only: set[str],
          pairs: dict[str, object]) -> None:
    """Everything but the named classes pairs; the given pairs are among them; the file turned round gives the same."""
    mine, other = model_tree(target), model_tree(golden)
    mapping = read_mapping(template)
    match = match_by_mapping(mine, other, mapping)
    found = paths(mine, other, match.pairs())
    for path, counterpart in pairs.items():
        assert found.get(path) == counterpart
    golden_paths = {path for value in found.values() for path in ((value,) if isinstance(value, str) else value)}  # type: ignore[union-attr]
    target_paths = {path for key in found for path in ((key,) if isinstance(key, str) else key)}
    assert {line.split()[-1] for line in left(target, target_paths)} <= target_only, left(target, target_paths)
    assert {line.split()[-1] for line in left(golden, golden_paths)} <= golden_only, left(golden, golden_paths)
    assert not match.warnings and not match.unknown
    turned = match_by_mapping(other, mine, read_mapping(f"invert:{template}"))
    assert {(pair.golden, pair.target) for pair in turned.pairs()} == {(pair.target, pair.golden) for pair in match.pairs()}


LAYER = "decoder.layers.1"
DENSE = {"embedding.word_embeddings": "model.embed_tokens", "decoder.layers.1": "model.layers.1",
         f"{LAYER}.self_attention.linear_qkv": tuple(f"model.layers.1.self_attn.{part}_proj" for part in "qkv"),
         f"{LAYER}.mlp.linear_fc1": ("model.layers.1.mlp.gate_proj", "model.layers.1.mlp.up_proj"), "output_layer": "lm_head"}


@pytest.mark.parametrize(("template", "core", "hf", "golden_only", "pairs"), [
    ("megatron_core_to_hf_qwen2", Core(), QWEN2, set(), DENSE),
    ("megatron_core_to_hf_qwen2", Core(transformer_engine=True), QWEN2, {"Qwen2RMSNorm"}, DENSE),
    ("megatron_core_to_hf_llama", Core(), LLAMA, set(), DENSE),
    ("megatron_core_to_hf_qwen3", Core(query_norm="RMSNorm"), QWEN3, set(),
     {**DENSE, f"{LAYER}.self_attention.q_layernorm": "model.layers.1.self_attn.q_norm"}),
    ("megatron_core_to_hf_mixtral", EXPERTS, MIXTRAL, set(), {
        f"{LAYER}.mlp": "model.layers.1.block_sparse_moe", f"{LAYER}.mlp.router": "model.layers.1.block_sparse_moe.gate",
        f"{LAYER}.mlp.experts.local_experts.1.linear_fc1": (
            "model.layers.1.block_sparse_moe.experts.1.w1", "model.layers.1.block_sparse_moe.experts.1.w3"),
        f"{LAYER}.mlp.experts.local_experts.1.linear_fc2": "model.layers.1.block_sparse_moe.experts.1.w2"}),
    ("megatron_core_to_hf_mixtral", replace(EXPERTS, grouped=True), MIXTRAL_5, {"MixtralExperts"}, {f"{LAYER}.mlp": "model.layers.1.mlp"}),
    ("megatron_core_to_hf_qwen2_moe", replace(EXPERTS, shared_experts=True), QWEN2_MOE, set(), {
        f"{LAYER}.mlp.shared_experts.linear_fc1": (
            "model.layers.1.mlp.shared_expert.gate_proj", "model.layers.1.mlp.shared_expert.up_proj"),
        f"{LAYER}.mlp.experts.local_experts.0": "model.layers.1.mlp.experts.0"}),
    ("megatron_core_to_hf_qwen2_moe", replace(EXPERTS, query_norm="RMSNorm"), QWEN3_MOE, set(),
     {f"{LAYER}.self_attention.k_layernorm": "model.layers.1.self_attn.k_norm"}),
    ("megatron_core_to_hf_deepseek_v3", LATENT, DEEPSEEK_3, {"DeepseekV3RotaryEmbedding"}, {
        f"{LAYER}.self_attention.linear_q_down_proj": "model.layers.1.self_attn.q_a_proj",
        f"{LAYER}.self_attention.linear_kv_down_proj": "model.layers.1.self_attn.kv_a_proj_with_mqa",
        "decoder.layers.0.mlp.linear_fc2": "model.layers.0.mlp.down_proj",
        f"{LAYER}.mlp.shared_experts": "model.layers.1.mlp.shared_experts"}),
    ("megatron_core_to_hf_deepseek_v2", replace(LATENT, low_rank_query=False, grouped=True), DEEPSEEK_2,
     {"DeepseekV2RotaryEmbedding", "DeepseekV2Experts"}, {f"{LAYER}.self_attention.linear_q_proj": "model.layers.1.self_attn.q_proj"}),
])
def test_megatron_core_to_hugging_face(template: str, core: Core, hf: HuggingFace, golden_only: set[str], pairs: dict[str, object]) -> None:
    check(template, core_model(core), hf_model(hf), MEGATRON_ONLY, HF_ONLY | golden_only | {f"{hf.name}Model"}, pairs)


def test_wrappers_of_both_toolkits_do_not_matter() -> None:
    target = [("0.module", "Float16Module"), ("0.module.module", "GPTModel"), *below("0.module.module", core_model(Core()))]
    golden = [("module", "Qwen2ForCausalLM"), *below("module", hf_model(QWEN2))]
    check("megatron_core_to_hf_qwen2", target, golden, MEGATRON_ONLY | {"Float16Module", "GPTModel"},
          HF_ONLY | {"Qwen2ForCausalLM", "Qwen2Model"}, {"0.module.module.output_layer": "module.lm_head"})


def vision_pairs(blocks: str, layers: str, target_blocks: str, target_layers: str) -> dict[str, object]:
    return {
        f"{target_blocks}.1.self_attention.linear_qkv": f"{blocks}.1.attn.qkv",
        f"{target_blocks}.1.pre_mlp_layernorm": f"{blocks}.1.norm2",
        f"{target_blocks}.1.mlp.linear_fc1": (f"{blocks}.1.mlp.gate_proj", f"{blocks}.1.mlp.up_proj"),
        f"{target_layers}.1.input_layernorm": f"{layers}.1.input_layernorm",
        f"{target_layers}.1.self_attention.linear_qkv": tuple(f"{layers}.1.self_attn.{part}_proj" for part in "qkv"),
        f"{target_layers}.1.pre_mlp_layernorm": f"{layers}.1.post_attention_layernorm",
        f"{target_layers}.1.mlp.linear_fc2": f"{layers}.1.mlp.down_proj"}


@pytest.mark.parametrize("nested", [False, True], ids=["transformers 4.49", "transformers 4.52"])
@pytest.mark.parametrize("template", ["mindspeed_mm_to_llamafactory_qwen2_5_vl", "megatron_core_to_hf_qwen2_5_vl"])
def test_both_towers_of_a_vision_language_model(template: str, nested: bool) -> None:
    golden = hf_vision_language(nested)
    visual, text = ("model.visual", "model.language_model") if nested else ("visual", "model")
    golden_only = HF_ONLY | {"GELU", "Sequential", "Qwen2_5_VLPatchMerger", "Qwen2_5_VLModel", "Qwen2_5_VLTextModel"}
    if template.startswith("mindspeed"):
        golden = [("module", "Qwen2_5_VLForConditionalGeneration"), *below("module", golden)]
        top = "0.module.module"
        pairs = vision_pairs(f"module.{visual}.blocks", f"module.{text}.layers", f"{top}.image_encoder.encoder.blocks.layers",
                             f"{top}.text_decoder.decoder.layers")
        pairs.update({"0.module": "module", f"{top}.text_decoder.output_layer": "module.lm_head",
                      f"{top}.image_encoder.projector.encoder.linear_fc2": f"module.{visual}.merger.mlp.2"})
        check(template, mindspeed_vision_language(), golden,
              MEGATRON_ONLY | {"VLModel", "Qwen2VLViT", "Qwen2VLVisionTransformerBlock"}, golden_only, pairs)
        return
    pairs = vision_pairs(f"{visual}.blocks", f"{text}.layers", "vision_model.decoder.layers", "language_model.decoder.layers")
    pairs.update({"language_model.output_layer": "lm_head", "vision_model.decoder.final_layernorm": f"{visual}.merger.ln_q",
                  "vision_model.projection.encoder.linear_fc1": f"{visual}.merger.mlp.0"})
    check(template, core_vision_language(), golden, MEGATRON_ONLY | {"GPTModel", "MLP"}, golden_only, pairs)


def test_the_qwen2_5_templates_of_mindspeed_llm() -> None:
    target = [("0.module", "Float16Module"), ("0.module.module", "GPTModel"), *below("0.module.module", core_model(Core()))]
    golden = [("module", "Qwen2ForCausalLM"), *below("module", hf_model(QWEN2))]
    check("mindspeed_llm_to_llamafactory_qwen2_5", target, golden, MEGATRON_ONLY, HF_ONLY,
          {"0.module": "module", "0.module.module": "module.model", "0.module.module.output_layer": "module.lm_head",
           "0.module.module.decoder.layers.0.mlp.linear_fc1": ("module.model.layers.0.mlp.gate_proj", "module.model.layers.0.mlp.up_proj")})


@pytest.mark.parametrize(("there", "back", "target", "golden"), [
    ("mindspeed_llm_to_llamafactory_qwen2_5", "llamafactory_to_mindspeed_llm_qwen2_5",
     [("0.module", "Float16Module"), ("0.module.module", "GPTModel"), *below("0.module.module", core_model(Core()))],
     [("module", "Qwen2ForCausalLM"), *below("module", hf_model(QWEN2))]),
    *[("mindspeed_mm_to_llamafactory_qwen2_5_vl", "llamafactory_to_mindspeed_mm_qwen2_5_vl", mindspeed_vision_language(),
       [("module", "Qwen2_5_VLForConditionalGeneration"), *below("module", hf_vision_language(nested))]) for nested in (False, True)],
], ids=["Qwen2.5", "Qwen2.5-VL of transformers 4.49", "Qwen2.5-VL of transformers 4.52"])
def test_the_templates_of_both_directions_agree(there: str, back: str, target: list[Module], golden: list[Module]) -> None:
    mine, other = model_tree(target), model_tree(golden)
    forth = {(pair.target, pair.golden) for pair in match_by_mapping(mine, other, read_mapping(there)).pairs()}
    again = {(pair.golden, pair.target) for pair in match_by_mapping(other, mine, read_mapping(back)).pairs()}
    assert forth == again


@pytest.mark.parametrize("new_norms", [False, True])
def test_megatron_legacy_to_megatron_core(new_norms: bool) -> None:
    golden = [("model", "GPTModel"), *below("model", core_model(Core()))]
    top = "module.language_model.encoder"
    pairs: dict[str, object] = {
        "module": "model", "module.language_model.embedding.word_embeddings": "model.embedding.word_embeddings",
        top: "model.decoder", f"{top}.layers.1.mlp.dense_h_to_4h": "model.decoder.layers.1.mlp.linear_fc1",
        f"{top}.layers.1.self_attention.query_key_value": "model.decoder.layers.1.self_attention.linear_qkv"}
    check("megatron_legacy_to_megatron_core", below("module", legacy_model(new_norms)), golden, {"TransformerLanguageModel"},
          IDENTITY_CLASSES | set(), pairs)


@pytest.mark.parametrize("golden", ["hf", "deepspeed"])
def test_the_qwen2_template_pairs_every_counterpart_of_a_real_pair(golden: str) -> None:
    mine, other = (build_tree(read_dump(f"{DATA}{side}/step0/rank0")) for side in ("megatron", golden))
    match = match_by_mapping(mine, other, read_mapping("megatron_core_to_hf_qwen2"), unruled_apis=False)
    assert not match.warnings and (len(match.target), len(match.groups)) == (82, 24)
    golden_only = HF_ONLY | {"Qwen2Model", "Qwen2ForCausalLM"}
    for tree, nodes, only in ((mine, {node for pair in match.pairs() for node in pair.target}, MEGATRON_ONLY),
                              (other, {node for pair in match.pairs() for node in pair.golden}, golden_only)):
        unpaired = {tree.labels[tree.label[node]] for node in range(1, tree.count)
                    if tree.kind[node] in (1, 4) and node not in nodes}
        assert unpaired <= only


@pytest.mark.parametrize("template", templates(), ids=lambda template: template.name)
def test_every_template_says_what_it_is_for_and_is_written_and_read_alike(template) -> None:
    header = [line for line in template.text.splitlines() if line.startswith("#")]
    assert " → " in template.title and any(line.startswith("# target: ") for line in header)
    assert any(line.startswith("# golden: ") for line in header) and any(line.startswith("# The other direction: ") for line in header)
    mapping = parse_mapping(template.text, template.name)
    assert mapping.optional and parse_mapping(write_mapping(mapping), "again") == mapping


@pytest.mark.parametrize("template", [template for template in templates() if template.name.startswith("meg")], ids=lambda one: one.name)
def test_every_library_file_is_inverted_by_the_tool_too(template) -> None:
    assert not invert_mapping(parse_mapping(template.text, template.name)).problems
