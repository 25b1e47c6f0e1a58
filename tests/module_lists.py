"""Modules of real models in call order, as toolkits name them: what `named_modules` of these models lists, for two layers.

Read from the sources of Megatron-Core 0.16 and transformers 4.x and 5.x; MindSpeed's wrappers as in its dumps.
"""

from __future__ import annotations

from dataclasses import dataclass

from trees import Module

LAYERS = 2
EXPERTS = 2


def below(prefix: str, modules: list[Module]) -> list[Module]:
    return [(f"{prefix}.{path}" if path else prefix, name) for path, name in modules]


@dataclass(frozen=True)
class Core:
    """How a Megatron-Core model is built."""

    transformer_engine: bool = False
    attention: str = "SelfAttention"
    query_norm: str = "IdentityOp"
    low_rank_query: bool = True  # MLA
    dense_layers: int = LAYERS  # the first ones; the rest are mixtures of experts
    shared_experts: bool = False
    grouped: bool = False  # experts in one grouped GEMM


def core_linears(core: Core) -> tuple[str, str]:
    prefix = "TE" if core.transformer_engine else ""
    return f"{prefix}ColumnParallelLinear", f"{prefix}RowParallelLinear"


def core_mlp(core: Core, class_name: str = "MLP") -> list[Module]:
    first, second = core_linears(core)
    return [("", class_name), ("linear_fc1", first), ("linear_fc2", second)]


def core_attention(core: Core) -> list[Module]:
    column, row = core_linears(core)
    inner: list[Module] = [("core_attention", "TEDotProductAttention" if core.transformer_engine else "DotProductAttention")]
    if core.attention != "MLASelfAttention":
        fused = "TELayerNormColumnParallelLinear" if core.transformer_engine else column
        return [("", core.attention), ("linear_qkv", fused), ("q_layernorm", core.query_norm), ("k_layernorm", core.query_norm),
                *inner, ("linear_proj", row)]
    query: list[Module] = [("linear_q_proj", column)]
    if core.low_rank_query:
        query = [("linear_q_down_proj", "TELinear"), ("q_layernorm", "RMSNorm"), ("linear_q_up_proj", column)]
    return [("", core.attention), ("rotary_pos_emb", "YarnRotaryEmbedding"), *query, ("linear_kv_down_proj", "TELinear"),
            ("kv_layernorm", "RMSNorm"), ("linear_kv_up_proj", column), *inner, ("linear_proj", row)]


def core_experts(core: Core) -> list[Module]:
    modules: list[Module] = [("", "MoELayer"), ("router", "TopKRouter")]
    if core.grouped:
        modules += [("experts", "TEGroupedMLP"), ("experts.linear_fc1", "TEColumnParallelGroupedLinear"),
                    ("experts.linear_fc2", "TERowParallelGroupedLinear")]
    else:
        modules.append(("experts", "SequentialMLP"))
        for number in range(EXPERTS):
            modules += below(f"experts.local_experts.{number}", core_mlp(core))
    return modules + (below("shared_experts", core_mlp(core, "SharedExpertMLP")) if core.shared_experts else [])


def core_layer(core: Core, number: int) -> list[Module]:
    dense = number < core.dense_layers
    fused = core.transformer_engine and core.attention != "MLASelfAttention"
    return [("", "TransformerLayer"), ("input_layernorm", "IdentityOp" if fused else "RMSNorm"),
            *below("self_attention", core_attention(core)), ("pre_cross_attn_layernorm", "IdentityOp"), ("cross_attention", "IdentityOp"),
            ("cross_attn_bda", "IdentityFuncOp"), ("pre_mlp_layernorm", "IdentityOp" if core.transformer_engine and dense else "RMSNorm"),
            *below("mlp", core_mlp(core) if dense else core_experts(core))]


def core_model(core: Core) -> list[Module]:
    modules: list[Module] = [("embedding", "LanguageModelEmbedding"), ("embedding.word_embeddings", "VocabParallelEmbedding"),
                             ("embedding.embedding_dropout", "Dropout")]
    if core.attention != "MLASelfAttention":
        modules.append(("rotary_pos_emb", "RotaryEmbedding"))
    modules.append(("decoder", "TransformerBlock"))
    for number in range(LAYERS):
        modules += below(f"decoder.layers.{number}", core_layer(core, number))
    return [*modules, ("decoder.final_layernorm", "RMSNorm"), ("output_layer", "ColumnParallelLinear")]


@dataclass(frozen=True)
class HuggingFace:
    """How a transformers model is built."""

    name: str  # class prefix
    query_norms: bool = False
    latent: bool = False  # MLA
    low_rank_query: bool = True
    dense_layers: int = LAYERS
    expert_block: str = "mlp"
    sparse_class: str = ""
    router_class: str = "Linear"
    expert_class: str = ""  # "" = all experts in one module (transformers 5)
    all_experts_class: str = ""
    expert_linears: tuple[str, str, str] = ("gate_proj", "up_proj", "down_proj")
    shared: str = ""  # "shared_expert", "shared_experts"


def hf_mlp(class_name: str, linears: tuple[str, str, str] = ("gate_proj", "up_proj", "down_proj")) -> list[Module]:
    return [("", class_name), (linears[0], "Linear"), ("act_fn", "SiLUActivation"), (linears[1], "Linear"), (linears[2], "Linear")]


def hf_attention(hf: HuggingFace) -> list[Module]:
    norm = f"{hf.name}RMSNorm"
    if not hf.latent:
        norms: list[Module] = [("q_norm", norm), ("k_norm", norm)] if hf.query_norms else []
        return [("", f"{hf.name}Attention"), ("q_proj", "Linear"), *norms[:1], ("k_proj", "Linear"), *norms[1:], ("v_proj", "Linear"),
                ("o_proj", "Linear")]
    query: list[Module] = [("q_proj", "Linear")]
    if hf.low_rank_query:
        query = [("q_a_proj", "Linear"), ("q_a_layernorm", norm), ("q_b_proj", "Linear")]
    return [("", f"{hf.name}Attention"), *query, ("kv_a_proj_with_mqa", "Linear"), ("kv_a_layernorm", norm), ("kv_b_proj", "Linear"),
            ("o_proj", "Linear")]


def hf_experts(hf: HuggingFace) -> list[Module]:
    modules: list[Module] = [("", hf.sparse_class), ("gate", hf.router_class)]
    if hf.expert_class:
        for number in range(EXPERTS):
            modules += below(f"experts.{number}", hf_mlp(hf.expert_class, hf.expert_linears))
    else:
        modules.append(("experts", hf.all_experts_class))
    return modules + (below(hf.shared, hf_mlp(f"{hf.name}MLP")) if hf.shared else [])


def hf_layer(hf: HuggingFace, number: int) -> list[Module]:
    norm = f"{hf.name}RMSNorm"
    body = below("mlp", hf_mlp(f"{hf.name}MLP")) if number < hf.dense_layers else below(hf.expert_block, hf_experts(hf))
    return [("", f"{hf.name}DecoderLayer"), ("input_layernorm", norm), *below("self_attn", hf_attention(hf)),
            ("post_attention_layernorm", norm), *body]


def hf_text_model(hf: HuggingFace, class_name: str = "") -> list[Module]:
    modules: list[Module] = [("", class_name or f"{hf.name}Model"), ("embed_tokens", "Embedding"),
                             ("rotary_emb", f"{hf.name}RotaryEmbedding")]
    for number in range(LAYERS):
        modules += below(f"layers.{number}", hf_layer(hf, number))
    return [*modules, ("norm", f"{hf.name}RMSNorm")]


def hf_model(hf: HuggingFace) -> list[Module]:
    return [*below("model", hf_text_model(hf)), ("lm_head", "Linear")]


def hf_vision_tower(attention: str) -> list[Module]:
    norm = "Qwen2_5_VLRMSNorm"
    modules: list[Module] = [("", "Qwen2_5_VisionTransformerPretrainedModel"), ("patch_embed", "Qwen2_5_VisionPatchEmbed"),
                             ("patch_embed.proj", "Conv3d"), ("rotary_pos_emb", "Qwen2_5_VLVisionRotaryEmbedding")]
    for number in range(LAYERS):
        modules += below(f"blocks.{number}", [
            ("", "Qwen2_5_VLVisionBlock"), ("norm1", norm), *below("attn", [("", attention), ("qkv", "Linear"), ("proj", "Linear")]),
            ("norm2", norm), *below("mlp", hf_mlp("Qwen2_5_VLMLP"))])
    return [*modules, ("merger", "Qwen2_5_VLPatchMerger"), ("merger.ln_q", norm), ("merger.mlp", "Sequential"), ("merger.mlp.0", "Linear"),
            ("merger.mlp.1", "GELU"), ("merger.mlp.2", "Linear")]


def hf_vision_language(nested: bool) -> list[Module]:
    """Qwen2.5-VL of transformers before 4.52 (towers at the top) and since (both below `model`)."""
    text = HuggingFace("Qwen2_5_VL")
    if nested:
        modules = [("model", "Qwen2_5_VLModel"), *below("model.visual", hf_vision_tower("Qwen2_5_VLVisionAttention")),
                   *below("model.language_model", hf_text_model(text, "Qwen2_5_VLTextModel"))]
    else:
        modules = [*below("visual", hf_vision_tower("Qwen2_5_VLVisionSdpaAttention")), *below("model", hf_text_model(text))]
    modules = [(path, "Qwen2MLP" if name == "Qwen2_5_VLMLP" and ".layers." in path else name) for path, name in modules]
    return [*modules, ("lm_head", "Linear")]


def mindspeed_vision_language() -> list[Module]:
    """MindSpeed-MM's Qwen2.5-VL below its list and its Float16Module."""
    core = Core()
    modules: list[Module] = [("", "VLModel"), ("image_encoder", "VisionModel"), ("image_encoder.encoder", "Qwen2VLViT"),
                             ("image_encoder.encoder.patch_embed", "PatchEmbed"), ("image_encoder.encoder.patch_embed.proj", "Conv3d"),
                             ("image_encoder.encoder.rotary_pos_emb", "VisionRotaryEmbedding"),
                             ("image_encoder.encoder.blocks", "Qwen2VLVisionTransformerBlock")]
    for number in range(LAYERS):
        modules += below(f"image_encoder.encoder.blocks.layers.{number}", core_layer(Core(attention="Qwen2vlVitSelfAttention"), number))
    modules += below("image_encoder.projector", [("", "MultimodalProjector"), ("layernorm", "RMSNorm"), *below("encoder", core_mlp(core))])
    modules.append(("text_decoder", "MMGPTModel"))
    modules += below("text_decoder", core_model(Core(attention="Qwen2vlSelfAttention")))
    return [("0.module", "Float16Module"), *below("0.module.module", modules)]


def core_vision_language() -> list[Module]:
    """Qwen2.5-VL of Megatron-Core layers, as in Pai-Megatron-Patch."""
    modules: list[Module] = [("vision_model", "Qwen2_5VisionModel"), ("vision_model.patch_embed", "PatchEmbed"),
                             ("vision_model.patch_embed.proj", "Conv3d"), ("vision_model.rotary_pos_emb", "VisionRotaryEmbedding"),
                             ("vision_model.decoder", "TransformerBlock")]
    for number in range(LAYERS):
        modules += below(f"vision_model.decoder.layers.{number}", core_layer(Core(), number))
    modules += [("vision_model.decoder.final_layernorm", "RMSNorm"), ("vision_model.projection", "MultimodalProjector"),
                *below("vision_model.projection.encoder", core_mlp(Core()))]
    return [*modules, ("language_model", "GPTModel"), *below("language_model", core_model(Core()))]


def legacy_model(new_norms: bool) -> list[Module]:
    """Megatron's legacy GPTModel; its norms were renamed in 2023."""
    first, second, last = ("input_norm", "post_attention_norm", "final_norm") if new_norms else (
        "input_layernorm", "post_attention_layernorm", "final_layernorm")
    modules: list[Module] = [("", "GPTModel"), ("language_model", "TransformerLanguageModel"), ("language_model.embedding", "Embedding"),
                             ("language_model.embedding.word_embeddings", "VocabParallelEmbedding"),
                             ("language_model.embedding.embedding_dropout", "Dropout"),
                             ("language_model.rotary_pos_emb", "RotaryEmbedding"),
                             ("language_model.encoder", "ParallelTransformer")]
    for number in range(LAYERS):
        modules += below(f"language_model.encoder.layers.{number}", [
            ("", "ParallelTransformerLayer"), (first, "RMSNorm"),
            *below("self_attention", [("", "ParallelAttention"), ("query_key_value", "ColumnParallelLinear"),
                                      ("core_attention", "CoreAttention"), ("dense", "RowParallelLinear")]),
            (second, "RMSNorm"), *below("mlp", [("", "ParallelMLP"), ("dense_h_to_4h", "ColumnParallelLinear"),
                                                ("dense_4h_to_h", "RowParallelLinear")])])
    return [*modules, (f"language_model.encoder.{last}", "RMSNorm"), ("language_model.output_layer", "ColumnParallelLinear")]
